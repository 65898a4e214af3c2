"""The hot loops of the search by a measure of class sizes: sums of a node's classes, bounds of all nodes, and what is
looked at next. Compiled by numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.anonymization.search.kernels import hash_slot, look_up
from shoal.compiled import compiled, compiled_inside, compiled_part
from shoal.table import Array

# the measures as the loops know them
DISCERNIBILITY, AVERAGE_CLASS_SIZE = 0, 1
# a count for every possible key beats numbering the classes while keys are not many more than tuples
DENSE = 4
# a number of every possible key beats hashing while keys are not very many more
STAMPED = 16
# keys that are filled in at a time
BLOCK = 2048


@compiled
def sums_of_classes(
    levels: Array,
    members: Array,
    unpacked: Array,
    starts: Array,
    nodes: Array,
    offsets: Array,
    cards: Array,
    table: Array,
    codes: Array,
    counts: Array,
    place: Array,
    stamp: Array,
    keys: Array,
    keys_of_classes: Array,
    sizes: Array,
    k: int,
) -> Any:
    """Of the classes of a node with k members and more: how many, the sum of their squares, and how many of k they
    could be split into; and the members of all others. The arrays are those of `look_up` and `class_of_each_tuple`."""
    total = look_up(levels, members, unpacked, starts, nodes, offsets, cards, table)
    fill_keys(codes, starts, table, keys)
    tuples = codes.shape[1]
    if total <= min(len(sizes), DENSE * tuples):
        classes = total
        sizes[:total] = 0
        for t in range(tuples):
            sizes[keys[t]] += counts[t]
    else:
        classes = count_numbered(keys, counts, total, place, stamp, keys_of_classes, sizes)
    enough = small = parts = 0
    squares = 0.0
    for c in range(classes):
        size = sizes[c]
        if size < k:
            small += size
        else:
            enough += 1
            squares += float(size) * float(size)
            parts += size // k
    return enough, squares, parts, small


@compiled_part
def fill_keys(codes: Array, starts: Array, table: Array, keys: Array) -> None:
    """The key of each tuple, some at a time so that they stay in the cache."""
    compounds, tuples = codes.shape
    for first in range(0, tuples, BLOCK):
        last = min(first + BLOCK, tuples)
        for c in range(compounds):
            part, own = table[starts[c] :], codes[c]
            if c == 0:
                for t in range(first, last):
                    keys[t] = part[own[t]]
            else:
                for t in range(first, last):
                    keys[t] += part[own[t]]


@compiled_part
def count_numbered(
    keys: Array, counts: Array, total: int, place: Array, stamp: Array, keys_of_classes: Array, sizes: Array
) -> int:
    """As `class_of_each_tuple` by the keys of tuples, and the sizes of classes."""
    tuples = len(counts)
    classes = 0
    if total <= min(len(stamp), STAMPED * tuples):
        for t in range(tuples):
            key = keys[t]
            found = stamp[key]
            if found < 0:
                found = classes
                stamp[key] = found
                keys_of_classes[found] = key
                sizes[found] = 0
                classes += 1
            place[t] = found
            sizes[found] += counts[t]
        for c in range(classes):
            stamp[keys_of_classes[c]] = -1
        return classes
    mask = 1023
    while mask < 2 * tuples:
        mask = 2 * mask + 1
    mask = min(mask, len(stamp) - 1)
    for t in range(tuples):
        key = keys[t]
        slot = hash_slot(key, mask)
        found = stamp[slot]
        while found >= 0 and keys_of_classes[found] != key:
            slot = (slot + 1) & mask
            found = stamp[slot]
        if found < 0:
            found = classes
            stamp[slot] = found
            keys_of_classes[found] = key
            sizes[found] = 0
            classes += 1
        place[t] = found
        sizes[found] += counts[t]
    for c in range(classes):
        slot = hash_slot(keys_of_classes[c], mask)
        while stamp[slot] != c:
            slot = (slot + 1) & mask
        keys_of_classes[c] = slot
    for c in range(classes):
        stamp[keys_of_classes[c]] = -1
    return classes


@compiled
def note_look(
    levels: Array, figures: Array, extents: Array, strides: Array, known: Array, rule: Array, is_open: Array
) -> None:
    """What a look at a node (its levels counted from the lowest) tells about all coarser and all finer nodes."""
    place = 0
    for j in range(len(levels)):
        place += levels[j] * strides[j]
    is_open[place] = False
    _raise(levels, extents - 1, strides, figures[:1], known[:1], known, rule, is_open)
    _raise(np.zeros_like(levels), levels, strides, figures[1:], known[1:], known, rule, is_open)


@compiled
def close_all(known: Array, rule: Array, is_open: Array) -> None:
    """Close what cannot be the best by a rule that has changed."""
    for place in range(len(is_open)):
        if is_open[place]:
            is_open[place] = _may_be_best(known, rule, place)


@compiled
def lowest_open(known: Array, rule: Array, is_open: Array) -> float:
    """The least score that an open node can have; infinite if none is open."""
    lowest = np.inf
    for place in range(len(is_open)):
        if is_open[place]:
            lowest = min(lowest, _least(known, rule, place))
    return lowest


@compiled
def order_open(
    forecast: Array,
    needed: Array,
    spread: Array,
    extents: Array,
    strides: Array,
    is_open: Array,
    chances: Array,
    scores: Array,
    heap: Array,
) -> int:
    """How many open nodes each is expected to close, as a heap of the open ones with the most on top; how many it has.

    `chances` become how likely a node closes all finer and all coarser ones: its forecast beside what is needed.
    """
    finer, coarser = is_open.astype(np.int32), is_open.astype(np.int32)
    for j in range(len(extents)):
        step = strides[j]
        for start in range(0, len(is_open), step * extents[j]):
            last = start + step * extents[j]
            for place in range(start + step, last):
                finer[place] += finer[place - step]
            for place in range(last - step - 1, start - 1, -1):
                coarser[place] += coarser[place + step]
    count = 0
    for place in range(len(is_open)):
        if is_open[place]:
            for i in range(2):
                sure = (forecast[i, place] - needed[i]) / spread[i]
                chances[i, place] = 1 / (1 + np.exp(-1.7 * min(max(sure, -20.0), 20.0)))
            scores[place] = _expected(chances, place, finer[place], coarser[place])
            heap[count] = place
            count += 1
    for at in range(count // 2 - 1, -1, -1):
        _sink(heap, count, at, scores)
    return count


@compiled
def next_look(
    heap: Array,
    count: int,
    scores: Array,
    chances: Array,
    extents: Array,
    strides: Array,
    is_open: Array,
    levels: Array,
    share: float,
) -> int:
    """The open node that is expected to close the most is on top of the heap, `levels` are its own; how many it has.

    What a node closes only gets less: scores from before are counted again from the highest on, until one holds.
    """
    lowest = np.zeros_like(levels)
    while count > 0:
        best = heap[0]
        if not is_open[best]:
            count -= 1
            heap[0] = heap[count]
        else:
            for j in range(len(levels)):
                levels[j] = best // strides[j] % extents[j]
            finer = _count(lowest, levels, strides, is_open)
            coarser = _count(levels, extents - 1, strides, is_open)
            before = scores[best]
            scores[best] = _expected(chances, best, finer, coarser)
            if scores[best] >= share * before:
                return count
        _sink(heap, count, 0, scores)
    return count


@compiled_inside
def _expected(chances: Array, place: int, finer: int, coarser: int) -> Any:
    """How many open nodes a look closes: itself, all finer ones, all coarser ones."""
    return 1 + chances[0, place] * (finer - 1) + chances[1, place] * (coarser - 1)


@compiled_part
def _sink(heap: Array, count: int, at: int, scores: Array) -> None:
    """Move a node of a heap down until none below it has a higher score."""
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and scores[heap[below + 1]] > scores[heap[below]]:
            below += 1
        if scores[heap[below]] <= scores[heap[at]]:
            return
        heap[at], heap[below] = heap[below], heap[at]
        at = below


@compiled
def note_figures(
    which: Array, found: Array, needed: Array, parts: Array, squares: Array, rights: Array, errors: Array
) -> None:
    """Add figures of nodes that were looked at to the equations of least squares, and how far the forecast before was
    from them; `which` parts each is the sum of. What is near to what is needed counts most."""
    for n in range(len(which)):
        for i in range(2):
            far = found[n, i] - needed[i]
            weight = 1 / (1 + far * far) if np.isfinite(needed[i]) else 1.0
            error = found[n, i]
            for a in which[n]:
                error -= parts[i, a]
                rights[i, a] += weight * found[n, i]
                for b in which[n]:
                    squares[i, a, b] += weight
            errors[0, i] = 0.95 * errors[0, i] + weight * error * error
            errors[1, i] = 0.95 * errors[1, i] + weight


@compiled_part
def _raise(
    first: Array, last: Array, strides: Array, figures: Array, some: Array, known: Array, rule: Array, is_open: Array
) -> None:
    """Raise `some` of what is known of all nodes from one to another, and close those that cannot be the best."""
    columns = len(first)
    at = first.copy()
    more = True
    while more:
        start = 0
        for j in range(columns - 1):
            start += at[j] * strides[j]
        for place in range(start + first[columns - 1], start + last[columns - 1] + 1):
            for i in range(len(figures)):
                some[i, place] = max(some[i, place], figures[i])
            if is_open[place]:
                is_open[place] = _may_be_best(known, rule, place)
        more = _step(at, first, last)


@compiled_part
def _count(first: Array, last: Array, strides: Array, is_open: Array) -> int:
    columns = len(first)
    at = first.copy()
    found = 0
    more = True
    while more:
        start = 0
        for j in range(columns - 1):
            start += at[j] * strides[j]
        for place in range(start + first[columns - 1], start + last[columns - 1] + 1):
            found += is_open[place]
        more = _step(at, first, last)
    return found


@compiled_inside
def _step(at: Array, first: Array, last: Array) -> bool:
    """The next levels of all columns but the last, from some to others; whether there are."""
    for j in range(len(at) - 2, -1, -1):
        at[j] += 1
        if at[j] <= last[j]:
            return True
        at[j] = first[j]
    return False


@compiled_inside
def _may_be_best(known: Array, rule: Array, place: int) -> Any:
    """Whether a node can be feasible, and as good as the best found with no more suppressed, or better."""
    limit, target, same, suppressed = rule[0], rule[1], rule[2], rule[3]
    if known[1, place] > limit:
        return False
    least = _least(known, rule, place)
    return least < target or (least <= same and known[1, place] <= suppressed)


@compiled_inside
def _least(known: Array, rule: Array, place: int) -> Any:
    """The least score that a node can have, by what finer and coarser ones have told."""
    measure, k, members = rule[4], rule[5], rule[6]
    up, first, second = known[0, place], known[2, place], known[3, place]
    if measure == DISCERNIBILITY:
        return (max(up, k * members) + first) / (members * members)
    # one more class is that of the suppressed
    joined = np.floor(min(-up, members / k) - first + 1e-9)
    return 1 / (max(min(joined, -second), 0.0) + 1)
