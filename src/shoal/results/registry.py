"""Which module defines which result: a name is looked up without loading the others."""

from __future__ import annotations

from importlib import import_module

from shoal.errors import InputError
from shoal.results.result import Result, results

# a result's name -> the module that defines it; a test keeps the list complete
MODULES = {
    "anonymize": "shoal.anonymization.results",
    "attack": "shoal.attacks.base",
    "attack-intersect": "shoal.attacks.intersect",
    "attack-link": "shoal.attacks.link",
    "attack-membership": "shoal.attacks.membership",
    "attack-reconstruct": "shoal.attacks.reconstruct",
    "attack-scoreboard": "shoal.attacks.scoreboard",
    "attack-unicity": "shoal.attacks.unicity",
    "cells": "shoal.standards.cells",
    "compare": "shoal.releases.compare",
    "compare-publications": "shoal.publication.compare",
    "desk-open": "shoal.dp.results",
    "desk-preview": "shoal.dp.results",
    "desk-query": "shoal.dp.results",
    "desk-refusal": "shoal.dp.results",
    "desk-show": "shoal.dp.results",
    "detect": "shoal.detection.results",
    "doctor": "shoal.installation.results",
    "findings": "shoal.reports.findings",
    "hierarchy-build": "shoal.hierarchy.results",
    "hierarchy-check": "shoal.hierarchy.results",
    "import-policy": "shoal.migration.results",
    "k-safety": "shoal.scrubbing.documents",
    "lattice": "shoal.anonymization.search.solution_space",
    "leak": "shoal.leakage.results",
    "leak-series": "shoal.leakage.results",
    "perturb": "shoal.perturbation.results",
    "profile": "shoal.detection.profiles",
    "pseudonymize": "shoal.pseudonyms.results",
    "publish": "shoal.publication.results",
    "quality": "shoal.utility.quality",
    "regenerate": "shoal.anonymization.regenerate",
    "release": "shoal.releases.results",
    "reproduce": "shoal.papers.results",
    "risk": "shoal.identity.results",
    "safe-harbor": "shoal.standards.hipaa.results",
    "sample-data": "shoal.sample.written",
    "scrub": "shoal.scrubbing.results",
    "shift-dates": "shoal.pseudonyms.results",
    "standards": "shoal.policy.standards",
    "verify": "shoal.releases.results",
}


def result_type(name: str) -> type[Result]:
    """A result by its name; its module is imported.

    >>> result_type("risk").__name__
    'IdentityRisk'
    """
    if name not in MODULES:
        raise InputError(f"There is no result '{name}'.", f"Use one of {', '.join(MODULES)}.")
    import_module(MODULES[name])
    return results()[name]


def all_results() -> dict[str, type[Result]]:
    """Every result by its name; all modules that define one are imported."""
    return {name: result_type(name) for name in MODULES}
