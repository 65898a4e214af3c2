"""The hot loops of the lattice search: classes of a node, and bounds on everything below it. Compiled by numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.compiled import compiled, compiled_inside
from shoal.table import Array

# a dense table of class numbers beats hashing while it stays in the cache ...
DENSE = 1 << 18
# ... and a dense table of counts while it is not much longer than the tuples that are counted into it
DENSE_CELLS = 16
# one key in so many is counted to estimate how many there are
SAMPLED = 32


@compiled
def look_up(
    levels: Array,
    members: Array,
    unpacked: Array,
    starts: Array,
    nodes: Array,
    offsets: Array,
    cards: Array,
    table: Array,
) -> int:
    """Fill the table that gives each compound code its part of a node's key; the number of possible keys.

    A compound is a group of columns packed into one code, so that a tuple takes a few gathers instead of one per
    column. `members[c]` are its columns (-1: none), `unpacked[m, i]` the m-th column's code in entry i.
    """
    compounds, width = members.shape
    # the first column counts most, as in the order of the tuples: neighbours among them have keys near each other
    weights = np.ones(len(levels), np.int64)
    total = 1
    for j in range(len(levels) - 1, -1, -1):
        weights[j] = total
        total *= cards[j, levels[j]]
    table[:] = 0
    for c in range(compounds):
        for m in range(width):
            j = members[c, m]
            if j < 0:
                break
            offset = offsets[j, levels[j]]
            if cards[j, levels[j]] > 1:
                for i in range(starts[c], starts[c + 1]):
                    table[i] += nodes[offset + unpacked[m, i]] * weights[j]
    return total


@compiled
def class_of_each_tuple(
    codes: Array, starts: Array, table: Array, total: int, place: Array, stamp: Array, keys: Array
) -> int:
    """Number the classes of tuples in the order in which they are met; `place` becomes the class of each tuple.

    `stamp` maps keys (dense) or slots of a hash table (sparse) to classes; it is -1 everywhere before and after.
    """
    compounds, tuples = codes.shape
    classes = 0
    if total <= min(DENSE, DENSE_CELLS * tuples) and total <= len(stamp):
        for t in range(tuples):
            key = 0
            for c in range(compounds):
                key += table[starts[c] + codes[c, t]]
            found = stamp[key]
            if found < 0:
                found = classes
                stamp[key] = found
                keys[classes] = key
                classes += 1
            place[t] = found
        for i in range(classes):
            stamp[keys[i]] = -1
        return classes
    # as few slots as tuples need: what stays in the cache
    mask = 1023
    while mask < 2 * tuples:
        mask = 2 * mask + 1
    mask = min(mask, len(stamp) - 1)
    for t in range(tuples):
        key = 0
        for c in range(compounds):
            key += table[starts[c] + codes[c, t]]
        slot = hash_slot(key, mask)
        while True:
            found = stamp[slot]
            if found < 0:
                stamp[slot] = classes
                keys[classes] = key
                place[t] = classes
                classes += 1
                break
            if keys[found] == key:
                place[t] = found
                break
            slot = (slot + 1) & mask
    # every class is taken out again from the end of its run of slots: none is cut short before its time
    for i in range(classes):
        slot = hash_slot(keys[i], mask)
        while stamp[slot] != i:
            slot = (slot + 1) & mask
        keys[i] = slot
    for i in range(classes):
        stamp[keys[i]] = -1
    return classes


@compiled
def classes_by_rank(
    codes: Array, starts: Array, table: Array, total: int, place: Array, marks: Array, ranks: Array
) -> int:
    """As `class_of_each_tuple`, numbered in the order of their keys: a bit for every possible key, and how many are set
    before it. `marks` is zero everywhere before and after."""
    compounds, tuples = codes.shape
    for t in range(tuples):
        key = 0
        for c in range(compounds):
            key += table[starts[c] + codes[c, t]]
        marks[key >> 6] |= np.uint64(1) << np.uint64(key & 63)
    words = (total + 63) >> 6
    classes = 0
    for i in range(words):
        ranks[i] = classes
        classes += bits(marks[i])
    for t in range(tuples):
        key = 0
        for c in range(compounds):
            key += table[starts[c] + codes[c, t]]
        before = marks[key >> 6] & ((np.uint64(1) << np.uint64(key & 63)) - np.uint64(1))
        place[t] = ranks[key >> 6] + bits(before)
    marks[:words] = 0
    return classes


@compiled_inside
def bits(word: Any) -> int:
    """The bits of a word that are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@compiled
def classes_by_sample(codes: Array, starts: Array, table: Array, stamp: Array) -> int:
    """About how many classes there are: counted among the keys that a hash chooses, one in `SAMPLED`."""
    compounds, tuples = codes.shape
    seen = np.empty(tuples // 2 + 1, np.int64)
    mask = len(stamp) - 1
    classes = 0
    for t in range(tuples):
        key = 0
        for c in range(compounds):
            key += table[starts[c] + codes[c, t]]
        slot = hash_slot(key, mask)
        if slot % SAMPLED:
            continue
        # slots of chosen keys lie apart: those in between are theirs
        while stamp[slot] >= 0 and seen[stamp[slot]] != key:
            slot = (slot + 1) & mask
        if stamp[slot] < 0:
            if classes == len(seen):
                break
            stamp[slot] = classes
            seen[classes] = key
            classes += 1
    for i in range(classes):
        slot = hash_slot(seen[i], mask)
        while stamp[slot] != i:
            slot = (slot + 1) & mask
        seen[i] = slot
    for i in range(classes):
        stamp[seen[i]] = -1
    return classes * SAMPLED


@compiled_inside
def hash_slot(key: int, mask: int) -> int:
    """Where a key is looked for first in a hash table."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed & np.uint64(mask))  # type: ignore[return-value]


@compiled
def sizes_of(place: Array, counts: Array, classes: int) -> Array:
    """Records of each class."""
    sizes = np.zeros(classes, np.int64)
    for t in range(len(place)):
        sizes[place[t]] += counts[t]
    return sizes


@compiled
def lost_records(
    codes: Array, starts: Array, place: Array, counts: Array, bad: Array, lost: Array, width: int
) -> Array:
    """Records of each compound code that are lost: those in bad classes, those in classes that every finer node loses
    whole, and shares of classes that it loses in part (`lost`: how much of each class)."""
    found = np.zeros((3, width), np.float64)
    compounds, tuples = codes.shape
    for t in range(tuples):
        if bad[place[t]]:
            share = lost[place[t]]
            for c in range(compounds):
                entry = starts[c] + codes[c, t]
                found[0, entry] += counts[t]
                if share >= 1:
                    found[1, entry] += counts[t]
                elif share > 0:
                    found[2, entry] += share * counts[t]
    return found


@compiled
def small_classes_dense(
    codes: Array,
    starts: Array,
    table: Array,
    total: int,
    counts: Array,
    capped: Array,
    k: int,
    limit: int,
    cells: Array,
    found: Array,
) -> int:
    """As `small_classes`, where the keys are few enough to count without numbering the classes first.

    Counts stop at k, so that cells are narrow and stay in the cache; `capped` are the counts, or the most they hold.
    """
    compounds, tuples = codes.shape
    cells[:total] = 0
    for t in range(tuples):
        key = 0
        for c in range(compounds):
            key += table[starts[c] + codes[c, t]]
        cells[key] = min(cells[key] + capped[t], k)
    lost = 0
    for i in range(total):
        if cells[i] < k:
            lost += cells[i]
    if lost <= limit:
        found[:] = 0
        for t in range(tuples):
            key = 0
            for c in range(compounds):
                key += table[starts[c] + codes[c, t]]
            if cells[key] < k:
                for c in range(compounds):
                    found[starts[c] + codes[c, t]] += counts[t]
    return lost


@compiled
def small_classes(
    place: Array, counts: Array, sizes: Array, k: int, codes: Array, starts: Array, limit: int, found: Array
) -> int:
    """Records in classes below k; while they are within the limit also by compound code (`found`)."""
    lost = 0
    for i in range(len(sizes)):
        if sizes[i] < k:
            lost += sizes[i]
    if lost <= limit:
        found[:] = 0
        compounds, tuples = codes.shape
        for t in range(tuples):
            if sizes[place[t]] < k:
                for c in range(compounds):
                    found[starts[c] + codes[c, t]] += counts[t]
    return lost


@compiled
def gains(
    found: Array,
    levels: Array,
    members: Array,
    unpacked: Array,
    starts: Array,
    costs: Array,
    tops: Array,
    offsets: Array,
    first: Array,
) -> Array:
    """G_j: what the lost records cost more than if they had been kept at these levels, column by column."""
    result = np.zeros(len(levels))
    compounds, width = members.shape
    for c in range(compounds):
        for m in range(width):
            j = members[c, m]
            if j < 0:
                break
            offset = offsets[j, levels[j]]
            for i in range(starts[c], starts[c + 1]):
                if found[i] > 0:
                    code = unpacked[m, i]
                    result[j] += found[i] * (tops[first[j] + code] - costs[offset + code])
    return result


@compiled
def gains_below(
    found: Array,
    at: Array,
    levels: Array,
    members: Array,
    unpacked: Array,
    starts: Array,
    costs: Array,
    tops: Array,
    nodes: Array,
    offsets: Array,
    first: Array,
    least: Array,
    least_at: Array,
    result: Array,
) -> None:
    """Add G_jl: what lost records cost more at least than if they had been kept at level l, for all levels up to these.

    `found` records of each compound code are lost, or others instead that are the same at the levels `at`: from there
    on the difference is theirs too, below it is the smallest under their node (`least`).
    """
    compounds, width = members.shape
    of_code = np.zeros(len(tops))
    for c in range(compounds):
        for m in range(width):
            j = members[c, m]
            if j < 0:
                break
            for i in range(starts[c], starts[c + 1]):
                of_code[first[j] + unpacked[m, i]] += found[i]
    for j in range(len(levels)):
        last = first[j + 1] if j + 1 < len(first) else len(tops)
        for code in range(last - first[j]):
            lost = of_code[first[j] + code]
            if lost > 0:
                node = nodes[offsets[j, at[j]] + code]
                for level in range(at[j]):
                    result[j, level] += lost * least[least_at[j, at[j], level] + node]
                for level in range(at[j], levels[j] + 1):
                    result[j, level] += lost * (tops[first[j] + code] - costs[offsets[j, level] + code])


@compiled
def factors_of(
    sums: Array, gains: Array, bases: Array, scales: Array, weights: Array, heights: Array, geometric: bool
) -> Array:
    """The factor of each column and level, where column j costs gains[j, l] more at level l than if all were kept.

    Who is lost costs no less at a coarser level, so a factor is never below that of a finer level.
    """
    found = np.ones(sums.shape)
    for j in range(len(gains)):
        cost = 0.0
        for level in range(heights[j]):
            cost = max(cost, sums[j, level] + gains[j, level])
            part = max((cost - bases[j]) / scales[j], 0.0) if scales[j] > 0 else 0.0
            found[j, level] = (1 + part) ** weights[j] if geometric else np.exp(weights[j] * part)
    return found


@compiled
def product_at(factors: Array, levels: Array) -> float:
    """The product of the factors of a node."""
    product = 1.0
    for j in range(len(levels)):
        product *= factors[j, levels[j]]
    return product


@compiled
def product_of(
    levels: Array, sums: Array, gains: Array, bases: Array, scales: Array, weights: Array, geometric: bool
) -> float:
    """The product of a node's factors where column j costs gains[j] more than with nothing suppressed."""
    product = 1.0
    for j in range(len(levels)):
        part = max((sums[j, levels[j]] + gains[j] - bases[j]) / scales[j], 0.0) if scales[j] > 0 else 0.0
        product *= (1 + part) ** weights[j] if geometric else np.exp(weights[j] * part)
    return product


@compiled
def raise_bounds(bounds: Array, strides: Array, low: Array, levels: Array, factors: Array, target: float) -> int:
    """Raise the lower bounds of all nodes at or below a node; factors[j, l] is column j's at level l. How many have
    reached the target."""
    columns = len(levels)
    reached = 0
    at = low.copy()
    prefix = np.ones(columns + 1)
    base = 0
    j = 0
    last = columns - 1
    while True:
        # descend to the last column with the prefix products filled in
        while j < last:
            prefix[j + 1] = prefix[j] * factors[j, at[j]]
            base += (at[j] - low[j]) * strides[j]
            j += 1
        for level in range(low[last], levels[last] + 1):
            value = prefix[last] * factors[last, level]
            spot = base + (level - low[last]) * strides[last]
            if value > bounds[spot]:
                reached += bounds[spot] < target and value >= target
                bounds[spot] = value
        j = last - 1
        while j >= 0:
            base -= (at[j] - low[j]) * strides[j]
            at[j] += 1
            if at[j] <= levels[j]:
                break
            at[j] = low[j]
            j -= 1
        if j < 0:
            return reached


@compiled
def highest_below(bounds: Array, limit: float, candidates: Array, count: int) -> Any:
    """The open node with the highest lower bound under the limit, or -1, and how many candidates are left.

    Bounds rise and the limit falls, so what is no candidate now will never be one again.
    """
    best = -1
    value = -1.0
    left = 0
    for i in range(count):
        node = candidates[i]
        bound = bounds[node]
        if bound < limit:
            candidates[left] = node
            left += 1
            if bound > value:
                best, value = node, bound
    return best, left


@compiled
def next_open(bounds: Array, limit: float, order: Array, at: int) -> int:
    """The first place in an order, from a place on, of a node whose bound is under the limit; else past its end."""
    while at < len(order) and not bounds[order[at]] < limit:
        at += 1
    return at


@compiled
def lowest(bounds: Array) -> float:
    """The lowest bound of an open node; infinite if none is open."""
    value = np.inf
    for bound in bounds:
        value = min(value, bound)
    return value


@compiled
def spread_over_classes(
    place: Array, wanted: Array, entry_tuple: Array, entry_code: Array, entry_count: Array, labels: int, classes: int
) -> Any:
    """(class, code, count) of the wanted classes (their new number, -1: not wanted), sorted by class, then by code."""
    dense = np.zeros(classes * labels, np.int64)
    for e in range(len(entry_tuple)):
        number = wanted[place[entry_tuple[e]]]
        if number >= 0:
            dense[number * labels + entry_code[e]] += entry_count[e]
    filled = 0
    for value in dense:
        if value > 0:
            filled += 1
    class_, code, count = np.empty(filled, np.int64), np.empty(filled, np.int64), np.empty(filled, np.int64)
    at = 0
    for i in range(len(dense)):
        if dense[i] > 0:
            class_[at], code[at], count[at] = i // labels, i % labels, dense[i]
            at += 1
    return class_, code, count
