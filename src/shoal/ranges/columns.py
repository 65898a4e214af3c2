"""Boxes as the columns of a released table, and the names under which they are read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args, overload

import numpy as np
import polars as pl

from shoal.errors import InputError, Message, check_choice
from shoal.ranges.boxed import ALL_MISSING, Boxed, Sets, Side, exponent_of, in_unit, middles, out_of_unit, places
from shoal.ranges.forms import ColumnForm, Nodes, escape, starred
from shoal.ranges.parsing import STAR, set_labels
from shoal.storage import Array, Column, smallest_unsigned
from shoal.storage.classes import Coded, Codes, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.column_type import type_word
from shoal.storage.encode import encode, look_up
from shoal.storage.table import on_disk, records_with
from shoal.storage.unite import exact_texts

# past this, neighbouring integers are one float
LARGEST_EXACT = 2**53
_MOST_DECIMALS = 9
Form = Literal["bracket", "dash", "columns", "midpoint", "mean"]
Nature = Literal["truthful", "named", "representative", "perturbed", "unchanged"]


class Decoded(Sequence[pl.Series]):
    """Columns in codes as the values of their rows, each made when it is asked for.

    >>> Decoded([encode(pl.Series("sex", ["m", "f", "m"]))])[0].to_list()
    ['m', 'f', 'm']
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, place: int) -> pl.Series: ...

    @overload
    def __getitem__(self, place: slice) -> list[pl.Series]: ...

    def __getitem__(self, place: int | slice) -> pl.Series | list[pl.Series]:
        if isinstance(place, slice):
            return [column.decode() for column in self._columns[place]]
        return self._columns[place].decode()


@dataclass(frozen=True)
class ReleasedColumns:
    """The columns that one quasi-identifier became, and what they are."""

    series: Sequence[pl.Series]
    nature: Nature
    modified: Array  # per row: whether the released value says something else than the original; not of rows on disk
    form: ColumnForm  # how its cells are written
    # codes of the rows by which they are alike: rows with the same code are released with the same values
    alike: Codes | None = None
    # the column itself, where nothing was changed
    unchanged: Column | None = None
    # the released columns in codes, where they were made so
    held: tuple[Column, ...] = ()

    @classmethod
    def in_codes(
        cls, held: Sequence[Column], nature: Nature, modified: Array, form: ColumnForm, unchanged: Column | None = None
    ) -> ReleasedColumns:
        """From columns in codes."""
        return cls(Decoded(held), nature, modified, form, None, unchanged, tuple(held))

    @property
    def names(self) -> list[str]:
        """The names under which they are released."""
        return [column.name for column in self.held or self.series]

    @cached_property
    def encoded(self) -> list[Column]:
        """The released columns in codes: what is alike is encoded once and spread over the rows."""
        if self.held:
            return list(self.held)
        if self.alike is None:
            return [encode(series) for series in self.series]
        which, count = class_of_each_row(Coded(self.alike.codes, self.alike.cardinality))
        first = first_row_of_each_class(which, count)
        return [encode(series.gather(first)).take(which) for series in self.series]

    @property
    def suppressed(self) -> Array:
        """Per row: whether the value is written as `*`."""
        if self.held:
            return star_of_each_row(self.held[0], self.form)
        first = self.series[0]
        if not self.form.generalizes:
            return np.zeros(len(first), bool)
        return (first == STAR).fill_null(False).to_numpy() if first.dtype == pl.String else np.zeros(len(first), bool)

    def block(self, rows: slice | Array) -> ReleasedColumns:
        """The same of some rows (a stretch, or positions); what was modified is not told of them."""
        if not self.held:
            series = [values[rows] for values in self.series]
            return ReleasedColumns(series, self.nature, np.zeros(len(series[0]), bool), self.form)
        taken = [column.take(rows) for column in self.held]
        unchanged = None if self.unchanged is None else taken[0]
        return ReleasedColumns.in_codes(taken, self.nature, np.zeros(len(taken[0].codes), bool), self.form, unchanged)


def star_of_each_row(column: Column, form: ColumnForm) -> Array:
    """Per row: whether a released column is `*` as its form means it."""
    found = np.zeros(len(column.codes), bool)
    for code in np.flatnonzero(starred(column, form)).tolist():
        found |= column.codes == code
    return found


def released_columns(
    column: Column, boxed: Boxed, form: Form = "bracket", weights: Array | None = None
) -> ReleasedColumns:
    """One quasi-identifier as it is written: `[min;max]`, `min-max`, two columns, the middle, or the records' mean.

    The mean of categories is the most frequent one; missing values do not count in a mean. `weights` say how much each
    row counts in it.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34, 51, 51]}).select(["age"])
    >>> released_columns(columns[0], sorted_clusters(columns, 2)).series[0].to_list()
    ['[30;34]', '[30;34]', '51', '51']
    """
    check_choice("The interval form", form, get_args(Form))
    along = boxed.along(column.name)
    side, which = along.sides[column.name], along.box_of_row
    if not side.wide.any():
        return as_it_was(column)
    # of rows on disk, what was modified is not told row by row
    modified = np.zeros(0, bool) if on_disk(which) else side.wide[which]
    if form == "mean":
        how = ColumnForm(kind="mean", type=type_word(column.dtype), decimals=decimals_of(column))
        mean = _mean(column, boxed.sides[column.name], boxed, weights)
        return ReleasedColumns([mean], "representative", modified, how, Coded(boxed.box_of_row, boxed.boxes))
    texts, nature, how = labels_of_ranges(column, side, form)
    return ReleasedColumns.in_codes([spread_over(encode(each), which) for each in texts], nature, modified, how)


def spread_over(labels: Column, which: Array) -> Column:
    """A column with one row for each label, spread over the rows that have them; those on disk stay there."""
    narrow = labels.codes.astype(smallest_unsigned(len(labels.values) + 1))
    codes = look_up(which, narrow, len(labels.values))
    nulls = records_with(codes, len(labels.values)) if labels.nulls else 0
    return replace(labels, codes=codes, nulls=nulls)


def labels_of_ranges(column: Column, side: Side, form: Form) -> tuple[list[pl.Series], Nature, ColumnForm]:
    """Each range of a column as it is written, what that is to the original, and how its cells are written."""
    kind = type_word(column.dtype)
    if isinstance(side, Nodes):
        how = ColumnForm(kind="node", type=kind, tree=column.name, escaped=column.values.dtype == pl.String)
        return [_nodes(column, side)], "truthful", how
    if isinstance(side, Sets):
        return [_sets(column.name, side)], "truthful", ColumnForm(kind="set", type=kind, escaped=True)
    if form in ("columns", "midpoint") and side.starred.any():
        raise InputError(
            f"Column '{column.name}' mixes missing values with others: only `*` holds both.",
            Message("Use {interval='bracket'}."),
        )
    if form == "dash" and (column.dtype.is_temporal() or side.scale[0] < 0 or _has_order(column)):
        raise InputError(
            f"Column '{column.name}' has dates, an order or negative numbers: with dashes they cannot be read again.",
            Message("Use {interval='bracket'}."),
        )
    scale = _exact_scale(side, column)
    kind = type_word(scale.dtype)  # that of a plan's ends, which need not be that of new data
    if form == "columns":
        low, high = (_known(scale.gather(end), side) for end in (side.low, side.high))
        named = [low.alias(f"{column.name}_low"), high.alias(f"{column.name}_high")]
        return named, "truthful", ColumnForm(kind="columns", type=kind)
    if form == "midpoint":
        _check_has_middle(column)
        _check_exact(side.scale, column)
        middle = _known(pl.Series(middles(side.scale, side.low, side.high)), side)
        return [middle.alias(column.name)], "representative", ColumnForm(kind="midpoint", type=kind)
    how = ColumnForm(kind="range", type=kind, brackets="-" if form == "dash" else "[;]")
    return [_labelled(column.name, scale, side, form)], "truthful", how


def as_it_was(column: Column) -> ReleasedColumns:
    """A quasi-identifier in which nothing was changed.

    >>> from shoal.storage.reading import read
    >>> as_it_was(read({"sex": ["f"]})["sex"]).form.kind
    'as-it-was'
    """
    how = ColumnForm(kind="as-it-was", type=type_word(column.dtype), decimals=scale_of(column))
    if column.written is not None and column.written[1].dtype.is_float():
        column = replace(column, written=None)  # -0.0 among 0.0 would mark a record of a class
    return ReleasedColumns.in_codes([column], "unchanged", np.zeros(len(column.codes), bool), how, column)


def _exact_scale(side: Side, column: Column) -> pl.Series:
    """The scale in the type of the column, every value exactly."""
    if side.exact is not None:
        return side.exact.cast(column.dtype) if column.dtype.is_integer() else _as_read_again(side.exact)
    _check_exact(side.scale, column)
    return _in_type(side.scale, column)


def _as_read_again(exact: pl.Series) -> pl.Series:
    """Decimals and nanoseconds in the type in which a text file is read, where that is as exact."""
    wanted: pl.DataType = pl.Float64() if isinstance(exact.dtype, pl.Decimal) else pl.Datetime("us")
    if not isinstance(exact.dtype, pl.Decimal) and exact.dtype != pl.Datetime("ns"):
        return exact
    found = exact.cast(wanted)
    return found if (found.cast(exact.dtype, strict=False) == exact).fill_null(False).all() else exact


def _check_exact(scale: Array, column: Column) -> None:
    """Refuse integers that floats would round."""
    if column.dtype.is_integer() and len(scale) and max(abs(scale[0]), abs(scale[-1])) >= LARGEST_EXACT:
        raise InputError(
            f"Column '{column.name}' has integers past 2^53, which this method cannot hold exactly.",
            "Choose another method, write ranges with brackets, or use the column as text.",
        )


def _has_order(column: Column) -> bool:
    """Whether values are places in an order."""
    return column.declared is not None and column.declared.has_order


def _check_has_middle(column: Column) -> None:
    """Refuse middles of what is not written as a number."""
    if column.declared is not None and column.declared.spells and column.declared.word != "number":
        raise InputError(
            f"Column '{column.name}' is declared as {column.declared.word}: a middle cannot be written so.",
            Message("Use `{interval}` bracket or mean."),
        )


def _in_type(scale: Array, column: Column) -> pl.Series:
    """The scale in the type of the column: whole numbers as integers, days as dates."""
    values = pl.Series(scale)
    if column.dtype.is_temporal() or column.dtype.is_integer():
        physical = column.values.to_physical().dtype
        return values.cast(pl.Int64).cast(physical).cast(column.dtype)
    return values


def _labelled(name: str, scale: pl.Series, side: Side, form: Form) -> pl.Series:
    """Pairs of ends as texts."""
    texts = exact_texts(scale)
    first, last = texts.gather(side.low), texts.gather(side.high)
    spans = "[" + first + ";" + last + "]" if form == "bracket" else first + "-" + last
    labels = first.zip_with(pl.Series(side.low == side.high), spans)
    return _known(_starred(labels, side), side).alias(name)


def _starred(labels: pl.Series, side: Side) -> pl.Series:
    """Labels of boxes, `*` where a box mixes missing values with others."""
    if side.missing is None:
        return labels
    return labels.zip_with(pl.Series(~side.starred), pl.Series([STAR]).new_from_index(0, len(labels)))


def _known(labels: pl.Series, side: Side) -> pl.Series:
    """What boxes show, null where all that they hold is missing."""
    if side.missing is None:
        return labels
    nothing = pl.Series([None], dtype=labels.dtype).new_from_index(0, len(labels))
    return labels.zip_with(pl.Series(side.missing != ALL_MISSING), nothing)


def scale_of(column: Column) -> int | None:
    """With how many decimals each text of a column of decimals is written; None for other numbers.

    >>> scale_of(encode(pl.Series("pay", ["1.50"]).cast(pl.Decimal(9, 2))))
    2
    """
    dtype = column.values.dtype
    return dtype.scale if isinstance(dtype, pl.Decimal) else None


def decimals_of(column: Column) -> int | None:
    """The most decimals that a value of a column of numbers has: means are written with as many. None past nine.

    >>> from shoal.storage.reading import read
    >>> decimals_of(read({"pay": [1.5, 2.25]})["pay"]), decimals_of(read({"age": [30]})["age"])
    (2, 0)
    """
    if column.dtype.is_integer():
        return 0
    if not column.values.dtype.is_float():
        return None
    values = column.values.to_numpy()
    with np.errstate(over="ignore", invalid="ignore"):  # a number that is too large to be rounded is not equal
        equal = (digits for digits in range(_MOST_DECIMALS + 1) if (np.round(values, digits) == values).all())
        return next(equal, None)


def _mean(column: Column, side: Side, boxed: Boxed, weights: Array | None) -> pl.Series:
    """The mean of each box's records row by row, in the type of the column if those are dates or categories."""
    known = ~column.is_null()
    boxes, codes = boxed.box_of_row[known], column.codes[known]
    weights = np.ones(len(codes)) if weights is None else weights[known]
    if isinstance(side, Sets):
        shown = side.labels.gather(_most_frequent(boxes, codes, weights, boxed.boxes, len(side.scale)))
    else:
        # from the smallest value on, so that large numbers lose no digits
        values = places(column)
        _check_exact(values, column)
        counts = np.bincount(boxes, weights, boxed.boxes)
        exponent = exponent_of(values)
        values = in_unit(values, exponent)
        means = np.bincount(boxes, (values - values[0])[codes] * weights, boxed.boxes)
        means = out_of_unit(means / np.where(counts > 0, counts, 1) + values[0], exponent)
        means = np.where(side.wide, means, side.scale[side.low])
        whole = column.dtype.is_temporal() or _has_order(column)
        shown = _in_type(np.round(means), column) if whole else pl.Series(means)
    return _known(shown, side).gather(boxed.box_of_row).alias(column.name)


def _most_frequent(boxes: Array, codes: Array, weights: Array, count: int, values: int) -> Array:
    """The most frequent code of each box, of equally frequent ones the first."""
    pair, pairs = class_of_each_row(pack([Coded(boxes, count), Coded(codes, values)]))
    first = first_row_of_each_class(pair, pairs)
    box, code = boxes[first], codes[first].astype(np.int64)
    ranked = np.lexsort((code, -np.bincount(pair, weights, pairs), box))
    found = np.zeros(count, np.int64)
    found[box[ranked][::-1]] = code[ranked][::-1]  # the last written is the most frequent
    return found


def _sets(name: str, side: Sets) -> pl.Series:
    """Categories: the one that a box holds, or `[a, b]` with all that occur in it."""
    sizes = np.diff(side.starts)
    alone = side.labels.gather(side.members[side.starts[:-1]])
    lists = pl.DataFrame(
        {"set": np.repeat(np.arange(len(sizes)), sizes), "label": set_labels(side.labels).gather(side.members)}
    )
    joined = lists.group_by("set", maintain_order=True).agg(pl.col("label").str.join(", "))["label"]
    labels = escape(alone).zip_with(pl.Series(sizes == 1), "[" + joined + "]").gather(side.set_of_box)
    return _known(_starred(labels, side), side).alias(name)


def _nodes(column: Column, side: Nodes) -> pl.Series:
    """Categories: the one that a box holds, or the lowest node above all that occur in it."""
    alone = np.diff(side.starts) == 1
    own = escape(side.texts) if column.values.dtype == pl.String else side.texts
    labels = own.zip_with(pl.Series(alone), side.texts).gather(side.set_of_box)
    return _known(_starred(labels, side), side).alias(column.name)


def modified_rows(columns: Sequence[ReleasedColumns]) -> Array:
    """Which rows have at least one value that was changed."""
    return np.asarray(np.logical_or.reduce([column.modified for column in columns]))
