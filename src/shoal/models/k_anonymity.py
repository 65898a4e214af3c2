"""k-anonymity: every combination of quasi-identifier values that occurs, occurs in at least k records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shoal.models.base import Evidence, Model, Verdict


class KAnonymity(Model):
    """The smallest class has at least k members (Samarati and Sweeney).

    >>> import numpy as np
    >>> verdict = KAnonymity(model="k-anonymity", k=3).judge(Evidence(np.array([2, 5]), np.array([1, 7])))
    >>> verdict.holds, verdict.worst
    (False, {'size': 2, 'classes_below': 1})
    """

    model: Literal["k-anonymity"] = "k-anonymity"
    k: Annotated[int, Field(ge=2, strict=True)]

    def judge(self, evidence: Evidence) -> Verdict:
        """Hold the smallest class against k."""
        sizes = evidence.sizes
        below = sizes < self.k
        smallest = int(sizes.min()) if len(sizes) else 0
        # without a class nothing is shown, and what is not shown does not hold
        holds = len(sizes) > 0 and not below.any()
        return self._verdict(holds, size=smallest, classes_below=int(evidence.classes[below].sum()))
