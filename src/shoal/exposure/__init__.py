"""How exposed people are: identity risk of a table, and the risk after a leak of it."""

from __future__ import annotations

from shoal.exposure.identity import risk
from shoal.exposure.results import AttackerRisk, IdentityRisk, Knowledge, SensitiveFigures, SizeCount
from shoal.policy.thresholds import NAMED, Threshold, find_threshold

__all__ = [
    "NAMED",
    "AttackerRisk",
    "IdentityRisk",
    "Knowledge",
    "SensitiveFigures",
    "SizeCount",
    "Threshold",
    "find_threshold",
    "risk",
]
