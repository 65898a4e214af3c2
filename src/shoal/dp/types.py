"""The types of a desk's columns: declared by its owner, never found by a query.

The type of a column decides which questions have an answer. Found from the data it would be an answer without noise:
one person's `n/s` would turn a mean into an error. So the owner declares the types when the desk opens (or confirms
the proposal), and each value is then read by a function of that value and the declared type alone. What does not fit
is a missing value: a person whose value does not fit changes as little as a person without a value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, get_args

import numpy as np
import polars as pl

from shoal.errors import InputError, quoted
from shoal.policy.conditions import column_type
from shoal.storage import Column
from shoal.storage.texts import MISSING_WORDS, typed_dictionary
from shoal.wording import counted

Type = Literal["integer", "number", "text", "date", "datetime", "boolean"]
TYPES: tuple[Type, ...] = get_args(Type)
PROPOSED = "proposed"
OTHERS = "*"
# so much of a column must fit a type for it to be proposed
_MOSTLY = 0.9
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_THOUSANDS = r"^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


class UndeclaredTypes(InputError):
    """Columns whose type nobody declared; what is proposed for them."""

    def __init__(self, proposal: Mapping[str, str]) -> None:
        self.proposed = ",".join(f"{name}={word}" for name, word in proposal.items())
        super().__init__(
            f"The type of {counted(len(proposal), 'column')} is not declared: "
            "the data must not choose what can be asked.",
            f"Look at what is proposed and declare it (types): {self.proposed}; "
            f"or take the proposal as it is: types='{PROPOSED}'.",
        )


def convert(values: pl.Series, wanted: Type) -> pl.Series:
    """Values in a declared type, each read by itself; what does not fit is null.

    >>> convert(pl.Series(["30", "31.0", "n/s", "1,200"]), "integer").to_list()
    [30, 31, None, 1200]
    >>> convert(pl.Series([30.0, 1.5]), "integer").to_list(), convert(pl.Series([30.0, 1.5]), "text").to_list()
    ([30, None], ['30', '1.5'])
    """
    if isinstance(values.dtype, (pl.Categorical, pl.Enum)) or values.dtype == pl.Null:
        values = values.cast(pl.String)
    return _CONVERTERS[wanted](values)


def _integers(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        texts = _plain_numbers(values)
        whole = texts.str.extract(r"^\+?(-?[0-9]+)(\.0*)?$", 1)
        return whole.cast(pl.Int64, strict=False)
    if values.dtype.is_integer() or values.dtype == pl.Boolean:
        return values.cast(pl.Int64, strict=False)
    if values.dtype.is_float():
        whole = values.is_finite() & (values == values.floor()) & (values.abs() < 2.0**63)
        return values.set(~whole.fill_null(False), None).cast(pl.Int64, strict=False)
    if values.dtype.is_decimal():
        return values.set((values != values.floor()).fill_null(True), None).cast(pl.Int64, strict=False)
    return _nothing(values, pl.Int64())


def _numbers(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        texts = _plain_numbers(values)
        return texts.set(~texts.str.contains(_NUMBER).fill_null(False), None).cast(pl.Float64, strict=False)
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values.cast(pl.Float64, strict=False).fill_nan(None)
    return _nothing(values, pl.Float64())


def _plain_numbers(values: pl.Series) -> pl.Series:
    """Without blanks around them and without commas between thousands."""
    texts = values.str.strip_chars()
    with_commas = texts.str.contains(_THOUSANDS).fill_null(False)
    return texts.str.replace_all(",", "", literal=True).zip_with(with_commas, texts) if with_commas.any() else texts


def _texts(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        return values
    if values.dtype.is_float():  # 30.0 beside a missing value and 30 beside none are the same value
        whole = (values == values.floor()) & (values.abs() < 2.0**53)
        return (
            values.cast(pl.Int64, strict=False).cast(pl.String).zip_with(whole, values.fill_nan(None).cast(pl.String))
        )
    if values.dtype == pl.Boolean or values.dtype.is_numeric() or values.dtype.is_temporal():
        return values.cast(pl.String)
    return _nothing(values, pl.String())


def _dates(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        texts = values.str.strip_chars()
        return texts.set(~texts.str.contains(_DATE).fill_null(False), None).str.to_date("%Y-%m-%d", strict=False)
    if values.dtype == pl.Date or isinstance(values.dtype, pl.Datetime):
        return _datetimes(values).cast(pl.Date)
    return _nothing(values, pl.Date())


def _datetimes(values: pl.Series) -> pl.Series:
    wanted = pl.Datetime("us")
    if values.dtype == pl.String:
        texts = values.str.strip_chars().str.replace(" ", "T", literal=True)
        forms = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d")
        read = [texts.str.to_datetime(form, time_unit="us", strict=False) for form in forms]
        return read[0].zip_with(read[0].is_not_null(), read[1].zip_with(read[1].is_not_null(), read[2]))
    if isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone is not None:
        values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if values.dtype == pl.Date or isinstance(values.dtype, pl.Datetime):
        return values.cast(wanted)
    return _nothing(values, wanted)


def _booleans(values: pl.Series) -> pl.Series:
    if values.dtype == pl.Boolean:
        return values
    if values.dtype == pl.String:
        words = {"true": True, "false": False}
        lower = values.str.strip_chars().str.to_lowercase()
        return lower.replace_strict(words, default=None, return_dtype=pl.Boolean)
    if values.dtype.is_numeric():
        return _integers(values).replace_strict({1: True, 0: False}, default=None, return_dtype=pl.Boolean)
    return _nothing(values, pl.Boolean())


def _nothing(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    return pl.Series(values.name, [None] * len(values), dtype=dtype)


_CONVERTERS = {
    "integer": _integers,
    "number": _numbers,
    "text": _texts,
    "date": _dates,
    "datetime": _datetimes,
    "boolean": _booleans,
}


def propose(column: Column) -> Type:
    """The type that nearly all values of a column fit; codes such as 00501 stay text.

    >>> from shoal.storage.reading import read
    >>> table = read({"age": ["30", "31", "NA"] * 9 + ["n/s"], "zip": ["00501"] * 28})
    >>> propose(table["age"]), propose(table["zip"])
    ('integer', 'text')
    """
    values = column.values
    if values.dtype in (pl.UInt64, pl.Int128, pl.UInt128):  # wider than the whole numbers of a query
        return "number"
    if values.dtype != pl.String:
        word = column_type(values.dtype)
        return word if word in TYPES else "text"
    counts = np.bincount(column.codes, minlength=len(values) + 1)[: len(values)]
    known = ~values.is_in(["", *MISSING_WORDS]).to_numpy() & (counts > 0)
    total = int(counts[known].sum())
    for wanted in ("integer", "number", "date", "datetime", "boolean"):
        fits = convert(values, wanted).is_not_null().to_numpy() & known
        if total and counts[fits].sum() >= _MOSTLY * total and _means(values.filter(pl.Series(fits)), wanted):
            return wanted
    return "text"


def _means(texts: pl.Series, wanted: Type) -> bool:
    """Whether texts of this form are values, not codes: no leading zeros, no two texts for one number."""
    if wanted == "boolean":
        return True
    plain = _plain_numbers(texts) if wanted in ("integer", "number") else texts.str.strip_chars()
    if wanted == "integer":
        plain = plain.str.replace(r"\.0*$", "")
    return column_type(typed_dictionary(plain.unique()).dtype) in (wanted, "integer" if wanted == "number" else wanted)


def declared_types(
    given: Mapping[str, str] | str | None, columns: Mapping[str, Column], person: str | None
) -> dict[str, Type]:
    """The type of each column: as declared, or as proposed where the owner confirms that."""
    names = [name for name in columns if name != person]
    declared = {OTHERS: given} if isinstance(given, str) else dict(given or {})
    others = declared.pop(OTHERS, None)
    if missing := [name for name in declared if name not in names]:
        raise InputError.missing_columns(missing, names, "The table that questions can be asked about")
    words = {*declared.values(), *([] if others is None else [others])}
    if wrong := sorted(words - {*TYPES, PROPOSED}):
        raise InputError(f"{quoted(wrong)} is not a type.", f"Use one of {', '.join(TYPES)}, or {PROPOSED}.")
    undeclared = [name for name in names if name not in declared and others is None]
    if undeclared:
        raise _to_declare(undeclared, columns)
    types = {name: declared.get(name, others) for name in names}
    return {name: propose(columns[name]) if word == PROPOSED else word for name, word in types.items()}  # type: ignore[misc]


def _to_declare(names: Collection[str], columns: Mapping[str, Column]) -> UndeclaredTypes:
    return UndeclaredTypes({name: propose(columns[name]) for name in names})
