"""Perturbation: values are changed at random, so that single ones can no longer be trusted and totals still can.

A perturbed column is never called anonymous: there is no class to count. What can still be learnt is measured.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError
from shoal.methods.perturbation.operator import (
    BottomCode,
    Operator,
    Pram,
    Round,
    TopCode,
    as_numbers,
    asked_again,
    changed_by,
    operators_of,
)
from shoal.methods.perturbation.operator import NoiseSettings as NoiseSettings
from shoal.methods.perturbation.operator import Settings as Settings
from shoal.methods.perturbation.results import PerturbationFindings, PerturbationRisk, Perturbed, PerturbedColumn
from shoal.methods.perturbation.utility import interval_disclosure, linkage, utility_of
from shoal.policy import Policy, as_policy
from shoal.ranges.columns import ReleasedColumns, modified_rows
from shoal.ranges.forms import ColumnForm
from shoal.storage import Array, Column, Table
from shoal.storage.column_type import type_word
from shoal.storage.reading import Options as Options
from shoal.storage.reading import read
from shoal.verbs.base import takes
from shoal.verbs.changing import PerturbRequest


@takes(PerturbRequest)
def perturb(source: Any, asked: PerturbRequest) -> Perturbed:
    """Perturb columns of a table, and measure what can still be learnt and what it cost.

    `noise`: a share of the standard deviation; for a tuple of columns, noise that keeps their covariances. `swap`:
    within a share of the ranks; `shuffle`: among all rows, keeping rank correlations with the columns named; `pram`:
    the probability to keep a category; `top_code`, `bottom_code`: a limit or a share; `round`: a base. The seed is
    drawn if none is given; it is secret. `interval` is the width for interval disclosure in standard deviations.

    >>> import polars as pl
    >>> survey = pl.DataFrame({"pay": [100, 250, 310, 480], "town": ["A", "A", "B", "B"]})
    >>> result = perturb(survey, round={"pay": 100}, seed=1)
    >>> result.frame["pay"].to_list(), result.findings.risk.kept
    ([100, 300, 300, 500], {'pay': 0.25})
    """
    seed = asked.seed
    operators = operators_of(
        asked.noise, asked.swap, asked.shuffle, asked.pram, asked.top_code, asked.bottom_code, asked.round
    )
    if not 0 < asked.interval < 1e300:
        raise InputError(f"An interval of {asked.interval:g} standard deviations is not one.", "Use 0.05, for example.")
    given = as_policy(asked.policy)
    table = read(source, None, asked.options)
    _check(operators, given, table)
    seed = secrets.randbits(63) if seed is None else seed
    household = table.columns.get(given.household or "")
    before, after = _changed(table, operators, seed, household)
    names = list(dict.fromkeys(name for operator in operators for name in operator.columns))
    columns = {}
    for name in names:
        natures = {operator.nature for operator in operators if name in operator.columns}
        nature = "perturbed" if "perturbed" in natures else natures.pop()
        form = ColumnForm(kind="perturbed", type=type_word(before[name].dtype))
        modified = before[name].ne_missing(after[name]).to_numpy()
        columns[name] = ReleasedColumns([after[name]], nature, modified, form)
    findings = _findings(table, given, operators, columns, before, asked.interval, seed)
    parameters = {
        "operators": [
            {"column": name, "operator": o.word, "setting": o.setting} for o in operators for name in o.columns
        ]
    }
    return Perturbed(
        table=table,
        policy=given,
        parameters=parameters,
        columns=columns,
        findings=findings,
        private={"perturbation_seed": seed},
    ).looked_at()


def _changed(
    table: Table, operators: Sequence[Operator], seed: int, household: Column | None
) -> tuple[dict[str, pl.Series], dict[str, pl.Series]]:
    """The columns that operators look at, as they were and as they are then."""
    before = {name: table[name].decode() for operator in operators for name in (*operator.columns, *operator.given())}
    after = dict(before)
    for number, operator in enumerate(operators):
        progress.report("perturbing", number, len(operators))
        # what is kept is kept as it came in, whatever else is done to it
        current = [after[name] for name in operator.columns] + [before[name] for name in operator.given()]
        original = [before[name] for name in (*operator.columns, *operator.given())]
        changed = changed_by(operator, current, original, seed, household)
        after.update({name: series.alias(name) for name, series in zip(operator.columns, changed, strict=True)})
    return before, after


def perturbed_again(source: Any, told: Any, seed: int, household: str, options: Options) -> dict[str, pl.Series]:
    """What the operators that a manifest tells make of a table with the seed of its private record; nothing where
    that cannot be done."""
    table = read(source, None, options)
    try:
        operators = asked_again(told)
        for operator in operators:
            operator.check([table[name].decode() for name in (*operator.columns, *operator.given())])
        after = _changed(table, operators, seed, table.columns.get(household))[1]
    except (InputError, KeyError, TypeError, AttributeError):
        return {}
    return {name: after[name] for operator in operators for name in operator.columns}


def contradicted(table: Table, told: Any) -> list[str]:
    """The released columns with values that the operators of a manifest cannot have left: no multiple of the base
    that they are rounded to, or past the limit at which they are coded."""
    try:
        operators = asked_again(told)
    except (InputError, KeyError, TypeError, AttributeError):
        return ["operators"]
    rounded = {name for operator in operators if isinstance(operator, Round) for name in operator.columns}
    wrong = []
    for operator in operators:
        name = operator.columns[0]
        if name not in table.columns or not table[name].values.dtype.is_numeric():
            continue
        values = table[name].values
        coded = isinstance(operator, (TopCode, BottomCode)) and not operator.is_share and name not in rounded
        if coded or isinstance(operator, Round):
            again = operator.change([values], [values], np.random.default_rng(0))[0]
            wrong += [] if again.equals(values) else [name]
    return wrong


def _check(operators: Sequence[Operator], policy: Policy, table: Table) -> None:
    """Columns that are there and may be perturbed."""
    names = list(dict.fromkeys(name for operator in operators for name in (*operator.columns, *operator.given())))
    table.select(names)
    for operator in operators:
        operator.check([table[name].decode() for name in (*operator.columns, *operator.given())])
        for name in operator.columns:
            if policy.models and policy.columns.get(name) == "quasi-identifier":
                raise InputError(
                    f"Column '{name}' is a quasi-identifier of a policy with models: perturbed values make no class.",
                    "Anonymise it, or perturb without models.",
                )
            if policy.columns.get(name) == "identifier":
                raise InputError(f"Column '{name}' identifies: it is left out, not perturbed.", "Take it out of one.")


def _findings(
    table: Table,
    policy: Policy,
    operators: Sequence[Operator],
    columns: Mapping[str, ReleasedColumns],
    before: Mapping[str, pl.Series],
    interval: float,
    seed: int,
) -> PerturbationFindings:
    progress.report("measuring", 0)
    # what was changed as a category is measured as one, also where it is written in numbers
    categorical = [
        name
        for name in columns
        if not (before[name].dtype.is_numeric() or before[name].dtype.is_temporal())
        or any(isinstance(o, Pram) and name in o.columns for o in operators)
    ]
    numeric = [name for name in columns if name not in categorical]
    old = {name: as_numbers(before[name]) for name in numeric}
    new = {name: as_numbers(columns[name].series[0]) for name in numeric}
    categories = {name: _codes(table, name, columns[name].series[0]) for name in categorical}
    dropped = set(policy.with_role("identifier"))
    others = {
        name: as_numbers(column.decode())
        for name, column in table.columns.items()
        if name not in columns and name not in dropped and column.dtype.is_numeric()
    }
    done = [
        PerturbedColumn(
            name,
            [f"{operator.word} {operator.setting}" for operator in operators if name in operator.columns],
            column.nature,
            int(column.modified.sum()),
        )
        for name, column in columns.items()
    ]
    kept = {name: float(1 - column.modified.mean()) if table.rows else 1.0 for name, column in columns.items()}
    return PerturbationFindings(
        table.rows,
        int(modified_rows(list(columns.values())).sum()),
        done,
        PerturbationRisk(interval_disclosure(old, new, interval), linkage(old, new, seed), kept),
        utility_of(old, new, categories, others, seed),
        [f"no value of '{column.name}' changed" for column in done if not column.modified_rows],
    )


def _codes(table: Table, name: str, after: pl.Series) -> tuple[Array, Array]:
    """A column of categories before and after, in one numbering; null is a category here."""
    both = pl.concat([table[name].decode().cast(pl.String), after.cast(pl.String)])
    codes = both.fill_null("\0").rank("dense").to_numpy().astype(np.int64) - 1
    return codes[: table.rows], codes[table.rows :]
