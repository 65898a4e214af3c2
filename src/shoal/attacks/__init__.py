"""Attacks on a release: one file each, one protocol, one list."""

from shoal.attacks.base import ATTACKS, Attack, AttackOutcome, Criterion, wilson
from shoal.attacks.homogeneity import Homogeneity

__all__ = ["ATTACKS", "Attack", "AttackOutcome", "Criterion", "Homogeneity", "wilson"]

ATTACKS.append(Homogeneity())
