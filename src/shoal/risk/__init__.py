"""How exposed are the people in a table?"""

from __future__ import annotations

from shoal.risk.identity import risk
from shoal.risk.results import AttackerRisk, IdentityRisk, Knowledge, SizeCount
from shoal.risk.thresholds import NAMED, Threshold, find_threshold

__all__ = [
    "NAMED",
    "AttackerRisk",
    "IdentityRisk",
    "Knowledge",
    "SizeCount",
    "Threshold",
    "find_threshold",
    "risk",
]
