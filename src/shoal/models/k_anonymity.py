"""k-anonymity: every combination of quasi-identifier values that occurs, occurs in at least k records."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from shoal.models.base import Evidence, Model
from shoal.storage import Array


class KAnonymity(Model):
    """The smallest class has at least k members (Samarati and Sweeney). Cost: one look at the class sizes.

    >>> import numpy as np
    >>> verdict = KAnonymity(k=3).judge(Evidence(np.array([2, 5]), np.array([1, 7])))
    >>> verdict.holds, verdict.worst
    (False, {'size': 2, 'failing_classes': 1})
    """

    bound: ClassVar[str] = "k"

    model: Literal["k-anonymity"] = "k-anonymity"
    k: Annotated[int, Field(ge=2, le=2**53, strict=True)]

    @property
    def least_members(self) -> int | None:
        """k"""
        return self.k

    def measure(self, evidence: Evidence) -> Array:
        """The size of each class."""
        return evidence.sizes
