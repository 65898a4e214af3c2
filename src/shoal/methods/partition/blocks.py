"""Groups within a block of neighbours: identical records first, then greedily from the outside in."""

from __future__ import annotations

import numpy as np

from shoal.kernels.groups import first_of_cheapest_runs, greedy_blocks
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
