"""A released table with how its columns are to be read: from a file, from a frame, or as it was just made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.methods.results import Anonymized
from shoal.policy.manifest import ColumnEntry
from shoal.ranges.forms import ColumnForm
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, trees_in_values
from shoal.releases.open import Release
from shoal.storage import Table
from shoal.storage.column_type import ColumnType
from shoal.storage.declare import types_of
from shoal.storage.reading import Options, declaring, read
from shoal.utility.decoding import Ends, Members, decoded


@dataclass(frozen=True)
class Readable:
    """A released table, the kind of frame it is, the forms of its columns, pairs of columns that are one range.

    `trees` are the hierarchies of its columns: read, or where they are to be found. `source` is the release itself,
    where it lies on disk.
    """

    table: Table
    native: Any
    forms: dict[str, ColumnForm]
    pairs: dict[str, tuple[str, str]]
    trees: Any
    source: Release | None = None

    @cached_property
    def _meanings(self) -> dict[str, Ends | Members]:
        return {}

    def tree(self, name: str) -> Hierarchy | None:
        """The hierarchy of a column, where there is one."""
        found = given_hierarchies(self.trees, [name])
        return trees_in_values(found, self.table.columns.values()).get(name)

    def meaning(self, name: str) -> Ends | Members:
        """What each code of a released column stands for; it is read once."""
        if name not in self._meanings:
            self._meanings[name] = decoded(self.table[name], self.forms.get(name), self.tree(name))
        return self._meanings[name]

    @property
    def types(self) -> dict[str, ColumnType]:
        """What the columns of the original are declared as."""
        if self.source is not None and self.source.manifest_or_none is not None:
            return self.source.types
        return types_of(self.table)


def readable(source: Any, options: Options | None = None) -> Readable:
    """A release from a path, a `Release`, what `shoal.anonymize` returned, or a frame.

    >>> readable({"age": ["[20;29]"]}).table.rows
    1
    """
    if isinstance(source, Anonymized):
        return _made(source)
    if isinstance(source, (str, Path)):
        source = Release.open(source, options=options)
    if not isinstance(source, Release):
        shown = read(source, None, declaring(options, {}, released=True))
        return Readable(shown, source, {}, {}, None)
    manifest = source.manifest_or_none
    if manifest is None:
        return Readable(source.table(), None, {}, {}, None, source)
    forms, pairs = _forms(manifest.columns)
    trees = manifest.policy.hierarchies if source.plan is None else _of_plan(source.plan.trees)
    return Readable(source.table(), None, forms, pairs, trees, source)


def _forms(entries: Iterable[ColumnEntry]) -> tuple[dict[str, ColumnForm], dict[str, tuple[str, str]]]:
    """How the cells of released columns are written, and the two columns of those that became ranges in two."""
    forms: dict[str, ColumnForm] = {}
    pairs: dict[str, tuple[str, str]] = {}
    for entry in entries:
        forms |= dict.fromkeys(entry.released_as, entry.form)
        if entry.form.kind == "columns":
            pairs[entry.name] = (entry.released_as[0], entry.released_as[1])
    return forms, pairs


def _of_plan(trees: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
    """Trees whose labels are cells of values already."""
    return {name: replace(tree, in_values=True) for name, tree in trees.items()}


def _made(source: Anonymized) -> Readable:
    forms, pairs = _forms(source.manifest_columns())  # with what became of treated columns, as on disk
    trees: Any = source.policy.hierarchies if source.plan is None else _of_plan(source.plan.trees)
    shown = read(source.polars, None, declaring(None, source.policy.types, released=True))
    return Readable(shown, source.table.native, forms, pairs, trees)
