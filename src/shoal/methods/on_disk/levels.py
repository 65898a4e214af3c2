"""The lattice for rows on disk: searched on the counted tuples, and every row given what its tuple becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError, Message
from shoal.methods.on_disk.measured import BYTES_PER_ROW, needed_columns
from shoal.methods.results import Anonymized
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns, as_it_was
from shoal.storage import Column, Table
from shoal.storage.external import TupleOfRow
from shoal.storage.spill import Spill
from shoal.storage.table import blocks_of, records_with
from shoal.storage.tuples import counted_tuples
from shoal.wording import in_units

if TYPE_CHECKING:
    from shoal.methods.lattice import Lattice
    from shoal.policy.conditions import ColumnCondition


def generalised_on_disk(
    method: Lattice, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
) -> Anonymized:
    """Search on the tuples, measure on them, write the rows."""
    names = policy.quasi_identifiers
    tuples = counted_tuples(table, [*names, *needed_columns(policy, conditions)])
    _check_tuples(tuples.rows, spill)
    generalised = method.change(tuples, policy, conditions)
    columns = _spread(generalised.columns, tuples.select(names), table, spill)
    return replace(generalised, table=table, columns=columns)


def _check_tuples(count: int, spill: Spill) -> None:
    if count * BYTES_PER_ROW > spill.budget:
        raise InputError(
            f"The table has {count:,} different combinations of what the policy looks at, and searching them takes "
            f"{in_units(count * BYTES_PER_ROW)} of memory: {in_units(spill.budget)} may be used.",
            Message(
                "Set `{memory}` to {}, choose fewer quasi-identifiers, or the `{method}` sorted-clusters or coarsen.",
                in_units(1.05 * count * BYTES_PER_ROW),
            ),
        )


def _spread(
    released: Mapping[str, ReleasedColumns], tuples: Sequence[Column], table: Table, spill: Spill
) -> dict[str, ReleasedColumns]:
    """What tuples became, over the rows."""
    columns = table.select([column.name for column in tuples])
    which = TupleOfRow(tuples, columns)
    shown = {name: entry.encoded[0] for name, entry in released.items() if entry.nature != "unchanged"}
    files = {name: spill.new_file("labels") for name in shown}
    for block in blocks_of(table.rows):
        tuple_of_row = which.of(block)
        for name, column in shown.items():
            files[name].append(column.codes[tuple_of_row])
    spread_columns = {}
    for name, entry in released.items():
        if name not in shown:
            spread_columns[name] = as_it_was(table[name])
            continue
        label = shown[name]
        codes = files[name].mapped(label.codes.dtype)
        held = replace(label, codes=codes, nulls=records_with(codes, len(label.values)), records=None)
        spread_columns[name] = ReleasedColumns.in_codes([held], entry.nature, np.zeros(0, bool), entry.form)
    return spread_columns
