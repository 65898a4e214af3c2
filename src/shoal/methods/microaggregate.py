"""`microaggregate`: means of groups of k near records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
from pydantic import Field, field_validator

from shoal import progress
from shoal.errors import InputError, Message, Setting, as_names, check_choice
from shoal.kernels.cuts import sort_stretches
from shoal.kernels.trees import cones_of_sectors, mdav_groups, sum_of_rows, take_nearest_of_stretches
from shoal.methods.base import Importance, k_of, needs_k, t_closeness_of
from shoal.methods.boxes import CategoryMethod, fits_groups, groups_persons, groups_that_fail
from shoal.methods.partition import counted_groups
from shoal.methods.partition.groups import Effort, FailsPolicy
from shoal.methods.partition.peel import RecordTree, outermost_first, tree_of
from shoal.methods.sorted_clusters import cut
from shoal.methods.units import (
    GroupUnits,
    MakeGroups,
    Units,
    about,
    boxes_by_unit,
    households_of,
    is_plain,
    of_households,
)
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, box_clusters, check_k
from shoal.ranges.columns import Form
from shoal.ranges.forms import ColumnTree
from shoal.ranges.hierarchy.on_columns import ColumnLabelling
from shoal.storage import Array, Column, Table
from shoal.storage.classes import class_of_each_row, pack

# Microaggregation: groups of at least k near records, in which each value is replaced by the group's mean.
#
# The measure is the sum of squares within groups over that of the whole table. One column is grouped optimally; more by
# MDAV as published, or, with less loss and much faster, from the outside in with exchanges between groups. Groups may
# be kept within strata, and may be made to look like the whole table in a confidential column.


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
    fails_policy: FailsPolicy | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> Boxed:
    """Groups of at least k records with a small sum of squares; release them as means or as ranges.

    `mdav`: exactly the published algorithm. `strata`: no group has records that differ in these columns. With a
    `confidential` column and t, each group takes records of all stretches of its order. `fails_policy` tells which
    groups a policy does not allow: those are merged with near ones. `trees` say which categories are near.

    >>> from shoal.storage.reading import read
    >>> microaggregate(read({"income": [10, 12, 50, 11, 52]}).select(["income"]), 2).box_of_row.tolist()
    [0, 0, 1, 0, 1]
    """
    check_choice(Setting("effort"), effort, get_args(Effort))
    check_k(k, len(columns[0].codes))
    if strata and confidential is not None:
        raise InputError("Strata and t-closeness cannot be had at once.", "Leave out one of them.")
    from shoal.methods.partition.coordinates import coordinates_apart

    points = coordinates_apart(columns, importance, trees)
    if confidential is not None:
        group = _close(points, confidential, k, t)
    else:
        parts = _rows_of_strata(len(points), strata)
        if small := sum(len(rows) < k for rows in parts):
            raise InputError(
                f"{small:,} of {len(parts):,} strata have fewer than k = {k} records.", "Use fewer or coarser strata."
            )
        group, groups = np.empty(len(points), np.int64), 0
        for rows in parts:
            own, more = _groups(points[rows], k, effort, mdav)
            group[rows] = own + groups
            groups += more
    if fails_policy is not None:
        group = _allowed(points, strata, group, fails_policy)
    order = np.argsort(group, kind="stable")
    return box_clusters(columns, order, np.flatnonzero(np.diff(group[order], prepend=-1)))


def groups_of_points(
    points: Array, k: int, effort: Effort, mdav: bool = False, fails_policy: FailsPolicy | None = None
) -> Array:
    """The group of each point; where a policy does not allow some, they are merged with near ones."""
    group = _groups(points, k, effort, mdav)[0]
    return group if fails_policy is None else _allowed(points, (), group, fails_policy)


def _rows_of_strata(rows: int, strata: Sequence[Column]) -> list[Array]:
    """The rows of each stratum; without strata, all rows."""
    if not strata:
        return [np.arange(rows)]
    stratum, count = class_of_each_row(pack(strata))
    ends = np.cumsum(np.bincount(stratum, minlength=count))
    return np.split(np.argsort(stratum, kind="stable"), ends[:-1])


def _groups(points: Array, k: int, effort: Effort, mdav: bool) -> tuple[Array, int]:
    """The group of each record, and how many groups there are."""
    if mdav:
        return published_mdav(points, k)
    if points.shape[1] == 1:
        from shoal.methods.partition.peel import cheapest_runs

        order, first = cheapest_runs(points[:, 0], k, squares=True)
        group = np.empty(len(points), np.int64)
        group[order] = np.cumsum(first) - 1
        return group, int(first.sum())
    from shoal.methods.partition.groups import improved, peeled

    groups = peeled(points.astype(np.float32), k, _SEGMENT, k - 1)
    for number in range(_PASSES[effort]):
        groups = improved(groups, k, number, squares=True)
    return groups.group_of_each_row()


def _close(points: Array, confidential: Column, k: int, t: float | None) -> Array:
    """t-closeness first: one record, the nearest, of every stretch of the confidential order."""
    sizes = cut(len(points), k, t)
    order = np.argsort(confidential.codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes.stretches())])
    group = np.empty(len(points), np.int64)
    group[order] = close_groups(points[order], starts, sizes.clusters)
    return group


def _allowed(points: Array, strata: Sequence[Column], group: Array, fails_policy: FailsPolicy) -> Array:
    """Groups merged, each stratum by itself, until a policy allows all of them."""
    from shoal.methods.partition.groups import Groups
    from shoal.methods.partition.mondrian import merged_until_allowed

    allowed_group = np.empty_like(group)
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
        allowed_group[rows] = numbers + groups
        groups += count
    return allowed_group


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


# t-closeness first (Soria-Comas, Domingo-Ferrer, Sánchez, Martínez): each group looks like the whole table.
#
# It takes one record, the nearest, of every stretch of the confidential attribute's order.
#
# Algorithm S4 of Sánchez et al. takes the j-th of each stretch instead. The bound on the closeness of such groups holds
# where all values differ and the size divides the records: measure it.


def close_groups(points: Array, starts: Array, clusters: int) -> Array:
    """The group of each record. Stretch s holds the records starts[s] .. starts[s+1], `clusters` or one more.

    From the outside in, the outermost record takes the nearest of every stretch. What is left over joins the nearest
    groups, each at most as often as it must.
    """
    size, columns = points.shape
    stretches = len(starts) - 1
    # one tree per stretch, one after the other in the same arrays
    rows = points.copy()
    trees = [tree_of(rows[starts[s] : starts[s + 1]]) for s in range(stretches)]
    first_node = np.concatenate([[0], np.cumsum([len(tree.live) for tree in trees])])
    joined = RecordTree(*(np.concatenate(parts) for parts in zip(*trees, strict=True)))
    group, centres = np.full(size, -1, np.int64), np.zeros((clusters, columns))
    take_nearest_of_stretches(points, outermost_first(points), rows, *joined, starts, first_node, group, centres)
    return group


class Microaggregate(CategoryMethod):
    """Groups of k near records, each value replaced by its group's mean (or, with `interval`, its range).

    >>> Microaggregate(strata="region").strata
    ['region']
    """

    name: ClassVar[str] = "microaggregate"
    does: ClassVar[str] = "means of groups of k near records"
    page: ClassVar[str] = "least-loss.md"
    source: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz, improved"

    interval: Form = Field(
        default="mean",
        description="How groups are written: the records' mean, [20;29], 20-29, two columns, or the middle.",
    )
    effort: Effort = Field(
        default="default", description="How much time to spend on less loss: 1, 2 or 6 passes of exchanges."
    )
    mdav: bool = Field(default=False, description="The published algorithm MDAV, exactly.")
    strata: list[str] = Field(default=[], description="Groups never cross these columns.")
    importance: Importance = Field(default={}, description="How much a column matters; the policy's, otherwise 1.")

    @field_validator("strata", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return as_names(value)

    def lacks(self) -> str | None:
        """MDAV is what it is: it takes no effort."""
        if self.mdav and self.effort != "default":
            return Message("has no `{effort}` with `{mdav}`, which is the published algorithm: leave one of them out")
        return None

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, and models that are judged group by group."""
        if policy.count is not None and self.mdav:
            return Message("has no MDAV for tables of counts (`count`): leave out `{mdav}`")
        reason = self.lacks() or needs_k(policy) or fits_groups(policy) or groups_persons(policy, table, self.strata)
        return reason or self._household_reason(table, policy)

    def _household_reason(self, table: Table, policy: Policy) -> str | None:
        homes = households_of(table, policy)
        if homes is None:
            return None
        columns, strata = table.select(policy.quasi_identifiers), table.select(self.strata)
        shared = of_households(columns, homes)
        if shared and len(of_households(strata, homes)) < len(strata):
            return Message("keeps households together (`household`), and `{strata}` cuts them apart")
        if 0 < len(shared) < len(columns) and self.interval == "mean":
            return Message(
                "has a mean either of households or of their members (`household`), and the quasi-identifiers are "
                "about both: set `{interval}` to bracket"
            )
        return None

    def check_columns(self, table: Table, policy: Policy) -> None:
        """Strata are columns of the table that stay as they are."""
        super().check_columns(table, policy)
        table.select(self.strata)
        both = [name for name in self.strata if name in policy.quasi_identifiers]
        if both:
            raise InputError(
                Message("Column '{}' is a quasi-identifier and in `{strata}`.", both[0]), "Decide on one of them."
            )

    def grouped(
        self, table: Table, policy: Policy, near: Mapping[str, ColumnLabelling]
    ) -> tuple[Boxed, dict[str, Any]]:
        """The boxes of the groups."""
        trees = _used(near)
        k, close = k_of(policy) or 0, t_closeness_of(policy)
        importance, columns = self.relative_importance(policy), table.select(policy.quasi_identifiers)
        if is_plain(table, policy):
            boxed = microaggregate(
                columns,
                k,
                self.effort,
                mdav=self.mdav,
                strata=table.select(self.strata),
                confidential=table[close.sensitive] if close and not self.strata and not self.mdav else None,
                t=close.t if close else None,
                importance=importance,
                fails_policy=groups_that_fail(table, policy),
                trees=trees,
            )
        else:
            make: MakeGroups = partial(self._groups, importance=importance, trees=trees)
            boxed = boxes_by_unit(table, policy, k, make, table.select(self.strata))
        parameters = {
            "k": k,
            "effort": self.effort,
            "mdav": self.mdav,
            "strata": list(self.strata),
            "importance": self.importance_by(policy),
            **({"t": close.t} if close else {}),
        }
        return boxed, parameters

    def _groups(
        self,
        columns: Sequence[Column],
        units: Units,
        k: int,
        *,
        importance: Mapping[str, float],
        trees: Mapping[str, ColumnTree],
    ) -> GroupUnits:
        """Groups of some units by some columns."""
        from shoal.methods.partition.coordinates import coordinates_apart

        points = coordinates_apart(columns, about(columns, importance), about(columns, trees))

        def group(some: Array, fails_policy: FailsPolicy | None) -> Array:
            if units.people is not None:
                return counted_groups(points[some], units.people[some], k, self.effort, fails_policy, squares=True)
            return groups_of_points(points[some], k, self.effort, self.mdav, fails_policy)

        return group

    def more_findings(
        self, columns: Sequence[Column], boxed: Boxed, near: Mapping[str, ColumnLabelling], weights: Array | None
    ) -> dict[str, Any]:
        """SSE / SST of the groups, each column in units of its spread; none where nothing varies."""
        from shoal.methods.partition.coordinates import coordinates_apart

        within, whole = sum_of_squares(coordinates_apart(columns, trees=_used(near)), boxed.box_of_row, weights)
        return {"sse_ratio": within / whole if whole else None}


def _used(near: Mapping[str, ColumnLabelling]) -> dict[str, ColumnTree]:
    """Trees whose nodes are released, and those of columns that are too large for a coordinate per category."""
    from shoal.methods.partition.coordinates import MOST_APART

    trees = {name: (labelling.labels, labelling.on_column) for name, labelling in near.items()}
    return {name: tree for name, (labels, tree) in trees.items() if labels == "node" or len(tree.place) > MOST_APART}


# MDAV (Domingo-Ferrer, Mateo-Sanz; Domingo-Ferrer, Torra), exactly, with a k-d tree.
#
# While at least 3k records are left: the record farthest from their mean and its k-1 nearest are a group, then the
# record farthest from that one and its k-1 nearest. With 2k left, one more group around the farthest; the rest is a
# group. Ties go to the smaller row number. Nothing is approximated: the farthest records come from sectors around an
# earlier mean, which bound how far a record can be; the nearest from a tree with deletion.

# The record farthest from a point, exactly: records in sectors around an anchor, in each the farthest from it first.
#
# A sector is a cone of directions: its axis and the widest angle of a record to it. A record at distance r from the
# anchor, seen from there at least at the angle t to the way to a point at distance v, is at most sqrt(r^2 + v^2 - 2 r v
# cos t) from that point: most sectors are ruled out by their outermost record, and the search in the others ends a few
# records on. Sectors are kept in 32 bits and bounds widened by more than that rounds; what they do not rule out is
# measured in 64.


class Sectors(NamedTuple):
    """Records sector by sector; `names` is -1 where a record was taken out, `at` is the first that may be left."""

    offsets: Array
    names: Array
    away: Array
    where: Array
    at: Array
    stops: Array
    axes: Array
    cosines: Array
    anchor: Array


def sectors_of(points: Array, left: Array, anchor: Array) -> Sectors:
    """Put the records that are left (their numbers) into sectors: about as many as a sector has records, but no more
    than directions in a few columns need."""
    columns = points.shape[1]
    offsets = points[left] - anchor
    away = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    offsets /= np.where(away > 0, away, 1.0)[:, None]
    rows = offsets.astype(np.float32)
    del offsets
    tree = tree_of(rows)
    # the nodes of one level of the tree are the sectors
    level = min(len(left).bit_length() // 2, 3 * columns, len(tree.live).bit_length() - 1)
    nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
    starts, stops = tree.starts[nodes].copy(), tree.starts[nodes] + tree.live[nodes]
    axes, cosines = np.empty((columns, len(starts))), np.empty(len(starts))
    cones_of_sectors(rows, starts, stops, axes, cosines)
    names, inward = left[tree.names].astype(np.int32), -away[tree.names]
    del tree
    sort_stretches(inward, names, starts, stops)
    where = np.empty(len(points), np.int32)
    where[names] = np.arange(len(names), dtype=np.int32)
    rows = (points[names] - anchor).astype(np.float32)
    return Sectors(rows, names, -inward.astype(np.float32), where, starts, stops, axes, cosines, anchor)


# sectors are made anew, around the mean of what is left, when this share of their records is left
_ANEW = 0.4
# how often it is told how far it is
_REPORTS = 100


def published_mdav(points: Array, k: int) -> tuple[Array, int]:
    """The group of each record, and how many groups there are."""
    size, columns = points.shape
    total, rest = np.zeros(columns), np.zeros(columns)
    sum_of_rows(points, total, rest)
    sectors = sectors_of(points, np.arange(size), (total + rest) / size)
    # the tree after the sectors, which take more memory while they are made than afterwards
    rows, group = points.copy(), np.full(size, -1, np.int64)
    tree, left, groups = tree_of(rows), size, 0
    while left >= 2 * k:
        least = max(2 * k, ceil(_ANEW * left))
        while left >= least:  # in parts, so that it can be told how far it is
            progress.report("grouping", size - left, size)
            until, before = max(least, left - max(size // _REPORTS, 2 * k)), groups
            groups = mdav_groups(points, group, total, rest, left, groups, k, until, rows, *tree, *sectors)
            left -= k * (groups - before)
        del sectors
        remaining = np.flatnonzero(group < 0)
        left = len(remaining)
        sectors = sectors_of(points, remaining, (total + rest) / left)
    group[group < 0] = groups
    return group, groups + 1
