"""A file after safe harbor, looked at afresh: every rule again, on what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shoal.judgement.checks import Check
from shoal.policy import Policy
from shoal.standards.hipaa.ages import LIMIT, OLD, still_old
from shoal.standards.hipaa.clauses import Treatment
from shoal.standards.hipaa.hidden import hidden
from shoal.standards.hipaa.proposals import propose
from shoal.standards.hipaa.zip3 import LEAST_PEOPLE, RESTRICTED, Populations, shipped
from shoal.table import Column, Table

_LONGEST_LIST = 8


def plan_of(treatments: Sequence[Treatment]) -> list[dict[str, Any]]:
    """The decisions as the manifest keeps them."""
    return [{"column": entry.column, "action": entry.action, "decided": entry.decided} for entry in treatments]


def recheck(
    table: Table, plan: Sequence[dict[str, Any]], year_of_data: int, populations: Populations, policy: Policy
) -> list[Check]:
    """Whether a written table keeps safe harbor: one check per rule, none of which shows a value."""
    actions = {entry["column"]: entry for entry in plan}
    left = [name for name, entry in actions.items() if entry["action"] == "removed" and name in table.columns]
    strange = [name for name in table.columns if name not in actions]
    faults: dict[str, list[str]] = {"zip": [], "date": [], "age": [], "kept": []}
    for name, column in table.columns.items():
        entry = actions.get(name, {"action": "kept", "decided": False})
        word = "date" if entry["action"] == "date-of-birth" else entry["action"]
        if word in faults and not _good(column, word, entry["decided"], year_of_data, populations, policy):
            faults[word].append(name)
    return [
        _check("removed columns", left, "none of them is there", "still there"),
        _check("columns", strange, "all of them were looked at", "not known to the plan"),
        _check("ZIP codes", faults["zip"], "three digits with over 20,000 people, or 000", "hold other codes"),
        _check("dates", faults["date"], "years, none of which tells an age over 89", "hold more than years"),
        _check("ages", faults["age"], "none over 89 but the one group", "hold ages over 89"),
        _check("other columns", faults["kept"], "no identifier was found in them", "may hold identifiers"),
    ]


def recheck_released(table: Table, section: dict[str, Any], policy: Policy) -> list[Check]:
    """The same from a manifest's section on safe harbor."""
    said = section["zip_populations"]
    kept = said.get("kept")
    populations = shipped() if kept is None else Populations(dict.fromkeys(kept, LEAST_PEOPLE + 1), **_named(said))
    return recheck(table, section["plan"], section["year_of_data"], populations, policy)


def _named(said: dict[str, Any]) -> dict[str, str]:
    return {"source": str(said["source"]), "vintage": str(said["vintage"])}


def _check(name: str, faulty: list[str], fine: str, fault: str) -> Check:
    shown = ", ".join(faulty[:_LONGEST_LIST])
    return Check(name, not faulty, f"{shown} {fault}" if faulty else fine)


def _good(
    column: Column, word: str, decided: bool, year_of_data: int, populations: Populations, policy: Policy
) -> bool:
    if word == "zip":
        found = _codes(column.values)
        return bool(found.is_in(sorted({*populations.kept, RESTRICTED})).all())
    if word == "date":
        texts = column.values.cast(pl.String)
        others = texts.filter(texts != OLD)
        years = others.str.contains(r"^\d{4}$").all()
        return bool(years) and bool((others.cast(pl.Int64, strict=False) > year_of_data - LIMIT).all())
    if word == "age":
        return still_old(column.values, column.name) == 0
    if decided:
        return True
    is_text = column.values.dtype == pl.String
    return propose(column, policy).action == "kept" and not (is_text and hidden(column.values))


def _codes(values: pl.Series) -> pl.Series:
    """Three digits again, where a file without types made numbers of them."""
    return values.cast(pl.String).str.zfill(3)
