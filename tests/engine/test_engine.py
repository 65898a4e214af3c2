"""The engine: what it counts is what the rows say, and the verbs above it see nothing else."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engine import LOCAL
from shoal.policy import Policy
from shoal.policy.default_policy import DefaultPolicy

ROWS = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None])), min_size=1, max_size=30)
SOURCES = Path(shoal.__file__).parent


def frame_of(rows: list[tuple[str | None, int | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"letter": pl.String, "number": pl.Int64}, orient="row")


def told(counted: shoal.engine.Counted) -> dict[tuple[object, ...], int]:  # type: ignore[name-defined]
    values = [column.decode().to_list() for column in counted.columns.values()]
    return dict(zip(zip(*values, strict=True), counted.counts.tolist(), strict=True))


@given(ROWS)
def test_tuples_are_counted_as_python_counts_them(rows: list[tuple[str | None, int | None]]) -> None:
    assert told(LOCAL.count(frame_of(rows), ["letter", "number"])) == Counter(rows)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows: list[tuple[str | None, int | None]], random: object) -> None:
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = LOCAL.count(frame_of(rows)), LOCAL.count(frame_of(mixed))
    assert list(told(one).items()) == list(told(other).items())
    if len(rows) > 2:
        assert shoal.detect(frame_of(rows), sample=2).to_dict() == shoal.detect(frame_of(mixed), sample=2).to_dict()


@given(ROWS)
def test_a_count_column_stands_for_so_many_rows(rows: list[tuple[str | None, int | None]]) -> None:
    counts = Counter(rows)
    short = frame_of(list(counts)).with_columns(n=pl.Series(list(counts.values())))
    assert told(LOCAL.count(short, count="n")) == counts


def test_a_policy_that_is_not_written_says_what_an_empty_one_says() -> None:
    nothing, empty = DefaultPolicy(), Policy()
    survey = ("wildcard_alpha", "weight", "household", "population_size", "sampling", "risk_over")
    for name in ("knowledge", "null_rule", "count", "person", *survey, "threshold", "quasi_identifiers"):
        assert getattr(nothing, name) == getattr(empty, name), name
    assert list(nothing.models) == list(empty.models)
    table = LOCAL.count({"age": [1]})
    assert nothing.remarks(table) == empty.remarks(table)
    assert nothing.with_role("identifier") == empty.with_role("identifier")


def test_measuring_knows_no_rows() -> None:
    """`risk` and `detect` get their rows from an engine: nothing in them opens or reads a source."""
    searching = [SOURCES / "detection" / f"{name}.py" for name in ("find", "search", "counted_sets")]
    for path in [*(SOURCES / "exposure").glob("*.py"), *searching]:
        named = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal.storage.reading"):
                named |= {alias.name for alias in node.names}
        assert named <= {"Options"}, path


class Elsewhere:
    """An engine that keeps the rows where nobody else can see them."""

    name = "elsewhere"

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def count(self, source: object, *given: object, **settings: object) -> object:
        assert source == "far away"
        return LOCAL.count(self._frame, *given, **settings)  # type: ignore[arg-type]


def test_a_dummy_engine_serves_both_verbs(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    people = pl.DataFrame({"age": draw.integers(20, 30, 200), "zip": draw.integers(0, 9, 200)})
    expected = shoal.risk(people, quasi_identifiers=["age", "zip"]).to_dict(), shoal.detect(people).to_dict()
    for module in ("shoal.exposure.identity", "shoal.detection.find"):
        monkeypatch.setattr(f"{module}.engine_of", lambda *_: Elsewhere(people))
    measured = shoal.risk("far away", quasi_identifiers=["age", "zip"]).to_dict()
    assert (measured, shoal.detect("far away").to_dict()) == expected


def test_nothing_outside_the_engine_names_spark() -> None:
    """Verbs ask `engine_of`: none imports pyspark, nor a module of one engine."""
    for path in SOURCES.rglob("*.py"):
        if path.is_relative_to(SOURCES / "engine"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not any(name.startswith(("pyspark", "shoal.engine.spark", "py4j")) for name in names), path
