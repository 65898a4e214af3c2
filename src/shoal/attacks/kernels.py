"""Compiled loops of the attacks on long tables. Imported only where they run."""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled
from shoal.table import Array


@compiled
def others_with_all(index: Array, starts: Array, persons: int, target: Array, known: Array, asked: Array) -> Array:
    """For each target and each number of points: whether somebody else has the first so many points too.

    `index` is sorted: point · persons + person for each person at a known point; `starts[i]` is where point i starts.
    `known[t]` are the points of target t, padded with -1. The list of the rarest point is walked, and each person
    on it is looked up in the lists of the others.
    """
    found = np.zeros((len(target), len(asked)), np.bool_)
    for t in range(len(target)):
        for a in range(len(asked)):
            count = 0
            while count < asked[a] and count < known.shape[1] and known[t, count] >= 0:
                count += 1
            rarest, fewest = 0, np.int64(-1)
            for i in range(count):
                length = starts[known[t, i] + 1] - starts[known[t, i]]
                if fewest < 0 or length < fewest:
                    rarest, fewest = i, length
            first = starts[known[t, rarest]]
            for place in range(first, first + fewest):
                person = index[place] - known[t, rarest] * persons
                if person != target[t] and _has_all(index, starts, persons, person, known[t], count, rarest):
                    found[t, a] = True
                    break
            if not found[t, a]:
                break  # who is alone at some points is alone at more
    return found


@compiled
def _has_all(
    index: Array, starts: Array, persons: int, person: Number, known: Array, count: int, skipped: int
) -> Number:
    for i in range(count):
        if i == skipped:
            continue
        wanted = known[i] * persons + person
        low, high = starts[known[i]], starts[known[i] + 1]
        end = high
        while low < high:
            middle = (low + high) // 2
            if index[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == end or index[low] != wanted:
            return False
    return True


@compiled
def add_scores(
    persons: Array,
    value_codes: Array,
    day_codes: Array,
    first: int,
    last: int,
    by_value: Array,
    by_day: Array,
    scores: Array,
) -> None:
    """Add to the score of every person who rated an item how well the rating fits; of several ratings the best counts.

    `persons[first:last]` are sorted; `by_value` and `by_day` hold the likeness of each value and of each day.
    """
    best, before = 0.0, np.int64(-1)
    for place in range(first, last):
        alike = by_value[value_codes[place]] + by_day[day_codes[place]]
        if persons[place] != before:
            best = 0.0
            before = persons[place]
        if alike > best:
            scores[persons[place]] += alike - best
            best = alike
