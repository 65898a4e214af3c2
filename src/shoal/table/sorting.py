"""Keys in order, and runs of equal keys: where they start and how long they are. Threads share many of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.table import Array

# Rows that one thread takes at once, and from how many on threads pay.
STRETCH = 1 << 18
# Up to so many keys numpy sorts, then polars, which takes less time; past many, threads share ranges of them.
_FEW_KEYS, _MANY_KEYS = 1 << 16, 1 << 20
# Ranges are longer only where there are few processors or sixteen ranges: what a thread sorts is in memory twice.
_LONG_RANGE = 1 << 21
_SAMPLE = 1 << 12


def sorted_keys(keys: Array) -> Array:
    """Keys in order; more than a few by polars, in less time than numpy takes, and many of them on all processors.

    >>> sorted_keys(np.array([30, 10, 20], np.uint64)).tolist()
    [10, 20, 30]
    """
    if len(keys) <= _FEW_KEYS:
        return np.sort(keys)
    from shoal.threads import processors  # loads what a small table does not need

    if len(keys) <= _MANY_KEYS or processors() == 1:
        return pl.Series(keys).sort(multithreaded=False).to_numpy()
    return _sorted_in_ranges(keys, _bounds(keys, max(processors(), min(len(keys) // _LONG_RANGE, 16))))


def _bounds(keys: Array, ranges: int) -> Array:
    """Keys that cut all into about so many ranges of one length, by a sample."""
    sample = np.sort(keys[:: max(len(keys) // _SAMPLE, 1)])
    return np.unique(sample[np.arange(1, ranges) * len(sample) // ranges])


def _sorted_in_ranges(keys: Array, bounds: Array) -> Array:
    """Stretches of keys are counted by range, each key goes to the place of its range, and each range is sorted.

    polars' own threads take two thirds more of all processors together.
    """
    from shoal.threads import in_threads

    stretches = range(0, len(keys), STRETCH)

    def count(first: int) -> list[int]:
        here = keys[first : first + STRETCH]
        below = [0, *(int(np.count_nonzero(here < bound)) for bound in bounds), len(here)]
        return [int(length) for length in np.diff(below)]

    # range by range, and within a range stretch by stretch
    counted = np.array(in_threads(count, stretches)).T
    ends = np.cumsum(counted).reshape(counted.shape)
    found = np.empty_like(keys)

    def place(number: int) -> None:
        parts = _split(keys[stretches[number] :][:STRETCH], bounds)
        for part, end in zip(parts, ends[:, number].tolist(), strict=True):
            found[end - len(part) : end] = part

    def order(number: int) -> None:
        here = found[ends[number, 0] - counted[number, 0] : ends[number, -1]]
        here[:] = pl.Series(here).sort(multithreaded=False).to_numpy()

    in_threads(place, range(len(stretches)))
    in_threads(order, range(len(ends)))
    return found


def _split(keys: Array, bounds: Array) -> list[Array]:
    """The keys below the first bound, those from it on below the second, and so on.

    >>> [part.tolist() for part in _split(np.array([5, 1, 9, 3]), np.array([3, 9]))]
    [[1], [5, 3], [9]]
    """
    if not len(bounds):
        return [keys]
    middle = len(bounds) // 2
    below = keys < bounds[middle]
    first = _split(keys.compress(below), bounds[:middle])
    return first + _split(keys.compress(np.logical_not(below, out=below)), bounds[middle + 1 :])


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
