"""The methods that change a table, one file each. Chooser, command line, policy and docs read this list.

A new method is a file with a `Method` and a line in `CLASSES`; a file is imported when its method is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, Message, Setting, joined
from shoal.methods.base import Method, MethodOptions, in_backquotes
from shoal.policy.sections import DP, MethodSection, check_methods_by

if TYPE_CHECKING:
    from shoal.methods.anatomy import Anatomy
    from shoal.methods.coarsen import Coarsen
    from shoal.methods.lattice import Lattice
    from shoal.methods.mask import Mask
    from shoal.methods.microaggregate import Microaggregate
    from shoal.methods.mondrian import Mondrian
    from shoal.methods.recode import Recode
    from shoal.methods.sorted_clusters import SortedClusters
    from shoal.methods.suppress import Suppress


__all__ = [
    "METHODS",
    "Anatomy",
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
CLASSES = {
    "mondrian": "Mondrian",
    "lattice": "Lattice",
    "sorted-clusters": "SortedClusters",
    "microaggregate": "Microaggregate",
    "coarsen": "Coarsen",
    "mask": "Mask",
    "recode": "Recode",
    "suppress": "Suppress",
    "anatomy": "Anatomy",
}


class _Methods(Mapping[str, type[Method]]):
    """The methods by their names."""

    def __getitem__(self, name: str) -> type[Method]:
        kind: type[Method] = getattr(import_module(f"{__name__}.{name.replace('-', '_')}"), CLASSES[name])
        return kind

    def __contains__(self, name: object) -> bool:
        return name in CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)


METHODS: Mapping[str, type[Method]] = _Methods()


def __getattr__(name: str) -> Any:
    by_class = {kind: method for method, kind in CLASSES.items()}
    if name not in by_class:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return METHODS[by_class[name]]


def method_named(
    method: Method | str | None, options: Mapping[str, Any], section: MethodSection | None = None
) -> Method | None:
    """The method that is asked for, with its options; None where none is named.

    What is given goes before the policy's `method` section; that section's options count where it names the same.

    >>> method_named("lattice", {"suppression": "5%"}) == METHODS["lattice"](suppression=0.05)
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
    if name == DP:
        raise InputError(
            "The method dp draws new records: it changes none.",
            "Use `shoal publish`, or `shoal dp-release` for a file.",
        )
    if name not in METHODS:
        near = get_close_matches(str(name), METHODS, n=1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        raise InputError(Message("{method} '{}' is not known.", name), f"{hint}Use one of {', '.join(METHODS)}.")
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
        hint = Message("Did you mean `{}`? ", Setting(near[0])) if near else ""
        raise InputError(
            f"No method has an option `{unknown[0]}`.", Message("{}The options are: {}.", hint, in_backquotes(known))
        )
    whose = joined([Message("`{}`: {}", Setting(name), ", ".join(kinds)) for name, kinds in who.items()], "; ")
    raise InputError(
        Message("No method has the options {} together ({}).", in_backquotes(options), whose), "Leave out some of them."
    )


def _check_section(section: MethodSection) -> None:
    method_named(None, {}, section)


check_methods_by(_check_section)
