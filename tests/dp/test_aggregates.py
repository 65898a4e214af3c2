"""The sensitivity arguments, tried: take away one person and see what moves. Exact numbers against plain Python."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dp import queries
from shoal.dp.aggregates import BITS, PERSON, Selected, Squares, ValueSteps, select
from shoal.dp.plans import QueryPlan, plan
from shoal.dp.queries import Query
from shoal.dp.store import kept_rows, typed_series
from shoal.dp.terms import StoredColumn, Terms
from shoal.dp.types import propose
from shoal.storage.reading import read


def make_query(terms: Terms, kind: str, column: str | None = None, **options: Any) -> Query:
    return queries.make_query(terms, queries.RawQuery.of(kind, column, options))  # type: ignore[arg-type]


KINDS: list[tuple[str, dict[str, Any]]] = [
    ("count", {}),
    ("count", {"by": "town", "keys": ["a", "b"]}),
    ("count", {"by": "town"}),
    ("persons", {}),
    ("persons", {"by": "town", "keys": ["a", "b"]}),
    ("persons", {"by": "town"}),
    ("sum", {"column": "age", "bounds": "-5,90"}),
    ("sum", {"column": "pay", "bounds": "-1.5,7.25", "by": "town", "keys": ["a", "b", "c"]}),
    ("mean", {"column": "pay", "bounds": "0,1e9"}),
    ("mean", {"column": "age", "bounds": "18,90", "by": "town"}),
    ("variance", {"column": "age", "bounds": "0,90"}),
    ("variance", {"column": "pay", "bounds": "-1e-3,1e6"}),
    ("median", {"column": "age", "bounds": "0,50"}),
    ("quantile", {"column": "pay", "bounds": "0,10", "q": "0.05,0.9"}),
    ("histogram", {"column": "age", "bins": "0,18,65"}),
    ("histogram", {"column": "town"}),
    ("bounds", {"column": "pay"}),
]


def terms(rows: int = 3, **changed: Any) -> Terms:
    columns = {"age": "integer", "pay": "number", "town": "text"}
    given: dict[str, Any] = {
        "format": 2, "key_check": "", "witnessed": False, "desk": "", "opened": "", "epsilon": "1000", "delta": "0.1",
        "accounting": "basic", "rho": None,
        "person": "who", "max_rows_per_person": rows, "source": "", "source_sha256": None, "persons": None,
        "columns": tuple(StoredColumn(name, word, "", "") for name, word in columns.items()),
    }  # fmt: skip
    return Terms(**(given | changed))


@st.composite
def people(draw: st.DrawFn, most: int = 3) -> pl.DataFrame:
    """At most `most` rows of each of a few persons; odd values on purpose."""
    numbers = st.one_of(st.none(), st.floats(allow_nan=False), st.floats(-10, 10))
    row = st.tuples(st.one_of(st.none(), st.integers(-(2**62), 2**62), st.integers(-10, 100)), numbers,
                    st.sampled_from(["a", "b", "c", None]))  # fmt: skip
    histories = draw(st.lists(st.lists(row, max_size=most), min_size=1, max_size=6))
    rows = [(person, *values) for person, history in enumerate(histories) for values in history]
    schema = {PERSON: pl.UInt32, "age": pl.Int64, "pay": pl.Float64, "town": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def difference(first: Selected, second: Selected, numbers: Any) -> np.ndarray:
    """How each cell's exact number differs, cells matched by key."""
    one, other = (dict(zip(map(str, chosen.keys), numbers(chosen), strict=True)) for chosen in (first, second))
    return np.array([int(one.get(key, 0)) - int(other.get(key, 0)) for key in one | other])


@pytest.mark.parametrize("asked", KINDS, ids=lambda asked: f"{asked[0]}-{asked[1].get('by')}-{asked[1].get('column')}")
@given(frame=people())
@settings(max_examples=30)
def test_one_person_changes_no_more_than_declared(asked: tuple[str, dict[str, Any]], frame: pl.DataFrame) -> None:
    kind, how = asked
    where = None if kind == "bounds" else "age > 3 or pay < 2 or town is null"
    query = make_query(terms(), kind, how.get("column"), epsilon=1, where=where,
                       **{name: value for name, value in how.items() if name != "column"})  # fmt: skip
    whole = select(frame, query)
    for person in frame[PERSON].unique():
        check_neighbours(plan(query, terms()), whole, select(frame.filter(pl.col(PERSON) != person), query))


def check_neighbours(made: QueryPlan, whole: Selected, without: Selected) -> None:
    """Two tables that differ in one person of at most three rows."""
    if made.choices:
        candidates = np.array(made.query.candidates)
        pairs = zip(whole.scores(candidates, made.ratios), without.scores(candidates, made.ratios), strict=True)
        for with_scores, without_scores in pairs:
            for (p, d), one, other in zip(made.ratios, with_scores, without_scores, strict=True):
                assert np.abs(one - other).max() <= 3 * max(p, d - p)
        return
    persons = made.query.kind == "persons"
    moved = np.abs(difference(whole, without, Selected.persons if persons else Selected.counts))
    if made.keys is not None:
        assert (moved > 0).sum() <= 3
        assert moved.max(initial=0) <= (1 if persons else 3)
    if made.counts is not None:
        assert moved.sum() <= made.counts.sensitivity
    if made.sums is not None:
        steps = made.sums.steps
        moved = np.abs(difference(whole, without, lambda chosen: chosen.sums(steps)))
        assert moved.sum() <= made.sums.noise.sensitivity == 3 * steps.reach
        if made.squares is not None:
            squares = made.squares.squares
            moved = np.abs(difference(whole, without, lambda chosen: chosen.sums_of_squares(steps, squares)))
            assert moved.sum() <= made.squares.noise.sensitivity == 3 * squares.reach


@given(
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=20),
    st.decimals("-1e20", "1e20", places=3),
    st.decimals("0.001", "1e20", places=3),
)
def test_steps_are_near_the_clamped_value_and_never_beyond(values: list[float], low: Decimal, width: Decimal) -> None:
    high = low + width
    for make in (ValueSteps.from_zero, ValueSteps.around):
        steps = make(low, high, False)
        found = steps.of(pl.Series(values))
        assert found.dtype == pl.Int64
        assert int(found.abs().max()) <= steps.reach <= 2**BITS  # type: ignore[arg-type]
        near = np.array(found) * steps.size + steps.offset
        clamped = np.clip(np.array(values), float(low), float(high))
        assert np.abs(near - clamped).max() <= steps.size + 4 * abs(float(low)) * 2**-52 + 4 * abs(float(high)) * 2**-52


def test_whole_numbers_are_exact() -> None:
    steps = ValueSteps.from_zero(Decimal(0), Decimal(500_000), whole=True)
    assert (steps.size, steps.reach) == (1, 500_000)
    assert steps.of(pl.Series([-1, 7, 2**40], dtype=pl.Int64)).to_list() == [0, 7, 500_000]
    assert ValueSteps.around(Decimal(1), Decimal(4), whole=True).of(pl.Series([0, 1, 4], dtype=pl.Int8)).to_list() == [
        -1,
        -1,
        2,
    ]
    # too wide for exact sums of 2^31 rows: rounded to steps of more than one
    assert ValueSteps.from_zero(Decimal(0), Decimal(10**12), whole=True).size > 1
    squares = Squares.of_steps(ValueSteps.around(Decimal(0), Decimal(100), whole=True))
    assert squares.of(pl.Series([-50, 0, 50])).to_list() == [1250, -1250, 1250]
    assert (squares.shift, squares.reach) == (0, 1250)
    assert Squares.of_steps(ValueSteps(1.0, 0.0, 0, 2**BITS, True)).reach <= 2**BITS


def test_sums_of_the_largest_values_do_not_overflow() -> None:
    query = make_query(terms(), "sum", "pay", bounds="0,1e25", epsilon=1)
    frame = pl.DataFrame({"pay": np.full(100_000, 1e300)})
    made = plan(query, terms())
    assert made.sums is not None
    total = select(frame, query).sums(made.sums.steps)[0] * made.sums.steps.size
    assert total == pytest.approx(1e30, rel=1e-8)
    assert 2**31 * made.sums.steps.reach < 2**63


@given(
    st.lists(st.one_of(st.none(), st.floats(-5, 15)), max_size=30), st.sampled_from(["0.5", "0.05", "0.9", "0", "1"])
)
def test_scores_by_counting(values: list[float | None], q: str) -> None:
    query = make_query(terms(), "quantile", "pay", bounds="0,10", q=q, step="2.5", epsilon=1)
    chosen = select(pl.DataFrame({"pay": pl.Series(values, dtype=pl.Float64)}), query)
    share = Fraction(q)
    p, d = share.as_integer_ratio()
    [[scores]] = chosen.scores(np.array(query.candidates), [(p, d)])
    clamped = [min(max(value, 0), 10) for value in values if value is not None]
    for candidate, score in zip(query.candidates, scores, strict=True):
        below = sum(value < candidate for value in clamped)
        above = sum(value > candidate for value in clamped)
        assert score == abs((d - p) * below - p * above)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 4))
def test_the_cap_keeps_as_many_rows_as_it_may(persons: list[int], most: int) -> None:
    kept = kept_rows(read({"who": persons})["who"], most)
    for person in set(persons):
        rows = [keep for who, keep in zip(persons, kept, strict=True) if who == person]
        assert sum(rows) == min(len(rows), most)


def test_every_row_of_a_person_is_equally_likely_to_be_kept() -> None:
    table = read({"who": [1] * 4 + [2] * 2})
    draws = np.sum([kept_rows(table["who"], 1) for _ in range(4000)], axis=0)
    limit = math.sqrt(math.log(2 / 1e-9) / 2 * 4000)
    assert np.abs(draws[:4] - 1000).max() < limit
    assert np.abs(draws[4:] - 2000).max() < limit


def test_odd_types_become_plain_ones() -> None:
    from datetime import UTC, datetime

    frame = pl.DataFrame(
        {
            "category": pl.Series(["a", "b"], dtype=pl.Categorical),
            "large": pl.Series([2**63, 1], dtype=pl.UInt64),
            "money": pl.Series([Decimal("1.25"), Decimal("2.5")]),
            "nan": [math.nan, math.inf],
            "at": pl.Series([datetime(2020, 1, 1, tzinfo=UTC)] * 2, dtype=pl.Datetime("ms", "UTC")),
            "none": pl.Series([None, None], dtype=pl.Null),
        }
    )
    found = {name: typed_series(column, propose(column)) for name, column in read(frame).columns.items()}
    assert [series.dtype for series in found.values()] == [
        pl.String, pl.Float64, pl.Float64, pl.Float64, pl.Datetime("us"), pl.String
    ]  # fmt: skip
    assert found["nan"].to_list() == [None, math.inf]


def test_figures_of_opendp_for_the_same_query() -> None:
    """OpenDP's own transformations have the sensitivities that we argue for, and its quantile the same scores."""
    from opendp import domains, metrics, mod, transformations

    mod.enable_features("contrib")
    numbers = domains.vector_domain(domains.atom_domain(T="i32")), metrics.symmetric_distance()
    bounded = domains.vector_domain(domains.atom_domain(T="i32", bounds=(-5, 90))), metrics.symmetric_distance()
    count = transformations.make_count(*numbers, TO="i32")
    total: Any = transformations.make_sum(*bounded)
    rows = 3
    made = plan(make_query(terms(rows), "count", epsilon=1), terms(rows))
    assert made.counts is not None
    assert count.map(rows) == made.counts.sensitivity
    made = plan(make_query(terms(rows), "sum", "age", bounds="-5,90", epsilon=1), terms(rows))
    assert made.sums is not None
    assert total.map(rows) == made.sums.noise.sensitivity
    ages = [3, 50, 50, 80, -2]
    chosen = select(pl.DataFrame({"age": ages}), made.query)
    assert total(ages) == chosen.sums(made.sums.steps)[0] == 181
    scores: Any = transformations.make_quantile_score_candidates(*numbers, candidates=[0, 25, 50, 75], alpha=0.25)
    query = make_query(terms(rows), "quantile", "age", q="0.25", bounds="0,75", step=25, epsilon=1)
    [[ours]] = select(pl.DataFrame({"age": ages}), query).scores(np.array(query.candidates), [(1, 4)])
    theirs = np.array(scores(ages), float)
    # theirs are integers of another unit, and values are not clamped: below the lowest candidate stays below
    unit = theirs[2] / ours[2]
    assert (theirs[1:3] == unit * ours[1:3]).all()
    assert scores.map(1) == pytest.approx(unit * 3)
