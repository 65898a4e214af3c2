"""(alpha, k)-anonymity: classes of at least k in which no sensitive value has more than a share alpha."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import AboutSensitive, Evidence, Merging
from shoal.models.spread import Spread
from shoal.storage import Array


class AlphaKAnonymity(AboutSensitive):
    """The most frequent sensitive value of each class has a share of at most alpha (Wong et al.).

    A class of fewer than k members counts as a share of 1. Cost: one look at the sparse counts.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "flu", "cancer"]})
    >>> rows = evidence_of_rows(np.zeros(4, int), table.columns)
    >>> AlphaKAnonymity(alpha=0.5, k=2, sensitive="illness").judge(rows).worst
    {'share': 0.75, 'size': 4, 'failing_classes': 1}
    """

    figure: ClassVar[str] = "share"
    at_most: ClassVar[bool] = True
    joins: ClassVar[Merging] = "good"
    joins_persons: ClassVar[bool] = True
    bound: ClassVar[str] = "alpha"

    model: Literal["alpha-k-anonymity"] = "alpha-k-anonymity"
    alpha: Annotated[float, Field(gt=0, lt=1)]
    k: Annotated[int, Field(ge=2, le=2**53, strict=True)]

    @property
    def least_members(self) -> int | None:
        """k"""
        return self.k

    def measure(self, evidence: Evidence) -> Array:
        """The greatest share of members who have a value in each class; 1 for a class that is too small."""
        return np.where(evidence.sizes >= self.k, super().measure(evidence), 1.0)

    def measure_cells(self, spread: Spread) -> Array:
        """The greatest share of members who have a value; 0 where none is known."""
        return spread.largest(spread.prevalence)

    def must_lose(self, figures: Array, evidence: Evidence) -> Array:
        """A class that is too small is lost at every finer node; the greatest share is convex and at most 1."""
        lost = np.clip((figures - self.alpha) / (1 - self.alpha) - 1e-12, 0.0, 1.0)
        return np.where(evidence.sizes < self.k, 1.0, lost * self.spread(evidence).known_share)
