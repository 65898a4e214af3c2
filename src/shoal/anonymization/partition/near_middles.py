"""The groups of a region whose middles are nearest to a group's, and an order in which near groups lie side by side."""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.wide_tree import LANES, nearest_left, wide_tree
from shoal.compiled import Number, compiled
from shoal.table import Array


class NearMiddles:
    """The tree of some middles, which are reordered; groups are numbered as they lie in it, `order` tells which."""

    def __init__(self, middle: Array) -> None:
        self._tree = wide_tree(middle)
        self._slots = np.flatnonzero(self._tree.names >= 0)
        self.order = self._tree.names[self._slots]

    def of(self, asked: Array, count: int, share: float = 1.0) -> Array:
        """The `count` nearest others of those that are asked for, nearest first; of the others nothing.

        With a `share` less than 1 some may be missed that are farther than that share of the squared distance to the
        last one.

        >>> middles = NearMiddles(np.array([[0.0], [1.0], [3.0], [7.0]], np.float32))
        >>> middles.of(np.array([0, 2]), 2).tolist()
        [[1, 2], [0, 0], [1, 0], [0, 0]]
        """
        tree, size = self._tree, len(self.order)
        found = np.zeros((size, min(count, size - 1)), np.int32)
        most, room = found.shape[1] + 1, LANES * len(tree.levels)
        number_of_slot = np.zeros(len(tree.names), np.int32)
        number_of_slot[self._slots] = np.arange(size)
        look_up(
            tree.leaves, tree.low, tree.high, tree.levels, tree.names, self._slots, number_of_slot, asked,
            np.float32(share), found, np.empty(most, np.int64), np.empty(most, np.float32),
            np.empty(tree.leaves.shape[1], np.float32),
            np.empty(room, np.int64), np.empty(room, np.float32), np.empty(LANES, np.float32),
        )  # fmt: skip
        return found


@compiled
def look_up(
    leaves: Array, low: Array, high: Array, levels: Array, names: Array, slots: Array, number_of_slot: Array,
    asked: Array, share: Number, found: Array, near: Array, far: Array, row: Array, stack: Array, apart: Array,
    lanes: Array,
) -> None:  # fmt: skip
    """The loop of `NearMiddles.of`; what comes after `found` is for its own use."""
    wanted = found.shape[1]
    for g in asked:
        slot = slots[g]
        for j in range(len(row)):
            row[j] = leaves[slot // LANES, j, slot % LANES]
        held = nearest_left(
            leaves, low, high, levels, names, row, slot // LANES, wanted + 1, share, near, far, stack, apart, lanes
        )
        at = 0
        for i in range(held):
            if near[i] != slot and at < wanted:  # all but the group itself
                found[g, at] = number_of_slot[near[i]]
                at += 1
