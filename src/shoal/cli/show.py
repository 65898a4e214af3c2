"""What people see of what was found in a table: one sentence, tables, bars."""

from __future__ import annotations

from rich.text import Text

from shoal.cli import console
from shoal.cli.console import bar, name_text, note, plain_table, print_block, printable
from shoal.detection.profile import Profile
from shoal.detection.results import Detection, FoundSet
from shoal.wording import counted, in_words, percent


def show_profile(found: Profile) -> None:
    """One line a column, then why."""
    console.out.print()
    print_block(Text(f"{counted(found.records, 'record')}, {counted(len(found.columns), 'column')}", style="bold"))
    table = plain_table("column", "type", "proposed role", "kind", "missing", "distinct", left=4)
    table.columns[0].overflow = "fold"
    table.columns[2].no_wrap = True
    for column in found.columns:
        table.add_row(
            name_text(column.name),
            column.type,
            _role(column.role, column.confidence),
            column.kind or "",
            f"{column.nulls:,}" if column.nulls else "–",
            f"{column.distinct:,}",
        )
    print_block(table)
    for column in found.columns:
        if column.confidence:
            note(f"{column.name} ({column.confidence:.0%} sure): {' '.join(column.reasons)}")
    if any(not column.confidence for column in found.columns):
        note("a role with a question mark is a guess, or no rule recognised the column: decide by what others may know")
    for remark in found.notes:
        note(remark)


def _role(role: str, confidence: float) -> Text:
    return Text(role, style=_ROLES[role]) if confidence >= 0.5 else Text(f"{role}?", style="dim")


_ROLES = {"identifier": "red", "quasi-identifier": "yellow", "sensitive": "magenta", "other": ""}


def show_detection(found: Detection) -> None:
    """The sentence, the frontier, the columns' parts, and what was proven."""
    console.out.print()
    print_block(
        Text(printable(found.summary()), style="bold red" if found.best and found.best.uniques else "bold green")
    )
    if found.best is not None:
        table = plain_table("columns", "records singled out", "", "the set that exposes most", left=0)
        table.columns[2].justify = table.columns[3].justify = "left"
        table.columns[3].no_wrap = False
        for entry in _worth_showing(found):
            table.add_row(
                str(len(entry.columns)),
                percent(entry.uniqueness),
                bar(entry.uniqueness, 16),
                name_text(in_words(entry.columns, 12)),
            )
        print_block(table)
    if found.contributions:
        table = plain_table("column", "part in the uniques", "", left=1)
        table.columns[2].justify = "left"
        for name, part in sorted(found.contributions.items(), key=lambda item: -item[1])[:20]:
            table.add_row(name_text(name), percent(part), bar(part))
        print_block(table)
    for remark in _detection_notes(found):
        note(remark)


def _worth_showing(found: Detection) -> list[FoundSet]:
    """The frontier up to the best set; past it nothing is gained."""
    return [entry for entry in found.by_size if found.best is None or len(entry.columns) <= len(found.best.columns)]


def _detection_notes(found: Detection) -> list[str]:
    def sets(names: list[list[str]]) -> str:
        shown = "; ".join(" + ".join(entry) for entry in names[:8])
        return shown + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")

    notes = []
    if found.identifiers:
        notes.append(f"identifiers, all records differ: {sets(found.identifiers)}")
    if found.near_identifiers:
        notes.append(f"near-identifiers, 99% differ: {sets(found.near_identifiers)}")
    for name, others in found.determined_by.items():
        if len(others) == len(found.columns) - 1:
            notes.append(f"{name} has one value only")
        else:
            notes.append(f"{name} follows from {' or from '.join(others[:4])}: protect both or neither")
    if not found.contributions_exact and found.sample is None:
        notes.append(
            f"parts are estimated from drawn orders, standard error up to {percent(found.contributions_error)}"
        )
    notes.append(_proof(found))
    if found.removed_rows:
        notes.append(f"{found.removed_rows:,} records with a missing value set aside")
    return notes + found.notes


def _proof(found: Detection) -> str:
    examined = f"{found.sets_examined:,} sets examined"
    if found.exact and found.best is not None:
        return f"proven best; {examined}"
    limit = f"no set singles out more than {found.bound.uniques:,} records"
    if found.sample is not None:
        sure = "" if found.bound.confidence == 1 else " (95% confidence)"
        return f"searched on {found.sample:,} drawn records; {limit}{sure}; {examined}"
    return f"bounded search: proven up to sets of {found.proven_size}; {limit}; {examined}"


def show_written(what: str, path: object) -> None:
    """What was written, and where."""
    console.out.print(f"{what} written to {path}", soft_wrap=True, markup=False)
