"""How near each class is to the whole table in a confidential attribute: the ordered earth mover's distance."""

from __future__ import annotations

from typing import Literal

import numpy as np

from shoal.classes import Coded, sensitive_counts
from shoal.table import Array, Column

Labels = Literal["values", "ranks"]


def ordered_distance(class_of_row: Array, classes: int, confidential: Column, labels: Labels = "values") -> Array:
    """Per class, the sum over M ordered labels of |F_class - F| / (M - 1) (Li et al.).

    Labels are the distinct values, or the ranks of all records (ties in the order of the rows). F is constant for a
    class between two of its members, so a class of m members takes m + 1 stretches, each summed in closed form.

    >>> from shoal.table import Table
    >>> charge = Table.of({"charge": [10, 20, 30, 40]})["charge"]
    >>> ordered_distance(np.array([0, 0, 1, 1]), 2, charge).tolist()
    [0.3333333333333333, 0.3333333333333333]
    """
    codes = _labels(confidential, labels)
    if codes.cardinality < 2:
        return np.zeros(classes)
    share = np.cumsum(np.bincount(codes.codes, minlength=codes.cardinality)) / len(codes.codes)
    area = np.concatenate([[0.0], np.cumsum(share)])
    found = sensitive_counts(class_of_row, classes, codes)

    # a stretch from each member to the next of its class (or the end), and one from the start to the first
    held = np.bincount(found.classes, found.counts, classes)
    first = np.concatenate([[True], found.classes[1:] != found.classes[:-1]])
    stop = np.append(found.codes[1:], codes.cardinality).astype(np.int64)
    stop[:-1][first[1:]] = codes.cardinality
    running = np.cumsum(found.counts)
    before = np.repeat((running - found.counts)[first], np.diff(np.flatnonzero(first), append=len(first)))
    level = (running - before) / held[found.classes]
    sums = np.bincount(found.classes, _stretch(level, found.codes.astype(np.int64), stop, share, area), classes)
    sums += np.bincount(found.classes[first], area[found.codes[first]], classes)
    return np.asarray(sums / (codes.cardinality - 1))


def _labels(confidential: Column, labels: Labels) -> Coded:
    if labels == "values":
        return Coded(confidential.codes, confidential.cardinality)
    ranks = np.empty(len(confidential.codes), np.int64)
    ranks[np.argsort(confidential.codes, kind="stable")] = np.arange(len(ranks))
    return Coded(ranks, len(ranks))


def _stretch(level: Array, start: Array, stop: Array, share: Array, area: Array) -> Array:
    """Sum of |level - F(i)| for start <= i < stop; F grows, so it crosses the level once."""
    cross = np.clip(np.searchsorted(share, level), start, stop)
    below = level * (cross - start) - (area[cross] - area[start])
    above = (area[stop] - area[cross]) - level * (stop - cross)
    return np.asarray(below + above)
