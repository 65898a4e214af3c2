"""Groups of near records, identical ones first: within blocks of neighbours, or from the outside in.

From the outside in, the record farthest from the middle of all is grouped with its nearest, again and again. One front
moves inwards, where blocks would have a border each: what is left over is less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.kernels.cuts import rank
from shoal.kernels.groups import first_of_cheapest_runs, greedy_blocks, join_left_over
from shoal.kernels.peeling import inwards, lay_out, peel_loop
from shoal.kernels.trees import build_tree
from shoal.storage import Array


def _hashes(bits: Array) -> Array:
    """A number per record, equal for identical records."""
    found = np.full(len(bits), 1469598103934665603, np.uint64)
    for j in range(bits.shape[1]):
        found = (found ^ bits[:, j]) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found


def identical_first(bits: Array, k: int) -> Array:
    """Give records that at least k share groups of their own: 0, 1, … by their hashes, the others -1."""
    group = np.full(len(bits), -1, np.int32)
    hashes = _hashes(bits)
    ranked = np.argsort(hashes)
    ordered = hashes[ranked]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(starts, append=len(ranked))
    # two different records may share a hash: what differs from the first is left to the others
    many = np.flatnonzero(lengths >= k)
    if not len(many):
        return group
    run = np.repeat(np.arange(len(many)), lengths[many])
    place = np.arange(len(run)) + np.repeat(starts[many] - np.cumsum(lengths[many]) + lengths[many], lengths[many])
    alike = (bits[ranked[place]] == bits[ranked[starts[many]]][run]).all(axis=1)
    enough = np.bincount(run[alike], minlength=len(many)) >= k
    taken = alike & enough[run]
    group[ranked[place[taken]]] = (np.cumsum(enough) - 1)[run[taken]]
    return group


def arrange(rows: Array, order: Array, start: int, stop: int, group: Array, first: Array) -> None:
    """Reorder the records start .. stop group by group, and mark where groups start."""
    sizes = np.bincount(group)
    # numbers of 16 bits are sorted by counting
    ranked = np.argsort(group.astype(np.min_scalar_type(len(sizes))), kind="stable")
    rows[start:stop], order[start:stop] = rows[start:stop][ranked], order[start:stop][ranked]
    first[start : start + 1] = True
    first[start + np.cumsum(sizes)[:-1]] = True


def group_blocks(rows: Array, bits: Array, order: Array, starts: Array, stop: int, k: int, first: Array) -> None:
    """Groups within each of some blocks that follow each other; `bits` is `rows` seen as integers."""
    start = int(starts[0])
    group = identical_first(bits[start:stop], k)
    edges = np.append(starts, stop) - start
    groups = _number_by_block(group, edges)
    greedy_blocks(rows[start:stop], edges, k, group, groups)
    group += np.repeat(np.cumsum(groups) - groups, np.diff(edges)).astype(group.dtype)
    arrange(rows, order, start, stop, group, first)


def _number_by_block(group: Array, edges: Array) -> Array:
    """Number the groups of each block from 0 on, in place; how many each has. No group is in two blocks."""
    count = int(group.max(initial=-1)) + 1
    block_of_group = np.empty(count, np.int64)
    taken = np.flatnonzero(group >= 0)
    block_of_group[group[taken]] = np.searchsorted(edges, taken, "right") - 1
    groups = np.bincount(block_of_group, minlength=len(edges) - 1)
    ranked = np.argsort(block_of_group, kind="stable")
    number = np.empty(count, np.int32)
    number[ranked] = np.arange(count) - np.repeat(np.cumsum(groups) - groups, groups)
    group[taken] = number[group[taken]]
    return groups


# One column alone: the cheapest way through its sorted values.
#
# For the sum of squares runs are optimal; for the distance to the farther end of the range they are the best runs, and
# only groups that lie within others could be better.


def cheapest_runs(values: Array, k: int, squares: bool = False) -> tuple[Array, Array]:
    """The order that sorts the values, and where in it the cheapest groups of k to 2k-1 start.

    >>> order, first = cheapest_runs(np.array([9.0, 1.0, 2.0, 8.0, 1.5]), 2)
    >>> order.tolist(), first.tolist()
    ([1, 4, 2, 3, 0], [True, False, False, True, False])
    """
    order = np.argsort(values, kind="stable")
    return order, first_of_cheapest_runs(values[order].astype(np.float64), k, squares)


# The arrays of a k-d tree whose records can be taken out: `shoal.kernels.trees` says how they are laid out.


_LEAF = 32


class RecordTree(NamedTuple):
    """The arrays of a tree: the names of the records in their order, its nodes, and the place of each record."""

    names: Array
    starts: Array
    live: Array
    low: Array
    high: Array
    where: Array


def tree_of(rows: Array, depth: int | None = None) -> RecordTree:
    """Order the records as a tree, in place; its depth is that of small leaves, where it is not given."""
    size, columns = rows.shape
    nodes = 2 ** (((size // (_LEAF + 1)).bit_length() if depth is None else depth) + 1) - 1
    starts, live, stops = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    low, high = np.empty((nodes, columns), rows.dtype), np.empty((nodes, columns), rows.dtype)
    tree = RecordTree(np.arange(size), starts, live, low, high, np.empty(size, np.int64))
    build_tree(rows, *tree, stops)
    return tree


# The same tree laid out for the processor's vectors: the nearest records of those that are left.


LANES = 16
# where nothing is: its square is still a number, and more than the square of any distance that is looked at
_AWAY = np.float32(1e18)
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
    wide = WideTree(
        np.full((count, columns, LANES), _AWAY, np.float32),
        np.full((levels[-1], columns, LANES), _AWAY, np.float32),
        np.full((levels[-1], columns, LANES), -_AWAY, np.float32),
        levels,
        np.empty(size, np.int32),
        np.full(count * LANES, -1, np.int32),
    )
    lay_out(rows, tree.names, tree.starts[count - 1 :], *wide)
    return wide


def _shrink(rows: Array) -> None:
    """Move records of any size to where their squares are numbers; single precision has no squares of others either."""
    largest = max(rows.max(), -rows.min())
    if largest > _LARGEST:
        rows *= _LARGEST / min(largest, np.finfo(np.float32).max)
        np.clip(rows, -_LARGEST, _LARGEST, out=rows)


def outermost_first(rows: Array) -> Array:
    """Records by their distance from the middle, farthest first."""
    far = np.empty(len(rows))
    inwards(rows, far, np.empty(rows.shape[1]))
    ranked = np.arange(len(rows))
    rank(far, ranked)
    return ranked


def peel(rows: Array, k: int, wanted: int, group: Array, groups: int) -> int:
    """Put records into groups of k from the outside in: of the `wanted` nearest, those that widen the box least.

    `rows` are reordered; group[name] is the group of the record that came as number `name`, and what is left over
    (fewer than k) is -1. How many groups there are.
    """
    outermost = outermost_first(rows)
    tree = wide_tree(rows)
    group[:] = -1
    made = peel_loop(*tree, outermost, k, wanted, group, groups)
    if made < groups + len(rows) // k:
        raise InputError(
            "Records could not be grouped: some have no distance from the others.",
            "Leave columns with extreme values out of the quasi-identifiers.",
        )
    return made


def _chopped(group: Array, k: int) -> int:
    """Cut groups of identical records into groups of k to 2k-1, which can spare some for others later; how many."""
    sizes = np.bincount(group[group >= 0])
    parts = sizes // k
    members = np.argsort(group, kind="stable")[len(group) - sizes.sum() :]
    own = np.repeat(np.arange(len(sizes)), sizes)
    nth = np.arange(len(own)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    group[members] = (np.cumsum(parts) - parts)[own] + np.minimum(nth // k, parts[own] - 1)
    return int(parts.sum())


def _split_large(rows: Array, k: int, group: Array, groups: int) -> None:
    """Split groups of 2k and more, to which left-over records came: that raises nobody's loss."""
    for large in np.flatnonzero(np.bincount(group, minlength=groups) >= 2 * k):
        members = np.flatnonzero(group == large)
        parts, count = np.full(len(members), -1, np.int32), np.zeros(1, np.int64)
        greedy_blocks(rows[members], np.array([0, len(members)]), k, parts, count)
        group[members[parts > 0]] = groups + parts[parts > 0] - 1
        groups += int(count[0]) - 1


def peel_segment(
    rows: Array, bits: Array, order: Array, start: int, stop: int, k: int, wanted: int, first: Array
) -> None:
    """Groups within a segment of neighbours: identical records first, the others peeled."""
    segment = rows[start:stop]
    group = identical_first(bits[start:stop], k)
    groups = _chopped(group, k)
    free = np.flatnonzero(group < 0)
    if len(free):
        group_of_free = np.empty(len(free), np.int32)
        groups = peel(segment[free], k, wanted, group_of_free, groups)
        group[free] = group_of_free
        left = free[group_of_free < 0]
        if len(left):
            sizes = np.bincount(group[group >= 0], minlength=groups)
            low, high = np.empty((groups, rows.shape[1]), rows.dtype), np.empty((groups, rows.shape[1]), rows.dtype)
            join_left_over(segment, left, group, sizes, low, high)
        _split_large(segment, k, group, groups)
    arrange(rows, order, start, stop, group, first)
