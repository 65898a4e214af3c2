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
from shoal.table import Array

# groups in a block, at most and at least
BLOCK = 48
LEAST = 12


@compiled
def improve_blocks(
    rows: Array, order: Array, starts: Array, lengths: Array, numbers: Array, blocks: Array, k: int, squares: bool,
    new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> int:  # fmt: skip
    """Improve blocks of groups, block b those of numbers[blocks[b]:blocks[b+1]], and write them out from `at` on."""
    columns = rows.shape[1]
    most = 2 * k - 1
    made = 0
    for block in range(len(blocks) - 1):
        groups = blocks[block + 1] - blocks[block]
        held = 0
        for g in range(groups):
            held += lengths[numbers[blocks[block] + g]]
        xs, names = np.empty((held, columns), np.float32), np.empty(held, np.int64)
        members, sizes = np.empty((groups, most), np.int64), np.empty(groups, np.int64)
        held = 0
        for g in range(groups):
            group = numbers[blocks[block] + g]
            sizes[g] = lengths[group]
            for s in range(sizes[g]):
                i = starts[group] + s
                for j in range(columns):
                    xs[held, j] = rows[i, j]
                names[held] = order[i]
                members[g, s] = held
                held += 1
        if groups > 1:
            made += exchange_squares(xs, members, sizes, k) if squares else exchange_boxes(xs, members, sizes, k)
        for g in range(groups):
            if sizes[g] > 0:
                new_first[at] = True
            for s in range(sizes[g]):
                for j in range(columns):
                    new_rows[at, j] = xs[members[g, s], j]
                new_order[at] = names[members[g, s]]
                at += 1
    return made


@compiled
def middles(rows: Array, starts: Array, stop: int, found: Array, lengths: Array, costly: Array) -> None:
    """The middle of each group's box (doubled), its size, and whether its records differ."""
    columns = rows.shape[1]
    low, high = np.empty((1, columns), np.float32), np.empty((1, columns), np.float32)
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else stop
        lengths[g] = end - starts[g]
        costly[g] = False
        box.start(low, high, 0, rows, starts[g])
        for i in range(starts[g] + 1, end):
            box.widen(low, high, 0, rows, i)
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
        box.start(low, high, 0, rows, start)
        for i in range(start + 1, end):
            box.widen(low, high, 0, rows, i)
        for i in range(start, end):
            squares = 0.0
            for j in range(columns):
                side = float(max(high[0, j] - rows[i, j], rows[i, j] - low[0, j]))
                squares += side * side
            total += np.sqrt(squares)
        start = end
    return total
