"""How a column gets coarser: trees that are given (CSV, YAML) or built (intervals, dates, prefixes, categories)."""

from shoal.hierarchy.build import build_hierarchy
from shoal.hierarchy.build_files import build_hierarchies
from shoal.hierarchy.check import check_hierarchies
from shoal.hierarchy.fit import Fitted, fit, fit_all
from shoal.hierarchy.given import read_hierarchies, read_hierarchy
from shoal.hierarchy.problems import HierarchyError
from shoal.hierarchy.tree import Hierarchy

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
