"""Sorting inside compiled loops: numba's own sorts take seconds to compile, these take tenths."""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled, compiled_inside, compiled_once
from shoal.table import Array

# shorter stretches are sorted by insertion
_SHORT = 15


@compiled
def rank(keys: Array, ranked: Array) -> None:
    """Order the numbers in `ranked` by the keys they point at: quicksort around the median of three.

    What is equal comes out in an order that depends on the keys alone, the same on every machine.
    """
    # the keys move along: to look up each through its number would miss the cache
    own = np.empty(len(ranked), keys.dtype)
    for i in range(len(ranked)):
        own[i] = keys[ranked[i]]
    stack = np.empty(128, np.int64)
    depth = 2
    stack[0], stack[1] = 0, len(ranked) - 1
    while depth > 0:
        depth -= 2
        low, high = stack[depth], stack[depth + 1]
        while high - low >= _SHORT:
            middle = _part(own, ranked, low, high)
            # the larger side waits: the stack never grows past the logarithm of the records
            if high - middle > middle - low:
                stack[depth], stack[depth + 1] = middle + 1, high
                high = middle - 1
            else:
                stack[depth], stack[depth + 1] = low, middle - 1
                low = middle + 1
            depth += 2
        for i in range(low + 1, high + 1):
            key, one, at = own[i], ranked[i], i
            while at > low and key < own[at - 1]:
                own[at], ranked[at] = own[at - 1], ranked[at - 1]
                at -= 1
            own[at], ranked[at] = key, one


@compiled_once
def _part(own: Array, ranked: Array, low: int, high: int) -> int:
    """Move what is smaller than the median of three to the front; the place of that median."""
    middle = (low + high) >> 1
    for a, b in ((low, middle), (middle, high), (low, middle)):
        if own[b] < own[a]:
            _exchange(own, ranked, a, b)
    pivot = own[middle]
    _exchange(own, ranked, high, middle)
    i, j = low, high - 1
    while True:
        while i < high and own[i] < pivot:
            i += 1
        while j >= low and pivot < own[j]:
            j -= 1
        if i >= j:
            break
        _exchange(own, ranked, i, j)
        i += 1
        j -= 1
    _exchange(own, ranked, i, high)
    return i


@compiled_inside
def _exchange(own: Array, ranked: Array, a: int, b: int) -> None:
    own[a], own[b] = own[b], own[a]
    ranked[a], ranked[b] = ranked[b], ranked[a]


@compiled_once
def sort_values(values: Array) -> None:
    """Sort in place (a heap: no stack, no worst case)."""
    size = len(values)
    start, end = size // 2, size
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            values[0], values[end] = values[end], values[0]
        at, value = start, values[start]
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
