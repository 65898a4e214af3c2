"""How many people of a population table lie in the box of each released class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.hierarchy import Hierarchy, fit
from shoal.ranges.parsing import as_ranges, unescape
from shoal.reading import read
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, CountTable, class_of_each_row, first_row_of_each_class, pack
from shoal.table.texts import texts_of

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
