"""What safe harbor says in a manifest: its columns, and a section on the eighteen clauses."""

from __future__ import annotations

from typing import Any

from shoal.detection.profiles import yaml_key
from shoal.methods.hipaa.recheck import plan_of
from shoal.methods.hipaa.results import SafeHarbor
from shoal.methods.hipaa.treat import WORDS
from shoal.methods.hipaa.zip3 import shipped
from shoal.policy.manifest import ColumnEntry
from shoal.ranges.forms import ColumnForm
from shoal.storage.column_type import type_word


def entries_of(result: SafeHarbor) -> list[ColumnEntry]:
    """Each column of the input: its role, what was done, under which name it is released."""
    unchanged = {entry.column for entry in result.details if entry.cells_changed == 0 and entry.action == WORDS["kept"]}
    unchanged -= {entry.column for entry in result.details if entry.cells_changed}
    entries = []
    for entry in result.treatments:
        removed = entry.action == "removed"
        same = entry.column in unchanged
        kind = type_word(result.table[entry.column].dtype)
        form = ColumnForm(kind="removed" if removed else "as-it-was" if same else "recoded", type=kind)
        if entry.action == "scrubbed":
            entries.append(
                ColumnEntry(
                    name=entry.column,
                    role="text",
                    nature="scrubbed",
                    technique=f"scrub by {result.policy.text.replace}",
                    form=ColumnForm(kind="scrubbed", type="text"),
                    released_as=[entry.column],
                )
            )
            continue
        entries.append(
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
    return entries


def section_of(result: SafeHarbor) -> dict[str, Any]:
    """The section of the manifest: clauses, populations, decisions."""
    populations = result.populations
    kept = {} if populations == shipped() else {"kept": sorted(populations.kept)}
    return {
        **result.manifest_section(),
        "zip_populations": {"source": populations.source, "vintage": populations.vintage, **kept},
        "plan": plan_of(result.treatments),
    }


def policy_text(result: SafeHarbor) -> str:
    """A policy that decides what was proposed, the reasons as comments.

    Kept columns are named as comments only: undecided, their cells are searched for hidden identifiers.

    >>> import polars as pl
    >>> from shoal.methods.hipaa.safe_harbor import safe_harbor
    >>> print(policy_text(safe_harbor(pl.DataFrame({"age": [36, 91], "sex": ["f", "m"]}), year_of_data=2012)))
    # Proposed by shoal for HIPAA safe harbor. Check every line: what stands here counts as decided by you.
    columns:
      age: quasi-identifier
      sex: quasi-identifier
    safe_harbor:
      year_of_data: 2012
      columns:
        # 100% of the records with a value hold a number from 0 to 125; the header says 'age'.
        age: age
        # kept: sex (sex)
    <BLANKLINE>
    """
    kept = set(result.polars.columns)
    lines = [
        "# Proposed by shoal for HIPAA safe harbor. Check every line: what stands here counts as decided by you.",
        "columns:",
    ]
    lines += [f"  {yaml_key(entry.column)}: {entry.role}" for entry in result.treatments if entry.column in kept]
    lines += ["safe_harbor:", f"  year_of_data: {result.year_of_data}", "  columns:"]
    named = False
    for entry in result.treatments:
        key = yaml_key(entry.column)
        if entry.action == "kept" and not entry.decided:
            known = f" ({entry.kind})" if entry.kind else "; no rule recognised it"
            lines.append(f"    # kept: {key}{known}")
            continue
        word = entry.clause if entry.action == "removed" else "keep" if entry.action == "kept" else entry.action
        lines += [f"    # {' '.join(entry.reason.split())}", f"    {key}: {word}"]
        named = True
    if not named:
        lines[lines.index("  columns:")] = "  columns: {}"
    return "\n".join([*lines, ""])
