"""What people see of what was found in a table: one sentence, tables, bars."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from shoal.cli import console
from shoal.cli.console import bar, holds_text, name_text, note, plain_table, print_block, printable
from shoal.detection.profile import Profile
from shoal.detection.results import Detection, FoundSet
from shoal.identity.results import AttackerRisk, IdentityRisk
from shoal.wording import counted, in_words, percent

_SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))


def show_risk(found: IdentityRisk) -> None:
    """The sentence first, then the classes, the attackers and what each knowledge gives away."""
    console.out.print()
    style = "bold red" if found.over_threshold else "bold green"
    print_block(Text(printable(found.summary()), style=style))
    print_block(_figures(found))
    print_block(_sizes(found))
    print_block(_attackers(found))
    if found.knowledge:
        print_block(_knowledge(found))
    if found.models:
        print_block(_models(found))
    for remark in _notes(found):
        note(remark)


def _who(found: IdentityRisk) -> str:
    return "records" if found.persons is None else "persons"


def _figures(found: IdentityRisk) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    rows = {
        "records": found.records,
        "persons": found.persons,
        "classes": found.classes,
        "uniques": found.uniques,
    }
    rows |= {"smallest class (k)": found.k, "suppressed rows": found.suppressed_rows or None}
    rows |= {
        "removed rows": found.removed_rows or None,
        "undecided, counted as unique": found.undecided or None,
    }
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, f"{value:,}")
    table.add_row("null rule", found.null_rule)
    return table


def _sizes(found: IdentityRisk) -> Table:
    who = _who(found)
    table = plain_table("class size", who, "share", "", left=1)
    table.columns[3].justify = "left"
    total = sum(entry.records for entry in found.histogram) or 1
    for low, high in _SIZES:
        entries = [entry for entry in found.histogram if entry.size >= low and (high is None or entry.size <= high)]
        if not entries and low > max((entry.size for entry in found.histogram), default=0):
            continue
        members = sum(entry.records for entry in entries)
        table.add_row(_size_word(low, high), f"{members:,}", percent(members / total), bar(members / total))
    return table


def _size_word(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} and more"
    return "1 (unique)" if high == 1 else str(low) if low == high else f"{low} to {high}"


def _attackers(found: IdentityRisk) -> Table:
    limit = found.prosecutor.threshold
    named = f" ({found.threshold_name})" if found.threshold_name else ""
    table = plain_table(
        "attacker",
        "what they do",
        "highest risk",
        "average",
        f"{_who(found)} over {limit:.2g}{named}",
        left=2,
    )
    table.columns[1].style = "dim"
    rows: list[tuple[str, str, AttackerRisk | None]] = [
        ("prosecutor", "knows who is in the table", found.prosecutor),
        ("journalist", "knows the population", found.journalist),
        ("marketer", "links everybody; see average", found.marketer),
    ]
    for name, what, attacker in rows:
        if attacker is None:
            table.add_row(name, what, "–", "–", "give --population")
        else:
            over = percent(attacker.share_over_threshold)
            table.add_row(name, what, f"{attacker.highest:.4g}", f"{attacker.average:.4g}", over)
    return table


def _knowledge(found: IdentityRisk) -> Table:
    table = plain_table("who knows", "uniques", "share", "", left=1)
    table.columns[3].justify = "left"
    for entry in found.knowledge or []:
        table.add_row(
            name_text(" + ".join(entry.groups)), f"{entry.uniques:,}", percent(entry.uniqueness), bar(entry.uniqueness)
        )
    return table


def _models(found: IdentityRisk) -> Table:
    table = plain_table("model of the policy", "verdict", "smallest class", left=2)
    for verdict in found.models:
        parameters = ", ".join(f"{name}={value}" for name, value in verdict.parameters.items())
        table.add_row(Text(f"{verdict.name} {parameters}"), holds_text(verdict.holds), f"{verdict.worst['size']:,}")
    return table


def _notes(found: IdentityRisk) -> list[str]:
    notes = [
        f"{name}: {_forms(forms)} read as ranges (--generalized no reads them raw)"
        for name, forms in found.generalized.items()
    ]
    if found.missing:
        rule = {
            "value": "null equals null",
            "wildcard": "null matches everything",
            "drop": "such rows are set aside",
        }
        columns = ", ".join(f"{name} {nulls:,}" for name, nulls in found.missing.items())
        notes.append(f"missing values ({columns}): {rule[found.null_rule]}")
    for name, reading in found.readings.items():
        notes.append(f"{_READINGS[name]}: smallest class {reading.k:,}, {reading.uniques:,} uniques")
    if found.population is not None and found.population.classes_not_found:
        count = found.population.classes_not_found
        notes.append(f"{count:,} classes are larger here than in the population table: it does not hold everybody")
    if found.k == 1 and found.uniques == 0 and not found.undecided:
        notes.append("a class of 1 is not unique here: the record also fits into other records' ranges")
    return notes + found.notes


_READINGS = {
    "strict": "strict reading, only equal values are alike",
    "fitting": "fitting reading, null is the whole range and must be covered",
}


def _forms(forms: tuple[str, ...]) -> str:
    words = {"interval": "intervals", "prefix": "prefixes such as 937**", "set": "sets", "star": "*"}
    return ", ".join(words[form] for form in forms)


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
        notes.append(f"near-identifiers, 99 % differ: {sets(found.near_identifiers)}")
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
        sure = "" if found.bound.confidence == 1 else " (95 % confidence)"
        return f"searched on {found.sample:,} drawn records; {limit}{sure}; {examined}"
    return f"bounded search: proven up to sets of {found.proven_size}; {limit}; {examined}"


def show_written(what: str, path: object) -> None:
    """What was written, and where."""
    console.out.print(f"{what} written to {path}", soft_wrap=True, markup=False)
