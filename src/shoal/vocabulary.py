"""The closed vocabularies: every word that has a fixed meaning, once."""

from __future__ import annotations

from typing import Literal

Role = Literal["identifier", "quasi-identifier", "sensitive", "other"]
NullRule = Literal["value", "wildcard", "drop"]
# what a search minimizes
Minimize = Literal["loss", "precision", "entropy", "discernibility", "average-class-size"]
# what decides between methods that keep the policy
Prefer = Literal["hierarchies", "least-loss", "few-suppressed"]
