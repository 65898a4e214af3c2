"""A file after safe harbor, looked at afresh: every rule again, on what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shoal.detection.ages import LIMIT, OLD, still_old
from shoal.detection.clauses import Action, Treatment, hidden
from shoal.detection.context import context_of
from shoal.detection.treatments import propose
from shoal.engine import engine_of
from shoal.errors import InputError
from shoal.methods.hipaa.zip3 import LEAST_PEOPLE, RESTRICTED, Populations, shipped
from shoal.policy import Policy
from shoal.policy.judgement.shown_classes import Check
from shoal.storage import Column, Table
from shoal.storage.reading import Options

_LONGEST_LIST = 8
_IDENTIFIERS = "may hold identifiers"


def plan_of(treatments: Sequence[Treatment]) -> list[dict[str, Any]]:
    """The decisions as the manifest keeps them."""
    return [{"column": entry.column, "action": entry.action, "decided": entry.decided} for entry in treatments]


def recheck(
    table: Table, plan: Sequence[dict[str, Any]], year_of_data: int, populations: Populations, policy: Policy
) -> list[Check]:
    """Whether a written table keeps safe harbor: one check per rule, none of which shows a value.

    The plan says only what was done to each column, and so by which rule its values are looked at; that a column may
    stay without a look is for the policy to say.
    """
    actions = {entry["column"]: entry for entry in plan}
    left = [name for name, entry in actions.items() if entry["action"] == "removed" and table.has(name)]
    names = [*table.columns, *table.beside]
    strange = [name for name in names if name not in actions]
    context = context_of([*actions, *strange])
    kept = [name for name in names if policy.safe_harbor.columns.get(name) == "keep"]
    faults: dict[str, list[str]] = {"zip": [], "date": [], "age": [], "scrubbed": [], "kept": []}
    for name in names:
        word = actions.get(name, {"action": "kept"})["action"]
        word = "date" if word == "date-of-birth" else word
        if word not in faults or (word == "kept" and name in kept):
            continue  # removed, and there: said above
        column = table[name]
        if word == "kept":  # nothing is found in what stays as it is
            good = propose(column, policy, context).action == word and not hidden(column.values, column.frequencies())
        else:
            good = _good(column, word, year_of_data, populations)
        if not good:
            faults[word].append(name)
    unlooked = f"; not looked at, for the policy keeps them: {', '.join(kept[:_LONGEST_LIST])}" if kept else ""
    return [
        _check("removed columns", left, "none of them is there", "still there"),
        _check("columns", strange, "all of them were looked at", "not known to the plan"),
        _check("ZIP codes", faults["zip"], "three digits with over 20,000 people, or 000", "hold other codes"),
        _check("dates", faults["date"], "years, none of which tells an age over 89", "hold more than years"),
        _check("ages", faults["age"], "none over 89 but the one group", "hold ages over 89"),
        _check("scrubbed text", faults["scrubbed"], "no identifier was found in it", _IDENTIFIERS),
        _check("other columns", faults["kept"], f"no identifier was found in them{unlooked}", _IDENTIFIERS),
    ]


class _Populations(BaseModel):
    """Whose population counts were taken; the prefixes too where they are not those that come with shoal."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    source: str
    vintage: str
    kept: list[str] | None = None


class _Decision(BaseModel):
    """What was decided about a column."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    column: str
    action: Action
    decided: bool


class SafeHarborRecord(BaseModel):
    """The section on safe harbor of a manifest."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    standard: Literal["hipaa-safe-harbor"]
    source: str
    records: int
    clauses: list[dict[str, Any]]
    details: list[dict[str, Any]]
    year_of_data: Annotated[int, Field(ge=1800, le=3000)]
    year_of_data_from: str
    zip_populations: _Populations
    to_confirm: list[str]
    notes: list[str]
    plan: list[_Decision]

    @property
    def counts(self) -> Populations:
        """The counts of people that it names."""
        told = self.zip_populations
        if told.kept is None:
            return shipped()
        return Populations(dict.fromkeys(told.kept, LEAST_PEOPLE + 1), source=told.source, vintage=told.vintage)


def recheck_released(table: Table, section: Any, policy: Policy, signed: bool) -> list[Check]:
    """The same from a manifest's section on safe harbor. Counts of people other than those that come with shoal, and a
    year of the data that the policy does not name, are the word of who signed it or has its private record: else the
    counts of shoal are taken, and of the year is said that it is claimed."""
    found = _record(section)
    if found is None:
        return [Check("safe harbor", False, "the manifest's section on safe harbor is damaged")]
    said = policy.safe_harbor.year_of_data
    checks = recheck(
        table,
        [entry.model_dump() for entry in found.plan],
        found.year_of_data if said is None else said,
        found.counts if signed else shipped(),
        policy,
    )
    if said is not None or signed or not any(entry.action.startswith("date") for entry in found.plan):
        return checks
    detail = f"ages are counted to {found.year_of_data}: claimed, not checked"
    return [*checks, Check("year of the data", found.year_of_data <= datetime.now(UTC).year + 1, detail)]


def _record(section: Any) -> SafeHarborRecord | None:
    try:
        return SafeHarborRecord.model_validate(section)
    except ValidationError:
        return None


def recoded_again(original: Any, section: Any, policy: Policy, options: Options | None) -> Mapping[str, pl.Series]:
    """Safe harbor on the original again, by the year and the counts that its section names: what each column becomes,
    row by row; nothing where the rows stay with their engine."""
    from shoal.methods.hipaa.safe_harbor import apply_safe_harbor
    from shoal.verbs.changing import SafeHarborRequest

    found = _record(section)
    if found is None or engine_of(original, options).keeps_rows:
        return {}
    said = policy.safe_harbor.year_of_data
    year = found.year_of_data if said is None else said
    try:
        asked = SafeHarborRequest(policy=policy, year_of_data=year, options=options)
        done = apply_safe_harbor(original, asked, found.counts)
    except InputError:  # a year or a policy by which it cannot be done
        return {}
    return {series.name: series for series in done.polars.get_columns()}


def _check(name: str, faulty: list[str], fine: str, fault: str) -> Check:
    shown = ", ".join(faulty[:_LONGEST_LIST])
    return Check(name, not faulty, f"{shown} {fault}" if faulty else fine)


def _good(column: Column, word: str, year_of_data: int, populations: Populations) -> bool:
    if word == "zip":
        # three digits again, where a file without types made numbers of them
        found = column.values.cast(pl.String).str.zfill(3)
        return bool(found.is_in(sorted({*populations.kept, RESTRICTED})).all())
    if word == "date":
        texts = column.values.cast(pl.String)
        others = texts.filter(texts != OLD)
        years = others.str.contains(r"^\d{4}$").all()
        return bool(years) and bool((others.cast(pl.Int64, strict=False) > year_of_data - LIMIT).all())
    if word == "age":
        return still_old(column.values, column.name) == 0
    if word == "scrubbed":
        return column.values.dtype != pl.String or not hidden(column.values)
    return True
