"""Put leaves under the labels that hold them: what `shoal hierarchy check --fix` writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from itertools import pairwise

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.hierarchy.outside import held, leaves_outside
from shoal.hierarchy.problems import HierarchyError
from shoal.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR, ends_of
from shoal.table import Column


@dataclass(frozen=True)
class FixedHierarchy:
    """A tree whose labels hold their leaves: `moved` leaves, `below_star` of them found no label that holds them."""

    tree: Hierarchy = field(repr=False)
    moved: int
    below_star: int


def fixed(tree: Hierarchy) -> FixedHierarchy:
    """Each leaf that lies outside a label under the labels that hold it, with the path of the node it moves to.

    Where no label of a level holds it, the leaf stands for itself; where none above does either, it is below `*`.

    >>> rows = ["19", "20", "21", "40"], ["15-19", "15-19", "20-24", "20-24"], ["*"] * 4
    >>> found = fixed(Hierarchy("age", tuple(map(pl.Series, rows))))
    >>> found.tree.levels[1].to_list(), found.moved, found.below_star
    (['15-19', '20-24', '20-24', '*'], 2, 1)
    """
    outside = leaves_outside(tree)
    if not outside.any():
        return FixedHierarchy(tree, 0, 0)
    levels = [level.to_list() for level in tree.levels]
    parents = [_parents(below, above, ~outside) for below, above in pairwise(levels)]
    ranges = [_Ranges(set(level)) for level in levels]
    for place in np.flatnonzero(outside).tolist():
        path = _path([level[place] for level in levels], parents, ranges)
        for level, label in zip(levels[1:], path, strict=True):
            level[place] = label
    series = [tree.levels[0], *(pl.Series(level, dtype=pl.String) for level in levels[1:])]
    try:
        better = Hierarchy(tree.column, tuple(series), tree.source, tree.in_values)
    except HierarchyError:
        better = None
    if better is None or leaves_outside(better).any():
        raise InputError(
            f"The hierarchy of '{tree.column}' cannot be fixed by moving leaves: its own nodes contradict each other.",
            "Correct the labels of the rows that `shoal hierarchy check` names.",
        )
    below = int(np.count_nonzero((better.levels[1] == STAR).to_numpy() & outside))
    return FixedHierarchy(better, int(np.count_nonzero(outside)), below)


class _Ranges:
    """The labels of a level that say a range, the narrowest first."""

    def __init__(self, labels: Iterable[str]) -> None:
        names = pl.Series(sorted(set(labels) - {STAR}), dtype=pl.String)
        low, high = ends_of(Column("", np.zeros(0, np.uint8), names, 0, names.dtype))
        ordered = np.argsort(high - low, kind="stable")
        self.names = [names[place] for place in ordered.tolist() if low[place] < high[place]]

    def narrowest(self, leaf: str) -> str | None:
        """The narrowest label that holds a leaf."""
        if not self.names:
            return None
        inside = held(pl.Series([leaf] * len(self.names)), pl.Series(self.names))
        return self.names[int(inside.argmax())] if inside.any() else None


def _path(own: list[str], parents: list[dict[str, str]], ranges: list[_Ranges]) -> list[str]:
    """The labels above a leaf, up to `*`; a node that it moves to takes its own path along."""
    leaf = own[0]
    found: list[str | None] = []
    moved = False
    for level in range(1, len(own) - 1):
        below = found[-1] if found else None
        along = parents[level - 1].get(below) if moved and below is not None else own[level]
        if along is None or not held(pl.Series([leaf]), pl.Series([along]))[0]:
            along, moved = ranges[level].narrowest(leaf), True
        found.append(along)
    known = [level for level, label in enumerate(found) if label not in (None, STAR)]
    last = max(known, default=-1)
    filled = [label if label is not None else (leaf if level < last else STAR) for level, label in enumerate(found)]
    return [*filled, STAR]


def _parents(below: list[str], above: list[str], sound: np.ndarray) -> dict[str, str]:
    """The parent of each node, by the leaves that lie where they should."""
    return {child: parent for child, parent, good in zip(below, above, sound.tolist(), strict=True) if good}
