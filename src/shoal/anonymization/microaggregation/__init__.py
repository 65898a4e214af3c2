"""Microaggregation: groups of at least k near records, in which each value is replaced by the group's mean.

The measure is the sum of squares within groups over that of the whole table. One column is grouped optimally; more by
MDAV as published, or, with less loss and much faster, from the outside in with exchanges between groups. Groups may be
kept within strata, and may be made to look like the whole table in a confidential column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from shoal.anonymization.partition.kinds import Effort, FailsPolicy
from shoal.anonymization.transforms.sorted_clusters import cut
from shoal.errors import InputError, check_choice
from shoal.ranges.boxed import Boxed, box_clusters, check_k
from shoal.ranges.nodes import ColumnTree
from shoal.table import Array, Column
from shoal.table.classes import class_of_each_row, pack

# passes of exchanges
_PASSES = {"fast": 1, "default": 2, "best": 6}
# more records are grouped part by part
_SEGMENT = 1 << 20

__all__ = ["groups_of_points", "microaggregate", "sum_of_squares"]


def microaggregate(
    columns: Sequence[Column],
    k: int,
    effort: Effort = "default",
    *,
    mdav: bool = False,
    strata: Sequence[Column] = (),
    confidential: Column | None = None,
    t: float | None = None,
    importance: Mapping[str, float] | None = None,
    seed: int = 0,
    fails_policy: FailsPolicy | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> Boxed:
    """Groups of at least k records with a small sum of squares; release them as means or as ranges.

    `mdav`: exactly the published algorithm. `strata`: no group has records that differ in these columns. With a
    `confidential` column and t, each group takes records of all stretches of its order. `fails_policy` tells which
    groups a policy does not allow: those are merged with near ones. `trees` say which categories are near.

    >>> from shoal.reading import read
    >>> microaggregate(read({"income": [10, 12, 50, 11, 52]}).select(["income"]), 2).box_of_row.tolist()
    [0, 0, 1, 0, 1]
    """
    check_choice("effort", effort, get_args(Effort))
    check_k(k, len(columns[0].codes))
    if strata and confidential is not None:
        raise InputError("Strata and t-closeness cannot be had at once.", "Leave out one of them.")
    from shoal.anonymization.partition.coordinates import coordinates_apart

    points = coordinates_apart(columns, importance, trees)
    if confidential is not None:
        group = _close(points, confidential, k, t)
    else:
        group = _in_strata(points, strata, k, effort, mdav, seed)
    if fails_policy is not None:
        group = _allowed(points, strata, group, fails_policy)
    order = np.argsort(group, kind="stable")
    return box_clusters(columns, order, np.flatnonzero(np.diff(group[order], prepend=-1)))


def groups_of_points(
    points: Array, k: int, effort: Effort, mdav: bool, seed: int, fails_policy: FailsPolicy | None
) -> Array:
    """The group of each point; where a policy does not allow some, they are merged with near ones."""
    group = _groups(points, k, effort, mdav, seed)[0]
    return group if fails_policy is None else _allowed(points, (), group, fails_policy)


def _in_strata(points: Array, strata: Sequence[Column], k: int, effort: Effort, mdav: bool, seed: int) -> Array:
    """The group of each record, stratum by stratum."""
    parts = _rows_of_strata(len(points), strata)
    small = sum(len(rows) < k for rows in parts)
    if small:
        raise InputError(
            f"{small:,} of {len(parts):,} strata have fewer than k = {k} records.", "Use fewer or coarser strata."
        )
    found = np.empty(len(points), np.int64)
    groups = 0
    for rows in parts:
        group, more = _groups(points[rows], k, effort, mdav, seed)
        found[rows] = group + groups
        groups += more
    return found


def _rows_of_strata(rows: int, strata: Sequence[Column]) -> list[Array]:
    """The rows of each stratum; without strata, all rows."""
    if not strata:
        return [np.arange(rows)]
    stratum, count = class_of_each_row(pack(strata))
    ends = np.cumsum(np.bincount(stratum, minlength=count))
    return np.split(np.argsort(stratum, kind="stable"), ends[:-1])


def _groups(points: Array, k: int, effort: Effort, mdav: bool, seed: int) -> tuple[Array, int]:
    """The group of each record, and how many groups there are."""
    if mdav:
        from shoal.anonymization.microaggregation.mdav import mdav as published

        return published(points, k)
    if points.shape[1] == 1:
        from shoal.anonymization.partition.one_column import cheapest_runs

        order, first = cheapest_runs(points[:, 0], k, squares=True)
        group = np.empty(len(points), np.int64)
        group[order] = np.cumsum(first) - 1
        return group, int(first.sum())
    from shoal.anonymization.partition.groups import improved, peeled
    from shoal.anonymization.partition.rehearsals import EXCHANGE_SQUARES, GROUP
    from shoal.compiled import make_ready

    make_ready([EXCHANGE_SQUARES, GROUP])
    groups = peeled(points.astype(np.float32), k, _SEGMENT, k - 1)
    for number in range(_PASSES[effort]):
        groups = improved(groups, k, seed + number, squares=True)
    return groups.group_of_each_row()


def _close(points: Array, confidential: Column, k: int, t: float | None) -> Array:
    """t-closeness first: one record, the nearest, of every stretch of the confidential order."""
    from shoal.anonymization.microaggregation.close import close_groups

    sizes = cut(len(points), k, t)
    order = np.argsort(confidential.codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes.stretches())])
    group = np.empty(len(points), np.int64)
    group[order] = close_groups(points[order], starts, sizes.clusters)
    return group


def _allowed(points: Array, strata: Sequence[Column], group: Array, fails_policy: FailsPolicy) -> Array:
    """Groups merged, each stratum by itself, until a policy allows all of them."""
    from shoal.anonymization.partition.groups import Groups
    from shoal.anonymization.partition.repair import merged_until_allowed

    found = np.empty_like(group)
    groups = 0
    for rows in _rows_of_strata(len(points), strata):

        def refused(some: Array, count: int, rows: Array = rows) -> Array:
            whole = np.full(len(points), -1, np.int64)
            whole[rows] = some
            return fails_policy(whole, count)

        order = np.argsort(group[rows], kind="stable")
        first = np.diff(group[rows][order], prepend=-1) != 0
        merged = merged_until_allowed(Groups(points[rows][order].astype(np.float32), order, first), refused)
        numbers, count = merged.group_of_each_row()
        found[rows] = numbers + groups
        groups += count
    return found


def sum_of_squares(points: Array, group: Array, weights: Array | None = None) -> tuple[float, float]:
    """The sum of squares within groups, and that of all records around their mean: SSE and SST, by `weights` if given.

    >>> sum_of_squares(np.array([[1.0], [3.0], [8.0], [8.0]]), np.array([0, 0, 1, 1]))
    (2.0, 38.0)
    """
    weights = np.ones(len(points)) if weights is None else weights
    held = np.bincount(group, weights)
    counts = np.where(held > 0, held, 1)
    within = whole = 0.0
    for column in points.T:
        centred = column - np.average(column, weights=weights)
        whole += float((weights * centred**2).sum())
        means = np.bincount(group, weights * centred) / counts
        within += float((weights * (centred - means[group]) ** 2).sum())
    return within, whole
