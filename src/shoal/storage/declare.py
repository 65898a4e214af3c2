"""From a column as it was read to a column as it was declared: types completed, texts read as values, in codes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.storage.bands import joined_texts, sorted_bands
from shoal.storage.column_type import LIKE_A_RELEASED_CELL, ColumnType, as_column_types
from shoal.storage.dates import ISO, ISO_MOMENT, has_clock, inferred_formats, read_dates, write_dates
from shoal.storage.encode import look_up
from shoal.storage.numbers import exact_numbers, inferred_writing, places_of, plain_numbers, spelled_numbers
from shoal.storage.table import Array, Column, Table, smallest_unsigned
from shoal.storage.texts import MISSING_WORDS, texts_of, typed_dictionary
from shoal.storage.unite import unite
from shoal.wording import percent

# A column as it was declared: its values in their own type, and the way in which they were written.
#
# Methods, measures and checks see values only: a date is a date, whatever its writing; an ordered value is its place in
# the order; a nominal number is a text. What is released is spelled as it was written (`spell`), and what is read again
# becomes values again (`unspell`): the two undo each other text by text, so that two texts are never taken for one.


RANGE = r"^\[([^;]+);([^;]+)\]$"
# digits of a second that a moment does not keep
_FINER_THAN_MICROSECONDS = r":[0-9]{2}\.[0-9]{6}0*[1-9]"
_DASH = r"^([^-]+)-([^-]+)$"


@dataclass(frozen=True)
class Declared:
    """The declared type of a column, complete, and the type in which the column came in."""

    type: ColumnType
    came_as: pl.DataType = field(default_factory=pl.String)
    name: str = ""
    # its order was found in the column: nobody declared it
    order_found: bool = False

    @property
    def word(self) -> str:
        """The type in a word."""
        return self.type.type

    @property
    def has_order(self) -> bool:
        """Whether its values are places in an order without distances that people know."""
        return self.word in ("ordered", "band")

    @property
    def spells(self) -> bool:
        """Whether values are written in another way than their own."""
        if self.has_order:
            return True
        if self.word == "date":
            return self.type.format not in ((ISO,), None)
        return self.word == "number" and (self.type.decimal, self.type.thousands, self.type.places) != (".", None, None)

    @cached_property
    def _runs(self) -> dict[tuple[int, int], str]:
        """The text of every run of an order that is not `[first;last]`."""
        if self.word != "band":
            return {(place, place): label for place, label in enumerate(self.type.order or ())}
        return joined_texts(sorted_bands(self.type.order or (), self.name), self.name)

    # values

    def values_of(self, texts: pl.Series) -> pl.Series:
        """Texts of the original as values; null where a text is not one."""
        if self.word == "date":
            finer = texts.str.contains(_FINER_THAN_MICROSECONDS).fill_null(False)
            return read_dates(texts, self.type.format or (ISO,), self.type.century_from).set(finer, None)
        if self.word == "number":
            return exact_numbers(plain_numbers(texts, self.type.decimal or ".", self.type.thousands))
        if self.has_order:
            order = {label: place for (place, last), label in self._runs.items() if place == last}
            return texts.str.strip_chars().replace_strict(order, default=None, return_dtype=pl.Int64)
        if self.word == "code" and self.type.digits is not None:
            digits = texts.str.contains(r"^[0-9]+$")
            return texts.str.zfill(self.type.digits).zip_with(digits, texts)
        return texts

    # cells

    def spell(self, cells: pl.Series) -> pl.Series:
        """Released cells as they were written; each distinct cell is spelled once.

        >>> seen = Declared(ColumnType(type="date", format="%m/%d/%Y"))
        >>> seen.spell(pl.Series(["[2021-03-14;2021-04-01]", "2021-03-14", "*", None])).to_list()
        ['[03/14/2021;04/01/2021]', '03/14/2021', '*', None]
        """
        if not self.spells:
            return cells
        distinct = cells.drop_nulls().unique()
        texts = _canonical_texts(distinct)
        spelled = self._spelled(texts)
        if len(distinct) == len(cells):
            return self._spelled(_canonical_texts(cells)).alias(cells.name)
        return cells.replace_strict(distinct, spelled, default=None, return_dtype=pl.String).alias(cells.name)

    def _spelled(self, texts: pl.Series) -> pl.Series:
        own = texts.str.starts_with("\\")
        ends = [self._spelled_value(texts.str.extract(RANGE, place)) for place in (1, 2)]
        dashed = [self._spelled_value(texts.str.extract(_DASH, place)) for place in (1, 2)]
        found = self._spelled_value(texts).fill_null("[" + ends[0] + ";" + ends[1] + "]")
        found = found.fill_null(dashed[0] + "-" + dashed[1])
        if self.word == "band":
            runs = {f"[{low};{high}]": label for (low, high), label in self._runs.items() if low != high}
            found = texts.replace_strict(runs, default=None, return_dtype=pl.String).fill_null(found)
        return texts.str.strip_prefix("\\").zip_with(own, found.fill_null(texts))

    def _spelled_value(self, texts: pl.Series) -> pl.Series:
        """Values in their own writing as they were written; null where a text is not one."""
        if self.word == "date":
            formats = self.type.format or (ISO,)
            clock = has_clock(formats)
            shaped = texts.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}" + (r" [0-9]{2}:[0-9]{2}" if clock else "$"))
            known = texts.set(~shaped.fill_null(False), None)
            if clock:
                return write_dates(known.str.to_datetime(ISO_MOMENT, strict=False, time_unit="us"), formats[0])
            return write_dates(known.str.to_date(ISO, strict=False), formats[0])
        if self.word == "number":
            return spelled_numbers(texts, self.type.decimal or ".", self.type.thousands, self.type.places)
        labels = {f"{place}": label for (place, last), label in self._runs.items() if place == last}
        # a mean of places is shown as the nearest
        places = texts.cast(pl.Float64, strict=False).round().cast(pl.Int64, strict=False).cast(pl.String)
        return places.replace_strict(labels, default=None, return_dtype=pl.String)

    def unspell(self, texts: pl.Series) -> pl.Series:
        r"""Released texts as cells of values: what `spell` undoes. A text that no cell is spelled as stays what it is,
        behind a `\` where it looks like a cell.

        >>> seen = Declared(ColumnType(type="date", format="%m/%d/%Y"))
        >>> seen.unspell(pl.Series(["[03/14/2021;04/01/2021]", "*", "soon", "2021-03-14"])).to_list()
        ['[2021-03-14;2021-04-01]', '*', 'soon', '\\2021-03-14']
        """
        if not self.spells:
            return texts
        ends = [self.cell_of(texts.str.extract(RANGE, place)) for place in (1, 2)]
        found = self.cell_of(texts).fill_null("[" + ends[0] + ";" + ends[1] + "]")
        if self.word == "number":
            dashed = [self.cell_of(texts.str.extract(_DASH, place)) for place in (1, 2)]
            found = found.fill_null(dashed[0] + "-" + dashed[1])
        if self.word == "band":
            runs = {label: f"[{low};{high}]" for (low, high), label in self._runs.items() if low != high}
            found = texts.replace_strict(runs, default=None, return_dtype=pl.String).fill_null(found)
        found = found.set((self._spelled(found) != texts).fill_null(True), None)
        looks = (self._spelled(texts) != texts).fill_null(False) | texts.str.starts_with("\\").fill_null(False)
        return found.fill_null(("\\" + texts).zip_with(looks, texts))

    def places_in(self, released: pl.DataFrame) -> set[int] | None:
        """The places of its order that released cells (or pairs of ends) hold; None where a cell tells none.

        >>> ages = Declared(ColumnType(type="band", order=["0-4", "5-9", "10+"]))
        >>> ages.places_in(pl.DataFrame({"age": ["0-9", "*"]}))
        {0, 1}
        """
        cells = [self.unspell(texts.cast(pl.String)) for texts in released.unique().drop_nulls().get_columns()]
        low, high = (cell.str.extract(RANGE, end).fill_null(cell) for cell, end in ((cells[0], 1), (cells[-1], 2)))
        shown = pl.DataFrame({"low": low, "high": high}).filter(pl.col("low") != "*")
        ends = shown.select(pl.all().cast(pl.Int64, strict=False))
        if ends.null_count().sum_horizontal()[0]:
            return None
        return {place for low, high in ends.rows() for place in range(low, high + 1)}

    def cell_of(self, texts: pl.Series) -> pl.Series:
        """Values that are written as in the original, in the writing of cells."""
        return _canonical_texts(self.values_of(texts))


def _canonical_texts(values: pl.Series) -> pl.Series:
    if isinstance(values.dtype, pl.Datetime):
        return values.cast(pl.Datetime("us")).cast(pl.String)
    return texts_of(values)


def completed(given: ColumnType, texts: pl.Series, name: str) -> ColumnType:
    """The type with all that it needs to read and write values, from the texts of the column where it is not said.

    >>> completed(ColumnType(type="date"), pl.Series(["14.03.2021"]), "seen").format
    ('%d.%m.%Y',)
    """
    if not len(texts):
        return given
    if given.type == "number" and (given.decimal or given.thousands):
        return _with_places(given, texts)
    if given.is_complete:
        return given
    if given.type == "date":
        return given.model_copy(update={"format": inferred_formats(texts, name)})
    if given.type == "number":
        found = inferred_writing(texts, name)
        return given.model_copy(update={setting: value for setting, value in found.items() if value is not None})
    bands = sorted_bands(texts.str.strip_chars().unique().to_list(), name)
    return ColumnType.model_validate({**given.model_dump(), "order": tuple(band.text.strip() for band in bands)})


def _with_places(given: ColumnType, texts: pl.Series) -> ColumnType:
    """The type with its decimal sign, and with the digits behind it where all numbers have as many."""
    decimal = given.decimal or ("," if given.thousands == "." else ".")
    plain = (decimal, given.thousands) == (".", None)
    places = places_of(texts, decimal) if given.places is None and not plain else given.places
    return given.model_copy(update={"decimal": decimal, "places": places})


def declare(column: Column, given: ColumnType, released: bool | None = False, only_empty: bool = False) -> Column:
    """A column with its declared type, rounded where that says so; `released`: its cells are those of a release (None:
    nobody knows), which are read as they stand; `only_empty`: no word in it stands for a missing value.

    >>> from shoal.storage.encode import encode
    >>> roof = declare(encode(pl.Series("roof", [4, 9, 4])), ColumnType(type="nominal"))
    >>> roof.values.to_list(), roof.codes.tolist(), roof.declared.word
    (['4', '9'], [0, 1, 0], 'nominal')
    """
    found = _declared(column, given, released, only_empty)
    return found if given.round_to is None or released is not False else rounded(found, given.round_to)


def rounded(column: Column, step: float) -> Column:
    """A column of numbers, each as the nearest multiple of a step; of two that are as near, the even multiple.

    >>> from shoal.storage.encode import encode
    >>> sums = rounded(encode(pl.Series("charge", [1240, 18260, 18260])), 100)
    >>> sums.values.to_list(), sums.codes.tolist()
    ([1200, 18300], [0, 1, 1])
    """
    values = column.values
    if not values.dtype.is_numeric() or not len(values):
        return column
    near = np.rint(values.cast(pl.Float64).to_numpy() / step) * step
    texts = pl.Series(column.name, near)
    # whole numbers stay whole, and decimals get no digits that they did not have
    new = texts.cast(values.dtype) if values.dtype.is_integer() and step == int(step) else texts.round(10)
    distinct, place = unite([new.alias("")])
    narrow = smallest_unsigned(len(distinct) + 1)
    codes = look_up(column.codes, place.astype(narrow), len(distinct))
    distinct = distinct.alias(column.name)
    return replace(column, codes=codes, values=distinct, dtype=distinct.dtype, written=None, respelled=0)


def _declared(column: Column, given: ColumnType, released: bool | None, only_empty: bool) -> Column:
    codes, texts, missing = _texts(column, given, only_empty)
    if not released and given.map:
        keys = list(given.map)
        mapped = texts.replace_strict(keys, [given.map[key] for key in keys], default=texts, return_dtype=pl.String)
        missing, texts = missing | mapped.is_null().to_numpy(), mapped.fill_null("")
    known = texts.filter(~missing)
    if released is None:
        released = _is_release(given, known, column.name)
    # a released column of plain numbers was not changed: it is read as the original is
    words = only_empty and bool(texts.is_in(list(MISSING_WORDS)).any())
    if _own_type(column, given, only_empty) and not words and (not released or given.type == "number"):
        own: dict[str, dict[str, Any]] = {"number": {"decimal": "."}, "date": {"format": given.format or (ISO,)}}
        whole = given.model_copy(update=own.get(given.type, {}))
        own_declared = Declared(whole, column.dtype, column.name)
        if given.type == "date":
            _check_written_again(own_declared, column.values, column.name)
        return replace(column, declared=own_declared)
    whole = _completed(given, known, column.name, released)
    found = given.type == "band" and given.order is None
    declared = Declared(whole, column.dtype, column.name, order_found=found)
    values = declared.unspell(texts) if released else declared.values_of(texts)
    values = values.set(pl.Series(missing), None)
    unreadable = int((values.is_null() & pl.Series(~missing)).sum())
    if unreadable:
        raise _not_of_type(column.name, given, unreadable)
    if given.type == "boolean" and not released and values.drop_nulls().n_unique() > 2:
        raise InputError(
            f"Column '{column.name}' is declared as boolean, and has {values.drop_nulls().n_unique():,} values.",
            "Map them to two (`map` in its type), or declare it nominal.",
        )
    if given.digits is not None and not released and (values.str.contains(rf"^[0-9]{{{given.digits + 1},}}$")).any():
        raise InputError(
            f"Column '{column.name}' is declared as codes of {given.digits} digits, and some have more.",
            "Say in `digits` how many the longest have: shorter ones get zeros in front.",
        )
    if given.type == "date" and not released:
        _check_written_again(declared, values, column.name)
    odd = 0
    if released and declared.spells:
        odd = int((declared.spell(values) != texts).fill_null(False).sum()) + int(values.str.starts_with("\\").sum())
    if released and (declared.spells or given.type == "number") and not values.is_in(list(MISSING_WORDS)).any():
        values = typed_dictionary(values)  # a word for missing would be taken for it
    return _encoded(column, declared, codes, values, odd, keeps=not given.map and not released)


def _is_release(given: ColumnType, known: pl.Series, name: str) -> bool:
    """Whether texts are those of a release: some look like it, and they are not all values of an original."""
    if not _needs_reading(given) or not known.str.contains(LIKE_A_RELEASED_CELL).any():
        return False
    try:
        return bool(Declared(completed(given, known, name), name=name).values_of(known).null_count())
    except InputError:
        return True


def _check_written_again(declared: Declared, values: pl.Series, name: str) -> None:
    """Refuse dates that the first format does not write wholly: without the day, the clock, the century."""
    if not declared.spells:
        return
    again = declared.values_of(declared.spell(values)).cast(pl.Datetime("us"))
    if not again.equals(values.cast(pl.Datetime("us"))):
        first, *others = declared.type.format or (ISO,)
        raise InputError(
            f"Column '{name}' has dates that its format {first} does not write wholly.",
            "Dates are released in the first format: put one first that says all"
            + (f", such as {max(others, key=len)}." if others else "."),
        )


def _encoded(column: Column, declared: Declared, codes: Array, values: pl.Series, odd: int, keeps: bool) -> Column:
    """The column in codes of its values; `keeps`: what it came as is kept beside."""
    values = values.cast(pl.String) if values.dtype == pl.Null else values
    distinct, place = unite([values.alias("")])
    narrow = smallest_unsigned(len(distinct) + 1)
    found = look_up(codes, place.astype(narrow), len(distinct))
    nulls = int(np.count_nonzero(found == len(distinct)))
    written = (column.codes, column.values.extend_constant(None, 1)) if column.written is None else column.written
    distinct = distinct.alias(column.name)
    dtype = distinct.dtype
    return Column(column.name, found, distinct, nulls, dtype, written if keeps else None, odd, declared)


def _texts(column: Column, given: ColumnType, only_empty: bool = False) -> tuple[Array, pl.Series, Array]:
    """Codes into the distinct texts of a column, those texts, and which of them stand for nothing."""
    if column.written is not None and column.written[1].dtype == pl.String:
        codes, texts = column.written
        missing = np.zeros(len(texts), bool)
        if column.nulls:
            missing[np.unique(codes[column.is_null()])] = True
        missing[-1] = True
        texts = texts.fill_null("")
    else:
        codes, texts = column.codes, texts_of(column.values)
        missing = np.zeros(len(texts), bool)
    if only_empty:
        return codes, texts, missing & ~texts.is_in(list(MISSING_WORDS)).to_numpy()
    usual = MISSING_WORDS - {*given.map, *(given.order or ())} if _needs_reading(given) else ()
    words = [*given.missing, *usual]
    return codes, texts, missing | texts.is_in(words).to_numpy()


def _needs_reading(given: ColumnType) -> bool:
    """Whether texts must be read as values: `NA` is not one of them."""
    return given.type in ("number", "date", "band", "ordered")


def _own_type(column: Column, given: ColumnType, only_empty: bool = False) -> bool:
    """Whether a column came in as what it is declared."""
    if (given.map or given.missing) and not only_empty:
        return False
    dtype = column.values.dtype
    if given.type == "number":
        return dtype.is_numeric() and given.decimal in (None, ".") and given.thousands is None and given.places is None
    if given.type == "date":
        return isinstance(dtype, (pl.Date, pl.Datetime))
    return given.type == "boolean" and dtype == pl.Boolean


def _completed(given: ColumnType, known: pl.Series, name: str, released: bool) -> ColumnType:
    if not released:
        return completed(given, known, name)
    if (given.is_complete and given.type != "number") or not _needs_reading(given):
        return given
    # of a release, what stands alone tells the writing of what stands in ranges
    ends = pl.concat([known.str.extract(RANGE, 1), known.str.extract(RANGE, 2)]).drop_nulls()
    alone = known.filter(~known.str.contains(LIKE_A_RELEASED_CELL))
    return completed(given, pl.concat([ends, alone]).unique(), name)


_UNLIKE = {
    "date": "written so, or finer than microseconds.",
    "number": "written so, or have more digits than a number keeps.",
    "band": "among its bands.",
}


def _not_of_type(name: str, given: ColumnType, count: int) -> InputError:
    kind = {"date": "a date", "number": "a number", "ordered": "an ordered column", "band": "bands"}[given.type]
    what = f"Column '{name}' is declared as {kind}, and {count:,} of its different values are not "
    if given.type == "ordered":
        return InputError(what + "in its order.", "Add them to `order`, or name them under `missing` or `map`.")
    cure = "Say in its type how they are written, name those that are none under `missing`, or declare it text."
    return InputError(what + _UNLIKE[given.type], cure)


def declare_table(
    table: Table, types: Mapping[str, Any], released: bool | None = False, only_empty: Collection[str] = ()
) -> Table:
    """A table with declared types; columns that it does not have, and those that have their type already, stay.

    >>> from shoal.storage.reading import read
    >>> declare_table(read({"roof": [4, 9]}), {"roof": "nominal"})["roof"].values.to_list()
    ['4', '9']
    """
    found = dict(table.columns)
    for name, given in as_column_types(types).items():
        for column in _named(name, found, released):
            if column.declared is None and len(column.values):
                found[column.name] = declare(column, given, released, column.name in only_empty)
    steps = {name: column for name, column in found.items() if column is not table.columns[name]}
    notes = [note for name, column in steps.items() if (note := rounding_note(table.columns[name], column))]
    return replace(table, columns=found, notes=(*table.notes, *notes))


ROUNDED = " is rounded to multiples of "


def rounding_note(before: Column, after: Column) -> str | None:
    """What rounding a column cost, in words; None where it was not rounded."""
    step = None if after.declared is None else after.declared.type.round_to
    moved = None if step is None else moved_by(before, after)
    if step is None or moved is None:
        return None
    cost = f"a value moves by {percent(moved)} of the mean, on average"
    return f"{after.name}{ROUNDED}{step:,g}: {cost}"


def moved_by(before: Column, after: Column) -> float | None:
    """How far the values of a column of numbers moved on average, as a share of their mean; None where none did."""
    if not (before.values.dtype.is_numeric() and after.values.dtype.is_numeric()) or before.values.equals(after.values):
        return None
    old, new = (one.values.cast(pl.Float64).extend_constant(0.0, 1).gather(one.codes) for one in (before, after))
    whole = float(old.abs().sum())
    return float((old - new).abs().sum()) / whole if whole else None


def _named(name: str, columns: Mapping[str, Column], released: bool | None) -> list[Column]:
    """A column by its name; of a release also the two that its ends became."""
    if name in columns or not released:
        return [columns[name]] if name in columns else []
    return [columns[end] for end in (f"{name}_low", f"{name}_high") if end in columns]


def types_of(table: Table) -> dict[str, ColumnType]:
    """The declared types of a table's columns, complete."""
    return {name: column.declared.type for name, column in table.columns.items() if column.declared is not None}
