"""delta-disclosure privacy: no class changes what is believed of a sensitive value by more than a factor e^delta."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import AboutSensitive, Evidence, Merging
from shoal.table import Array


class DeltaDisclosure(AboutSensitive):
    """|ln(q / p)| < delta for every value of a class (Brickell and Shmatikov). Cost: one look at the sparse counts.

    q is a value's share in the class, p in the whole table. By the definition's letter a value that a class does not
    have breaks it (ln 0); the tools in use look only at values that a class has. `absent` says which: `ignored` (the
    default) or `breaks`.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "flu", "flu"]})
    >>> rows = evidence_of_rows(np.array([0, 0, 0, 1]), table.columns)
    >>> round(DeltaDisclosure(delta=1, sensitive="illness").judge(rows).worst["log_ratio"], 4)
    0.6931
    """

    figure: ClassVar[str] = "log_ratio"
    at_most: ClassVar[bool] = True

    model: Literal["delta-disclosure"] = "delta-disclosure"
    delta: Annotated[float, Field(gt=0)]
    absent: Literal["ignored", "breaks"] = "ignored"

    @property
    def merging(self) -> Merging:
        """A value may be missing from one class and rare in another: joined they can break what each keeps."""
        return "good" if self.absent == "breaks" else "none"

    @property
    def limit(self) -> float:
        """delta"""
        return self.delta

    def good(self, figures: Array) -> Array:
        """Strictly below delta, as the definition says."""
        return np.asarray(figures < self.delta)

    def measure(self, evidence: Evidence) -> Array:
        """The largest |ln(q / p)| in each class."""
        spread = self.spread(evidence)
        figures = spread.largest(np.abs(np.log(spread.shares / spread.whole_shares)))
        if self.absent == "breaks":
            values = spread.values
            figures = np.where(values < np.count_nonzero(spread.whole.counts), np.inf, figures)
        return figures
