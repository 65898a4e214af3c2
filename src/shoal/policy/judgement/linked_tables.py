"""Several tables read together, and the view of a person: everything that points at them, joined.

Persons are alike if their views are: their own row, the rows that refer to it, the rows that refer to those, what they
all refer to, and how many there are of each. Views are compared as graphs are (colour refinement): rows start with
what they show; again and again rows are told apart that refer to, or are referred to by, rows that are told apart,
until nothing changes. So rows that many share and rows of a table that refer to each other need no case of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError
from shoal.models import KAnonymity, Verdict
from shoal.models.base import Evidence
from shoal.models.evidence import evidence_of_persons
from shoal.policy.relations import Relations
from shoal.policy.schema import Policy
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_person, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.databases import Address, is_database
from shoal.storage.formats import format_of
from shoal.storage.reading import Options, declaring, read
from shoal.storage.texts import key_texts
from shoal.wording import counted


class Reference(NamedTuple):
    """A column of a table that names rows of another, or of itself."""

    table: str
    column: str
    target: str


@dataclass(frozen=True)
class LinkedTables:
    """Tables without the rows that belong to nobody (`orphans` of each), and for each reference the row of the target
    that each row names (-1: none); `rows` are the numbers that rows had."""

    relations: Relations
    tables: Mapping[str, Table]
    parents: Mapping[Reference, Array]
    rows: Mapping[str, Array]
    orphans: Mapping[str, int]

    @classmethod
    def of(cls, relations: Relations, tables: Mapping[str, Table]) -> LinkedTables:
        """Match references with keys; refuse keys that are empty, doubled, or match nothing."""
        parents = {}
        for name in relations.order:
            told, table = relations.tables[name], tables[name]
            table.select(told.keys)
            if told.key is not None:
                _check_key(name, table[told.key])
            for column, target in told.references.items():
                key = relations.tables[target].key
                assert key is not None
                found = _matched(table[column], tables[target][key])
                if table[column].nulls < table.rows and tables[target].rows and (found < 0).all():
                    raise InputError(
                        f"No value of {name}.{column} is a key of {target}.",
                        f"Name the column that refers to {target}.{key}, or write both alike.",
                    )
                parents[Reference(name, column, target)] = found
        return cls._of_persons(relations, tables, parents)

    @classmethod
    def _of_persons(
        cls, relations: Relations, tables: Mapping[str, Table], parents: dict[Reference, Array]
    ) -> LinkedTables:
        owned = relations.owned
        reached = {name: np.zeros(table.rows, bool) for name, table in tables.items()}
        reached[relations.person][:] = True
        for name in owned[1:]:
            for reference, found in parents.items():
                if reference.table == name != reference.target and reference.target in owned:
                    reached[name][found >= 0] |= reached[reference.target][found[found >= 0]]
        for name in reversed(relations.order):  # what is looked up, by who looks it up
            for reference, found in parents.items():
                if reference.target == name and name not in owned and reference.table != name:
                    reached[name][found[reached[reference.table] & (found >= 0)]] = True
        number = {name: np.append(np.where(mask, np.cumsum(mask) - 1, -1), -1) for name, mask in reached.items()}
        kept = {name: np.flatnonzero(mask) for name, mask in reached.items()}
        return cls(
            relations,
            {name: table if reached[name].all() else table.take(kept[name]) for name, table in tables.items()},
            {one: number[one.target][found[kept[one.table]]] for one, found in parents.items()},
            kept,
            {name: int((~mask).sum()) for name, mask in reached.items()},
        )

    @property
    def persons(self) -> int:
        """How many persons there are."""
        return self.tables[self.relations.person].rows

    @cached_property
    def owners(self) -> dict[str, tuple[Array, Array]]:
        """Persons and rows that belong to them: by references that lead to the person, and by what those rows look up;
        rows of a table that refer to each other say nothing of whose they are."""
        everyone = np.arange(self.persons)
        found = {self.relations.person: (everyone, everyone)}
        for name in self.relations.owned[1:]:
            parts = [self._along(one, found[one.target]) for one in self.parents
                     if one.table == name != one.target and one.target in found]  # fmt: skip
            found[name] = self._each_once(name, parts)
        for name in reversed(self.relations.order):
            if name in found:
                continue
            parts = []
            for one, row in self.parents.items():
                if one.target == name != one.table:
                    persons, rows = found[one.table]
                    named = row[rows] >= 0
                    parts.append((persons[named], row[rows[named]]))
            found[name] = self._each_once(name, parts)
        return found

    def _along(self, reference: Reference, above: tuple[Array, Array]) -> tuple[Array, Array]:
        """The persons of rows by those of the rows that they refer to."""
        persons, rows = above
        order = np.argsort(rows, kind="stable")
        ends = np.searchsorted(rows[order], np.arange(self.tables[reference.target].rows + 1))
        children = np.flatnonzero(self.parents[reference] >= 0)
        target = self.parents[reference][children]
        lengths = np.diff(ends)[target]
        starts = np.repeat(ends[target] - (np.cumsum(lengths) - lengths), lengths)
        return persons[order][starts + np.arange(len(starts))], np.repeat(children, lengths)

    def _each_once(self, name: str, parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
        persons, rows = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        if len(parts) == 1 or not len(rows):
            return persons, rows
        pairs, count = class_of_each_row(pack([Coded(persons, self.persons), Coded(rows, self.tables[name].rows)]))
        first = first_row_of_each_class(pairs, count)
        return persons[first], rows[first]

    def views(self, shown: Mapping[str, Coded]) -> dict[str, Coded]:
        """The class of each row of each table by its view, from the class of what it shows itself.

        >>> relations = Relations.model_validate({"person": "p", "tables": {"p": {"key": "id"},
        ...     "v": {"references": {"p": "p"}, "columns": {"ward": "quasi-identifier"}}}})
        >>> linked = LinkedTables.of(relations, {"p": read({"id": [1, 2, 3]}),
        ...     "v": read({"p": [1, 2, 3, 3], "ward": ["a", "a", "a", "b"]})})
        >>> linked.views(linked.shown())["p"].codes.tolist()
        [0, 0, 1]
        """
        colours = {name: Coded(*class_of_each_row(shown[name])) for name, table in self.tables.items() if table.rows}
        order = [name for name in reversed(self.relations.order) if name in colours]
        references = [one for one in self.parents if one.table in colours and one.target in colours]
        changed = set(order)
        while changed:
            progress.report("comparing views", 0)
            following = set()
            for name in order:
                parts = [self._named(one, colours) for one in references if one.table == name and one.target in changed]
                parts += [
                    self._naming(one, colours) for one in references if one.target == name and one.table in changed
                ]
                if parts:
                    classes, count = class_of_each_row(pack([colours[name], *parts]))
                    if count > colours[name].cardinality:
                        following.add(name)
                    colours[name] = Coded(classes, count)
            changed = following
        return colours

    def _named(self, reference: Reference, colours: Mapping[str, Coded]) -> Coded:
        """The class of the row that each row refers to; 0 for none."""
        target, row = colours[reference.target], self.parents[reference]
        return Coded(np.append(target.codes + 1, 0)[row], target.cardinality + 1)

    def _naming(self, reference: Reference, colours: Mapping[str, Coded]) -> Coded:
        """The classes of the rows that refer to each row, together; 0 for none."""
        row, rows = self.parents[reference], self.tables[reference.target].rows
        kept = np.flatnonzero(row >= 0)
        found = np.zeros(rows, np.int64)
        if not len(kept):
            return Coded(found, 1)
        source = colours[reference.table]
        classes, count = class_of_each_person(source.codes[kept], source.cardinality, Coded(row[kept], rows))
        there = np.zeros(rows, bool)
        there[row[kept]] = True
        found[there] = classes + 1
        return Coded(found, count + 1)

    def shown(self) -> dict[str, Coded]:
        """What each row shows itself: its quasi-identifiers."""
        found = {}
        for name, table in self.tables.items():
            columns = table.select(self.relations.tables[name].with_role("quasi-identifier"))
            found[name] = pack(columns) if columns else Coded(np.zeros(table.rows, np.int64), 1)
        return found


class JudgedViews(NamedTuple):
    """The sizes of the classes of persons, and the verdict of each model."""

    sizes: Array
    models: list[Verdict]


def judge_views(linked: LinkedTables, policy: Policy) -> JudgedViews:
    """The models of a policy on the views of persons; a sensitive column is judged in every class of persons, over all
    its rows, and at each kind of row, as where a person has several records in one table."""
    views = linked.views(linked.shown())
    person = views.get(linked.relations.person, Coded(np.zeros(0, np.int64), 0))
    sizes = np.bincount(person.codes, minlength=person.cardinality)
    verdicts = []
    for model in policy.models:
        if isinstance(model, KAnonymity) or not model.needs:
            verdicts.append(model.judge(Evidence(sizes)))
            continue
        (named,) = model.needs
        evidence = _evidence(linked, views, person, named)
        if evidence is None:  # nobody has a row there: nothing is told
            verdicts.append(Verdict(model.model, model.parameters(), True, {model.figure: None, "size": 0}))
        else:
            verdicts.append(model.judge(evidence))
    return JudgedViews(sizes, verdicts)


def _evidence(linked: LinkedTables, views: Mapping[str, Coded], person: Coded, named: str) -> Evidence | None:
    """A sensitive column over the classes of persons who have rows in its table."""
    name, _, column = named.partition(".")
    whose, rows = linked.owners[name]
    if not len(rows):
        return None
    has = np.zeros(person.cardinality, bool)
    has[person.codes[whose]] = True
    classes = np.where(has, np.cumsum(has) - 1, -1)[person.codes]
    at = Coded(views[name].codes[rows], views[name].cardinality)
    values = {named: linked.tables[name][column].take(rows)}
    return evidence_of_persons(classes, Coded(whose, linked.persons), at, values)


def _check_key(name: str, key: Column) -> None:
    if key.nulls:
        raise InputError(
            f"Key {name}.{key.name} is empty in {counted(key.nulls, 'row')}.", "Fill it, or take out those rows."
        )
    if len(key.values) < len(key.codes):
        doubled = len(key.codes) - len(key.values)
        raise InputError(
            f"Key {name}.{key.name}: {counted(doubled, 'row')} with the key of another row.",
            "Name the column whose values differ in all rows.",
        )


def _matched(reference: Column, key: Column) -> Array:
    """The row of the key that each row names; -1 for none."""
    row_of_code = np.full(len(key.values) + 1, -1, np.int64)
    row_of_code[key.codes] = np.arange(len(key.codes))
    row_of_code[-1] = -1
    known = pl.DataFrame({"key": key_texts(key.values), "code": np.arange(len(key.values))})
    asked = pl.DataFrame({"key": key_texts(reference.values)})
    code = asked.join(known, on="key", how="left", maintain_order="left")["code"].fill_null(len(key.values))
    return np.append(row_of_code[code.to_numpy()], -1)[reference.codes]


# Where the tables are: files of a folder, tables of a database, or frames by name.


def sources_of(source: Any, relations: Relations) -> dict[str, Any]:
    """The source of each table; one that is not there is an error."""
    if isinstance(source, Mapping):
        if missing := [name for name in relations.tables if name not in source]:
            raise InputError(f"The policy's table {missing[0]} is not among those given.", "Give one for each table.")
        return {name: source[name] for name in relations.tables}
    if is_database(source):
        address = Address.of(source)
        if address.table is not None or address.query is not None:
            raise InputError(
                "The address names one table, and the policy several.", "Name the database: sqlite:///clinic.db"
            )
        return {name: replace(address, table=one.file or name) for name, one in relations.tables.items()}
    if not isinstance(source, (str, Path)) or not Path(source).is_dir():
        raise InputError(
            "A policy with relations is about several tables.", "Name their folder, or the database that they are in."
        )
    return {name: _file_of(Path(source), name, one.file) for name, one in relations.tables.items()}


def _file_of(folder: Path, name: str, file: str | None) -> Path:
    named = [file] if file is not None else [one.name for one in sorted(folder.glob(f"{name}.*")) if format_of(one)]
    path = folder / named[0] if named else folder / f"{name}.csv"
    if len(named) > 1 or not path.is_file() or folder.resolve() not in path.resolve().parents:
        what = "several files are called so" if len(named) > 1 else f"{path} is not there"
        raise InputError(f"The policy's table {name} cannot be read: {what}.", "Name its `file` in that folder.")
    return path


def read_linked(source: Any, relations: Relations, options: Options | None = None) -> dict[str, Table]:
    """All tables, with the types that their parts of the policy declare; a column that it names is there."""
    found = {}
    for number, (name, one) in enumerate(sources_of(source, relations).items()):
        progress.report("reading", number, len(relations.tables))
        found[name] = read(one, None, declaring(options, relations.tables[name].types))
        found[name].select([*relations.tables[name].columns])
    return found
