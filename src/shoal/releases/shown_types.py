"""Declared types as a manifest tells them: of an order, only values that a released cell holds.

An order lists values that there can be. Whoever reads one that no released record shows may conclude that somebody had
it: the private record keeps the whole order, the manifest what is left of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.manifest.schema import ColumnEntry, Manifest
from shoal.policy import Policy
from shoal.releases.releasable import Releasable
from shoal.table.column_type import ColumnType

Shown = Mapping[str, ColumnType | None]


def shown_types(
    result: Releasable, frame: pl.DataFrame, entries: Sequence[ColumnEntry]
) -> dict[str, ColumnType | None]:
    """The types whose order is cut, by column, None where no cell shows any value; `frame` is what is released.

    An order stays whole where a model measures by it, where a tree of the policy names its values anyway, and where
    tables outside the release are read by it.
    """
    policy = result.policy
    if policy.linked or any(model.needs_files for model in policy.models) or isinstance(policy.hierarchies, str):
        return {}
    whole = {*policy.hierarchies, *(name for model in policy.models for name in model.needs)}
    found: dict[str, ColumnType | None] = {}
    for entry in entries:
        said, column = policy.types.get(entry.name), result.table.columns.get(entry.name)
        if said is None or not said.order or column is None or column.declared is None or entry.name in whole:
            continue
        held = column.declared.places_in(frame.select(entry.released_as)) if entry.released_as else set()
        if held is not None and len(held) < len(said.order):
            left = [label for place, label in enumerate(said.order) if place in held]
            found[entry.name] = _cut(said, left) if left else None
    return found


def _cut(said: ColumnType, order: Sequence[str]) -> ColumnType:
    kept = {text: label for text, label in said.map.items() if label in order}
    return said.model_copy(update={"order": tuple(order), "map": kept})


def with_types(policy: Policy, types: Shown) -> Policy:
    """A policy with other types for some of its columns, or with none."""
    if not types:
        return policy
    found = {**policy.types, **types}
    return policy.model_copy(update={"types": {name: said for name, said in found.items() if said is not None}})


def as_published(policy: Policy, manifest: Manifest) -> Policy:
    """A policy with its orders cut as a manifest has them, where that is all in which their types differ."""
    cut: dict[str, ColumnType | None] = {}
    for name, said in policy.types.items():
        found = manifest.policy.types.get(name)
        if said.order and (found is None or (found.order and _cut(said, _left(said, found)) == found)):
            cut[name] = found
    return with_types(policy, cut)


def _left(said: ColumnType, found: ColumnType) -> list[str]:
    return [label for label in said.order or () if label in (found.order or ())]
