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

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.anonymize import Anonymized, anonymize
    from shoal.compare import Comparison, compare
    from shoal.detect import Detection, detect
    from shoal.dp import BudgetRefused, Desk, open_desk
    from shoal.errors import InputError, ShoalError
    from shoal.hierarchy import Hierarchy, build_hierarchy, read_hierarchy
    from shoal.leak import LeakRisk, leak
    from shoal.papers import Reproduction, reproduce
    from shoal.perturb import Perturbed, perturb
    from shoal.policy import Policy, load_policy
    from shoal.profile import Profile, profile
    from shoal.pseudonyms.pseudonymize import Pseudonymized, pseudonymize
    from shoal.quality import QualityFigures, quality
    from shoal.read import read
    from shoal.release import Refused, release
    from shoal.risk import IdentityRisk, risk
    from shoal.sample import sample_data
    from shoal.solve import apply_plan, lattice
    from shoal.standards.cells import Cells, cells
    from shoal.standards.safe_harbor import SafeHarbor, safe_harbor
    from shoal.table import Column, Table
    from shoal.transform.shift_dates import Shifted, shift_dates
    from shoal.verify import Verification, verify

__version__ = "0.1.0"

# public name -> the module that holds it
_HOME = {
    "Anonymized": "shoal.anonymize",
    "BudgetRefused": "shoal.dp",
    "Cells": "shoal.standards.cells",
    "Column": "shoal.table",
    "Desk": "shoal.dp",
    "Comparison": "shoal.compare",
    "Detection": "shoal.detect",
    "Hierarchy": "shoal.hierarchy",
    "IdentityRisk": "shoal.risk",
    "InputError": "shoal.errors",
    "LeakRisk": "shoal.leak",
    "Perturbed": "shoal.perturb",
    "Policy": "shoal.policy",
    "Profile": "shoal.profile",
    "Pseudonymized": "shoal.pseudonyms.pseudonymize",
    "SafeHarbor": "shoal.standards.safe_harbor",
    "Shifted": "shoal.transform.shift_dates",
    "ShoalError": "shoal.errors",
    "Table": "shoal.table",
    "anonymize": "shoal.anonymize",
    "apply_plan": "shoal.solve",
    "build_hierarchy": "shoal.hierarchy",
    "compare": "shoal.compare",
    "cells": "shoal.standards.cells",
    "detect": "shoal.detect",
    "lattice": "shoal.solve",
    "leak": "shoal.leak",
    "load_policy": "shoal.policy",
    "open_desk": "shoal.dp",
    "perturb": "shoal.perturb",
    "profile": "shoal.profile",
    "QualityFigures": "shoal.quality",
    "quality": "shoal.quality",
    "pseudonymize": "shoal.pseudonyms.pseudonymize",
    "read": "shoal.read",
    "read_hierarchy": "shoal.hierarchy",
    "Refused": "shoal.release",
    "release": "shoal.release",
    "Reproduction": "shoal.papers",
    "reproduce": "shoal.papers",
    "risk": "shoal.risk",
    "safe_harbor": "shoal.standards.safe_harbor",
    "sample_data": "shoal.sample",
    "shift_dates": "shoal.transform.shift_dates",
    "Verification": "shoal.verify",
    "verify": "shoal.verify",
}

__all__ = [
    "Anonymized",
    "BudgetRefused",
    "Cells",
    "Column",
    "Comparison",
    "Desk",
    "Detection",
    "Hierarchy",
    "IdentityRisk",
    "InputError",
    "LeakRisk",
    "Perturbed",
    "Policy",
    "Profile",
    "Pseudonymized",
    "QualityFigures",
    "Refused",
    "Reproduction",
    "SafeHarbor",
    "Shifted",
    "ShoalError",
    "Table",
    "Verification",
    "anonymize",
    "apply_plan",
    "build_hierarchy",
    "cells",
    "compare",
    "detect",
    "lattice",
    "leak",
    "load_policy",
    "open_desk",
    "perturb",
    "profile",
    "pseudonymize",
    "quality",
    "read",
    "read_hierarchy",
    "release",
    "reproduce",
    "risk",
    "safe_harbor",
    "sample_data",
    "shift_dates",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


class _VerbsBeforeRooms(ModuleType):
    """`shoal.risk` is the verb, also after the room `shoal/risk/` was loaded."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in _HOME:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _VerbsBeforeRooms
