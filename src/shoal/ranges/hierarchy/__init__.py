"""How a column gets coarser: trees that are given (CSV, YAML) or built (intervals, dates, prefixes, categories).

What builds, reads and checks trees is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.ranges.hierarchy.fit import Fitted, fit, fit_all
from shoal.ranges.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from shoal.ranges.hierarchy.build import build_hierarchies, build_hierarchy
    from shoal.ranges.hierarchy.check import check_hierarchies
    from shoal.ranges.hierarchy.given import read_hierarchies, read_hierarchy
    from shoal.ranges.hierarchy.tree import HierarchyError


__all__ = [
    "Fitted",
    "Hierarchy",
    "HierarchyError",
    "build_hierarchies",
    "build_hierarchy",
    "check_hierarchies",
    "fit",
    "fit_all",
    "read_hierarchies",
    "read_hierarchy",
]
_ELSEWHERE = {
    "HierarchyError": "tree",
    "build_hierarchies": "build",
    "build_hierarchy": "build",
    "check_hierarchies": "check",
    "read_hierarchies": "given",
    "read_hierarchy": "given",
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'shoal.ranges.hierarchy' has no attribute {name!r}")
    return getattr(import_module(f"shoal.ranges.hierarchy.{_ELSEWHERE[name]}"), name)
