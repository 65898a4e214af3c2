"""The tree of `tree.py` laid out for the processor's vectors: the nearest records of those that are left.

A leaf is 16 records, column by column, and a node knows the boxes of its 16 children the same way: one instruction
holds several of them against a point. Sums go column by column in each lane, as they do one record after the other, so
that distances are the same to the last bit. A record that leaves is moved far away, and the boxes that it bordered are
tightened: without that, searches would visit empty space.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.anonymization.partition.tree import tree_of
from shoal.compiled import Number, compiled, compiled_in_lanes, compiled_once, compiled_part
from shoal.table import Array

LANES = 16
_BITS = 4
# where nothing is: its square is still a number, and more than the square of any distance that is looked at
_AWAY, _GONE, _FARTHEST = np.float32(1e18), np.float32(1e17), np.float32(1e35)
# records that lie farther out are all moved nearer
_LARGEST = np.float32(2.0**40)


class WideTree(NamedTuple):
    """Leaves, boxes, and where things lie.

    Node n of a level has the children 16n .. 16n+15 of the one below; level 0 are the parents of leaves, and levels[v]
    is where the nodes of level v start. slots[name] is 16 times the leaf of a record plus its lane; there is its name.
    """

    leaves: Array
    low: Array
    high: Array
    levels: Array
    slots: Array
    names: Array


def wide_tree(rows: Array) -> WideTree:
    """The tree of some records, which are reordered."""
    size, columns = rows.shape
    _shrink(rows)
    tree = tree_of(rows, (max(0, size - 1) // LANES).bit_length())
    count = len(tree.starts) // 2 + 1
    sizes = [-(-count // LANES)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // LANES))
    levels = np.cumsum([0, *sizes])
    found = WideTree(
        np.full((count, columns, LANES), _AWAY, np.float32),
        np.full((levels[-1], columns, LANES), _AWAY, np.float32),
        np.full((levels[-1], columns, LANES), -_AWAY, np.float32),
        levels,
        np.empty(size, np.int32),
        np.full(count * LANES, -1, np.int32),
    )
    lay_out(rows, tree.names, tree.starts[count - 1 :], *found)
    return found


def _shrink(rows: Array) -> None:
    """Move records of any size to where their squares are numbers; single precision has no squares of others either."""
    largest = max(rows.max(), -rows.min())
    if largest > _LARGEST:
        rows *= _LARGEST / min(largest, np.finfo(np.float32).max)
        np.clip(rows, -_LARGEST, _LARGEST, out=rows)


@compiled
def lay_out(
    rows: Array, row_names: Array, starts: Array,
    leaves: Array, low: Array, high: Array, levels: Array, slots: Array, names: Array,
) -> None:  # fmt: skip
    """Fill a tree, whose leaves start at `starts`."""
    for leaf in range(len(leaves)):
        start = starts[leaf]
        stop = starts[leaf + 1] if leaf + 1 < len(leaves) else len(rows)
        for i in range(start, stop):
            slot = leaf * LANES + i - start
            slots[row_names[i]] = slot
            names[slot] = row_names[i]
            for j in range(rows.shape[1]):
                leaves[leaf, j, i - start] = rows[i, j]
        _tighten_leaf(leaves, low, high, leaf)
    for level in range(len(levels) - 2):
        for nth in range(levels[level + 1] - levels[level]):
            _tighten_node(low, high, levels, level, nth)


@compiled_in_lanes
def tighten(lows: Array, highs: Array, of: Number, low: Array, high: Array, node: Number, lane: Number) -> bool:
    """Keep the box of what lies in the lanes of a leaf or a node, at the lane of its parent; whether it changed."""
    bottom, top = lows[of].min(axis=1), np.where(highs[of] > _GONE, -_AWAY, highs[of]).max(axis=1)
    changed = bool((bottom != low[node, :, lane]).any() or (top != high[node, :, lane]).any())
    low[node, :, lane], high[node, :, lane] = bottom, top
    return changed


@compiled_part
def _tighten_leaf(leaves: Array, low: Array, high: Array, leaf: Number) -> bool:
    """The box of what is left in a leaf; whether it changed."""
    return tighten(leaves, leaves, leaf, low, high, leaf >> _BITS, leaf & (LANES - 1))


@compiled_part
def _tighten_node(low: Array, high: Array, levels: Array, level: Number, nth: Number) -> bool:
    """The box around the boxes of the nth node of a level, as the level above knows it; whether it changed."""
    return tighten(low, high, levels[level] + nth, low, high, levels[level + 1] + (nth >> _BITS), nth & (LANES - 1))


@compiled_part
def leave(leaves: Array, low: Array, high: Array, levels: Array, slot: Number) -> None:
    """Take the record in a slot out of the tree."""
    leaf, place = slot >> _BITS, slot & (LANES - 1)
    node, lane = leaf >> _BITS, leaf & (LANES - 1)
    touches = 0
    for j in range(leaves.shape[1]):
        x = leaves[leaf, j, place]
        touches |= (x == low[node, j, lane]) | (x == high[node, j, lane])
        leaves[leaf, j, place] = _AWAY
    if touches == 0 or not _tighten_leaf(leaves, low, high, leaf):
        return
    for level in range(len(levels) - 2):
        if not _tighten_node(low, high, levels, level, node):
            return
        node = node >> _BITS


@compiled_in_lanes
def within(leaves: Array, leaf: Number, row: Array, bound: Number, lanes: Array) -> int:
    """The squared distances of a point to the records of a leaf; a bit for each that is within the bound."""
    lanes[:] = 0
    for j in range(len(row)):
        lanes += (leaves[leaf, j] - row[j]) ** 2
    return int((1 << np.flatnonzero(lanes <= bound)).sum())


@compiled_in_lanes
def boxes_within(low: Array, high: Array, node: Number, row: Array, bound: Number, lanes: Array) -> int:
    """The same for the boxes of a node's children: rounded, they are no farther than what they hold."""
    lanes[:] = 0
    for j in range(len(row)):
        lanes += np.maximum(np.maximum(low[node, j] - row[j], row[j] - high[node, j]), 0) ** 2
    return int((1 << np.flatnonzero(lanes <= bound)).sum())


@compiled_in_lanes
def lowest_bit(bits: int) -> int:
    """The place of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1


@compiled_part
def _look(
    leaves: Array, names: Array, leaf: Number, row: Array, wanted: Number, held: Number, found: Array, far: Array,
    lanes: Array,
) -> Number:  # fmt: skip
    """Hold the records of a leaf against the nearest so far; found are slots."""
    near = within(leaves, leaf, row, far[wanted - 1], lanes)
    while near:
        lane = lowest_bit(near)
        near &= near - 1
        slot, d = leaf * LANES + lane, lanes[lane]
        if held < wanted:
            at = held
            held += 1
        elif d < far[wanted - 1] or (d == far[wanted - 1] and names[slot] < names[found[wanted - 1]]):
            at = wanted - 1
        else:
            continue
        while at > 0 and (far[at - 1] > d or (far[at - 1] == d and names[found[at - 1]] > names[slot])):
            far[at], found[at] = far[at - 1], found[at - 1]
            at -= 1
        far[at], found[at] = d, slot
    return held


@compiled_part
def _stack_children(
    low: Array, high: Array, levels: Array, level: Number, nth: Number, but: Number, row: Array, bound: Number,
    stack: Array, apart: Array, depth: Number, lanes: Array,
) -> Number:  # fmt: skip
    """Put the children of a node that may hold something near on the stack, the nearest on top."""
    near = boxes_within(low, high, levels[level] + nth, row, bound, lanes)
    first = depth
    while near:
        lane = lowest_bit(near)
        near &= near - 1
        child = nth * LANES + lane
        if child == but:
            continue
        d, at = lanes[lane], depth
        while at > first and apart[at - 1] < d:
            apart[at], stack[at] = apart[at - 1], stack[at - 1]
            at -= 1
        apart[at], stack[at] = d, child * LANES + level
        depth += 1
    return depth


@compiled_once
def nearest_left(
    leaves: Array, low: Array, high: Array, levels: Array, names: Array, row: Array, leaf: Number, wanted: Number,
    share: Number, found: Array, far: Array, stack: Array, apart: Array, lanes: Array,
) -> Number:  # fmt: skip
    """The slots of the nearest records to a point, sorted by distance, ties by name, from a leaf upwards; how many.

    Boxes farther than a `share` of the squared distance to the last of them are passed over: with 1 no nearer one is
    missed, with less there is less to look at. `stack` and `apart` (16 for each level), and `lanes` (16) are for its
    own use.
    """
    for i in range(wanted):
        far[i] = _FARTHEST
    held = _look(leaves, names, leaf, row, wanted, np.int64(0), found, far, lanes)
    below = leaf
    for level in range(len(levels) - 1):
        # what lies on the stack is a child, times 16, and the level of its parent: 0 for leaves
        parent = below >> _BITS
        depth = _stack_children(
            low, high, levels, level, parent, below, row, share * far[wanted - 1], stack, apart, np.int64(0), lanes
        )
        while depth > 0:
            depth -= 1
            if apart[depth] > share * far[wanted - 1]:
                continue
            number, own = stack[depth] >> _BITS, stack[depth] & (LANES - 1)
            if own == 0:
                held = _look(leaves, names, number, row, wanted, held, found, far, lanes)
            else:
                depth = _stack_children(
                    low, high, levels, own - 1, number, np.int64(-1), row, share * far[wanted - 1],
                    stack, apart, depth, lanes,
                )  # fmt: skip
        below = parent
    return held
