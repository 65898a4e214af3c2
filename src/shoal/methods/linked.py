"""Several tables anonymised together: groups of persons whose whole trees of rows become alike.

Near persons are grouped by their own values and by those of their rows. Within a group rows are laid side by side:
every person keeps as many rows in each place as the one who has fewest, the others are suppressed, and rows that lie in
one place are generalised together. What is looked up (wards, drugs) is copied for each row that looks it up: whom a row
is shared with would tell persons apart. A reference from row to row of one person stays where it is the same in the
whole group; all others are emptied.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError, PolicyNotMet
from shoal.methods.base import k_of
from shoal.methods.boxes import groups_that_fail
from shoal.methods.partition import coordinates_of, grouped
from shoal.methods.pseudonyms.pseudonymize import keyed, texts_of
from shoal.models import AnyModel, LDiversity
from shoal.policy import Policy
from shoal.policy.judgement.linked_tables import LinkedTables
from shoal.policy.manifest import ColumnEntry, column_entries
from shoal.ranges.boxed import Boxed, Side, box_clusters
from shoal.ranges.columns import ReleasedColumns, released_columns
from shoal.ranges.forms import ColumnForm, as_nodes, with_short_sets
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies
from shoal.ranges.hierarchy.on_columns import ColumnLabelling, labellings
from shoal.ranges.hierarchy.outside import check_labels
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable, class_of_each_row
from shoal.storage.column_type import type_word
from shoal.storage.order import shuffled_order
from shoal.utility.loss import loss_of_boxes

LARGEST_SET = 5
# how much the number of rows counts beside a value, and what rows below a person show beside what they show themselves
_ROWS, _BELOW = 4.0, 0.7


class Node(NamedTuple):
    """Rows of one table in one place of the persons' trees: those that name rows of the node above by `via`, or that
    rows of the node above look up by `via`; `above[i]` is the place of the row above."""

    table: str
    rows: Array
    parent: int
    above: Array
    via: str
    looked_up: bool


def nodes_of(linked: LinkedTables) -> list[Node]:
    """The trees of all persons, node by node, each behind the one above it.

    A row hangs on the first of its references that leads to a person.
    """
    relations, owned = linked.relations, linked.relations.owned
    hangs_on = {name: np.full(table.rows, -1) for name, table in linked.tables.items()}
    references = list(linked.parents)
    for number, one in enumerate(references):
        if one.table != one.target and one.target in owned and one.table != relations.person:
            free = (hangs_on[one.table] < 0) & (linked.parents[one] >= 0)
            hangs_on[one.table][free] = number
    nothing = np.zeros(0, np.int64)
    nodes = [Node(relations.person, np.arange(linked.persons), -1, nothing, "", False)]
    at = 0
    while at < len(nodes):
        node, place = nodes[at], np.full(linked.tables[nodes[at].table].rows, -1)
        place[node.rows] = np.arange(len(node.rows))
        for number, one in enumerate(references):
            if one.target == node.table and not node.looked_up:
                rows = np.flatnonzero(hangs_on[one.table] == number)
                above = place[linked.parents[one][rows]]
                if (above >= 0).any():
                    nodes.append(Node(one.table, rows[above >= 0], at, above[above >= 0], one.column, False))
            if one.table == node.table and one.target != node.table and one.target not in owned:
                found = linked.parents[one][node.rows]
                named = np.flatnonzero(found >= 0)
                if len(named):
                    nodes.append(Node(one.target, found[named], at, named, one.column, True))
        at += 1
    return nodes


def persons_of(nodes: Sequence[Node]) -> list[Array]:
    """The person of each row of each node."""
    found = [np.arange(len(nodes[0].rows))]
    for node in nodes[1:]:
        found.append(found[node.parent][node.above])
    return found


@dataclass(frozen=True)
class Lines:
    """Quasi-identifiers of each table under their full names, how their categories lie, and as coordinates."""

    columns: Mapping[str, list[Column]]
    near: Mapping[str, Mapping[str, ColumnLabelling]]
    points: Mapping[str, Array]

    @classmethod
    def of(cls, linked: LinkedTables, policy: Policy) -> Lines:
        """Lay out the values of all tables."""
        columns, near, points = {}, {}, {}
        given = given_hierarchies(policy.hierarchies, linked.relations.quasi_identifiers())
        for name, table in linked.tables.items():
            names = linked.relations.tables[name].with_role("quasi-identifier")
            columns[name] = [replace(column, name=f"{name}.{column.name}") for column in table.select(names)]
            if any(
                one.values.dtype in (pl.Duration, pl.Binary) or one.values.dtype.is_nested() for one in columns[name]
            ):
                raise InputError(
                    f"Table {name} has a quasi-identifier of spans of time, bytes or lists.", "Make it numbers or text."
                )
            own = [column.name for column in columns[name]]
            trees = {key: tree for key, tree in given.items() if key in own}
            found = labellings(columns[name], trees) if table.rows else {}
            if not policy.labels_are_names:
                check_labels({key: found[key].tree for key in trees if found[key].labels == "node"})
            near[name] = found
            apart = {key: one.on_column for key, one in found.items() if one.labels != "range"}
            importance = {key: policy.importance.get(key, 1.0) for key in own}
            filled = table.rows and own
            points[name] = coordinates_of(columns[name], importance, apart) if filled else np.zeros((table.rows, 0))
        return cls(columns, near, points)


def _features(linked: LinkedTables, nodes: Sequence[Node], whose: Sequence[Array], lines: Lines) -> Array:
    """Persons as points: their own values, how many rows they have in each node, and the means of those rows."""
    found = [lines.points[nodes[0].table][nodes[0].rows]]
    for node, person in zip(nodes[1:], whose[1:], strict=True):
        rows = np.bincount(person, minlength=linked.persons)
        if not node.looked_up:
            found.append((_ROWS * rows / max(float(rows.mean()), 1e-9))[:, None])
        points = lines.points[node.table][node.rows]
        sums = [np.bincount(person, column, linked.persons) for column in points.T]
        found += [(_BELOW * one / np.maximum(rows, 1))[:, None] for one in sums]
    rows = np.concatenate(found, axis=1).astype(np.float32)
    return np.ascontiguousarray(rows if rows.shape[1] else np.zeros((linked.persons, 1), np.float32))


def group_persons(
    linked: LinkedTables, policy: Policy, nodes: Sequence[Node], whose: Sequence[Array], lines: Lines
) -> Array:
    """The group of each person: k near ones or more, and as many as any l asks for."""
    least = max([k_of(policy) or 1, *(model.l for model in policy.models if isinstance(model, LDiversity))])
    if linked.persons < least:
        raise PolicyNotMet(f"There are {linked.persons:,} persons, and {least:,} are to be alike.", "Ask for less.")
    person, own = linked.relations.person, linked.relations.tables[linked.relations.person]
    models: list[AnyModel] = [
        model.model_copy(update={"sensitive": model.sensitive.partition(".")[2]})
        for model in policy.models
        if isinstance(model, LDiversity) and model.sensitive.partition(".")[0] == person
    ]
    table = linked.tables[person]
    fails = groups_that_fail(table, Policy(columns=dict(own.columns), models=models)) if models else None
    progress.report("grouping persons", 0)
    points = _features(linked, nodes, whose, lines)
    return grouped(points, least, "default", "best", 0, fails).group_of_each_row()[0]


# Rows side by side: cell c holds the rows of one place of all persons of a group, one of each row above.


def align(nodes: Sequence[Node], groups: Array, lines: Lines) -> list[Array]:
    """The cell of each row of each node, or -1 where it is suppressed."""
    cells = [groups]
    below = [np.zeros(len(node.rows)) for node in nodes]
    for number, node in reversed(list(enumerate(nodes))[1:]):
        if not node.looked_up:
            below[node.parent] += np.bincount(node.above, 1 + below[number], len(below[node.parent]))
    for number, node in enumerate(nodes[1:], 1):
        upper = cells[node.parent]
        alive = np.flatnonzero(upper[node.above] >= 0)
        above = node.above[alive]
        counts = np.bincount(above, minlength=len(upper))
        kept_above = upper >= 0
        fewest = np.full(int(upper.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(fewest, upper[kept_above], counts[kept_above])
        points = lines.points[node.table][node.rows[alive]]
        keys = [points[:, place] for place in reversed(range(points.shape[1]))]
        order = np.lexsort([*keys, -below[number][alive], above])
        starts = np.cumsum(counts) - counts
        rank = np.arange(len(order)) - starts[above[order]]
        have, keep = counts[above[order]], fewest[upper[above[order]]]
        if below[number].any():  # those with most rows below them
            slot, taken = rank, rank < keep
        else:  # evenly among the sorted ones
            slot = rank * keep // np.maximum(have, 1)
            first = -(-slot * have // np.maximum(keep, 1))
            last = -(-(slot + 1) * have // np.maximum(keep, 1)) - 1
            taken = (keep > 0) & (rank == (first + last) // 2)
        begins = np.cumsum(fewest) - fewest
        cell = np.full(len(node.rows), -1)
        chosen = order[taken]
        cell[alive[chosen]] = begins[upper[above[chosen]]] + slot[taken]
        cells.append(cell)
    return cells


def keep_diverse(
    linked: LinkedTables, policy: Policy, nodes: Sequence[Node], whose: Sequence[Array], cells: list[Array]
) -> None:
    """Suppress the places whose rows show fewer than l sensitive values, and as many more as it takes that no value is
    held by everybody in a group; `cells` are changed."""
    for model in policy.models:
        if not isinstance(model, LDiversity):
            continue
        name, _, column = model.sensitive.partition(".")
        those = [number for number, node in enumerate(nodes) if node.table == name]
        if name == linked.relations.person:
            continue
        values = linked.tables[name][column]
        for number in those:
            kept = np.flatnonzero(cells[number] >= 0)
            codes = values.codes[nodes[number].rows[kept]].astype(np.int64)
            cell, count = cells[number][kept], int(cells[number].max(initial=-1)) + 1
            pairs = CountTable.of({"cell": Coded(cell, count), "value": Coded(codes, values.cardinality)}).tuples
            known = pairs["value"].codes < len(values.values)
            distinct = np.bincount(pairs["cell"].codes[known], minlength=count)
            cells[number][kept[distinct[cell] < model.l]] = -1
        while model.l > 1 and those and _part_from_all(nodes, whose, cells, those, values):
            pass
    for number, node in enumerate(nodes[1:], 1):
        cells[number][cells[node.parent][node.above] < 0] = -1


def _part_from_all(
    nodes: Sequence[Node], whose: Sequence[Array], cells: list[Array], those: Sequence[int], values: Column
) -> bool:
    """Where all persons of a group may have a value somewhere (a missing one may be any), suppress the places in which
    one of them may have it."""
    parts = []
    for number in those:
        kept = np.flatnonzero(cells[number] >= 0)
        person, code = whose[number][kept], values.codes[nodes[number].rows[kept]].astype(np.int64)
        found = {"group": cells[0][person], "person": person, "value": code, "cell": cells[number][kept]}
        parts.append(pl.DataFrame(found).with_columns(node=pl.lit(number)))
    rows, missing = pl.concat(parts), pl.col("value") == len(values.values)
    held = rows.filter(~missing)
    any_value = rows.filter(missing).drop("value").join(held.select("group", "value").unique(), on="group")
    held = pl.concat([held, any_value.select(held.columns)])
    having = held.group_by("group", "value", "person").len()
    sizes = pl.DataFrame({"group": cells[0]}).group_by("group").len("size")
    everybody = having.group_by("group", "value").len("persons").join(sizes, on="group")
    everybody = everybody.filter(pl.col("persons") == pl.col("size"))
    # of those who may have it the one with the fewest such rows
    chosen = having.join(everybody, on=["group", "value"], how="semi").sort("len", "person")
    chosen = chosen.unique(["group", "value"], keep="first", maintain_order=True)
    gone = held.join(chosen, on=["group", "value", "person"], how="semi")
    for number in those:
        lost = gone.filter(pl.col("node") == number)["cell"].unique().to_numpy()
        cells[number][np.isin(cells[number], lost)] = -1
    return len(gone) > 0


@dataclass(frozen=True)
class AlignedTable:
    """One table as it is released: its cells, its columns, and the rows of the input that its rows are."""

    frame: pl.DataFrame
    columns: list[ColumnEntry]
    rows: Array
    figures: dict[str, Any]


@dataclass(frozen=True)
class LinkedResult:
    """Tables that were anonymised together, and the key of their pseudonyms."""

    linked: LinkedTables
    policy: Policy
    tables: Mapping[str, AlignedTable]
    groups: int
    # the trees of which nodes are released, by table.column
    trees: Mapping[str, Hierarchy]
    secret: bytes = field(repr=False)
    seed: int = field(repr=False)


def anonymize_linked(linked: LinkedTables, policy: Policy, seed: int | None = None) -> LinkedResult:
    """Group persons, lay their rows side by side, generalise what lies in one place, replace keys."""
    seed = secrets.randbits(63) if seed is None else seed
    nodes, lines = nodes_of(linked), Lines.of(linked, policy)
    whose = persons_of(nodes)
    groups = group_persons(linked, policy, nodes, whose, lines)
    progress.report("laying rows side by side", 0)
    cells = align(nodes, groups, lines)
    keep_diverse(linked, policy, nodes, whose, cells)
    secret = secrets.token_bytes(32)
    writer = _Writer(linked, policy, nodes, whose, cells, lines, secret)
    tables = {name: writer.table(name, seed + place) for place, name in enumerate(linked.tables)}
    if empty := [name for name, one in tables.items() if not len(one.rows)]:
        raise PolicyNotMet(
            f"No row of {empty[0]} can be released: no group of persons has rows there that may be shown.",
            "Ask for less, or leave that table out of the relations.",
        )
    labelled = {name: one for near in lines.near.values() for name, one in near.items()}
    trees = {name: one.tree for name, one in labelled.items() if one.labels == "node"}
    return LinkedResult(linked, policy, tables, int(groups.max()) + 1, trees, secret, seed)


class _Writer:
    """The released tables, from the cells of all rows."""

    def __init__(
        self, linked: LinkedTables, policy: Policy, nodes: Sequence[Node], whose: Sequence[Array], cells: list[Array],
        lines: Lines, secret: bytes,
    ) -> None:  # fmt: skip
        self.linked, self.policy, self.nodes, self.whose, self.lines = linked, policy, nodes, whose, lines
        # cells numbered through all nodes, so that one number is one place of one group
        begins = np.cumsum([0, *(int(cell.max(initial=-1)) + 1 for cell in cells)])
        self.cells = [np.where(cell < 0, -1, cell + begin) for cell, begin in zip(cells, begins, strict=False)]
        self.total = int(begins[-1])
        self.kept = [np.flatnonzero(cell >= 0) for cell in cells]
        self.of_table = {name: [at for at, node in enumerate(nodes) if node.table == name] for name in linked.tables}
        self.keys = [self._pseudonyms(number, secret) for number in range(len(nodes))]

    def _pseudonyms(self, number: int, secret: bytes) -> Array:
        """A pseudonym of each row of a node that is kept; of copies of one row each has its own."""
        node, kept = self.nodes[number], self.kept[number]
        found = np.full(len(node.rows), None, object)
        key = self.linked.relations.tables[node.table].key
        if key is None or not len(kept):
            return found
        column = self.linked.tables[node.table][key]
        texts = texts_of(column.values).to_list()
        codes = column.codes[node.rows[kept]].tolist()
        head = node.table.encode() + b"\0"
        if node.looked_up:
            tail = b"\0%d\0" % number
            names = [
                head + texts[code] + tail + b"%d" % place for code, place in zip(codes, kept.tolist(), strict=True)
            ]
        else:
            names = [head + texts[code] for code in codes]
        found[kept] = keyed(names, secret, "blake2b", "short").to_numpy()
        return found

    def table(self, name: str, seed: int) -> AlignedTable:
        """One table: its rows from all nodes, in a secret order."""
        linked, told, source = self.linked, self.linked.relations.tables[name], self.linked.tables[name]
        numbers = self.of_table[name]
        rows = _joined([self.nodes[number].rows[self.kept[number]] for number in numbers])
        cell = _joined([self.cells[number][self.kept[number]] for number in numbers])
        released, losses, loss = self._generalized(name, rows, cell)
        entries = column_entries(source, Policy(columns=dict(told.columns)), "linked", released)
        references = {one.column: self._references(one.column, name) for one in linked.parents if one.table == name}
        gone, frame, columns = set(told.with_role("identifier")), list[pl.Series](), list[ColumnEntry]()
        for entry in entries:
            if entry.name in told.keys:
                is_key = entry.name == told.key
                values = _joined([self.keys[number][self.kept[number]] for number in numbers], object) if is_key else (
                    references[entry.name][0])  # fmt: skip
                frame.append(pl.Series(entry.name, list(values), pl.String))
                columns.append(_pseudonym(entry, source, "key" if is_key else "reference"))
                continue
            columns.append(entry)
            if entry.name in released:
                frame += list(released[entry.name].series)
            elif entry.name not in gone:
                frame.append(source[entry.name].take(rows).as_it_came())
        order = shuffled_order(len(rows), seed)
        rows_before = source.rows + linked.orphans[name]
        copied = len(rows) - len(np.unique(rows))
        figures = {
            "rows": rows_before,
            "released": len(rows),
            "orphans": linked.orphans[name],
            "suppressed_rows": source.rows - len(np.unique(rows)),
            "copies": copied,
            "emptied_references": sum(emptied for _, emptied in references.values()),
            "loss": loss,
            "loss_by_column": losses,
        }
        return AlignedTable(pl.DataFrame(frame)[order], columns, linked.rows[name][rows], figures)

    def _generalized(
        self, name: str, rows: Array, cell: Array
    ) -> tuple[dict[str, ReleasedColumns], dict[str, float], float]:
        """The quasi-identifiers of the rows of a table, alike in each cell; the loss of each, and of the whole table:
        a suppressed row loses all."""
        columns = [column.take(rows) for column in self.lines.columns[name]]
        if not columns or not len(rows):
            share = len(np.unique(rows)) / max(self.linked.tables[name].rows, 1)
            return {}, {}, 1 - share
        which, count = class_of_each_row(Coded(cell, self.total))
        order = np.argsort(which, kind="stable")
        starts = np.searchsorted(which[order], np.arange(count))
        boxed = box_clusters(columns, order, starts)
        near = self.lines.near[name]
        sides = {column.name: _side(column, boxed, near.get(column.name)) for column in columns}
        boxed = Boxed(boxed.box_of_row, sides)
        losses = {column.name: loss_of_boxes([column], boxed) for column in columns}
        released = {}
        for column in columns:
            own, shown = column.name.partition(".")[2], released_columns(column, boxed)
            held = [replace(one, name=own) for one in shown.held]
            released[own] = ReleasedColumns.in_codes(held, shown.nature, shown.modified, shown.form, shown.unchanged)
        kept = len(np.unique(rows)) / self.linked.tables[name].rows
        loss = 1 - kept * (1 - loss_of_boxes(columns, boxed))
        return released, {name.partition(".")[2]: found for name, found in losses.items()}, loss

    def _references(self, column: str, name: str) -> tuple[Array, int]:
        """The pseudonyms that a column refers to, and how many references were emptied."""
        reference = next(one for one in self.linked.parents if (one.table, one.column) == (name, column))
        found, emptied = [], 0
        for number in self.of_table[name]:
            node, kept = self.nodes[number], self.kept[number]
            named = self.linked.parents[reference][node.rows[kept]]
            if node.via == column and not node.looked_up:
                values = self.keys[node.parent][node.above[kept]]
            elif any(other.parent == number and other.via == column and other.looked_up for other in self.nodes):
                below = next(at for at, other in enumerate(self.nodes)
                             if other.parent == number and other.via == column and other.looked_up)  # fmt: skip
                whole = np.full(len(node.rows), None, object)
                whole[self.nodes[below].above[self.kept[below]]] = self.keys[below][self.kept[below]]
                values = whole[kept]
            else:
                values = self._across(number, reference.target, named)
            found.append(values)
            emptied += int((named >= 0).sum()) - sum(value is not None for value in values.tolist())
        return _joined(found, object), emptied

    def _across(self, number: int, target: str, named: Array) -> Array:
        """References between rows of one person: kept where the whole cell refers to one cell."""
        there = self.linked.tables[target].rows
        cell_of, person_of = np.full(there + 1, -1), np.full(there + 1, -1)
        key_of = np.full(there + 1, None, object)
        for other in self.of_table[target]:
            if not self.nodes[other].looked_up:
                rows = self.nodes[other].rows[self.kept[other]]
                for found, told in ((cell_of, self.cells), (person_of, self.whose), (key_of, self.keys)):
                    found[rows] = told[other][self.kept[other]]
        kept = self.kept[number]
        to = np.where(person_of[named] == self.whose[number][kept], cell_of[named], -1)
        own = self.cells[number][kept]
        least, most = np.full(self.total, self.total), np.full(self.total, -1)
        np.minimum.at(least, own, to)
        np.maximum.at(most, own, to)
        whole = (least[own] == most[own]) & (to >= 0)
        values = np.full(len(named), None, object)
        values[whole] = key_of[named[whole]]
        return values


def _joined(parts: Sequence[Array], dtype: Any = np.int64) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _side(column: Column, boxed: Boxed, labelling: ColumnLabelling | None) -> Side:
    if labelling is not None and labelling.labels == "node":
        return as_nodes(column, boxed, labelling.on_column)
    return with_short_sets(boxed.sides[column.name], LARGEST_SET)


def _pseudonym(entry: ColumnEntry, source: Table, role: str) -> ColumnEntry:
    form = ColumnForm(kind="pseudonym", type=type_word(source[entry.name].dtype))
    said = {"role": role, "nature": "pseudonym", "technique": "keyed pseudonym"}
    return entry.model_copy(update={**said, "decided_by": "policy", "form": form, "released_as": [entry.name]})
