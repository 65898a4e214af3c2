"""delta-disclosure privacy: no class changes what is believed of a sensitive value by more than a factor e^delta."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import AboutSensitive, Merging
from shoal.models.spread import Spread
from shoal.storage import Array


class DeltaDisclosure(AboutSensitive):
    """|ln(q / p)| < delta for every value of a class (Brickell and Shmatikov). Cost: one look at the sparse counts.

    q is a value's share in the class, p in the whole table. By the definition's letter a value that a class does not
    have breaks it (ln 0); the tools in use look only at values that a class has. `absent` says which: `ignored` (the
    default) or `breaks`.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "flu", "flu"]})
    >>> rows = evidence_of_rows(np.array([0, 0, 0, 1]), table.columns)
    >>> round(DeltaDisclosure(delta=1, sensitive="illness").judge(rows).worst["log_ratio"], 4)
    0.6931
    """

    figure: ClassVar[str] = "log_ratio"
    at_most: ClassVar[bool] = True
    bound: ClassVar[str] = "delta"
    strictly: ClassVar[bool] = True  # as the definition says

    model: Literal["delta-disclosure"] = "delta-disclosure"
    delta: Annotated[float, Field(gt=0)]
    absent: Literal["ignored", "breaks"] = "ignored"

    @property
    def merging(self) -> Merging:
        """A value may be missing from one class and rare in another: joined they can break what each keeps."""
        return "good" if self.absent == "breaks" else "none"

    def measure_cells(self, spread: Spread) -> Array:
        """The largest |ln(q / p)| in each cell; q and p are the shares of members who have a value."""
        ratio = np.ones(len(spread.codes))
        whole = spread.whole.prevalence[spread.codes]
        np.divide(spread.prevalence, whole, out=ratio, where=spread.is_value)
        figures = spread.largest(np.abs(np.log(ratio)))
        if self.absent == "breaks":
            figures = np.where(spread.values < np.count_nonzero(spread.whole.valued), np.inf, figures)
        return figures
