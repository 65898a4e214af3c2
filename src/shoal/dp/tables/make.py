"""From a table and a policy to records that nobody is behind: domains, budget, synthesizer, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal import progress
from shoal.dp.store import blanked, kept_rows
from shoal.dp.tables.account import MEAN_NOISE, Account
from shoal.dp.tables.counting import (
    MOST_BINS,
    Records,
    bought_bins,
    bought_domain,
    encoded,
    marginal_errors,
    system_randomness,
)
from shoal.dp.tables.counts import CountTables, cliques_of, count_tables, expected_error
from shoal.dp.tables.domains import Domain, public_domains, released_columns
from shoal.dp.tables.results import PrivateTable
from shoal.dp.tables.synthesis import adaptive, microaggregate, structural_zeros, tree
from shoal.dp.terms import rows_of_a_person
from shoal.errors import InputError, Message, quoted
from shoal.policy import Policy
from shoal.storage import Array, Column, Table
from shoal.storage.reading import Options, read
from shoal.verbs.releasing import DpReleaseRequest
from shoal.vocabulary import Synthesizer

# parts of rho for domains and for bins that are bought, all columns together
_DOMAINS, _BINS = 0.1, 0.1


@dataclass(frozen=True)
class DrawPlan:
    """What is decided before a record is looked at."""

    policy: Policy
    synthesizer: Synthesizer
    domains: dict[str, Domain]
    bought: tuple[str, ...]
    account: Account
    person: str | None
    tables: tuple[tuple[str, ...], ...]
    k: int | None

    @property
    def unit(self) -> str:
        """Whose presence is hidden."""
        if self.synthesizer == "microaggregate" and not self.tables:
            return "record (replaced by another)"
        if self.person is None:
            return "record"
        return f"person (column {self.person}), at most {self.account.rows:,} rows"


def plan_of(policy: Policy, request: DpReleaseRequest, columns: Sequence[str], options: Options) -> DrawPlan:
    """Domains, tables and budget; whatever is wrong with them is said here, before any record counts."""
    person = request.person or policy.person
    told = {*policy.domains, *(name for zero in policy.structural_zeros for name in zero)}
    if missing := sorted(told - {*columns}):
        raise InputError.missing_columns(missing, list(columns), "The table that domains or structural zeros speak of")
    if policy.count is not None:
        raise InputError("The policy counts records by a column: a row stands for many.", "Release one row per record.")
    names = released_columns(policy.model_copy(update={"person": person}), columns)
    tables = tuple(tuple(part for part in one.split(":")) for one in request.tables or ())
    if tables:
        wanted = {name for one in tables for name in one}
        if missing := sorted(wanted - set(names)):
            raise InputError.missing_columns(missing, names, Message("What can be counted ({tables})"))
        if "count" in wanted:
            raise InputError(
                Message("A table of {tables} has a column 'count', which is how its counts are called."),
                "Rename the column.",
            )
        names = [name for name in names if name in wanted]
    bought = tuple(request.domain_from_data or ())
    if missing := [name for name in bought if name not in names]:
        raise InputError.missing_columns(missing, names, "What is released")
    if not names:
        raise InputError("There is no column to release.", "Give a column a role such as other.")
    domains = public_domains(policy, names, bought, options.codebook)
    for name, values in (one for zero in policy.structural_zeros for one in zero.items()):
        if name in domains and not all(map(domains[name].place_of, values)):
            raise InputError(
                f"A structural zero names a value of column {quoted([name])} that is not in its domain.",
                "Correct the value, or add it to the domain.",
            )
    structural_zeros(policy.structural_zeros, [one for one in domains.values() if not one.unbinned])  # refuses some
    zeros = any(set(zero) <= set(names) for zero in policy.structural_zeros)
    if zeros and request.synthesizer == "microaggregate" and not tables:
        raise InputError("Microaggregation does not keep structural zeros.", "Take another synthesizer.")
    rows = rows_of_a_person(person, request.max_rows_per_person)
    if request.synthesizer == "microaggregate" and not tables:
        rows = 2  # its neighbours replace a record: one goes and one comes, also where domains and bins are bought
    elif request.k is not None:
        raise InputError(Message("{k} is a setting of microaggregation, and of no other synthesizer."), "Leave it out.")
    account = Account(request.epsilon, request.delta, rows, buys=bool(bought))
    needs = (policy.public_records, request.k)
    if request.synthesizer == "microaggregate" and not tables and (person is not None or None in needs):
        raise InputError(
            Message(
                "Microaggregation needs {k}, the number of records as public (`public_records` of the policy), and one "
                "record for each person."
            ),
            "Say them, or take another synthesizer.",
        )
    return DrawPlan(policy, request.synthesizer, domains, bought, account, person, tables, request.k)


def preview(plan: DrawPlan) -> PrivateTable:
    """The error to expect, from the domains and the budget alone."""
    account, names = plan.account, [*plan.domains, *plan.bought]
    left = 1 - (_DOMAINS if plan.bought else 0) - (_BINS if any(one.unbinned for one in plan.domains.values()) else 0)
    steps: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    cliques = plan.tables or tuple((name,) for name in names)
    fraction = left / len(cliques) if plan.tables else left * (0.25 if plan.synthesizer == "tree" else 0.1) / len(names)
    fraction = left / len(names) if len(names) == 1 else fraction
    if plan.synthesizer == "microaggregate" and not plan.tables:
        for name, domain in plan.domains.items():
            k = plan.k or 1
            groups = max((plan.policy.public_records or 0) // k, 1)
            cells = MOST_BINS if domain.unbinned else domain.cells
            parts = 2 if domain.ordered and domain.missing else 1
            by_step = {"frequencies": math.sqrt(2 * groups)}
            if domain.ordered:
                by_step = {"mean": max(cells - 1, 1) * math.sqrt(groups), "missing": math.sqrt(groups)}
            for step in list(by_step)[:parts]:
                part = left / len(names) / parts
                steps.append(_planned(step, (name,), account, part, account.sigma(account.part(part), by_step[step])))
            sigma = next(one["scale"] for one in steps if one["columns"] == [name])
            off = 1.96 * sigma / (k if domain.ordered else 1)
            errors.append({"columns": [name], "error": None, "error_95": round(off, 2)})
    else:
        sigma = account.sigma(account.part(fraction))
        for clique in cliques:
            cells = math.prod(plan.domains[name].size for name in clique if name in plan.domains)
            total = None if {*clique} & {*plan.bought} else plan.policy.public_records
            share = None if total is None else min(2.0, MEAN_NOISE * sigma * cells / total)
            errors.append({"columns": list(clique), "error": share, "error_95": expected_error(sigma)})
            steps.append(_planned("table" if plan.tables else "one column", clique, account, fraction, sigma))
        if not plan.tables and len(names) > 1:
            part = left * (0.75 if plan.synthesizer == "tree" else 0.4) * 0.9 / (len(names) - 1)
            sigma = account.sigma(account.part(part))
            errors.append({"columns": ["(a pair)"], "error": None, "error_95": expected_error(sigma)})
            if plan.synthesizer == "tree":
                steps += [_planned("pair", ("(a pair)",), account, part, sigma)] * (len(names) - 1)
    domains = {name: replace(one, source="bins bought") if one.unbinned else one for name, one in plan.domains.items()}
    plan = replace(plan, domains=domains | {name: Domain(name, "values", "bought") for name in plan.bought})
    return _result(plan, steps, {}, errors, preview=True)


def _planned(step: str, columns: Sequence[str], account: Account, fraction: float, sigma: float) -> dict[str, Any]:
    rho = account.part(fraction)
    return {
        "step": step,
        "columns": list(columns),
        "mechanism": "discrete Gaussian",
        "scale": sigma,
        "rho": f"{rho:.6g}",
    }


def _result(
    plan: DrawPlan, spent: list[dict[str, Any]], more: dict[str, Any], marginals: Any, **last: Any
) -> PrivateTable:
    account = plan.account
    public: dict[str, Any] = {
        "domains": {name: domain.to_dict() for name, domain in plan.domains.items()},
        "records": plan.policy.public_records,
        "structural_zeros": len(plan.policy.structural_zeros),
    }
    values: dict[str, Any] = {"workload_error": {}, "records": None, "output": None} | more | last
    return PrivateTable(
        synthesizer="tables" if plan.tables else plan.synthesizer,
        epsilon=float(account.epsilon),
        delta=float(account.delta),
        rho=float(account.rho),
        unit=plan.unit,
        spent=spent,
        public=public,
        marginals=marginals,
        **values,
    )


def make(
    plan: DrawPlan, source: Any, options: Options, afford: Callable[[Account], None] | None = None
) -> PrivateTable:
    """Read the table, spend the budget, draw the records; `afford` refuses what a ledger cannot pay, before that."""
    columns, owner = counted_columns(plan, source, options)
    if afford is not None:
        afford(plan.account)
    account = plan.account
    plan = with_bought(plan, columns)
    domains = list(plan.domains.values())
    records, moved, left_out = encoded(columns, plan.domains)
    owner |= {"moved": moved, "left_out": left_out}
    if not records.rows:
        raise InputError("No record is left to count.", "Let values be missing, or correct the domains.")
    names = list(plan.domains)
    if plan.tables:
        cliques = cliques_of(plan.tables, domains)
        zeros = structural_zeros(plan.policy.structural_zeros, domains)
        made = count_tables(records, domains, cliques, account, zeros, plan.policy.public_records)
        return _of_tables(plan, made, records, owner)
    progress.report("measuring", 0)
    cells = drawn(plan, records)
    randomness = system_randomness()
    order = randomness.permutation(len(cells[0]))
    cells = [own[order] for own in cells]
    frame = pl.DataFrame([domain.series(own, randomness) for domain, own in zip(domains, cells, strict=True)])
    pairs, means = marginal_errors(records, Records(tuple(cells), records.sizes), names)
    spent = [one.to_dict() for one in account.steps]
    more = {"workload_error": means, "records": len(frame), "owner": owner, "frame": frame}
    return _result(plan, spent, more, pairs)


def drawn(plan: DrawPlan, records: Records) -> list[Array]:
    """The cells of synthetic records; what the account has left is spent on them."""
    domains, public = list(plan.domains.values()), plan.policy.public_records
    if plan.synthesizer == "microaggregate":
        assert plan.k is not None
        assert public is not None
        return microaggregate(records, domains, plan.account, plan.k, public)
    fit = tree if plan.synthesizer == "tree" else adaptive
    begun, model = fit(records, domains, plan.account, structural_zeros(plan.policy.structural_zeros, domains), public)
    return begun.cells(model, system_randomness())


def _of_tables(plan: DrawPlan, made: CountTables, records: Records, owner: dict[str, Any]) -> PrivateTable:
    domains = list(plan.domains.values())
    errors = []
    for clique, counts in zip(made.cliques, made.counts, strict=True):
        off = float(abs(records.counts(clique) - counts).sum()) / records.rows
        errors.append({"columns": [domains[axis].name for axis in clique], "error": off})
    spent = [one.to_dict() for one in plan.account.steps]
    more = {"records": int(made.counts[0].sum()), "owner": owner, "tables": made.frames(domains)}
    return _result(plan, spent, more, errors)


def counted_columns(plan: DrawPlan, source: Any, options: Options) -> tuple[dict[str, Column], dict[str, Any]]:
    """The columns that are counted, of the rows that are: at most so many of a person."""
    names = list(dict.fromkeys([*plan.domains, *plan.bought, *([plan.person] if plan.person else [])]))
    table = read(source, names, replace(options, as_text=True)) if not isinstance(source, Table) else source
    people, rows = table.rows, table.rows
    if plan.person is not None:
        people = len(table[plan.person].values)
        kept = kept_rows(table[plan.person], plan.account.rows)
        table = table if kept.all() else table.take(kept)
    if people and plan.account.delta * people >= 1:
        raise InputError(
            "delta must be below 1 / persons: otherwise a release that shows some people's whole records would satisfy "
            "the promise.",
            "Give a smaller one, such as 1e-9. Nothing was spent.",
        )
    words, released = ["", *options.missing], {*plan.domains, *plan.bought}
    columns = {name: blanked(table[name], words) for name in table.names if name in released}
    return columns, {"rows": rows, "kept_rows": table.rows, "persons": people if plan.person else None}


def with_bought(plan: DrawPlan, columns: Mapping[str, Column]) -> DrawPlan:
    """The plan with the domains and bins that a part of the budget buys."""
    account, domains = plan.account, dict(plan.domains)
    unbinned = [name for name, domain in domains.items() if domain.unbinned]
    for name in plan.bought:
        domains[name] = bought_domain(
            columns[name], account, account.part(_DOMAINS / len(plan.bought)), len(plan.bought)
        )
    for name in unbinned:
        domains[name] = bought_bins(domains[name], columns[name], account, account.part(_BINS / len(unbinned)))
    account.begin()
    order = [name for name in columns if name in domains]
    return replace(plan, domains={name: domains[name] for name in order})
