"""How exposed are the people in a table?"""

from __future__ import annotations

from shoal.identity.identity import PopulationCounts, risk
from shoal.identity.results import AttackerRisk, IdentityRisk, Knowledge, SizeCount
from shoal.policy.thresholds import NAMED, Threshold, find_threshold

__all__ = [
    "NAMED",
    "AttackerRisk",
    "IdentityRisk",
    "Knowledge",
    "PopulationCounts",
    "SizeCount",
    "Threshold",
    "find_threshold",
    "risk",
]
