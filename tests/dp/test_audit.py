"""Attempts to falsify the guarantee of every mechanism, with neighbouring tables; and the differencing attack."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.dp import BudgetRefused, Desk, open_desk, queries
from shoal.dp.aggregates import PERSON
from shoal.dp.answers import NoisyAnswer
from shoal.dp.audit import Audit, audit, binomial_bound, epsilon_lower_bound
from shoal.dp.mechanisms import IntegerNoise, epsilon_of
from shoal.dp.plans import QueryPlan, plan
from shoal.dp.queries import Query
from shoal.dp.terms import StoredColumn, Terms, half_square


def make_query(terms: Terms, kind: str, column: str | None = None, **options: Any) -> Query:
    return queries.make_query(terms, queries.RawQuery.of(kind, column, options))  # type: ignore[arg-type]


ROWS = 2  # of one person
RUNS = 2500
# the whole battery claims a fault by mistake with a probability below 1 in 10,000
CONFIDENCE = 1 - 1e-6


def terms(accounting: str = "basic") -> Terms:
    columns = tuple(
        StoredColumn(name, word, "", "") for name, word in {"x": "integer", "y": "number", "town": "text"}.items()
    )
    rho = "100" if accounting == "zcdp" else None
    return Terms(2, "", "", "100", "0.5", accounting, rho, "who", ROWS, "", None, columns, None, "", False)  # type: ignore[arg-type]


# everybody else, then the one person: as many rows as may be, at the far end of the bounds
OTHERS = pl.DataFrame(
    {"x": [0, 5, 10] * 2, "y": [0.0, 5.0, 10.0] * 2, "town": ["a", "b", "a"] * 2, PERSON: range(6)},
    schema_overrides={PERSON: pl.UInt32},
)
PERSONS_ROWS = pl.DataFrame({"x": [10, 10], "y": [10.0, 10.0], "town": ["a", "a"], PERSON: [9, 9]},
                            schema_overrides={PERSON: pl.UInt32})  # fmt: skip
TABLE = pl.concat([OTHERS, PERSONS_ROWS])


def in_a(outcome: NoisyAnswer) -> float:
    """The answer for the group of the one person; far away if the group is not shown."""
    return next((float(entry["answer"]) for entry in outcome.answer if entry["key"] == "a"), -1e9)


def shown(outcome: NoisyAnswer) -> float:
    return float(any(entry["key"] == "z" for entry in outcome.answer))


Number = Callable[[NoisyAnswer], float] | None
CASES: dict[str, tuple[str, str | None, dict[str, Any], Number]] = {
    "count": ("count", None, {}, None),
    "count with a filter": ("count", None, {"where": "x >= 10"}, None),
    "count by public keys": ("count", None, {"by": "town", "keys": ["a", "b"]}, in_a),
    "count by private keys": ("count", None, {"by": "town", "delta": "0.2"}, in_a),
    "persons": ("persons", None, {}, None),
    "sum of whole numbers": ("sum", "x", {"bounds": "0,10"}, None),
    "sum of numbers": ("sum", "y", {"bounds": "0,10"}, None),
    "mean": ("mean", "x", {"bounds": "0,10"}, None),
    "variance": ("variance", "y", {"bounds": "0,10"}, None),
    "median": ("median", "x", {"bounds": "0,10"}, None),
    "quantile": ("quantile", "x", {"bounds": "0,10", "q": "0.9"}, None),
    "histogram": ("histogram", "x", {"bins": "0,4,8,11"}, lambda outcome: float(outcome.answer[2]["answer"])),
}


def made(case: str, mechanism: str, accounting: str) -> QueryPlan:
    kind, column, how, _ = CASES[case]
    how = dict(how)
    if mechanism == "gaussian" and accounting == "basic":
        how.setdefault("delta", "0.05")
    asked = make_query(terms(accounting), kind, column, epsilon="1", mechanism=mechanism, **how)
    return plan(asked, terms(accounting))


GAUSSIAN = [case for case, (kind, *_) in CASES.items() if kind not in ("median", "quantile")]


@pytest.mark.slow
@pytest.mark.parametrize("accounting", ["basic", "zcdp"])
@pytest.mark.parametrize(
    ("case", "mechanism"), [*((case, "laplace") for case in CASES), *((case, "gaussian") for case in GAUSSIAN)]
)
def test_no_mechanism_leaks_more_than_declared(case: str, mechanism: str, accounting: str) -> None:
    of = made(case, mechanism, accounting)
    guarantee = None
    if accounting == "zcdp" and mechanism == "gaussian":
        # its epsilon is nominal: what counts is what rho comes to beside a delta
        converted = Decimal("0.02")
        epsilon = epsilon_of(half_square(of.query.epsilon), converted)
        guarantee = epsilon, float(of.query.delta + converted)
    found = audit(of, TABLE, OTHERS, RUNS, CONFIDENCE, CASES[case][3], guarantee)
    assert not found.falsified, found


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_a_key_of_one_person_is_shown_no_more_often_than_delta(mechanism: str) -> None:
    asked = make_query(terms(), "count", by="town", epsilon="1", delta="0.1", mechanism=mechanism)
    alone = pl.concat([OTHERS, PERSONS_ROWS.with_columns(town=pl.lit("z"))])
    found = audit(plan(asked, terms()), alone, OTHERS, RUNS, CONFIDENCE, shown)
    assert not found.falsified, found


@pytest.mark.slow
def test_the_bound_comes_near_the_truth() -> None:
    """Not below by weakness: with many draws the proven epsilon of Laplace noise is most of the declared one."""
    noise = made("count", "laplace", "basic").counts
    assert noise is not None
    first, second = (noise.add(np.full(100_000, count)) for count in (TABLE.height, OTHERS.height))
    assert 0.85 < epsilon_lower_bound(first, second, confidence=CONFIDENCE) <= 1


def broken(of: QueryPlan) -> QueryPlan:
    assert of.counts is not None
    return replace(of, counts=IntegerNoise(of.counts.mechanism, of.counts.scale / 4, of.counts.sensitivity))


def test_an_audit_finds_what_is_broken() -> None:
    found = audit(broken(made("count", "laplace", "basic")), TABLE, OTHERS, 1200, 0.999)
    assert found.falsified
    assert found.lower_bound > 1.5


def test_an_audit_finds_a_person_with_more_rows_than_the_cap() -> None:
    """The desk caps rows when it opens; a table that was not capped breaks the promise, and the audit sees it."""
    crowd = pl.concat([OTHERS, *[PERSONS_ROWS] * 4])
    assert audit(made("count", "laplace", "basic"), crowd, OTHERS, 1200, 0.999).falsified


def test_an_audit_of_the_right_mechanism_finds_nothing() -> None:
    found = audit(made("count", "laplace", "basic"), TABLE, OTHERS, 1200, CONFIDENCE)
    assert isinstance(found, Audit)
    assert not found.falsified
    assert found.lower_bound > 0.2


def test_binomial_bounds_by_hand() -> None:
    # 0 of n: (1 - p)^n = alpha; n of n: p^n = alpha
    assert binomial_bound(0, 50, 0.01, upper=True) == pytest.approx(1 - 0.01 ** (1 / 50))
    assert binomial_bound(50, 50, 0.01, upper=False) == pytest.approx(0.01 ** (1 / 50))
    assert binomial_bound(50, 50, 0.01, upper=True) == 1
    assert binomial_bound(0, 50, 0.01, upper=False) == 0
    # 5 of 10, from tables: 0.1871 and 0.8129 for 95% two-sided
    assert binomial_bound(5, 10, 0.025, upper=False) == pytest.approx(0.1871, abs=1e-4)
    assert binomial_bound(5, 10, 0.025, upper=True) == pytest.approx(0.8129, abs=1e-4)


def ask_differences(folder: Path) -> float:
    """What the attacker computes: two counts that differ in one person only."""
    with Desk(folder) as desk:
        everybody = desk.query("count", where="ill = true", epsilon="0.1").answer
        others = desk.query("count", where="ill = true and not (born = 1931 and sex = 'f')", epsilon="0.1").answer
    return float(everybody - others)


def test_the_differencing_attack_works_without_a_budget_and_fails_with_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    people = pl.DataFrame({"born": rng.integers(1940, 2000, 500), "sex": rng.choice(["f", "m"], 500),
                           "ill": rng.random(500) < 0.3})  # fmt: skip
    right = 0
    for number in range(30):
        ill = number % 2 == 0
        person = pl.DataFrame({"born": [1931], "sex": ["f"], "ill": [ill]})
        table = pl.concat([people, person])
        # exact counts: the difference is the person's secret, every time
        exact = (
            table.filter("ill").height
            - table.filter(pl.col("ill") & ~((pl.col("born") == 1931) & (pl.col("sex") == "f"))).height
        )
        assert exact == ill
        open_desk(table, folder=tmp_path / str(number), types="proposed", epsilon="0.2")
        right += (ask_differences(tmp_path / str(number)) >= 0.5) == ill
    # a guess is right with probability at most e^0.2 / (1 + e^0.2) = 0.55; 28 of 30 would have a chance below 1e-5
    assert right < 28
    with Desk(tmp_path / "0") as desk:
        with pytest.raises(BudgetRefused):
            desk.query("count", where="born = 1931", epsilon="0.1")
        # asking again for an average of many noises gives the same noise
        answers = {desk.query("count", where="ill = true", epsilon="0.1").answer for _ in range(5)}
    assert len(answers) == 1
    assert math.exp(0.2) / (1 + math.exp(0.2)) < 0.56
