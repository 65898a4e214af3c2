"""A population of which only marginal tables are known: its cells, fitted to the margins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError, quoted
from shoal.reading import read
from shoal.table import Array, Column, Table
from shoal.table.unite import unite

# cells of the whole table that are fitted at once: 8 bytes each, three times
MOST_CELLS = 10_000_000
_MOST_ROUNDS = 500
# how near the fitted table should come to every margin, as a share of the population, and how near it must where it
# comes no nearer: published margins are rounded
_NEAR, _NEAR_ENOUGH = 1e-9, 1e-3
# rounds within which it must come nearer by a tenth
_PATIENCE = 25
# margins are rounded and come from different days: their sums may differ by this share
_SUMS_DIFFER = 0.01


@dataclass(frozen=True)
class FittedPopulation:
    """The cells of a population: a row of `table` for each, with the people estimated there."""

    table: Table
    people: Array
    rounds: int

    @property
    def size(self) -> float:
        """The people of the population."""
        return float(self.people.sum())


def proportional_fit(shape: Sequence[int], margins: Sequence[tuple[Sequence[int], Array]]) -> tuple[Array, int]:
    """The table of greatest entropy with these margins (iterative proportional fitting), and the rounds it took.

    Each margin is the axes that it keeps and the sums there. x <- x * margin / sum of x over the other axes, margin by
    margin, until all fit (Deming and Stephan 1940). Columns that share no margin come out independent.

    >>> proportional_fit((2, 2), [((0,), np.array([30.0, 10.0])), ((1,), np.array([20.0, 20.0]))])[0].tolist()
    [[15.0, 15.0], [5.0, 5.0]]
    """
    total = float(margins[0][1].sum())
    fitted = np.full(shape, total / max(math.prod(shape), 1))
    every = range(len(shape))
    apart: list[float] = []
    for rounds in range(1, _MOST_ROUNDS + 1):
        for axes, wanted in margins:
            there = fitted.sum(axis=tuple(axis for axis in every if axis not in axes), keepdims=True)
            wanted = wanted.reshape([shape[axis] if axis in axes else 1 for axis in every])
            fitted *= np.divide(wanted, there, out=np.zeros_like(there), where=there > 0)
        apart.append(max(_apart(fitted, axes, wanted) for axes, wanted in margins) / total)
        stalls = rounds > _PATIENCE and apart[-1] > 0.9 * apart[-1 - _PATIENCE]
        if apart[-1] <= (_NEAR_ENOUGH if stalls or rounds == _MOST_ROUNDS else _NEAR):
            return fitted, rounds
        if stalls:
            break
    raise InputError(
        "The margins of the population contradict each other: no population has them all.",
        "Use margins of the same population, in the same categories.",
        settings="margins",
    )


def _apart(fitted: Array, axes: Sequence[int], wanted: Array) -> float:
    found = fitted.sum(axis=tuple(axis for axis in range(fitted.ndim) if axis not in axes))
    return float(np.abs(found - wanted).max(initial=0.0))


def population_of_margins(sources: Sequence[Any], names: Sequence[str]) -> FittedPopulation:
    """A population from marginal tables: each has some of the columns, and one more column with the people.

    >>> by_age, by_sex = {"age": [30, 40], "n": [30, 10]}, {"sex": ["f", "m"], "n": [20, 20]}
    >>> found = population_of_margins([by_age, by_sex], ["age", "sex"])
    >>> found.table["sex"].decode().to_list(), found.people.tolist()
    (['f', 'm', 'f', 'm'], [15.0, 15.0, 5.0, 5.0])
    """
    margins = [_margin(read(source), names) for source in sources]
    if missing := [name for name in names if not any(name in margin.columns for margin in margins)]:
        raise InputError(
            f"No margin of the population has the column {quoted(missing)}.",
            "Give a table of people by that column.",
            settings="margins",
        )
    _check_sums(margins)
    united = {name: _united([margin.columns[name] for margin in margins if name in margin.columns]) for name in names}
    shape = [column.cardinality for column, _ in united.values()]
    if math.prod(shape) > MOST_CELLS:
        raise InputError(
            f"The margins span {math.prod(shape):,} combinations of values, too many to fit.",
            f"Use fewer columns or coarser categories: up to {MOST_CELLS:,} combinations.",
            settings="margins",
        )
    given = {name: iter(codes) for name, (_, codes) in united.items()}
    total = float(margins[0].people.sum())
    sums = []
    for margin in margins:
        axes = [axis for axis, name in enumerate(names) if name in margin.columns]
        codes = [next(given[names[axis]])[margin.columns[names[axis]].codes] for axis in axes]
        wanted = np.zeros([shape[axis] for axis in axes])
        np.add.at(wanted, tuple(codes), margin.people * (total / margin.people.sum()))
        sums.append((axes, wanted))
    fitted, rounds = proportional_fit(shape, sums)
    cells = np.nonzero(fitted)
    columns = {
        name: Column(name, codes, column.values, int(np.count_nonzero(codes == len(column.values))), column.dtype)
        for (name, (column, _)), codes in zip(united.items(), cells, strict=True)
    }
    return FittedPopulation(Table(columns, len(cells[0])), fitted[cells], rounds)


@dataclass(frozen=True)
class _Margin:
    name: str
    columns: Mapping[str, Column]
    people: Array


def _margin(table: Table, names: Sequence[str]) -> _Margin:
    columns = {name: table[name] for name in names if name in table.columns}
    others = [name for name in table.names if name not in columns]
    cure = "A margin has quasi-identifiers, and one more column with the number of people in each row."
    if not columns or len(others) != 1:
        what = "no quasi-identifier" if not columns else f"{len(others)} columns that are not quasi-identifiers"
        raise InputError(f"The margin {table.name} has {what}.", cure, settings="margins")
    count = table[others[0]]
    if count.nulls or not count.values.dtype.is_numeric():
        raise InputError(f"Column '{count.name}' of margin {table.name} does not hold a number in every row.", cure)
    values = count.values.cast(pl.Float64).to_numpy()
    if not np.isfinite(values).all() or (values < 0).any() or not (values > 0).any():
        raise InputError(f"Column '{count.name}' of margin {table.name} does not hold numbers of people.", cure)
    return _Margin(table.name, columns, values[count.codes])


def _check_sums(margins: Sequence[_Margin]) -> None:
    """Margins of one population have one sum."""
    totals = [float(margin.people.sum()) for margin in margins]
    for margin, total in zip(margins, totals, strict=True):
        if abs(total - totals[0]) > _SUMS_DIFFER * totals[0]:
            raise InputError(
                f"The margin {margins[0].name} has {totals[0]:,.0f} people, {margin.name} has {total:,.0f}.",
                "Use margins of the same population.",
                settings="margins",
            )


def _united(columns: Sequence[Column]) -> tuple[Column, list[Array]]:
    """A column with the values of all margins that have it, and per margin the code of each of its own codes."""
    values, codes = unite([column.values for column in columns])
    nulls = int(any(column.nulls for column in columns))
    ends = np.cumsum([len(column.values) for column in columns])[:-1]
    of_each = [np.append(part, len(values)).astype(np.int64) for part in np.split(codes, ends)]
    return Column(columns[0].name, np.zeros(0, np.int64), values, nulls, values.dtype), of_each
