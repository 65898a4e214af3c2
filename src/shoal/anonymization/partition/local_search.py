"""Local search: records change groups while that lowers what is lost.

The middles of the groups are cut, by a tree with a random bent, into regions of thousands of groups (for the sum of
squares into blocks of some dozen). Within a region a group and its nearest groups try swaps of two records, cycles of
three, and moves of one, that leave sizes between k and 2k-1; the best of a pair is made. The next pass cuts otherwise.
The loss never rises, and the search may end after any pass.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.anonymization.partition.cut_tree import cut
from shoal.anonymization.partition.exchange_boxes import exchange_boxes
from shoal.anonymization.partition.exchange_costs import WITHOUT
from shoal.anonymization.partition.exchange_squares import exchange_squares
from shoal.anonymization.partition.near_middles import LEAF, near_middles
from shoal.compiled import compiled
from shoal.dataclasses import dataclass
from shoal.table import Array

# groups in a block, at most and at least
BLOCK = 48
LEAST = 12
# and in a region
REGION = 1 << 14
_LEAST_IN_LEAF = 5


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
    groups each, and so many times at most.
    """

    begin_from: float
    cycles_from: float
    near: int
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
    _write(laid, xs, order, new_rows, new_order, new_first, at)


def improve_region(
    rows: Array, order: Array, starts: Array, lengths: Array, cost: Array, numbers: Array, middle: Array, k: int,
    search: Search, new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> None:  # fmt: skip
    """Lower the information loss of some groups, which are written out from `at` on; their middles are reordered."""
    count, columns, most = len(numbers), rows.shape[1], 2 * k - 1
    leaves = _leaves(middle, numbers)
    laid = lay_out(starts, lengths, numbers, np.array([0, count]), most)
    xs = rows[laid.place]
    asked = np.flatnonzero(cost[numbers] >= search.begin_from)
    found = near_middles(middle, leaves, asked, search.near)
    near = np.zeros((count, found.shape[1]), np.int32)
    near[asked] = found
    exchange_boxes(
        xs, laid.members, laid.sizes, asked, near, k, search.sweeps, bool(np.isinf(search.cycles_from)),
        search.cycles_from, np.empty((count, 4, columns), np.float32),
        np.empty((count, WITHOUT + most), np.float32), np.ones(count, np.int64), np.zeros(count, np.int64),
        np.empty(6, np.int64), np.empty(most, np.int64),
    )  # fmt: skip
    _write(laid, xs, order, new_rows, new_order, new_first, at)


def _leaves(middle: Array, numbers: Array) -> Array:
    """Cut middles into leaves of neighbours, in place; where leaves start."""
    first = np.zeros(len(middle), bool)
    cut(middle, numbers, 0, len(middle), LEAF, _LEAST_IN_LEAF, 0.0, 0, first)
    starts = np.flatnonzero(first)
    # middles that no cut can tell apart are many
    inside = np.arange(len(middle)) - np.repeat(starts, np.diff(starts, append=len(middle)))
    return np.flatnonzero(inside % LEAF == 0)


def _write(laid: Laid, xs: Array, order: Array, new_rows: Array, new_order: Array, new_first: Array, at: int) -> None:
    """Write groups out from `at` on; members are numbers of `xs`."""
    found = laid.members[np.arange(laid.members.shape[1]) < laid.sizes[:, None]]
    to = at + len(found)
    new_rows[at:to], new_order[at:to] = xs[found], order[laid.place[found]]
    new_first[at + (np.cumsum(laid.sizes) - laid.sizes)[laid.sizes > 0]] = True


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
            squares = 0.0
            for j in range(columns):
                side = float(max(high[0, j] - rows[i, j], rows[i, j] - low[0, j]))
                squares += side * side
            total += np.sqrt(squares)
        start = end
    return total
