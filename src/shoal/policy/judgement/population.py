"""How many people of a population table lie in the box of each released class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError, Message, quoted
from shoal.ranges.hierarchy import Hierarchy, fit
from shoal.ranges.parsing import as_ranges, unescape
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.reading import read
from shoal.storage.texts import texts_of
from shoal.storage.unite import unite

# labels times population values that are held against each other at once
_CELLS = 1 << 28


def read_population(path: str, names: Sequence[str]) -> Table:
    """A population table with the columns that it must share.

    >>> read_population("nobody.csv", ["age"])
    Traceback (most recent call last):
    shoal.errors.InputError: There is no file nobody.csv. ...
    """
    table = read(path)
    table.select(names)
    return table


def people_in_classes(
    released: Sequence[Column],
    class_of_row: Array,
    population: Table,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    names: Sequence[str] | None = None,
    levels: Mapping[str, int] | None = None,
    weights: Array | None = None,
) -> Array:
    """People of the population in the box of each class (rows of class -1 are in none).

    `levels`: to which level of its hierarchy each column was raised, where that is known; `weights`: the people that
    each row of the population stands for, where that is not one.

    >>> released = read({"age": ["[30;39]", "[30;39]", "[40;49]"]}).select(["age"])
    >>> people_in_classes(released, np.array([0, 0, 1]), read({"age": [31, 39, 45, 50]})).tolist()
    [2, 1]
    """
    kept = np.flatnonzero(class_of_row >= 0)
    classes = int(class_of_row.max(initial=-1)) + 1
    first = kept[first_row_of_each_class(class_of_row[kept], classes)]
    people = population.select(list(names or [column.name for column in released]))
    distinct = CountTable.of({str(j): column for j, column in enumerate(people)})
    counts = distinct.counts
    if weights is not None:  # rows in the order of their tuples
        counts = np.bincount(class_of_each_row(pack(people))[0], weights, len(distinct))
    found = np.zeros(classes, counts.dtype)
    sides = []
    for j, (column, theirs) in enumerate(zip(released, people, strict=True)):
        family, label_of = _families(
            column, theirs, (hierarchies or {}).get(theirs.name), (levels or {}).get(theirs.name)
        )
        labels = column.codes[first].astype(np.int64)
        sides.append((labels, family[labels], [of_code[distinct.tuples[str(j)].codes] for of_code in label_of]))
    pattern, patterns = class_of_each_row(pack([Coded(family, len(label_of)) for _, family, label_of in sides]))
    for number in range(patterns):
        here = np.flatnonzero(pattern == number)
        fitting = [label_of[family[here[0]]] for _, family, label_of in sides]
        inside = np.flatnonzero(np.logical_and.reduce([labels >= 0 for labels in fitting]))
        keys = [
            Coded(np.concatenate([labels[here], theirs[inside]]), column.cardinality + 1)
            for (labels, _, _), theirs, column in zip(sides, fitting, released, strict=True)
        ]
        cell, cells = class_of_each_row(pack(keys))
        sums = np.bincount(cell[len(here) :], counts[inside], minlength=cells)
        found[here] = sums[cell[: len(here)]]
    return found


def _families(
    column: Column, people: Column, hierarchy: Hierarchy | None, level: int | None
) -> tuple[Array, list[Array]]:
    """Labels dealt to families within which no two hold the same value: the family of each label, and per family the
    label that holds each value of the population (-1: none)."""
    # counting too few people is the safe side
    holds = labels_hold(column, people, hierarchy, level, least=True)
    order = np.argsort(-holds.sum(axis=1), kind="stable")
    family = np.zeros(len(holds), np.int64)
    label_of: list[Array] = []
    for label in order.tolist():
        values = holds[label]
        free = (number for number, of_code in enumerate(label_of) if not (of_code[values] >= 0).any())
        number = next(free, len(label_of))
        if number == len(label_of):
            label_of.append(np.full(holds.shape[1], -1, np.int64))
        family[label] = number
        label_of[number][values] = label
    return family, label_of


def _ranges_hold(labels: pl.Series, values: pl.Series) -> Array:
    """Which values lie in the range, or are in the set, that each label reads as."""
    # values are values, whatever they look like
    texts = [*labels.to_list(), *("\\" + values).to_list()]
    if not texts:  # a column in which all is missing
        return np.zeros((0, 0), bool)
    ranges = as_ranges(read(pl.DataFrame({"": texts}, schema={"": pl.String}))[""], "yes", null_is_star=False)
    codes = ranges.codes.astype(np.int64)
    of_label, points = codes[: len(labels)], ranges.low[codes[len(labels) :]]
    holds = (ranges.low[of_label][:, None] <= points) & (points <= ranges.high[of_label][:, None])
    for place, code in enumerate(of_label.tolist()):
        if code in ranges.pieces:
            holds[place] = np.logical_or.reduce([(a <= points) & (points <= b) for a, b in ranges.pieces[code]])
    return np.asarray(holds)


def labels_hold(
    column: Column, people: Column, hierarchy: Hierarchy | None, level: int | None = None, least: bool = False
) -> Array:
    """Which values of the population (and null) each released label (and null) stands for.

    A leaf and a node may have the same name: at a known `level` the label is that level's; otherwise it is all that it
    may mean, or with `least` the lowest that has it.
    """
    labels = texts_of(column.values)
    values = texts_of(people.values)
    if len(labels) * len(values) > _CELLS:
        raise InputError(
            f"Column '{people.name}' has too many values to count a population in its classes.", "Generalise it more."
        )
    holds = _ranges_hold(labels, values)
    own = {text: place for place, text in enumerate(values.to_list())}
    for place, text in enumerate(unescape(labels).to_list()):  # a value holds itself
        if text in own:
            holds[place, own[text]] = True
    if hierarchy is not None:
        fitted = fit(hierarchy, people)
        known = np.arange(len(values))
        paths = [
            np.array([labels_[node] for node in codes_[known]], object)
            for labels_, codes_ in zip(fitted.labels, fitted.codes, strict=True)
        ]
        for place, label in enumerate(labels.to_list()):
            under = [path == label for path in (paths if level is None else [paths[level], paths[-1]])]
            meant = [held for held in under if held.any()]
            if meant:
                holds[place] = meant[0] if least or level is not None else np.logical_or.reduce(meant)
    # null is held by null and by `*`
    star = (labels == "*").to_numpy()
    if people.nulls:
        holds = np.column_stack([holds, star])
    if column.nulls:
        null = np.zeros(holds.shape[1], bool)
        null[len(values) :] = True
        holds = np.vstack([holds, null])
    return holds


# A population of which only marginal tables are known: its cells, fitted to the margins.


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


class FittedPopulation(NamedTuple):
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
        Message("Use {margins} of the same population, in the same categories."),
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
            Message("Give a table of people by that column ({margins})."),
        )
    _check_sums(margins)
    united = {name: _united([margin.columns[name] for margin in margins if name in margin.columns]) for name in names}
    shape = [column.cardinality for column, _ in united.values()]
    if math.prod(shape) > MOST_CELLS:
        raise InputError(
            f"The margins span {math.prod(shape):,} combinations of values, too many to fit.",
            Message("Use fewer columns or coarser categories: up to {} combinations ({margins}).", f"{MOST_CELLS:,}"),
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


class _Margin(NamedTuple):
    name: str
    columns: Mapping[str, Column]
    people: Array


def _margin(table: Table, names: Sequence[str]) -> _Margin:
    columns = {name: table[name] for name in names if name in table.columns}
    others = [name for name in table.names if name not in columns]
    cure = Message(
        "A margin ({margins}) has quasi-identifiers, and one more column with the number of people in each row."
    )
    if not columns or len(others) != 1:
        what = "no quasi-identifier" if not columns else f"{len(others)} columns that are not quasi-identifiers"
        raise InputError(f"The margin {table.name} has {what}.", cure)
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
                Message("Use {margins} of the same population."),
            )


def _united(columns: Sequence[Column]) -> tuple[Column, list[Array]]:
    """A column with the values of all margins that have it, and per margin the code of each of its own codes."""
    values, codes = unite([column.values for column in columns])
    nulls = int(any(column.nulls for column in columns))
    ends = np.cumsum([len(column.values) for column in columns])[:-1]
    of_each = [np.append(part, len(values)).astype(np.int64) for part in np.split(codes, ends)]
    return Column(columns[0].name, np.zeros(0, np.int64), values, nulls, values.dtype), of_each
