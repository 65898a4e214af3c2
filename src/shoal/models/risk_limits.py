"""Limits on the risk itself: of the record at highest risk, and on average."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import Evidence, Merging, Model
from shoal.table import Array


class HighestRisk(Model):
    """1 / (size of the smallest class) is at most the threshold. Cost: one look at the class sizes.

    >>> HighestRisk(threshold=0.2).judge(Evidence(np.array([4, 9]))).worst
    {'risk': 0.25, 'size': 4, 'failing_classes': 1}
    """

    figure: ClassVar[str] = "risk"
    at_most: ClassVar[bool] = True

    model: Literal["highest-risk"] = "highest-risk"
    threshold: Annotated[float, Field(gt=0, le=1)]

    @property
    def limit(self) -> float:
        """The threshold."""
        return self.threshold

    def measure(self, evidence: Evidence) -> Array:
        """1 / size."""
        return np.asarray(1 / evidence.sizes)


class AverageRisk(Model):
    """classes / records is at most the threshold: the risk of a record on average. One figure for the whole table.

    Suppressed rows are no records here. Cost: one look at the class sizes.

    >>> AverageRisk(threshold=0.2).judge(Evidence(np.array([4, 8]))).worst
    {'risk': 0.16666666666666666}
    """

    figure: ClassVar[str] = "risk"
    at_most: ClassVar[bool] = True
    # leaving out a small class lowers the average, so a coarser table with fewer classes left out can be worse
    joins: ClassVar[Merging] = "none"
    whole: ClassVar[bool] = True

    model: Literal["average-risk"] = "average-risk"
    threshold: Annotated[float, Field(gt=0, le=1)]

    @property
    def limit(self) -> float:
        """The threshold."""
        return self.threshold

    def measure(self, evidence: Evidence) -> Array:
        """Classes over records."""
        counts = np.ones(len(evidence.sizes)) if evidence.classes is None else evidence.classes
        members = evidence.sizes * counts if evidence.members is None else evidence.members
        return np.array([(members / evidence.sizes).sum() / members.sum()])
