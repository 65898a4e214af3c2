"""Cells suppressed for whole households: what all members share is `*` for all of them or for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.anonymization.suppression import Reading, Suppressed
from shoal.ranges.coverage import match_tuples
from shoal.table import Array
from shoal.table.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.vocabulary import NullRule


def suppressed_together(
    found: Suppressed, shared: Sequence[str], household: Coded, k: int, reading: Reading, null_rule: NullRule
) -> Suppressed:
    """The same with the `shared` columns suppressed in all rows of a household where they are in one.

    Whoever no longer reaches k then is suppressed throughout, until all others do.

    >>> from shoal.anonymization.suppression import suppress
    >>> from shoal.reading import read
    >>> columns = read({"town": ["A", "A", "B", "A"], "sex": ["f", "f", "f", "m"]}).select(["town", "sex"])
    >>> found = replace(suppress(columns, 2), masks=np.array([1, 0, 1, 2]))
    >>> suppressed_together(found, ["town"], Coded(np.array([0, 0, 1, 1]), 2), 2, "wildcard", "value").masks.tolist()
    [1, 1, 1, 3]
    """
    common = sum(1 << place for place, column in enumerate(found.columns) if column.name in shared)
    everything = (1 << len(found.columns)) - 1
    masks = found.masks.copy()
    while True:
        masks |= _of_household(masks & common, household)
        alone = (_like(found, masks, reading, null_rule) < k) & (masks != everything)
        if not alone.any():
            return replace(found, masks=masks)
        masks[alone] = everything


def _of_household(masks: Array, household: Coded) -> Array:
    """What is suppressed in any row of each row's household."""
    order = np.argsort(household.codes, kind="stable")
    starts = np.flatnonzero(np.diff(household.codes[order].astype(np.int64), prepend=-1))
    any_of_them = np.zeros(household.cardinality, np.int64)
    any_of_them[household.codes[order[starts]]] = np.bitwise_or.reduceat(masks[order], starts)
    return any_of_them[household.codes]


def _like(found: Suppressed, masks: Array, reading: Reading, null_rule: NullRule) -> Array:
    """How many records are like each (strict), or match it; rows without any value cover nobody."""
    columns = found.columns
    hidden = masks.copy()
    if reading == "wildcard" and null_rule == "wildcard":
        for place, column in enumerate(columns):
            hidden |= column.is_null().astype(np.int64) << place
    like = np.zeros(len(masks), np.int64)
    rows = np.flatnonzero(hidden != (1 << len(columns)) - 1)
    if not len(rows):
        return like
    known = (hidden[rows, None] >> np.arange(len(columns)) & 1) == 0
    shown = [
        Coded(np.where(there, column.codes[rows], 0), column.cardinality)
        for column, there in zip(columns, known.T, strict=True)
    ]
    which, count = class_of_each_row(pack([*shown, *(Coded(there.astype(np.int64), 2) for there in known.T)]))
    records = np.bincount(which, minlength=count)
    if reading == "wildcard":
        first = first_row_of_each_class(which, count)
        tuples = [Coded(column.codes[first], column.cardinality) for column in shown]
        records = match_tuples(tuples, known[first], records)
    like[rows] = records[which]
    return like
