"""Loops over the tree of `partition/peel.py`: it is filled, near records are found, and records leave it by groups.

A leaf is 16 records, column by column, and a node knows the boxes of its 16 children the same way. `lanes` takes 16 of
them at once.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.shoal.kernels import _lanes as lanes
else:
    from shoal.kernels import _lanes as lanes

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
float32 = cython.typedef(cython.float)
float64 = cython.typedef(cython.double)
Real = cython.fused_type(cython.float, cython.double)

# where a record is that has left, and farther than any distance that is looked at
_AWAY = cython.declare(cython.float, 1e18)
_FARTHEST = cython.declare(cython.float, 1e35)
_INFINITE = cython.declare(cython.double, float("inf"))

if cython.compiled:

    def take_avx2(wanted: cython.bint) -> cython.bint:
        """Run the code for AVX2 if it is wanted and the processor has it; whether it does."""
        return lanes.take_avx2(wanted)

    take_avx2(True)


@cython.final
@cython.cclass
class _Tree:
    """The arrays of a tree, and room for a search in it: the `most` nearest so far, and what is still to be looked at.

    Node n of a level has the children 16n .. 16n+15 of the one below; level 0 are the parents of leaves, and levels[v]
    is where the nodes of level v start. A slot is 16 times a leaf plus a lane of it.
    """

    leaves: float32[:, :, ::1]
    low: float32[:, :, ::1]
    high: float32[:, :, ::1]
    levels: cython.const[int64][::1]
    names: cython.const[int32][::1]
    row: float32[::1]
    found: int64[::1]
    distances: float32[::1]
    stack: int64[::1]
    apart: float32[::1]
    lanes: float32[::1]
    columns: int64
    # the same memory, for C
    all_leaves: cython.p_float
    all_low: cython.p_float
    all_high: cython.p_float
    point: cython.p_float
    all_lanes: cython.p_float

    def __init__(
        self, leaves: float32[:, :, ::1], low: float32[:, :, ::1], high: float32[:, :, ::1],
        levels: cython.const[int64][::1], names: cython.const[int32][::1], most: int64,
    ) -> None:  # fmt: skip
        self.leaves, self.low, self.high, self.levels, self.names = leaves, low, high, levels, names
        self.columns = leaves.shape[1]
        self.row, self.lanes = np.empty(self.columns, np.float32), np.empty(16, np.float32)
        self.found, self.distances = np.empty(most, np.int64), np.empty(most, np.float32)
        self.stack, self.apart = np.empty(16 * len(levels), np.int64), np.empty(16 * len(levels), np.float32)
        if cython.compiled:
            self.all_leaves = cython.address(self.leaves[0, 0, 0])
            self.all_low = cython.address(self.low[0, 0, 0])
            self.all_high = cython.address(self.high[0, 0, 0])
            self.point = cython.address(self.row[0])
            self.all_lanes = cython.address(self.lanes[0])
        else:
            self.all_leaves, self.all_low, self.all_high = leaves, low, high
            self.point, self.all_lanes = self.row, self.lanes

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def tighten_leaf(self, leaf: int64) -> cython.bint:
        """The box of what is left in a leaf; whether it changed."""
        return lanes.tighten(
            self.all_leaves, self.all_leaves, leaf, self.all_low, self.all_high, leaf >> 4, leaf & 15, self.columns
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def tighten_node(self, level: int64, nth: int64) -> cython.bint:
        """The box around the boxes of the nth node of a level, as the level above knows it; whether it changed."""
        node: int64 = self.levels[level] + nth
        above: int64 = self.levels[level + 1] + (nth >> 4)
        return lanes.tighten(
            self.all_low, self.all_high, node, self.all_low, self.all_high, above, nth & 15, self.columns
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def leave(self, slot: int64) -> cython.void:
        """Take the record in a slot out of the tree."""
        cython.declare(j=int64, level=int64, x=float32)
        leaf: int64 = slot >> 4
        place: int64 = slot & 15
        node: int64 = leaf >> 4
        lane: int64 = leaf & 15
        touches: cython.bint = False
        for j in range(self.columns):
            x = self.leaves[leaf, j, place]
            touches |= (x == self.low[node, j, lane]) | (x == self.high[node, j, lane])
            self.leaves[leaf, j, place] = _AWAY
        if not touches or not self.tighten_leaf(leaf):
            return
        for level in range(self.levels.shape[0] - 2):
            if not self.tighten_node(level, node):
                return
            node >>= 4

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look(self, leaf: int64, wanted: int64, held: int64) -> int64:
        """Hold the records of a leaf against the nearest so far; found are slots."""
        cython.declare(slot=int64, d=float32, at=int64)
        near: int64 = lanes.within(
            self.all_leaves, leaf, self.point, self.columns, self.distances[wanted - 1], self.all_lanes
        )
        while near:
            slot = lanes.lowest_bit(near)
            near &= near - 1
            d = self.lanes[slot]
            slot += leaf * 16
            if held < wanted:
                at = held
                held += 1
            elif d < self.distances[wanted - 1] or (
                d == self.distances[wanted - 1] and self.names[slot] < self.names[self.found[wanted - 1]]
            ):
                at = wanted - 1
            else:
                continue
            while at > 0 and (
                self.distances[at - 1] > d
                or (self.distances[at - 1] == d and self.names[self.found[at - 1]] > self.names[slot])
            ):
                self.distances[at] = self.distances[at - 1]
                self.found[at] = self.found[at - 1]
                at -= 1
            self.distances[at] = d
            self.found[at] = slot
        return held

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def stack_children(self, level: int64, nth: int64, but: int64, bound: float32, depth: int64) -> int64:
        """Put the children of a node that may hold something near on the stack, the nearest on top."""
        cython.declare(lane=int64, child=int64, d=float32, at=int64)
        first: int64 = depth
        near: int64 = lanes.boxes_within(
            self.all_low, self.all_high, self.levels[level] + nth, self.point, self.columns, bound, self.all_lanes
        )
        while near:
            lane = lanes.lowest_bit(near)
            near &= near - 1
            child = nth * 16 + lane
            if child == but:
                continue
            d = self.lanes[lane]
            at = depth
            while at > first and self.apart[at - 1] < d:
                self.apart[at] = self.apart[at - 1]
                self.stack[at] = self.stack[at - 1]
                at -= 1
            self.apart[at] = d
            self.stack[at] = child * 16 + level
            depth += 1
        return depth

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def nearest_left(self, leaf: int64, wanted: int64, share: float32) -> int64:
        """The slots of the nearest records to the point, by distance, ties by name, from a leaf upwards; how many.

        Boxes farther than a `share` of the squared distance to the last of them are passed over: with 1 no nearer one
        is missed, with less there is less to look at.
        """
        cython.declare(i=int64, level=int64, parent=int64, depth=int64, number=int64, own=int64)
        for i in range(wanted):
            self.distances[i] = _FARTHEST
        held: int64 = self.look(leaf, wanted, 0)
        below: int64 = leaf
        for level in range(self.levels.shape[0] - 1):
            # what lies on the stack is a child, times 16, and the level of its parent: 0 for leaves
            parent = below >> 4
            depth = self.stack_children(level, parent, below, share * self.distances[wanted - 1], 0)
            while depth > 0:
                depth -= 1
                if self.apart[depth] > share * self.distances[wanted - 1]:
                    continue
                number = self.stack[depth] >> 4
                own = self.stack[depth] & 15
                if own == 0:
                    held = self.look(number, wanted, held)
                else:
                    depth = self.stack_children(own - 1, number, -1, share * self.distances[wanted - 1], depth)
            below = parent
        return held


def lay_out(
    rows: cython.const[float32][:, ::1], row_names: cython.const[int64][::1], starts: cython.const[int64][::1],
    leaves: float32[:, :, ::1], low: float32[:, :, ::1], high: float32[:, :, ::1], levels: cython.const[int64][::1],
    slots: int32[::1], names: int32[::1],
) -> None:  # fmt: skip
    """Fill a tree, whose leaves start at `starts`."""
    cython.declare(leaf=int64, i=int64, j=int64, slot=int64, start=int64, stop=int64, level=int64, nth=int64)
    tree: _Tree = _Tree(leaves, low, high, levels, names, 0)
    with cython.nogil:
        for leaf in range(leaves.shape[0]):
            start = starts[leaf]
            stop = starts[leaf + 1] if leaf + 1 < leaves.shape[0] else rows.shape[0]
            for i in range(start, stop):
                slot = leaf * 16 + i - start
                slots[row_names[i]] = slot
                names[slot] = row_names[i]
                for j in range(rows.shape[1]):
                    leaves[leaf, j, i - start] = rows[i, j]
            tree.tighten_leaf(leaf)
        for level in range(levels.shape[0] - 2):
            for nth in range(levels[level + 1] - levels[level]):
                tree.tighten_node(level, nth)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _stand_at(tree: _Tree, slot: int64) -> cython.void:
    """Search from where the record in a slot is."""
    cython.declare(j=int64)
    for j in range(tree.columns):
        tree.row[j] = tree.leaves[slot >> 4, j, slot & 15]


def look_up(
    leaves: float32[:, :, ::1], low: float32[:, :, ::1], high: float32[:, :, ::1], levels: cython.const[int64][::1],
    names: cython.const[int32][::1], slots: cython.const[int64][::1], number_of_slot: cython.const[int32][::1],
    asked: cython.const[int64][::1], share: float32, found: int32[:, ::1],
) -> None:  # fmt: skip
    """The records nearest to those that are asked for, nearest first; they are numbered by `number_of_slot`."""
    cython.declare(n=int64, g=int64, slot=int64, held=int64, at=int64, i=int64)
    wanted: int64 = found.shape[1]
    tree: _Tree = _Tree(leaves, low, high, levels, names, wanted + 1)
    with cython.nogil:
        for n in range(asked.shape[0]):
            g = asked[n]
            slot = slots[g]
            _stand_at(tree, slot)
            held = tree.nearest_left(slot >> 4, wanted + 1, share)
            at = 0
            for i in range(held):
                if tree.found[i] != slot and at < wanted:  # all but the record itself
                    found[g, at] = number_of_slot[tree.found[i]]
                    at += 1


@cython.final
@cython.cclass
class _Box:
    """A box that grows, and records near it in lanes of 16, column by column: those that widen it least come first."""

    records: float32[:, :, ::1]
    ends: float32[:, ::1]
    wide: float64[::1]
    # the same memory, for C
    all_records: cython.p_float
    both_ends: cython.p_float
    widths: cython.p_double

    def __init__(self, columns: int64, most: int64) -> None:
        self.records = np.zeros((most // 16 + 1, columns, 16), np.float32)
        self.ends, self.wide = np.empty((2, columns), np.float32), np.empty(16)
        if cython.compiled:
            self.all_records = cython.address(self.records[0, 0, 0])
            self.both_ends = cython.address(self.ends[0, 0])
            self.widths = cython.address(self.wide[0])
        else:
            self.all_records, self.both_ends, self.widths = self.records, self.ends, self.wide

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def start(self, tree: _Tree, held: int64) -> cython.void:
        """The box is the point of a search, near it is what was found."""
        cython.declare(j=int64, i=int64)
        for j in range(tree.columns):
            self.ends[0, j] = tree.row[j]
            self.ends[1, j] = tree.row[j]
            for i in range(held):
                self.records[i >> 4, j, i & 15] = tree.leaves[tree.found[i] >> 4, j, tree.found[i] & 15]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep_narrow(self, found: int64[::1], held: int64, count: int64) -> cython.void:
        """Bring to the front those of the nearest that widen the box least, one after the other."""
        cython.declare(n=int64, best=int64, best_wide=float64, block=int64, start=int64, i=int64, j=int64, x=float32)
        for n in range(count):
            best = n
            best_wide = _INFINITE
            for block in range(n >> 4, (held + 15) >> 4):
                lanes.widths(self.all_records, block, self.both_ends, self.records.shape[1], self.widths)
                start = block * 16
                for i in range(max(n, start), min(held, start + 16)):
                    if self.wide[i - start] < best_wide:
                        best = i
                        best_wide = self.wide[i - start]
            i = found[n]
            found[n] = found[best]
            found[best] = i
            for j in range(self.records.shape[1]):
                x = self.records[best >> 4, j, best & 15]
                self.records[best >> 4, j, best & 15] = self.records[n >> 4, j, n & 15]
                if x < self.ends[0, j]:
                    self.ends[0, j] = x
                if x > self.ends[1, j]:
                    self.ends[1, j] = x


def peel_loop(
    leaves: float32[:, :, ::1], low: float32[:, :, ::1], high: float32[:, :, ::1], levels: cython.const[int64][::1],
    slots: cython.const[int32][::1], names: cython.const[int32][::1], outermost: cython.const[int64][::1],
    k: int64, wanted: int64, group: int32[::1], groups: int64,
) -> int64:  # fmt: skip
    """The outermost record that is left, with k - 1 of its `wanted` nearest, is a group, again and again.

    The groups are numbered from `groups` on, in `group`, which is less than 0 for records that are left; returns what
    the next would be.
    """
    cython.declare(n=int64, name=int64, slot=int64, held=int64, i=int64)
    left: int64 = outermost.shape[0]
    tree: _Tree = _Tree(leaves, low, high, levels, names, max(wanted, k))
    box: _Box = _Box(leaves.shape[1], max(wanted, k))
    with cython.nogil:
        for n in range(outermost.shape[0]):
            name = outermost[n]
            if group[name] >= 0:
                continue
            if left < k:
                break
            slot = slots[name]
            _stand_at(tree, slot)
            tree.leave(slot)
            group[name] = groups
            held = tree.nearest_left(slot >> 4, min(wanted, left - 1), 1)
            if held < k - 1:  # never where all distances are numbers
                break
            if held > k - 1:
                box.start(tree, held)
                box.keep_narrow(tree.found, held, k - 1)
            for i in range(k - 1):
                tree.leave(tree.found[i])
                group[names[tree.found[i]]] = groups
            groups += 1
            left -= k
    return groups


def inwards(rows: cython.const[Real][:, ::1], far: float64[::1], middle: float64[::1]) -> None:
    """Minus the squared distances from the middle; sums are taken one after the other, whatever the processor."""
    cython.declare(i=int64, j=int64, side=float64)
    with cython.nogil:
        for j in range(rows.shape[1]):
            middle[j] = 0
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                middle[j] += rows[i, j]
        for j in range(rows.shape[1]):
            middle[j] /= rows.shape[0]
        for i in range(rows.shape[0]):
            far[i] = 0
            for j in range(rows.shape[1]):
                side = rows[i, j] - middle[j]
                far[i] -= side * side
