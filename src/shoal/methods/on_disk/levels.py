"""The lattice for rows on disk: searched on the counted tuples, and every row given what its tuple becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError, Message
from shoal.methods.base import closeness_told
from shoal.methods.findings import judged
from shoal.methods.on_disk.measured import BYTES_PER_ROW, classes_of
from shoal.methods.results import Anonymized
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns, modified_rows
from shoal.ranges.on_disk import ReleasedOnDisk, unchanged_on_disk
from shoal.storage import Column, Table
from shoal.storage.rows import weights_of
from shoal.storage.spill import Spill, blocks_of
from shoal.storage.tuples import TupleOfRow, tuples_on_disk
from shoal.wording import in_units

if TYPE_CHECKING:
    from shoal.methods.lattice import Lattice
    from shoal.policy.conditions import ColumnCondition


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
    generalised = method.change(tuples, policy.model_copy(update={"count": count}), ())
    records = weights_of(tuples[count])
    labels = [column for entry in generalised.columns.values() for column in entry.encoded]
    beside = {name: tuples[name] for name in dict.fromkeys(needed)}
    classes = classes_of(labels, records, beside, generalised.columns)
    findings = replace(
        generalised.findings,
        modified_rows=int(records[modified_rows(list(generalised.columns.values()))].sum()),
        suppressed_cells=int(sum(records[column.suppressed].sum() for column in generalised.columns.values())),
        attribute_disclosure=classes.disclosed(conditions),
        closeness=classes.closeness(closeness_told(policy)),
    )
    own = generalised.policy.model_copy(update={"count": None})
    plan = None if generalised.plan is None else replace(generalised.plan, policy=own)
    columns: dict[str, ReleasedColumns] = dict(_spread(generalised.columns, tuples.select(names), table, spill))
    models = judged(own, classes.evidence(own))
    return Anonymized(generalised.method, models, findings, table, own, generalised.parameters, columns, plan)


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
    spread_columns = {}
    for name, entry in released.items():
        if name not in shown:
            spread_columns[name] = unchanged_on_disk(table[name])
            continue
        held = replace(shown[name], codes=files[name].mapped(shown[name].codes.dtype), nulls=nulls[name])
        series = [entry.series[0].clear()]
        spread_columns[name] = ReleasedOnDisk(series, entry.nature, np.zeros(0, bool), entry.form, None, None, (held,))
    return spread_columns
