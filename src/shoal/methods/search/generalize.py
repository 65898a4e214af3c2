"""From a table, its hierarchies and the models of a policy to the best generalisation of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from shoal import __version__, progress
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
from shoal.models import KAnonymity, Model
from shoal.models.evidence import whole_of, whole_of_persons
from shoal.policy import Policy, as_policy
from shoal.policy.judgement.evidence import people_of_rows
from shoal.policy.judgement.population import read_population
from shoal.policy.judgement.shown_classes import classes_of_persons
from shoal.policy.manifest import LARGEST_PLAN, as_shape, read_json
from shoal.policy.survey import population_size
from shoal.ranges.columns import Nature, ReleasedColumns, as_it_was, spread_over
from shoal.ranges.forms import ColumnForm, escape
from shoal.ranges.hierarchy import Hierarchy, fit
from shoal.ranges.hierarchy.fit import Fitted, fit_all, leaf_of_each_value
from shoal.ranges.hierarchy.given import complete, given_hierarchies, rows_of, trees_in_values
from shoal.ranges.hierarchy.outside import check_labels
from shoal.ranges.parsing import as_numbers, ends_of
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.classes import Coded, CountTable, class_of_each_row, first_row_of_each_class, pack, sensitive_counts
from shoal.storage.column_type import type_word
from shoal.storage.encode import encode, look_up
from shoal.storage.reading import read
from shoal.storage.rows import Rows, counting_records
from shoal.storage.texts import texts_of
from shoal.vocabulary import Minimize
from shoal.wording import percent

if TYPE_CHECKING:
    from shoal.methods.mondrian import CutPlan


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
        sample = None if self.sample is None else self.sample.part(wanted)
        return replace(self, tuples=CountTable(tuples, counts), sensitive=sensitive, sample=sample)

    def _persons(self, wanted: Array, number: Array) -> Space:
        """Some histories; tuples that none of them has count no records."""
        theirs = self.histories
        assert theirs is not None
        kept = wanted[theirs.of_history.codes]
        codes = Coded(number[theirs.of_history.codes[kept]], int(wanted.sum()))
        left = TupleHistories(codes, theirs.of_tuple[kept], theirs.persons[wanted])
        counts = np.bincount(left.of_tuple, left.persons[codes.codes], minlength=len(self.tuples)).astype(np.int64)
        tuples = CountTable(self.tuples.tuples, counts)
        sensitive, sample = self._entries(wanted, number), None if self.sample is None else self.sample.part(wanted)
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
        np.bincount(tuple_of_row, weights, count).astype(np.int64),
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


# A solution as a plan: fit once, apply to new data. It names the values of the data, so it is for its owner.

KIND = "generalisation plan"


@dataclass(frozen=True)
class LatticePlan:
    """The levels of every round, the trees they refer to, and the policy that they keep.

    Without rounds it only tells what the labels of a release hold, and cannot be applied to new data.
    """

    policy: Policy
    trees: Mapping[str, Hierarchy]
    rounds: list[tuple[int, ...]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        columns = {name: {"hierarchy": rows_of(tree)} for name, tree in self.trees.items()}
        return {
            "kind": KIND,
            "shoal": __version__,
            "policy": self.policy.model_dump(mode="json"),
            "columns": columns,
            "rounds": [dict(zip(self.trees, levels, strict=True)) for levels in self.rounds],
        }


def read_plan(path: str | Path) -> LatticePlan | CutPlan:
    """A plan from its file.

    >>> read_plan("nothing.json")
    Traceback (most recent call last):
    shoal.errors.InputError: There is no plan nothing.json. ...
    """
    path = Path(path)
    return plan_of(read_json(path, "plan", LARGEST_PLAN), path)


class _PlanColumn(BaseModel):
    """The tree of a column, row by row: never a path."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    hierarchy: Annotated[list[Annotated[list[str], Field(min_length=1)]], Field(min_length=1)]


class _PlanFile(BaseModel):
    """A plan as it is written."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    kind: Literal["generalisation plan"]
    shoal: str
    policy: dict[str, Any]
    columns: Annotated[dict[str, _PlanColumn], Field(min_length=1)]
    rounds: list[dict[str, Annotated[int, Field(ge=0, lt=10_000)]]]


def plan_of(content: dict[str, Any], path: Path) -> LatticePlan | CutPlan:
    """A plan from its JSON: of levels, or of cuts."""
    from shoal.methods.mondrian import KIND, cuts_of

    content = {name: part for name, part in content.items() if name != "salt"}
    if content.get("kind") == KIND:
        return cuts_of(content, path)
    plan_file = as_shape(_PlanFile, content, path, "plan")
    policy = as_policy(plan_file.policy)
    names = list(plan_file.columns)
    asked = set(policy.quasi_identifiers)
    fits = asked == set(names) if plan_file.rounds else asked >= set(names)
    if not fits or any(set(levels) != set(names) for levels in plan_file.rounds):
        raise InputError(f"{path} names other columns than its policy.", "Take it as it was written.")
    trees = given_hierarchies({name: plan_file.columns[name].hierarchy for name in names}, names)
    rounds = [tuple(levels[name] for name in names) for levels in plan_file.rounds]
    heights = [trees[name].height for name in names]
    if any(not 0 <= level < height for levels in rounds for level, height in zip(levels, heights, strict=True)):
        raise InputError(f"{path} names levels that its hierarchies do not have.", "Take it as it was written.")
    return LatticePlan(policy, trees, rounds)


def grown(tree: Hierarchy, column: Column) -> Hierarchy:
    """The tree with leaves for new numbers and dates that lie in one of its ranges at every level.

    >>> from shoal.storage.reading import read
    >>> tree = given_hierarchies({"age": [["30", "[30;34]", "*"], ["34", "[30;34]", "*"]]}, ["age"])["age"]
    >>> grown(tree, read({"age": [31, 40]})["age"]).levels[1].to_list()
    ['[30;34]', '[30;34]', '[30;34]']
    """
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        return tree
    texts = texts_of(column.values)
    known = set(tree.levels[0].to_list())
    fitted = fit(tree, column)
    if not fitted.missing:
        return tree
    numbers = as_numbers(column.values)
    new = np.array([text not in known for text in texts.to_list()], bool)
    paths: list[list[str | None]] = [texts.to_list()]
    for level in range(1, tree.height - 1):
        labels = pl.Series(tree.labels(level))
        low, high = ends_of(read(pl.DataFrame({"label": labels}))["label"])
        places = read(pl.DataFrame({"label": labels}))["label"].codes
        low, high = low[places], high[places]
        inside = (low[None, :] <= numbers[:, None]) & (numbers[:, None] <= high[None, :])
        new &= inside.sum(axis=1) == 1
        paths.append([labels[int(node)] for node in inside.argmax(axis=1)])
    rows = [[path[place] for path in paths] for place in np.flatnonzero(new).tolist()]
    if not rows:
        return tree
    more = [pl.Series([row[level] for row in rows], dtype=pl.String) for level in range(len(paths))]
    more.append(pl.Series(["*"] * len(rows)))
    try:
        levels = [pl.concat([old.alias(""), added.alias("")]) for old, added in zip(tree.levels, more, strict=True)]
        return Hierarchy(tree.column, tuple(levels), tree.source, tree.in_values)
    except InputError:  # ranges that do not hold their own leaves: then a new value has no place either
        return tree


def _known_units(space: Space, plan: LatticePlan) -> Array:
    """Which tuples (or histories) have only values that the plan's trees know: others are never shown."""
    known = np.ones(len(space.tuples), bool)
    for column in space.columns:
        there = np.append(
            leaf_of_each_value(plan.trees[column.name].levels[0], column.values, texts_of(column.values)) >= 0, True
        )
        known &= there[space.tuples.tuples[column.name].codes]
    if space.histories is None:
        return known
    unknown = np.bincount(
        space.histories.of_history.codes, ~known[space.histories.of_tuple], minlength=len(space.units)
    )
    return np.asarray(unknown == 0)


def follow(space: Space, plan: LatticePlan, policy: Policy) -> Generalized:
    """Settle every tuple in the first round in which its class keeps the policy; the rest is suppressed."""
    round_of_unit = np.full(len(space.units), -1, np.int64)
    known = _known_units(space, plan)
    left: Array = np.flatnonzero(known)
    part: Space = space.part(known)
    again: Sequence[Any] = [model for model in policy.models if not model.whole]
    for number, levels in enumerate(plan.rounds):
        if not len(left):
            break
        evaluate = part.evaluator(part.grid(SearchOptions()), again, part.members, space.members)
        lost = lost_units(evaluate, levels)
        round_of_unit[left[~lost]] = number
        left = left[lost]
        part = space.part(known & (round_of_unit < 0))
    nothing = Optimum(None, None, None, False, 0, 0, [])
    return Generalized(space, nothing, list(plan.rounds), round_of_unit)


def embedded(policy: Policy, trees: Mapping[str, Hierarchy]) -> Policy:
    """The policy with the given trees that models look at written out, so that whoever verifies has them.

    Those are the trees of sensitive columns, and where a population is counted in the classes also those of
    quasi-identifiers. One that was built stays out: it names every value of the data.
    """
    needed = {name for name in policy.needed if name not in policy.quasi_identifiers}
    if any(model.needs_population for model in policy.models):
        needed |= set(policy.quasi_identifiers)
    needed &= set(trees)
    return policy.model_copy(update={"hierarchies": {name: rows_of(trees[name]) for name in sorted(needed)}})


@dataclass(frozen=True)
class Prepared:
    """A table and its decisions, ready for the search."""

    policy: Policy
    space: Space
    trees: dict[str, Hierarchy]
    built: dict[str, str]
    options: SearchOptions


def prepare(
    table: Table, policy: Policy, hierarchies: Any, options: SearchOptions, complete_hierarchies: bool = False
) -> Prepared:
    """Read or build the hierarchies, count the table."""
    names = policy.quasi_identifiers
    needed = sorted(policy.needed)
    if unknown := sorted({*options.importance, *options.levels} - set(names)):
        raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers")
    given = given_hierarchies(hierarchies or policy.hierarchies, [*names, *needed])
    placed = trees_in_values(given, table.columns.values())
    trees, built = complete(placed, counting_records(table, names, policy.count))
    if not policy.labels_are_names:
        check_labels(trees)
    others = {name: tree for name, tree in placed.items() if name not in trees}
    # where records of a household may be left out, classes are of households, and they go whole
    together = policy.household if options.suppression > 0 else None
    rows = Rows.of(table, names, policy.count, policy.person or together)
    if policy.count is not None and len(rows.columns[0].codes) != table.rows:
        raise InputError(f"Count column '{policy.count}' is zero in some rows: these are not records.", "Remove them.")
    space = make_space(
        table, names, {**trees, **others}, policy.models, complete_hierarchies, rows.weights, rows.person
    )
    space = replace(space, sample=_sampled(table, policy, space))
    return Prepared(embedded(policy, given), space, trees, built, options)


def _sampled(table: Table, policy: Policy, space: Space) -> SampledUnits | None:
    """The people behind each tuple: the sum of its weights, or its share of the population."""
    if policy.person is not None:
        total = population_size(space.members, None, policy.population_size, policy.sampling)
        by = "sampling" if policy.population_size is None else "population_size"
        if total is None:
            return None
        return SampledUnits(space.units * (total / space.members), by, total, policy.risk_over)
    found = people_of_rows(table, policy, table.rows if policy.household is not None else space.members)
    if found is None:
        return None
    unit_of_row = space.tuple_of_row if space.unit_of_row is None else space.unit_of_row
    people = np.bincount(unit_of_row, found.people, len(space.units))
    draws = None if found.draws is None else np.bincount(unit_of_row, found.draws, len(space.units))
    return SampledUnits(people, found.by, found.population, policy.risk_over, draws)


def solve(prepared: Prepared) -> Generalized:
    """The best generalisation; an error that says the cure where there is none."""
    if not prepared.policy.models:
        raise InputError("The search needs a privacy model to keep.", Message("Give `{k}`, or models in a policy."))
    generalized = generalize(prepared.space, prepared.policy.models, prepared.options)
    if not generalized.rounds:
        limit = percent(prepared.options.suppression)
        if not generalized.optimum.optimal:
            raise InputError(
                f"No solution was found in {prepared.options.time_limit:g} s.",
                Message("Give more with `{time_limit}`."),
            )
        members = prepared.space.members
        k = max((model.k for model in prepared.policy.models if isinstance(model, KAnonymity)), default=0)
        if k > members:
            what = "records" if prepared.space.histories is None else "persons"
            raise InputError(f"k = {k} is more than the {members:,} {what}.", "Use a smaller k.")
        more = (
            Message("Allow more with `{suppression}`, ask for less,")
            if prepared.options.suppression < 1
            else "Ask for less,"
        )
        raise InputError(
            f"No generalisation keeps the policy with at most {limit} of the records suppressed.",
            Message("{} or give hierarchies with more levels.", more),
        )
    return generalized


class Relabelled(NamedTuple):
    """The quasi-identifiers as they are released, and the class of each row (-1: suppressed)."""

    columns: dict[str, ReleasedColumns]
    class_of_row: Array
    classes: int


def relabel(found: Generalized, labels_are_names: bool = False) -> Relabelled:
    """Write every row with the labels of its round; what was never settled is `*` throughout."""
    space, count = found.space, len(found.rounds)
    of_row = space.tuple_of_row if space.unit_of_row is None else space.unit_of_row
    rows = _RoundOf(found.round_of_unit.astype(np.int32)[of_row], count)
    # what is equal is put into classes once: distinct tuples, where each is of one round
    alike = rows if space.unit_of_row is not None else _RoundOf(found.round_of_unit, count)
    columns, keys = {}, []
    for place, column in enumerate(space.columns):
        labels, label, changed = _labels(found, place)
        codes = column.codes if alike is rows else space.tuples.tuples[column.name].codes
        which = alike.place(codes, column.cardinality)
        keys.append(Coded(look_up(which, label.astype(smallest_unsigned(len(labels))), 0), len(labels)))
        there = np.bincount(which, minlength=len(label)) > 0
        if not (changed & there).any():
            columns[column.name] = as_it_was(column)
        else:
            used = np.unique(label[there])
            texts = pl.Series(column.name, labels, dtype=pl.String).gather(used)
            is_text = column.values.dtype == pl.String
            form = ColumnForm(
                kind="node",
                type=type_word(column.dtype),
                tree=column.name,
                escaped=is_text,
                labels_are_names=labels_are_names,
            )
            nature: Nature = "named" if labels_are_names else "truthful"
            which = which if alike is rows else rows.place(column.codes, column.cardinality)
            shown = spread_over(encode(texts).take(np.searchsorted(used, label).clip(max=len(used) - 1)), which)
            columns[column.name] = ReleasedColumns.in_codes([shown], nature, look_up(which, changed, 0), form)
    kept = np.flatnonzero(alike.rounds >= 0)
    key = pack(keys)
    classes, number = class_of_each_row(Coded(key.codes[kept], key.cardinality))
    class_of_each = np.full(len(alike.rounds), -1, np.int64)
    class_of_each[kept] = classes
    return Relabelled(columns, class_of_each if alike is rows else class_of_each[of_row], number)


class _RoundOf:
    """The round of each row or tuple (-1: it is suppressed), and where its codes stand in tables by round and code."""

    def __init__(self, rounds: Array, count: int) -> None:
        self.rounds, self.count = rounds, count
        self.lost = np.flatnonzero(rounds < 0)

    def place(self, codes: Array, cardinality: int) -> Array:
        """A place for each code in each round, one after the other, and one for all that is suppressed."""
        narrow = smallest_unsigned(cardinality * self.count + 1)
        found = codes.astype(narrow)
        if self.count > 1:
            found += (np.maximum(self.rounds, 0) * cardinality).astype(narrow)
        found[self.lost] = cardinality * self.count
        return found


def _labels(found: Generalized, place: int) -> tuple[list[str | None], Array, Array]:
    """The labels of a column; which of them each code gets in each round and what is suppressed gets, one after the
    other, and whether it says something else."""
    column = found.space.columns[place]
    fitted = found.space.fitted[column.name]
    own = [*texts_of(column.values).to_list(), *([None] if column.nulls else [])]
    is_text = column.values.dtype == pl.String
    escaped = [*escape(column.values).to_list(), *([None] if column.nulls else [])] if is_text else own
    numbers: dict[str | None, int] = {}
    label, changed = [], []
    for levels in found.rounds:
        level = levels[place]
        texts = own if level == 0 else [fitted.labels[level][node] for node in fitted.codes[level]]
        alone = np.bincount(fitted.codes[level])[fitted.codes[level]] == 1
        # a value that still stands for itself is a text of the original, whatever it looks like
        itself = [level == 0 or (single and text == leaf) for text, leaf, single in zip(texts, own, alone, strict=True)]
        shown = [raw if same else text for raw, text, same in zip(escaped, texts, itself, strict=True)]
        label += [numbers.setdefault(text, len(numbers)) for text in shown]
        changed += [text != leaf for text, leaf in zip(texts, own, strict=True)]
    label.append(numbers.setdefault("*", len(numbers)))
    return list(numbers), np.array(label), np.array([*changed, True])
