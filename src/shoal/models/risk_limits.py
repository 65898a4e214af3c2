"""Limits on the risk itself: of the record at highest risk, and on average.

Where the policy says `risk_over: population`, the risk of a record is estimated for the population: E[1/F | f] by its
weights; without weights the greater of that and of the chance that a match is right (`sampled_risk`).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import Evidence, Merging, Model, estimated_by, no_estimate
from shoal.storage import Array


class RiskLimit(Model):
    """A limit on a risk that is about the sample, or estimated for the population."""

    figure: ClassVar[str] = "risk"
    at_most: ClassVar[bool] = True

    threshold: Annotated[float, Field(gt=0, le=1)]

    @property
    def limit(self) -> float:
        """The threshold."""
        return self.threshold

    def lacks(self, evidence: Evidence) -> str | None:
        """Over the population an estimate is needed."""
        return no_estimate(evidence) if evidence.risk_over == "population" else None

    def judged_on(self, evidence: Evidence) -> dict[str, Any]:
        """What the risk is about, where it is not the table."""
        if evidence.risk_over == "sample" or evidence.estimate is None:
            return {}
        return {"risk_over": "population", **estimated_by(evidence)}


def risk_of_classes(evidence: Evidence) -> Array:
    """The risk of a record of each class: 1 / size, or what is estimated for the population.

    The estimate is never above 1 / size. Where there is none, that is the safe side.
    """
    estimated = None if evidence.risk_over == "sample" else evidence.estimated.risks
    return np.asarray(1 / evidence.sizes) if estimated is None else estimated


class HighestRisk(RiskLimit):
    """1 / (size of the smallest class) is at most the threshold. Cost: one look at the class sizes.

    >>> HighestRisk(threshold=0.2).judge(Evidence(np.array([4, 9]))).worst
    {'risk': 0.25, 'size': 4, 'failing_classes': 1}
    """

    model: Literal["highest-risk"] = "highest-risk"

    @property
    def least_members(self) -> int | None:
        """1 / threshold: with as many the risk is not above it, in the population neither.

        >>> HighestRisk(threshold=0.2).least_members, HighestRisk(threshold=0.09).least_members
        (5, 12)
        """
        least = math.ceil(1 / self.threshold * (1 - 1e-12))
        return least if least > 1 else None

    def measure(self, evidence: Evidence) -> Array:
        """1 / size, or its estimate for the population."""
        return risk_of_classes(evidence)


class AverageRisk(RiskLimit):
    """classes / records is at most the threshold: the risk of a record on average. One figure for the whole table.

    Suppressed rows are no records here. Cost: one look at the class sizes.

    >>> AverageRisk(threshold=0.2).judge(Evidence(np.array([4, 8]))).worst
    {'risk': 0.16666666666666666}
    """

    # leaving out a small class lowers the average, so a coarser table with fewer classes left out can be worse
    joins: ClassVar[Merging] = "none"
    whole: ClassVar[bool] = True

    model: Literal["average-risk"] = "average-risk"

    def measure(self, evidence: Evidence) -> Array:
        """Classes over records, or the mean of the estimated risks."""
        counts = np.ones(len(evidence.sizes)) if evidence.classes is None else evidence.classes
        members = evidence.sizes * counts if evidence.members is None else evidence.members
        if evidence.risk_over == "sample":
            return np.array([(members / evidence.sizes).sum() / members.sum()])
        return np.array([(members * risk_of_classes(evidence)).sum() / members.sum()])
