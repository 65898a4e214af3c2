"""From a table, its hierarchies and the models of a policy to the best generalisation of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError, Message
from shoal.methods.search.evaluate import (
    Evaluator,
    PersonEntries,
    PersonEvaluator,
    PopulationTuples,
    SampledUnits,
    TupleHistories,
)
from shoal.methods.search.grid import COLUMN_MEASURES, LatticeGrid, make_grid
from shoal.methods.search.optimum import Optimum, find_best
from shoal.methods.search.sources import SensitiveEntries
from shoal.models import Model
from shoal.models.evidence import whole_of, whole_of_persons
from shoal.policy.judgement.population import read_population
from shoal.policy.judgement.shown_classes import classes_of_persons
from shoal.ranges.hierarchy.fit import Fitted, fit_all
from shoal.ranges.hierarchy.tree import Hierarchy
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable, class_of_each_row, first_row_of_each_class, pack, sensitive_counts
from shoal.storage.reading import read
from shoal.vocabulary import Minimize


@dataclass(frozen=True)
class SearchOptions:
    """What share of the records may be suppressed, what is minimized, within which levels, and for how long."""

    suppression: float = 0.0
    minimize: Minimize = "loss"
    importance: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    time_limit: float = 60.0
    local: bool = False


@dataclass(frozen=True)
class Space:
    """A table made ready for the search: its distinct tuples, and what models need beside them."""

    columns: Sequence[Column]
    fitted: Mapping[str, Fitted]
    tuple_of_row: Array
    tuples: CountTable
    sensitive: Mapping[str, SensitiveEntries | PersonEntries]
    populations: Mapping[str, PopulationTuples]
    histories: TupleHistories | None = None
    unit_of_row: Array | None = None
    weights: Array | None = None
    sample: SampledUnits | None = None

    @property
    def units(self) -> Array:
        """How many records (or persons) each distinct tuple (or history) stands for."""
        return self.tuples.counts if self.histories is None else self.histories.persons

    @property
    def members(self) -> int:
        """Records, or persons where a person has many."""
        return int(self.units.sum())

    def part(self, wanted: Array) -> Space:
        """The same on some units (a mask); the whole table stays what classes are compared with."""
        number = np.cumsum(wanted) - 1
        if self.histories is not None:
            return self._persons(wanted, number)
        tuples = {name: Coded(column.codes[wanted], column.cardinality) for name, column in self.tuples.tuples.items()}
        sensitive, counts = self._entries(wanted, number), self.tuples.counts[wanted]
        return replace(self, tuples=CountTable(tuples, counts), sensitive=sensitive, sample=self._sample_of(wanted))

    def _sample_of(self, wanted: Array) -> SampledUnits | None:
        return None if self.sample is None else self.sample.part(wanted)

    def _persons(self, wanted: Array, number: Array) -> Space:
        """Some histories; tuples that none of them has count no records."""
        theirs = self.histories
        assert theirs is not None
        kept = wanted[theirs.of_history.codes]
        codes = Coded(number[theirs.of_history.codes[kept]], int(wanted.sum()))
        left = TupleHistories(codes, theirs.of_tuple[kept], theirs.persons[wanted])
        counts = np.bincount(left.of_tuple, left.persons[codes.codes], minlength=len(self.tuples)).astype(np.int64)
        tuples = CountTable(self.tuples.tuples, counts)
        sensitive, sample = self._entries(wanted, number), self._sample_of(wanted)
        return replace(self, tuples=tuples, histories=left, sensitive=sensitive, sample=sample)

    def _entries(self, wanted: Array, number: Array) -> dict[str, SensitiveEntries | PersonEntries]:
        sensitive: dict[str, SensitiveEntries | PersonEntries] = {}
        for name, entries in self.sensitive.items():
            if isinstance(entries, PersonEntries):
                sensitive[name] = entries.part(wanted, number)
                continue
            kept = wanted[entries.of_tuple]
            sensitive[name] = SensitiveEntries(
                number[entries.of_tuple[kept]], entries.code[kept], entries.count[kept], entries.whole
            )
        return sensitive

    def grid(self, options: SearchOptions) -> LatticeGrid:
        """The lattice of its columns."""
        measure = options.minimize if options.minimize in COLUMN_MEASURES else "loss"
        return make_grid(self.fitted, self.tuples, measure, options.importance, options.levels)

    def grid_of_levels(self) -> LatticeGrid:
        """The lattice without limits, to look at given levels."""
        return self.grid(SearchOptions())

    def evaluator(
        self, grid: LatticeGrid, models: Sequence[Model], limit: int, records: int | None = None
    ) -> Evaluator:
        """What looks at the nodes of a grid."""
        given = (grid, models, limit, self.sensitive, self.populations, records or self.members, self.sample)
        if self.histories is not None:
            return PersonEvaluator(*given, histories=self.histories)
        return Evaluator(*given)


@dataclass(frozen=True)
class Generalized:
    """A generalisation: the levels of each round, and the round in which each distinct tuple (or history of a person)
    was settled (-1: never, it is suppressed). Without local recoding there is one round."""

    space: Space
    optimum: Optimum
    rounds: list[tuple[int, ...]]
    round_of_unit: Array

    @property
    def levels(self) -> dict[str, int]:
        """The level of each column, of the first round."""
        return dict(zip(self.space.fitted, self.rounds[0], strict=True))

    @cached_property
    def round_of_row(self) -> Array:
        """The round in which each row was settled; -1 where it is suppressed."""
        space = self.space
        return self.round_of_unit[space.tuple_of_row if space.unit_of_row is None else space.unit_of_row]

    def without_last_round(self) -> Generalized:
        """The same without its last round: what that settled is suppressed."""
        last = self.round_of_unit == len(self.rounds) - 1
        return replace(self, rounds=self.rounds[:-1], round_of_unit=np.where(last, -1, self.round_of_unit))


def score_of(found: Generalized, grid: LatticeGrid) -> float:
    """The score of all rounds together, by the measure of a grid: every record at the level of its own round."""
    records = _records_of_rounds(found, grid)
    gains = np.zeros(len(grid.axes))
    levels = np.array(found.rounds[0])
    for j, axis in enumerate(grid.axes):
        total = 0.0
        for number, of_codes in enumerate(records[j], start=-1):
            cost = axis.costs.suppressed if number < 0 else axis.costs.levels[found.rounds[number][j]]
            total += float((of_codes * cost).sum())
        # what the kernels take is the difference to all records at the first round's level
        gains[j] = total - grid.sums[j, levels[j]]
    return grid.score(grid.product(levels, gains))


def _records_of_rounds(found: Generalized, grid: LatticeGrid) -> list[list[Array]]:
    """How many records of each code were suppressed and settled in each round, by column; the first round, which mostly
    has the most, has what the others leave."""
    space = found.space
    if space.unit_of_row is None:
        rounds, counts = found.round_of_unit, space.tuples.counts
        codes = [space.tuples.tuples[axis.name].codes for axis in grid.axes]
    else:
        rounds, codes = found.round_of_row, [column.codes for column in space.columns]
        counts = np.ones(len(rounds), np.int64) if space.weights is None else space.weights
    others = [np.flatnonzero(rounds == number) for number in (-1, *range(1, len(found.rounds)))]
    records = []
    for axis, of_column in zip(grid.axes, codes, strict=True):
        counted = [np.bincount(of_column[here], counts[here], len(axis.records)) for here in others]
        records.append([counted[0], axis.records - sum(counted), *counted[1:]])
    return records


def make_space(
    table: Table,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    complete: bool = False,
    weights: Array | None = None,
    person: Column | None = None,
) -> Space:
    """Count a table once: all that the search looks at comes from here."""
    progress.report("counting", 0)
    columns = table.select(names)
    populations = {}
    sources = sorted({model.needs_population for model in models if model.needs_population is not None})
    tables = [read_population(source, names) for source in sources]
    columns, others = _together(columns, tables)
    fitted = dict(zip(names, fit_all(hierarchies, columns, complete), strict=True))
    for source, theirs in zip(sources, others, strict=True):
        populations[source] = PopulationTuples(CountTable.of({column.name: column for column in theirs}))
    tuple_of_row, count = class_of_each_row(pack(columns))
    first = first_row_of_each_class(tuple_of_row, count)
    tuples = CountTable(
        {column.name: Coded(column.codes[first], column.cardinality) for column in columns},
        _counts(tuple_of_row, count, weights),
    )
    histories, unit_of_row = None, None
    if person is not None:
        histories, unit_of_row = _histories(tuple_of_row, count, person)
    sensitive: dict[str, SensitiveEntries | PersonEntries] = {}
    for name in sorted({name for model in models for name in model.needs}):
        column = table.select([name])[0]
        tree: tuple[Array, ...] = ()
        if name in hierarchies:
            tree = tuple(fit_all(hierarchies, [column], complete)[0].codes)
        if person is not None and unit_of_row is not None:
            shown = Coded(tuple_of_row, count)
            sensitive[name] = _person_entries(shown, column, person, unit_of_row, tree)
            continue
        value_counts = sensitive_counts(tuple_of_row, count, column, weights)
        sensitive[name] = SensitiveEntries(
            value_counts.classes.astype(np.int64),
            value_counts.codes.astype(np.int64),
            value_counts.counts,
            whole_of(column, weights, tree),
        )
    return Space(columns, fitted, tuple_of_row, tuples, sensitive, populations, histories, unit_of_row, weights)


def _histories(tuple_of_row: Array, count: int, person: Column) -> tuple[TupleHistories, Array]:
    """Distinct histories, and the history of each row's person."""
    of_person, histories = classes_of_persons(tuple_of_row, count, person)
    first = first_row_of_each_class(of_person, histories)  # a person of each history
    chosen = np.zeros(person.cardinality, bool)
    chosen[first] = True
    rows = np.flatnonzero(chosen[person.codes])
    records = Coded(of_person[person.codes[rows]], histories)
    persons = np.bincount(of_person, minlength=histories)
    return TupleHistories(records, tuple_of_row[rows], persons), of_person[person.codes]


def _person_entries(
    shown: Coded, column: Column, person: Column, unit_of_row: Array, tree: tuple[Array, ...]
) -> PersonEntries:
    """A sensitive column by kinds of persons: those of one kind have the same values at the same tuples."""
    pairs = class_of_each_row(pack([shown, Coded(column.codes, column.cardinality)]))
    kind_of_person, kinds = classes_of_persons(*pairs, person)
    first = first_row_of_each_class(kind_of_person, kinds)
    chosen = np.zeros(person.cardinality, bool)
    chosen[first] = True
    rows = np.flatnonzero(chosen[person.codes])
    kind = Coded(kind_of_person[person.codes[rows]], kinds)
    code = Coded(column.codes[rows].astype(np.int64), column.cardinality)
    history = np.zeros(kinds, np.int64)
    history[kind.codes] = unit_of_row[rows]
    persons = np.bincount(kind_of_person, minlength=kinds)
    ordered = column.dtype.is_numeric() or column.dtype.is_temporal()
    whole = whole_of_persons(kind, code, persons, ordered, column.nulls > 0, tree)
    return PersonEntries(kind, shown.codes[rows], code.codes, history, persons, whole)


def _counts(tuple_of_row: Array, count: int, weights: Array | None) -> Array:
    if weights is None:
        return np.bincount(tuple_of_row, minlength=count)
    return np.bincount(tuple_of_row, weights, minlength=count).astype(np.int64)


def _together(columns: list[Column], tables: Sequence[Table]) -> tuple[list[Column], list[list[Column]]]:
    """Columns of a table and of populations in the same codes: a population has values that the table has not."""
    if not tables:
        return columns, []
    joined: list[list[Column]] = [[] for _ in range(len(tables) + 1)]
    ends = np.cumsum([len(columns[0].codes), *(table.rows for table in tables)])
    for column in columns:
        parts = [column.decode(), *(table[column.name].decode() for table in tables)]
        if len({part.dtype for part in parts}) > 1:
            parts = [part.cast(pl.String) for part in parts]
        both = read(pl.DataFrame({column.name: pl.concat([part.alias("") for part in parts])}))[column.name]
        for place, end in enumerate(ends):
            start = 0 if place == 0 else ends[place - 1]
            joined[place].append(replace(both, codes=both.codes[start:end]))
    return joined[0], joined[1:]


def generalize(space: Space, models: Sequence[Model], options: SearchOptions) -> Generalized:
    """Find the best node; with `local`, generalise again what it suppressed, as long as that gains something."""
    if not 0 <= options.suppression <= 1:
        raise InputError(
            "The suppression limit is not between 0 and 100%.", Message("Use `{suppression}` 5%, for example.")
        )
    grid = space.grid(options)
    limit = int(options.suppression * space.members + 1e-9)
    evaluate = space.evaluator(grid, models, limit)
    optimum = find_best(grid, evaluate, options.minimize, options.time_limit)
    rounds: list[tuple[int, ...]] = []
    round_of_unit = np.full(len(space.units), -1, np.int64)
    if optimum.best is not None:
        rounds.append(optimum.best.levels)
        round_of_unit[~lost_units(evaluate, optimum.best.levels)] = 0
    del evaluate  # its tables are not needed by what follows
    while options.local and rounds and (round_of_unit < 0).any():
        part = space.part(round_of_unit < 0)
        # everything may go again: what is settled is gained
        next_round = _next_round(part, models, options, space.members)
        if next_round is None:
            break
        levels, lost = next_round
        left = np.flatnonzero(round_of_unit < 0)
        round_of_unit[left[~lost]] = len(rounds)
        rounds.append(levels)
    return Generalized(space, optimum, rounds, round_of_unit)


def _next_round(
    part: Space, models: Sequence[Model], options: SearchOptions, records: int
) -> tuple[tuple[int, ...], Array] | None:
    grid = part.grid(options)
    again = [model for model in models if not model.whole]
    evaluate = part.evaluator(grid, again, part.members, records)
    found = find_best(grid, evaluate, options.minimize, options.time_limit).best
    if found is None or found.suppressed == part.members:
        return None
    return found.levels, lost_units(evaluate, found.levels)


def lost_units(evaluate: Evaluator, levels: Sequence[int]) -> Array:
    """Which distinct tuples (or histories) are suppressed at a node."""
    at = np.array(levels)
    place, sizes = evaluate.classes(at)
    bad, _ = evaluate.bad_classes(at, place, sizes)
    return np.asarray(bad[place])
