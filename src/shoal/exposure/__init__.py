"""How exposed people are: identity risk of a table, and the risk after a leak of it."""

from __future__ import annotations

from shoal.exposure.identity import GeneralizedText, MissingKeys, risk
from shoal.exposure.journalist import PopulationCounts, PopulationMargins
from shoal.exposure.results import AttackerRisk, IdentityRisk, Knowledge, SensitiveFigures, SizeCount
from shoal.exposure.sample import Sample
from shoal.exposure.sensitive import SensitiveQuestions
from shoal.policy.thresholds import NAMED, Threshold, find_threshold

__all__ = [
    "NAMED",
    "AttackerRisk",
    "GeneralizedText",
    "IdentityRisk",
    "Knowledge",
    "MissingKeys",
    "PopulationCounts",
    "PopulationMargins",
    "Sample",
    "SensitiveFigures",
    "SensitiveQuestions",
    "SizeCount",
    "Threshold",
    "find_threshold",
    "risk",
]
