"""What a policy could say of a table and does not: persons, households, weights, types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.detection.column_types import kinds_that_join, propose_text_type, propose_type
from shoal.detection.named_by_header import is_household, looks_like_weights
from shoal.detection.roles import NEARLY_ALL
from shoal.hierarchy.chosen import columns_with_trees
from shoal.kinds import DECIDED, ColumnView, find_kinds
from shoal.table import Array, Column, Table
from shoal.table.column_type import ColumnType
from shoal.wording import in_words

if TYPE_CHECKING:
    from shoal.policy import Policy

# More distinct values than these are looked at by a sample of them; the most frequent ones are always in it.
_LOOKED_AT = 20_000
_HEAVY = 300
# the recognisers of free text and of postal codes, which no other finds
_FILES_THAT_CHANGE_A_TYPE = ("free_text", "postal_code")


def view_of(column: Column, counts: Array, records: int) -> ColumnView:
    """A column for the recognisers: where it has very many values a sample of them, as frequent as they all are."""
    if len(counts) <= _LOOKED_AT:
        return ColumnView(column.name, column.values, counts, records)
    heavy = np.flatnonzero(counts > np.partition(counts, -_HEAVY)[-_HEAVY])
    rest = np.setdiff1d(np.arange(len(counts)), heavy, assume_unique=True)
    drawn = np.random.default_rng(0).choice(rest, _LOOKED_AT - _HEAVY, replace=False)
    share = len(drawn) / len(rest)
    values = pl.concat([column.values.gather(heavy), column.values.gather(drawn)])
    scaled = np.maximum(1, np.rint(counts[heavy] * share)).astype(counts.dtype)
    return ColumnView(column.name, values, np.concatenate([scaled, counts[drawn]]), records)


def repeated_identifiers(table: Table, policy: Policy) -> list[str]:
    """Identifiers that repeat may be persons with several records: then a class of k records is fewer persons."""
    if policy.person is not None or policy.count is not None:
        return []
    names = [name for name in policy.with_role("identifier") if name != policy.household]
    columns = [table[name] for name in names if table.has(name)]
    repeated = [
        column.name
        for column in columns
        if 1 < len(column.values) < NEARLY_ALL * (table.total - column.nulls) and not _is_dated(column, table.total)
    ]
    homes = [name for name in repeated if policy.household is None and is_household(name)]
    people = [name for name in repeated if name not in homes]
    notes = []
    if people:
        which = f"{in_words(people)} {'repeats' if len(people) == 1 else 'repeat'}"
        notes.append(
            f"{which}: if a value stands for a person with several records, name it as `person`; k counts records"
        )
    if homes:
        which = f"{in_words(homes)} {'repeats' if len(homes) == 1 else 'repeat'}"
        notes.append(f"{which}: if a value stands for people who live together, name it as `household`")
    return notes


def _is_dated(column: Column, records: int) -> bool:
    """Whether a column holds dates or moments: they repeat, and are not persons."""
    if column.declared is not None or column.values.dtype != pl.String:
        return column.values.dtype.is_temporal()
    counts = column.frequencies()
    found = propose_type(column, counts, records, [])
    return (found.type is not None and found.type.type == "date") or found.reason.startswith("Dates, but")


def other_weights(table: Table, policy: Policy, leaving: Sequence[str]) -> list[str]:
    """Columns that leave, look like sampling weights, and are not the weight that the policy names."""
    return [
        f"{name} looks like sampling weights: name it as `weight`, or remove it if nobody needs it"
        for name in leaving
        if name != policy.weight and looks_like_weights(table[name]) is not None
    ]


def types_to_declare(table: Table, policy: Policy, with_trees: Collection[str] = ()) -> list[str]:
    """Quasi-identifiers of text that seem to be something else: as texts they are generalised by their letters.

    Those for which the policy gives a hierarchy, or that have one beside it (`with_trees`), are generalised by it.
    """
    notes = []
    known = columns_with_trees(policy.hierarchies, policy.quasi_identifiers).union(with_trees)
    for name in policy.quasi_identifiers:
        column = table.columns.get(name)
        if column is None or column.declared is not None or column.values.dtype != pl.String or not len(column.values):
            continue
        if name not in known and (looks := _looks_like(column, table.total)) is not None:
            notes.append(
                f"{name} {looks}: declare it in `types` (docs/types.md); it was read as texts without an order"
            )
    return notes


def _looks_like(column: Column, records: int) -> str | None:
    """What a column of text seems to be, without a value of it; None where it is a text without an order.

    Of all kinds only free text, postal codes and sexes change that: all recognisers are asked only where one of these
    may be the kind of the column and would make a difference.
    """
    counts = column.frequencies()
    said = {_in_words(propose_text_type(column, counts, kind).type) for kind in (None, *kinds_that_join(column))}
    if said == {None}:
        return None
    view = view_of(column, counts, records)
    if len(said) == 1 and not any(kind.confidence >= DECIDED for kind in find_kinds(view, _FILES_THAT_CHANGE_A_TYPE)):
        return said.pop()
    return _in_words(propose_type(column, counts, records, find_kinds(view)).type)


def _in_words(found: ColumnType | None) -> str | None:
    if found is None:
        return None
    if found.type == "date":
        return f"looks like dates written {' and '.join(found.format or ())}"
    looks = {"number": "looks like numbers with separators", "band": "looks like bands that can be joined"}
    looks["ordered"] = "looks like words that come in an order"
    if found.type in looks:
        return looks[found.type]
    return "has values that are spelled in several ways, which `map` joins" if found.map else None
