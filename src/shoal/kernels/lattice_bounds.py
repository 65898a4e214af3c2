"""Loops that bound the nodes of a lattice: what lost records cost, the factors of scores, the bounds of finer nodes."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import exp, pow

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
float64 = cython.typedef(cython.double)


# what lost records cost


@cython.cclass
class Losses:
    """What records cost by column and level, and suppressed (`tops`), for records counted by compound code.

    `members`, `unpacked` and `starts` say which codes of columns a compound code stands for, `offsets[j, l]` where the
    nodes and costs of column j at level l begin, `first[j]` where its codes begin in `tops`. `least` is what a record
    loses at least that is suppressed instead of kept at level l, by its node at a level h above: from
    `least_at[j, h, l]` on.
    """

    members = cython.declare(cython.const[int64][:, ::1], visibility="public")
    unpacked = cython.declare(cython.const[int32][:, ::1], visibility="public")
    starts = cython.declare(cython.const[int64][::1], visibility="public")
    nodes = cython.declare(cython.const[int64][::1], visibility="public")
    offsets = cython.declare(cython.const[int64][:, ::1], visibility="public")
    costs = cython.declare(cython.const[float64][::1], visibility="public")
    tops = cython.declare(cython.const[float64][::1], visibility="public")
    first = cython.declare(cython.const[int64][::1], visibility="public")
    least = cython.declare(cython.const[float64][::1], visibility="public")
    least_at = cython.declare(cython.const[int64][:, :, ::1], visibility="public")

    def __init__(self, compounds: tuple, levels: tuple, costs: tuple, least: tuple) -> None:
        self.starts, self.members, self.unpacked = compounds
        self.nodes, self.offsets = levels
        self.costs, self.tops, self.first = costs
        self.least, self.least_at = least


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _gains(
    losses: Losses, found: cython.const[float64][::1], levels: cython.const[int64][::1], result: float64[::1]
) -> cython.void:
    cython.declare(c=int64, m=int64, i=int64, j=int64, offset=int64, first=int64, code=int64, gain=float64)
    for c in range(losses.members.shape[0]):
        for m in range(losses.members.shape[1]):
            j = losses.members[c, m]
            if j < 0:
                break
            offset = losses.offsets[j, levels[j]]
            first = losses.first[j]
            gain = 0
            for i in range(losses.starts[c], losses.starts[c + 1]):
                if found[i] > 0:
                    code = losses.unpacked[m, i]
                    gain += found[i] * (losses.tops[first + code] - losses.costs[offset + code])
            result[j] = gain


def gains(losses: Losses, found: cython.const[float64][::1], levels: cython.const[int64][::1]) -> Any:
    """G_j: what the lost records cost more than if they had been kept at these levels, column by column."""
    result = np.empty(levels.shape[0])
    by_column: float64[::1] = result
    with cython.nogil:
        _gains(losses, found, levels, by_column)
    return result


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _gains_below(
    losses: Losses, found: cython.const[float64][::1], at: cython.const[int64][::1], levels: cython.const[int64][::1],
    of_code: float64[::1], result: float64[:, ::1],
) -> cython.void:  # fmt: skip
    cython.declare(c=int64, m=int64, i=int64, j=int64, code=int64, last=int64, node=int64, level=int64, lost=float64)
    for i in range(of_code.shape[0]):
        of_code[i] = 0
    for c in range(losses.members.shape[0]):
        for m in range(losses.members.shape[1]):
            j = losses.members[c, m]
            if j < 0:
                break
            for i in range(losses.starts[c], losses.starts[c + 1]):
                of_code[losses.first[j] + losses.unpacked[m, i]] += found[i]
    for j in range(levels.shape[0]):
        last = losses.first[j + 1] if j + 1 < losses.first.shape[0] else losses.tops.shape[0]
        for code in range(last - losses.first[j]):
            lost = of_code[losses.first[j] + code]
            if lost > 0:
                node = losses.nodes[losses.offsets[j, at[j]] + code]
                for level in range(at[j]):
                    result[j, level] += lost * losses.least[losses.least_at[j, at[j], level] + node]
                for level in range(at[j], levels[j] + 1):
                    result[j, level] += lost * (
                        losses.tops[losses.first[j] + code] - losses.costs[losses.offsets[j, level] + code]
                    )


def gains_below(
    losses: Losses, found: cython.const[float64][::1], at: cython.const[int64][::1], levels: cython.const[int64][::1],
    result: float64[:, ::1],
) -> None:  # fmt: skip
    """Add G_jl: what lost records cost more at least than if they had been kept at level l, for all levels up to these.

    `found` records of each compound code are lost, or others instead that are the same at the levels `at`: from there
    on the difference is theirs too, below it is the smallest under their node (`least`).
    """
    of_code: float64[::1] = np.empty(losses.tops.shape[0])
    with cython.nogil:
        _gains_below(losses, found, at, levels, of_code, result)


# scores: the product of a factor of every column


@cython.cclass
class ColumnScales:
    """How the costs of columns become factors: the sums of costs by column and level with nothing suppressed, base and
    scale of each column, its weight, how many levels it has, and whether factors are powers or exponentials."""

    sums = cython.declare(cython.const[float64][:, ::1], visibility="public")
    bases = cython.declare(cython.const[float64][::1], visibility="public")
    scales = cython.declare(cython.const[float64][::1], visibility="public")
    weights = cython.declare(cython.const[float64][::1], visibility="public")
    heights = cython.declare(cython.const[int64][::1], visibility="public")
    geometric = cython.declare(cython.bint, visibility="public")

    def __init__(self, sums: Any, scales: tuple, geometric: bool) -> None:
        self.sums = sums
        self.bases, self.scales, self.weights, self.heights = scales
        self.geometric = geometric


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _factor(scales: ColumnScales, j: int64, cost: float64) -> float64:
    """The factor of a column that costs so much."""
    part: float64 = 0
    if scales.scales[j] > 0:
        part = max((cost - scales.bases[j]) / scales.scales[j], 0.0)
    return pow(1 + part, scales.weights[j]) if scales.geometric else exp(scales.weights[j] * part)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _factors(scales: ColumnScales, gains: cython.const[float64][:, ::1], factors: float64[:, ::1]) -> cython.void:
    cython.declare(j=int64, level=int64, cost=float64)
    for j in range(gains.shape[0]):
        cost = 0
        for level in range(scales.heights[j]):
            cost = max(cost, scales.sums[j, level] + gains[j, level])
            factors[j, level] = _factor(scales, j, cost)


def factors_of(scales: ColumnScales, gains: cython.const[float64][:, ::1]) -> Any:
    """The factor of each column and level, where column j costs gains[j, l] more at level l than if all were kept.

    Who is lost costs no less at a coarser level, so a factor is never below that of a finer level.
    """
    found = np.ones((scales.sums.shape[0], scales.sums.shape[1]))
    factors: float64[:, ::1] = found
    with cython.nogil:
        _factors(scales, gains, factors)
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _product(
    scales: ColumnScales, levels: cython.const[int64][::1], gains: cython.const[float64][::1], lowered: int64
) -> float64:
    """The product of a node's factors, or of the node with one column a level lower."""
    cython.declare(j=int64, level=int64)
    product: float64 = 1
    for j in range(levels.shape[0]):
        level = levels[j] - 1 if j == lowered else levels[j]
        product *= _factor(scales, j, scales.sums[j, level] + gains[j])
    return product


def product_of(scales: ColumnScales, levels: cython.const[int64][::1], gains: cython.const[float64][::1]) -> float64:
    """The product of a node's factors where column j costs gains[j] more than with nothing suppressed."""
    return _product(scales, levels, gains, -1)


def rules_out(
    scales: ColumnScales, levels: cython.const[int64][::1], gains: cython.const[float64][::1], share: float64,
    bounds: cython.const[float64][::1], strides: cython.const[int64][::1], low: cython.const[int64][::1],
    target: float64,
) -> cython.bint:  # fmt: skip
    """Whether a node one level finer that is open reaches the target where its columns cost a share of `gains` more."""
    cython.declare(j=int64, is_open=cython.bint)
    at: int64 = 0
    found: cython.bint = False
    own: float64[::1] = np.empty(levels.shape[0])
    with cython.nogil:
        for j in range(levels.shape[0]):
            at += (levels[j] - low[j]) * strides[j]
            own[j] = gains[j] * share
        for j in range(levels.shape[0]):
            is_open = levels[j] > low[j] and bounds[at - strides[j]] < target
            if is_open and _product(scales, levels, own, j) >= target:
                found = True
                break
    return found


def product_at(factors: cython.const[float64][:, ::1], levels: cython.const[int64][::1]) -> float64:
    """The product of the factors of a node."""
    cython.declare(j=int64)
    product: float64 = 1.0
    with cython.nogil:
        for j in range(levels.shape[0]):
            product *= factors[j, levels[j]]
    return product


# bounds of nodes, numbered by their levels


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _raise(
    bounds: float64[::1], strides: cython.const[int64][::1], low: cython.const[int64][::1],
    levels: cython.const[int64][::1], factors: cython.const[float64][:, ::1], target: float64, at: int64[::1],
    prefix: float64[::1],
) -> int64:  # fmt: skip
    cython.declare(level=int64, spot=int64, value=float64)
    last: int64 = levels.shape[0] - 1
    reached: int64 = 0
    base: int64 = 0
    j: int64 = 0
    for level in range(low.shape[0]):
        at[level] = low[level]
    prefix[0] = 1
    while j >= 0:
        # descend to the last column with the prefix products filled in
        while j < last:
            prefix[j + 1] = prefix[j] * factors[j, at[j]]
            base += (at[j] - low[j]) * strides[j]
            j += 1
        for level in range(low[last], levels[last] + 1):
            value = prefix[last] * factors[last, level]
            spot = base + (level - low[last]) * strides[last]
            if value > bounds[spot]:
                if bounds[spot] < target and value >= target:
                    reached += 1
                bounds[spot] = value
        j = last - 1
        while j >= 0:
            base -= (at[j] - low[j]) * strides[j]
            at[j] += 1
            if at[j] <= levels[j]:
                break
            at[j] = low[j]
            j -= 1
    return reached


def raise_bounds(
    bounds: float64[::1], strides: cython.const[int64][::1], low: cython.const[int64][::1],
    levels: cython.const[int64][::1], factors: cython.const[float64][:, ::1], target: float64,
) -> int64:  # fmt: skip
    """Raise the lower bounds of all nodes at or below a node; factors[j, l] is column j's at level l. How many have
    reached the target."""
    cython.declare(reached=int64)
    at: int64[::1] = np.empty(low.shape[0], np.int64)
    prefix: float64[::1] = np.empty(low.shape[0] + 1)
    with cython.nogil:
        reached = _raise(bounds, strides, low, levels, factors, target, at, prefix)
    return reached
