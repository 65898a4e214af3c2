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
    LEAST,
    WHOLE,
    WITHOUT,
    cost_joined,
    cost_replaced,
    far_core,
    far_whole,
    far_without,
    renew,
)
from shoal.compiled import Number, compiled, compiled_once, compiled_part
from shoal.table import Array

# exchanges that one group may begin in a row: so many times k
_TRIES = 8
# a third group of a cycle is one of so many nearest
_THIRD = 4
# a gain must be larger than the rounding of the costs (share of the cost of a group)
_SURE = np.float32(2e-5)
_NOBODY = np.int64(-1)

# `plan` is an exchange: groups b, a, c and the members j of b, i of a, l of c, or -1
_B, _A, _C, _J, _I, _L = range(6)


@compiled_part
def _note(plan: Array, a: Number, c: Number, j: Number, i: Number, member: Number) -> None:
    plan[_A], plan[_C], plan[_J], plan[_I], plan[_L] = a, c, j, i, member


@compiled_part
def _best_move(
    xs: Array, members: Array, sizes: Array, ends: Array, costs: Array, b: Number, a: Number, best: Number, plan: Array
) -> Number:
    """A member of b that moves to a; the largest gain."""
    for j in range(sizes[b]):
        limit = costs[a, WHOLE] + costs[b, WHOLE] - costs[b, WITHOUT + j] - best
        far = far_whole(xs, members[b, j], ends, a)
        if costs[a, WHOLE] + far < limit:
            new = cost_joined(xs, members, sizes, ends, a, members[b, j], far, limit)
            if new < limit:
                best = best + limit - new
                _note(plan, a, _NOBODY, j, _NOBODY, _NOBODY)
    return best


@compiled_part
def _best_third(
    xs: Array, members: Array, sizes: Array, ends: Array, costs: Array,
    a: Number, i: Number, b: Number, j: Number, c: Number, k: int, gained: Number, best: Number, plan: Array,
) -> Number:  # fmt: skip
    """Member j of b goes to c, where it joins or takes the place of one that goes to a; the largest gain."""
    one = members[b, j]
    if sizes[a] > k and sizes[c] < members.shape[1]:
        limit = costs[c, WHOLE] + gained + costs[a, WHOLE] - costs[a, WITHOUT + i] - best
        far = far_whole(xs, one, ends, c)
        if costs[c, WHOLE] + far < limit:
            new = cost_joined(xs, members, sizes, ends, c, one, far, limit)
            if new < limit:
                best = best + limit - new
                _note(plan, a, c, j, i, _NOBODY)
    for s in range(sizes[c]):
        limit = costs[c, WHOLE] + gained - best
        far = far_without(xs, one, ends, c, members[c, s])
        if costs[c, WITHOUT + s] + far >= limit:
            continue
        new = cost_replaced(xs, members, sizes, ends, c, s, one, far, limit)
        if new >= limit:
            continue
        limit = costs[a, WHOLE] + gained + costs[c, WHOLE] - new - best
        far = far_without(xs, members[c, s], ends, a, members[a, i])
        if costs[a, WITHOUT + i] + far >= limit:
            continue
        new = cost_replaced(xs, members, sizes, ends, a, i, members[c, s], far, limit)
        if new < limit:
            best = best + limit - new
            _note(plan, a, c, j, i, s)
    return best


@compiled_part
def _best_exchange(
    xs: Array, members: Array, sizes: Array, ends: Array, costs: Array, near: Array, b: Number, a: Number, k: int,
    long_from: float, plan: Array,
) -> bool:  # fmt: skip
    """The exchange that begins with a record of a that is better for b, and gains most; whether there is one."""
    best = sure = _SURE * costs[b, WHOLE]
    plan[_B] = b
    if sizes[b] > k and 0 < sizes[a] < members.shape[1]:
        best = _best_move(xs, members, sizes, ends, costs, b, a, best, plan)
    for i in range(sizes[a]):
        one = members[a, i]
        if costs[b, LEAST] + far_core(xs, one, ends, b) >= costs[b, WHOLE] - best:
            continue
        for j in range(sizes[b]):
            limit = costs[b, WHOLE] - best
            far = far_without(xs, one, ends, b, members[b, j])
            if costs[b, WITHOUT + j] + far >= limit:
                continue
            new = cost_replaced(xs, members, sizes, ends, b, j, one, far, limit)
            if new >= limit:
                continue
            gained = costs[b, WHOLE] - new
            limit = costs[a, WHOLE] + gained - best
            far = far_without(xs, members[b, j], ends, a, one)
            if costs[a, WITHOUT + i] + far < limit:
                new = cost_replaced(xs, members, sizes, ends, a, i, members[b, j], far, limit)
                if new < limit:
                    best = best + limit - new
                    _note(plan, a, _NOBODY, j, i, _NOBODY)
            if costs[b, WHOLE] < long_from:
                continue
            for other in range(min(_THIRD, near.shape[1])):
                c = np.int64(near[b, other])
                if c == a or sizes[c] == 0:
                    continue
                joins = sizes[a] > k and sizes[c] < members.shape[1]
                bound = costs[c, LEAST] + far_core(xs, members[b, j], ends, c)
                if joins or bound < costs[c, WHOLE] + gained - best:
                    best = _best_third(xs, members, sizes, ends, costs, a, i, b, j, c, k, gained, best, plan)
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


@compiled_part
def _dissolved(
    xs: Array, members: Array, sizes: Array, ends: Array, costs: Array,
    a: Number, near: Array, gone_to: Array,
) -> bool:  # fmt: skip
    """Give all members of a group to near groups, if those have room and that costs less than the group did."""
    most = members.shape[1]
    limit = costs[a, WHOLE] - _SURE * costs[a, WHOLE]
    bound = np.float32(0)
    for s in range(sizes[a]):
        least = np.float32(np.inf)
        for nth in range(near.shape[1]):
            b = np.int64(near[a, nth])
            if 0 < sizes[b] < most:
                least = min(least, far_whole(xs, members[a, s], ends, b))
        bound += least
        if bound >= limit:
            return False
    added = np.float32(0)
    done = 0
    while done < sizes[a]:
        best, to = limit - added, _NOBODY
        for nth in range(near.shape[1]):
            b = np.int64(near[a, nth])
            if 0 < sizes[b] < most:
                far = far_whole(xs, members[a, done], ends, b)
                new = cost_joined(xs, members, sizes, ends, b, members[a, done], far, costs[b, WHOLE] + best)
                if new - costs[b, WHOLE] < best:
                    best, to = new - costs[b, WHOLE], b
        if to < 0:
            break
        members[to, sizes[to]] = members[a, done]
        sizes[to] += 1
        renew(xs, members, sizes, ends, costs, to)
        added += best
        gone_to[done] = to
        done += 1
    if done == sizes[a]:
        sizes[a] = 0
        costs[a, WHOLE] = 0
        return True
    for s in range(done - 1, -1, -1):
        sizes[gone_to[s]] -= 1
        renew(xs, members, sizes, ends, costs, gone_to[s])
    return False


@compiled_part
def _is_new(changed: Array, looked: Array, near: Array, b: Number) -> bool:
    """Whether a group or one near it changed since it was last looked at."""
    newest = changed[b]
    for nth in range(near.shape[1]):
        newest = max(newest, changed[near[b, nth]])
    return bool(newest > looked[b])


@compiled
def exchange_boxes(
    xs: Array, members: Array, sizes: Array, asked: Array, near: Array, k: int, sweeps: int,
    both_ways: bool, long_from: float, ends: Array, costs: Array,
    changed: Array, looked: Array, plan: Array, gone_to: Array,
) -> int:  # fmt: skip
    """Exchange records: the groups `asked` begin, near[g] are those near g; the last arguments are for its own use.

    How many exchanges were made.
    """
    for g in range(len(members)):
        renew(xs, members, sizes, ends, costs, np.int64(g))
    clock, made = 1, 0
    for _ in range(sweeps):
        before = made
        for b in asked:
            if sizes[b] == 0 or not _is_new(changed, looked, near, b):
                continue
            looked[b] = clock
            if _dissolved(xs, members, sizes, ends, costs, b, near, gone_to):
                made += 1
                clock += 1
                for nth in range(near.shape[1]):
                    changed[near[b, nth]] = clock
                continue
            nth = tries = 0
            while nth < near.shape[1] and tries < _TRIES * k:
                a = np.int64(near[b, nth])
                found = _best_exchange(xs, members, sizes, ends, costs, near, b, a, k, long_from, plan)
                if not found and both_ways and sizes[a] > 0:
                    found = _best_exchange(xs, members, sizes, ends, costs, near, a, b, k, long_from, plan)
                if not found:
                    nth += 1
                    continue
                _make(members, sizes, plan)
                tries += 1
                clock += 1
                for g in plan[:3]:
                    if g >= 0:
                        renew(xs, members, sizes, ends, costs, g)
                        changed[g] = clock
            made += tries
        if made == before:
            break
    return made
