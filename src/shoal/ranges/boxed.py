"""Rows released as boxes: each row lies in a box, each box spans a range in every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Self

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.kernels.rows import ends_of_clusters
from shoal.ranges.parsing import RangeColumn, Spacing, runs, spaced
from shoal.storage import Array, Column, smallest_unsigned
from shoal.storage.classes import (
    Coded,
    CountTable,
    class_of_each_person,
    class_of_each_row,
    first_row_of_each_class,
    pack,
)
from shoal.storage.rows import occurrences
from shoal.storage.table import blocks_of
from shoal.storage.unite import exact_texts
from shoal.vocabulary import Domain

# Numbers of any size in a unit in which their differences and squares are numbers too.
#
# The unit is a power of two, so that nothing is rounded but what is far smaller than the largest. Numbers of ordinary
# size keep theirs.


# of numbers between 2^-400 and 2^400 the sum of any number of squares is exact enough
_ORDINARY = 400


def exponent_of(values: Array) -> int:
    """The unit of some numbers, as a power of two: 0 for those of ordinary size.

    >>> exponent_of(np.array([3.0, -1e100])), exponent_of(np.array([1e308, -1e308])), exponent_of(np.array([5e-324]))
    (0, 1024, -1073)
    """
    largest = float(np.abs(values).max(initial=0.0))
    exponent = int(np.frexp(largest)[1])
    return 0 if largest == 0.0 or abs(exponent) <= _ORDINARY else exponent


def in_unit(values: Array, exponent: int) -> Array:
    """Numbers in units of 2^exponent.

    >>> in_unit(np.array([1.0, 4.0]), 1).tolist()
    [0.5, 2.0]
    """
    return values if exponent == 0 else np.asarray(np.ldexp(values, -exponent))


def out_of_unit(values: Array, exponent: int) -> Array:
    """The numbers again; what is larger than any number is the largest.

    >>> out_of_unit(np.array([0.5, 2.0]), 1024).tolist()
    [8.98846567431158e+307, 1.7976931348623157e+308]
    """
    if exponent == 0:
        return values
    most = np.ldexp(np.finfo(np.float64).max, -exponent) if exponent > 0 else np.inf
    return np.asarray(np.ldexp(np.clip(values, -most, most), exponent))


def middles(scale: Array, low: Array, high: Array) -> Array:
    """The middle of each range scale[low] .. scale[high].

    >>> middles(np.array([1e308, 1.5e308]), np.array([0]), np.array([1])).tolist()
    [1.25e+308]
    """
    exponent = exponent_of(scale)
    scale = in_unit(scale, exponent)
    return out_of_unit((scale[low] + scale[high]) / 2, exponent)


def widths(low: Array, high: Array) -> Array:
    """high - low; of ends that are farther apart than any number is large, the largest number.

    >>> widths(np.array([1.0, -1e308]), np.array([3.0, 1e308])).tolist()
    [2.0, 1.7976931348623157e+308]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = high - low
    if not np.isinf(found).any():
        return np.asarray(found)
    return np.where(np.isinf(found) & np.isfinite(low) & np.isfinite(high), np.finfo(np.float64).max, found)


def mean_of(values: Array, counts: Array) -> float:
    """The mean of numbers that are not negative, each of which counts so many times.

    >>> mean_of(np.array([1.0, 4.0]), np.array([2, 1])), mean_of(np.array([1.5e308]), np.array([9]))
    (2.0, 1.5e+308)
    """
    exponent = exponent_of(values) if np.isfinite(values).all() else 0
    mean = float((in_unit(values, exponent) * counts).sum()) / int(counts.sum())
    return float(out_of_unit(np.asarray(mean), exponent))


NONE_MISSING, SOME_MISSING, ALL_MISSING = 0, 1, 2
# rows from which on a loop of all columns is quicker than numpy's, and the types of codes that it takes
_CODES = (np.uint8, np.uint16, np.uint32)
_MANY = 1 << 18


@dataclass(frozen=True)
class Side:
    """One column of boxes: box b spans scale[low[b]] .. scale[high[b]]; the scale is sorted.

    `exact` are the values of the scale in the type of the column, which floats need not hold (integers past 2^53).
    `missing[b]` says whether none, some or all of a box's records have no value there. A box with some spans the whole
    column and is released as `*`, which holds a missing value too; a box with all is released as missing.
    """

    scale: Array
    low: Array
    high: Array
    missing: Array | None = None
    exact: pl.Series | None = None

    @property
    def starred(self) -> Array:
        """Which boxes are released as `*`."""
        return np.zeros(len(self.low), bool) if self.missing is None else np.asarray(self.missing == SOME_MISSING)

    @property
    def wide(self) -> Array:
        """Which boxes hold more than one value."""
        return np.asarray((self.low != self.high) | self.starred)

    def distinct(self) -> tuple[Array, Array]:
        """Which of its ranges each box has, in their order, and a box of each range.

        >>> which, first = Side(np.array([1.0, 5.0]), np.array([1, 0, 1]), np.array([1, 0, 1])).distinct()
        >>> which.tolist(), first.tolist()
        ([1, 0, 1], [1, 0])
        """
        which, count = class_of_each_row(pack(self.codes()))
        return which, first_row_of_each_class(which, count)

    def picked(self, boxes: Array) -> Self:
        """The same of some boxes."""
        missing = None if self.missing is None else self.missing[boxes]
        return replace(self, low=self.low[boxes], high=self.high[boxes], missing=missing)

    def codes(self) -> list[Coded]:
        """What tells boxes apart in this column."""
        ends = [Coded(end, len(self.scale)) for end in (self.low, self.high)]
        return ends if self.missing is None else [*ends, Coded(self.missing, 3)]


@dataclass(frozen=True)
class Sets(Side):
    """One column of boxes of categories: box b holds the categories of set `set_of_box[b]`, and none that lies between.

    Set s has the categories members[starts[s]:starts[s+1]], sorted; `labels` are the texts of all categories.
    """

    set_of_box: Array = None  # type: ignore[assignment]
    starts: Array = None  # type: ignore[assignment]
    members: Array = None  # type: ignore[assignment]
    labels: pl.Series = None  # type: ignore[assignment]

    def picked(self, boxes: Array) -> Self:
        """The same of some boxes."""
        return replace(super().picked(boxes), set_of_box=self.set_of_box[boxes])

    def named(self) -> Sequence[str]:
        """What tells sets apart beside their members."""
        return [""] * (len(self.starts) - 1)

    def named_again(self, kept: Sequence[tuple[Sets, int]]) -> Sets:
        """The same, with what belongs to each set from where it was first met."""
        return self

    def codes(self) -> list[Coded]:
        """What tells boxes apart in this column."""
        found = [Coded(self.set_of_box, len(self.starts) - 1)]
        return found if self.missing is None else [*found, Coded(self.missing, 3)]


@dataclass(frozen=True)
class Boxed:
    """`box_of_row[r]` is the box of row r; two boxes may be equal, and then their rows are one class."""

    box_of_row: Array
    sides: Mapping[str, Side]
    _along: dict[str, Boxed] = field(default_factory=dict, init=False, repr=False, compare=False)

    def along(self, name: str) -> Boxed:
        """The boxes as far as one column goes: its ranges in their order, and which of them each row has.

        >>> side = Side(np.array([1.0, 5.0]), np.array([1, 0, 1]), np.array([1, 0, 1]))
        >>> found = Boxed(np.array([2, 1, 0]), {"age": side}).along("age")
        >>> found.box_of_row.tolist(), found.sides["age"].low.tolist()
        ([1, 0, 1], [0, 1])
        """
        if name not in self._along:
            self._along[name] = _ranges(self.box_of_row, name, self.sides[name])
        return self._along[name]

    def records(self, weights: Array | None = None) -> Array:
        """The rows in each box, or what they weigh."""
        if weights is None:
            return occurrences(self.box_of_row, self.boxes)
        return np.bincount(self.box_of_row, weights, minlength=self.boxes)

    @property
    def boxes(self) -> int:
        return len(next(iter(self.sides.values())).low)

    def class_of_each_box(self) -> tuple[Array, int]:
        """Equal boxes are one class: the class of each box, and how many classes there are."""
        return class_of_each_row(pack([code for side in self.sides.values() for code in side.codes()]))

    def ranges(self, column: Column, domain: Domain = "range") -> RangeColumn:
        """One column as ranges of atoms, for Eq 1.

        By `range` every value between the ends counts, observed or not; by `observed` a range stands for those of the
        original column's values that lie in it.
        """
        side = self.sides[column.name]
        low, high, atoms, pieces = (
            _sets_as_atoms(side) if isinstance(side, Sets) else _span_as_atoms(side, column, domain)
        )
        if side.missing is not None:  # a missing value is one more atom, which `*` holds
            low = np.where(side.missing == ALL_MISSING, atoms, low)
            high = np.where(side.missing == NONE_MISSING, high, atoms)
            atoms += 1
        which = np.zeros(self.boxes, np.int64) if not isinstance(side, Sets) else side.set_of_box
        codes, count = class_of_each_row(
            pack([Coded(low, atoms), Coded(high, atoms), Coded(which, int(which.max()) + 1)])
        )
        first = first_row_of_each_class(codes, count)
        shown = {code: pieces[int(which[box])] for code, box in enumerate(first) if int(which[box]) in pieces}
        return RangeColumn(
            column.name,
            codes[self.box_of_row],
            low[first],
            high[first],
            atoms,
            shown,
            side.starred[self.box_of_row],
            (),
        )

    def class_of_each_row(self) -> tuple[Array, int]:
        """The class of each row, and how many classes there are."""
        classes, count = self.class_of_each_box()
        return classes[self.box_of_row], count


@dataclass(frozen=True)
class BoxedByColumn(Boxed):
    """Boxes by their sides alone: the ranges of each column in their order, and which of them each row has.

    Nobody numbers the boxes: rows are in one box where they have the same ranges.
    """

    by_column: Mapping[str, Boxed]

    @classmethod
    def of(cls, by_column: Mapping[str, Boxed]) -> BoxedByColumn:
        """From the boxes along each column."""
        sides = {name: boxed.sides[name] for name, boxed in by_column.items()}
        return cls(np.zeros(0, np.int64), sides, by_column)

    def along(self, name: str) -> Boxed:
        """The ranges of one column."""
        return self.by_column[name]

    def modified_rows(self) -> int:
        """How many rows have a range of more than one value."""
        wide = [(boxed.box_of_row, boxed.sides[name].wide) for name, boxed in self.by_column.items()]
        found = 0
        for block in blocks_of(len(wide[0][0])):
            changed = np.zeros(block.stop - block.start, bool)
            for codes, is_wide in wide:
                changed |= is_wide[codes[block]]
            found += int(np.count_nonzero(changed))
        return found


def united(sides: Sequence[Side]) -> tuple[Side, list[Array]]:
    """The ranges of one column in several parts of a table, each once; and which of them each part's ranges are.

    >>> ends = np.array([0, 1]), np.array([1, 1]), np.array([1]), np.array([1])
    >>> one, two = Side(np.array([3.0, 9.0]), *ends[:2]), Side(np.array([3.0, 9.0]), *ends[2:])
    >>> side, numbers = united([one, two])
    >>> side.low.tolist(), [which.tolist() for which in numbers]
    ([0, 1], [[0, 1], [1]])
    """
    low, high, missing = (
        np.concatenate(ends) for ends in zip(*((side.low, side.high, _missing(side)) for side in sides), strict=True)
    )
    whole = replace(sides[0], low=low, high=high, missing=missing)
    if isinstance(whole, Sets):
        whole = _united_sets(whole, [side for side in sides if isinstance(side, Sets)])
    which, boxes = whole.distinct()
    whole = whole.picked(boxes)
    if whole.missing is not None and not whole.missing.any():
        whole = replace(whole, missing=None)
    return whole, np.split(which, np.cumsum([len(side.low) for side in sides])[:-1])


def _missing(side: Side) -> Array:
    return np.zeros(len(side.low), np.int64) if side.missing is None else side.missing


def _united_sets(whole: Sets, sides: Sequence[Sets]) -> Sets:
    """The sets of several parts, each once; what else is told of them goes along."""
    known: dict[tuple[bytes, str], int] = {}
    numbers, kept = [], list[tuple[Sets, int]]()
    for side in sides:
        texts = side.named()
        own = np.empty(len(side.starts) - 1, np.int64)
        for place, (low, high) in enumerate(pairwise(side.starts.tolist())):
            key = side.members[low:high].tobytes(), texts[place]
            if key not in known:
                known[key] = len(kept)
                kept.append((side, place))
            own[place] = known[key]
        numbers.append(own[side.set_of_box])
    members = [side.members[side.starts[place] : side.starts[place + 1]] for side, place in kept]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in members])])
    found = replace(whole, set_of_box=np.concatenate(numbers), starts=starts, members=np.concatenate(members))
    return found.named_again(kept)


def _ranges(box_of_row: Array, name: str, side: Side) -> Boxed:
    """The ranges of one column that rows have; each row by a narrow code, so that what is looked up stays near."""
    which, first = side.distinct()
    codes = which.astype(smallest_unsigned(len(first)))[box_of_row]
    held = np.zeros(len(first), bool)
    held[codes] = True
    if not held.all():
        numbers = (np.cumsum(held) - 1).astype(smallest_unsigned(int(np.count_nonzero(held))))
        codes, first = numbers[codes], first[held]
    found = Boxed(codes, {name: side.picked(first)})
    found._along[name] = found
    return found


def _span_as_atoms(
    side: Side, column: Column, domain: Domain
) -> tuple[Array, Array, int, dict[int, list[tuple[int, int]]]]:
    if domain == "observed":
        if side.exact is column.values:  # ends are codes
            return side.low, side.high, len(column.values), {}
        values = places(column)
        low = np.searchsorted(values, side.scale[side.low])
        high = np.searchsorted(values, side.scale[side.high], side="right") - 1
        return low, high, len(values), {}
    whole = column.dtype.is_integer() or column.dtype == pl.Date
    atom = spaced(
        pl.Series(side.scale) if side.exact is None else side.exact, Spacing.WHOLE if whole else Spacing.REAL, "range"
    )
    return atom[side.low], atom[side.high], int(atom[-1]) + 1, {}


def _sets_as_atoms(side: Sets) -> tuple[Array, Array, int, dict[int, list[tuple[int, int]]]]:
    """Every category is an atom; a set that is not one run of neighbours has pieces."""
    pieces = {}
    ends = zip(side.starts[:-1].tolist(), side.starts[1:].tolist(), strict=True)
    for number, (first, last) in enumerate(ends):
        parts = runs(side.members[first:last].tolist())
        if len(parts) > 1:
            pieces[number] = parts
    return side.low, side.high, len(side.scale), pieces


def numbers(column: Column) -> Array:
    """The values of a column as numbers in value order: numbers as they are, dates as days.

    >>> from shoal.storage.reading import read
    >>> numbers(read({"age": [41, 30]})["age"]).tolist()
    [30.0, 41.0]
    """
    values = column.values
    if column.nulls:
        raise InputError(
            f"Column '{column.name}' has {column.nulls:,} missing values: they have no distance.",
            "Fill them or remove those rows first.",
        )
    if not (values.dtype.is_numeric() or values.dtype.is_temporal()):
        raise InputError(
            f"Column '{column.name}' holds text, and this method needs numbers.",
            "Replace the texts by numbers in a meaningful order first.",
        )
    check_finite(column)
    # what stands behind a decimal number is without its point
    plain = values.to_physical() if values.dtype.is_temporal() else values
    return plain.cast(pl.Float64).to_numpy()


def has_order(column: Column) -> bool:
    """Whether the values of a column are numbers or dates; all others are categories.

    >>> from shoal.storage.reading import read
    >>> has_order(read({"sex": ["f"]})["sex"])
    False
    """
    return column.values.dtype.is_numeric() or column.values.dtype.is_temporal()


def places(column: Column) -> Array:
    """Where each value of a column lies on its scale: numbers as they are, dates as days, categories by their order.

    >>> from shoal.storage.reading import read
    >>> places(read({"sex": ["m", "f", None]})["sex"]).tolist()
    [0.0, 1.0]
    """
    if not has_order(column):
        return np.arange(len(column.values), dtype=np.float64)
    check_finite(column)
    return column.values.to_physical().cast(pl.Float64).to_numpy()


def check_finite(column: Column) -> None:
    """Refuse infinite numbers, which lie in no interval and have no distance.

    >>> from shoal.storage.reading import read
    >>> check_finite(read({"age": [41.0, float("inf")]})["age"])
    Traceback (most recent call last):
    shoal.errors.InputError: Column 'age' holds infinite numbers. Replace them first.
    """
    if column.values.dtype.is_float() and column.values.is_infinite().any():
        raise InputError(f"Column '{column.name}' holds infinite numbers.", "Replace them first.")


def spread(column: Column) -> float:
    """The sample standard deviation (n - 1) of a column's places, from its dictionary and counts; nulls do not count.

    >>> from shoal.storage.reading import read
    >>> spread(read({"x": [1, 3]})["x"])
    1.4142135623730951
    """
    _, sigma, exponent = places_and_spread(column)
    return float(out_of_unit(np.asarray(sigma), exponent))


def places_and_spread(column: Column) -> tuple[Array, float, int]:
    """Where values lie and their spread, in units of 2^exponent: numbers of any size have a spread in theirs.

    >>> from shoal.storage.reading import read
    >>> places_and_spread(read({"x": [-1.5e308, 1.5e308]})["x"])[1].__round__(3), spread(read({"x": [1, 3]})["x"])
    (1.18, 1.4142135623730951)
    """
    values = places(column)
    exponent = exponent_of(values)
    values = in_unit(values, exponent)
    counts = column.frequencies()
    total = counts.sum()
    if total < 2:
        return values, 0.0, exponent
    mean = (counts * values).sum() / total
    return values, float(np.sqrt((counts * (values - mean) ** 2).sum() / (total - 1))), exponent


def distance_to_zero(columns: Sequence[Column], spreads: Mapping[str, float] | None = None) -> Array:
    """Eq 2 from each row to the record of zeros: the root of the sum of (value / spread) squared.

    A column that does not vary contributes nothing. `spreads` are those of the original columns, if these are a part.
    """
    total = np.zeros(len(columns[0].codes))
    for column in columns:
        values = numbers(column)
        sigma = spread(column) if spreads is None else spreads[column.name]
        if sigma > 0:
            total += ((values / sigma) ** 2)[column.codes]
    return np.sqrt(total, out=total)


def box_clusters(columns: Sequence[Column], order: Array, starts: Array) -> Boxed:
    """Boxes around clusters: rows in `order`, a new cluster at each of `starts`; the smallest box that holds all.

    Categories become the set of those that occur in the cluster.

    >>> from shoal.storage.reading import read
    >>> columns = read({"job": ["clerk", "monk", "poet"]}).select(["job"])
    >>> side = box_clusters(columns, np.array([0, 2, 1]), np.array([0, 2])).sides["job"]
    >>> side.members[side.starts[0] : side.starts[1]].tolist()
    [0, 2]
    """
    lengths = np.diff(starts, append=len(order))
    box_of_row = np.empty(len(order), np.int64)
    box_of_row[order] = np.repeat(np.arange(len(starts)), lengths)
    return Boxed(box_of_row, {column.name: _side(column, order, starts, lengths) for column in columns})


def _side(column: Column, order: Array, starts: Array, lengths: Array) -> Side:
    values, missing = len(column.values), None
    low, high, codes = _ends(column, order, starts)
    if column.nulls:
        missing = np.where(low == values, ALL_MISSING, np.where(high == values, SOME_MISSING, NONE_MISSING))
        known = missing == NONE_MISSING
        # the whole column where some are missing
        low, high = np.where(known, low, 0), np.where(known, high, np.where(missing == SOME_MISSING, values - 1, 0))
    if codes is None:
        return Side(places(column), low, high, missing, column.values)
    if missing is not None:
        codes[np.repeat(missing != NONE_MISSING, lengths)] = 0  # what they hold is told by `missing` alone
    return _sets(column, codes, lengths, low, high, missing)


def _ends(column: Column, order: Array, starts: Array) -> tuple[Array, Array, Array | None]:
    """The lowest and highest code of each cluster, and of categories the codes cluster by cluster."""
    ordered = has_order(column)
    if ordered and len(order) >= _MANY:
        codes = column.codes
        rows = order.dtype == starts.dtype == np.int64
        if rows and isinstance(codes, np.ndarray) and codes.flags.c_contiguous and codes.dtype in _CODES:
            low, high = np.empty(len(starts), codes.dtype), np.empty(len(starts), codes.dtype)
            ends_of_clusters(codes, order, starts, low, high)
            return low, high, None
    codes = column.codes[order]
    low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    return low, high, None if ordered else codes


def _sets(column: Column, codes: Array, lengths: Array, low: Array, high: Array, missing: Array | None) -> Sets:
    """The distinct sets of categories that clusters hold; `codes` cluster by cluster."""
    boxes = np.repeat(np.arange(len(lengths)), lengths)
    pairs = CountTable.of({"box": Coded(boxes, len(lengths)), "code": Coded(codes, column.cardinality)}).tuples
    box, code = pairs["box"].codes.astype(np.int64), pairs["code"].codes.astype(np.int64)
    set_of_box, count = class_of_each_person(code, column.cardinality, Coded(box, len(lengths)))
    first = np.zeros(len(lengths), bool)
    first[first_row_of_each_class(set_of_box, count)] = True
    kept = first[box]
    sizes = np.bincount(set_of_box[box[kept]], minlength=count)
    members = code[kept][np.argsort(set_of_box[box[kept]], kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    labels = exact_texts(column.values)
    return Sets(places(column), low, high, missing, None, set_of_box, bounds, members, labels)


def check_k(k: int, rows: int) -> None:
    """Refuse a k that protects nobody or that no table of so many records can reach."""
    if k < 2:
        raise InputError(f"k = {k} protects nobody.", "Use 2 or more.")
    if k > rows:
        raise InputError(f"k = {k} is more than the {rows:,} records.", "Use a smaller k.")
