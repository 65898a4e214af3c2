"""The methods, one file each. This registry feeds the chooser, the command line, the policy and the docs.

A new method is a file with a `Method` and a line in `METHODS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from shoal.anonymization.methods.base import Method, MethodOptions
from shoal.anonymization.methods.coarsen import Coarsen
from shoal.anonymization.methods.lattice import Lattice
from shoal.anonymization.methods.mask import Mask
from shoal.anonymization.methods.microaggregate import Microaggregate
from shoal.anonymization.methods.mondrian import Mondrian
from shoal.anonymization.methods.recode import Recode
from shoal.anonymization.methods.sorted_clusters import SortedClusters
from shoal.anonymization.methods.suppress import Suppress
from shoal.errors import InputError
from shoal.policy.sections import MethodSection, check_methods_by

__all__ = [
    "METHODS",
    "Coarsen",
    "Lattice",
    "Mask",
    "Method",
    "MethodOptions",
    "Microaggregate",
    "Mondrian",
    "Recode",
    "SortedClusters",
    "Suppress",
    "method_named",
    "methods_with",
]

# by name, the most promising first among those that are tried by default
METHODS: dict[str, type[Method]] = {
    kind.name: kind for kind in (Mondrian, Lattice, SortedClusters, Microaggregate, Coarsen, Mask, Recode, Suppress)
}


def method_named(
    method: Method | str | None, options: Mapping[str, Any], section: MethodSection | None = None
) -> Method | None:
    """The method that is asked for, with its options; None where none is named.

    What is given goes before the policy's `method` section; that section's options count where it names the same.

    >>> method_named("lattice", {"suppression": "5%"}) == Lattice(suppression=0.05)
    True
    """
    if isinstance(method, Method):
        if options:
            raise InputError(
                f"Options stand beside a method object: {', '.join(options)}.",
                f"Write them into it: {type(method).__name__}({next(iter(options))}=…).",
            )
        return method
    name = section.name if method is None and section is not None else method
    if name is None:
        return None
    if name not in METHODS:
        near = get_close_matches(str(name), METHODS, n=1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        raise InputError(f"method '{name}' is not known.", f"{hint}Use one of {', '.join(METHODS)}.")
    decided = section.options if section is not None and section.name == name else {}
    return METHODS[name](**{**decided, **options})


def methods_with(options: Mapping[str, Any]) -> list[type[Method]]:
    """The methods that have all of some options; an error where there is none."""
    fitting = [kind for kind in METHODS.values() if set(options) <= set(kind.model_fields)]
    if fitting:
        return fitting
    who = {name: [kind.name for kind in METHODS.values() if name in kind.model_fields] for name in options}
    unknown = [name for name, kinds in who.items() if not kinds]
    if unknown:
        known = sorted({name for kind in METHODS.values() for name in kind.model_fields})
        near = get_close_matches(unknown[0], known, n=1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        raise InputError(f"No method has an option {unknown[0]}.", f"{hint}The options are: {', '.join(known)}.")
    whose = "; ".join(f"{name}: {', '.join(kinds)}" for name, kinds in who.items())
    raise InputError(f"No method has the options {', '.join(options)} together ({whose}).", "Leave out some of them.")


def _check_section(section: MethodSection) -> None:
    method_named(None, {}, section)


check_methods_by(_check_section)
