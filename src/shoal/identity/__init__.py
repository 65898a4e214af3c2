"""How exposed are the people in a table?"""

from __future__ import annotations

from shoal.identity.identity import GeneralizedText, MissingKeys, risk
from shoal.identity.journalist import PopulationCounts, PopulationMargins
from shoal.identity.results import AttackerRisk, IdentityRisk, Knowledge, SensitiveFigures, SizeCount
from shoal.identity.sample import Sample
from shoal.identity.sensitive import SensitiveQuestions
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
