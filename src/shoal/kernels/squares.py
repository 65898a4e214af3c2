"""Exchanges of records between groups, while that lowers the sum of squares around the groups' means.

The sum of squares of n records with the sum S is Q - S.S / n. To give i for j changes it, besides Q, by
-(2 S.d + d.d) / n with d = x_j - x_i: no other member is looked at.
"""

from __future__ import annotations

import cython
import numpy as np

int64 = cython.typedef(cython.longlong)
float32 = cython.typedef(cython.float)
float64 = cython.typedef(cython.double)

# how many near groups each tries to exchange records with, and how often
_NEAR = cython.declare(cython.longlong, 8)
_SWEEPS = cython.declare(cython.longlong, 4)
# a gain must be larger than the rounding of the sums
_SURE = cython.declare(cython.double, 1e-9)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _single(x: float64) -> float32:
    """A number rounded to 32 bits, in Python as in C."""
    return cython.cast(float32, x) if cython.compiled else np.float32(x)


def exchange_squares(
    xs: cython.const[float32][:, ::1], members: int64[:, ::1], sizes: int64[::1], edges: cython.const[int64][::1],
    first_record: cython.const[int64][::1], k: int64,
) -> int64:  # fmt: skip
    """Exchange records between the groups of each of some blocks until nothing is gained in the sum of squares.

    Block b are the groups edges[b] .. edges[b+1]; members are numbered from first_record[b] on. How many exchanges were
    made.
    """
    cython.declare(block=int64)
    groups: int64 = np.diff(edges).max(initial=0)
    records: int64 = np.diff(first_record).max(initial=0)
    near_zero: float64[:, ::1] = np.empty((records, xs.shape[1]))
    norms: float64[::1] = np.empty(records)
    sums: float64[:, ::1] = np.empty((groups, xs.shape[1]))
    centres: float64[:, ::1] = np.empty((groups, xs.shape[1]))
    near: int64[:, ::1] = np.empty((groups, _NEAR), np.int64)
    far: float32[::1] = np.empty(_NEAR, np.float32)
    changed: int64[::1] = np.empty(groups, np.int64)
    looked: int64[:, ::1] = np.empty((groups, groups), np.int64)
    dots: float64[:, ::1] = np.empty((4, members.shape[1]))
    out: int64[::1] = np.empty(2, np.int64)
    made: int64 = 0
    with cython.nogil:
        for block in range(edges.shape[0] - 1):
            if edges[block + 1] - edges[block] > 1:
                _around_zero(xs, first_record[block], first_record[block + 1], near_zero, norms)
                made += _exchange(
                    near_zero, norms, members, sizes, edges[block], edges[block + 1] - edges[block], k, sums, centres,
                    near, far, changed, looked, dots, out,
                )  # fmt: skip
    return made


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sum_up(
    xs: float64[:, ::1], members: int64[:, ::1], sizes: int64[::1], first: int64, g: int64, sums: float64[:, ::1]
) -> cython.void:
    """The sum of the members of group g; groups are counted from `first` on."""
    cython.declare(s=int64, j=int64)
    for j in range(xs.shape[1]):
        sums[g, j] = 0
    for s in range(sizes[first + g]):
        for j in range(xs.shape[1]):
            sums[g, j] += xs[members[first + g, s], j]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _dot(a: float64[:, ::1], i: int64, b: float64[:, ::1], j: int64) -> float64:
    """The product of two rows."""
    cython.declare(column=int64)
    total: float64 = 0
    for column in range(a.shape[1]):
        total += a[i, column] * b[j, column]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _best_of_pair(
    xs: float64[:, ::1], norms: float64[::1], members: int64[:, ::1], sizes: int64[::1], sums: float64[:, ::1],
    first: int64, a: int64, b: int64, k: int64, dots: float64[:, ::1], out: int64[::1],
) -> cython.void:  # fmt: skip
    """The best exchange of two groups: a swap (i, j), a move (i, -1) from a to b or (-1, j) from b to a, or none."""
    cython.declare(i=int64, j=int64, s=int64, apart=float64, gain=float64, norm=float64)
    one: int64 = first + a
    two: int64 = first + b
    size_a: int64 = sizes[one]
    size_b: int64 = sizes[two]
    for s in range(size_a):
        dots[0, s] = _dot(sums, a, xs, members[one, s])
        dots[1, s] = _dot(sums, b, xs, members[one, s])
    for s in range(size_b):
        dots[2, s] = _dot(sums, a, xs, members[two, s])
        dots[3, s] = _dot(sums, b, xs, members[two, s])
    square_a: float64 = _dot(sums, a, sums, a)
    square_b: float64 = _dot(sums, b, sums, b)
    best: float64 = _SURE * (square_a / size_a + square_b / size_b + 1)
    out[0] = out[1] = -1
    for i in range(size_a):
        for j in range(size_b):
            apart = norms[members[one, i]] + norms[members[two, j]] - 2 * _dot(xs, members[one, i], xs, members[two, j])
            gain = (2 * (dots[2, j] - dots[0, i]) + apart) / size_a + (2 * (dots[1, i] - dots[3, j]) + apart) / size_b
            if gain > best:
                best = gain
                out[0] = i
                out[1] = j
    if size_a > k and size_b < members.shape[1]:
        for i in range(size_a):
            norm = norms[members[one, i]]
            gain = (square_a - 2 * dots[0, i] + norm) / (size_a - 1) - square_a / size_a
            gain += (square_b + 2 * dots[1, i] + norm) / (size_b + 1) - square_b / size_b
            if gain > best:
                best = gain
                out[0] = i
                out[1] = -1
    if size_b > k and size_a < members.shape[1]:
        for j in range(size_b):
            norm = norms[members[two, j]]
            gain = (square_b - 2 * dots[3, j] + norm) / (size_b - 1) - square_b / size_b
            gain += (square_a + 2 * dots[2, j] + norm) / (size_a + 1) - square_a / size_a
            if gain > best:
                best = gain
                out[0] = -1
                out[1] = j


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _nearest_groups(
    centres: float64[:, ::1], groups: int64, count: int64, near: int64[:, ::1], far: float32[::1]
) -> cython.void:
    """The nearest groups of each, so many, by their centres."""
    cython.declare(a=int64, b=int64, j=int64, held=int64, at=int64, side=float32, total=float32)
    for a in range(groups):
        held = 0
        for b in range(groups):
            if a == b:
                continue
            total = 0
            for j in range(centres.shape[1]):
                side = _single(centres[a, j] - centres[b, j])
                total += side * side
            if held < count:
                at = held
                held += 1
            elif total < far[count - 1]:
                at = count - 1
            else:
                continue
            while at > 0 and far[at - 1] > total:
                far[at] = far[at - 1]
                near[a, at] = near[a, at - 1]
                at -= 1
            far[at] = total
            near[a, at] = b


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _trade(members: int64[:, ::1], sizes: int64[::1], a: int64, b: int64, out_a: int64, out_b: int64) -> cython.void:
    """Swap member out_a of group a for member out_b of group b; with -1 for one of them, move the other."""
    cython.declare(one=int64)
    if out_a >= 0 and out_b >= 0:
        one = members[a, out_a]
        members[a, out_a] = members[b, out_b]
        members[b, out_b] = one
    elif out_a >= 0:
        members[b, sizes[b]] = members[a, out_a]
        sizes[b] += 1
        sizes[a] -= 1
        members[a, out_a] = members[a, sizes[a]]
    else:
        members[a, sizes[a]] = members[b, out_b]
        sizes[a] += 1
        sizes[b] -= 1
        members[b, out_b] = members[b, sizes[b]]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _around_zero(
    xs: cython.const[float32][:, ::1], start: int64, stop: int64, near_zero: float64[:, ::1], norms: float64[::1]
) -> cython.void:
    """Records around the middle of their block, where sums are small and so is their rounding; and their squares."""
    cython.declare(i=int64, j=int64, middle=float64)
    for j in range(xs.shape[1]):
        middle = 0
        for i in range(start, stop):
            middle += cython.cast(float64, xs[i, j])
        for i in range(start, stop):
            near_zero[i - start, j] = cython.cast(float64, xs[i, j]) - middle / (stop - start)
    for i in range(stop - start):
        norms[i] = _dot(near_zero, i, near_zero, i)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exchange(
    xs: float64[:, ::1], norms: float64[::1], members: int64[:, ::1], sizes: int64[::1], first: int64, groups: int64,
    k: int64, sums: float64[:, ::1], centres: float64[:, ::1], near: int64[:, ::1], far: float32[::1],
    changed: int64[::1], looked: int64[:, ::1], dots: float64[:, ::1], out: int64[::1],
) -> int64:  # fmt: skip
    """Exchange records between the groups of a block, counted from `first` on; how many exchanges were made.

    What comes after `k` is for its own use.
    """
    cython.declare(a=int64, b=int64, g=int64, j=int64, one=int64, two=int64, _sweep=int64, place=int64, before=int64)
    count: int64 = min(_NEAR, groups - 1)
    for g in range(groups):
        _sum_up(xs, members, sizes, first, g, sums)
        for j in range(xs.shape[1]):
            centres[g, j] = sums[g, j] / sizes[first + g]
    _nearest_groups(centres, groups, count, near, far)
    # when a group last changed, and when a pair was last looked at
    for a in range(groups):
        changed[a] = 1
        for b in range(groups):
            looked[a, b] = 0
    clock: int64 = 1
    made: int64 = 0
    for _sweep in range(_SWEEPS):
        before = made
        for a in range(groups):
            for place in range(count):
                b = near[a, place]
                one = min(a, b)
                two = max(a, b)
                while changed[a] > looked[one, two] or changed[b] > looked[one, two]:
                    looked[one, two] = clock
                    _best_of_pair(xs, norms, members, sizes, sums, first, a, b, k, dots, out)
                    if out[0] < 0 and out[1] < 0:
                        break
                    _trade(members, sizes, first + a, first + b, out[0], out[1])
                    made += 1
                    clock += 1
                    changed[a] = changed[b] = clock
                    _sum_up(xs, members, sizes, first, a, sums)
                    _sum_up(xs, members, sizes, first, b, sums)
        if made == before:
            break
    return made
