"""The items or events of persons in a table: as sets in which somebody may know a few."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.models import Evidence
from shoal.models.item_sets import ItemSets
from shoal.policy import Policy
from shoal.storage import Array, Column, Table
from shoal.storage.classes import class_of_rows
from shoal.storage.encode import encode
from shoal.storage.texts import texts_of


class Occurrences(NamedTuple):
    """Items or events one by one: whose each is, its number, and its row; `labels` are the texts of items by number,
    `present` the persons by their codes in the table."""

    person: Array
    item: Array
    row: Array
    labels: pl.Series
    present: Array


def occurrences_of(table: Table, policy: Policy) -> Occurrences:
    """The items of a table, or its events. A missing item is none; blanks around items in a cell are no part of them.

    >>> from shoal.storage.reading import read
    >>> policy = Policy.model_validate({"columns": {"drugs": {"role": "items", "separator": "|"}}})
    >>> found = occurrences_of(read({"drugs": ["a|b", None, " b |"]}), policy)
    >>> found.person.tolist(), found.labels.gather(found.item).to_list()
    ([0, 0, 2], ['a', 'b', 'b'])
    """
    columns = table.select(policy.set_columns)
    if nested := [column.name for column in columns if column.values.dtype.is_nested()]:
        raise InputError(f"Column '{nested[0]}' holds lists.", "Write the items of a cell with a separator between.")
    if policy.person is None:
        whose = present = np.arange(table.rows)
    else:
        person = table[policy.person]
        if person.nulls:
            what = f"Person column '{policy.person}' is empty in {person.nulls:,} rows: whose items are they?"
            raise InputError(what, "Fill it, or remove those rows first.")
        present, whose = np.unique(person.codes, return_inverse=True)
    if policy.separator is None:
        known = np.flatnonzero(~np.logical_and.reduce([column.is_null() for column in columns]))
        item = columns[0].codes if len(columns) == 1 else class_of_rows(columns)[0]
        labels = texts_of(columns[0].values) if len(columns) == 1 else pl.Series([], dtype=pl.String)
        return Occurrences(whose[known], item[known].astype(np.int64), known, labels, present)
    starts, items, labels = _in_cells(columns[0], policy.separator)
    code = columns[0].codes.astype(np.int64)
    many = np.diff(starts)[code]
    row = np.repeat(np.arange(table.rows), many)
    place = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(starts[code], many)
    return Occurrences(whose[row], items[place], row, labels, present)


def _in_cells(column: Column, separator: str) -> tuple[Array, Array, pl.Series]:
    """The items of each distinct cell, those of cell c from `starts[c]` on, and their labels; a null has none."""
    cells = texts_of(column.values).str.split(separator)
    frame = pl.DataFrame({"cell": np.arange(len(cells)), "item": cells}).explode("item")
    frame = frame.with_columns(pl.col("item").str.strip_chars()).filter(pl.col("item") != "")
    labels = frame["item"].unique().sort()
    items = labels.search_sorted(frame["item"]).to_numpy().astype(np.int64)
    starts = np.searchsorted(frame["cell"].to_numpy(), np.arange(len(cells) + 2))
    return starts, items, labels


def in_order(column: Column, separator: str) -> Column:
    """A column of cells with the items of each once and in the order of their texts: equal sets are equal cells."""
    own = texts_of(column.values).str.split(separator).list.eval(pl.element().str.strip_chars())
    cells = own.list.eval(pl.element().filter(pl.element() != "")).list.unique().list.sort().list.join(separator)
    return encode(cells.extend_constant(None, 1).gather(column.codes).alias(column.name))


def with_sets(evidence: Evidence, table: Table, policy: Policy, class_of_member: Array | None = None) -> Evidence:
    """Evidence with the items or events of persons, each within the class of the person, or of the row without persons;
    those in no class (-1) are a group of their own. Without classes everybody is in one."""
    found = occurrences_of(table, policy)
    group = None
    if class_of_member is not None:
        group = class_of_member[found.present]
        group = np.where(group < 0, len(evidence.sizes), group)
    sets = ItemSets.of(found.person, found.item, len(found.present), group)
    if policy.event_columns:
        return replace(evidence, events=_with_values(sets, table, policy))
    return replace(evidence, items=sets, public_items=public_of(found, group, policy))


def public_of(found: Occurrences, group: Array | None, policy: Policy) -> ItemSets | None:
    """The items that are not sensitive, beside those that are; None where no item is."""
    if not policy.sensitive_items:
        return None
    secret = found.labels.is_in(policy.sensitive_items).to_numpy()[found.item]
    public = ItemSets.of(found.person[~secret], found.item[~secret], len(found.present), group)
    values = np.unique(np.stack([found.person[secret], found.item[secret]], axis=1), axis=0)
    return replace(public, values=(values[:, 0], values[:, 1]), sensitive=len(found.labels))


def _with_values(sets: ItemSets, table: Table, policy: Policy) -> ItemSets:
    """Events beside the values that persons have in sensitive columns; a missing value is none."""
    if not policy.sensitive:
        return sets
    whose, values, total = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    person = np.unique(table[policy.person or ""].codes, return_inverse=True)[1]
    for name in policy.sensitive:
        column = table[name]
        known = ~column.is_null()
        pairs = np.unique(np.stack([person[known], column.codes[known].astype(np.int64)], axis=1), axis=0)
        whose.append(pairs[:, 0])
        values.append(pairs[:, 1] + total)
        total += len(column.values)
    return replace(sets, values=(np.concatenate(whose), np.concatenate(values)), sensitive=total)


def evidence_of_everybody(table: Table, policy: Policy) -> Evidence:
    """Evidence where nobody knows more than items or events: all persons are one class."""
    if not table.rows or (policy.person is not None and policy.person not in table.columns):
        return Evidence(np.zeros(0, np.int64))
    persons = table.rows if policy.person is None else len(np.unique(table[policy.person].codes))
    return with_sets(Evidence(np.array([persons]), records=persons), table, policy)
