"""Clusters of a count table are those of its records written out; groups in parts lose hardly more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.methods import method_named, partition
from shoal.methods.partition import in_parts
from shoal.methods.sorted_clusters import close_clusters, close_tuples, sorted_clusters, sorted_tuples
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, spread
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS
from shoal.storage import Column, Table
from shoal.storage.reading import Options, read

NAMES = ["a", "b"]
tuples = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 4), st.integers(1, 9)),
    min_size=2,
    max_size=14,
    unique_by=lambda row: row[:3],
)


def counted(rows: list[tuple[int, int, int, int]]) -> Table:
    frame = pl.DataFrame(sorted(rows), schema=["a", "b", "c", "n"], orient="row")
    return read(frame.drop("n")).counting(np.arange(len(rows)), frame["n"].to_numpy())


def boxes(parted: Table, boxed: Boxed) -> list[list[float]]:
    """The ends of the box of each record, tuple by tuple."""
    box = boxed.box_of_row if parted.records is None else np.repeat(boxed.box_of_row, parted.records)
    sides = boxed.sides.values()
    return np.stack([side.scale[end[box]] for side in sides for end in (side.low, side.high)], axis=1).tolist()


@given(tuples, st.integers(2, 6))
def test_sorted_clusters(rows: list[Any], k: int) -> None:
    table = counted(rows)
    k = min(k, table.total)
    every = table.expanded()
    wanted = sorted_clusters(every.select(NAMES), k)
    parted, boxed = sorted_tuples(table, NAMES, k, {column.name: spread(column) for column in table.select(NAMES)})
    assert parted.total == table.total
    assert len(parted.records) <= 3 * table.rows  # type: ignore[arg-type]
    assert boxes(parted, boxed) == boxes(every, wanted)


@given(tuples, st.integers(2, 4), st.sampled_from([None, 0.05, 0.3]), st.sampled_from(["top", "middle"]))
def test_close_clusters(rows: list[Any], k: int, t: float | None, remainder: Any) -> None:
    table = counted(rows)
    k = min(k, table.total)
    every = table.expanded()
    wanted = close_clusters(every.select(NAMES), every["c"], k, t, remainder)
    parted, boxed = close_tuples(table, NAMES, "c", k, t, remainder)
    assert parted.total == table.total
    assert boxes(parted, boxed) == boxes(every, wanted)


METHODS: list[tuple[str, dict[str, Any]]] = [
    ("coarsen", {"resolution": 2, "cut_over": "labels"}),
    ("coarsen", {"resolution": 3, "cut_over": "labels", "interval": "mean"}),
    ("lattice", {"suppression": 0.6}),
    ("lattice", {"suppression": 0.9, "local": True}),
    ("sorted-clusters", {}),
]


@settings(max_examples=40, deadline=None)
@given(tuples, st.sampled_from(METHODS))
def test_what_is_found_of_a_count_table_is_what_is_found_of_its_records(rows: list[Any], how: Any) -> None:
    """Every figure: classes, losses, verdicts, what the change cost in words, what is disclosed."""
    table = counted(rows)
    models: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 2}]
    if how[0] != "sorted-clusters":
        models.append({"model": "t-closeness", "t": 0.9, "sensitive": "c"})
    roles = {"a": "quasi-identifier", "b": "quasi-identifier", "c": "sensitive"}
    policy = Policy.model_validate({"columns": roles, "models": models})
    method = method_named(how[0], how[1])
    assert method is not None
    one, other = (_findings(method, source, policy) for source in (table, table.expanded()))
    for found in (one, other):
        (found.get("closeness") or {}).pop("ranks", None)
    assert one == other


def _findings(method: Any, table: Table, policy: Policy) -> dict[str, Any]:
    from shoal.errors import InputError
    from shoal.policy.conditions import parse_condition

    try:
        result = method.run(table, policy, [parse_condition("c > 2")]).looked_at()
    except InputError as error:
        return {"refused": str(error)}
    told = result.to_dict()
    (told.get("search") or {}).pop("seconds", None)
    return _rounded(told)  # type: ignore[no-any-return]


def _rounded(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _rounded(entry) for name, entry in told.items()}
    if isinstance(told, list):
        return [_rounded(entry) for entry in told]
    return round(told, 9) if isinstance(told, float) else told


def tally_of(columns: list[Column]) -> in_parts.Tally:
    def tally(cells_of: Any) -> tuple[Any, Any]:
        cells, counts = np.unique(cells_of(columns), return_counts=True)
        return cells, counts

    return tally


@settings(max_examples=30, deadline=None)
@given(tuples, st.integers(2, 4), st.integers(8, 30))
def test_parts_of_a_table_that_nobody_holds_have_k_records(rows: list[Any], k: int, most: int) -> None:
    """Every row is in one part, every part has k records, and only rows that are nearly all equal are dealt out."""
    columns = [column.take(slice(None)) for column in counted(rows).expanded().select(["a", "b", "c"])]
    tables = [np.arange(column.cardinality, dtype=float) for column in columns]
    records = [column.frequencies() for column in columns]
    total = len(columns[0].codes)
    parts, count = in_parts.cut_into_parts(tables, records, tally_of(columns), min(k, total), most)
    found = parts(columns)
    sizes = np.bincount(found, minlength=count)
    assert sizes.sum() == total
    assert sizes[sizes > 0].min() >= min(k, total)
    assert sizes.max() <= 2 * most


def test_parts_on_disk_lose_hardly_more_than_groups_of_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    people = shoal.sample_data("discharges", 20_000)
    monkeypatch.setattr(in_parts, "PART", 4_000)
    monkeypatch.setattr(partition, "_FEW", 0)  # parts are searched as all are, not as thoroughly as small tables
    asked = {
        "columns": dict.fromkeys(QUASI_IDENTIFIERS, "quasi-identifier"),
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    people = people.select(QUASI_IDENTIFIERS)
    people.write_parquet(tmp_path / "people.parquet")
    found, wanted = (
        shoal.anonymize(tmp_path / "people.parquet", asked, method="mondrian", options=Options(memory=memory)).findings
        for memory in ("1MB", "1GB")
    )
    assert found.records == wanted.records
    assert found.k >= 5
    assert found.information_loss == pytest.approx(wanted.information_loss, rel=0.05)
    assert found.loss == pytest.approx(wanted.loss, rel=0.05)


@given(tuples, st.integers(2, 4), st.integers(4, 30))
def test_upper_cuts_leave_enough_on_either_side(rows: list[Any], least: int, most: int) -> None:
    table = counted(rows)
    points = np.stack([table[name].codes for name in NAMES], axis=1).astype(float)
    parts = in_parts.upper_cuts(points, table.records, most, least)  # type: ignore[arg-type]
    sizes = np.bincount(parts, table.records)
    assert len(sizes) == 1 or sizes.min() >= least
    for part in np.flatnonzero(sizes > most):  # only what no cut could part
        inside = points[parts == part]
        for column in inside.T:
            below = [table.records[parts == part][column <= value].sum() for value in np.unique(column)[:-1]]  # type: ignore[index]
            assert not any(least <= left <= sizes[part] - least for left in below)
