"""What people see of safe harbor, pseudonyms and moved dates."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from shoal.cli import console
from shoal.cli.console import name_text, note, plain_table, print_block, printable
from shoal.identity import IdentityRisk
from shoal.standards.hipaa.clauses import CLAUSES
from shoal.standards.hipaa.safe_harbor import SafeHarbor, way_on
from shoal.wording import counted, in_words

_SHORT = {clause.letter: clause.short for clause in CLAUSES}
_STATUS = {"done": "green", "confirm": "yellow", "nothing-found": "dim"}


def show_safe_harbor(result: SafeHarbor, residual: IdentityRisk | None, found: dict[str, Any]) -> None:
    """What was found and done clause by clause, what is left, what a person must confirm."""
    console.out.print()
    output = found["output"] or "safe.csv"
    style = "bold red" if residual is not None and residual.uniques else "bold green"
    print_block(Text(printable(way_on(residual, output)), style=style))
    table = plain_table("clause", "what it names", "columns", "what was done", "status", "cells", left=5)
    table.columns[2].overflow = "fold"
    for clause in result.clauses:
        table.add_row(
            f"({clause.clause})",
            _SHORT[clause.clause],
            name_text(", ".join(dict.fromkeys(clause.columns))),
            clause.action if clause.columns else "",
            Text(clause.status, style=_STATUS[clause.status]),
            f"{clause.cells_changed:,}" if clause.columns else "",
        )
    print_block(table)
    print_block(Text("For a person to confirm:", style="bold"))
    for remark in result.to_confirm:
        note(remark)
    for remark in result.notes:
        note(remark)
    note(f"ZIP prefixes by {result.populations.vintage}; ages counted to {result.year_of_data} ({result.year_said})")
    if found["output"]:
        note(f"written: {found['output']} and {found['manifest']}")


def show_pseudonymized(found: dict[str, Any]) -> None:
    """How many persons, where to."""
    console.out.print()
    print_block(
        Text(
            printable(
                f"{counted(found['distinct'], 'person')} in {found['column']} have a pseudonym; no two share one."
            ),
            style="bold green",
        )
    )
    if found["key_file_created"]:
        note(
            "a new key was made: keep it apart from the data, and safe; without it no other file gets these pseudonyms"
        )
    if found["mapping"]:
        note(f"old and new pseudonyms: {found['mapping']} (keep it apart)")
    note(
        "pseudonymised data is still data about people: other columns may tell who they are (shoal profile, shoal risk)"
    )
    note(f"written: {found['output']}")


def show_shifted(found: dict[str, Any]) -> None:
    """Whose dates were moved, and which were not."""
    console.out.print()
    who, cells = counted(found["persons"], "person"), counted(found["cells_changed"], "date")
    text = f"{cells} of {who} moved by up to ±{found['range']} days in {in_words(found['columns'])}."
    print_block(Text(printable(text), style="bold green"))
    if found["unshifted"]:
        note(f"not moved, and so giving shifts away: {in_words(found['unshifted'])}")
    if found["blanked"]:
        note(f"{counted(found['blanked'], 'cell')} that held no whole date were emptied")
    if found["key_file_created"]:
        note("a new key was made: keep it apart from the data, and safe")
    note(f"written: {found['output']}")
