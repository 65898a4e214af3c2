"""Changing rows on a cluster: decided on counts, cut by exact row numbers, put back by joins."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engine import engine_of
from shoal.engine.base import OrderParts
from shoal.methods import coarsen, mondrian, sorted_clusters
from shoal.methods.partition import in_parts
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


@pytest.fixture
def parted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables too are changed where they are, in several parts."""
    for module in (coarsen, mondrian, sorted_clusters):
        monkeypatch.setattr(module, "IN_PARTS", 0)
    monkeypatch.setattr(in_parts, "PART", 300)


@pytest.mark.usefixtures("parted")
def test_ranges_of_distance_give_the_clusters_of_all_records(mirrored: Any) -> None:
    """Exact ranks, across the ends of parts and among records that are equally far from zero."""
    ours, theirs = (shoal.anonymize(source, policy(), method="sorted-clusters") for source in (mirrored, tied(400)))
    assert ours.table.elsewhere is not None
    assert local(ours.frame).sort("row").equals(theirs.frame.sort("row"))
    same_findings(ours.findings, theirs.findings)


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("cut_over", ["range", pytest.param("labels", marks=pytest.mark.slow)])
def test_intervals_are_the_same_in_every_part(mirrored: Any, cut_over: str) -> None:
    """Of a column's values in the whole table; nothing of a row is brought."""
    ours, theirs = (
        shoal.anonymize(source, policy(), method="coarsen", resolution=2, cut_over=cut_over, k=None)
        for source in (mirrored, tied(400))
    )
    assert ours.table.elsewhere is not None
    assert local(ours.frame).sort("row").equals(theirs.frame.sort("row"))
    same_findings(ours.findings, theirs.findings)
    assert (ours.verdict, ours.parameters) == (theirs.verdict, theirs.parameters)


@pytest.mark.slow
@pytest.mark.usefixtures("spark", "parted")
def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    """Spark keeps what parts became: not for other rows with the same counts under the same name."""
    path, rows = tmp_path / "people.parquet", tied(200)
    for frame in (rows, rows.with_columns(row=pl.col("row") + 1_000)):
        frame.write_parquet(path)
        found = shoal.anonymize(path, policy(), method="mondrian", options=Options(engine="spark")).frame
        assert local(found)["row"].sort().equals(frame["row"].sort())


def same_findings(found: Any, wanted: Any) -> None:
    """The figures that are added up over parts are those of the whole."""
    exact = ("records", "k", "classes", "uniques", "modified_rows", "suppressed_rows", "suppressed_cells")
    assert [getattr(found, name) for name in exact] == [getattr(wanted, name) for name in exact]
    for name in ("information_loss", "loss"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9)
    assert found.information_loss_by_column == pytest.approx(wanted.information_loss_by_column, rel=1e-9)
    for name in ("means", "spreads"):
        assert getattr(found.change, name) == pytest.approx(getattr(wanted.change, name), rel=1e-6, abs=1e-9)
    assert [entry.sentence for entry in found.cost] == [entry.sentence for entry in wanted.cost]


@pytest.mark.usefixtures("parted")
def test_a_distance_that_too_many_share_is_cut_by_the_count_table(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = tied(400).with_columns(a=pl.lit(1, pl.Int64), b=pl.when(pl.col("row") < 700).then(1).otherwise(pl.col("b")))
    ours = shoal.anonymize(on_spark(spark, frame), policy(), method="sorted-clusters")
    assert ours.table.elsewhere is None
    assert local(ours.frame).sort("row").equals(shoal.anonymize(frame, policy(), method="sorted-clusters").frame)


def mixed(rows: int) -> pl.DataFrame:
    """Numbers, dates, categories, missing values, one value in nine of ten rows, and a column that never varies."""
    draw = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "age": draw.integers(0, 90, rows),
            "height": draw.normal(170, 10, rows).round(1),
            "job": draw.choice([*"abcdefgh"], rows),
            "land": draw.choice(["FR", "IT", "DE", "ES"], rows),
            "seen": pl.Series(draw.integers(0, 400, rows)).cast(pl.Int32).cast(pl.Date),
            "pay": [None if one < 0.1 else int(one * 100) for one in draw.random(rows)],
            "skew": np.where(draw.random(rows) < 0.9, 0, draw.integers(0, 50, rows)),
            "same": np.full(rows, 7),
            "row": np.arange(rows),
        }
    )


@pytest.mark.usefixtures("parted")
def test_parts_are_grouped_where_they_are(spark: Any, tmp_path: Path) -> None:
    """Every group has k records and holds them; what was lost is that of one machine, or hardly more."""
    frame = mixed(1_500)
    frame.write_parquet(tmp_path / "people.parquet")
    names = [name for name in frame.columns if name != "row"]
    asked = {
        "columns": {**dict.fromkeys(names, "quasi-identifier"), "row": "other"},
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    ours = shoal.anonymize(tmp_path / "people.parquet", asked, method="mondrian", options=Options(engine="spark"))
    theirs = shoal.anonymize(frame, asked, method="mondrian")
    assert ours.table.elsewhere is not None
    released = local(ours.frame).sort("row")
    assert released["row"].equals(frame["row"])
    assert released.schema["same"] == pl.Int64  # no cell of it was changed
    sizes = released.group_by(names).len()["len"]
    assert (ours.findings.k, ours.findings.classes) == (sizes.min(), len(sizes))
    assert ours.findings.k >= 5
    assert ours.findings.loss <= 1.05 * theirs.findings.loss
    for name in ("age", "seen"):
        ends = released[name].str.strip_chars("[]").str.split(";")
        low, high = ends.list.first(), ends.list.last()
        if name == "age":
            low, high = low.cast(pl.Int64), high.cast(pl.Int64)
        else:
            low, high = low.str.to_date(), high.str.to_date()
        assert (low <= frame[name]).all()
        assert (frame[name] <= high).all()
    release(ours, tmp_path / "safe.parquet", shuffle=True)
    assert shoal.verify(tmp_path / "safe.parquet", original=tmp_path / "people.parquet").verdict == "holds"
    on_cluster = shoal.verify(
        tmp_path / "safe.parquet", original=tmp_path / "people.parquet", options=Options(engine="spark")
    )
    assert on_cluster.verdict == "holds", on_cluster.reasons()
    assert (on_cluster.k, on_cluster.classes) == (ours.findings.k, ours.findings.classes)


FORBIDDEN = ("CartesianProduct", "BroadcastNestedLoopJoin", "MapInArrow", "MapInPandas")


@pytest.mark.parametrize("method", ["sorted-clusters", pytest.param("lattice", marks=pytest.mark.slow)])
def test_only_counts_reach_the_driver(
    mirrored: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str
) -> None:
    """Deciding, putting back, writing and judging: what is collected was aggregated, nothing is paired with everything;
    Python runs to count the columns of the release and to order its rows."""
    plans: list[tuple[str, str]] = []
    kind = type(mirrored)
    whole = kind.toArrow

    def watched(one: Any) -> Any:
        execution = one._jdf.queryExecution()
        plans.append((execution.optimizedPlan().toString(), execution.executedPlan().toString()))
        return whole(one)

    monkeypatch.setattr(kind, "toArrow", watched)
    options = {"lattice": {"suppression": 0.5}}.get(method, {})
    result = shoal.anonymize(mirrored, policy(), method=method, **options)
    release(result, tmp_path / "safe.parquet")
    assert shoal.verify(tmp_path / "safe.parquet", options=Options(engine="spark")).verdict == "holds"
    for optimised, physical in plans:
        assert not any(step in physical for step in FORBIDDEN[:2]), physical
        steps = [line.lstrip(" :+-") for line in optimised.splitlines()]
        top = next(step for step in steps if "Limit" not in step)
        assert top.startswith(("Aggregate", "LocalRelation")) or "sha2" in top, optimised
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
