"""What people see of a desk: the answer first, then what it means and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from shoal.cli import console
from shoal.cli.console import bar, name_text, note, plain_table, print_block, printable
from shoal.dp.desk import Answer, Budget
from shoal.dp.exact import written
from shoal.dp.explain import number, protected
from shoal.wording import counted

if TYPE_CHECKING:
    from shoal.dp.opening import Opened


def show_opened(opened: Opened) -> None:
    """Where the desk is, and what the cap left out."""
    console.out.print()
    delta = f" and delta {opened.delta}" if float(opened.delta) else ""
    print_block(Text(f"Desk {opened.folder} is open, with epsilon {opened.epsilon}{delta}.", style="bold green"))
    kept = f"{opened.kept_rows:,} of {counted(opened.records, 'row')}"
    people = "" if opened.persons is None else f" of {counted(opened.persons, 'person')}"
    note(f"it keeps {kept}{people}: exact numbers, for the owner of the table only")
    note("the folder holds a copy of the table: whoever can read it needs no desk")


def show_answer(found: Answer) -> None:
    """The answer with its error, a table for groups, the words, what is left."""
    console.out.print()
    asked = found.query["kind"] + (f" of {found.query['column']}" if "column" in found.query else "")
    if found.preview:
        print_block(Text(printable(f"Preview of a {asked}: nothing was spent."), style="bold"))
    elif isinstance(found.answer, list):
        print_block(_groups(found, asked))
    else:
        print_block(Text(printable(f"{asked}: {_with_error(found.answer, _off(found))}"), style="bold green"))
    for warning in found.warnings:
        print_block(Text(printable(warning), style="bold yellow"))
    for words in found.words:
        note(words)
    note(_price(found))
    console.out.print()


def _off(found: Answer) -> float | None:
    return None if found.error_unit == "rows" and found.query["kind"] in ("median", "quantile") else found.error_95


def _with_error(value: Any, off: float | None) -> str:
    if value is None:
        return "no answer"
    return number(value) + (f" ± {number(off)}" if off is not None else "")


def _groups(found: Answer, asked: str) -> Any:
    most = max((abs(entry["answer"]) for entry in found.answer), default=0) or 1
    sign = "" if _off(found) is None else "±"
    table = plain_table(", ".join(found.query.get("by", [])) or "", asked, sign, "", left=1)
    table.columns[3].justify = "left"
    for entry in found.answer:
        off = entry.get("error_95", _off(found))
        table.add_row(
            name_text(_key(entry["key"])),
            number(entry["answer"]),
            "" if off is None else number(off),
            bar(abs(entry["answer"]) / most, 20),
        )
    return table


def _key(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, list) else str(key)


def _price(found: Answer) -> str:
    left = _amounts(found.remaining)
    if found.preview:
        fits = "" if found.affordable else ", which is not enough"
        free = "it was asked before and would be free" if found.repeated else f"it would cost {_cost(found)}"
        return f"{free}; left: {left}{fits}"
    if found.repeated:
        return f"asked before: the same answer again, free; left: {left}"
    return f"cost {_cost(found)}; left: {left}"


def _cost(found: Answer) -> str:
    return f"epsilon {written(found.epsilon)}" + (f" and delta {written(found.delta)}" if found.delta else "")


def _amounts(given: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.6g}" for name, value in given.items())


def show_budget(found: Budget) -> None:
    """A bar of what is spent, the terms, the latest queries."""
    console.out.print()
    terms = found.terms
    part = "rho" if terms.accounting == "zcdp" else "epsilon"
    spent, left = found.spent[part], found.remaining[part]
    share = spent / (spent + left) if spent + left else 1.0
    print_block(Text(f"{counted(found.queries, 'answer')} given; {part} {spent:.6g} spent, {left:.6g} left.", "bold"))
    table = plain_table("", "whole", "spent", "left", "", left=1)
    table.columns[4].justify = "left"
    whole = {"epsilon": terms.epsilon, "delta": terms.delta, "rho": terms.rho}
    for name in found.remaining:
        line = bar(share) if name == part else ""
        table.add_row(name, whole[name], f"{found.spent[name]:.6g}", f"{found.remaining[name]:.6g}", line)
    print_block(table)
    if found.history:
        table = plain_table("latest queries", part, left=1)
        for entry in found.history[-10:]:
            table.add_row(name_text(_said(entry["query"])), entry["loss"])
        print_block(table)
    note(protected(terms))
    if terms.accounting == "zcdp":
        note("epsilon left: of the largest single query that fits; epsilon spent: what all answers come to (zCDP)")
    note(f"the ledger is whole; its head is {found.head[:16]}…")
    console.out.print()


def _said(query: dict[str, Any]) -> str:
    words = [query["kind"], query.get("column", "")]
    words += [f"by {', '.join(query['by'])}"] if "by" in query and query["kind"] != "histogram" else []
    words += [f"where {query['where']}"] if "where" in query else []
    return " ".join(word for word in words if word)
