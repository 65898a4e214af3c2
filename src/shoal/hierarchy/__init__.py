"""How a column gets coarser: trees that are given (CSV, YAML) or built (intervals, dates, prefixes, categories).

What builds, reads and checks trees is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.hierarchy.fit import Fitted, fit, fit_all
from shoal.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from shoal.hierarchy.build import build_hierarchy
    from shoal.hierarchy.build_files import build_hierarchies
    from shoal.hierarchy.check import check_hierarchies
    from shoal.hierarchy.given import read_hierarchies, read_hierarchy
    from shoal.hierarchy.problems import HierarchyError

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
    "HierarchyError": "problems",
    "build_hierarchies": "build_files",
    "build_hierarchy": "build",
    "check_hierarchies": "check",
    "read_hierarchies": "given",
    "read_hierarchy": "given",
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'shoal.hierarchy' has no attribute {name!r}")
    return getattr(import_module(f"shoal.hierarchy.{_ELSEWHERE[name]}"), name)
