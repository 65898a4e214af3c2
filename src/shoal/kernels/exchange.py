"""Exchanges of records between near groups, while that lowers the information loss: a loop of `methods/partition`.

A group that loses much looks for what would help it: a record of a near group in the place of one of its own. That one
takes the other's place (a swap), or the place of a third group's record, which goes to where the first came from (a
cycle), or joins a third group if the first has records to spare (a path); or a record just moves, or the whole group is
dissolved into its neighbours. In every cycle that gains there is a place to start from at which each step so far gained
too, so only steps that do are followed. Bounds pass over the rest: a box without a record is no larger than with
another in its place, so cost(B-j) + far(i, B-j) is at most the cost of B with i in the place of j; and the core of a
box, what is left whichever one member goes, lies in every B-j.

What a group costs are the distances of its members to the farthest corner of its box. It keeps the two smallest and the
two largest values of each column, so that its box without any one member is at hand: the second smallest takes over
where that member was the smallest.
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

# exchanges that one group may begin in a row: so many times k
_TRIES = cython.declare(cython.longlong, 8)
# a third group of a cycle is one of so many nearest
_THIRD = cython.declare(cython.longlong, 4)
_UNKNOWN = cython.declare(cython.float, -1)
_INFINITE = cython.declare(cython.float, float("inf"))
# a gain must be larger than the rounding of the costs (share of the cost of a group)
_SURE = cython.declare(cython.float, 2e-5)

if cython.compiled:

    def take_avx2(wanted: cython.bint) -> cython.bint:
        """Run the code for AVX2 if it is wanted and the processor has it; whether it does."""
        return lanes.take_avx2(wanted)

    take_avx2(True)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _blocks_of(size: int64) -> int64:
    """How many times eight members a group has, the last ones too."""
    return (size + 7) >> 3


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _in_block(size: int64, block: int64) -> int64:
    """The bits of the members of a block that there are."""
    return (1 << min(8, size - 8 * block)) - 1


@cython.final
@cython.cclass
class _Groups:
    """Groups of records, what they cost, and the best exchange so far.

    Records are rows of `xs`, with columns of zeros up to a multiple of eight. ends[g, 0] and ends[g, 1] are the box of
    a group, ends[g, 2] and ends[g, 3] its core; one row more than there are groups is for the box of an exchange that
    is weighed. costs[g] are the whole, the least without a member, and those without each. laid[g, block, j] are the
    values of eight members in a column. thirds[j, nth] is what the nth near group would cost with member j of the group
    that begins: the least, and with it in the place of each of its own.
    """

    xs: cython.const[float32][:, ::1]
    members: int64[:, ::1]
    sizes: int64[::1]
    neighbours: cython.const[int32][:, ::1]
    laid: float32[:, :, :, ::1]
    ends: float32[:, :, ::1]
    costs: float32[:, ::1]
    thirds: float32[:, :, ::1]
    apart: float32[::1]
    apart_of_third: float32[::1]
    gone_to: int64[::1]
    k: int64
    most: int64
    long_from: float64
    # the exchange: groups b, a, c and the members j of b, i of a, l of c, or -1
    plan_b: int64
    plan_a: int64
    plan_c: int64
    plan_j: int64
    plan_i: int64
    plan_l: int64
    # the same memory for C, and its measures
    all_xs: cython.pointer(cython.const[float32])
    all_laid: cython.p_float
    all_ends: cython.p_float
    all_costs: cython.p_float
    distances: cython.p_float
    distances_of_third: cython.p_float
    width: int64
    columns: int64
    blocks: int64
    weighed: int64

    def __init__(
        self, xs: cython.const[float32][:, ::1], columns: int64, members: int64[:, ::1], sizes: int64[::1],
        near: cython.const[int32][:, ::1], k: int64, long_from: float64,
    ) -> None:  # fmt: skip
        self.xs, self.members, self.sizes, self.neighbours = xs, members, sizes, near
        self.k, self.long_from = k, long_from
        self.most, self.columns, self.width = members.shape[1], columns, xs.shape[1]
        self.blocks, self.weighed = (self.most + 7) // 8, 4 * sizes.shape[0]
        groups = len(sizes)
        # without cycles of three there is no third group
        begin = self.most if np.isfinite(long_from) else 0
        self.laid = np.zeros((groups, self.blocks, columns, 8), np.float32)
        self.ends = np.empty((groups + 1, 4, self.width), np.float32)
        self.costs = np.zeros((groups, 2 + 8 * self.blocks), np.float32)
        self.thirds = np.empty((begin, _THIRD, 1 + self.most), np.float32)
        self.apart, self.apart_of_third = np.empty(8 * self.blocks, np.float32), np.empty(8 * self.blocks, np.float32)
        self.gone_to = np.empty(self.most, np.int64)
        if cython.compiled:
            self.all_xs = cython.address(self.xs[0, 0])
            self.all_laid = cython.address(self.laid[0, 0, 0, 0])
            self.all_ends = cython.address(self.ends[0, 0, 0])
            self.all_costs = cython.address(self.costs[0, 0])
            self.distances = cython.address(self.apart[0])
            self.distances_of_third = cython.address(self.apart_of_third[0])
        else:
            self.all_xs, self.all_laid, self.all_ends, self.all_costs = self.xs, self.laid, self.ends, self.costs
            self.distances, self.distances_of_third = self.apart, self.apart_of_third

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def far_whole(self, i: int64, g: int64) -> float32:
        """The distance of a record to the farthest corner of a group's box."""
        return lanes.far_from(self.all_xs, self.width, i, self.all_ends, 4 * g)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def far_core(self, i: int64, g: int64) -> float32:
        """The same, to the core of the box; 0 in columns where that is less than a point."""
        return lanes.far_from(self.all_xs, self.width, i, self.all_ends, 4 * g + 2)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def far_without(self, i: int64, g: int64, out: int64) -> float32:
        """The same, to the box without one of its members."""
        return lanes.far_from_without(self.all_xs, self.width, i, out, self.all_ends, 4 * g)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def may_replace(self, i: int64, g: int64, block: int64, limit: float32, far: cython.p_float) -> int64:
        """The bits of those of eight members of a group whose place a record may take for less than a limit.

        That is what the group costs without the member, and how `far` the record is from the box without it.
        """
        bits: int64 = lanes.far_with_one_out(
            self.all_laid, self.columns, g * self.blocks + block, self.all_xs, self.width, i, self.all_ends, 4 * g,
            self.all_costs, g * self.costs.shape[1] + 2 + 8 * block, limit, far, 8 * block,
        )  # fmt: skip
        return bits & _in_block(self.sizes[g], block)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_of_far(self, g: int64, block: int64, row: int64, counted: int64) -> float32:
        """The distances of those of eight members that have a bit to the farthest corner of a box, in sum."""
        return lanes.sum_of_far(
            self.all_laid, self.columns, g * self.blocks + block, self.all_ends, self.width, row, counted
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def cost_joined(self, g: int64, i: int64, far: float32, limit: float32) -> float32:
        """The cost of a group with one more record i, which is so far from its box; inf once it passes a limit."""
        cython.declare(block=int64)
        total: float32 = far
        lanes.widened(self.all_xs, self.width, i, self.all_ends, 4 * g, self.weighed)
        for block in range(_blocks_of(self.sizes[g])):
            total += self.sum_of_far(g, block, self.weighed, _in_block(self.sizes[g], block))
            if total >= limit:
                return _INFINITE
        return total

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def cost_replaced(self, g: int64, without: int64, i: int64, far: float32, limit: float32) -> float32:
        """The cost of a group with i in the place of one member, so far from the box without that; inf past a limit."""
        cython.declare(block=int64, counted=int64)
        total: float32 = far
        lanes.exchanged(self.all_xs, self.width, self.members[g, without], i, self.all_ends, 4 * g, self.weighed)
        for block in range(_blocks_of(self.sizes[g])):
            counted = _in_block(self.sizes[g], block)
            if without >> 3 == block:
                counted &= ~(1 << (without & 7))
            total += self.sum_of_far(g, block, self.weighed, counted)
            if total >= limit:
                return _INFINITE
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def renew(self, g: int64) -> cython.void:
        """The layout, the ends and the costs of a group, whole and without each member."""
        cython.declare(j=int64, s=int64, one=int64, block=int64, out=int64)
        size: int64 = self.sizes[g]
        whole: float32 = 0
        least: float32 = _INFINITE
        for j in range(self.width):
            self.ends[g, 0, j] = _INFINITE
            self.ends[g, 1, j] = -_INFINITE
            self.ends[g, 2, j] = _INFINITE
            self.ends[g, 3, j] = -_INFINITE
        for s in range(size):
            one = self.members[g, s]
            lanes.hold(self.all_xs, self.width, one, self.all_ends, 4 * g)
            for j in range(self.columns):
                self.laid[g, s >> 3, j, s & 7] = self.xs[one, j]
            self.costs[g, 2 + s] = 0
        for block in range(_blocks_of(size)):
            whole += self.sum_of_far(g, block, 4 * g, _in_block(size, block))
        self.costs[g, 0] = whole
        if whole > 0:
            for s in range(size):
                for block in range(_blocks_of(size)):
                    self.may_replace(self.members[g, s], g, block, 0, self.distances)
                for out in range(size):
                    if out != s:
                        self.costs[g, 2 + out] += self.apart[out]
        for out in range(size):
            least = min(least, self.costs[g, 2 + out])
        self.costs[g, 1] = least

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def note(self, a: int64, c: int64, j: int64, i: int64, member: int64) -> cython.void:
        self.plan_a = a
        self.plan_c = c
        self.plan_j = j
        self.plan_i = i
        self.plan_l = member

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def best_move(self, b: int64, a: int64, best: float32) -> float32:
        """A member of b that moves to a; the largest gain."""
        cython.declare(j=int64, limit=float32, far=float32, new=float32)
        for j in range(self.sizes[b]):
            limit = self.costs[a, 0] + self.costs[b, 0] - self.costs[b, 2 + j] - best
            far = self.far_whole(self.members[b, j], a)
            if self.costs[a, 0] + far < limit:
                new = self.cost_joined(a, self.members[b, j], far, limit)
                if new < limit:
                    best = best + limit - new
                    self.note(a, -1, j, -1, -1)
        return best

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_third(self, b: int64, j: int64, other: int64, c: int64) -> cython.void:
        """What c costs with member j of b in the place of each of its own, behind the least of them; inf: too much."""
        cython.declare(s=int64, block=int64, bits=int64)
        one: int64 = self.members[b, j]
        limit: float32 = self.costs[c, 0] + self.costs[b, 0] - self.costs[b, 2 + j]
        least: float32 = _INFINITE
        self.thirds[j, other, 0] = least
        if self.costs[c, 1] + self.far_core(one, c) >= limit:
            return
        for s in range(self.sizes[c]):
            self.thirds[j, other, 1 + s] = _INFINITE
        for block in range(_blocks_of(self.sizes[c])):
            bits = self.may_replace(one, c, block, limit, self.distances_of_third)
            while bits:
                s = 8 * block + lanes.lowest_bit(bits)
                bits &= bits - 1
                self.thirds[j, other, 1 + s] = self.cost_replaced(c, s, one, self.apart_of_third[s], limit)
                least = min(least, self.thirds[j, other, 1 + s])
        self.thirds[j, other, 0] = least

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def best_third(
        self, a: int64, i: int64, b: int64, j: int64, c: int64, other: int64, gained: float32, best: float32
    ) -> float32:
        """Member j of b goes to c, where it joins or takes the place of one that goes to a; the largest gain."""
        cython.declare(s=int64, limit=float32, far=float32, new=float32)
        one: int64 = self.members[b, j]
        if self.sizes[a] > self.k and self.sizes[c] < self.most:
            limit = self.costs[c, 0] + gained + self.costs[a, 0] - self.costs[a, 2 + i] - best
            far = self.far_whole(one, c)
            if self.costs[c, 0] + far < limit:
                new = self.cost_joined(c, one, far, limit)
                if new < limit:
                    best = best + limit - new
                    self.note(a, c, j, i, -1)
        if self.thirds[j, other, 0] >= self.costs[c, 0] + gained - best:
            return best
        for s in range(self.sizes[c]):
            new = self.thirds[j, other, 1 + s]
            if new >= self.costs[c, 0] + gained - best:
                continue
            limit = self.costs[a, 0] + gained + self.costs[c, 0] - new - best
            far = self.far_without(self.members[c, s], a, self.members[a, i])
            if self.costs[a, 2 + i] + far >= limit:
                continue
            new = self.cost_replaced(a, i, self.members[c, s], far, limit)
            if new < limit:
                best = best + limit - new
                self.note(a, c, j, i, s)
        return best

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def best_of_one(self, b: int64, a: int64, i: int64, best: float32) -> float32:
        """The exchange that begins with member i of a in the place of one of b, and gains most; that gain."""
        cython.declare(block=int64, bits=int64, j=int64, limit=float32, new=float32, gained=float32, back=float32)
        cython.declare(other=int64, c=int64, joins=cython.bint)
        one: int64 = self.members[a, i]
        for block in range(_blocks_of(self.sizes[b])):
            bits = self.may_replace(one, b, block, self.costs[b, 0] - best, self.distances)
            while bits:
                j = 8 * block + lanes.lowest_bit(bits)
                bits &= bits - 1
                limit = self.costs[b, 0] - best
                if self.costs[b, 2 + j] + self.apart[j] >= limit:
                    continue
                new = self.cost_replaced(b, j, one, self.apart[j], limit)
                if new >= limit:
                    continue
                gained = self.costs[b, 0] - new
                limit = self.costs[a, 0] + gained - best
                back = self.far_without(self.members[b, j], a, one)
                if self.costs[a, 2 + i] + back < limit:
                    new = self.cost_replaced(a, i, self.members[b, j], back, limit)
                    if new < limit:
                        best = best + limit - new
                        self.note(a, -1, j, i, -1)
                if cython.cast(float64, self.costs[b, 0]) < self.long_from:
                    continue
                for other in range(min(_THIRD, self.neighbours.shape[1])):
                    c = self.neighbours[b, other]
                    if c in (a, b) or self.sizes[c] == 0:
                        continue
                    if self.thirds[j, other, 0] < 0:
                        self.weigh_third(b, j, other, c)
                    joins = self.sizes[a] > self.k and self.sizes[c] < self.most
                    if joins or self.thirds[j, other, 0] < self.costs[c, 0] + gained - best:
                        best = self.best_third(a, i, b, j, c, other, gained, best)
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def best_exchange(self, b: int64, a: int64) -> cython.bint:
        """The exchange that begins with a record of a that is better for b, and gains most; whether there is one."""
        cython.declare(block=int64, bits=int64, i=int64, bound=float32)
        sure: float32 = _SURE * self.costs[b, 0]
        best: float32 = sure
        self.plan_b = b
        if self.sizes[b] > self.k and 0 < self.sizes[a] < self.most:
            best = self.best_move(b, a, best)
        for block in range(_blocks_of(self.sizes[a])):
            bound = self.costs[b, 0] - best - self.costs[b, 1]
            bits = lanes.nearer(
                self.all_laid, self.columns, a * self.blocks + block, self.all_ends, self.width, 4 * b + 2, bound
            )
            bits &= _in_block(self.sizes[a], block)
            while bits:
                i = 8 * block + lanes.lowest_bit(bits)
                bits &= bits - 1
                best = self.best_of_one(b, a, i, best)
        return best > sure

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def make(self) -> cython.void:
        """Make the exchange that was found."""
        b: int64 = self.plan_b
        a: int64 = self.plan_a
        c: int64 = self.plan_c
        leaves_b: int64 = self.members[b, self.plan_j]
        if self.plan_i < 0:
            self.members[a, self.sizes[a]] = leaves_b
            self.sizes[a] += 1
            self.sizes[b] -= 1
            self.members[b, self.plan_j] = self.members[b, self.sizes[b]]
            return
        self.members[b, self.plan_j] = self.members[a, self.plan_i]
        if c < 0:
            self.members[a, self.plan_i] = leaves_b
        elif self.plan_l < 0:
            self.members[c, self.sizes[c]] = leaves_b
            self.sizes[c] += 1
            self.sizes[a] -= 1
            self.members[a, self.plan_i] = self.members[a, self.sizes[a]]
        else:
            self.members[a, self.plan_i] = self.members[c, self.plan_l]
            self.members[c, self.plan_l] = leaves_b

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self, b: int64, a: int64) -> cython.bint:
        """Whether b is another group than a, and can take one more record."""
        return b != a and 0 < self.sizes[b] < self.most

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dissolved(self, a: int64) -> cython.bint:
        """Give all members of a group to near groups, if those have room and that costs less than the group did."""
        cython.declare(block=int64, s=int64, nth=int64, b=int64, to=int64)
        cython.declare(best=float32, there=float32, new=float32)
        limit: float32 = self.costs[a, 0] - _SURE * self.costs[a, 0]
        bound: float32 = 0
        added: float32 = 0
        done: int64 = 0
        for block in range(_blocks_of(self.sizes[a])):
            for s in range(8 * block, 8 * block + 8):
                self.apart[s] = _INFINITE
            for nth in range(self.neighbours.shape[1]):
                b = self.neighbours[a, nth]
                if self.has_room(b, a):
                    lanes.keep_least_far(
                        self.all_laid, self.columns, a * self.blocks + block, self.all_ends, self.width, 4 * b,
                        self.distances, 8 * block,
                    )  # fmt: skip
            for s in range(8 * block, min(8 * block + 8, self.sizes[a])):
                bound += self.apart[s]
            if bound >= limit:
                return False
        while done < self.sizes[a]:
            best = limit - added
            to = -1
            for nth in range(self.neighbours.shape[1]):
                b = self.neighbours[a, nth]
                if self.has_room(b, a):
                    there = self.far_whole(self.members[a, done], b)
                    new = self.cost_joined(b, self.members[a, done], there, self.costs[b, 0] + best)
                    if new - self.costs[b, 0] < best:
                        best = new - self.costs[b, 0]
                        to = b
            if to < 0:
                break
            self.members[to, self.sizes[to]] = self.members[a, done]
            self.sizes[to] += 1
            self.renew(to)
            added += best
            self.gone_to[done] = to
            done += 1
        if done == self.sizes[a]:
            self.sizes[a] = 0
            self.costs[a, 0] = 0
            return True
        for s in range(done - 1, -1, -1):
            self.sizes[self.gone_to[s]] -= 1
            self.renew(self.gone_to[s])
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """What third groups would cost is to be weighed again: the group that begins is another one."""
        cython.declare(j=int64, other=int64)
        for j in range(self.thirds.shape[0]):
            for other in range(_THIRD):
                self.thirds[j, other, 0] = _UNKNOWN


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_new(changed: int64[::1], looked: int64[::1], near: cython.const[int32][:, ::1], b: int64) -> cython.bint:
    """Whether a group or one near it changed since it was last looked at."""
    cython.declare(nth=int64)
    newest: int64 = changed[b]
    for nth in range(near.shape[1]):
        newest = max(newest, changed[near[b, nth]])
    return newest > looked[b]


def exchange_boxes(
    xs: cython.const[float32][:, ::1], columns: int64, members: int64[:, ::1], sizes: int64[::1],
    asked: cython.const[int64][::1], near: cython.const[int32][:, ::1], k: int64, sweeps: int64,
    both_ways: cython.bint, long_from: float64,
) -> int64:  # fmt: skip
    """Exchange records: the groups `asked` begin, near[g] are those near g. How many exchanges were made.

    `xs` are records of so many columns, and zeros up to a multiple of eight; groups that cost `long_from` and more try
    cycles of three, too, and with `both_ways` the near group may begin as well.
    """
    cython.declare(_=int64, g=int64, n=int64, b=int64, a=int64, nth=int64, tries=int64, before=int64, found=cython.bint)
    clock: int64 = 1
    made: int64 = 0
    changed: int64[::1] = np.ones(len(sizes), np.int64)
    looked: int64[::1] = np.zeros(len(sizes), np.int64)
    groups: _Groups = _Groups(xs, columns, members, sizes, near, k, long_from)
    with cython.nogil:
        for g in range(sizes.shape[0]):
            groups.renew(g)
        for _ in range(sweeps):
            before = made
            for n in range(asked.shape[0]):
                b = asked[n]
                if sizes[b] == 0 or not _is_new(changed, looked, near, b):
                    continue
                looked[b] = clock
                if groups.dissolved(b):
                    made += 1
                    clock += 1
                    for nth in range(near.shape[1]):
                        changed[near[b, nth]] = clock
                    continue
                nth = 0
                tries = 0
                groups.forget()
                while nth < near.shape[1] and tries < _TRIES * k:
                    a = near[b, nth]
                    found = a != b and groups.best_exchange(b, a)
                    if not found and a != b and both_ways and sizes[a] > 0:
                        found = groups.best_exchange(a, b)
                    if not found:
                        nth += 1
                        continue
                    groups.make()
                    tries += 1
                    clock += 1
                    groups.renew(groups.plan_b)
                    changed[groups.plan_b] = clock
                    groups.renew(groups.plan_a)
                    changed[groups.plan_a] = clock
                    if groups.plan_c >= 0:
                        groups.renew(groups.plan_c)
                        changed[groups.plan_c] = clock
                    groups.forget()
                made += tries
            if made == before:
                break
    return made
