"""From a column as it was read to a column as it was declared: types completed, texts read as values, in codes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table.bands import sorted_bands
from shoal.table.column_type import LIKE_A_RELEASED_CELL, ColumnType, as_column_types
from shoal.table.date_formats import ISO, inferred_formats
from shoal.table.declared import RANGE, Declared
from shoal.table.encode import look_up
from shoal.table.number_texts import inferred_writing, places_of
from shoal.table.table import Array, Column, Table, smallest_unsigned
from shoal.table.text_types import MISSING_WORDS, typed_dictionary
from shoal.table.texts import texts_of
from shoal.table.unite import unite


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
    """A column with its declared type; `released`: its cells are those of a release (None: nobody knows);
    `only_empty`: no word in it stands for a missing value.

    >>> from shoal.table.encode import encode
    >>> roof = declare(encode(pl.Series("roof", [4, 9, 4])), ColumnType(type="nominal"))
    >>> roof.values.to_list(), roof.codes.tolist(), roof.declared.word
    (['4', '9'], [0, 1, 0], 'nominal')
    """
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

    >>> from shoal.reading import read
    >>> declare_table(read({"roof": [4, 9]}), {"roof": "nominal"})["roof"].values.to_list()
    ['4', '9']
    """
    found = dict(table.columns)
    for name, given in as_column_types(types).items():
        for column in _named(name, found, released):
            if column.declared is None and len(column.values):
                found[column.name] = declare(column, given, released, column.name in only_empty)
    return replace(table, columns=found)


def _named(name: str, columns: Mapping[str, Column], released: bool | None) -> list[Column]:
    """A column by its name; of a release also the two that its ends became."""
    if name in columns or not released:
        return [columns[name]] if name in columns else []
    return [columns[end] for end in (f"{name}_low", f"{name}_high") if end in columns]


def types_of(table: Table) -> dict[str, ColumnType]:
    """The declared types of a table's columns, complete."""
    return {name: column.declared.type for name, column in table.columns.items() if column.declared is not None}
