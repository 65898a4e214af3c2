"""What a change cost, in words: per column what is unchanged, how wide the others are, what is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.ranges.boxed import Boxed, Sets, Side, has_order, mean_of, widths
from shoal.ranges.columns import ReleasedColumns
from shoal.ranges.hierarchy import Hierarchy, fit
from shoal.ranges.parsing import STAR, as_numbers, ends_of, sets_in
from shoal.storage import Array, Column
from shoal.storage.classes import Coded, CountTable
from shoal.wording import percent

# The unit in which the width of a column's values is told: years of ages, days of dates, nothing otherwise.

_PER_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}
_YEAR = 365.25  # days
# kinds of numbers that count time, by the rule that recognised them
_UNITS = {"years": "year", "year": "year", "months": "month", "days": "day"}


def in_days(widths: Array, dtype: pl.DataType | type[pl.DataType]) -> Array:
    """Widths of points in time as days; all others as they are.

    >>> in_days(np.array([86_400e6]), pl.Datetime("us")).tolist()
    [1.0]
    """
    unit = getattr(dtype, "time_unit", "ns" if dtype == pl.Time else None)
    return widths if unit is None else np.asarray(widths / _PER_DAY[unit])


def width_of(column: Column, width: float) -> str:
    """A width of a column's values as people say it; days as months from 60 on, as years from two years on.

    >>> from shoal.storage.reading import read
    >>> width_of(read({"age": [30, 41]})["age"], 13.0), width_of(read({"charge": [30, 41]})["charge"], 1300.0)
    ('13 years', '1,300')
    >>> from datetime import date
    >>> born = read({"born": [date(1950, 1, 1), date(1990, 1, 1)]})["born"]
    >>> width_of(born, 7.0), width_of(born, 100.0), width_of(born, 3141.0)
    ('7 days', '3.3 months', '8.6 years')
    """
    unit = _unit(column)
    if unit == "day" and width >= 2 * _YEAR:
        width, unit = width / _YEAR, "year"
    elif unit == "day" and width >= 60:
        width, unit = width * 12 / _YEAR, "month"
    amount = f"{width:,.0f}" if width >= 9.95 else f"{width:.2g}"
    return f"{amount} {unit}{'' if amount == '1' else 's'}" if unit else amount


def _unit(column: Column) -> str:
    """What a column's widths count; empty where they count nothing with a name."""
    dtype = column.values.dtype
    if column.declared is not None and column.declared.has_order:
        return "step"
    return "day" if dtype.is_temporal() else _number_units(column) if dtype.is_numeric() else ""


def _number_units(column: Column) -> str:
    """What a column of ages or years counts, which only its header can tell."""
    from shoal.identifiers import dates
    from shoal.identifiers.base import DECIDED, ColumnView
    from shoal.identifiers.column import ColumnEvidence
    from shoal.identifiers.header import read_header

    header = read_header(column.name)
    words = (dates.AGE, dates.YEAR_OF_BIRTH, dates.BIRTH, dates.YEAR)
    if not any(book.heard(header)[0] for book in words):
        return ""
    counts = column.frequencies()
    view = ColumnEvidence(ColumnView(column.name, column.values, counts, int(counts.sum()) + column.nulls))
    for recognise in (dates.ages, dates.birth_dates, dates.event_dates):
        for found in recognise(view):
            if found.confidence >= DECIDED and found.rule in _UNITS:
                return _UNITS[found.rule]
    return ""


@dataclass(frozen=True)
class ColumnCost:
    """What became of the values of one quasi-identifier, over all records.

    `unchanged` and `unknown` (released as `*`) are shares of the records. Of the others `within` is the average width,
    high - low, of what a number or date was widened to (dates in days), `members` the average number of categories that
    a released one stands for. A mean counts as what it is the mean of.
    """

    column: str
    unchanged: float
    within: float | None
    members: float | None
    unknown: float
    sentence: str

    @property
    def beside_name(self) -> str:
        """The sentence where the name of the column stands before it."""
        return self.sentence.removeprefix(self.column).removeprefix(":").lstrip()


class Widened(NamedTuple):
    """Groups of records of one column: how many records, the width or the number of members of what is shown, and
    whether nothing is. A width of 0 and a size of 1 is a value as it was."""

    records: Array
    unknown: Array
    width: Array | None
    size: Array | None

    def summed(self) -> Widened:
        """The same with the groups of one kind and size, and of any width, as one group.

        >>> cells = Widened(np.array([2, 3, 5]), np.array([False, False, True]), np.array([1.0, 6.0, 0.0]), None)
        >>> [part.tolist() for part in cells.summed()[:3]]
        [[5, 5], [True, False], [0.0, 4.0]]
        """
        kinds = np.stack([self.changed, self.unknown, np.zeros(len(self.records)) if self.size is None else self.size])
        (_, unknown, size), kind = np.unique(kinds, axis=1, return_inverse=True)
        kind = kind.ravel()
        records = np.bincount(kind, self.records)
        width = None if self.width is None else np.bincount(kind, self.width * self.records) / np.maximum(records, 1)
        whole = records.astype(np.int64)
        return Widened(whole, unknown.astype(bool), width, None if self.size is None else size.astype(np.int64))

    @classmethod
    def together(cls, parts: Sequence[Widened]) -> Widened:
        """The groups of several parts of a table."""
        records, unknown = (
            np.concatenate(some) for some in ([part.records for part in parts], [part.unknown for part in parts])
        )
        widths = [part.width for part in parts if part.width is not None]
        sizes = [part.size for part in parts if part.size is not None]
        width, size = (np.concatenate(some) if some else None for some in (widths, sizes))
        return cls(records, unknown, width, size).summed()

    @property
    def changed(self) -> Array:
        """Which groups show something else than one value or nothing."""
        wide = self.width > 0 if self.width is not None else self.size > 1  # type: ignore[operator]
        return np.asarray(wide & ~self.unknown)


def cost_of_boxes(
    columns: Sequence[Column], boxed: Boxed, means: bool = False, weights: Array | None = None
) -> list[ColumnCost]:
    """The cost of every column, straight from the boxes; `weights` are the people that each row stands for.

    >>> from shoal.methods.sorted_clusters import sorted_clusters
    >>> from shoal.storage.reading import read
    >>> columns = read({"age": [30, 34, 51, 51]}).select(["age"])
    >>> cost_of_boxes(columns, sorted_clusters(columns, 2))[0].sentence
    '50.0% of ages unchanged, the others within 4 years on average'
    """
    widened = widened_by_boxes(columns, boxed, weights)
    return [cost_of_widened(column, cells, means) for column, cells in zip(columns, widened, strict=True)]


def widened_by_boxes(columns: Sequence[Column], boxed: Boxed, weights: Array | None = None) -> list[Widened]:
    """What became of each column, from the boxes."""
    found, boxes, records = [], None, np.zeros(0)
    for column in columns:
        along = boxed.along(column.name)
        if along is not boxes:
            boxes, records = along, along.records(weights)
        found.append(_of_side(column, along.sides[column.name], records))
    return found


def _of_side(column: Column, side: Side, of_boxes: Array) -> Widened:
    """The records of each range of a column."""
    if not len(side.scale):  # nothing but missing values
        return Widened(of_boxes, side.starred, np.zeros(len(of_boxes)), None)
    which, first = side.distinct()
    records, starred = np.bincount(which, of_boxes, len(first)).astype(of_boxes.dtype), side.starred[first]
    if isinstance(side, Sets):
        return Widened(records, starred, None, np.diff(side.starts)[side.set_of_box[first]])
    width = in_days(widths(side.scale[side.low[first]], side.scale[side.high[first]]), column.values.dtype)
    return Widened(records, starred, width, None)


def cost_of_labels(
    columns: Sequence[Column],
    released: Mapping[str, ReleasedColumns],
    trees: Mapping[str, Hierarchy] | None = None,
    weights: Array | None = None,
) -> list[ColumnCost]:
    """The cost of every column, from the labels that it was given: a range by its ends, a set by its members, a node by
    the column's values below it, any other label by the values that it was given for.

    >>> from shoal.ranges.forms import ColumnForm
    >>> from shoal.storage.reading import read
    >>> column = read({"job": ["clerk", "monk", "poet", "poet"]})["job"]
    >>> texts = pl.Series("job", ["[clerk, monk]", "[clerk, monk]", "poet", "*"])
    >>> form = ColumnForm(kind="set", type="text")
    >>> shown = ReleasedColumns([texts], "truthful", np.array([True, True, False, True]), form)
    >>> cost_of_labels([column], {"job": shown})[0].sentence
    'job exact in 25.0%, one of 2 in 50.0%, unknown in 25.0%'
    """
    found = []
    for column in columns:
        label = released[column.name]
        if label.nature == "unchanged":
            records = np.array([len(column.codes) if weights is None else weights.sum()])
            measures = (np.zeros(1), None) if has_order(column) else (None, np.ones(1, int))
            widened = Widened(records, np.zeros(1, bool), *measures)
        else:
            widened = _of_labels(column, label, (trees or {}).get(column.name), weights)
        found.append(cost_of_widened(column, widened, label.nature == "representative"))
    return found


def _of_labels(column: Column, label: ReleasedColumns, tree: Hierarchy | None, weights: Array | None) -> Widened:
    shown = label.encoded[0]
    pairs = CountTable.of(
        {"was": column, "shown": shown, "kept": Coded((~label.modified).astype(np.uint8), 2)}, weights
    )
    was, code = (pairs.tuples[name].codes.astype(np.int64) for name in ("was", "shown"))
    same = pairs.tuples["kept"].codes.astype(bool)
    texts = shown.values.cast(pl.String)
    star = np.append((texts == STAR).to_numpy(), False)[code] & ~same
    if has_order(column):
        clock = isinstance(column.values.dtype, pl.Datetime)
        width = in_days(_widths(column, shown, was, code, tree), pl.Datetime("us") if clock else pl.Date)
        return Widened(pairs.counts, star, np.where(same, 0.0, width), None)
    return Widened(pairs.counts, star, None, np.where(same, 1, _sizes(column, shown, was, code, tree)))


def _widths(column: Column, shown: Column, was: Array, code: Array, tree: Hierarchy | None) -> Array:
    """By pair the width that its label says, where the label reads as a range around the value; otherwise the width of
    the values below the node, or of those that the label was given for."""
    values = np.append(as_numbers(column.values), np.nan)
    low, high = (np.append(end, np.nan)[code] for end in ends_of(shown))
    says = (low <= values[was]) & (values[was] <= high)
    least, most = np.full(shown.cardinality + 1, np.inf), np.full(shown.cardinality + 1, -np.inf)
    np.fmin.at(least, code, values[was])
    np.fmax.at(most, code, values[was])
    if tree is not None:
        for place, under in _below(column, shown, tree):
            least[place] = min(least[place], values[:-1][under].min())
            most[place] = max(most[place], values[:-1][under].max())
    hull = np.where(np.isfinite(least), widths(least, most), 0.0)[code]
    return np.asarray(np.where(says, widths(low, high), hull))


def _sizes(column: Column, shown: Column, was: Array, code: Array, tree: Hierarchy | None) -> Array:
    """By pair the members of its label's set, the values below its node, or how many values have the label."""
    distinct = CountTable.of({"shown": Coded(code, shown.cardinality + 1), "was": Coded(was, column.cardinality)})
    sizes = np.bincount(distinct.tuples["shown"].codes, minlength=shown.cardinality + 1)
    if tree is not None:
        for place, under in _below(column, shown, tree):
            sizes[place] = max(sizes[place], int(np.count_nonzero(under)))
    if shown.values.dtype == pl.String:
        members = np.bincount(sets_in(shown)["set"].to_numpy(), minlength=len(sizes))
        sizes = np.where(members > 0, members, sizes)
    return np.asarray(sizes[code])


def _below(column: Column, shown: Column, tree: Hierarchy) -> list[tuple[int, Array]]:
    """Every label that is a node, and which of the column's values are below it; of equal names the highest."""
    places = {text: place for place, text in enumerate(shown.values.cast(pl.String).to_list())}
    fitted, found = fit(tree, column), {}
    for codes, labels in zip(fitted.codes[1:], fitted.labels[1:], strict=True):
        for node, label in enumerate(labels):
            if label in places:
                found[places[label]] = codes[: len(column.values)] == node
    return [(place, under) for place, under in found.items() if under.any()]


def cost_of_widened(column: Column, cells: Widened, means: bool = False) -> ColumnCost:
    """The cost of one column, from its groups of records."""
    records, changed = int(cells.records.sum()), cells.changed
    total, hidden, others = max(records, 1), int(cells.records[cells.unknown].sum()), int(cells.records[changed].sum())
    unchanged, unknown = (records - others - hidden) / total if records else 1.0, hidden / total
    within = members = None
    if others and cells.width is not None:
        within = mean_of(cells.width[changed], cells.records[changed])
    if others and cells.size is not None:
        members = float((cells.size * cells.records)[changed].sum()) / others
    if unchanged == 1.0:
        sentence = f"{column.name} unchanged"
    elif unknown == 1.0:
        sentence = f"{column.name} unknown in every record"
    elif cells.size is not None:
        sentence = _categories(column.name, unchanged, others / total, cells.size[changed], unknown, means)
    else:
        sentence = _ordered(column, unchanged, others / total, within, unknown, means)
    return ColumnCost(column.name, unchanged, within, members, unknown, sentence)


def _categories(name: str, unchanged: float, others: float, sizes: Array, unknown: float, means: bool) -> str:
    """`education exact in 61.0%, one of 2–5 in 31.0%, unknown in 8.0%`"""
    words = [f"exact in {percent(unchanged)}"] if unchanged else []
    if others:
        few, many = int(sizes.min()), int(sizes.max())
        among = f"{few:,}" if few == many else f"{few:,}–{many:,}"
        words.append(f"{'the most frequent' if means else 'one'} of {among} in {percent(others)}")
    if unknown:
        words.append(f"unknown in {percent(unknown)}")
    return f"{name} {', '.join(words)}"


def _ordered(column: Column, unchanged: float, others: float, within: float | None, unknown: float, means: bool) -> str:
    """`28.0% of ages unchanged, the others within 13 years on average`"""
    ages = column.name.lower() == "age"
    words = [f"{percent(unchanged)}{' of ages' if ages else ''} unchanged"] if unchanged else []
    if within is not None:
        who = "the others" if words and not unknown else percent(others) + (" of ages" if ages and not words else "")
        if not words and not unknown:
            who = ("every age" if ages else "every value") if means else "ages" if ages else "values"
        what = "a mean of values within" if means else "within"
        words.append(f"{who} {what} {width_of(column, within)} on average")
    if unknown:
        words.append(f"{percent(unknown)} unknown")
    return ("" if ages else f"{column.name}: ") + ", ".join(words)


# What is left of a table, by the sizes of its classes.


def discernibility(squares: float, suppressed: int, records: int) -> float:
    """The mean number of records that a record cannot be told from, over all records: (sum size² + suppressed N) / N²,
    by the sum of the squares of sizes.

    >>> discernibility(8.0, 0, 4)
    0.5
    """
    return float((squares + suppressed * records) / records**2)


def average_class_size(classes: int, suppressed: int, records: int) -> float:
    """Records per class over records (LeFevre et al.), the suppressed as one class of their own.

    >>> average_class_size(2, 0, 4)
    0.5
    """
    return float(records / (classes + (suppressed > 0)) / records)
