"""What is in a table, column by column, in one pass: types, missing and distinct values. No value is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.policy import Policy, Role, load_policy
from shoal.read import Options, read
from shoal.table import Column


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column; `single` counts the records whose value occurs only once."""

    name: str
    type: str
    nulls: int
    distinct: int
    single: int
    role: Role | None


@dataclass(frozen=True, slots=True)
class Profile:
    """A table: its records and its columns."""

    records: int
    columns: list[ColumnProfile]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def profile(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    policy: Policy | str | Path | None = None,
    options: Options | None = None,
) -> Profile:
    """Profile a table; with a policy, each column's role stands beside it.

    >>> import polars as pl
    >>> found = profile(pl.DataFrame({"zip": ["02139", "02139", None]})).columns[0]
    >>> found.type, found.nulls, found.distinct, found.single
    ('text', 1, 1, 0)
    """
    given = policy if isinstance(policy, Policy) else load_policy(policy) if policy is not None else Policy()
    table = read(source, columns, options)
    found = [_profile(column, given.columns.get(column.name)) for column in table.columns.values()]
    return Profile(table.rows, found, list(table.notes))


def _profile(column: Column, role: Role | None) -> ColumnProfile:
    counts = np.bincount(column.codes, minlength=len(column.values))[: len(column.values)]
    return ColumnProfile(
        name=column.name,
        type=type_word(column.dtype),
        nulls=column.nulls,
        distinct=len(column.values),
        single=int(np.count_nonzero(counts == 1)),
        role=role,
    )


def type_word(dtype: pl.DataType) -> str:
    """The type of a column in a word that people use.

    >>> type_word(pl.Int32()), type_word(pl.String()), type_word(pl.Datetime("us"))
    ('integer', 'text', 'moment')
    """
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    words = {
        pl.Date: "date",
        pl.Datetime: "moment",
        pl.Time: "time",
        pl.Duration: "duration",
        pl.Boolean: "boolean",
    }
    return next((word for kind, word in words.items() if dtype == kind), "empty" if dtype == pl.Null else "text")
