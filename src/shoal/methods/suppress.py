"""`suppress`: few cells are suppressed, so that every record reaches k by one of two readings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np
import polars as pl
from pydantic import Field

from shoal import progress
from shoal.errors import InputError, Message, Setting, check_choice
from shoal.methods.base import NEEDS_K, Importance, Method, closeness_told, k_of
from shoal.methods.outcomes import ReadingFigures, SubsetFigures, SuppressionOutcome
from shoal.methods.results import Anonymized, evidence_of_result, findings_of, judged, with_members
from shoal.methods.units import Units, households_of, of_households, one_of_them, units_of, varies_within_persons
from shoal.models import KAnonymity, KMatching
from shoal.models.k_matching import readings_of
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, Side, numbers
from shoal.ranges.columns import ReleasedColumns, as_it_was, scale_of
from shoal.ranges.coverage import like_rows
from shoal.ranges.forms import ColumnForm, escape
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.column_type import type_word
from shoal.storage.texts import texts_of, with_null
from shoal.utility.loss import change_of, information_loss, loss_of_shares
from shoal.vocabulary import NullRule

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition


# Sets of columns in the order of what it costs to suppress them, as bit masks.

# past so many sets only a chain of growing sets is tried: the result is still right, no longer the cheapest
MOST_SETS = 20_000
# costs that differ only by rounding are equal
_SAME = 1e-9


def cost_of(mask: int, costs: Sequence[float]) -> float:
    """What one record costs that is suppressed in these columns.

    >>> cost_of(0b101, [1.0, 1.0, 3.0])
    4.0
    """
    return sum(cost for place, cost in enumerate(costs) if mask >> place & 1)


def by_cost(costs: Sequence[float], most: int = MOST_SETS) -> Iterator[int]:
    """Every non-empty set of columns, the cheapest first; past `most` sets a chain that ends with all columns.

    >>> [bin(mask)[2:] for mask in by_cost([1.0, 1.0, 3.0])]
    ['1', '10', '11', '100', '101', '110', '111']
    """
    order = sorted(range(len(costs)), key=lambda place: costs[place])
    heap = [(costs[order[0]], 1, 1 << order[0], 0)]
    for _ in range(most):
        if not heap:
            return
        cost, size, mask, last = heappop(heap)
        yield mask
        if last + 1 < len(order):
            added, own = order[last + 1], order[last]
            heappush(heap, (cost + costs[added], size + 1, mask | 1 << added, last + 1))
            heappush(heap, (cost + costs[added] - costs[own], size, mask ^ (1 << own) | 1 << added, last + 1))
    mask = 0
    for place in order:
        mask |= 1 << place
        yield mask


def tiers(costs: Sequence[float]) -> Iterator[list[int]]:
    """The same sets, those of equal cost together.

    >>> [[bin(mask)[2:] for mask in tier] for tier in tiers([1.0, 1.0])]
    [['1', '10'], ['11']]
    """
    tier: list[int] = []
    for mask in by_cost(costs):
        if tier and abs(cost_of(mask, costs) - cost_of(tier[0], costs)) > _SAME:
            yield tier
            tier = []
        tier.append(mask)
    yield tier


def groups_on(codes: Sequence[Coded], mask: int, tuples: Array | None = None) -> tuple[Array, int]:
    """Groups of tuples that are alike in the columns outside a mask, and how many groups; outside nothing all are.

    >>> groups_on([Coded(np.array([0, 0, 1]), 2), Coded(np.array([5, 6, 5]), 7)], 0b10)
    (array([0, 0, 1]), 2)
    """
    count = len(codes[0].codes) if tuples is None else len(tuples)
    shown = [column for place, column in enumerate(codes) if not mask >> place & 1]
    if not shown or not count:
        return np.zeros(count, np.int64), 1
    if tuples is not None:
        shown = [Coded(column.codes[tuples], column.cardinality) for column in shown]
    return class_of_each_row(pack(shown))


@dataclass
class WholeRows:
    """`order` has the rows tuple by tuple, those with the fewest people first; they are given away in this order."""

    order: Array
    ends: Array  # people of all rows up to each place of the order
    taken: Array = field(repr=False)  # per tuple: the place of its next row
    stop: Array  # per tuple: the place after its last row

    @classmethod
    def of(cls, tuple_of_row: Array, count: int, people: Array) -> WholeRows:
        """The rows of `count` tuples; row r stands for people[r].

        >>> rows = WholeRows.of(np.array([0, 1, 0, 0]), 2, np.array([4, 1, 1, 2]))
        >>> rows.order.tolist(), rows.spare(np.array([0]), 3).tolist()
        ([2, 3, 0, 1], [3])
        """
        order = np.lexsort((people, tuple_of_row))
        stop = np.cumsum(np.bincount(tuple_of_row, minlength=count))
        return cls(order, np.cumsum(people[order]), np.concatenate([[0], stop[:-1]]), stop)

    @property
    def people(self) -> Array:
        """The people of each tuple, given away or not."""
        before = self._before(np.concatenate([[0], self.stop[:-1]]))
        return np.asarray(self.ends[self.stop - 1] - before)

    def spare(self, tuples: Array, k: int) -> Array:
        """How many people tuples can give away in whole rows, so that k are left."""
        until = np.searchsorted(self.ends, self.ends[self.stop[tuples] - 1] - k, side="right")
        given = self._before(until) - self._before(self.taken[tuples])
        return np.where(until > self.taken[tuples], given, 0)

    def take(self, tuples: Array, people: Array) -> Array:
        """Take whole rows with at least so many people out of tuples that can spare them; how many rows of each."""
        until = np.searchsorted(self.ends, self._before(self.taken[tuples]) + people) + 1
        rows = until - self.taken[tuples]
        self.taken[tuples] = until
        return np.asarray(rows)

    def _before(self, place: Array) -> Array:
        return np.where(place > 0, self.ends[np.maximum(place - 1, 0)], 0)


# Few cells so that every record stands among k that look the same, suppressed cells included.
#
# Records that are alike outside a set of columns become one class when those columns are suppressed in all of them. The
# sets and groups are taken in the order of cells per record that is settled. A group with too few records that stand
# out is filled up with records from large classes. The least number of cells is NP-hard to find (Meyerson and Williams
# 2004).


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
    masks = StrictMasks(np.zeros(len(counts), np.int64))
    left = counts < k
    spare = np.where(left, 0, rows.spare(np.arange(len(counts)), k))
    total = int(left.sum())
    for mask, needed in _tries(costs, k):
        open_tuples = int(left.sum())
        if not open_tuples:
            break
        progress.report("suppressing", total - open_tuples, total)
        settled, helpers = _settle(codes, counts, k, mask, needed, left, spare, masks)
        masks.masks[settled] = mask
        left[settled] = False
        if helpers is not None:
            tuples, records = helpers
            masks.helpers.append((tuples, mask, rows.take(tuples, records)))
            spare[tuples] = rows.spare(tuples, k)
    return masks


def _tries(costs: Sequence[float], k: int) -> Iterator[tuple[int, int]]:
    """Sets with the number of open records that a group must have, by cells per open record; all columns at last."""
    masks = list(by_cost(costs, max(MOST_TRIES // k, 1)))
    everything = (1 << len(costs)) - 1
    # how many open records a group may start from; for large k not every number is tried
    opens = sorted({max(round(k * share / 8), 1) for share in range(1, 9)}) if k > 8 else list(range(1, k + 1))
    tries = [(cost_of(mask, costs) * k / open_records, mask, open_records) for mask in masks for open_records in opens]
    yield from ((mask, open_records) for _, mask, open_records in sorted(tries) if mask != everything)
    yield everything, 1


def _settle(
    codes: Sequence[Coded], counts: Array, k: int, mask: int, needed: int, left: Array, spare: Array, found: StrictMasks
) -> tuple[Array, tuple[Array, Array] | None]:
    """The open tuples that a set settles, and the records of large classes that help."""
    if mask == (1 << len(codes)) - 1:  # suppressed throughout: such rows stand in no class
        return np.flatnonzero(left), None
    has_class = found.masks == mask
    for tuples, own, _ in found.helpers:
        if own == mask:
            has_class[tuples] = True
    # all others neither need a class nor help to make one
    some = np.flatnonzero(left | has_class | (spare > 0))
    left, spare, counts = left[some], spare[some], counts[some]
    group, groups = groups_on(codes, mask, some)
    open_records = np.bincount(group[left], counts[left], groups).astype(np.int64)
    there = np.zeros(groups, bool)
    there[group[has_class[some]]] = True
    lacking = np.where(there, 0, np.maximum(k - open_records, 0))
    spares = np.bincount(group, spare, groups)
    good = (open_records > 0) & (there | ((open_records >= needed) & (spares >= lacking)))
    asked = np.where(good, lacking, 0)
    settled = some[left & good[group]]
    if not asked.any():
        return settled, None
    helping, records = _helpers(group, spare, asked)
    return settled, (some[helping], records)


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


Reading = Literal["wildcard", "strict"]
# a mask is a 64-bit number
MOST_COLUMNS = 60


@dataclass(frozen=True)
class Suppressed:
    """Which cells are suppressed: `masks[row]` has bit c set where column c is.

    `least_cells` is what no solution can go below that changes every record that stands out.
    """

    columns: Sequence[Column]
    masks: Array
    least_cells: int

    def cells(self, place: int) -> Array:
        """The rows in which a column is suppressed."""
        return np.asarray((self.masks >> place & 1) > 0)

    @property
    def cells_by_column(self) -> dict[str, int]:
        """How many cells of each column are suppressed."""
        return {column.name: int(self.cells(place).sum()) for place, column in enumerate(self.columns)}

    @property
    def throughout(self) -> Array:
        """The rows that are suppressed in every column."""
        return np.asarray(self.masks == (1 << len(self.columns)) - 1)


def suppress(
    columns: Sequence[Column],
    k: int,
    reading: Reading = "wildcard",
    importance: Mapping[str, float] | None = None,
    subset_size: int | None = None,
    null_rule: NullRule = "value",
    people: Array | None = None,
) -> Suppressed:
    """Suppress few cells so that every record reaches k.

    `wildcard`: a suppressed cell matches anything (as sdcMicro reads NA), and every record matches k. `strict`: it is a
    value of its own, and every class of equal records has k members. The cost of a cell is the `importance` of its
    column (1 where none is given). `subset_size` protects every combination of so many columns instead of all together.
    Under the null rule `wildcard` a missing value matches anything too (in the wildcard reading), and costs nothing.
    Row r stands for `people[r]`, whom k counts; a cell is suppressed for all of them.

    >>> from shoal.storage.reading import read
    >>> columns = read({"sex": ["f", "f", "f", "m"], "town": ["A", "A", "B", "A"]}).select(["sex", "town"])
    >>> suppress(columns, 2).cells_by_column
    {'sex': 1, 'town': 1}
    """
    check_choice(Setting("reading"), reading, get_args(Reading))
    costs = _costs(columns, importance or {})
    people = np.ones(len(columns[0].codes), np.int64) if people is None else people
    _check(columns, int(people.sum()), k, reading, subset_size)
    tuple_of_row, count = class_of_each_row(pack(columns))
    first = first_row_of_each_class(tuple_of_row, count)
    sizes, counts = (np.bincount(tuple_of_row, one, count).astype(np.int64) for one in (None, people))
    codes = [Coded(column.codes[first], column.cardinality) for column in columns]
    if reading == "strict":
        rows = WholeRows.of(tuple_of_row, count, people)
        equality_masks = masks_for_equality(codes, rows, k, costs)
        return Suppressed(columns, _masks_of_rows(equality_masks, tuple_of_row, rows), int(sizes[counts < k].sum()))
    free = _nulls(columns)[first] if null_rule == "wildcard" else np.zeros(count, np.int64)
    masks, standing_out = masks_for_wildcards(codes, counts, k, costs, subset_size, free)
    least = int(sizes[standing_out].sum()) if subset_size is None else int(np.count_nonzero(masks[tuple_of_row]))
    return Suppressed(columns, masks[tuple_of_row], least)


def _nulls(columns: Sequence[Column]) -> Array:
    """The columns (a bit mask) in which each row has no value."""
    return np.asarray(sum(column.is_null().astype(np.int64) << place for place, column in enumerate(columns)))


def _masks_of_rows(found: StrictMasks, tuple_of_row: Array, rows: WholeRows) -> Array:
    """The masks row by row; of a large class that helps, the first rows that are not taken yet."""
    masks = found.masks[tuple_of_row]
    free = np.concatenate([[0], rows.stop[:-1]])
    for tuples, mask, some in found.helpers:
        ends = np.cumsum(some)
        places = np.arange(ends[-1]) - np.repeat(ends - some, some)
        masks[rows.order[np.repeat(free[tuples], some) + places]] = mask
        free[tuples] += some
    return masks


def _costs(columns: Sequence[Column], importance: Mapping[str, float]) -> list[float]:
    names = [column.name for column in columns]
    if unknown := [name for name in importance if name not in names]:
        raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers")
    if not all(np.isfinite(cost) and cost > 0 for cost in importance.values()):
        raise InputError("An importance is not a number above 0.", "Use 1 for most columns, 5 for an important one.")
    return [float(importance.get(name, 1.0)) for name in names]


def _check(columns: Sequence[Column], rows: int, k: int, reading: Reading, subset_size: int | None) -> None:
    if k < 2:
        raise InputError(f"k = {k} protects nobody.", "Use 2 or more.")
    if rows < k:
        raise InputError(f"{rows:,} records cannot be {k} alike.", "Use a smaller k.")
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{len(columns)} quasi-identifiers are too many.", f"Use at most {MOST_COLUMNS}.")
    if subset_size is None:
        return
    if not 1 <= subset_size <= len(columns):
        raise InputError(
            f"There are no combinations of {subset_size} out of {len(columns)} columns.", "Use 2 or 3, for example."
        )
    if reading == "strict":
        raise InputError(
            Message("Combinations of columns (`{subset_size}`) are protected in the wildcard reading only."),
            Message("Leave out `{subset_size}`, or the reading strict."),
        )


# The fewest cells so that every record matches k, where a suppressed cell matches anything.
#
# Sets of columns are tried from the cheapest on. A record takes the first set outside which k records are like it: then
# whatever else is suppressed, those k match it. Records for which no cheap set does may also count those that were
# suppressed already and match them because of it (`_Settled`): the more are settled, the more find help.
#
# A record that stands out is always changed itself. Matching alone would let two suppressed records cover a hundred
# unique ones that stay in full view.
#
# Under the null rule `wildcard` missing values match anything from the start: the `free` columns of a tuple, as a bit
# mask. They cost nothing, and a record stands out if fewer than k match it as it is.


# flags for each combination of m columns and each tuple
MOST_FLAGS = 400_000_000
# joins of settled with open tuples for sets of one cost; small tables may take more
MOST_JOINS = 1_200
FEW_JOINED = 20_000_000
# tuples up to which all pairs are compared once, instead of grouped for each set of columns: to count what is alike,
# and what matches by its suppressed cells
FEW_ALIKE, FEW_MATCHING = 200, 2_000
# bytes of counts of records that are kept for the sets of one cost
MOST_KEPT = 100_000_000
# parts in which tuples are settled by matching where a tier has one set, and how often all are asked
_PARTS = 64
_ROUNDS = 4


def masks_for_wildcards(
    codes: Sequence[Coded],
    counts: Array,
    k: int,
    costs: Sequence[float],
    m: int | None = None,
    free: Array | None = None,
) -> tuple[Array, Array]:
    """The columns to suppress (a bit mask) in the records of each distinct tuple, of which there are `counts`; and the
    tuples that stood out.

    With `m`, every combination of m columns must reach k instead of all columns together.

    >>> codes = [Coded(np.array([0, 0, 1]), 2), Coded(np.array([0, 1, 2]), 3)]
    >>> masks, out = masks_for_wildcards(codes, np.array([4, 1, 1]), 2, [1.0, 1.0])
    >>> masks.tolist(), out.tolist()
    ([0, 2, 1], [1, 2])
    >>> masks_for_wildcards(codes, np.array([4, 1, 1]), 2, [1.0, 1.0], free=np.array([0, 2, 0]))[0].tolist()
    [0, 0, 1]
    """
    free = np.zeros(len(counts), np.int64) if free is None else free
    rare = _Rare.of(codes, counts, k, m, free)
    masks = np.zeros(len(counts), np.int64)
    standing_out = left = rare.standing_out()
    settled = _Settled(rare, masks)
    for tier in tiers(costs):
        if not len(left):
            break
        rare.kept.clear()
        left = _settle_by_cost(rare, settled, tier, left, by_matching=False)
        # matching is worth its time? joins grow with the sets of columns that are suppressed somewhere
        joins = len(tier) * len(settled.by_mask)
        quick = joins <= MOST_JOINS or joins * len(counts) <= FEW_JOINED
        if m is None and len(left) and settled.by_mask and quick:
            left = _settle_by_matching(rare, settled, tier, left)
        settled.tried += len(tier)
    if free.any() and m is None:
        _give_up(codes, counts, masks, free, k)
    return masks, standing_out


def _settle_by_cost(rare: _Rare, settled: _Settled, tier: list[int], tuples: Array, by_matching: bool) -> Array:
    """Decide the suppressed columns of the tuples for which a set of the tier suffices; the others."""
    found = _choose(rare, settled, tier, tuples, by_matching)
    settled.masks[tuples] = found
    settled.add(tuples[found > 0])
    left: Array = tuples[found == 0]
    return left


def _settle_by_matching(rare: _Rare, settled: _Settled, tier: list[int], left: Array) -> Array:
    """Who is settled helps the next ones: tuples are asked part by part, those with the fewest near them first (the
    others find help more easily), and all again while somebody was helped."""
    left = left[np.argsort(rare.nearby[left], kind="stable")]
    parts = max(1, _PARTS // len(tier))
    for _ in range(_ROUNDS):
        before = len(left)
        for part in np.array_split(left, parts):
            _settle_by_cost(rare, settled, tier, part, by_matching=True)
        left = left[settled.masks[left] == 0]
        if len(left) in (0, before):
            break
    return np.sort(left)


def _give_up(codes: Sequence[Coded], counts: Array, masks: Array, free: Array, k: int) -> None:
    """Suppress throughout whoever matches fewer than k now: somebody that a missing value let them count on may have
    been suppressed throughout, and such rows cover nobody."""
    everything = (1 << len(codes)) - 1
    while True:
        hidden = masks | free
        alone = (_like(codes, hidden, counts) < k) & (hidden != everything)
        if not alone.any():
            return
        masks[alone] = everything


def _like(codes: Sequence[Coded], hidden: Array, counts: Array | None = None, matching: bool = True) -> Array:
    """How many records match each outside what is hidden (a bit mask), or look like it; those of which all is hidden
    are like nobody."""
    like = np.zeros(len(hidden), np.int64)
    rows = np.flatnonzero(hidden != (1 << len(codes)) - 1)
    if len(rows):
        known = (hidden[rows, None] >> np.arange(len(codes)) & 1) == 0
        shown = [Coded(column.codes[rows], column.cardinality) for column in codes]
        like[rows] = like_rows(shown, known, None if counts is None else counts[rows], matching)
    return like


def _choose(rare: _Rare, settled: _Settled, tier: list[int], left: Array, by_matching: bool) -> Array:
    """For each tuple a set of the tier that suffices, or 0; of several the one that most tuples could take."""
    chosen, popularity = np.zeros(len(left), np.int64), np.zeros(len(left), np.int64)
    everything = (1 << len(rare.codes)) - 1
    step = f"suppressing: sets of columns{', with records that match' if by_matching else ''}"
    for number, mask in enumerate(tier):
        if not len(left):
            break
        progress.report(step, settled.tried + number, everything)
        if not by_matching:
            enough = rare.enough(mask, left)
        else:
            enough = rare.alike(mask, left) + settled.matching(mask, left) >= rare.k
        if not enough.any():
            continue
        group, groups = groups_on(rare.codes, mask, left)
        takers = np.bincount(group[enough], rare.counts[left[enough]], groups).astype(np.int64)[group]
        # a row without any value covers nobody: never where another set of the tier does
        better = enough & ((takers > popularity) if mask != everything else (chosen == 0))
        chosen[better], popularity[better] = mask, takers[better]
    return chosen


@dataclass(frozen=True)
class _Rare:
    """Which tuples have a combination that fewer than k records share."""

    codes: Sequence[Coded]
    counts: Array
    k: int
    m: int
    combinations: list[int]  # of m columns, as masks
    flags: Array  # per combination and tuple: whether it is rare
    free: Array
    # of the sets of one cost: how many records are like each tuple outside the set, up to k
    kept: dict[int, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, codes: Sequence[Coded], counts: Array, k: int, m: int | None, free: Array) -> _Rare:
        columns = len(codes)
        m = columns if m is None else m
        if comb(columns, m) * len(counts) > MOST_FLAGS:
            raise InputError(
                f"All combinations of {m} out of {columns} columns are too many to protect.",
                Message("Use a smaller `{subset_size}`, or fewer quasi-identifiers."),
            )
        chosen = [sum(1 << place for place in places) for places in combinations(range(columns), m)]
        everything = (1 << columns) - 1
        rare = cls(codes, counts, k, m, chosen, np.empty((len(chosen), len(counts)), bool), free)
        for number, mask in enumerate(chosen):
            progress.report("combining columns", number, len(chosen))
            # a row in which everything is missing stands in no class
            rare.flags[number] = (rare.alike(everything ^ mask, np.arange(len(counts))) < k) & (free != everything)
        return rare

    @cached_property
    def nearby(self) -> Array:
        """How many records are like each tuple outside two columns, summed over all pairs."""
        found = np.zeros(len(self.counts))
        for one, other in combinations(range(len(self.codes)), 2):
            group, groups = groups_on(self.codes, 1 << one | 1 << other)
            found += np.bincount(group, self.counts, groups)[group]
        return found

    def standing_out(self) -> Array:
        """The tuples with any rare combination."""
        return np.flatnonzero(self.flags.any(axis=0))

    def alike(self, mask: int, tuples: Array) -> Array:
        """How many records (k, where there are more) are like each of these outside a mask, and outside what is free in
        either."""
        if len(self.counts) <= FEW_ALIKE:
            # without any value a tuple covers nobody
            covering = np.where(self.free == (1 << len(self.codes)) - 1, 0, self.counts)
            return np.asarray(((self.differences[tuples] & ~mask) == 0) @ covering)
        if not self.free.any():
            like = self.kept.get(mask)
            if like is None:
                group, groups = groups_on(self.codes, mask)
                sizes = np.minimum(np.bincount(group, self.counts, groups), self.k)
                like = sizes.astype(np.min_scalar_type(self.k))[group]
                if (len(self.kept) + 1) * like.nbytes <= MOST_KEPT:
                    self.kept[mask] = like
            return like[tuples].astype(np.int64)
        found = np.zeros(len(tuples), np.int64)
        everything = (1 << len(self.codes)) - 1
        for theirs in np.unique(self.free).tolist():
            if theirs == everything:  # it covers nobody
                continue
            others = np.flatnonzero(self.free == theirs)
            for own in np.unique(self.free[tuples]).tolist():
                here = np.flatnonzero(self.free[tuples] == own)
                found[here] += _agreeing(self, mask | own | theirs, others, tuples[here])
        return found

    @cached_property
    def differences(self) -> Array:
        """The columns in which each tuple (a row) differs from each, but for those that are free in either."""
        found = np.zeros((len(self.counts), len(self.counts)), np.int64)
        for place, column in enumerate(self.codes):
            found |= (column.codes[:, None] != column.codes).astype(np.int64) << place
        return found & ~(self.free[:, None] | self.free)

    def enough(self, mask: int, tuples: Array) -> Array:
        """For which of these tuples nothing rare is left outside a mask."""
        columns = len(self.codes)
        shown = columns - mask.bit_count()
        if shown == 0:
            return np.ones(len(tuples), bool)
        if shown < self.m:
            return np.asarray(self.alike(mask, tuples) >= self.k)
        inside = [number for number, chosen in enumerate(self.combinations) if not chosen & mask]
        return np.asarray(~self.flags[inside][:, tuples].any(axis=0))


@dataclass
class _Settled:
    """Tuples whose suppressed columns are decided, by those columns."""

    rare: _Rare
    masks: Array
    by_mask: dict[tuple[int, int], Array] = field(default_factory=dict)
    tried: int = 0  # sets of columns, of cheaper tiers

    def add(self, tuples: Array) -> None:
        """Tuples that were decided; rows suppressed throughout cover nobody."""
        everything = (1 << len(self.rare.codes)) - 1
        for mask, free in set(zip(self.masks[tuples].tolist(), self.rare.free[tuples].tolist(), strict=True)):
            if mask | free != everything:
                these = tuples[(self.masks[tuples] == mask) & (self.rare.free[tuples] == free)]
                self.by_mask[mask, free] = np.concatenate([self.by_mask.get((mask, free), these[:0]), these])

    def matching(self, mask: int, tuples: Array) -> Array:
        """Settled records that match each tuple only because of their own suppressed cells."""
        if len(self.rare.counts) <= FEW_MATCHING:
            settled = np.concatenate(list(self.by_mask.values()))
            apart = self.rare.differences[np.ix_(tuples, settled)] & ~mask
            joined = (apart != 0) & ((apart & ~self.masks[settled]) == 0)
            return np.asarray(joined @ self.rare.counts[settled])
        matches = np.zeros(len(tuples), np.int64)
        for free in np.unique(self.rare.free[tuples]).tolist():
            here = np.flatnonzero(self.rare.free[tuples] == free)
            after: dict[int, list[Array]] = {}
            before: dict[int, list[Array]] = {}
            for (own, theirs), settled in self.by_mask.items():
                if own & ~(mask | free | theirs):
                    after.setdefault(mask | free | theirs | own, []).append(settled)
                    before.setdefault(mask | free | theirs, []).append(settled)
            for union, parts in after.items():
                matches[here] += _agreeing(self.rare, union, np.concatenate(parts), tuples[here])
            for union, parts in before.items():
                matches[here] -= _agreeing(self.rare, union, np.concatenate(parts), tuples[here])
        return matches


def _agreeing(rare: _Rare, mask: int, records: Array, tuples: Array) -> Array:
    """How many of some records are like each tuple outside a mask."""
    group, groups = groups_on(rare.codes, mask, np.concatenate([records, tuples]))
    counts = np.bincount(group[: len(records)], rare.counts[records], groups)
    return np.asarray(counts[group[len(records) :]], np.int64)


def shown(found: Suppressed) -> tuple[dict[str, ReleasedColumns], tuple[Array, int]]:
    """The columns as they are written, the class of each row (-1: `*` throughout), and how many classes there are.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.suppress import suppress
    >>> found = suppress(read({"sex": ["f", "f", "m"]}).select(["sex"]), 2)
    >>> columns, (classes, count) = shown(found)
    >>> columns["sex"].series[0].to_list(), classes.tolist(), count
    (['f', 'f', '*'], [0, 0, -1], 1)
    """
    columns = {}
    for place, column in enumerate(found.columns):
        cells = found.cells(place)
        if not cells.any():
            columns[column.name] = as_it_was(column)
            continue
        is_text = column.values.dtype == pl.String
        own = escape(column.values) if is_text else texts_of(column.values)
        kind = type_word(column.dtype)
        form = ColumnForm(kind="suppressed-cells", type=kind, escaped=is_text, decimals=scale_of(column))
        texts = pl.concat([with_null(own, None), pl.Series("label", [STAR])])
        codes = np.where(cells, len(texts) - 1, column.codes)
        written = texts.gather(codes).alias(column.name)
        columns[column.name] = ReleasedColumns([written], "truthful", cells, form, Coded(codes, len(texts)))
    class_of_row, count = np.full(len(found.masks), -1, np.int64), 0
    kept = np.flatnonzero(~found.throughout)
    if len(kept):
        codes_shown = [Coded(column.codes[kept], column.cardinality) for column in _coded(found)]
        class_of_row[kept], count = class_of_each_row(pack(codes_shown))
    return columns, (class_of_row, count)


def boxes_of(found: Suppressed) -> Boxed | None:
    """The rows as boxes, a suppressed cell being the whole range; none where a column holds texts or nulls."""
    dtypes = [column.values.dtype for column in found.columns]
    if any(c.nulls for c in found.columns) or not all(one.is_numeric() or one.is_temporal() for one in dtypes):
        return None
    box_of_row, count = class_of_each_row(pack(_coded(found)))
    first = first_row_of_each_class(box_of_row, count)
    sides = {}
    for place, column in enumerate(found.columns):
        cells, codes = found.cells(place)[first], column.codes[first].astype(np.int64)
        last = len(column.values) - 1
        sides[column.name] = Side(numbers(column), np.where(cells, 0, codes), np.where(cells, last, codes))
    return Boxed(box_of_row, sides)


def _coded(found: Suppressed) -> list[Coded]:
    """The columns with one more code for `*`."""
    return [
        Coded(np.where(found.cells(place), column.cardinality, column.codes), column.cardinality + 1)
        for place, column in enumerate(found.columns)
    ]


def suppressed_together(
    found: Suppressed, shared: Sequence[str], household: Coded, k: int, reading: Reading, null_rule: NullRule
) -> Suppressed:
    """The same with the `shared` columns suppressed in all rows of a household where they are in one.

    Whoever no longer reaches k then is suppressed throughout, until all others do.

    >>> from shoal.methods.suppress import suppress
    >>> from shoal.storage.reading import read
    >>> columns = read({"town": ["A", "A", "B", "A"], "sex": ["f", "f", "f", "m"]}).select(["town", "sex"])
    >>> found = replace(suppress(columns, 2), masks=np.array([1, 0, 1, 2]))
    >>> suppressed_together(found, ["town"], Coded(np.array([0, 0, 1, 1]), 2), 2, "wildcard", "value").masks.tolist()
    [1, 1, 1, 3]
    """
    common = sum(1 << place for place, column in enumerate(found.columns) if column.name in shared)
    everything = (1 << len(found.columns)) - 1
    masks, codes = found.masks.copy(), [Coded(column.codes, column.cardinality) for column in found.columns]
    matching = reading == "wildcard"
    nulls = _nulls(found.columns) if matching and null_rule == "wildcard" else np.zeros(len(masks), np.int64)
    while True:
        together = np.zeros(household.cardinality, np.int64)
        np.bitwise_or.at(together, household.codes, masks & common)
        masks |= together[household.codes]
        alone = (_like(codes, masks | nulls, None, matching) < k) & (masks != everything)
        if not alone.any():
            return replace(found, masks=masks)
        masks[alone] = everything


class Suppress(Method):
    """Local suppression: as few cells as needed become `*`.

    >>> Suppress(reading="strict").reading
    'strict'
    """

    name: ClassVar[str] = "suppress"
    does: ClassVar[str] = "few cells are suppressed, so that every record matches or looks like k others"
    source: ClassVar[str] = "[Local suppression](suppression.md)"

    reading: Reading | None = Field(
        default=None, description="A suppressed cell matches anything (with k), or is a value of its own (k-anonymity)."
    )
    importance: Importance = Field(
        default={}, description="What a cell of a column is worth; the policy's, otherwise 1."
    )
    subset_size: int | None = Field(
        default=None,
        ge=1,
        description="Protect every combination of so many quasi-identifiers, not all of them together.",
    )

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, by either reading."""
        matching = [model for model in policy.models if isinstance(model, KMatching)]
        if k_of(policy) is None and not matching:
            return NEEDS_K
        if policy.person is not None and (self.reading == "wildcard" or matching):
            return "reads `*` as a value where rows belong to persons (`person`): k-matching has no meaning for them"
        sizes = [self.subset_size, *(model.m for model in matching)]
        if policy.household is not None and any(size is not None for size in sizes):
            return Message(
                "protects combinations of columns (`{subset_size}`) of single records, not of households (`household`)"
            )
        return one_of_them(policy) or varies_within_persons(table, policy, policy.quasi_identifiers)

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Suppress, and measure by both readings."""
        reading = "strict" if policy.person is not None else self.reading
        policy, k, kept, size = policy_to_keep(policy, k_without_policy, reading, self.subset_size)
        columns, units = table.select(policy.quasi_identifiers), units_of(table, policy)
        importance = self.relative_importance(policy)

        def few_cells(columns: Sequence[Column], people: Array | None = None) -> Suppressed:
            return suppress(columns, k, kept, importance, size, policy.null_rule, people)

        cells = few_cells(columns, units.people) if units.stratum is None else by_person(columns, units, k, few_cells)
        homes, weights = households_of(table, policy), units.weights_of_rows
        if homes is not None:
            shared = [column.name for column in of_households(columns, homes)]
            together = Coded(homes.of_row, homes.count)
            cells = suppressed_together(cells, shared, together, k, kept, policy.null_rule)
        released, classes = shown(cells)
        evidence = evidence_of_result(table, policy, released, classes[0], shown_values=True)
        models = judged(policy, evidence)
        close = closeness_told(policy)
        findings = findings_of(table, columns, None, released, classes, conditions, close, weights=weights)
        if not units.plain:
            findings = with_members(findings, evidence)
        readings = {name: ReadingFigures(**figures) for name, figures in readings_of(evidence).items()}
        if policy.person is not None:
            readings = {"strict": ReadingFigures(findings.k, findings.uniques)}
        boxed = boxes_of(cells)
        if boxed is not None:
            loss = information_loss(columns, boxed, weights)
            findings = replace(
                findings,
                information_loss=loss.total,
                information_loss_by_column=loss.by_column,
                change=change_of(columns, boxed),
            )
        # the fewest matches on any combination of so many columns
        subset = None if size is None else SubsetFigures(size, models[0].worst["matches"])
        findings = replace(
            findings,
            k=readings[kept].k,
            uniques=readings[kept].uniques,
            loss=_loss(cells, weights),
            suppression=SuppressionOutcome(kept, readings, cells.cells_by_column, cells.least_cells, subset),
        )
        parameters = {"k": k, "reading": kept, "importance": self.importance_by(policy), "subset_size": size}
        return Anonymized(self.name, models, findings, table, policy, parameters, released)


def by_person(
    columns: Sequence[Column], units: Units, k: int, few_cells: Callable[[Sequence[Column]], Suppressed]
) -> Suppressed:
    """Cells suppressed in all rows of a person; persons whom fewer than k share their number of rows, throughout."""
    own = units.columns(columns)
    masks, least = np.full(units.count, (1 << len(columns)) - 1, np.int64), 0
    for some in units.strata():
        rows = len(units.rows_of(some)[0])
        if len(some) < k:
            least += rows
            continue
        found = few_cells([column.take(some) for column in own])
        masks[some] = found.masks
        least += found.least_cells * (rows // len(some))
    return Suppressed(columns, masks[units.of_row], least)


def _loss(cells: Suppressed, weights: Array | None) -> float:
    """The loss of all columns: a suppressed cell stands for every value, the others for themselves."""
    counts = [column.cardinality for column in cells.columns]
    stars = [float(np.average(cells.cells(place), weights=weights)) for place in range(len(counts))]
    return loss_of_shares(counts, [1 + star * (count - 1) for star, count in zip(stars, counts, strict=True)])


def policy_to_keep(
    policy: Policy, k_without_policy: bool, reading: Reading | None, subset_size: int | None
) -> tuple[Policy, int, Reading, int | None]:
    """The policy with the model that suppression is to keep, its k, the reading, and the size of subsets.

    A policy that asks for k-anonymity means classes of equal records. A k without such a policy is read as survey
    statisticians do, where a suppressed cell matches anything; the model is then called so.

    >>> asked = Policy(models=[KAnonymity(k=3)])
    >>> policy_to_keep(asked, False, None, None)[2], policy_to_keep(asked, True, None, None)[2]
    ('strict', 'wildcard')
    """
    about_k = [model for model in policy.models if isinstance(model, (KAnonymity, KMatching))]
    if not about_k:  # another model implies a k, in classes of equal records
        about_k = [KAnonymity(k=k_of(policy) or 2)]
    k = max([*(model.k for model in about_k), k_of(policy) or 2])
    others = [model for model in policy.models if model not in about_k]
    asked = [model for model in about_k if isinstance(model, KMatching)]
    by_policy = "strict" if len(asked) < len(about_k) and not k_without_policy else "wildcard"
    if reading == "wildcard" and by_policy == "strict":
        raise InputError(
            "The policy names k-anonymity, which a suppressed cell that matches anything does not keep.",
            Message("Name k-matching in the policy, or leave out `{reading}`."),
        )
    if (reading or by_policy) == "strict":
        return policy.model_copy(update={"models": [KAnonymity(k=k), *asked, *others]}), k, "strict", subset_size
    size = subset_size if subset_size is not None or not asked else asked[0].m
    return policy.model_copy(update={"models": [KMatching(k=k, m=size), *others]}), k, "wildcard", size
