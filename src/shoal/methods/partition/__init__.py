"""Multidimensional partitioning: groups of at least k records that are near each other in all columns at once.

Mondrian (LeFevre et al.) cuts the records in two until no cut is left. This goes past it: the cut is the one that
leaves the least spread, small parts are grouped nearly optimally from the outside in, and records change groups while
that lowers the information loss. Numbers, dates and categories, with missing values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from shoal.errors import Setting, check_choice
from shoal.methods.partition.groups import Cuts, Effort, FailsPolicy, Pass
from shoal.ranges.boxed import Boxed, box_clusters, check_k
from shoal.ranges.forms import ColumnTree
from shoal.storage import Array, Column

if TYPE_CHECKING:
    from shoal.methods.partition.groups import Groups


# fast: blocks of so many records
_BLOCK = 1024
# the others: segments of so many records, nearest ones looked at for each member, passes of local search
_STEPS = {"default": (1 << 16, 2, [Pass(begin=0.92, cycles=0.3)]), "best": (1 << 18, 4, [Pass()] * 3)}
# of rows that stand for many people
_PASSES = {"fast": 0, "default": 2, "best": 6}
# few records: two thorough passes, or the best of several searches, fewer where records, k and columns make each long
_FEW, _RESTARTS, _LONG = 1 << 14, 16, 1 << 20
_PASSES_OF_FEW = [Pass()] * 2
# many records: each further pass takes long and wins 1% at best
_MANY, _PASSES_OF_MANY = 1 << 20, [Pass(), Pass(begin=0.97, cycles=0.8)]

__all__ = ["Cuts", "Effort", "FailsPolicy", "coordinates_of", "counted_groups", "grouped", "partition"]


def partition(
    columns: Sequence[Column],
    k: int,
    effort: Effort = "default",
    *,
    cuts: Cuts = "best",
    importance: Mapping[str, float] | None = None,
    seed: int = 0,
    fails_policy: FailsPolicy | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> Boxed:
    """Groups of at least k near records, each released as its box.

    `cuts` strict or relaxed is Mondrian as published, at the median of the widest column. `importance` says how much
    each column matters (1 if not given). `fails_policy` tells which groups a policy does not allow; where no grouping
    is allowed, that is an error. `trees` say which categories are near. The result depends on rows, seed and effort,
    not on the number of threads.

    >>> from shoal.storage.reading import read
    >>> boxed = partition(read({"age": [70, 30, 71, 31, 30]}).select(["age"]), 2)
    >>> side = boxed.sides["age"]
    >>> [(side.scale[side.low[box]].item(), side.scale[side.high[box]].item()) for box in boxed.box_of_row]
    [(70.0, 71.0), (30.0, 31.0), (70.0, 71.0), (30.0, 31.0), (30.0, 31.0)]
    """
    check_choice(Setting("effort"), effort, get_args(Effort))
    check_choice(Setting("cuts"), cuts, get_args(Cuts))
    check_k(k, len(columns[0].codes))
    from shoal.methods.partition.coordinates import coordinates

    groups = grouped(coordinates(columns, importance, trees), k, effort, cuts, seed, fails_policy)
    return box_clusters(columns, groups.order, groups.starts)


def coordinates_of(
    columns: Sequence[Column], importance: Mapping[str, float] | None, trees: Mapping[str, ColumnTree] | None
) -> Array:
    """Records as the points that are grouped."""
    from shoal.methods.partition.coordinates import coordinates

    return coordinates(columns, importance, trees)


def counted_groups(
    rows: Array, people: Array, k: int, effort: Effort, fails_policy: FailsPolicy | None, squares: bool = False
) -> Array:
    """The group of each point, of which each stands for some people and is never split; `k` counts people."""
    from shoal.methods.partition.mondrian import counted

    return counted(rows.astype(np.float32), people, k, _PASSES[effort], fails_policy, squares)


def grouped(rows: Array, k: int, effort: Effort, cuts: Cuts, seed: int, fails_policy: FailsPolicy | None) -> Groups:
    """Groups of points; `rows` is taken over."""
    from shoal.methods.partition.groups import Groups, blocked, loss, restarted, searched
    from shoal.methods.partition.mondrian import merged_until_allowed, mondrian

    if cuts != "best":
        return mondrian(Groups.of(rows), k, cuts, fails_policy)
    if effort == "fast":
        groups = blocked(rows, k, _BLOCK)
    else:
        segment, nearest, passes = _STEPS[effort]
        if effort == "best" and len(rows) > _MANY:
            passes = _PASSES_OF_MANY
        if effort == "default" and len(rows) <= _FEW:
            passes = _PASSES_OF_FEW
        groups = searched(rows, k, segment, nearest, passes, seed)
    if effort == "best" and len(rows) <= _FEW:
        # never worse than less effort
        usual = searched(groups.rows[np.argsort(groups.order)], k, *_STEPS["default"][:2], _PASSES_OF_FEW, seed)
        restarts = min(_RESTARTS, max(1, _RESTARTS * _LONG // (rows.size * k)))
        others = [restarted(groups, k, *_STEPS[effort], seed + number) for number in range(1, restarts)]
        groups = min([groups, usual, *others], key=loss)
    if fails_policy is None:
        return groups
    # two ways to what a policy allows: up from small groups, or down from all records; neither always wins
    merged = merged_until_allowed(groups, fails_policy)
    cut = mondrian(Groups(merged.rows.copy(), merged.order.copy(), merged.first.copy()), k, "best", fails_policy)
    return min(merged, cut, key=loss)
