"""Loops over boxes of nodes from `low` to `high`, narrowed from both sides before they are split.

The coarsest node of a box says which records all of it loses. From below, a column cannot be finer than the finest
level that keeps within the suppression limit while all others are at their coarsest; from above, it cannot be coarser
than what costs less than the target while all others are at their finest. Both are repeated until nothing changes, then
the box is halved. A search that ends has shown that no node of the lattice is below its target.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import log

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
uint8 = cython.typedef(cython.uchar)
float64 = cython.typedef(cython.double)
Code = cython.fused_type(cython.ushort, cython.int)

# what a call of the loop ended with
DONE, PAUSED, OFFERED = 0, 1, 2


@cython.cclass
class BoxStack:
    """Boxes on the way down, each half of the one before, and what they are searched with.

    The box at a depth has its lowest and highest levels, the logarithms of the factors and what lost records cost more
    by column and level, the class of each tuple at its coarsest node (`place`, 0: lost), how many classes there are and
    records are lost (`told`), which columns' finest levels were not tried yet with these classes (`unchecked`), and the
    column and level where it was split. `at`: the depth, whether its box is new, looks and boxes so far.
    """

    counts = cython.declare(cython.const[int64][::1], visibility="public")
    nodes = cython.declare(cython.const[int32][::1], visibility="public")
    offsets = cython.declare(cython.const[int64][:, ::1], visibility="public")
    cards = cython.declare(cython.const[int64][:, ::1], visibility="public")
    k = cython.declare(int64, visibility="public")
    limit = cython.declare(int64, visibility="public")
    sums = cython.declare(cython.const[float64][:, ::1], visibility="public")
    costs = cython.declare(cython.const[float64][::1], visibility="public")
    tops = cython.declare(cython.const[float64][::1], visibility="public")
    first = cython.declare(cython.const[int64][::1], visibility="public")
    bases = cython.declare(cython.const[float64][::1], visibility="public")
    scales = cython.declare(cython.const[float64][::1], visibility="public")
    weights = cython.declare(cython.const[float64][::1], visibility="public")
    geometric = cython.declare(cython.bint, visibility="public")
    low = cython.declare(int64[:, ::1], visibility="public")
    high = cython.declare(int64[:, ::1], visibility="public")
    factors = cython.declare(float64[:, :, ::1], visibility="public")
    split = cython.declare(int64[:, ::1], visibility="public")
    at = cython.declare(int64[::1], visibility="public")
    gains = cython.declare(float64[:, :, ::1], visibility="public")
    place = cython.declare(int32[:, ::1], visibility="public")
    told = cython.declare(int64[:, ::1], visibility="public")
    unchecked = cython.declare(uint8[:, ::1], visibility="public")
    cells = cython.declare(int32[::1], visibility="public")
    gone = cython.declare(int64[::1], visibility="public")

    def __init__(self, table: tuple, limits: tuple, prices: tuple, boxes: tuple, scratch: tuple) -> None:
        self.counts, self.nodes, self.offsets, self.cards = table
        self.k, self.limit = limits
        self.sums, self.costs, self.tops, self.first, self.bases, self.scales, self.weights, self.geometric = prices
        self.low, self.high, self.factors, self.gains, self.place, self.told, self.unchecked, self.split = boxes
        self.cells, self.gone, self.at = scratch


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _count(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64, classes: int64, j: int64, level: int64) -> int64:
    """Count the members, up to k, of the classes that a box's make with a column at a level; how many there can be."""
    cython.declare(i=int64, key=int64)
    card: int64 = own.cards[j, level]
    offset: int64 = own.offsets[j, level]
    for i in range(classes * card):
        own.cells[i] = 0
    for i in range(codes.shape[1]):
        key = own.place[d, i] * card + own.nodes[offset + codes[j, i]]
        own.cells[key] = min(own.cells[key] + own.counts[i], own.k)
    return classes * card


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lost_with(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64, j: int64, level: int64) -> int64:
    """How many more records a box loses with a column at a level."""
    cython.declare(i=int64)
    total: int64 = _count(own, codes, d, own.told[d, 0], j, level)
    lost: int64 = 0
    for i in range(own.cards[j, level], total):
        if own.cells[i] < own.k:
            lost += own.cells[i]
    return lost


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _refine(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64, e: int64, j: int64, level: int64) -> int64:
    """Set a column to a finer level, from one box to another: the classes of tuples, what is told of them, and how many
    tuples (`gone`) are lost that were not."""
    cython.declare(i=int64, found=int64)
    card: int64 = own.cards[j, level]
    offset: int64 = own.offsets[j, level]
    total: int64 = _count(own, codes, d, own.told[e, 0], j, level)
    classes: int64 = 1
    lost: int64 = 0
    for i in range(card):
        own.cells[i] = 0
    for i in range(card, total):
        if own.cells[i] >= own.k:
            own.cells[i] = classes
            classes += 1
        else:
            own.cells[i] = -1
    for i in range(codes.shape[1]):
        found = own.cells[own.place[d, i] * card + own.nodes[offset + codes[j, i]]]
        if found < 0:
            own.gone[lost] = i
            lost += 1
            own.told[e, 1] += own.counts[i]
            found = 0
        own.place[e, i] = found
    own.told[e, 0] = classes
    return lost


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lose(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64, lost: int64) -> cython.void:
    """Add what lost tuples cost more than if they had been kept, by column and level."""
    cython.declare(i=int64, t=int64, j=int64, level=int64, top=float64)
    for i in range(lost):
        t = own.gone[i]
        for j in range(own.high.shape[1]):
            top = own.tops[own.first[j] + codes[j, t]]
            for level in range(own.high[d, j] + 1):
                own.gains[d, j, level] += own.counts[t] * (top - own.costs[own.offsets[j, level] + codes[j, t]])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _price(own: BoxStack, d: int64) -> float64:
    """The logarithm of the factor of each column and level, as `lattice_bounds.factors_of`; the sum at the finest."""
    cython.declare(j=int64, level=int64, cost=float64, part=float64)
    least: float64 = 0
    for j in range(own.high.shape[1]):
        cost = 0
        for level in range(own.high[d, j] + 1):
            cost = max(cost, own.sums[j, level] + own.gains[d, j, level])
            part = max((cost - own.bases[j]) / own.scales[j], 0.0) if own.scales[j] > 0 else 0.0
            own.factors[d, j, level] = own.weights[j] * log(1 + part) if own.geometric else own.weights[j] * part
        least += own.factors[d, j, own.low[d, j]]
    return least


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lower(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64, target: float64, least: float64) -> int64:
    """Take the coarsest levels away that cost too much: 0 if there are none, 1 if there are, 2 if nothing is left."""
    cython.declare(j=int64, i=int64, level=int64, lost=int64)
    changed: int64 = 0
    for j in range(own.low.shape[1]):
        level = own.high[d, j]
        while level > own.low[d, j] and least - own.factors[d, j, own.low[d, j]] + own.factors[d, j, level] >= target:
            level -= 1
        if level == own.high[d, j]:
            continue
        own.high[d, j] = level
        if own.told[d, 0] * own.cards[j, level] > own.cells.shape[0]:
            continue
        own.at[2] += 1
        changed = 1
        for i in range(own.unchecked.shape[1]):
            own.unchecked[d, i] = True
        lost = _refine(own, codes, d, d, j, level)
        if own.told[d, 1] > own.limit:
            return 2
        _lose(own, codes, d, lost)
    return changed


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _raise(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64, target: float64, least: float64) -> int64:
    """Take the finest levels away that lose too much even alone: 0 if there are none, 1 if there are, 2 if nothing is
    left."""
    cython.declare(j=int64, start=int64)
    changed: int64 = 0
    for j in range(own.low.shape[1]):
        if not own.unchecked[d, j]:
            continue
        own.unchecked[d, j] = False
        start = own.low[d, j]
        while own.low[d, j] < own.high[d, j] and own.told[d, 0] * own.cards[j, own.low[d, j]] <= own.cells.shape[0]:
            own.at[2] += 1
            if own.told[d, 1] + _lost_with(own, codes, d, j, own.low[d, j]) <= own.limit:
                break
            own.low[d, j] += 1
        if own.low[d, j] > start:
            changed = 1
            least += own.factors[d, j, own.low[d, j]] - own.factors[d, j, start]
            if least >= target:
                return 2
    return changed


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _narrow(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64, target: float64) -> cython.bint:
    """Narrow a box from both sides until nothing changes; whether something is left of it."""
    cython.declare(least=float64)
    found: int64 = 1
    while found == 1:
        least = _price(own, d)
        if least >= target:
            return False
        found = _lower(own, codes, d, target, least)
        if found == 0:
            found = _raise(own, codes, d, target, least)
    return found == 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _halve(own: BoxStack, d: int64) -> cython.bint:
    """Where a box is split: the column whose levels differ most in cost, and the last level of the cheaper half. Not
    where it is one node."""
    cython.declare(j=int64, differ=float64)
    spread: float64 = -1
    for j in range(own.low.shape[1]):
        differ = own.factors[d, j, own.high[d, j]] - own.factors[d, j, own.low[d, j]]
        if own.low[d, j] < own.high[d, j] and differ > spread:
            own.split[d, 0] = j
            spread = differ
    if spread < 0:
        return False
    j = own.split[d, 0]
    own.split[d, 1] = own.low[d, j]
    while (
        own.split[d, 1] + 1 < own.high[d, j]
        and own.factors[d, j, own.split[d, 1] + 1] < own.factors[d, j, own.low[d, j]] + spread / 2
    ):
        own.split[d, 1] += 1
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _finer_half(own: BoxStack, codes: cython.const[Code][:, ::1], d: int64) -> cython.bint:
    """Put the finer half of a box above it; whether it keeps within the limit."""
    cython.declare(i=int64, column=int64)
    j: int64 = own.split[d, 0]
    middle: int64 = own.split[d, 1]
    e: int64 = d + 1
    lost: int64 = 0
    own.told[e, 0] = own.told[d, 0]
    own.told[e, 1] = own.told[d, 1]
    for column in range(own.low.shape[1]):
        own.low[e, column] = own.low[d, column]
        own.high[e, column] = own.high[d, column]
        own.unchecked[e, column] = True
        for i in range(own.gains.shape[2]):
            own.gains[e, column, i] = own.gains[d, column, i]
    own.high[e, j] = middle
    if own.told[d, 0] * own.cards[j, middle] <= own.cells.shape[0]:
        own.at[2] += 1
        lost = _refine(own, codes, d, e, j, middle)
    else:
        for i in range(own.place.shape[1]):
            own.place[e, i] = own.place[d, i]
    if own.told[e, 1] > own.limit:
        return False
    _lose(own, codes, e, lost)
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search(own: BoxStack, codes: cython.const[Code][:, ::1], target: float64, looks: int64) -> int64:
    cython.declare(d=int64, j=int64, alive=cython.bint, worst=float64)
    stop: int64 = own.at[2] + looks
    while True:
        d = own.at[0]
        alive = True
        if own.at[1] == 1:
            own.at[1] = 0
            own.at[3] += 1
            alive = _narrow(own, codes, d, target)
            worst = 0
            for j in range(own.low.shape[1]):
                worst += own.factors[d, j, own.high[d, j]]
            if alive and worst < target:
                return 2  # OFFERED
        if alive and _halve(own, d):
            if own.at[2] >= stop:
                return 1  # PAUSED
            if _finer_half(own, codes, d):
                own.at[0] = d + 1
                own.at[1] = 1
                continue
        elif d == 0:
            return 0  # DONE
        else:
            d -= 1
        # the coarser half of the last box that was split
        own.low[d, own.split[d, 0]] = own.split[d, 1] + 1
        own.at[0] = d
        own.at[1] = 1


def search_boxes(own: BoxStack, codes: cython.const[Code][:, ::1], target: float64, looks: int64) -> int64:
    """Search boxes depth first, the finer half before the coarser one, until nothing is left that could be below the
    target (DONE), so many looks were taken (PAUSED), or the coarsest node of the last box may be below it (OFFERED).

    `codes` are the codes of each column, tuple by tuple.
    """
    cython.declare(status=int64)
    with cython.nogil:
        status = _search(own, codes, target, looks)
    return status
