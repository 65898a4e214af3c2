"""A table made ready for the search for levels, its best generalisation, and the rows as released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.methods.search.evaluate import SampledUnits
from shoal.methods.search.generalize import Generalized, SearchOptions, Space, generalize, make_space
from shoal.methods.search.plan import embedded
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.policy.judgement.evidence import people_of_rows
from shoal.policy.survey import population_size
from shoal.ranges.columns import Nature, ReleasedColumns, as_it_was, spread_over
from shoal.ranges.forms import ColumnForm, escape
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import complete, given_hierarchies, trees_in_values
from shoal.ranges.hierarchy.outside import check_labels
from shoal.storage import Array, Table, smallest_unsigned
from shoal.storage.classes import Coded, class_of_each_row, pack
from shoal.storage.column_type import type_word
from shoal.storage.encode import encode, look_up
from shoal.storage.rows import Rows, counting_records
from shoal.storage.texts import texts_of
from shoal.wording import percent


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
    _check_named(options, names)
    given = given_hierarchies(hierarchies or policy.hierarchies, [*names, *needed])
    placed = trees_in_values(given, table.columns.values())
    trees, built = complete(placed, counting_records(table, names, policy.count))
    if not policy.labels_are_names:
        check_labels(trees)
    others = {name: tree for name, tree in placed.items() if name not in trees}
    rows = Rows.of(table, names, policy.count, policy.person or _left_out_together(policy, options))
    if policy.count is not None and len(rows.columns[0].codes) != table.rows:
        raise InputError(f"Count column '{policy.count}' is zero in some rows: these are not records.", "Remove them.")
    space = make_space(
        table, names, {**trees, **others}, policy.models, complete_hierarchies, rows.weights, rows.person
    )
    space = replace(space, sample=_sampled(table, policy, space))
    return Prepared(embedded(policy, given), space, trees, built, options)


def _left_out_together(policy: Policy, options: SearchOptions) -> str | None:
    """The household column, where records may be left out: then classes are of households, and they go whole."""
    return policy.household if options.suppression > 0 else None


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


def _check_named(options: SearchOptions, names: Sequence[str]) -> None:
    unknown = sorted({*options.importance, *options.levels} - set(names))
    if unknown:
        raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers")


def _check_k(prepared: Prepared) -> None:
    """Refuse a k that no table of so many records (or persons) can reach."""
    members = prepared.space.members
    k = max((model.k for model in prepared.policy.models if isinstance(model, KAnonymity)), default=0)
    if k > members:
        what = "records" if prepared.space.histories is None else "persons"
        raise InputError(f"k = {k} is more than the {members:,} {what}.", "Use a smaller k.")


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
        _check_k(prepared)
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


# what is released


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
