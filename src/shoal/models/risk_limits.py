"""Limits on the risk itself: of the record at highest risk, and on average.

Where the policy says `risk_over: population`, the risk is estimated for the population, and the figure is the safe end
of the estimate: of single records 1 over the fewest people whom their class stands for (`least_people`), of the average
its upper end. The estimate itself is E[1/F | f] by weights; without them the greater of that and of the chance that a
match is right (`sampled_risk`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PrivateAttr

from shoal.models.base import Evidence, Merging, Model, estimated_by, no_estimate
from shoal.storage import Array

# of a normal distribution, 95 of 100 lie below so many standard deviations
_ONE_SIDED = 1.645


class RiskLimit(Model):
    """A limit on a risk that is about the sample, or estimated for the population."""

    figure: ClassVar[str] = "risk"
    at_most: ClassVar[bool] = True
    bound: ClassVar[str] = "threshold"

    threshold: Annotated[float, Field(gt=0, le=1)]

    def lacks(self, evidence: Evidence) -> str | None:
        """Over the population an estimate is needed."""
        return no_estimate(evidence) if evidence.risk_over == "population" else None

    def judged_on(self, evidence: Evidence) -> dict[str, Any]:
        """What the risk is about, where it is not the table."""
        if evidence.risk_over == "sample" or evidence.estimate is None:
            return {}
        return {"risk_over": "population", "estimate": self.estimate(evidence), **estimated_by(evidence)}

    @abstractmethod
    def estimate(self, evidence: Evidence) -> float:
        """The risk estimated for the population; the figure is the safe end of it."""


def estimated_risks(evidence: Evidence) -> Array:
    """The risk of a record of each class estimated for the population, never above 1 / size; that where there is none,
    the safe side."""
    risks = evidence.estimated.risks
    return np.asarray(1 / evidence.sizes) if risks is None else risks


class HighestRisk(RiskLimit):
    """1 / (size of the smallest class) is at most the threshold. Cost: one look at the class sizes.

    >>> HighestRisk(threshold=0.2).judge(Evidence(np.array([4, 9]))).worst
    {'risk': 0.25, 'size': 4, 'failing_classes': 1}
    """

    model: Literal["highest-risk"] = "highest-risk"
    # members of a class that are hoped to stand for enough people of the population; the verdict does not rest on it
    _hoped: int | None = PrivateAttr(default=None)

    def with_members(self, members: int) -> HighestRisk:
        """The same limit, over a population of which classes of so many members show enough."""
        made = self.model_copy()
        made._hoped = members
        return made

    @property
    def least_members(self) -> int | None:
        """1 / threshold: with as many the risk is not above it, in the population neither.

        >>> HighestRisk(threshold=0.2).least_members, HighestRisk(threshold=0.09).least_members
        (5, 12)
        """
        if self._hoped is not None:
            return self._hoped
        least = math.ceil(1 / self.threshold * (1 - 1e-12))
        return least if least > 1 else None

    def measure(self, evidence: Evidence) -> Array:
        """1 / size, or 1 / the fewest people of the population."""
        return np.asarray(1 / (evidence.sizes if evidence.risk_over == "sample" else evidence.least_people))

    def estimate(self, evidence: Evidence) -> float:
        """The highest of the estimated risks."""
        return float(estimated_risks(evidence).max())


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
        """Classes over records, or the upper end of the mean of the estimated risks.

        1 / F lies between 0 and 1 / f, so its variance about a mean of r is at most r (1 / f - r).
        """
        counts = np.ones(len(evidence.sizes)) if evidence.classes is None else evidence.classes
        members = evidence.sizes * counts if evidence.members is None else evidence.members
        if evidence.risk_over == "sample":
            return np.array([(members / evidence.sizes).sum() / members.sum()])
        upper = evidence.estimated.upper
        risks = estimated_risks(evidence) if upper is None else upper
        spread = (members**2 / counts * risks * np.maximum(1 / evidence.sizes - risks, 0)).sum()
        mean = (members * risks).sum() / members.sum()
        return np.array([min(mean + _ONE_SIDED * math.sqrt(spread) / members.sum(), 1.0)])

    def estimate(self, evidence: Evidence) -> float:
        """The mean of the estimated risks."""
        counts = np.ones(len(evidence.sizes)) if evidence.classes is None else evidence.classes
        members = evidence.sizes * counts if evidence.members is None else evidence.members
        return float((members * estimated_risks(evidence)).sum() / members.sum())
