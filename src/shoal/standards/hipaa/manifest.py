"""What safe harbor says in a manifest: its columns, and a section on the eighteen clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.manifest.schema import ColumnEntry
from shoal.policy import Policy
from shoal.ranges.forms import ColumnForm
from shoal.standards.hipaa.clauses import Treatment
from shoal.standards.hipaa.recheck import plan_of
from shoal.standards.hipaa.treat import WORDS
from shoal.standards.hipaa.zip3 import shipped
from shoal.table.type_words import type_word

if TYPE_CHECKING:
    from shoal.standards.hipaa.results import SafeHarbor


def entries_of(result: SafeHarbor) -> list[ColumnEntry]:
    """Each column of the input: its role, what was done, under which name it is released."""
    unchanged = {entry.column for entry in result.details if entry.cells_changed == 0 and entry.action == WORDS["kept"]}
    unchanged -= {entry.column for entry in result.details if entry.cells_changed}
    found = []
    for entry in result.treatments:
        removed = entry.action == "removed"
        same = entry.column in unchanged
        kind = type_word(result.table[entry.column].dtype)
        form = ColumnForm(kind="removed" if removed else "as-it-was" if same else "recoded", type=kind)
        if entry.action == "scrubbed":
            found.append(_text_entry(entry, result.policy))
            continue
        found.append(
            ColumnEntry(
                name=entry.column,
                role=entry.role,
                nature="removed" if removed else "unchanged" if same else "recoded",
                technique="none" if same and not removed else WORDS[entry.action],
                clause=entry.clause,
                form=form,
                released_as=[] if removed else [entry.column],
            )
        )
    return found


def _text_entry(entry: Treatment, policy: Policy) -> ColumnEntry:
    return ColumnEntry(
        name=entry.column,
        role="text",
        nature="scrubbed",
        technique=f"scrub by {policy.text.replace}",
        form=ColumnForm(kind="scrubbed", type="text"),
        released_as=[entry.column],
    )


def section_of(result: SafeHarbor) -> dict[str, Any]:
    """The section of the manifest: clauses, populations, decisions."""
    populations = result.populations
    kept = {} if populations == shipped() else {"kept": sorted(populations.kept)}
    return {
        **result.manifest_section(),
        "zip_populations": {"source": populations.source, "vintage": populations.vintage, **kept},
        "plan": plan_of(result.treatments),
    }
