"""Values that a policy declares and no released record shows: the manifest names them all the same."""

from __future__ import annotations

from shoal.anonymization.results import Anonymized
from shoal.table import Table


def unshown_orders(table: Table, changed: Anonymized) -> list[str]:
    """Columns whose declared order names values that no released cell holds: whoever reads the manifest learns that
    there can be such values, and by the report that there may be people who have them."""
    notes = []
    for entry in changed.manifest_columns():
        column = table.columns.get(entry.name)
        declared = None if column is None else column.declared
        if declared is None or not declared.type.order or not entry.released_as:
            continue
        held = declared.places_in(changed.polars.select(entry.released_as))
        if held is not None and (gone := len(declared.type.order) - len(held)) > 0:
            words = "value" if gone == 1 else "values"
            notes.append(
                f"the manifest lists the order that the policy declares for {entry.name}, with {gone:,} {words} that "
                "no released record shows: declare only what everybody may know that there is"
            )
    return notes
