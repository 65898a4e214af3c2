"""Values that a policy declares and no released record shows, where the manifest names them all the same."""

from __future__ import annotations

from shoal.anonymization.results import Anonymized
from shoal.manifest.schema import Manifest
from shoal.table import Table


def unshown_orders(table: Table, changed: Anonymized, manifest: Manifest) -> list[str]:
    """Columns whose order stays whole in the manifest, with values that no released cell holds: whoever reads it learns
    that there can be such values, and by the report that there may be people who have them."""
    notes = []
    for entry in manifest.columns:
        said, column = manifest.policy.types.get(entry.name), table.columns.get(entry.name)
        if said is None or not said.order or column is None or column.declared is None or not entry.released_as:
            continue
        held = column.declared.places_in(changed.polars.select(entry.released_as))
        if held is not None and (gone := len(said.order) - len(held)) > 0:
            words = "value" if gone == 1 else "values"
            notes.append(
                f"the manifest lists the order that the policy declares for {entry.name}, by which a model or a tree "
                f"goes, with {gone:,} {words} that no released record shows: declare only what everybody may know that "
                "there is"
            )
    return notes
