"""What is counted: columns, the records that each row stands for, the person whose row it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Codes, first_row_of_each_class
from shoal.storage.encode import look_up
from shoal.storage.table import rows_counted_at_once, smallest_unsigned
from shoal.vocabulary import NullRule


@dataclass(frozen=True)
class Rows:
    """Some columns of a table, the records that each row stands for, its person."""

    columns: Sequence[Column]
    weights: Array | None = None
    person: Column | None = None
    # whether all rows differ, so that the weights are the sizes of the classes
    distinct: bool = False
    # whether rows that differ are also in the order of their values, as a count table has them
    in_order: bool = False

    @classmethod
    def of(cls, table: Table, names: Sequence[str], count: str | None = None, person: str | None = None) -> Rows:
        """The rows of a table; a row whose count is zero is no record."""
        columns = table.select(names)
        if person is not None:
            if missing := table[person].nulls:
                raise InputError(
                    f"Person column '{person}' is empty in {missing:,} rows: whose records are they?",
                    "Fill it, or remove those rows first.",
                )
            table = table.expanded()
            return cls(table.select(names), None, table[person])
        if count is None:
            return cls(columns, table.records)
        weights = weights_of(table[count]) * (1 if table.records is None else table.records)
        rows = cls(columns, weights)
        return rows.take(weights > 0) if (weights == 0).any() else rows

    @property
    def count(self) -> int:
        return len(self.columns[0].codes if self.weights is None else self.weights)

    @property
    def records(self) -> int:
        return self.count if self.weights is None else int(self.weights.sum())

    @property
    def ones(self) -> Array:
        """The records of each row, also where each stands for one."""
        return np.ones(self.count, np.int64) if self.weights is None else self.weights

    def records_in(self, rows: Array) -> int:
        """The records that some rows (a mask) stand for."""
        return int(np.count_nonzero(rows) if self.weights is None else self.weights[rows].sum())

    def take(self, rows: Array) -> Rows:
        """The same on some rows."""
        return Rows(
            [column.take(rows) for column in self.columns],
            None if self.weights is None else self.weights[rows],
            None if self.person is None else self.person.take(rows),
            self.distinct and rows.dtype == bool,
            self.in_order and rows.dtype == bool,
        )

    def select(self, names: Sequence[str]) -> Rows:
        """The same on some columns."""
        by_name = {column.name: column for column in self.columns}
        whole = self.distinct and set(names) == set(by_name)
        in_order = self.in_order and list(names) == list(by_name)
        return Rows([by_name[name] for name in names], self.weights, self.person, whole, in_order)

    def without_nulls(self, rule: NullRule, names: Sequence[str] | None = None) -> tuple[Rows, int]:
        """Under the rule `drop`, the rows without a null in some columns (all), and how many records were set aside."""
        empty = [
            column.is_null() for column in self.columns if column.nulls and (names is None or column.name in names)
        ]
        if rule != "drop" or not empty:
            return self, 0
        keep = ~np.logical_or.reduce(empty)
        if not keep.any():
            raise InputError(
                "Every row has a missing value in these columns: under the null rule 'drop' nothing is left.",
                Message("Use {null_rule='value'}, which counts them."),
            )
        kept = self.take(keep)
        return kept, self.records - kept.records


def counted_rows(table: Table, names: Sequence[str], count: str | None, rule: NullRule) -> tuple[Table, int]:
    """The rows of a table that are counted, and how many records were set aside.

    A row whose count is zero is not a record; under the rule `drop` rows with a null in some columns are set aside.

    >>> from shoal.storage.reading import read
    >>> table, removed = counted_rows(read({"a": [1, None, 2], "n": [2, 3, 0]}), ["a"], "n", "drop")
    >>> table.rows, removed, table["a"].values.to_list()
    (1, 3, [1])
    """
    if count is None and table.records is None and rule != "drop":  # each row is a record
        return table, 0
    weights = np.ones(table.rows, np.int64) if count is None else weights_of(table[count])
    weights = weights if table.records is None else weights * table.records
    keep = weights > 0
    if rule == "drop":
        keep &= ~np.logical_or.reduce([column.is_null() for column in table.select(names)])
    if keep.all():
        return table, 0
    left = table.take(keep)
    columns = {name: compact(column) for name, column in left.columns.items()}
    return replace(left, columns=columns), int(weights[~keep].sum())


def counting_records(table: Table, names: Sequence[str], count: str | None) -> list[Column]:
    """Columns whose frequencies are of records, also where a count column says how many each row stands for.

    >>> from shoal.storage.reading import read
    >>> counted = counting_records(read({"town": ["Rome", "Nice"], "n": [2, 600]}), ["town"], "n")
    >>> counted[0].values.to_list(), counted[0].frequencies().tolist()
    (['Nice', 'Rome'], [600, 2])
    """
    columns = table.select(names)
    if count is None:
        return columns
    weights = weights_of(table[count]) * (1 if table.records is None else table.records)
    return [column.counting(np.arange(table.rows), weights) for column in columns]


def compact(column: Column) -> Column:
    """The same column without values that no row has.

    >>> from shoal.storage.encode import encode
    >>> compact(encode(pl.Series("age", [34, 51])).take(np.array([1]))).values.to_list()
    [51]
    """
    present = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)] > 0
    if present.all():
        return column
    number = np.append(np.cumsum(present) - 1, present.sum())
    codes = number[column.codes].astype(smallest_unsigned(int(present.sum()) + 1))
    return replace(column, codes=codes, values=column.values.filter(present))


def weights_of(column: Column) -> Array:
    """The records that each row stands for."""
    cure = "A count is a whole number of records, zero or more, in every row."
    if column.nulls:
        raise InputError(f"Count column '{column.name}' is empty in {column.nulls:,} rows.", cure)
    if not column.values.dtype.is_numeric():
        raise InputError(f"Count column '{column.name}' does not hold numbers.", cure)
    values = column.values.cast(pl.Float64).to_numpy()
    if (values < 0).any():
        raise InputError(f"Count column '{column.name}' has negative numbers.", cure)
    if (values != np.floor(values)).any() or values.max(initial=0) > 2**53:
        raise InputError(f"Count column '{column.name}' has numbers that are no counts.", cure)
    if float(values @ occurrences(column.codes, len(values))) > 2**53:
        raise InputError(f"The counts of column '{column.name}' sum up to more records than can be counted.", cure)
    if values.max(initial=0) == 0:
        raise InputError(f"Count column '{column.name}' is zero in every row: there are no records.", cure)
    return look_up(column.codes, values.astype(np.int64), 0)


def occurrences(codes: Array, values: int) -> Array:
    """How often each code occurs, a block of rows at a time: counting takes eight bytes for each of them.

    >>> occurrences(np.array([2, 0, 2], np.uint8), 3).tolist()
    [1, 0, 2]
    """
    block = rows_counted_at_once(values)
    starts = range(0, len(codes), block)
    return sum((np.bincount(codes[start : start + block], minlength=values) for start in starts), np.zeros(values, int))


# Survey weights: how many people of the population each record of a sample stands for.


# the largest weight: above it a float counts no single people
MOST_PEOPLE = 2**53
_CURE = "A weight is the number of people that a record stands for: a number above 0 in every row."


def record_weights(column: Column) -> Array:
    """The weight of each record; what is not a weight is refused.

    The weights of a sample sum to the size of the population, which is never below the number of records.

    >>> from shoal.storage.reading import read
    >>> record_weights(read({"w": [20.5, 3, 20.5]})["w"]).tolist()
    [20.5, 3.0, 20.5]
    """
    if column.nulls:
        raise InputError(f"Weight column '{column.name}' is empty in {column.nulls:,} rows.", _CURE)
    if not column.values.dtype.is_numeric():
        raise InputError(f"Weight column '{column.name}' does not hold numbers.", _CURE)
    values = column.values.cast(pl.Float64).to_numpy()
    if not np.isfinite(values).all():
        raise InputError(f"Weight column '{column.name}' has values that are not finite numbers.", _CURE)
    if (values > MOST_PEOPLE).any():
        raise InputError(
            f"Weight column '{column.name}' has weights above {MOST_PEOPLE:,}: nobody stands for as many people.", _CURE
        )
    if (values < 0).any():
        raise InputError(f"Weight column '{column.name}' has negative numbers.", _CURE)
    if (values == 0).any():
        raise InputError(f"Weight column '{column.name}' is 0 in some rows: such a record stands for nobody.", _CURE)
    weights = np.asarray(values[column.codes])
    # a sum of floats may miss its last digits
    if len(weights) and float(weights.sum()) < len(weights) * (1 - 1e-9):
        raise InputError(
            f"The weights of column '{column.name}' sum to less than the {len(weights):,} records of the sample.",
            "Use weights that sum to the size of the population, not weights scaled to a mean of 1 or below, or take "
            "`weight` out of the policy.",
        )
    return weights


def weight_notes(name: str, weights: Array, household: Codes | None = None) -> list[str]:
    """What is odd about weights that are still used: some under 1, some that vary within a household.

    >>> from shoal.storage.classes import Coded
    >>> weight_notes("w", np.array([0.5, 3.0]), Coded(np.array([0, 0]), 1))
    ["1 weight of column 'w' is under 1: ...", "the weights of column 'w' vary within 1 household: ..."]
    """
    notes = []
    if under := int(np.count_nonzero(weights < 1)):
        what = f"1 weight of column '{name}' is" if under == 1 else f"{under:,} weights of column '{name}' are"
        notes.append(f"{what} under 1: a record stands for at least itself")
    if household is not None and len(weights):
        first = first_row_of_each_class(household.codes, household.cardinality)
        differs = weights != weights[first[household.codes]]
        if varied := len(np.unique(household.codes[differs])):
            which = f"{varied:,} household{'s' if varied > 1 else ''}"
            notes.append(f"the weights of column '{name}' vary within {which}: each record keeps its own")
    return notes
