"""Local search: records change groups while that lowers what is lost.

The middles of the groups are cut, by a tree with a random bent, into regions of thousands of groups (for the sum of
squares into blocks of some dozen). Within a region a group and its nearest groups try swaps of two records, cycles of
three, and moves of one, that leave sizes between k and 2k-1; the best of a pair is made. The next pass cuts otherwise.
The loss never rises, and the search may end after any pass.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.anonymization.partition.exchange_boxes import THIRD, exchange_boxes
from shoal.anonymization.partition.exchange_costs import in_eights, laid_out
from shoal.anonymization.partition.exchange_squares import exchange_squares
from shoal.anonymization.partition.near_middles import NearMiddles
from shoal.compiled import compiled
from shoal.dataclasses import dataclass
from shoal.table import Array

# groups in a block, at most and at least
BLOCK = 48
LEAST = 12
# and in a region
REGION = 1 << 14


@dataclass(frozen=True)
class Laid:
    """Records laid out block by block: group g of the task has the records members[g, :sizes[g]] of its block."""

    place: Array
    members: Array
    sizes: Array
    first_record: Array


def lay_out(starts: Array, lengths: Array, groups: Array, edges: Array, most: int) -> Laid:
    """Blocks of groups side by side, block b those of groups[edges[b]:edges[b+1]]."""
    sizes = lengths[groups]
    ends = np.cumsum(sizes)
    offsets = ends - sizes
    place = np.repeat(starts[groups] - offsets, sizes) + np.arange(int(ends[-1]))
    first_record = np.append(offsets, ends[-1])[edges]
    inside = offsets - np.repeat(first_record[:-1], np.diff(edges))
    return Laid(place, inside[:, None] + np.arange(most), sizes, first_record)


@dataclass(frozen=True)
class Search:
    """How a pass looks for exchanges.

    Groups begin them that lose `begin_from` and more, cycles of three those that lose `cycles_from`; with so many near
    groups each, the nearest by `share` (`NearMiddles.of`), and so many times at most.
    """

    begin_from: float
    cycles_from: float
    near: int
    share: float
    sweeps: int


def improve_blocks(
    rows: Array, order: Array, starts: Array, lengths: Array, numbers: Array, blocks: Array, k: int,
    new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> None:  # fmt: skip
    """Lower the sum of squares in blocks of groups, block b those of numbers[blocks[b]:blocks[b+1]].

    They are written out from `at` on.
    """
    edges = blocks - blocks[0]
    laid = lay_out(starts, lengths, numbers[blocks[0] : blocks[-1]], edges, 2 * k - 1)
    xs = rows[laid.place]
    exchange_squares(xs, laid.members, laid.sizes, edges, laid.first_record, k)
    members = laid.members
    members += np.repeat(laid.first_record[:-1], np.diff(edges))[:, None]
    write_groups(laid.members, laid.sizes, xs, laid.place, order, new_rows, new_order, new_first, at)


def improve_region(
    rows: Array, order: Array, starts: Array, lengths: Array, cost: Array, numbers: Array, middle: Array, k: int,
    search: Search, new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> None:  # fmt: skip
    """Lower the information loss of some groups, which are written out from `at` on; their middles are reordered."""
    middles_here = NearMiddles(middle)
    numbers, most = numbers[middles_here.order], 2 * k - 1
    count = len(numbers)
    laid = lay_out(starts, lengths, numbers, np.array([0, count]), most)
    xs = in_eights(rows, laid.place)
    asked = np.flatnonzero(cost[numbers] >= search.begin_from)
    near = middles_here.of(asked, search.near, search.share)
    cycles = np.isfinite(search.cycles_from)
    in_lanes, ends, costs, far = laid_out(count, most, rows.shape[1])
    exchange_boxes(
        xs, laid.members, laid.sizes, asked, near, k, search.sweeps, not cycles, search.cycles_from,
        in_lanes, ends, costs, np.ones(count, np.int64), np.zeros(count, np.int64),
        np.empty(6, np.int64), np.empty(most, np.int64),
        np.empty((most if cycles else 0, THIRD, 1 + most), np.float32), *far,
    )  # fmt: skip
    write_groups(laid.members, laid.sizes, xs, laid.place, order, new_rows, new_order, new_first, at)


@compiled
def write_groups(
    members: Array, sizes: Array, xs: Array, place: Array, order: Array,
    new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> None:  # fmt: skip
    """Write groups out from `at` on; members are numbers of `xs`, place[number] is where each record lay."""
    for g in range(len(sizes)):
        if sizes[g] > 0:
            new_first[at] = True
        for s in range(sizes[g]):
            one = members[g, s]
            for j in range(new_rows.shape[1]):
                new_rows[at, j] = xs[one, j]
            new_order[at] = order[place[one]]
            at += 1


@compiled
def middles(rows: Array, starts: Array, stop: int, found: Array, lengths: Array, cost: Array) -> None:
    """The middle of each group's box (doubled), its size, and its cost: 0 if its records do not differ."""
    columns = rows.shape[1]
    low, high = np.empty((1, columns), np.float32), np.empty((1, columns), np.float32)
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else stop
        lengths[g] = end - starts[g]
        cost[g] = 0
        box.start(low, high, np.int64(0), rows, starts[g])
        for i in range(starts[g] + 1, end):
            box.widen(low, high, np.int64(0), rows, i)
        for j in range(columns):
            found[g, j] = low[0, j] + high[0, j]
        for i in range(starts[g], end):
            cost[g] += box.far_corner(rows, i, low, high, np.int64(0))


@compiled
def total_cost(rows: Array, first: Array, start: int, stop: int) -> float:
    """The sum of the distances of records to the farthest corner of their group's box, in double precision."""
    columns = rows.shape[1]
    low, high = np.empty((1, columns), np.float32), np.empty((1, columns), np.float32)
    total = 0.0
    while start < stop:
        end = start + 1
        while end < stop and not first[end]:
            end += 1
        box.start(low, high, np.int64(0), rows, start)
        for i in range(start + 1, end):
            box.widen(low, high, np.int64(0), rows, i)
        for i in range(start, end):
            total += box.far_corner(rows, i, low, high, np.int64(0))
        start = end
    return total
