"""Cuts of records in two, again and again: where they leave the least spread, at medians, or with k people per side.

Records lie in rows of a matrix and are moved in place, so that what stays together ends up in one piece of memory. A
cut sends what is `<= x` to one side: identical records are never separated.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import nextafter

int64 = cython.typedef(cython.longlong)
uint64 = cython.typedef(cython.ulonglong)
uint8 = cython.typedef(cython.uchar)
float32 = cython.typedef(cython.float)
float64 = cython.typedef(cython.double)
# the number of a record
Name = cython.fused_type(cython.int, cython.longlong)
# what is `<= value` in a column goes to one side; column -1 where there is no cut
Cut = cython.struct(column=cython.longlong, value=cython.double)

_WORD = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
_MIX_1 = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
_MIX_2 = cython.declare(cython.ulonglong, 0x94D049BB133111EB)
_SEEDS = cython.declare(cython.ulonglong, 0xD1342543DE82EF95)
_INFINITY = cython.declare(cython.double, float("inf"))
# bins of a histogram of records, and of people
_BINS = cython.declare(cython.longlong, 32)
_BINS_OF_PEOPLE = cython.declare(cython.longlong, 256)
# larger nodes are judged by a sample of so many records: the cut is as good and costs nothing
_SAMPLED = cython.declare(cython.longlong, 4096)
_SAMPLE = cython.declare(cython.longlong, 1024)
# larger nodes of people are cut by histograms
_SORTED = cython.declare(cython.longlong, 4096)
# shorter stretches are sorted by insertion
_SHORT = cython.declare(cython.longlong, 15)
# how cuts are chosen
STRICT, RELAXED, BEST = 0, 1, 2
_RELAXED = cython.declare(cython.longlong, RELAXED)
_BEST = cython.declare(cython.longlong, BEST)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _single(x: float64) -> float32:
    """A number rounded to 32 bits, in Python as in C."""
    return cython.cast(float32, x) if cython.compiled else np.float32(x)


# --- sorting


def rank(keys: cython.const[float64][::1], ranked: int64[::1]) -> None:
    """Order the numbers in `ranked` by the keys they point at: quicksort around the median of three.

    What is equal comes out in an order that depends on the keys alone, the same on every machine.
    """
    # the keys move along: to look up each through its number would miss the cache
    own: float64[::1] = np.asarray(keys)[np.asarray(ranked)]
    stack: int64[::1] = np.empty(128, np.int64)
    with cython.nogil:
        _sort(own, ranked, 0, ranked.shape[0], stack)


def sort_stretches(
    keys: float64[::1], names: Name[::1], starts: cython.const[int64][::1], stops: cython.const[int64][::1]
) -> None:
    """Sort each of some stretches by its keys, as `rank` does; the names move along."""
    cython.declare(stretch=int64)
    stack: int64[::1] = np.empty(128, np.int64)
    with cython.nogil:
        for stretch in range(starts.shape[0]):
            _sort(keys, names, starts[stretch], stops[stretch], stack)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort(keys: float64[::1], names: Name[::1], start: int64, stop: int64, stack: int64[::1]) -> cython.void:
    cython.declare(depth=int64, low=int64, high=int64, middle=int64, i=int64, at=int64, key=float64)
    name: Name
    depth = 2
    stack[0] = start
    stack[1] = stop - 1
    while depth > 0:
        depth -= 2
        low = stack[depth]
        high = stack[depth + 1]
        while high - low >= _SHORT:
            middle = _part(keys, names, low, high)
            # the larger side waits: the stack never grows past the logarithm of the records
            if high - middle > middle - low:
                stack[depth] = middle + 1
                stack[depth + 1] = high
                high = middle - 1
            else:
                stack[depth] = low
                stack[depth + 1] = middle - 1
                low = middle + 1
            depth += 2
        for i in range(low + 1, high + 1):
            key = keys[i]
            name = names[i]
            at = i
            while at > low and key < keys[at - 1]:
                keys[at] = keys[at - 1]
                names[at] = names[at - 1]
                at -= 1
            keys[at] = key
            names[at] = name


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _part(keys: float64[::1], names: Name[::1], low: int64, high: int64) -> int64:
    """Move what is smaller than the median of three to the front; the place of that median."""
    cython.declare(i=int64, j=int64, pivot=float64)
    middle: int64 = (low + high) >> 1
    if keys[middle] < keys[low]:
        _exchange(keys, names, low, middle)
    if keys[high] < keys[middle]:
        _exchange(keys, names, middle, high)
    if keys[middle] < keys[low]:
        _exchange(keys, names, low, middle)
    pivot = keys[middle]
    _exchange(keys, names, high, middle)
    i = low
    j = high - 1
    while True:
        while i < high and keys[i] < pivot:
            i += 1
        while j >= low and pivot < keys[j]:
            j -= 1
        if i >= j:
            break
        _exchange(keys, names, i, j)
        i += 1
        j -= 1
    _exchange(keys, names, i, high)
    return i


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exchange(keys: float64[::1], names: Name[::1], a: int64, b: int64) -> cython.void:
    key: float64 = keys[a]
    name: Name = names[a]
    keys[a] = keys[b]
    keys[b] = key
    names[a] = names[b]
    names[b] = name


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sort_values(values: float32[::1], size: int64) -> cython.void:
    """Sort in place (a heap: no stack, no worst case)."""
    cython.declare(at=int64, child=int64, value=float32)
    start: int64 = size // 2
    end: int64 = size
    while end > 1:
        if start > 0:
            start -= 1
            value = values[start]
        else:
            end -= 1
            value = values[end]
            values[end] = values[0]
        at = start
        child = 2 * at + 1
        while child < end:
            if child + 1 < end and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[at] = values[child]
            at = child
            child = 2 * at + 1
        values[at] = value


# --- cuts that leave the least spread


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _swap_rows(rows: float32[:, ::1], order: Name[::1], a: int64, b: int64) -> cython.void:
    """Exchange two records and their numbers."""
    cython.declare(j=int64, x=float32)
    name: Name = order[a]
    for j in range(rows.shape[1]):
        x = rows[a, j]
        rows[a, j] = rows[b, j]
        rows[b, j] = x
    order[a] = order[b]
    order[b] = name


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _partition_rows(rows: float32[:, ::1], order: Name[::1], start: int64, stop: int64, at: Cut) -> int64:
    """Move the records of one side of a cut to the front; where the others start."""
    left: int64 = start
    right: int64 = stop - 1
    while True:
        while left <= right and cython.cast(float64, rows[left, at.column]) <= at.value:
            left += 1
        while left <= right and cython.cast(float64, rows[right, at.column]) > at.value:
            right -= 1
        if left >= right:
            return left
        _swap_rows(rows, order, left, right)
        left += 1
        right -= 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _random(state: uint64[::1]) -> float64:
    """A number in [0, 1): splitmix64, the same on every machine."""
    z: uint64 = cython.cast(uint64, state[0]) + _GOLDEN & _WORD
    state[0] = z
    z = (z ^ (z >> 30)) * _MIX_1 & _WORD
    z = (z ^ (z >> 27)) * _MIX_2 & _WORD
    z = z ^ (z >> 31)
    return cython.cast(float64, z >> 11) / 9007199254740992.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _best_binned(
    rows: float32[:, ::1], start: int64, stop: int64, least: int64, tried: cython.const[uint8][:, ::1], node: int64,
    jitter: float64, state: uint64[::1], bins: float64[:, ::1],
) -> Cut:  # fmt: skip
    """The column and value of the cut with the largest gain, from histograms; column -1 where there is none.

    gain = n_left n_right / n (mean_left - mean_right)^2, the fall of the sum of squares. `tried[node]` are columns that
    are left out.
    """
    cython.declare(i=int64, j=int64, b=int64, low=float32, high=float32, x=float32, scale=float32)
    cython.declare(factor=float64, total=float64, count=float64, summed=float64, rest=float64, apart=float64)
    cython.declare(gain=float64)
    size: int64 = stop - start
    step: int64 = 1 if size <= _SAMPLED else size // _SAMPLE
    taken: int64 = (size + step - 1) // step
    # a sample must leave some on either side, so that the whole leaves enough
    need: float64 = least
    if step > 1:
        need = max(2.0, 1.5 * least / step + 1)
    best: float64 = 0
    found: Cut = Cut(column=-1, value=0)
    for j in range(rows.shape[1]):
        if tried[node, j]:
            continue
        low = high = rows[start, j]
        i = start
        while i < stop:
            x = rows[i, j]
            if x < low:
                low = x
            if x > high:
                high = x
            i += step
        factor = 1.0 + jitter * _random(state) if jitter > 0 else 1.0
        if not low < high:
            continue
        for b in range(_BINS):
            bins[b, 0] = bins[b, 1] = bins[b, 2] = 0
        scale = _single(_BINS / cython.cast(float64, high - low) * 0.99999)
        total = 0
        i = start
        while i < stop:
            x = rows[i, j]
            b = cython.cast(int64, (x - low) * scale)
            bins[b, 0] += 1
            bins[b, 1] += x
            if bins[b, 0] == 1 or x > bins[b, 2]:
                bins[b, 2] = x
            total += cython.cast(float64, x)
            i += step
        count = 0
        summed = 0
        for b in range(_BINS - 1):
            if bins[b, 0] == 0:
                continue
            count += bins[b, 0]
            summed += bins[b, 1]
            rest = taken - count
            if count < need:
                continue
            if rest < need:
                break
            apart = summed / count - (total - summed) / rest
            gain = count * rest / taken * apart * apart * factor
            if gain > best:
                best = gain
                found.column = j
                found.value = bins[b, 2]
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _best_exact(
    rows: float32[:, ::1], start: int64, stop: int64, least: int64, tried: cython.const[uint8][:, ::1], node: int64,
    values: float32[::1],
) -> Cut:  # fmt: skip
    """The same over every cut between two values that leaves at least `least` on either side; -1 where none does."""
    cython.declare(i=int64, j=int64, count=int64, total=float64, summed=float64, apart=float64, gain=float64)
    size: int64 = stop - start
    best: float64 = 0
    found: Cut = Cut(column=-1, value=0)
    for j in range(rows.shape[1]):
        if tried[node, j]:
            continue
        for i in range(size):
            values[i] = rows[start + i, j]
        _sort_values(values, size)
        total = 0
        for i in range(size):
            total += cython.cast(float64, values[i])
        summed = 0
        for i in range(size - least):
            summed += cython.cast(float64, values[i])
            if i + 1 < least or values[i] == values[i + 1]:
                continue
            count = i + 1
            apart = summed / count - (total - summed) / (size - count)
            gain = cython.cast(float64, count) * (size - count) / size * apart * apart
            if gain > best or found.column < 0:
                best = gain
                found.column = j
                found.value = values[i]
    return found


def cut(
    rows: float32[:, ::1], order: Name[::1], start: int64, stop: int64, most: int64, least: int64, jitter: float64,
    seed: uint64, first: uint8[::1],
) -> int64:  # fmt: skip
    """Cut the records start .. stop into blocks of at most `most` and at least `least`; mark where blocks start.

    Records that no cut can tell apart stay in one block, whatever its size. How many blocks there are.
    """
    cython.declare(a=int64, b=int64, middle=int64, found=Cut)
    state: uint64[::1] = np.empty(1, np.uint64)
    bins: float64[:, ::1] = np.empty((_BINS, 3), np.float64)
    tried: uint8[:, ::1] = np.zeros((1, rows.shape[1]), np.uint8)
    values: float32[::1] = np.empty(stop - start, np.float32)
    stack: int64[:, ::1] = np.empty((256, 2), np.int64)
    depth: int64 = 1
    blocks: int64 = 0
    with cython.nogil:
        state[0] = seed * _SEEDS + start & _WORD
        stack[0, 0] = start
        stack[0, 1] = stop
        while depth > 0:
            depth -= 1
            a = stack[depth, 0]
            b = stack[depth, 1]
            middle = a
            if b - a > most and b - a >= 2 * least:
                found = _best_binned(rows, a, b, least, tried, 0, jitter, state, bins)
                if found.column >= 0:
                    middle = _partition_rows(rows, order, a, b, found)
                if middle - a < least or b - middle < least:
                    found = _best_exact(rows, a, b, least, tried, 0, values)
                    middle = a if found.column < 0 else _partition_rows(rows, order, a, b, found)
            if middle > a:
                # the larger side first onto the stack: it never grows past the logarithm of the records
                if middle - a > b - middle:
                    stack[depth, 0] = a
                    stack[depth, 1] = middle
                    stack[depth + 1, 0] = middle
                    stack[depth + 1, 1] = b
                else:
                    stack[depth, 0] = middle
                    stack[depth, 1] = b
                    stack[depth + 1, 0] = a
                    stack[depth + 1, 1] = middle
                depth += 2
            else:
                first[a] = True
                blocks += 1
    return blocks


# --- Mondrian's cuts


def cut_nodes(
    rows: float32[:, ::1], order: Name[::1], nodes: cython.const[int64][:, ::1], tried: cython.const[uint8][:, ::1],
    k: int64, style: int64, middle: int64[::1], column: int64[::1],
) -> None:  # fmt: skip
    """Cut each node in two, in place; column -1 where no cut is left. No cut is made in columns that a node tried."""
    cython.declare(node=int64, start=int64, stop=int64, found=Cut)
    largest: int64 = max((np.asarray(nodes)[:, 1] - np.asarray(nodes)[:, 0]).max(initial=0), 0)
    values: float32[::1] = np.empty(largest, np.float32)
    width: float32[::1] = np.empty(rows.shape[1], np.float32)
    state: uint64[::1] = np.zeros(1, np.uint64)
    bins: float64[:, ::1] = np.empty((_BINS, 3), np.float64)
    with cython.nogil:
        for node in range(nodes.shape[0]):
            start = nodes[node, 0]
            stop = nodes[node, 1]
            column[node] = -1
            middle[node] = start
            if stop - start < 2 * k:
                continue
            if style == _BEST:
                found = _best_cut(rows, start, stop, k, tried, node, state, bins, values)
                column[node] = found.column
                if found.column >= 0:
                    middle[node] = _partition_rows(rows, order, start, stop, found)
            else:
                column[node] = _median_cut(rows, order, start, stop, k, style, tried, node, middle, width, values)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _best_cut(
    rows: float32[:, ::1], start: int64, stop: int64, least: int64, tried: cython.const[uint8][:, ::1], node: int64,
    state: uint64[::1], bins: float64[:, ::1], values: float32[::1],
) -> Cut:  # fmt: skip
    """The column and value of the best cut that leaves `least` on either side, but not in columns that were tried."""
    cython.declare(i=int64, found=Cut)
    count: int64 = 0
    found = _best_binned(rows, start, stop, least, tried, node, 0.0, state, bins)
    if found.column >= 0:
        for i in range(start, stop):
            if cython.cast(float64, rows[i, found.column]) <= found.value:
                count += 1
    if found.column < 0 or not least <= count <= stop - start - least:
        found = _best_exact(rows, start, stop, least, tried, node, values)
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _median_cut(
    rows: float32[:, ::1], order: Name[::1], start: int64, stop: int64, k: int64, style: int64,
    tried: cython.const[uint8][:, ::1], node: int64, middle: int64[::1], width: float32[::1], values: float32[::1],
) -> int64:  # fmt: skip
    """Cut the widest column that can be cut, nearest to its median; the column."""
    cython.declare(i=int64, j=int64, other=int64, below=int64, equal=int64, behind=int64, before_legal=cython.bint)
    cython.declare(behind_legal=cython.bint, low=float32, high=float32, x=float32, median=float32, under=float64)
    size: int64 = stop - start
    for j in range(rows.shape[1]):
        width[j] = 0
        if not tried[node, j]:
            low = high = rows[start, j]
            for i in range(start + 1, stop):
                x = rows[i, j]
                low = x if x < low else low
                high = x if x > high else high
            width[j] = high - low
    while True:
        j = 0
        for other in range(1, rows.shape[1]):
            if width[other] > width[j]:
                j = other
        if width[j] <= 0:
            return -1
        width[j] = 0
        for i in range(size):
            values[i] = rows[start + i, j]
        median = _nth(values, size, size // 2)
        below = equal = 0
        for i in range(start, stop):
            if rows[i, j] < median:
                below += 1
            elif rows[i, j] == median:
                equal += 1
        under = nextafter(median, -_INFINITY)
        if style == _RELAXED:
            _partition_rows(rows, order, start, stop, Cut(column=j, value=under))
            _partition_rows(rows, order, start + below, stop, Cut(column=j, value=median))
            middle[node] = start + size // 2
            return j
        # two cuts lie nearest to the median: before it and behind it
        behind = below + equal
        before_legal = k <= below <= size - k
        behind_legal = k <= behind <= size - k
        if before_legal and (not behind_legal or abs(2 * below - size) <= abs(2 * behind - size)):
            middle[node] = _partition_rows(rows, order, start, stop, Cut(column=j, value=under))
            return j
        if behind_legal:
            middle[node] = _partition_rows(rows, order, start, stop, Cut(column=j, value=median))
            return j


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _nth(values: float32[::1], size: int64, nth: int64) -> float32:
    """The nth smallest value; `values` are reordered."""
    cython.declare(i=int64, j=int64, pivot=float32, value=float32)
    left: int64 = 0
    right: int64 = size - 1
    while left < right:
        pivot = values[(left + right) // 2]
        i = left
        j = right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                value = values[i]
                values[i] = values[j]
                values[j] = value
                i += 1
                j -= 1
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            break
    return values[nth]


# --- cuts of rows that stand for several people each


def cut_counted_nodes(
    rows: float32[:, ::1], people: cython.const[float64][::1], order: Name[::1], nodes: cython.const[int64][:, ::1],
    tried: cython.const[uint8][:, ::1], k: int64, middle: int64[::1], column: int64[::1],
) -> None:  # fmt: skip
    """Cut each node in two with k people on either side, in place; column -1 where no cut is left."""
    cython.declare(node=int64, start=int64, stop=int64, i=int64, whole=float64, found=Cut)
    largest: int64 = max((np.asarray(nodes)[:, 1] - np.asarray(nodes)[:, 0]).max(initial=0), 0)
    values: float64[::1] = np.empty(largest)
    ranked: int64[::1] = np.empty(largest, np.int64)
    stack: int64[::1] = np.empty(128, np.int64)
    bins: float64[:, ::1] = np.empty((_BINS_OF_PEOPLE, 3))
    with cython.nogil:
        for node in range(nodes.shape[0]):
            start = nodes[node, 0]
            stop = nodes[node, 1]
            column[node] = -1
            middle[node] = start
            whole = 0
            for i in range(start, stop):
                whole += people[order[i]]
            if whole < 2 * k or stop - start < 2:
                continue
            found = Cut(column=-1, value=0)
            if stop - start > _SORTED:
                found = _best_by_bins(rows, people, order, start, stop, k, whole, tried, node, bins)
            if found.column < 0:
                found = _best_by_values(rows, people, order, start, stop, k, whole, tried, node, values, ranked, stack)
            column[node] = found.column
            if found.column >= 0:
                middle[node] = _partition_rows(rows, order, start, stop, found)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _best_by_values(
    rows: float32[:, ::1], people: cython.const[float64][::1], order: Name[::1], start: int64, stop: int64, k: int64,
    whole: float64, tried: cython.const[uint8][:, ::1], node: int64, values: float64[::1], ranked: int64[::1],
    stack: int64[::1],
) -> Cut:  # fmt: skip
    """The cut with the largest gain of all between two values: n_left n_right / n (mean_left - mean_right)^2."""
    cython.declare(i=int64, j=int64, own=float64, total=float64, held=float64, summed=float64, apart=float64)
    cython.declare(gain=float64)
    size: int64 = stop - start
    best: float64 = -1
    found: Cut = Cut(column=-1, value=0)
    for j in range(rows.shape[1]):
        if tried[node, j]:
            continue
        total = 0
        for i in range(size):
            values[i] = rows[start + i, j]
            ranked[i] = start + i
            total += people[order[start + i]] * values[i]
        _sort(values, ranked, 0, size, stack)
        held = summed = 0
        for i in range(size - 1):
            own = people[order[ranked[i]]]
            held += own
            summed += own * values[i]
            if whole - held < k:
                break
            if held < k or values[i] == values[i + 1]:
                continue
            apart = summed / held - (total - summed) / (whole - held)
            gain = held * (whole - held) / whole * apart * apart
            if gain > best:
                best = gain
                found.column = j
                found.value = values[i]
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _best_by_bins(
    rows: float32[:, ::1], people: cython.const[float64][::1], order: Name[::1], start: int64, stop: int64, k: int64,
    whole: float64, tried: cython.const[uint8][:, ::1], node: int64, bins: float64[:, ::1],
) -> Cut:  # fmt: skip
    """The same from histograms; column -1 where they show no cut. A bin: people, their sum, the largest value."""
    cython.declare(i=int64, j=int64, b=int64, low=float32, high=float32, x=float32, scale=float64, own=float64)
    cython.declare(total=float64, held=float64, summed=float64, apart=float64, gain=float64)
    best: float64 = -1
    found: Cut = Cut(column=-1, value=0)
    for j in range(rows.shape[1]):
        if tried[node, j]:
            continue
        low = high = rows[start, j]
        for i in range(start, stop):
            x = rows[i, j]
            low = x if x < low else low
            high = x if x > high else high
        if not low < high:
            continue
        for b in range(_BINS_OF_PEOPLE):
            bins[b, 0] = bins[b, 1] = 0
            bins[b, 2] = low
        scale = _BINS_OF_PEOPLE / cython.cast(float64, high - low) * 0.99999
        total = 0
        for i in range(start, stop):
            x = rows[i, j]
            own = people[order[i]]
            b = cython.cast(int64, cython.cast(float64, x - low) * scale)
            bins[b, 0] += own
            bins[b, 1] += own * cython.cast(float64, x)
            total += own * cython.cast(float64, x)
            if x > bins[b, 2]:
                bins[b, 2] = x
        held = summed = 0
        for b in range(_BINS_OF_PEOPLE - 1):
            if bins[b, 0] == 0:
                continue
            held += bins[b, 0]
            summed += bins[b, 1]
            if whole - held < k:
                break
            if held < k:
                continue
            apart = summed / held - (total - summed) / (whole - held)
            gain = held * (whole - held) / whole * apart * apart
            if gain > best:
                best = gain
                found.column = j
                found.value = bins[b, 2]
    return found
