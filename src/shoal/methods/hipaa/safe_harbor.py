"""HIPAA safe harbor, clause by clause: what was found, what was done, what a person must confirm.

Source: 45 CFR 164.514(b)(2). It is a list of things to remove, not a measure of risk: what is left can still single
people out (Sánchez et al.), so the residual risk is measured like any other release's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, get_args

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.ages import top_coded
from shoal.detection.clauses import CLAUSES, FOR_A_PERSON, Treatment, hidden
from shoal.detection.context import Context, context_of
from shoal.detection.treatments import propose
from shoal.engine import Engine, TupleRecoding, engine_of
from shoal.errors import InputError, Message, check_choice
from shoal.exposure import IdentityRisk, risk
from shoal.methods.hipaa.results import ClauseReport, Done, SafeHarbor, Status, Vintage
from shoal.methods.hipaa.treat import EMPTIED, Births, TreatedColumns, Years, old_rows, treat, years_of_columns
from shoal.methods.hipaa.zip3 import Populations, read_populations, shipped
from shoal.methods.scrubbing.results import RULES_MISS
from shoal.methods.scrubbing.scrub import scrubbed_text
from shoal.policy import Policy, as_policy
from shoal.policy.named import SAFE_HARBOR_RULE
from shoal.storage import Array, Column, Table
from shoal.storage.reading import Options, read
from shoal.verbs.base import takes
from shoal.verbs.changing import SafeHarborRequest
from shoal.vocabulary import DateOrder
from shoal.wording import in_words

# Safe harbor where the rows stay with their engine: each column by its different values, births by years together.


@dataclass(frozen=True)
class There:
    """The rows of a table that stay with their engine: what is needed of them is asked column by column."""

    engine: Engine
    source: Any
    table: Table
    options: Options | None

    def births(self, treatments: Sequence[Treatment], years: Years) -> tuple[Births | None, dict[str, TupleRecoding]]:
        """Dates of birth beside ages and events, counted by year; and how each of these columns is coded for that."""
        actions = {entry.column: entry.action for entry in treatments}
        born = [name for name, action in actions.items() if action == "date-of-birth"]
        if not born:
            return None, {}
        dates = [name for name, action in actions.items() if action == "date"]
        ages = [name for name, action in actions.items() if action == "age"]
        taken = {*self.table.source_names}
        helpers = {name: _free(f"{name} in years", taken) for name in (*born, *dates, *ages)}
        coded = {
            name: TupleRecoding([name], {helper: _coded(self.table[name], years.of_column.get(name))})
            for name, helper in helpers.items()
        }
        rows = self.engine.recode(self.source, list(coded.values()), list(helpers.values()), self.options)
        counted = self.engine.count(rows, list(helpers.values()))
        column = {name: counted.columns[helper] for name, helper in helpers.items()}
        year_of = {name: column[name].values.to_numpy() >> 1 for name in (*born, *dates)}
        year = {name: np.append(year_of[name], -1)[column[name].codes] for name in year_of}
        told = [np.append(column[name].values.to_numpy() > 0, False)[column[name].codes] for name in ages]
        old = old_rows([year[name] for name in born], [year[name] for name in dates], told, years.year_of_data)
        shown = {name: _as_written(name, column[name], counted.counts) for name in born}
        return Births(shown, {name: year_of[name] for name in born}, old), coded

    def changed(
        self, series: Mapping[str, pl.Series], births: Births | None, coded: Mapping[str, TupleRecoding]
    ) -> Table:
        """The table whose rows hold what each value became, of the columns that are left in their order."""
        born = () if births is None else tuple(births.columns)
        steps = []
        for name in self.table.source_names:
            becomes = dict(coded[name].becomes) if name in coded else {}
            if name in series and name not in born and not series[name].equals(self.table[name].decode()):
                becomes[name] = series[name]
            if becomes:
                steps.append(TupleRecoding([name], becomes))
        if born:
            helpers = [helper for recoding in coded.values() for helper in recoding.becomes]
            steps.append(TupleRecoding(helpers, {name: series[name] for name in born}))
        names = [name for name in self.table.source_names if name in series]
        return replace(self.table, native=self.engine.recode(self.source, steps, names, self.options))


def _free(name: str, taken: set[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _coded(column: Column, years: Array | None) -> pl.Series:
    """Of a date twice its year, and one more where it is written as a year; of an age whether it is over 89."""
    if years is None:
        codes = top_coded(column.values, column.name)[1].astype(np.int64)
    else:
        known = np.maximum(years, 0).astype(np.int64)
        written = column.values.cast(pl.String) == pl.Series(known).cast(pl.String)
        codes = 2 * known + written.fill_null(False).to_numpy()
    return pl.Series(codes).extend_constant(None, 1).gather(column.codes)


def _as_written(name: str, coded: Column, records: Array) -> Column:
    """A coded date of birth with texts for its values: the year where it was written as one, else no text of a year."""
    codes = coded.values.to_numpy()
    other = pl.Series(["a date"]).new_from_index(0, len(codes))
    texts = pl.Series(codes >> 1).cast(pl.String).zip_with(pl.Series(codes % 2 == 1), other)
    shown = replace(coded, name=name, values=texts, dtype=pl.String())
    return shown.counting(np.arange(len(shown.codes)), records)


__all__ = ["SafeHarbor", "apply_safe_harbor", "residual_risk", "safe_harbor"]


@takes(SafeHarborRequest)
def safe_harbor(source: Any, asked: SafeHarborRequest) -> SafeHarbor:
    """Take out what the eighteen clauses of safe harbor name, in the columns that the policy or detection names.

    >>> import polars as pl
    >>> names = ["Ada Lovelace", "Alan Turing"]
    >>> visits = pl.DataFrame({"patient_name": names, "zip": ["10001", "03601"], "age": [36, 91]})
    >>> result = safe_harbor(visits, year_of_data=2012)
    >>> result.frame.to_dict(as_series=False)
    {'zip': ['100', '000'], 'age': ['36', '90+']}
    >>> [(found.clause, found.columns) for found in result.clauses if found.columns]
    [('A', ['patient_name']), ('B', ['zip']), ('C', ['age'])]
    """
    result = apply_safe_harbor(source, asked)
    return result.measured(residual_risk(result.released, result))


def apply_safe_harbor(source: Any, asked: SafeHarborRequest, populations: Populations | None = None) -> SafeHarbor:
    """The same without the risk that is left: a release measures it on the written file. `populations`: the counts of
    people by ZIP prefix, in place of those that are asked for."""
    given = as_policy(asked.policy)
    decided = given.safe_harbor
    order = asked.date_order or decided.date_order
    century = asked.century_from if asked.century_from is not None else decided.century_from
    check_choice("date order", order or "dmy", get_args(DateOrder))
    this_year = datetime.now(UTC).year
    wanted = asked.year_of_data if asked.year_of_data is not None else decided.year_of_data
    if wanted is not None and not 1900 <= wanted <= this_year + 1:
        raise InputError(
            f"The year of the data, {wanted}, is not between 1900 and now.", Message("Give {year_of_data} 2012.")
        )
    # what was said beside the policy is part of what the release was made by
    settings = {"year_of_data": wanted, "date_order": order, "century_from": century}
    given = given.model_copy(update={"safe_harbor": decided.model_copy(update=settings)})
    if populations is None:
        populations = shipped() if asked.zip_populations is None else read_populations(asked.zip_populations)
    engine = engine_of(source, asked.options)
    table = engine.rows(source, None, asked.options, needed=[])
    there = There(engine, source, table, asked.options) if engine.keeps_rows else None
    names = table.names if there is None else list(table.source_names)
    _check_headers(names, given)
    treatments, context = [], context_of(names)
    for number, name in enumerate(names):
        progress.report("looking at columns", number, len(names))
        treatments.append(propose(table[name], given, context))
    progress.report("applying safe harbor", 0)
    years = years_of_columns(table, treatments, wanted, order, century, this_year)
    texts = [entry.column for entry in treatments if entry.action == "scrubbed"]
    if texts and there is not None:
        raise InputError(
            f"Column '{texts[0]}' holds free text, which is scrubbed on one machine only.",
            "Scrub it first (shoal.scrub), or remove it (`safe_harbor: columns` in a policy).",
        )
    removed = [entry.column for entry in treatments if entry.action == "removed"]
    scrubbed = scrubbed_text(table, given, texts, removed) if texts else None
    births, coded = (None, {}) if there is None else there.births(treatments, years)
    treated = treat(table, treatments, years, populations, scrubbed, births)
    emptied = {entry.column for entry in treated.done if entry.action == EMPTIED}
    late = _late(table, treated.series, emptied, given, context)
    if late:  # what is left of a column after cells were emptied may be an identifier itself
        treatments = [late.get(entry.column, entry) for entry in treatments]
        treated = treat(table, treatments, years, populations, scrubbed, births)
    kept = [treated.series[name] for name in names if name in treated.series]
    # categories as texts: a file would list all of them, also those that no cell holds any more
    kept = [one.cast(pl.String) if isinstance(one.dtype, (pl.Categorical, pl.Enum)) else one for one in kept]
    if not kept:
        raise InputError(
            "Safe harbor removes every column of this table.",
            "Name columns that may stay in a policy (safe_harbor: keep).",
        )
    person, person_note = given.person, list[str]()
    if person is not None and person not in treated.series:
        person_note = [f"{person} is removed: the residual risk counts records, not persons"]
    return SafeHarbor(
        standard="hipaa-safe-harbor",
        source=SAFE_HARBOR_RULE,
        records=table.rows,
        clauses=_reports(treated.done),
        details=treated.done,
        year_of_data=years.year_of_data,
        year_of_data_from=years.said,
        zip_populations=Vintage(populations.source, populations.vintage),
        to_confirm=_to_confirm(treatments, treated, years),
        notes=[*table.notes, *given.remarks(table), *treated.notes, *person_note],
        table=table if there is None else there.changed({one.name: one for one in kept}, births, coded),
        policy=given,
        treatments=treatments,
        populations=populations,
        polars=pl.DataFrame(kept if there is None else [series.clear() for series in kept]),
        scrubbed=None if scrubbed is None else scrubbed.in_public(),
    )


def _to_confirm(treatments: Sequence[Treatment], treated: TreatedColumns, years: Years) -> list[str]:
    """What a person must look at, in words."""
    kept = [entry for entry in treatments if entry.column in treated.series and not entry.decided]
    unknown = [entry.column for entry in kept if not entry.recognised]
    doubts = dict.fromkeys(entry.doubt for entry in kept if entry.doubt)
    asked = [f"{in_words([entry.column for entry in kept if entry.doubt == doubt], 200)}: {doubt}" for doubt in doubts]
    if unknown:
        asked.append(f"No rule recognised what is in {in_words(unknown, 200)}: you know that it identifies nobody.")
    if any(entry.action == "date-of-birth" for entry in treatments) and years.said != "given":
        asked.append(f"Ages were counted to {years.year_of_data}, {years.said}.")
    if texts := [entry.column for entry in treatments if entry.action == "scrubbed"]:
        asked.append(f"Read a sample of {in_words(texts, 200)}: {RULES_MISS}.")
    return [*asked, *FOR_A_PERSON]


def _check_headers(names: Sequence[str], policy: Policy) -> None:
    """Names of columns go into manifests and messages: they must not hold identifiers themselves."""
    found = hidden(pl.Series(names, dtype=pl.String))
    bad = {names[index] for hits in found.values() for index in hits.nonzero()[0].tolist()}
    bad = {name for name in bad if policy.safe_harbor.columns.get(name) != "keep"}
    if bad:
        places = in_words([str(place) for place, name in enumerate(names, 1) if name in bad])
        raise InputError(
            f"The names of columns number {places} hold a date, an address or a number of a person.",
            "Put a line with names of columns first, or rename them.",
        )


def _late(
    table: Table, series: dict[str, pl.Series], emptied: set[str], policy: Policy, context: Context
) -> dict[str, Treatment]:
    """Columns that look like identifiers once the cells with hidden ones are empty."""
    found = {}
    for name in emptied:
        left = read(pl.DataFrame([series[name]]))[name]
        again = propose(left.counting(np.arange(len(left.codes)), table[name].records), policy, context)
        if again.action not in ("kept", "scrubbed"):
            removed = Treatment(name, again.clause, "removed", again.kind, "identifier", again.reason, recognised=False)
            found[name] = removed
    return found


def _reports(done: Sequence[Done]) -> list[ClauseReport]:
    reports = []
    for clause in CLAUSES:
        entries = [entry for entry in done if entry.clause == clause.letter]
        actions = dict.fromkeys(entry.action for entry in entries)
        decided: Status = "done" if all(entry.decided for entry in entries) else "confirm"
        reports.append(
            ClauseReport(
                clause.letter,
                clause.title,
                [entry.column for entry in entries],
                "; ".join(actions) or "none",
                sum(entry.cells_changed for entry in entries),
                decided if entries else "nothing-found",
            )
        )
    return reports


def residual_risk(released: Any, result: SafeHarbor, options: Options | None = None) -> IdentityRisk | None:
    """What `shoal risk` measures on what is left: the kept quasi-identifiers, ranges fitted by Eq 1."""
    left, policy = result.polars.columns, result.policy
    count = policy.count if policy.count in left else None
    person = policy.person if policy.person in left else None
    names = [name for name in result.quasi_identifiers if name not in (count, person)]
    if not names:
        return None
    return risk(
        released if engine_of(released, options).keeps_rows else read(released, None, options),
        quasi_identifiers=names,
        null_rule=policy.null_rule,
        count=count,
        person=person,
        threshold=policy.threshold,
        options=options,
    )
