"""The steps from points to groups: cut, group, improve. Each step hands on rows that lie group by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.anonymization.partition.blocks import group_blocks
from shoal.anonymization.partition.coordinates import check_points
from shoal.anonymization.partition.cut_tree import cut
from shoal.anonymization.partition.kinds import Pass
from shoal.anonymization.partition.local_search import (
    BLOCK,
    LEAST,
    REGION,
    Search,
    improve_blocks,
    improve_region,
    middles,
    total_cost,
)
from shoal.anonymization.partition.one_column import cheapest_runs
from shoal.anonymization.partition.peel import peel_segment
from shoal.dataclasses import dataclass
from shoal.table import Array
from shoal.threads import in_threads

# parts that are worked on side by side; their number does not depend on the machine, so neither does the result
_PARTS = 64
_SMALLEST_PART = 4096
_BLOCKS_A_TASK = 1000
_JITTER = 0.6
_SMALL = 1 << 16
_MANY_ALIKE = 0.05
# cycles of three groups are looked for up to this k: their number grows with its cube
_MOST_IN_CYCLES = 10
# what an exchange between two groups may take, in records of one times those of the other times columns: groups that
# are larger stay as they were made, or a search with a k of thousands would not end
_MOST_OF_TWO = 1 << 18
# among so many groups, near ones need not be the very nearest: they are found in a third of the time, and as much is
# gained by exchanges
_MANY, _SHARE = 1 << 17, 0.4
_THOROUGH = Pass()
_LEAST_COST = float(np.finfo(np.float32).tiny)


def number_type(count: int) -> type[np.signedinteger[Any]]:
    """The type of row and group numbers: one for all, so that each loop is compiled once."""
    return np.int32 if count < 1 << 31 else np.int64


@dataclass(frozen=True)
class Groups:
    """Records group by group: `order[i]` is the row that lies at i, a group starts wherever `first[i]`."""

    rows: Array
    order: Array
    first: Array

    @classmethod
    def of(cls, rows: Array) -> Groups:
        """One group of all; `rows` is taken over and will be reordered."""
        check_points(rows)
        first = np.zeros(len(rows), bool)
        first[:1] = True
        return cls(rows, np.arange(len(rows), dtype=number_type(len(rows))), first)

    @property
    def starts(self) -> Array:
        return np.flatnonzero(self.first)

    def group_of_each_row(self) -> tuple[Array, int]:
        """The group of each row, and how many there are."""
        found = np.empty(len(self.order), np.int64)
        found[self.order] = np.cumsum(self.first) - 1
        return found, int(np.count_nonzero(self.first))


def _pieces(first: Array, start: int = 0) -> list[tuple[int, int]]:
    starts = np.flatnonzero(first) + start
    return list(zip(starts.tolist(), [*starts[1:].tolist(), start + len(first)], strict=True))


def blocked(rows: Array, k: int, block: int) -> Groups:
    """Groups within blocks of at most `block` records: the fast way."""
    groups = Groups.of(rows)
    cut(rows, groups.order, 0, len(rows), max(_SMALLEST_PART, len(rows) // _PARTS), k, 0.0, 0, groups.first)
    bits = rows.view(np.uint32)

    def work(piece: tuple[int, int]) -> None:
        start, stop = piece
        cut(rows, groups.order, start, stop, block, k, 0.0, 0, groups.first)
        starts = start + np.flatnonzero(groups.first[start:stop])
        group_blocks(rows, bits, groups.order, starts, stop, k, groups.first)

    in_threads(work, _pieces(groups.first), "grouping")
    return groups


def peeled(rows: Array, k: int, segment: int, nearest: int) -> Groups:
    """Groups from the outside in, within segments of at most `segment` records."""
    groups = Groups.of(rows)
    cut(rows, groups.order, 0, len(rows), segment, k, 0.0, 0, groups.first)
    bits = rows.view(np.uint32)
    in_threads(
        lambda piece: peel_segment(rows, bits, groups.order, *piece, k, nearest, groups.first),
        _pieces(groups.first),
        "grouping",
    )
    return groups


def improved(groups: Groups, k: int, seed: int, squares: bool = False, how: Pass = _THOROUGH) -> Groups:
    """One pass of local search, for less information loss or a smaller sum of squares.

    Groups larger than 2k-1 stay as they are, and all of them where k is very large.
    Groups of identical records can spare members for others; where they are many, they rather stand in the way.
    """
    rows, starts, records = groups.rows, groups.starts, len(groups.rows)
    if not squares and k * k * rows.shape[1] > _MOST_OF_TWO:
        return groups
    middle = np.empty((len(starts), rows.shape[1]), np.float32)
    lengths, cost = np.empty(len(starts), np.int64), np.empty(len(starts), np.float32)
    middles(rows, starts, records, middle, lengths, cost)
    taken = lengths <= 2 * k - 1
    if records > _SMALL and lengths[cost == 0].sum() > _MANY_ALIKE * records:
        taken &= cost > 0
    numbers = np.flatnonzero(taken).astype(groups.order.dtype)
    if len(numbers) < 2:
        return groups
    new = Groups(np.empty_like(rows), np.empty_like(groups.order), np.zeros(records, bool))
    stay = ~np.repeat(taken, lengths)
    moving = records - int(np.count_nonzero(stay))
    new.rows[moving:], new.order[moving:], new.first[moving:] = rows[stay], groups.order[stay], groups.first[stay]
    middle = middle[numbers]
    edges = _blocks_of_groups(middle, numbers, BLOCK if squares else REGION, seed)
    places = np.concatenate([[0], np.cumsum(lengths[numbers])])

    def exchange(task: int) -> None:
        some = edges[task : task + _BLOCKS_A_TASK + 1]
        improve_blocks(
            rows, groups.order, starts, lengths, numbers, some, k,
            new.rows, new.order, new.first, int(places[some[0]]),
        )  # fmt: skip

    if squares:
        in_threads(exchange, range(0, len(edges) - 1, _BLOCKS_A_TASK), "exchanging")
        return new
    search = _search(how, cost, k)

    def exchange_in_region(region: int) -> None:
        a, b = int(edges[region]), int(edges[region + 1])
        improve_region(
            rows, groups.order, starts, lengths, cost, numbers[a:b], middle[a:b], k, search,
            new.rows, new.order, new.first, int(places[a]),
        )  # fmt: skip

    in_threads(exchange_in_region, range(len(edges) - 1), "exchanging")
    return new


def _search(how: Pass, cost: Array, k: int) -> Search:
    """How a pass looks for exchanges, in figures of these groups."""
    ranked = np.sort(cost)[::-1]
    summed = np.cumsum(ranked, dtype=np.float64)
    # what the cheapest of those groups costs that lose a share of all; more than nothing
    begin, cycles = (
        max(float(ranked[min(int(np.searchsorted(summed, share * summed[-1])), len(ranked) - 1)]), _LEAST_COST)
        for share in (how.begin, how.cycles)
    )
    share = _SHARE if len(cost) > _MANY else 1.0
    return Search(begin, cycles if k <= _MOST_IN_CYCLES else np.inf, how.near, share, how.sweeps)


def _blocks_of_groups(middle: Array, numbers: Array, most: int, seed: int) -> Array:
    """Cut groups by their middles; both are reordered block by block. Where blocks start, and the end."""
    count = len(numbers)
    first = np.zeros(count, bool)
    part = max(_SMALLEST_PART, most, count // _PARTS)
    cut(middle, numbers, 0, count, part, LEAST, _JITTER, seed, first)
    in_threads(lambda piece: cut(middle, numbers, *piece, most, LEAST, _JITTER, seed, first), _pieces(first))
    return np.append(np.flatnonzero(first), count)


def searched(rows: Array, k: int, segment: int, nearest: int, passes: Sequence[Pass], seed: int) -> Groups:
    """Groups from the outside in, then improved; `nearest` records are looked at for each member of a group."""
    if rows.shape[1] == 1:
        order, first = cheapest_runs(rows[:, 0], k)
        groups = Groups(rows[order], order.astype(number_type(len(order))), first)
    else:
        groups = peeled(rows, k, segment, 1 if k == 2 else nearest * k)
    for number, how in enumerate(passes):
        groups = improved(groups, k, seed + number, how=how)
    return groups


def restarted(groups: Groups, k: int, segment: int, nearest: int, passes: Sequence[Pass], seed: int) -> Groups:
    """The same search of the same records from another start: grouped first with the columns stretched at random."""
    stretch = np.exp(np.random.default_rng(seed).uniform(-1, 1, groups.rows.shape[1])).astype(np.float32)
    start = peeled(groups.rows * stretch, k, segment, 1 if k == 2 else nearest * k)
    found = Groups(groups.rows[start.order], groups.order[start.order], start.first)
    for number, how in enumerate(passes):
        found = improved(found, k, seed + number, how=how)
    return found


def loss(groups: Groups) -> float:
    """The information loss of Eqs 3-4, in the units of the points."""
    starts = groups.starts
    edges = np.append(starts[:: max(1, len(starts) // _PARTS)], len(groups.rows))
    parts = in_threads(
        lambda part: total_cost(groups.rows, groups.first, int(edges[part]), int(edges[part + 1])),
        range(len(edges) - 1),
    )
    return float(sum(parts)) / groups.rows.size
