"""The lattice for rows on disk: searched on the counted tuples, and every row given what its tuple becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.anonymization.findings import judged
from shoal.anonymization.methods.base import closeness_told
from shoal.anonymization.on_disk.limits import BYTES_PER_ROW
from shoal.anonymization.on_disk.measured import classes_of
from shoal.anonymization.results import Anonymized
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.ranges.columns import ReleasedColumns, modified_rows
from shoal.ranges.on_disk import ReleasedOnDisk, unchanged_on_disk
from shoal.table import Column, Table
from shoal.table.rows import weights_of
from shoal.table.spill import Spill, blocks_of
from shoal.table.tuple_of_row import TupleOfRow
from shoal.table.tuples import tuples_on_disk
from shoal.wording import in_units

if TYPE_CHECKING:
    from shoal.anonymization.methods.lattice import Lattice


def generalised_on_disk(
    method: Lattice, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
) -> Anonymized:
    """Search on the tuples, measure on them, write the rows."""
    names = policy.quasi_identifiers
    needed = [name for model in policy.models for name in model.needs]
    needed += [condition.column for condition in conditions]
    tuples, count = tuples_on_disk(table, [*names, *needed], None)
    assert count is not None, "rows are on disk"
    _check_tuples(tuples.rows, spill)
    found = method.change(tuples, policy.model_copy(update={"count": count}), ())
    records = weights_of(tuples[count])
    labels = [column for entry in found.columns.values() for column in entry.encoded]
    beside = {name: tuples[name] for name in dict.fromkeys(needed)}
    classes = classes_of(labels, records, beside, found.columns)
    findings = replace(
        found.findings,
        modified_rows=int(records[modified_rows(list(found.columns.values()))].sum()),
        suppressed_cells=int(sum(records[column.suppressed].sum() for column in found.columns.values())),
        attribute_disclosure=classes.disclosed(conditions),
        closeness=classes.closeness(closeness_told(policy)),
    )
    own = found.policy.model_copy(update={"count": None})
    plan = None if found.plan is None else replace(found.plan, policy=own)
    columns: dict[str, ReleasedColumns] = dict(_spread(found.columns, tuples.select(names), table, spill))
    models = judged(own, classes.evidence(own))
    return Anonymized(found.method, models, findings, table, own, found.parameters, columns, plan)


def _check_tuples(count: int, spill: Spill) -> None:
    if count * BYTES_PER_ROW > spill.budget:
        raise InputError(
            f"The table has {count:,} different combinations of what the policy looks at, and searching them takes "
            f"{in_units(count * BYTES_PER_ROW)} of memory: {in_units(spill.budget)} may be used.",
            f"Set `memory` to {in_units(1.05 * count * BYTES_PER_ROW)}, choose fewer quasi-identifiers, or the "
            "`method` sorted-clusters or coarsen.",
            settings=["memory", "method"],
        )


def _spread(
    released: Mapping[str, ReleasedColumns], tuples: Sequence[Column], table: Table, spill: Spill
) -> dict[str, ReleasedOnDisk]:
    """What tuples became, over the rows."""
    columns = table.select([column.name for column in tuples])
    which = TupleOfRow(tuples, columns)
    shown = {name: entry.encoded[0] for name, entry in released.items() if entry.nature != "unchanged"}
    files = {name: spill.new_file("labels") for name in shown}
    nulls = dict.fromkeys(shown, 0)
    for block in blocks_of(table.rows):
        tuple_of_row = which.of(block)
        for name, column in shown.items():
            codes = column.codes[tuple_of_row]
            nulls[name] += int(np.count_nonzero(codes == len(column.values)))
            files[name].append(codes)
    found = {}
    for name, entry in released.items():
        if name not in shown:
            found[name] = unchanged_on_disk(table[name])
            continue
        held = replace(shown[name], codes=files[name].mapped(shown[name].codes.dtype), nulls=nulls[name])
        series = [entry.series[0].clear()]
        found[name] = ReleasedOnDisk(series, entry.nature, np.zeros(0, bool), entry.form, None, None, (held,))
    return found
