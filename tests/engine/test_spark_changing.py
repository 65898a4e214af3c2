"""Changing rows on a cluster: decided on counts, cut by exact row numbers, put back by joins."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engine import engine_of
from shoal.engine.base import OrderParts
from shoal.methods import mondrian, sorted_clusters
from shoal.methods.partition import in_parts
from shoal.ranges.columns import released_columns
from shoal.releases.write import release
from shoal.storage.reading import Options

pytestmark = pytest.mark.xdist_group("spark")


def tied(pairs: int) -> pl.DataFrame:
    """Every record and its mirror image, so that columns have equal spreads and different records equal distances."""
    draw = np.random.default_rng(3)
    a, b = draw.integers(0, 6, pairs), draw.integers(0, 6, pairs)
    charge = draw.integers(0, 9, 2 * pairs)
    order = draw.permutation(2 * pairs)
    frame = pl.DataFrame({"a": np.append(a, b), "b": np.append(b, a), "charge": charge})[order]
    return frame.with_columns(row=pl.int_range(2 * pairs, dtype=pl.Int64))


def on_spark(spark: Any, frame: pl.DataFrame, tasks: int = 3) -> Any:
    """The rows in their order, in several partitions."""
    steps = np.linspace(0, len(frame), tasks + 1).astype(int)
    several = [frame[low:high] for low, high in pairwise(steps)]
    found, *others = [spark.createDataFrame(part.to_arrow(compat_level=pl.CompatLevel.oldest())) for part in several]
    for other in others:
        found = found.union(other)
    return found.cache()


@pytest.fixture(scope="module")
def mirrored(spark: Any) -> Any:
    return on_spark(spark, tied(400))


def local(frame: Any) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


ROLES = {"row": "other", "charge": "sensitive", "a": "quasi-identifier", "b": "quasi-identifier"}


def policy(*models: dict[str, Any]) -> dict[str, Any]:
    return {"columns": ROLES, "models": [{"model": "k-anonymity", "k": 3}, *models]}


CLOSE = {"model": "t-closeness", "t": 0.1, "sensitive": "charge"}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="s2", marks=pytest.mark.slow),
        pytest.param({"remainder": "top"}, id="s4", marks=pytest.mark.slow),
        pytest.param({"remainder": "middle"}, id="middle"),
    ],
)
def test_each_record_is_released_as_by_the_local_engine(
    mirrored: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """Also those that are as far from zero as others: the row itself says which it is."""
    monkeypatch.setattr(sorted_clusters, "_RANKED", 0)
    asked = policy(*[CLOSE] * bool(options))
    ours, theirs = (
        shoal.anonymize(source, asked, method="sorted-clusters", **options) for source in (mirrored, tied(400))
    )
    assert ours.table.records is not None
    assert local(ours.frame).sort("row").equals(theirs.frame.sort("row"))
    found, wanted = ours.findings, theirs.findings
    assert (found.k, found.classes, found.uniques, found.modified_rows) == (
        wanted.k, wanted.classes, wanted.uniques, wanted.modified_rows,
    )  # fmt: skip
    for name in ("information_loss", "loss"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12)
    for one, other in zip(ours.models, theirs.models, strict=True):
        assert (one.name, one.holds, one.worst.keys()) == (other.name, other.holds, other.worst.keys())


@pytest.mark.parametrize(
    "parts",
    [
        OrderParts(7, 100),
        pytest.param(OrderParts(1, 800), marks=pytest.mark.slow),
        pytest.param(OrderParts(0, 3, np.array([0, 11, 500])), marks=pytest.mark.slow),
    ],
)
def test_records_are_cut_as_a_stable_sort_would(mirrored: Any, parts: OrderParts) -> None:
    frame = tied(400)
    engine = engine_of(mirrored)
    table = engine.rows(mirrored, None, needed=["a", "b"], by_tuple=0)
    rank = {pair: sum(pair) for pair in table.to_polars().rows()}
    found = engine.cut(table, np.array(list(rank.values())), parts)
    order = frame.with_columns(rank=pl.col("a") + pl.col("b")).sort("rank", maintain_order=True)
    wanted = order.select("a", "b", part=pl.Series(parts.of(np.arange(len(frame)))))
    row = np.repeat(found.row, found.records)
    position = np.repeat(found.position - (np.cumsum(found.records) - found.records), found.records) + np.arange(800)
    assert position.tolist() == list(range(800))
    ours = table.take(row).to_polars().with_columns(part=pl.Series(parts.of(position)))
    assert ours.sort("part", "a", "b").equals(wanted.sort("part", "a", "b"))


def test_groups_of_parts_are_made_on_the_cluster(mirrored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The local kernel in each part: the same groups as on the driver, whichever task makes them."""
    monkeypatch.setattr(mondrian, "_IN_PARTS", 0)
    monkeypatch.setattr(in_parts, "PART", 300)
    ours = shoal.anonymize(mirrored, policy(), method="mondrian", effort="fast")
    table, names = ours.table, ["a", "b"]
    counted = engine_of(mirrored).rows(mirrored, None, needed=list(table.columns), by_tuple=0)
    here = replace(counted, native=None)  # the local engine makes them one after the other
    parted, boxed = in_parts.partition_tuples(here, names, 3, "fast")
    released = [released_columns(column, boxed).series[0] for column in parted.select(names)]
    assert [series.to_list() for series in released] == [ours.polars[name].to_list() for name in names]
    found = local(ours.frame)
    assert found.group_by(names).len()["len"].min() >= 3
    assert sorted(found["row"]) == list(range(800))


FORBIDDEN = ("CartesianProduct", "BroadcastNestedLoopJoin", "PythonUDF", "EvalPython", "MapInArrow", "MapInPandas")


@pytest.mark.parametrize(
    "method", ["sorted-clusters", *(pytest.param(name, marks=pytest.mark.slow) for name in ("lattice", "mondrian"))]
)
def test_only_counts_reach_the_driver(
    mirrored: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str
) -> None:
    """Deciding, putting back, writing and judging: what is collected was aggregated, nothing is paired with everything,
    and no Python runs for each row; `mondrian` runs it for each part of the count table."""
    monkeypatch.setattr(mondrian, "_IN_PARTS", 0)
    plans: list[tuple[str, str]] = []
    kind = type(mirrored)
    whole = kind.toArrow

    def watched(one: Any) -> Any:
        execution = one._jdf.queryExecution()
        plans.append((execution.optimizedPlan().toString(), execution.executedPlan().toString()))
        return whole(one)

    monkeypatch.setattr(kind, "toArrow", watched)
    options = {"lattice": {"suppression": 0.5}, "mondrian": {"effort": "fast"}}.get(method, {})
    result = shoal.anonymize(mirrored, policy(), method=method, **options)
    release(result, tmp_path / "safe.parquet")
    assert shoal.verify(tmp_path / "safe.parquet", options=Options(engine="spark")).verdict == "holds"
    kernels = [plan for plan in plans if "FlatMapGroupsInArrow" in plan[1]]
    assert len(kernels) == (method == "mondrian")
    for optimised, physical in plans:
        assert not any(step in physical for step in FORBIDDEN), physical
        if (optimised, physical) in kernels:  # of the count table, which came from the driver
            assert "Scan parquet" not in physical
            continue
        steps = [line.lstrip(" :+-") for line in optimised.splitlines()]
        top = next(step for step in steps if "Limit" not in step)
        assert top.startswith("Aggregate") or "sha2" in top, optimised
    plan = result.frame._jdf.queryExecution().executedPlan().toString()
    assert not any(step in plan for step in FORBIDDEN)
    assert method != "lattice" or "Window" not in plan  # rows of one tuple are numbered only where they are parted


LARGE: dict[str, dict[str, Any]] = {
    "coarsen": {"resolution": 4},
    "lattice": {"suppression": 0.1},
    "sorted-clusters": {},
    "sorted-clusters, t": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", LARGE)
def test_200_000_records_are_released_as_by_the_local_engine(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(sorted_clusters, "_RANKED", 0)
    people = shoal.sample_data("discharges", 200_000).with_columns(row=pl.int_range(200_000, dtype=pl.Int64))
    people.write_parquet(tmp_path / "people.parquet")
    names = ["age_yrs", "sex", "los", "adm_qtr"]
    close = [{"model": "t-closeness", "t": 0.05, "sensitive": "charge"}] if method.endswith("t") else []
    asked = {
        "columns": {**dict.fromkeys(names, "quasi-identifier"), "charge": "sensitive", "row": "other"},
        "models": [{"model": "k-anonymity", "k": 5}, *close],
    }
    how: dict[str, Any] = {"method": method.partition(",")[0], **LARGE[method]}
    kept = [*names, "charge", "row"]
    ours = shoal.anonymize(spark.read.parquet(str(tmp_path / "people.parquet")).select(kept), asked, **how)
    theirs = shoal.anonymize(people.select(kept), asked, **how)
    assert ours.table.records is not None
    assert local(ours.frame).sort("row").equals(theirs.frame.sort("row"))
    assert (ours.findings.k, ours.findings.classes) == (theirs.findings.k, theirs.findings.classes)
    assert ours.findings.loss == pytest.approx(theirs.findings.loss, rel=1e-12)
