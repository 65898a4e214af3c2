"""Loops over boxes of nodes from `low` to `high`, narrowed from both sides before they are split.

The coarsest node of a box says which records all of it loses. From below, a column cannot be finer than the finest
level that keeps within the suppression limit while all others are at their coarsest; from above, it cannot be coarser
than what costs less than the target while all others are at their finest. Both are repeated until nothing changes, then
the box is halved. A search that ends has shown that no node of the lattice is below its target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.compiled import compiled, compiled_part
from shoal.table import Array

# what a call of the loop ended with
DONE, PAUSED, OFFERED = 0, 1, 2


@compiled_part
def _copy(these: Array, there: Array) -> None:
    """Copy in a loop: what assigns an array asks for shapes and cannot be kept as machine code."""
    for i in range(len(these)):
        there[i] = these[i]


@compiled_part
def _count(place: Array, classes: int, table: Any, j: int, level: int, cells: Array) -> int:
    """Count the members, up to k, of the classes that these make with a column at a level; how many there can be."""
    codes, counts, nodes, offsets, cards, limits = table
    card, offset, k = cards[j, level], offsets[j, level], limits[0]
    total = classes * card
    cells[:total] = 0
    for t in range(len(place)):
        key = place[t] * card + nodes[offset + codes[j, t]]
        cells[key] = min(cells[key] + counts[t], k)
    return total  # type: ignore[no-any-return]


@compiled_part
def _lost_with(place: Array, classes: int, table: Any, j: int, level: int, cells: Array) -> int:
    """How many more records are lost with a column at a level."""
    total = _count(place, classes, table, j, level, cells)
    lost = 0
    for i in range(table[4][j, level], total):
        if cells[i] < table[5][0]:
            lost += cells[i]
    return lost


@compiled_part
def _refine(
    place: Array, refined: Array, told: Array, table: Any, j: int, level: int, cells: Array, gone: Array
) -> int:
    """Set a column to a finer level: the classes of tuples, what is told of them, and how many tuples (`gone`) are lost
    that were not."""
    codes, counts, nodes, offsets, cards, limits = table
    card, offset = cards[j, level], offsets[j, level]
    total = _count(place, told[0], table, j, level, cells)
    cells[:card] = 0
    classes = 1
    for i in range(card, total):
        if cells[i] >= limits[0]:
            cells[i] = classes
            classes += 1
        else:
            cells[i] = -1
    lost = 0
    for t in range(len(place)):
        at = cells[place[t] * card + nodes[offset + codes[j, t]]]
        if at < 0:
            gone[lost] = t
            lost += 1
            told[1] += counts[t]
            at = 0
        refined[t] = at
    told[0] = classes
    return lost


@compiled_part
def _lose(gains: Array, high: Array, table: Any, prices: Any, gone: Array, lost: int) -> None:
    """Add what lost tuples cost more than if they had been kept, by column and level."""
    codes, counts, offsets = table[0], table[1], table[3]
    costs, tops, first = prices[1], prices[2], prices[3]
    for i in range(lost):
        t = gone[i]
        for j in range(len(high)):
            top = tops[first[j] + codes[j, t]]
            for level in range(high[j] + 1):
                gains[j, level] += counts[t] * (top - costs[offsets[j, level] + codes[j, t]])


@compiled_part
def _price(gains: Array, prices: Any, geometric: bool, low: Array, high: Array, found: Array) -> float:
    """The logarithm of the factor of each column and level, as `kernels.factors_of`; the sum at the finest node."""
    sums, base, scale, weight = prices[0], prices[4], prices[5], prices[6]
    least = 0.0
    for j in range(len(high)):
        cost = 0.0
        for level in range(high[j] + 1):
            cost = max(cost, sums[j, level] + gains[j, level])
            part = max((cost - base[j]) / scale[j], 0.0) if scale[j] > 0 else 0.0
            found[j, level] = weight[j] * np.log(1 + part) if geometric else weight[j] * part
        least += found[j, low[j]]
    return least


@compiled_part
def _lower(target: float, least: float, box: Any, table: Any, prices: Any, scratch: Any, at: Array) -> int:
    """Take the coarsest levels away that cost too much: 0 if there are none, 1 if there are, 2 if nothing is left."""
    low, high, factors, gains, place, told, unchecked = box
    cells, gone = scratch
    changed = 0
    for j in range(len(low)):
        level = high[j]
        while level > low[j] and least - factors[j, low[j]] + factors[j, level] >= target:
            level -= 1
        if level == high[j]:
            continue
        high[j] = level
        if told[0] * table[4][j, level] > len(cells):
            continue
        at[2] += 1
        changed = 1
        unchecked[:] = True
        lost = _refine(place, place, told, table, j, level, cells, gone)
        if told[1] > table[5][1]:
            return 2
        _lose(gains, high, table, prices, gone, lost)
    return changed


@compiled_part
def _raise(target: float, least: float, box: Any, table: Any, cells: Array, at: Array) -> int:
    """Take the finest levels away that lose too much even alone: 0 if there are none, 1 if there are, 2 if nothing is
    left."""
    low, high, factors, _, place, told, unchecked = box
    changed = 0
    for j in range(len(low)):
        if not unchecked[j]:
            continue
        unchecked[j] = False
        start = low[j]
        while low[j] < high[j] and told[0] * table[4][j, low[j]] <= len(cells):
            at[2] += 1
            if told[1] + _lost_with(place, told[0], table, j, low[j], cells) <= table[5][1]:
                break
            low[j] += 1
        if low[j] > start:
            changed = 1
            least += factors[j, low[j]] - factors[j, start]
            if least >= target:
                return 2
    return changed


@compiled_part
def _narrow(target: float, box: Any, table: Any, prices: Any, geometric: bool, scratch: Any, at: Array) -> bool:
    """Narrow a box from both sides until nothing changes; whether something is left of it."""
    low, high, factors, gains = box[0], box[1], box[2], box[3]
    while True:
        least = _price(gains, prices, geometric, low, high, factors)
        if least >= target:
            return False
        found = _lower(target, least, box, table, prices, scratch, at)
        if found == 0:
            found = _raise(target, least, box, table, scratch[0], at)
        if found != 1:
            return found == 0


@compiled_part
def _halve(low: Array, high: Array, factors: Array, split: Array) -> bool:
    """Where a box is split: the column whose levels differ most in cost, and the last level of the cheaper half. Not
    where it is one node."""
    spread = -1.0
    for j in range(len(low)):
        differ = factors[j, high[j]] - factors[j, low[j]]
        if low[j] < high[j] and differ > spread:
            split[0], spread = j, differ
    if spread < 0:
        return False
    j = split[0]
    split[1] = low[j]
    while split[1] + 1 < high[j] and factors[j, split[1] + 1] < factors[j, low[j]] + spread / 2:
        split[1] += 1
    return True


@compiled
def search_boxes(
    target: float,
    looks: int,
    codes: Array,
    counts: Array,
    nodes: Array,
    offsets: Array,
    cards: Array,
    limits: Array,
    sums: Array,
    costs: Array,
    tops: Array,
    first: Array,
    base: Array,
    scale: Array,
    weight: Array,
    geometric: bool,
    low: Array,
    high: Array,
    factors: Array,
    gains: Array,
    place: Array,
    told: Array,
    unchecked: Array,
    split: Array,
    cells: Array,
    gone: Array,
    at: Array,
) -> int:
    """Search boxes depth first, the finer half before the coarser one; see `Boxes.run`.

    `at`: the depth, whether its box is new, looks and boxes so far.
    """
    table = (codes, counts, nodes, offsets, cards, limits)
    prices = (sums, costs, tops, first, base, scale, weight)
    stop = at[2] + looks
    while True:
        d = at[0]
        alive = True
        if at[1] == 1:
            at[1] = 0
            at[3] += 1
            box = (low[d], high[d], factors[d], gains[d], place[d], told[d], unchecked[d])
            alive = _narrow(target, box, table, prices, geometric, (cells, gone), at)
            worst = 0.0
            for j in range(low.shape[1]):
                worst += factors[d, j, high[d, j]]
            if alive and worst < target:
                return OFFERED
        if alive and _halve(low[d], high[d], factors[d], split[d]):
            if at[2] >= stop:
                return PAUSED
            j, middle = split[d, 0], split[d, 1]
            told[d + 1, 0], told[d + 1, 1] = told[d, 0], told[d, 1]
            _copy(low[d], low[d + 1])
            _copy(high[d], high[d + 1])
            for column in range(gains.shape[1]):
                _copy(gains[d, column], gains[d + 1, column])
            high[d + 1, j] = middle
            unchecked[d + 1, :] = True
            lost = 0
            if told[d, 0] * cards[j, middle] <= len(cells):
                at[2] += 1
                lost = _refine(place[d], place[d + 1], told[d + 1], table, j, middle, cells, gone)
            else:
                _copy(place[d], place[d + 1])
            if told[d + 1, 1] <= limits[1]:
                _lose(gains[d + 1], high[d + 1], table, prices, gone, lost)
                at[0], at[1] = d + 1, 1
                continue
        elif d == 0:
            return DONE
        else:
            d -= 1
        # the coarser half of the last box that was split
        low[d, split[d, 0]] = split[d, 1] + 1
        at[0], at[1] = d, 1
