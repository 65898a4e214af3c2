"""Detection against looking at every set of columns."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import shoal
from shoal.detection.counted_sets import uniques_of_all_sets
from shoal.errors import InputError
from shoal.storage.classes import CountTable
from shoal.storage.reading import read

tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 3))] * width), min_size=2, max_size=14)
)


def frame_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={f"c{index}": pl.Int64 for index in range(len(rows[0]))}, orient="row")


def project(rows: list[tuple[Any, ...]], columns: tuple[int, ...]) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in rows]


def all_sets(rows: list[tuple[Any, ...]]) -> dict[tuple[int, ...], list[int]]:
    width = len(rows[0])
    return {
        columns: brute.class_sizes(project(rows, columns))
        for size in range(1, width + 1)
        for columns in combinations(range(width), size)
    }


@given(tables)
def test_every_set_is_counted_right(rows: list[tuple[Any, ...]]) -> None:
    table = read(frame_of(rows))
    found = uniques_of_all_sets(CountTable.of(table.columns))
    for columns, sizes in all_sets(rows).items():
        assert found[sum(1 << column for column in columns)] == sizes.count(1)


@settings(max_examples=150)
@given(tables)
def test_best_set_identifiers_and_frontier_are_those_of_brute_force(rows: list[tuple[Any, ...]]) -> None:
    sets = all_sets(rows)
    identifiers = [columns for columns, sizes in sets.items() if len(sizes) == len(rows)]
    minimal = [c for c in identifiers if not any(set(other) < set(c) for other in identifiers)]
    found = shoal.detect(frame_of(rows))
    named = [tuple(f"c{column}" for column in columns) for columns in minimal]
    assert sorted(map(tuple, found.identifiers)) == sorted(named)
    assert found.exact
    allowed = {columns: sizes for columns, sizes in sets.items() if columns not in identifiers}
    if not allowed:
        assert found.best is None
        return
    best = min(allowed, key=lambda columns: (-allowed[columns].count(1), len(columns), columns))
    assert found.best is not None
    assert found.best.columns == [f"c{column}" for column in best]
    sizes = allowed[best]
    total = len(rows)
    assert (found.best.uniques, found.best.classes) == (sizes.count(1), len(sizes))
    assert found.best.distinct_ratio == pytest.approx(len(sizes) / total)
    alike = sum(size * (size - 1) for size in sizes)
    assert found.best.separation == pytest.approx(1 - alike / (total * (total - 1)))
    by_size = {len(columns): 0 for columns in allowed}
    for columns, sizes in allowed.items():
        by_size[len(columns)] = max(by_size[len(columns)], sizes.count(1))
    assert {len(entry.columns): entry.uniques for entry in found.by_size} == by_size
    assert found.bound.uniques == found.best.uniques


@given(tables)
def test_contributions_are_shapley_values(rows: list[tuple[Any, ...]]) -> None:
    """By definition: what a column adds, averaged over all orders."""
    from itertools import permutations

    sets = {columns: sizes.count(1) for columns, sizes in all_sets(rows).items()} | {(): int(len(rows) == 1)}
    found = shoal.detect(frame_of(rows))
    width = [int(name[1:]) for name in found.contributions]
    orders = list(permutations(width))
    added = dict.fromkeys(width, 0.0)
    for order in orders:
        for place, column in enumerate(order):
            before, after = tuple(sorted(order[:place])), tuple(sorted(order[: place + 1]))
            added[column] += (sets[after] - sets[before]) / len(orders)
    total = sum(added.values())
    for column in width:
        assert found.contributions[f"c{column}"] == pytest.approx(added[column] / total if total else 0)


@given(tables)
def test_determined_columns(rows: list[tuple[Any, ...]]) -> None:
    sets = all_sets(rows)
    found = shoal.detect(frame_of(rows)).determined_by
    width = len(rows[0])
    for a in range(width):
        for b in range(width):
            if a == b:
                continue
            determines = len(sets[tuple(sorted((a, b)))]) == len(sets[(a,)]) < 0.99 * len(rows)
            assert (f"c{a}" in found.get(f"c{b}", [])) == determines


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=10))
def test_a_table_of_counts_is_the_table_of_its_records(rows: list[tuple[int, int, int]]) -> None:
    counted = pl.DataFrame(rows, schema=["a", "b", "n"], orient="row")
    repeated = pl.DataFrame([row[:2] for row in rows for _ in range(row[2])], schema=["a", "b"], orient="row")
    one, two = shoal.detect(counted, count="n").to_dict(), shoal.detect(repeated).to_dict()
    assert one == two


def test_near_identifiers_are_named_apart() -> None:
    ids = [*range(1, 1000), 999]
    frame = pl.DataFrame({"near": ids, "other": [0, 1] * 500, "key": range(1000)})
    found = shoal.detect(frame)
    assert found.identifiers == [["key"], ["near", "other"]]
    assert found.near_identifiers == [["near"]]


def test_a_bounded_search_says_so_and_stays_within_its_bound() -> None:
    frame = shoal.sample_data("licences", 3000)
    exact, bounded = shoal.detect(frame), shoal.detect(frame, max_size=2)
    assert exact.exact
    assert exact.best is not None
    assert bounded.best is not None
    assert bounded.proven_size == 2
    assert bounded.bound.uniques >= exact.best.uniques
    assert [entry.uniques for entry in bounded.by_size] == [entry.uniques for entry in exact.by_size[:2]]


def test_out_of_time_there_is_still_an_answer_with_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = shoal.sample_data("licences", 3000)
    exact = shoal.detect(frame)
    from shoal.detection import search

    def out_of_time(self: Any, size: int) -> None:
        raise search.OutOfTime

    monkeypatch.setattr(search.ColumnSetSearch, "_exact", out_of_time)
    hasty = shoal.detect(frame)
    assert exact.best is not None
    assert hasty.best is not None
    assert hasty.proven_size == 1
    assert hasty.best.uniques <= exact.best.uniques <= hasty.bound.uniques
    assert len(hasty.by_size) >= 3


def test_essential_columns_prove_the_best_set_without_a_search() -> None:
    """Of 20 columns only two matter: without either, uniques are lost; together they reach all."""
    columns = {f"x{index}": [0] * 60 for index in range(18)}
    frame = pl.DataFrame({"a": [row // 6 for row in range(60)], "b": [row % 6 for row in range(59)] + [4], **columns})
    found = shoal.detect(frame, max_size=2)
    assert found.best is not None
    assert (found.best.columns, found.best.uniques, found.exact) == (["a", "b"], 58, True)
    alone = shoal.detect(frame, max_size=1)
    assert alone.best is not None
    assert len(alone.best.columns) == 1


def test_a_sample_bounds_the_table() -> None:
    frame = shoal.sample_data("discharges", 20_000).drop("charge")
    exact, sampled = shoal.detect(frame), shoal.detect(frame, sample=2000)
    assert exact.best is not None
    assert sampled.best is not None
    assert (sampled.sample, sampled.exact) == (2000, False)
    assert sampled.records == 20_000
    assert sampled.bound.uniques >= exact.best.uniques
    # the figures of a set are those of the whole table
    again = shoal.risk(frame, quasi_identifiers=sampled.best.columns)
    assert (sampled.best.uniques, sampled.best.classes) == (again.uniques, again.classes)


def test_what_is_distinct_in_a_sample_is_no_identifier_of_the_table() -> None:
    rng = np.random.default_rng(0)
    code = np.concatenate([np.arange(9500), np.arange(500)])
    rng.shuffle(code)
    frame = pl.DataFrame({"ticket": code, "sex": rng.integers(0, 2, 10_000), "ward": rng.integers(0, 5, 10_000)})
    exact = shoal.detect(frame)
    assert exact.best is not None
    for seed in range(10):
        found = shoal.detect(frame, sample=100, seed=seed)
        assert found.identifiers == []
        assert found.best is not None
        assert "ticket" in found.best.columns
        assert found.bound.uniques >= exact.best.uniques
    keyed = frame.with_columns(pl.int_range(pl.len()).alias("key"))
    assert shoal.detect(keyed, sample=100).identifiers[0] == ["key"]


def test_any_time_limit_gives_an_answer_with_a_bound() -> None:
    rng = np.random.default_rng(1)
    cards = [2, 100, 1000, 5]
    frame = pl.DataFrame({f"v{index}": rng.integers(0, cards[index % 4], 20_000) for index in range(40)})
    found = shoal.detect(frame, time_limit=0.001)
    assert found.best is not None
    found = shoal.detect(frame, time_limit=2)
    assert found.bound.uniques >= (found.best.uniques if found.best else 0)


def test_one_record_is_told_from_nobody() -> None:
    found = shoal.detect(pl.DataFrame({"a": [1], "b": ["x"]}))
    assert (found.identifiers, found.best, found.bound.uniques) == ([["a"], ["b"]], None, 0)


def test_no_more_sets_are_examined_than_there_are() -> None:
    frame = shoal.sample_data("licences", 500).select("anno_nascita", "comune_residenza", "sesso")
    assert shoal.detect(frame).sets_examined <= 7


def test_a_policy_says_which_columns_are_searched() -> None:
    from shoal.policy import Policy

    frame = pl.DataFrame({"id": range(8), "a": [1, 2] * 4, "b": [1] * 4 + [2] * 4, "c": [0] * 8})
    named = Policy(columns={"a": "quasi-identifier", "b": "quasi-identifier", "id": "identifier"})
    assert shoal.detect(frame, policy=named).columns == ["a", "b"]
    assert shoal.detect(frame, policy=Policy(columns={"id": "identifier"})).columns == ["a", "b", "c"]
    with pytest.raises(InputError, match="not by persons"):
        shoal.detect(frame, policy=Policy(person="id"))


def test_drawn_contributions_are_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.detection import counted_sets

    frame = shoal.sample_data("licences", 3000).drop(
        "data_rilascio", "data_rinnovo", "data_scadenza", "data_abilitazione"
    )
    exact = shoal.detect(frame)
    monkeypatch.setattr(counted_sets, "MOST_CELLS", 0)
    drawn = shoal.detect(frame)
    assert (exact.contributions_exact, drawn.contributions_exact) == (True, False)
    assert sum(drawn.contributions.values()) == pytest.approx(1)
    for name, share in exact.contributions.items():
        assert drawn.contributions[name] == pytest.approx(share, abs=5 * drawn.contributions_error + 1e-9)


def test_wide_tables_end() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"c{index}": rng.integers(0, 5, 500) for index in range(60)})
    found = shoal.detect(frame, time_limit=1)
    assert found.best is not None
    assert found.bound.uniques >= found.best.uniques


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"null_rule": "wildcard"}, "does not apply"),
        ({"max_size": 0}, "at least one column"),
        ({"time_limit": 0}, "above zero"),
        ({"time_limit": float("nan")}, "above zero"),
        ({"max_size": "2"}, "whole number"),
        ({"seed": -1}, "zero or more"),
        ({"sample": 1}, "tells nothing"),
        ({"columns": ["zz"]}, "no column 'zz'"),
        ({"count": "zz"}, "no column 'zz'"),
        ({"columns": []}, "no column to search"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        shoal.detect(pl.DataFrame({"a": [1, 2]}), **arguments)


def test_golden_valle_d_aosta(data: Path) -> None:
    counts = data / "italy" / "valle_aosta_qid_counts.parquet"
    found = shoal.detect(counts, count="n", null_rule="drop")
    assert (found.records, found.removed_rows, found.exact) == (87_464, 178, True)
    assert found.best is not None
    assert found.best.columns == ["anno_nascita", "comune_residenza", "sesso"]
    assert (found.best.uniques, found.best.classes) == (1684, 9174)
    assert round(found.best.separation, 10) == 0.9993438966
    assert "comune_residenza" in found.determined_by["provincia_residenza"]
    known = json.loads((data / "golden" / "pastore_valle_aosta.json").read_text())
    assert known


def test_adult_has_no_identifier(data: Path) -> None:
    found = shoal.detect(data / "adult" / "adult.csv")
    assert found.identifiers == []
    assert found.best is not None
    assert (len(found.best.columns), found.best.uniques, found.best.classes) == (9, 15_512, 19_502)


@given(tables)
@settings(max_examples=40)
def test_desbordante_finds_the_same_identifiers(rows: list[tuple[Any, ...]]) -> None:
    """An independent program (HyUCC); it holds null equal to null, as the rule `value` does."""
    import desbordante

    frame = frame_of(rows)
    algorithm = desbordante.ucc.algorithms.HyUCC()
    algorithm.load_data(table=frame.cast(pl.String).fill_null("-").to_pandas())
    algorithm.execute()
    theirs = sorted(tuple(f"c{index}" for index in sorted(found.indices)) for found in algorithm.get_uccs())
    assert sorted(map(tuple, shoal.detect(frame).identifiers)) == theirs
