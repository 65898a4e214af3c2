"""Local search: records change groups while that lowers what is lost.

The middles of the groups are cut, by a tree with a random bent, into blocks of some dozen groups. Within a block each
group and its nearest groups try all swaps of two records, and all moves of one that leave sizes between k and 2k-1; the
best of a pair is made. The next pass cuts otherwise. The loss never rises, and the search may end after any pass.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.anonymization.partition.exchange_boxes import exchange_boxes
from shoal.anonymization.partition.exchange_squares import exchange_squares
from shoal.compiled import compiled
from shoal.dataclasses import dataclass
from shoal.table import Array

# groups in a block, at most and at least
BLOCK = 48
LEAST = 12


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


def improve_blocks(
    rows: Array, order: Array, starts: Array, lengths: Array, numbers: Array, blocks: Array, k: int, squares: bool,
    new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> None:  # fmt: skip
    """Improve blocks of groups, block b those of numbers[blocks[b]:blocks[b+1]], and write them out from `at` on."""
    edges = blocks - blocks[0]
    laid = lay_out(starts, lengths, numbers[blocks[0] : blocks[-1]], edges, 2 * k - 1)
    xs, place, members, sizes = rows[laid.place], laid.place, laid.members, laid.sizes
    exchange = exchange_squares if squares else exchange_boxes
    exchange(xs, members, sizes, edges, laid.first_record, k)
    members += np.repeat(laid.first_record[:-1], np.diff(edges))[:, None]
    found = members[np.arange(members.shape[1]) < sizes[:, None]]
    to = at + len(found)
    new_rows[at:to], new_order[at:to] = xs[found], order[place[found]]
    new_first[at + (np.cumsum(sizes) - sizes)[sizes > 0]] = True


@compiled
def middles(rows: Array, starts: Array, stop: int, found: Array, lengths: Array, costly: Array) -> None:
    """The middle of each group's box (doubled), its size, and whether its records differ."""
    columns = rows.shape[1]
    low, high = np.empty((1, columns), np.float32), np.empty((1, columns), np.float32)
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else stop
        lengths[g] = end - starts[g]
        costly[g] = False
        box.start(low, high, np.int64(0), rows, starts[g])
        for i in range(starts[g] + 1, end):
            box.widen(low, high, np.int64(0), rows, i)
        for j in range(columns):
            found[g, j] = low[0, j] + high[0, j]
            costly[g] |= low[0, j] < high[0, j]


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
