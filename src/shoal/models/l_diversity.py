"""l-diversity: in every class, a sensitive attribute takes at least l well represented values."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import AboutSensitive, Evidence, Merging
from shoal.models.spread import Spread
from shoal.storage import Array


class LDiversity(AboutSensitive):
    """At least l distinct values in each class (Machanavajjhala et al.). Cost: one look at the sparse counts.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "flu", "cancer"]})
    >>> rows = evidence_of_rows(np.array([0, 0, 1, 1]), table.columns)
    >>> LDiversity(l=2, sensitive="illness").judge(rows).worst
    {'distinct': 1, 'size': 2, 'failing_classes': 1}
    """

    figure: ClassVar[str] = "distinct"
    joins_persons: ClassVar[bool] = True
    bound: ClassVar[str] = "l"

    model: Literal["l-diversity"] = "l-diversity"
    l: Annotated[int, Field(ge=1, strict=True)]  # noqa: E741

    def measure_cells(self, spread: Spread) -> Array:
        """Distinct values of each cell; one where every member has the same value."""
        return spread.distinct


class EntropyLDiversity(AboutSensitive):
    """The entropy of each class is at least that of l equally frequent values: exp(-sum p ln p) >= l.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "cancer", "flu"]})
    >>> verdict = EntropyLDiversity(l=1.8, sensitive="illness").judge(evidence_of_rows(np.zeros(4, int), table.columns))
    >>> verdict.holds, round(verdict.worst["effective_values"], 4)
    (False, 1.7548)
    """

    figure: ClassVar[str] = "effective_values"
    joins: ClassVar[Merging] = "good"
    bound: ClassVar[str] = "l"

    model: Literal["entropy-l-diversity"] = "entropy-l-diversity"
    l: Annotated[float, Field(ge=1)]  # noqa: E741

    def measure_cells(self, spread: Spread) -> Array:
        """exp(entropy) of each cell; one where every member has the same value, none where no value is known."""
        shares = np.where(spread.is_value, spread.shares, 1.0)
        known = np.where(spread.disclosed, 1.0, np.exp(-spread.total(shares * np.log(shares))))
        return np.where(spread.known > 0, known, 0.0)

    def must_lose_known(self, figures: Array, evidence: Evidence) -> Array:
        """Entropy is concave and never below 0: the share that stays has at most entropy(class) / ln l."""
        if self.l == 1:  # a class without a known value alone fails
            return np.where(figures < 1, 1.0, 0.0)
        return np.asarray(np.clip(1 - np.log(np.maximum(figures, 1.0)) / np.log(self.l) - 1e-12, 0.0, 1.0))


class RecursiveLDiversity(AboutSensitive):
    """The most frequent value of a class is not too frequent: r1 < c (r_l + r_{l+1} + ... + r_m), r sorted downwards.

    The figure is r1 / (r_l + ...), infinite where a class has fewer than l values.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "cancer", "flu", "asthma"]})
    >>> rows = evidence_of_rows(np.zeros(5, int), table.columns)
    >>> RecursiveLDiversity(c=2, l=2, sensitive="illness").judge(rows).worst
    {'ratio': 1.5, 'size': 5, 'failing_classes': 0}
    """

    figure: ClassVar[str] = "ratio"
    at_most: ClassVar[bool] = True
    joins: ClassVar[Merging] = "good"
    bound: ClassVar[str] = "c"
    strictly: ClassVar[bool] = True  # as the definition says

    model: Literal["recursive-l-diversity"] = "recursive-l-diversity"
    c: Annotated[float, Field(gt=0)]
    l: Annotated[int, Field(ge=1, strict=True)]  # noqa: E741

    def measure_cells(self, spread: Spread) -> Array:
        """r1 over the sum from the l-th most frequent on; infinite where l > 1 and every member has the same value."""
        order = np.lexsort((-spread.valued, spread.cells))
        ordered = spread.valued[order]
        place = np.arange(len(ordered)) - np.repeat(spread.starts, spread.entries)
        tail = spread.total(np.where(place >= self.l - 1, ordered, 0))
        ratio = np.full(len(tail), np.inf)
        np.divide(ordered[spread.starts], tail, out=ratio, where=tail > 0)
        return np.where(spread.disclosed & (self.l > 1), np.inf, ratio)
