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
    from shoal.joint.simulate import JointSimulation, joint_simulate
    from shoal.local.estimate import LocalEstimate, local_estimate
    from shoal.local.randomize import LocalRandomized, local_randomize
    from shoal.local.spec import LocalSpec, local_collect_spec
    from shoal.methods import (
        Anatomy,
        Coarsen,
        Lattice,
        Mask,
        Method,
        Microaggregate,
        Mondrian,
        Recode,
        SortedClusters,
        Suppress,
    )
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
    from shoal.methods.solve import SolutionSpace, apply_plan, lattice
    from shoal.policy import Policy, load_policy
    from shoal.policy.migration.import_policy import ImportedPolicy, import_policy
    from shoal.ranges.hierarchy import Hierarchy, build_hierarchy, read_hierarchy
    from shoal.releases.compare import Comparison, compare
    from shoal.releases.decode import decode
    from shoal.releases.estimate import GroupEstimate, estimate
    from shoal.releases.open import Release
    from shoal.releases.results import Released, Verification
    from shoal.releases.signing import make_signing_key
    from shoal.releases.write import Refused, release
    from shoal.reports.publication.compare import PublicationComparison, compare_publications
    from shoal.reports.publication.dp_release import dp_release
    from shoal.reports.publication.publish import publish
    from shoal.reports.publication.results import Publication
    from shoal.reproduction import Reproduction, reproduce
    from shoal.reproduction.sample import sample_data
    from shoal.storage import Column, Table
    from shoal.storage.reading import Options, read
    from shoal.storage.writing import OutputFormat
    from shoal.streams.files import stream
    from shoal.streams.results import StreamResult
    from shoal.streams.stream import Stream
    from shoal.utility.quality import QualityFigures, quality

__version__ = "0.1.0"

# the public names of each module
_NAMES = {
    "shoal.attacks.base": "AttackResult",
    "shoal.attacks.battery": "attack",
    "shoal.attacks.intersect": "Intersection attack_intersect",
    "shoal.attacks.link": "LinkResult attack_link",
    "shoal.attacks.membership": "Membership attack_membership",
    "shoal.attacks.reconstruct": "Reconstruction attack_reconstruct",
    "shoal.attacks.scoreboard": "Scoreboard attack_scoreboard",
    "shoal.attacks.unicity": "Unicity attack_unicity",
    "shoal.attacks.verification": "verify",
    "shoal.detection": "Detection detect",
    "shoal.detection.profile": "profile",
    "shoal.detection.profiles": "Profile",
    "shoal.dp": "BudgetRefused Desk open_desk",
    "shoal.errors": "InputError ShoalError",
    "shoal.exposure": "IdentityRisk risk",
    "shoal.exposure.leakage": "LeakRisk LeakSeries leak",
    "shoal.joint.simulate": "JointSimulation joint_simulate",
    "shoal.local.estimate": "LocalEstimate local_estimate",
    "shoal.local.randomize": "LocalRandomized local_randomize",
    "shoal.local.spec": "LocalSpec local_collect_spec",
    "shoal.methods": "Anatomy Coarsen Lattice Mask Method Microaggregate Mondrian Recode SortedClusters Suppress",
    "shoal.methods.anonymize": "Anonymized anonymize",
    "shoal.methods.cells": "Cells cells",
    "shoal.methods.hipaa.results": "SafeHarbor",
    "shoal.methods.hipaa.safe_harbor": "safe_harbor",
    "shoal.methods.perturbation": "perturb",
    "shoal.methods.perturbation.results": "Perturbed",
    "shoal.methods.pseudonyms.pseudonymize": "pseudonymize",
    "shoal.methods.pseudonyms.results": "Pseudonymized Shifted",
    "shoal.methods.pseudonyms.shift_dates": "shift_dates",
    "shoal.methods.scrubbing.documents": "KSafety k_safety",
    "shoal.methods.scrubbing.results": "ScrubResult",
    "shoal.methods.scrubbing.scrub": "scrub",
    "shoal.methods.solve": "SolutionSpace apply_plan lattice",
    "shoal.policy": "Policy load_policy",
    "shoal.policy.migration.import_policy": "ImportedPolicy import_policy",
    "shoal.ranges.hierarchy": "Hierarchy build_hierarchy read_hierarchy",
    "shoal.releases.compare": "Comparison compare",
    "shoal.releases.decode": "decode",
    "shoal.releases.estimate": "GroupEstimate estimate",
    "shoal.releases.open": "Release",
    "shoal.releases.results": "Released Verification",
    "shoal.releases.signing": "make_signing_key",
    "shoal.releases.write": "Refused release",
    "shoal.reports.publication.dp_release": "dp_release",
    "shoal.reports.publication.compare": "PublicationComparison compare_publications",
    "shoal.reports.publication.publish": "publish",
    "shoal.reports.publication.results": "Publication",
    "shoal.reproduction": "Reproduction reproduce",
    "shoal.reproduction.sample": "sample_data",
    "shoal.storage": "Column Table",
    "shoal.storage.reading": "Options read",
    "shoal.storage.writing": "OutputFormat",
    "shoal.streams.files": "stream",
    "shoal.streams.results": "StreamResult",
    "shoal.streams.stream": "Stream",
    "shoal.utility.quality": "QualityFigures quality",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Anatomy",
    "Anonymized",
    "AttackResult",
    "BudgetRefused",
    "Cells",
    "Coarsen",
    "Column",
    "Comparison",
    "Desk",
    "Detection",
    "GroupEstimate",
    "Hierarchy",
    "IdentityRisk",
    "ImportedPolicy",
    "InputError",
    "Intersection",
    "JointSimulation",
    "KSafety",
    "Lattice",
    "LeakRisk",
    "LeakSeries",
    "LinkResult",
    "LocalEstimate",
    "LocalRandomized",
    "LocalSpec",
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
    "Stream",
    "StreamResult",
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
    "dp_release",
    "estimate",
    "import_policy",
    "joint_simulate",
    "k_safety",
    "lattice",
    "leak",
    "load_policy",
    "local_collect_spec",
    "local_estimate",
    "local_randomize",
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
    "stream",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
