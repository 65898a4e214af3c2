"""Exchange records between near groups while that lowers the information loss.

A group that loses much looks for what would help it: a record of a near group in the place of one of its own. That one
takes the other's place (a swap), or the place of a third group's record, which goes to where the first came from (a
cycle), or joins a third group if the first has records to spare (a path); or a record just moves, or the whole group is
dissolved into its neighbours. In every cycle that gains there is a place to start from at which each step so far gained
too, so only steps that do are followed. Bounds pass over the rest: a box without a record is no larger than with
another in its place, so cost(B-j) + far(i, B-j) is at most the cost of B with i in the place of j; and the core of a
box, what is left whichever one member goes, lies in every B-j.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.exchange_costs import (
    EIGHT,
    LEAST,
    WHOLE,
    WITHOUT,
    blocks_of,
    cost_joined,
    cost_replaced,
    far_core,
    far_whole,
    far_with_one_out,
    far_without,
    in_block,
    keep_least_far,
    near_core,
    renew,
)
from shoal.anonymization.partition.wide_tree import lowest_bit
from shoal.compiled import Number, compiled, compiled_inside, compiled_once
from shoal.table import Array

# exchanges that one group may begin in a row: so many times k
_TRIES = 8
# a third group of a cycle is one of so many nearest
THIRD = 4
_UNKNOWN = np.float32(-1)
# a gain must be larger than the rounding of the costs (share of the cost of a group)
_SURE = np.float32(2e-5)
_NOBODY = np.int64(-1)

# `plan` is an exchange: groups b, a, c and the members j of b, i of a, l of c, or -1
_B, _A, _C, _J, _I, _L = range(6)


@compiled_inside
def _note(plan: Array, a: Number, c: Number, j: Number, i: Number, member: Number) -> None:
    plan[_A], plan[_C], plan[_J], plan[_I], plan[_L] = a, c, j, i, member


@compiled_inside
def _best_move(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, costs: Array,
    b: Number, a: Number, best: Number, plan: Array,
) -> Number:  # fmt: skip
    """A member of b that moves to a; the largest gain."""
    for j in range(sizes[b]):
        limit = costs[a, WHOLE] + costs[b, WHOLE] - costs[b, WITHOUT + j] - best
        far = far_whole(xs, members[b, j], ends, a)
        if costs[a, WHOLE] + far < limit:
            new = cost_joined(xs, laid, sizes, ends, a, members[b, j], far, limit)
            if new < limit:
                best = best + limit - new
                _note(plan, a, _NOBODY, j, _NOBODY, _NOBODY)
    return best


@compiled_inside
def _weigh_third(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, costs: Array,
    b: Number, j: Number, other: Number, c: Number, thirds: Array, far: Array,
) -> None:  # fmt: skip
    """What c costs with member j of b in the place of each of its own, behind the least of them; inf: too much."""
    one = members[b, j]
    limit = costs[c, WHOLE] + costs[b, WHOLE] - costs[b, WITHOUT + j]
    thirds[j, other, 0] = np.inf
    if costs[c, LEAST] + far_core(xs, one, ends, c) >= limit:
        return
    for s in range(sizes[c]):
        thirds[j, other, 1 + s] = np.inf
    for block in range(blocks_of(sizes[c])):
        bits = far_with_one_out(laid, c, block, xs, one, ends, costs, limit, far) & in_block(sizes[c], block)
        while bits:
            s = EIGHT * block + lowest_bit(bits)
            bits &= bits - 1
            thirds[j, other, 1 + s] = cost_replaced(xs, members, laid, sizes, ends, c, s, one, far[s], limit)
            thirds[j, other, 0] = min(thirds[j, other, 0], thirds[j, other, 1 + s])


@compiled_inside
def _best_third(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, costs: Array,
    a: Number, i: Number, b: Number, j: Number, c: Number, k: int, gained: Number, best: Number, plan: Array,
    thirds: Array, other: Number,
) -> Number:  # fmt: skip
    """Member j of b goes to c, where it joins or takes the place of one that goes to a; the largest gain."""
    one = members[b, j]
    if sizes[a] > k and sizes[c] < members.shape[1]:
        limit = costs[c, WHOLE] + gained + costs[a, WHOLE] - costs[a, WITHOUT + i] - best
        far = far_whole(xs, one, ends, c)
        if costs[c, WHOLE] + far < limit:
            new = cost_joined(xs, laid, sizes, ends, c, one, far, limit)
            if new < limit:
                best = best + limit - new
                _note(plan, a, c, j, i, _NOBODY)
    if thirds[j, other, 0] >= costs[c, WHOLE] + gained - best:
        return best
    for s in range(sizes[c]):
        new = thirds[j, other, 1 + s]
        if new >= costs[c, WHOLE] + gained - best:
            continue
        limit = costs[a, WHOLE] + gained + costs[c, WHOLE] - new - best
        far = far_without(xs, members[c, s], ends, a, members[a, i])
        if costs[a, WITHOUT + i] + far >= limit:
            continue
        new = cost_replaced(xs, members, laid, sizes, ends, a, i, members[c, s], far, limit)
        if new < limit:
            best = best + limit - new
            _note(plan, a, c, j, i, s)
    return best


@compiled_inside
def _best_of_one(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, costs: Array, near: Array,
    b: Number, a: Number, i: Number, k: int, long_from: float, best: Number, plan: Array,
    thirds: Array, far: Array, far_of_third: Array,
) -> Number:  # fmt: skip
    """The same for one record, member i of a."""
    one = members[a, i]
    for block in range(blocks_of(sizes[b])):
        limit = costs[b, WHOLE] - best
        bits = far_with_one_out(laid, b, block, xs, one, ends, costs, limit, far) & in_block(sizes[b], block)
        while bits:
            j = EIGHT * block + lowest_bit(bits)
            bits &= bits - 1
            limit = costs[b, WHOLE] - best
            if costs[b, WITHOUT + j] + far[j] >= limit:
                continue
            new = cost_replaced(xs, members, laid, sizes, ends, b, j, one, far[j], limit)
            if new >= limit:
                continue
            gained = costs[b, WHOLE] - new
            limit = costs[a, WHOLE] + gained - best
            back = far_without(xs, members[b, j], ends, a, one)
            if costs[a, WITHOUT + i] + back < limit:
                new = cost_replaced(xs, members, laid, sizes, ends, a, i, members[b, j], back, limit)
                if new < limit:
                    best = best + limit - new
                    _note(plan, a, _NOBODY, j, i, _NOBODY)
            if costs[b, WHOLE] < long_from:
                continue
            for other in range(min(THIRD, near.shape[1])):
                c = np.int64(near[b, other])
                if c in (a, b) or sizes[c] == 0:
                    continue
                if thirds[j, other, 0] < 0:
                    _weigh_third(xs, members, laid, sizes, ends, costs, b, j, other, c, thirds, far_of_third)
                joins = sizes[a] > k and sizes[c] < members.shape[1]
                if joins or thirds[j, other, 0] < costs[c, WHOLE] + gained - best:
                    best = _best_third(
                        xs, members, laid, sizes, ends, costs, a, i, b, j, c, k, gained, best, plan, thirds, other
                    )
    return best


@compiled_inside
def _best_exchange(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, costs: Array, near: Array,
    b: Number, a: Number, k: int, long_from: float, plan: Array, thirds: Array, far: Array, far_of_third: Array,
) -> bool:  # fmt: skip
    """The exchange that begins with a record of a that is better for b, and gains most; whether there is one."""
    best = sure = _SURE * costs[b, WHOLE]
    plan[_B] = b
    if sizes[b] > k and 0 < sizes[a] < members.shape[1]:
        best = _best_move(xs, members, laid, sizes, ends, costs, b, a, best, plan)
    for block in range(blocks_of(sizes[a])):
        bound = costs[b, WHOLE] - best - costs[b, LEAST]
        bits = near_core(laid, a, block, ends, b, bound) & in_block(sizes[a], block)
        while bits:
            i = EIGHT * block + lowest_bit(bits)
            bits &= bits - 1
            best = _best_of_one(
                xs, members, laid, sizes, ends, costs, near, b, a, i, k, long_from, best, plan,
                thirds, far, far_of_third,
            )  # fmt: skip
    return bool(best > sure)


@compiled_once
def _make(members: Array, sizes: Array, plan: Array) -> None:
    """Make an exchange."""
    b, a, c, j, i = plan[_B], plan[_A], plan[_C], plan[_J], plan[_I]
    leaves_b = members[b, j]
    if i < 0:
        members[a, sizes[a]] = leaves_b
        sizes[a] += 1
        sizes[b] -= 1
        members[b, j] = members[b, sizes[b]]
        return
    members[b, j] = members[a, i]
    if c < 0:
        members[a, i] = leaves_b
    elif plan[_L] < 0:
        members[c, sizes[c]] = leaves_b
        sizes[c] += 1
        sizes[a] -= 1
        members[a, i] = members[a, sizes[a]]
    else:
        members[a, i] = members[c, plan[_L]]
        members[c, plan[_L]] = leaves_b


@compiled_inside
def _dissolved(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, costs: Array,
    a: Number, near: Array, gone_to: Array, far: Array,
) -> bool:  # fmt: skip
    """Give all members of a group to near groups, if those have room and that costs less than the group did."""
    most = members.shape[1]
    limit = costs[a, WHOLE] - _SURE * costs[a, WHOLE]
    bound = np.float32(0)
    for block in range(blocks_of(sizes[a])):
        for s in range(EIGHT * block, EIGHT * (block + 1)):
            far[s] = np.inf
        for nth in range(near.shape[1]):
            b = np.int64(near[a, nth])
            if b != a and 0 < sizes[b] < most:
                keep_least_far(laid, a, block, ends, b, far)
        for s in range(EIGHT * block, min(EIGHT * (block + 1), int(sizes[a]))):
            bound += far[s]
        if bound >= limit:
            return False
    added = np.float32(0)
    done = 0
    while done < sizes[a]:
        best, to = limit - added, _NOBODY
        for nth in range(near.shape[1]):
            b = np.int64(near[a, nth])
            if b != a and 0 < sizes[b] < most:
                there = far_whole(xs, members[a, done], ends, b)
                new = cost_joined(xs, laid, sizes, ends, b, members[a, done], there, costs[b, WHOLE] + best)
                if new - costs[b, WHOLE] < best:
                    best, to = new - costs[b, WHOLE], b
        if to < 0:
            break
        members[to, sizes[to]] = members[a, done]
        sizes[to] += 1
        renew(xs, members, laid, sizes, ends, costs, far, to)
        added += best
        gone_to[done] = to
        done += 1
    if done == sizes[a]:
        sizes[a] = 0
        costs[a, WHOLE] = 0
        return True
    for s in range(done - 1, -1, -1):
        sizes[gone_to[s]] -= 1
        renew(xs, members, laid, sizes, ends, costs, far, gone_to[s])
    return False


@compiled_inside
def _is_new(changed: Array, looked: Array, near: Array, b: Number) -> bool:
    """Whether a group or one near it changed since it was last looked at."""
    newest = changed[b]
    for nth in range(near.shape[1]):
        newest = max(newest, changed[near[b, nth]])
    return bool(newest > looked[b])


@compiled_inside
def _forget(thirds: Array) -> None:
    """What third groups would cost is to be weighed again: the group that begins is another one."""
    for j in range(thirds.shape[0]):
        for other in range(THIRD):
            thirds[j, other, 0] = _UNKNOWN


@compiled
def exchange_boxes(
    xs: Array, members: Array, sizes: Array, asked: Array, near: Array, k: int, sweeps: int,
    both_ways: bool, long_from: float, laid: Array, ends: Array, costs: Array,
    changed: Array, looked: Array, plan: Array, gone_to: Array, thirds: Array, far: Array, far_of_third: Array,
) -> int:  # fmt: skip
    """Exchange records: the groups `asked` begin, near[g] are those near g; the last arguments are for its own use.

    How many exchanges were made.
    """
    for g in range(len(sizes)):
        renew(xs, members, laid, sizes, ends, costs, far, np.int64(g))
    clock, made = 1, 0
    for _ in range(sweeps):
        before = made
        for b in asked:
            if sizes[b] == 0 or not _is_new(changed, looked, near, b):
                continue
            looked[b] = clock
            if _dissolved(xs, members, laid, sizes, ends, costs, b, near, gone_to, far):
                made += 1
                clock += 1
                for nth in range(near.shape[1]):
                    changed[near[b, nth]] = clock
                continue
            nth = tries = 0
            _forget(thirds)
            while nth < near.shape[1] and tries < _TRIES * k:
                a = np.int64(near[b, nth])
                found = False
                for turn in range(2 if both_ways and sizes[a] > 0 else 1):
                    one, other = (b, a) if turn == 0 else (a, b)
                    if a != b:
                        found = _best_exchange(
                            xs, members, laid, sizes, ends, costs, near, one, other, k, long_from, plan,
                            thirds, far, far_of_third,
                        )  # fmt: skip
                    if found:
                        break
                if not found:
                    nth += 1
                    continue
                _make(members, sizes, plan)
                tries += 1
                clock += 1
                for g in plan[:3]:
                    if g >= 0:
                        renew(xs, members, laid, sizes, ends, costs, far, g)
                        changed[g] = clock
                _forget(thirds)
            made += tries
        if made == before:
            break
    return made
