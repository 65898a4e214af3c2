"""Local suppression: as few cells as needed become `*`, so that every record reaches k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal, get_args

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message, Setting, check_choice
from shoal.storage import Array, Column
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.vocabulary import NullRule

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


# The rows of each tuple, which may stand for several people each and help other tuples only as a whole.


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
    from shoal.methods.wildcard_suppression import masks_for_wildcards

    check_choice(Setting("reading"), reading, get_args(Reading))
    costs = _costs(columns, importance or {})
    people = np.ones(len(columns[0].codes), np.int64) if people is None else people
    _check(columns, int(people.sum()), k, reading, subset_size)
    tuple_of_row, count = class_of_each_row(pack(columns))
    first = first_row_of_each_class(tuple_of_row, count)
    sizes, counts = np.bincount(tuple_of_row, minlength=count), _sums(tuple_of_row, people, count)
    codes = [Coded(column.codes[first], column.cardinality) for column in columns]
    if reading == "strict":
        rows = WholeRows.of(tuple_of_row, count, people)
        equality_masks = masks_for_equality(codes, rows, k, costs)
        return Suppressed(columns, _masks_of_rows(equality_masks, tuple_of_row, rows), int(sizes[counts < k].sum()))
    free = np.zeros(count, np.int64)
    if null_rule == "wildcard":
        for place, column in enumerate(columns):
            free |= column.is_null()[first].astype(np.int64) << place
    masks, standing_out = masks_for_wildcards(codes, counts, k, costs, subset_size, free)
    least = int(sizes[standing_out].sum()) if subset_size is None else int(np.count_nonzero(masks[tuple_of_row]))
    return Suppressed(columns, masks[tuple_of_row], least)


def _sums(group: Array, people: Array, count: int) -> Array:
    return np.bincount(group, people, minlength=count).astype(np.int64)


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
