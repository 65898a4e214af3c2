"""A released file beside the table that it was made from, in memory or on disk, with what its private record knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.engine import engine_of
from shoal.engine.base import Pairs, RowMap
from shoal.errors import InputError
from shoal.judgement.checks import Check
from shoal.manifest.schema import NO_ROW_MAP, Manifest
from shoal.policy import Policy
from shoal.reading import Options
from shoal.releases.distinct import in_release_order, is_on_disk
from shoal.releases.open import Release
from shoal.releases.original import Beside, against_original, inferred_entries
from shoal.releases.results import NEEDS_PRIVATE
from shoal.table import Table
from shoal.table.order import released_order
from shoal.table.spill import Spill
from shoal.writing import tells_empty

if TYPE_CHECKING:
    from shoal.releases.scrubbed_notes import KnownById


def with_original(
    release: Release | None,
    manifest: Manifest | None,
    table: Table,
    original: Table,
    policy: Policy,
    more: KnownById | None,
    spill: Spill | None = None,
    elsewhere: Callable[..., Iterator[Pairs]] | None = None,
) -> list[Check]:
    """The rows of a release against those of its original; `elsewhere`: the pairs of rows that an engine has."""
    _check_ordered(table, original)
    if release is not None and release.private is not None and release.private.row_map == NO_ROW_MAP:
        raise InputError(
            "The release was made from rows without an order: which row was which cannot be told again.",
            "Leave out the original, or release again from an ordered input: &order=id.",
            settings="original",
        )
    if release is None or manifest is None:
        entries = inferred_entries(table, original, policy.columns)
        names = [name for entry in entries for name in entry.released_as]
        strange = [name for name in table.columns if name not in names]
        extra = [Check("columns", False, f"{', '.join(strange[:8])} not in the original")] if strange else []
        order = None if spill is not None or elsewhere is not None else np.arange(table.rows)
        pairs = None if elsewhere is None else partial(elsewhere, RowMap())
        return [*extra, *against_original(table, original, entries, Beside(order, spill=spill, elsewhere=pairs))]
    private = release.private
    if (manifest.shuffled or manifest.removed_rows) and private is None:
        return [Check("rows", False, NEEDS_PRIVATE)]
    removed = [] if private is None else private.removed
    if len(set(removed)) != manifest.removed_rows or any(row >= original.total for row in removed):
        return [Check("rows", False, "the rows that were removed are not those that the private record names")]
    seed = private.seed if private is not None and private.shuffled else None
    order = None
    if spill is None and elsewhere is None:
        order = released_order(original.rows, seed, removed)
    if spill is not None:
        original = _in_release_order(original, manifest, seed, removed, spill)
    beside = Beside(
        order,
        {} if release.plan is None else release.plan.trees,
        {} if private is None else private.labels,
        vouched=private is not None
        and private.data_sha256 == release.data_sha256
        and private.manifest_sha256 == manifest.digest(),
        excel_safe=manifest.excel_safe,
        text_file=not tells_empty(release.data),
        removed=len(removed),
        weighed_by=policy.weight or policy.count,
        spill=spill,
        elsewhere=None if elsewhere is None else partial(elsewhere, RowMap(seed, removed)),
    )
    checks = against_original(table, original, manifest.columns, beside)
    if not any(entry.form.kind == "scrubbed" for entry in manifest.columns):
        return checks
    from shoal.releases.scrubbed_notes import known_gone

    return [*checks, *known_gone(table, original, manifest, order, more)]


def _check_ordered(table: Table, original: Table) -> None:
    """Refuse rows of which none can be found again."""
    for one in (original, table):
        if engine_of(one).is_ordered(one):
            continue
        cure = "Order them by a key: add &order=id to the address, or order by to the query. When a release is "
        cure += "written, every row is compared before it is committed."
        if engine_of(one).keeps_rows:
            cure = "Write it as files, and name those: rows of a data frame are not numbered, nor are those of a table "
            cure += "with more rows than the driver takes (spark.shoal.driver.tuples)."
        raise InputError(
            f"The rows of {one.name} have no order, so that none can be found in the other table.",
            cure,
            settings="original",
        )


def beside_original(
    release: Release | None,
    manifest: Manifest | None,
    table: Table,
    original: Table,
    policy: Policy,
    more: KnownById | None,
    options: Options | None,
) -> list[Check]:
    """The rows against the original's; those on disk with more disk for another order of theirs."""
    if not (is_on_disk(table) or is_on_disk(original)):
        return with_original(release, manifest, table, original, policy, more)
    asked = options or Options()
    with Spill(asked.memory, asked.spill_dir) as spill:
        spill.start(original.rows * (16 + sum(column.codes.itemsize for column in original.columns.values())))
        return with_original(release, manifest, table, original, policy, more, spill)


def _in_release_order(
    original: Table, manifest: Manifest, seed: int | None, removed: Sequence[int], spill: Spill
) -> Table:
    """The original with its rows as the release has them; columns that were removed from it stay where they are."""
    names = [name for name in original.names if (entry := manifest.column(name)) is not None and entry.released_as]
    ordered = in_release_order(original.select(names), original.rows, seed, removed, spill)
    return replace(original, columns={**original.columns, **dict(zip(names, ordered, strict=True))})
