"""Conditions on a sensitive column, such as `charge>100000`, `stage in II,III` or `age in [60;80]`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table import Array, Column

_COMPARE = re.compile(r"^\s*(.+?)\s*(<=|>=|!=|==|=|<|>)\s*(.+?)\s*$")
_IN = re.compile(r"^\s*(.+?)\s+in\s+(.+?)\s*$", re.IGNORECASE)
_RANGE = re.compile(r"^\[\s*(.+?)\s*;\s*(.+?)\s*\]$")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "==": eq, "!=": ne,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """A column, how it is compared, and with what."""

    text: str
    column: str
    operator: str
    values: tuple[str, ...]

    def meets(self, column: Column) -> Array:
        """Which rows meet it; a null meets nothing."""
        answers = np.append(self._answers(column), False)
        return np.asarray(answers[column.codes])

    def _answers(self, column: Column) -> Array:
        wanted = self._typed(column)
        values = column.values.cast(wanted.dtype)
        if self.operator == "range":
            return np.asarray((values >= wanted[0]) & (values <= wanted[1]))
        if self.operator == "in":
            return values.is_in(wanted).to_numpy()
        answers: pl.Series = _OPERATORS[self.operator](values, wanted[0])
        return answers.to_numpy()

    def _typed(self, column: Column) -> pl.Series:
        """The values of the condition in the type of the column."""
        texts = pl.Series(list(self.values))
        dtype = column.values.dtype
        wanted = (
            texts.str.to_date(strict=False)
            if dtype == pl.Date
            else texts.cast(pl.Float64 if dtype.is_numeric() else dtype, strict=False)
        )
        if wanted.null_count():
            raise InputError(
                f"Condition '{self.text}' compares column '{self.column}' with something of another type.",
                "Compare numbers with numbers, dates (2020-12-31) with dates, text with text.",
            )
        return wanted


def parse_condition(text: str) -> Condition:
    """A condition from text: a comparison, a list, or a range.

    >>> parse_condition("charge > 100000")
    Condition(text='charge > 100000', column='charge', operator='>', values=('100000',))
    >>> parse_condition("age in [60;80]").operator
    'range'
    """
    if found := _IN.match(text):
        column, what = found.groups()
        if ends := _RANGE.match(what):
            return Condition(text, column, "range", ends.groups())
        return Condition(text, column, "in", tuple(value.strip() for value in what.split(",")))
    if found := _COMPARE.match(text):
        return Condition(text, found.group(1), found.group(2), (found.group(3),))
    raise InputError(f"'{text}' is no condition.", "Write charge>100000, stage in II,III or age in [60;80].")
