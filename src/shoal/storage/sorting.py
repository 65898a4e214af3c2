"""Keys in order, and runs of equal keys: where they start and how long they are. Threads share many of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.storage import Array

# Rows that one thread takes at once, and from how many on threads pay.
STRETCH = 1 << 18
# Up to so many keys numpy sorts, then polars: past many on all processors, which costs two thirds more in all.
_FEW_KEYS, _MANY_KEYS = 1 << 16, 1 << 23


def sorted_keys(keys: Array) -> Array:
    """Keys in order; more than a few by polars, in less time than numpy takes, and many of them on all processors.

    >>> sorted_keys(np.array([30, 10, 20], np.uint64)).tolist()
    [10, 20, 30]
    """
    if len(keys) <= _FEW_KEYS:
        return np.sort(keys)
    return pl.Series(keys).sort(multithreaded=len(keys) > _MANY_KEYS).to_numpy()


def run_starts(ordered: Array) -> Array:
    """Where each run of equal keys starts.

    >>> run_starts(np.array([7, 7, 9])).tolist()
    [0, 2]
    """

    def starts_after(first: int) -> Array:
        here = ordered[first : first + STRETCH + 1]
        starts = np.flatnonzero(here[1:] != here[:-1])
        starts += first + 1
        return starts

    stretches = range(0, max(len(ordered) - 1, 0), STRETCH)
    if len(stretches) > 1:
        from shoal.threads import in_threads

        found = in_threads(starts_after, stretches)
    else:
        found = [starts_after(first) for first in stretches]
    return np.concatenate([np.zeros(min(len(ordered), 1), np.int64), *found])


def run_lengths(starts: Array, total: int) -> Array:
    """How long each run is, from where the runs start."""
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = total - starts[-1:]
    return lengths


def lengths_of_runs(ordered: Array) -> Array:
    """How long each run of equal keys is; stretches of keys are counted first, then all write side by side.

    >>> lengths_of_runs(np.array([7, 7, 9])).tolist()
    [2, 1]
    """
    if len(ordered) <= STRETCH:
        return run_lengths(run_starts(ordered), len(ordered))
    from shoal.threads import in_threads

    def ends_in(first: int) -> Array:
        """Which keys of a stretch are the last of their run; the last key of all is told apart."""
        here = ordered[first : first + STRETCH + 1]
        return np.not_equal(here[1:], here[:-1])

    def count(first: int) -> tuple[int, int]:
        ends = ends_in(first)
        found = int(np.count_nonzero(ends))
        return found, first + len(ends) - int(ends[::-1].argmax()) if found else 0

    stretches = range(0, len(ordered) - 1, STRETCH)
    counted = in_threads(count, stretches)
    places = np.cumsum([0, *(found for found, _ in counted)])
    # where the last run that ended before each stretch ended, and the last of all
    before = np.maximum.accumulate([0, *(last for _, last in counted)])
    lengths = np.empty(int(places[-1]) + 1, np.int64)

    def write(number: int) -> None:
        ends = np.flatnonzero(ends_in(stretches[number]))
        ends += stretches[number] + 1
        here = lengths[places[number] : places[number + 1]]
        here[:1] = ends[:1] - before[number]
        np.subtract(ends[1:], ends[:-1], out=here[1:])

    in_threads(write, range(len(stretches)))
    lengths[-1] = len(ordered) - before[-1]
    return lengths
