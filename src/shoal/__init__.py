"""shoal: publish a table about people without giving the people away.

A fish alone is caught, a fish in a shoal is not. A tour in the order in which the data travels:

>>> import polars as pl
>>> people = pl.DataFrame({"age": [34, 34, 51, 51, 51], "zip": ["10001", "10001", "60601", "60601", "60602"]})

How exposed are they? One person is the only one with their age and ZIP code:

>>> import shoal
>>> found = shoal.risk(people, quasi_identifiers=["age", "zip"])
>>> found.uniques, found.k, round(found.uniqueness, 2)
(1, 1, 0.2)

What is in the table, column by column, in one pass:

>>> [(column.name, column.type, column.distinct) for column in shoal.profile(people).columns]
[('age', 'integer', 2), ('zip', 'text', 3)]

The written decision behind a measurement is a policy, a YAML file that colleagues can review:

>>> policy = shoal.Policy(columns={"age": "quasi-identifier", "zip": "quasi-identifier"}, threshold="ema")
>>> shoal.risk(people, policy=policy).prosecutor.share_over_threshold
1.0

Every name here is imported when it is first used, so that `import shoal` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.attacks.base import AttackResult
    from shoal.attacks.battery import attack
    from shoal.attacks.intersect import Intersection, attack_intersect
    from shoal.attacks.link import LinkResult, attack_link
    from shoal.attacks.membership import Membership, attack_membership
    from shoal.attacks.reconstruct import Reconstruction, attack_reconstruct
    from shoal.attacks.scoreboard import Scoreboard, attack_scoreboard
    from shoal.attacks.unicity import Unicity, attack_unicity
    from shoal.attacks.verification import verify
    from shoal.detection import Detection, detect
    from shoal.detection.profile import profile
    from shoal.detection.profiles import Profile
    from shoal.dp import BudgetRefused, Desk, open_desk
    from shoal.errors import InputError, ShoalError
    from shoal.exposure import (
        IdentityRisk,
        risk,
    )
    from shoal.exposure.leakage import LeakRisk, LeakSeries, leak
    from shoal.methods import Coarsen, Lattice, Mask, Method, Microaggregate, Mondrian, Recode, SortedClusters, Suppress
    from shoal.methods.anonymize import Anonymized, anonymize
    from shoal.methods.cells import Cells, cells
    from shoal.methods.hipaa.results import SafeHarbor
    from shoal.methods.hipaa.safe_harbor import safe_harbor
    from shoal.methods.perturbation import perturb
    from shoal.methods.perturbation.results import Perturbed
    from shoal.methods.pseudonyms.pseudonymize import pseudonymize
    from shoal.methods.pseudonyms.results import Pseudonymized, Shifted
    from shoal.methods.pseudonyms.shift_dates import shift_dates
    from shoal.methods.scrubbing.documents import KSafety, k_safety
    from shoal.methods.scrubbing.results import ScrubResult
    from shoal.methods.scrubbing.scrub import scrub
    from shoal.methods.search.solution_space import SolutionSpace
    from shoal.methods.solve import apply_plan, lattice
    from shoal.policy import Policy, load_policy
    from shoal.policy.migration.import_policy import ImportedPolicy, import_policy
    from shoal.ranges.hierarchy import Hierarchy, build_hierarchy, read_hierarchy
    from shoal.releases.compare import Comparison, compare
    from shoal.releases.decode import decode
    from shoal.releases.open import Release
    from shoal.releases.results import Released, Verification
    from shoal.releases.signing import make_signing_key
    from shoal.releases.write import Refused, release
    from shoal.reports.publication.compare import PublicationComparison, compare_publications
    from shoal.reports.publication.publish import publish
    from shoal.reports.publication.results import Publication
    from shoal.reproduction import Reproduction, reproduce
    from shoal.reproduction.sample import sample_data
    from shoal.storage import Column, Table
    from shoal.storage.reading import Options, read
    from shoal.storage.writing import OutputFormat
    from shoal.utility.quality import QualityFigures, quality

__version__ = "0.1.0"

# public name -> the module that holds it
_HOME = {
    "Coarsen": "shoal.methods",
    "Lattice": "shoal.methods",
    "Mask": "shoal.methods",
    "Method": "shoal.methods",
    "Microaggregate": "shoal.methods",
    "Mondrian": "shoal.methods",
    "Recode": "shoal.methods",
    "SortedClusters": "shoal.methods",
    "Suppress": "shoal.methods",
    "SolutionSpace": "shoal.methods.search.solution_space",
    "Anonymized": "shoal.methods.anonymize",
    "AttackResult": "shoal.attacks.base",
    "BudgetRefused": "shoal.dp",
    "Cells": "shoal.methods.cells",
    "Column": "shoal.storage",
    "Desk": "shoal.dp",
    "Comparison": "shoal.releases.compare",
    "Detection": "shoal.detection",
    "Hierarchy": "shoal.ranges.hierarchy",
    "IdentityRisk": "shoal.exposure",
    "ImportedPolicy": "shoal.policy.migration.import_policy",
    "InputError": "shoal.errors",
    "LeakRisk": "shoal.exposure.leakage",
    "LeakSeries": "shoal.exposure.leakage",
    "Perturbed": "shoal.methods.perturbation.results",
    "Policy": "shoal.policy",
    "Publication": "shoal.reports.publication.results",
    "PublicationComparison": "shoal.reports.publication.compare",
    "Profile": "shoal.detection.profiles",
    "Pseudonymized": "shoal.methods.pseudonyms.results",
    "SafeHarbor": "shoal.methods.hipaa.results",
    "Shifted": "shoal.methods.pseudonyms.results",
    "ShoalError": "shoal.errors",
    "Table": "shoal.storage",
    "anonymize": "shoal.methods.anonymize",
    "apply_plan": "shoal.methods.solve",
    "build_hierarchy": "shoal.ranges.hierarchy",
    "attack": "shoal.attacks.battery",
    "Intersection": "shoal.attacks.intersect",
    "attack_intersect": "shoal.attacks.intersect",
    "attack_link": "shoal.attacks.link",
    "attack_membership": "shoal.attacks.membership",
    "Membership": "shoal.attacks.membership",
    "attack_reconstruct": "shoal.attacks.reconstruct",
    "Reconstruction": "shoal.attacks.reconstruct",
    "attack_scoreboard": "shoal.attacks.scoreboard",
    "Scoreboard": "shoal.attacks.scoreboard",
    "attack_unicity": "shoal.attacks.unicity",
    "Unicity": "shoal.attacks.unicity",
    "LinkResult": "shoal.attacks.link",
    "compare": "shoal.releases.compare",
    "compare_publications": "shoal.reports.publication.compare",
    "cells": "shoal.methods.cells",
    "decode": "shoal.releases.decode",
    "detect": "shoal.detection",
    "import_policy": "shoal.policy.migration.import_policy",
    "lattice": "shoal.methods.solve",
    "leak": "shoal.exposure.leakage",
    "load_policy": "shoal.policy",
    "open_desk": "shoal.dp",
    "perturb": "shoal.methods.perturbation",
    "profile": "shoal.detection.profile",
    "QualityFigures": "shoal.utility.quality",
    "quality": "shoal.utility.quality",
    "pseudonymize": "shoal.methods.pseudonyms.pseudonymize",
    "publish": "shoal.reports.publication.publish",
    "read": "shoal.storage.reading",
    "read_hierarchy": "shoal.ranges.hierarchy",
    "Options": "shoal.storage.reading",
    "OutputFormat": "shoal.storage.writing",
    "Refused": "shoal.releases.write",
    "Release": "shoal.releases.open",
    "Released": "shoal.releases.results",
    "make_signing_key": "shoal.releases.signing",
    "release": "shoal.releases.write",
    "Reproduction": "shoal.reproduction",
    "reproduce": "shoal.reproduction",
    "risk": "shoal.exposure",
    "safe_harbor": "shoal.methods.hipaa.safe_harbor",
    "sample_data": "shoal.reproduction.sample",
    "KSafety": "shoal.methods.scrubbing.documents",
    "k_safety": "shoal.methods.scrubbing.documents",
    "ScrubResult": "shoal.methods.scrubbing.results",
    "scrub": "shoal.methods.scrubbing.scrub",
    "shift_dates": "shoal.methods.pseudonyms.shift_dates",
    "Verification": "shoal.releases.results",
    "verify": "shoal.attacks.verification",
}

__all__ = [
    "Anonymized",
    "AttackResult",
    "BudgetRefused",
    "Cells",
    "Coarsen",
    "Column",
    "Comparison",
    "Desk",
    "Detection",
    "Hierarchy",
    "IdentityRisk",
    "ImportedPolicy",
    "InputError",
    "Intersection",
    "KSafety",
    "Lattice",
    "LeakRisk",
    "LeakSeries",
    "LinkResult",
    "Mask",
    "Membership",
    "Method",
    "Microaggregate",
    "Mondrian",
    "Options",
    "OutputFormat",
    "Perturbed",
    "Policy",
    "Profile",
    "Pseudonymized",
    "Publication",
    "PublicationComparison",
    "QualityFigures",
    "Recode",
    "Reconstruction",
    "Refused",
    "Release",
    "Released",
    "Reproduction",
    "SafeHarbor",
    "Scoreboard",
    "ScrubResult",
    "Shifted",
    "ShoalError",
    "SolutionSpace",
    "SortedClusters",
    "Suppress",
    "Table",
    "Unicity",
    "Verification",
    "anonymize",
    "apply_plan",
    "attack",
    "attack_intersect",
    "attack_link",
    "attack_membership",
    "attack_reconstruct",
    "attack_scoreboard",
    "attack_unicity",
    "build_hierarchy",
    "cells",
    "compare",
    "compare_publications",
    "decode",
    "detect",
    "import_policy",
    "k_safety",
    "lattice",
    "leak",
    "load_policy",
    "make_signing_key",
    "open_desk",
    "perturb",
    "profile",
    "pseudonymize",
    "publish",
    "quality",
    "read",
    "read_hierarchy",
    "release",
    "reproduce",
    "risk",
    "safe_harbor",
    "sample_data",
    "scrub",
    "shift_dates",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
