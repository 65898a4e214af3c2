"""Attacks on a release: one file each, one protocol, one list."""

from shoal.attacks.base import ATTACKS, Attack, AttackOutcome, AttackResult, Criterion, verdicts_of
from shoal.attacks.common import excess_of, koopman, wilson
from shoal.attacks.downcoding import Downcoding
from shoal.attacks.homogeneity import Homogeneity
from shoal.attacks.inference import BackgroundKnowledge, CertainValue, LikelyValue, Similarity, Skewness
from shoal.attacks.learner import Learner
from shoal.attacks.linkability import Linkability
from shoal.attacks.linkage import Link
from shoal.attacks.minimality import Minimality
from shoal.attacks.singling_out import SinglingOut
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

ATTACKS.extend([SinglingOut(), Link(), Linkability(), Homogeneity(), CertainValue(), LikelyValue()])
ATTACKS.extend([BackgroundKnowledge(), Skewness(), Similarity(), Learner(), Downcoding(), Minimality()])
