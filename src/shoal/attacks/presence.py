"""Presence in a release: whether somebody is in it, by the records that fit and the people who could be meant.

Nergiz, Atzori and Clifton, *Hiding the presence of individuals from shared databases* (2007): of the people whom an
attacker knows to lie in the box of a class, as many are in the release as the class has records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.attacks.common import columns_in_common
from shoal.attacks.linking.columns import cells_of
from shoal.errors import InputError
from shoal.reading import Options, read
from shoal.releases.readable import Readable
from shoal.table import Array, Table
from shoal.table.classes import class_of_each_row, first_row_of_each_class, pack
from shoal.vocabulary import NullRule

MOST_PEOPLE = 2_000
# people times classes that are held against each other at once
_PAIRS = 1 << 24


def presence(
    released: Readable, candidates: Any, reference: Any, seed: int, options: Options | None = None
) -> tuple[tuple[Array, Array], list[str]]:
    """How likely each candidate and each person of the reference is in a release: records of the classes that hold the
    person, each divided by the people there; and the columns that are known.

    >>> from shoal.releases.readable import readable
    >>> release = readable({"age": ["[20;29]", "[20;29]", "[50;59]"]})
    >>> found, _ = presence(release, {"age": [25, 28]}, {"age": [51, 52, 53, 70]}, seed=0)
    >>> found[0].round(3).tolist(), found[1].round(3).tolist()
    ([1.0, 1.0], [0.333, 0.333, 0.333, 0.0])
    """
    people = [_drawn(read(table, None, options), seed + number) for number, table in enumerate((candidates, reference))]
    columns = columns_in_common(released, people[0])
    manifest = None if released.source is None else released.source.manifest_or_none
    if manifest is not None:
        columns = {name: theirs for name, theirs in columns.items() if name in manifest.policy.quasi_identifiers}
    if missing := [theirs for theirs in columns.values() if theirs not in people[1].columns]:
        raise InputError.missing_columns(missing, people[1].names, people[1].name)
    if not columns:
        raise InputError("The candidates have no quasi-identifier of the release.", "Give the columns of the policy.")
    rule: NullRule = "value" if manifest is None else manifest.policy.null_rule
    names, known = list(columns), list(columns.values())
    ends = [end for name in names for end in released.pairs.get(name, (name,))]
    classes, count = class_of_each_row(pack(released.table.select(ends)))
    first, members = first_row_of_each_class(classes, count), np.bincount(classes, minlength=count)
    inside = [_inside(released, names, first, table, known, rule) for table in people]
    there = np.concatenate([held.sum(axis=0)[None] for held in inside]).sum(axis=0)
    chance = members / np.maximum(there, 1)
    return (inside[0] @ chance, inside[1] @ chance), names


def _drawn(table: Table, seed: int) -> Table:
    """At most so many people of a table."""
    if table.rows <= MOST_PEOPLE:
        return table
    from shoal.table.order import secret_order

    return table.take(secret_order(list(table.columns.values()), seed)[:MOST_PEOPLE])


def _inside(
    released: Readable, names: Sequence[str], first: Array, people: Table, known: Sequence[str], rule: NullRule
) -> Array:
    """Which person lies in the box of which class."""
    if people.rows * len(first) > _PAIRS * 16:
        raise InputError(
            f"The release has {len(first):,} classes, too many to hold people against.", "Use coarser ones."
        )
    held = np.ones((people.rows, len(first)), bool)
    for name, theirs in zip(names, known, strict=True):
        column = people[theirs]
        cells = cells_of(released, name, column, rule)
        if cells.kind != "fit":
            raise InputError(f"Column '{name}' was changed at random: nobody lies in its cells.", "Leave it out.")
        code = cells.codes[first]
        low, high = cells.low[code], cells.high[code]
        atom = column.codes.astype(np.int64)[:, None]
        fits = (low <= atom) & (atom <= high)
        if cells.mask_of is not None and cells.masks is not None:
            mask = cells.mask_of[code]
            some = np.flatnonzero(mask >= 0)
            fits[:, some] = cells.masks[mask[some]][:, column.codes].T > 0
        held &= fits
    return held
