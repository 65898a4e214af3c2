"""Unicity: whoever knows a few points of a person's trace finds the only trace that has them all.

de Montjoye et al., *Unique in the Crowd* (2013): the share of persons whom p points of theirs, drawn at random, tell
from everybody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.attacks.common import wilson
from shoal.errors import InputError, Message, Setting, as_names, check_at_least
from shoal.exposure.known_points import alone_with, targets_of
from shoal.policy import Policy
from shoal.results import Bar, Grid, Headline, Notes, Result, Section, where_known
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, Codes, pack
from shoal.storage.reading import read
from shoal.storage.rows import Rows
from shoal.verbs.attacking import AttackUnicityRequest
from shoal.verbs.base import takes
from shoal.wording import counted, in_words, percent

# Columns made coarser for a sweep: numbers by width, times by duration, texts by their leading characters.


_DURATION = re.compile(r"[1-9]\d{0,5}(?:s|m|h|d|w|mo|q|y)")


def coarsened(column: Column, step: str) -> Coded:
    """The codes of a column in steps: a width for numbers, `6h` or `1w` for times, leading characters for texts.

    Only the dictionary is touched, never a row.

    >>> from shoal.storage.reading import read
    >>> coarsened(read({"hour": [0, 5, 6, 13]})["hour"], "6").codes.tolist()
    [0, 0, 1, 2]
    """
    values = column.values
    if values.dtype.is_temporal():
        coarse = _truncated(column, step)
    elif values.dtype.is_numeric():
        coarse = (values.cast(pl.Float64) / _width(column, step)).floor()
    else:
        width = _width(column, step)
        if width != int(width):
            raise InputError(f"{step} leading characters of '{column.name}' cannot be kept.", "Use a whole number.")
        coarse = values.cast(pl.String).str.head(int(width))
    group = coarse.rank("dense").to_numpy().astype(np.int64) - 1
    groups = int(group.max(initial=-1)) + 1
    return Coded(np.append(group, groups)[column.codes], groups + (column.nulls > 0))


def _truncated(column: Column, step: str) -> pl.Series:
    if not _DURATION.fullmatch(step):
        raise InputError(
            f"Step '{step}' of '{column.name}' is not a duration.", "Write a number and a unit, such as 6h, 1d or 1w."
        )
    values = column.values
    return values.cast(pl.Datetime("us")).dt.truncate(step)


def _width(column: Column, step: str) -> float:
    try:
        width = float(step)
    except ValueError:
        width = 0.0
    if not 0 < width < float("inf"):
        what = "a width" if column.values.dtype.is_numeric() else "a number of leading characters"
        cure = "Write a number above 0; durations such as 6h need a column of dates or times."
        raise InputError(f"Step '{step}' of '{column.name}' is not {what}.", cure)
    return width


def sweep(coarsen: Mapping[str, Sequence[str]], columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every combination of steps, one for each column that is swept.

    >>> list(sweep({"cell": ["2"], "hour": ["1", "6"]}, ["cell", "hour"]))
    [{'cell': '2', 'hour': '1'}, {'cell': '2', 'hour': '6'}]
    """
    for name, steps in coarsen.items():
        if name not in columns:
            raise InputError(f"Column '{name}' is swept and is not one of those that the attacker knows.", "Name it.")
        if not steps:
            raise InputError(f"Column '{name}' is swept over no step.", "Write steps such as 1,2,4.")
    for steps in product(*coarsen.values()):
        yield dict(zip(coarsen, steps, strict=True))


FEW = 30


@dataclass(frozen=True)
class Uniqueness:
    """The share of persons who are alone with so many of their points, and its 95% interval (Wilson)."""

    points: int
    uniqueness: float
    low: float
    high: float


@dataclass(frozen=True)
class Coarsened:
    """The same with columns made coarser."""

    steps: dict[str, str]
    points: list[Uniqueness]


@dataclass(frozen=True, repr=False)
class Unicity(Result):
    """How many points of a trace single its person out."""

    name: ClassVar[str] = "attack-unicity"

    persons: int
    targets: int
    columns: list[str]
    points: list[Uniqueness]
    seed: int
    notes: list[str]
    sweep: list[Coarsened] | None = where_known()

    def summary(self) -> str:
        """The most points that were tried, and whom they single out."""
        most = max(self.points, key=lambda entry: entry.points)
        columns = in_words(self.columns)
        known = f"{counted(most.points, 'point')} ({columns})"
        alone = f"tell {percent(most.uniqueness)} of {counted(self.persons, 'person')} from everybody else"
        return f"{known} {alone}."

    def sections(self) -> list[Section]:
        """The share for each number of points, then for each coarsening."""
        rows = [_row(str(entry.points), entry) for entry in self.points]
        shown: list[Section] = [Headline(self.summary()), Grid(("points known", "unique", "95% interval", ""), rows)]
        if self.sweep:
            heads = ("coarsened to", "points known", "unique", "95% interval", "")
            swept = [
                (", ".join(f"{name}: {step}" for name, step in part.steps.items()), *_row(str(entry.points), entry))
                for part in self.sweep
                for entry in part.points
            ]
            shown.append(Grid(heads, swept))
        return [*shown, Notes(self.notes)]


def _row(name: str, entry: Uniqueness) -> tuple[str, str, str, Bar]:
    between = f"{percent(entry.low)} to {percent(entry.high)}"
    return name, percent(entry.uniqueness), between, Bar(entry.uniqueness)


@takes(AttackUnicityRequest)
def attack_unicity(source: Any, request: AttackUnicityRequest) -> Unicity:
    """How many points (values of `columns` together) of a person's rows tell the person from everybody else.

    Up to `targets` persons are drawn, and points of each; who has fewer points is known by all of them. `coarsen`
    names steps for columns (a width for numbers, `6h` or `1w` for times, leading characters for texts).

    >>> found = attack_unicity({"user": [1, 1, 2, 2], "cell": [7, 8, 7, 9]}, person="user", columns="cell", points=[2])
    >>> found.points[0].uniqueness
    1.0
    """
    asked = sorted(set(request.points))
    check_at_least(0, request.seed, Setting("seed"))
    if request.items_in:
        names, table = _one_item_a_row(source, request)
        _check(names, asked, _ROW, request.targets)
        notes, owner = list(table.notes), owner_of(table, _ROW)
    else:
        names, person = as_names(request.columns), request.person or ""
        _check(names, asked, person, request.targets)
        table, notes = _whole_points(read(source, [*names, person], request.options), names)
        owner = owner_of(table, person)
    target = targets_of(owner, request.targets, request.seed)
    if len(target) < FEW:
        notes.append(f"fewer than {FEW} targets: the interval is wide, and the rate says little")
    swept = [
        Coarsened(steps, _measure(table, owner, names, steps, target, asked, request.seed)[0])
        for steps in sweep(request.coarsen or {}, names)
    ]
    found, few = _measure(table, owner, names, {}, target, asked, request.seed)
    if few:
        notes.append(f"{counted(few, 'target')} with fewer than {asked[-1]} different points: known by all of them")
    return Unicity(
        owner.cardinality, len(target), names, found, request.seed, notes, swept if request.coarsen else None
    )


# whose row it is, where items of cells were put into rows
_ROW = "whose item it is"


def _one_item_a_row(source: Any, request: AttackUnicityRequest) -> tuple[list[str], Table]:
    """The items of cells one in each row; without a person column each row of the source is a person."""
    from shoal.policy.judgement.sets import occurrences_of
    from shoal.policy.loading import with_sets

    policy = with_sets(Policy(), None, request.items_in, request.person, None, None, None)
    name = policy.item_column or ""
    found = occurrences_of(read(source, [name, *filter(None, [request.person])], request.options), policy)
    return [name], read(pl.DataFrame({_ROW: found.person, name: found.labels.gather(found.item)}))


def _check(names: list[str], asked: list[int], person: str, targets: int) -> None:
    if not names:
        raise InputError(
            "No columns are named: what does the attacker know of a point?",
            Message("Name them in {columns}."),
        )
    if not person:
        raise InputError(Message("No {person} is named."), "Name the column that says whose row it is.")
    if person in names:
        raise InputError(f"Column '{person}' says whose row it is: it is not a part of a point.", "Leave it out.")
    if not asked or asked[0] < 1:
        raise InputError(
            "The numbers of points must be 1 or more.", Message("Use for example 1, 2, 3 and 4 ({points}).")
        )
    check_at_least(1, targets, "The number of targets")


def _whole_points(table: Table, names: list[str]) -> tuple[Table, list[str]]:
    """The rows that say a whole point; one with a missing part is not something that somebody knows."""
    empty = [column.is_null() for column in table.select(names) if column.nulls]
    if not empty:
        return table, list(table.notes)
    keep = ~np.logical_or.reduce(empty)
    if not keep.any():
        raise InputError("Every row lacks a part of its point.", "Name columns that are filled.")
    note = f"{counted(int((~keep).sum()), 'row')} without a whole point left out"
    return table.take(keep), [*table.notes, note]


def owner_of(table: Table, person: str) -> Coded:
    """Whose row it is, persons numbered densely in the order of their names."""
    column = Rows.of(table, [person], person=person).person
    assert column is not None
    there = np.zeros(column.cardinality, bool)
    there[column.codes] = True
    if there.all():
        return Coded(column.codes, column.cardinality)
    return Coded((np.cumsum(there) - 1)[column.codes], int(there.sum()))


def _measure(
    table: Table, owner: Coded, names: list[str], steps: Mapping[str, str], target: Array, asked: list[int], seed: int
) -> tuple[list[Uniqueness], int]:
    parts: list[Codes] = [coarsened(table[name], steps[name]) if name in steps else table[name] for name in names]
    unique, few = alone_with(owner, pack(parts), target, asked, seed)
    found = []
    for number, hits in zip(asked, unique.sum(axis=0).tolist(), strict=True):
        low, high = wilson(hits, len(target))
        found.append(Uniqueness(number, hits / len(target), low, high))
    return found, few
