"""Exchange records between the groups of a block while that lowers the sum of squares around the groups' means.

The sum of squares of n records with the sum S is Q - S.S / n. To give i for j changes it, besides Q, by
-(2 S.d + d.d) / n with d = x_j - x_i: no other member is looked at.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.near_groups import nearest_groups, trade
from shoal.compiled import compiled, compiled_once, compiled_part
from shoal.table import Array

_SWEEPS = 4
# a gain must be larger than the rounding of the sums
_SURE = 1e-9


@compiled_part
def _sum_up(xs: Array, members: Array, size: int, total: Array) -> None:
    for j in range(len(total)):
        total[j] = 0.0
    for s in range(size):
        for j in range(len(total)):
            total[j] += xs[members[s], j]


@compiled_part
def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@compiled_once
def _best_of_pair(
    xs: Array, norms: Array, member_a: Array, size_a: int, sum_a: Array, member_b: Array, size_b: int, sum_b: Array,
    k: int, most: int, dots: Array,
) -> tuple[int, int]:  # fmt: skip
    """The best exchange of two groups: a swap (i, j), a move (i, -1) from a to b or (-1, j) from b to a, or none."""
    out_a, out_b = -1, -1
    for s in range(size_a):
        dots[0, s], dots[1, s] = _dot(sum_a, xs[member_a[s]]), _dot(sum_b, xs[member_a[s]])
    for s in range(size_b):
        dots[2, s], dots[3, s] = _dot(sum_a, xs[member_b[s]]), _dot(sum_b, xs[member_b[s]])
    square_a, square_b = _dot(sum_a, sum_a), _dot(sum_b, sum_b)
    best = _SURE * (square_a / size_a + square_b / size_b + 1.0)
    for i in range(size_a):
        for j in range(size_b):
            apart = norms[member_a[i]] + norms[member_b[j]] - 2 * _dot(xs[member_a[i]], xs[member_b[j]])
            gain = (2 * (dots[2, j] - dots[0, i]) + apart) / size_a + (2 * (dots[1, i] - dots[3, j]) + apart) / size_b
            if gain > best:
                best, out_a, out_b = gain, i, j
    if size_a > k and size_b < most:
        for i in range(size_a):
            norm = norms[member_a[i]]
            gain = (square_a - 2 * dots[0, i] + norm) / (size_a - 1) - square_a / size_a
            gain += (square_b + 2 * dots[1, i] + norm) / (size_b + 1) - square_b / size_b
            if gain > best:
                best, out_a, out_b = gain, i, -1
    if size_b > k and size_a < most:
        for j in range(size_b):
            norm = norms[member_b[j]]
            gain = (square_b - 2 * dots[3, j] + norm) / (size_b - 1) - square_b / size_b
            gain += (square_a + 2 * dots[2, j] + norm) / (size_a + 1) - square_a / size_a
            if gain > best:
                best, out_a, out_b = gain, -1, j
    return out_a, out_b


@compiled_once
def _exchange(xs: Array, members: Array, sizes: Array, k: int) -> int:
    """Exchange records between the groups of a block until nothing is gained; how many exchanges were made."""
    groups, most = members.shape
    columns = xs.shape[1]
    # around the middle of the block sums are small, and so is their rounding
    near_zero, norms = np.empty(xs.shape, np.float64), np.empty(len(xs), np.float64)
    for j in range(columns):
        middle = 0.0
        for i in range(len(xs)):
            middle += xs[i, j]
        for i in range(len(xs)):
            near_zero[i, j] = xs[i, j] - middle / len(xs)
    for i in range(len(xs)):
        norms[i] = _dot(near_zero[i], near_zero[i])
    sums, centres = np.empty((groups, columns), np.float64), np.empty((groups, columns), np.float64)
    for g in range(groups):
        _sum_up(near_zero, members[g], sizes[g], sums[g])
        for j in range(columns):
            centres[g, j] = sums[g, j] / sizes[g]
    near, dots = nearest_groups(centres), np.empty((4, most), np.float64)
    # when a group last changed, and when a pair was last looked at
    changed, looked = np.empty(groups, np.int64), np.empty((groups, groups), np.int64)
    for a in range(groups):
        changed[a] = 1
        for b in range(groups):
            looked[a, b] = 0
    clock, made = 1, 0
    for _ in range(_SWEEPS):
        before = made
        for a in range(groups):
            for b in near[a]:
                first, second = min(a, b), max(a, b)
                while changed[a] > looked[first, second] or changed[b] > looked[first, second]:
                    looked[first, second] = clock
                    out_a, out_b = _best_of_pair(
                        near_zero, norms, members[a], sizes[a], sums[a], members[b], sizes[b], sums[b], k, most, dots
                    )
                    if out_a < 0 and out_b < 0:
                        break
                    trade(members, sizes, a, b, out_a, out_b)
                    made += 1
                    clock += 1
                    changed[a] = changed[b] = clock
                    _sum_up(near_zero, members[a], sizes[a], sums[a])
                    _sum_up(near_zero, members[b], sizes[b], sums[b])
        if made == before:
            break
    return made


@compiled
def exchange_squares(xs: Array, members: Array, sizes: Array, edges: Array, first_record: Array, k: int) -> int:
    """Exchange records within each of some blocks; members are numbered from their block's first record on.

    How many exchanges were made.
    """
    made = 0
    for block in range(len(edges) - 1):
        a, b = edges[block], edges[block + 1]
        if b - a > 1:
            records = xs[first_record[block] : first_record[block + 1]]
            made += _exchange(records, members[a:b], sizes[a:b], k)
    return made
