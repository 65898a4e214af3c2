"""Attacks on a release: one file each, one protocol, one list."""

from shoal.attacks.base import ATTACKS, Attack, AttackOutcome, AttackResult, Criterion, verdicts_of
from shoal.attacks.homogeneity import Homogeneity
from shoal.attacks.statistics import excess_of, koopman, wilson
from shoal.attacks.subject import Subject

__all__ = [
    "ATTACKS",
    "Attack",
    "AttackOutcome",
    "AttackResult",
    "Criterion",
    "Homogeneity",
    "Subject",
    "excess_of",
    "koopman",
    "verdicts_of",
    "wilson",
]

ATTACKS.extend([Homogeneity()])
