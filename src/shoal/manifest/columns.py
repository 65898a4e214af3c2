"""The columns of a release as its manifest lists them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.manifest.schema import ColumnEntry, DecidedBy
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns
from shoal.ranges.forms import ColumnForm
from shoal.table import Table
from shoal.table.type_words import type_word


def column_entries(
    table: Table,
    policy: Policy,
    method: str,
    changed: Mapping[str, ReleasedColumns],
    decided_by: Mapping[str, DecidedBy] | None = None,
) -> list[ColumnEntry]:
    """Each column of the input: its role, what was done, under which names it is released.

    `decided_by`: who decided on the columns that no person wrote into the policy.

    >>> from shoal.reading import read
    >>> found = column_entries(read({"name": ["x"], "age": [3]}), Policy(columns={"name": "identifier"}), "mask", {})
    >>> [(entry.name, entry.form.kind, entry.released_as) for entry in found]
    [('name', 'removed', []), ('age', 'as-it-was', ['age'])]
    """
    known = decided_names(policy) | set(changed)
    return [
        _entry(
            name,
            type_word(dtype),
            policy.columns.get(name, "other"),
            f"scrub by {policy.text.replace}" if policy.columns.get(name) == "text" else method,
            changed.get(name),
            (decided_by or {}).get(name, "policy") if name in known else "detection",
        )
        for name, dtype in types_by_name(table).items()
    ]


def types_by_name(table: Table) -> dict[str, pl.DataType]:
    """The types of all columns of the input in its order, also of those that stayed where the rows are."""
    found = {name: column.dtype for name, column in table.columns.items()}
    if not table.beside:
        return found
    found |= {name: table.beside[name].dtype for name in table.beside}
    return {name: found[name] for name in table.source_names if name in found}


def decided_names(policy: Policy) -> set[str]:
    """The columns that a policy decides on: those with a role, and those that a model is about.

    >>> decided_names(Policy(columns={"age": "other"}))
    {'age'}
    """
    return set(policy.columns) | {name for model in policy.models for name in model.needs}


def _entry(
    name: str, kind: str, role: str, method: str, changed: ReleasedColumns | None, decided_by: DecidedBy
) -> ColumnEntry:
    if role == "identifier":
        form, nature, technique, names = ColumnForm(kind="removed"), "removed", "removed", []
    elif role == "text":
        form, nature, technique, names = ColumnForm(kind="scrubbed", type="text"), "scrubbed", method, [name]
    elif changed is None:
        form, nature, technique, names = ColumnForm(kind="as-it-was", type=kind), "unchanged", "none", [name]
    else:
        form, nature, names = changed.form, changed.nature, changed.names
        technique = "none" if nature == "unchanged" else method
    return ColumnEntry(
        name=name,
        role=role,
        decided_by=decided_by,
        nature=nature,
        technique=technique,
        form=form,
        released_as=names,
    )
