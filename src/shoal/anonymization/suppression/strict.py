"""Few cells so that every record stands among k that look the same, suppressed cells included.

Records that are alike outside a set of columns become one class when those columns are suppressed in all of them. The
sets and groups are taken in the order of cells per record that is settled. A group with too few records that stand out
is filled up with records from large classes. The least number of cells is NP-hard to find (Meyerson and Williams 2004).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np

from shoal import progress
from shoal.anonymization.suppression.sets import by_cost, cost_of, groups_on
from shoal.anonymization.suppression.whole_rows import WholeRows
from shoal.dataclasses import dataclass
from shoal.table import Array
from shoal.table.classes import Coded

# each set is tried up to k times
MOST_TRIES = 4_000


@dataclass
class StrictMasks:
    """Columns to suppress in all rows of each tuple, and in some rows of large ones: (tuples, mask, how many rows)."""

    masks: Array
    helpers: list[tuple[Array, int, Array]] = field(default_factory=list)


def masks_for_equality(codes: Sequence[Coded], rows: WholeRows, k: int, costs: Sequence[float]) -> StrictMasks:
    """The columns to suppress so that classes of equal records, `*` being a value, have k members.

    >>> codes = [Coded(np.array([0, 0, 0]), 2), Coded(np.array([0, 1, 2]), 3)]
    >>> rows = WholeRows.of(np.array([0, 0, 0, 0, 1, 2]), 3, np.ones(6, int))
    >>> found = masks_for_equality(codes, rows, 3, [1.0, 1.0])
    >>> found.masks.tolist(), [(mask, rows.tolist()) for _, mask, rows in found.helpers]
    ([0, 2, 2], [(2, [1])])
    """
    counts = rows.people
    found = StrictMasks(np.zeros(len(counts), np.int64))
    left = counts < k
    spare = np.where(left, 0, rows.spare(np.arange(len(counts)), k))
    total = int(left.sum())
    for mask, needed in _tries(costs, k):
        open_tuples = int(left.sum())
        if not open_tuples:
            break
        progress.report("suppressing", total - open_tuples, total)
        settled, helpers = _settle(codes, counts, k, mask, needed, left, spare, found)
        found.masks[settled] = mask
        left[settled] = False
        if helpers is not None:
            tuples, records = helpers
            found.helpers.append((tuples, mask, rows.take(tuples, records)))
            spare[tuples] = rows.spare(tuples, k)
    return found


def _tries(costs: Sequence[float], k: int) -> Iterator[tuple[int, int]]:
    """Sets with the number of open records that a group must have, by cells per open record; all columns at last."""
    masks = list(by_cost(costs, max(MOST_TRIES // k, 1)))
    everything = (1 << len(costs)) - 1
    tries = [
        (cost_of(mask, costs) * k / open_records, mask, open_records) for mask in masks for open_records in _opens(k)
    ]
    yield from ((mask, open_records) for _, mask, open_records in sorted(tries) if mask != everything)
    yield everything, 1


def _opens(k: int) -> list[int]:
    """How many open records a group may start from; for large k not every number is tried."""
    return sorted({max(round(k * share / 8), 1) for share in range(1, 9)}) if k > 8 else list(range(1, k + 1))


def _settle(
    codes: Sequence[Coded], counts: Array, k: int, mask: int, needed: int, left: Array, spare: Array, found: StrictMasks
) -> tuple[Array, tuple[Array, Array] | None]:
    """The open tuples that a set settles, and the records of large classes that help."""
    everything = (1 << len(codes)) - 1
    group, groups = groups_on(codes, mask)
    open_records = np.bincount(group[left], counts[left], groups).astype(np.int64)
    if mask == everything:  # suppressed throughout: such rows stand in no class
        return np.flatnonzero(left), None
    there = np.zeros(groups, bool)
    there[group[found.masks == mask]] = True
    for tuples, own, _ in found.helpers:
        if own == mask:
            there[group[tuples]] = True
    lacking = np.where(there, 0, np.maximum(k - open_records, 0))
    spares = np.bincount(group, spare, groups)
    good = (open_records > 0) & (there | ((open_records >= needed) & (spares >= lacking)))
    settled = np.flatnonzero(left & good[group])
    asked = np.where(good, lacking, 0)
    return settled, _helpers(group, spare, asked) if asked.any() else None


def _helpers(group: Array, spare: Array, asked: Array) -> tuple[Array, Array]:
    """From which tuples how many records come, the largest classes first."""
    candidates = np.flatnonzero((spare > 0) & (asked[group] > 0))
    candidates = candidates[np.lexsort((-spare[candidates], group[candidates]))]
    theirs = spare[candidates]
    before = np.cumsum(theirs) - theirs
    starts = np.append(True, group[candidates][1:] != group[candidates][:-1])
    before -= np.maximum.accumulate(np.where(starts, before, 0))
    records = np.clip(asked[group[candidates]] - before, 0, theirs)
    used = records > 0
    return candidates[used], records[used]
