"""What a column is, as people declare it: `nominal`, `number`, `{type: date, format: "%m/%d/%Y"}`, …

This is the one home of a declared type: its words, its settings, and which settings go with which type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from shoal.errors import InputError, check_choice

TypeWord = Literal["nominal", "ordered", "number", "date", "band", "code", "boolean", "text"]
# settings beside those that every type has (`map`, `missing`)
_SETTINGS: dict[str, tuple[str, ...]] = {
    "nominal": (),
    "ordered": ("order",),
    "number": ("decimal", "thousands", "places", "round_to"),
    "date": ("format", "century_from"),
    "band": ("order",),
    "code": ("digits",),
    "boolean": (),
    "text": (),
}
# signs that ranges and suppressed cells are made of
_SIGNS = ("[", "]", ";", "*", "\\")
# what tells a time zone in a format
_ZONES = ("%z", "%Z", "%:z", "%::z", "%#z", "%+", "%c")
# what a released cell can look like
LIKE_A_RELEASED_CELL = r"^\*$|^\[.*[;,].*\]$|^\\"
# every pair of bands has a text of its own
MOST_BANDS = 300


class ColumnType(BaseModel):
    """The declared type of a column, with how its values are written.

    `order`: the values of an ordered column, or the bands, lowest first. `format`: how dates are written, as in
    `strftime`; of several the first is how they are written again. `century_from`: the first year that two digits can
    mean. `decimal`, `thousands`: the signs in numbers; `places`: digits behind the decimal sign. `digits`: the length
    of a code. `round_to`: numbers are read as the nearest multiple of it. `map`: texts that stand for other texts (or
    for missing). `missing`: texts that stand for nothing.

    >>> ColumnType(type="number", decimal=",").is_complete
    True
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    type: TypeWord
    order: tuple[str, ...] | None = None
    format: tuple[str, ...] | None = None
    century_from: int | None = Field(default=None, ge=0, le=9900)
    decimal: Literal[".", ","] | None = None
    thousands: Literal[".", ",", " ", "'", "’", "\u00a0", "\u202f"] | None = None
    places: int | None = Field(default=None, ge=0, le=15)
    round_to: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    digits: int | None = Field(default=None, ge=1, le=40)
    map: dict[str, str | None] = {}
    missing: tuple[str, ...] = ()

    @field_validator("order", "missing", "format", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        """A list of texts; YAML reads some of them as numbers, and `no` and `yes` as something else altogether."""
        if isinstance(value, str):
            return (value,)
        return [_text(entry) for entry in value] if isinstance(value, (list, tuple)) else value

    @field_validator("map", mode="before")
    @classmethod
    def _mapped(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {_text(key): None if became is None else _text(became) for key, became in value.items()}

    @model_validator(mode="after")
    def _fits(self) -> ColumnType:
        own = {"type", "map", "missing", *_SETTINGS[self.type]}
        odd = [name for name in type(self).model_fields if name not in own and getattr(self, name) not in (None, ())]
        if odd:
            known = ", ".join((*_SETTINGS[self.type], "map", "missing"))
            raise ValueError(f"the type {self.type} has no setting {', '.join(odd)} (it has {known})")
        if self.type == "ordered" and not self.order:
            raise ValueError("the type ordered needs its order: {type: ordered, order: [low, middle, high]}")
        if self.order is not None:
            _check_order(self.order, self.type)
        if any(re.search(LIKE_A_RELEASED_CELL, became) for became in self.map.values() if became):
            raise ValueError("map leads to texts that look like released cells (*, [a, b], or \\ at the start)")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError("decimal and thousands are the same sign")
        if any("%y" in entry for entry in self.format or ()) and self.century_from is None:
            raise ValueError("years of two digits need century_from: the first year that they can mean, such as 1930")
        for entry in self.format or ():
            _check_format(entry)
        return self

    @property
    def is_complete(self) -> bool:
        """Whether it says by itself how values are written, without the column."""
        needed = {"number": self.decimal, "date": self.format, "band": self.order}
        return self.type not in needed or needed[self.type] is not None

    def to_short(self) -> str | dict[str, Any]:
        """As it stands in a policy: the word alone where nothing is set."""
        settings = self.model_dump(mode="json", exclude_defaults=True)
        if self.format is not None and len(self.format) == 1:
            settings["format"] = self.format[0]
        return self.type if len(settings) == 1 else settings


def _text(value: Any) -> str:
    if isinstance(value, bool):
        raise ValueError("write yes, no, true and false in quotes: YAML reads them as something else than text")
    if value is None or isinstance(value, (list, tuple, dict)):
        raise ValueError("write a text here")
    return str(value)


def _check_format(entry: str) -> None:
    if any(sign in entry for sign in _ZONES):
        raise ValueError(f"format {entry}: time zones are not read; turn the moments into one time zone first")
    if ";" in entry:
        raise ValueError(f"format {entry}: dates are written in ranges [first;last], and cannot hold a semicolon")


def _check_order(order: tuple[str, ...], word: str) -> None:
    if len(set(order)) < len(order):
        raise ValueError("the order names a value twice")
    if "" in order:
        raise ValueError("the order names an empty text")
    if word == "ordered" and any(sign in label for label in order for sign in _SIGNS):
        raise ValueError("values of an order are written in ranges: they cannot hold [ ] ; * or \\ (use `map`)")
    if word == "band" and len(order) > MOST_BANDS:
        raise ValueError(f"more than {MOST_BANDS} bands")


def as_column_type(given: Any, name: str = "") -> ColumnType:
    """A declared type from a word, from settings, or as it is.

    >>> as_column_type("nominal").type, as_column_type({"type": "code", "digits": 5}).digits
    ('nominal', 5)
    """
    if isinstance(given, ColumnType):
        return given
    if isinstance(given, str):
        check_choice(f"The type of column '{name}'", given, get_args(TypeWord))
        given = {"type": given}
    try:
        return ColumnType.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"The type of column '{name}' cannot be used: {f'{where}: ' if where else ''}{what}.",
            "See docs/types.md for the types and their settings.",
        ) from None


def as_column_types(given: Mapping[str, Any] | None) -> dict[str, ColumnType]:
    """Declared types by column.

    >>> as_column_types({"roof": "nominal"})["roof"].type
    'nominal'
    """
    return {str(name): as_column_type(entry, str(name)) for name, entry in (given or {}).items()}


# The type of a column in a word that people use.


def type_word(dtype: pl.DataType) -> str:
    """The type of a column in a word that people use.

    >>> type_word(pl.Int32()), type_word(pl.String()), type_word(pl.Datetime("us"))
    ('integer', 'text', 'datetime')
    """
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    words = {pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time", pl.Duration: "duration", pl.Boolean: "boolean"}
    return next((word for kind, word in words.items() if dtype == kind), "empty" if dtype == pl.Null else "text")
