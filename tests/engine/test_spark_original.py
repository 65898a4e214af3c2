"""A release beside its original on a cluster: the same verdicts as on one machine, whichever engine wrote it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engine import LOCAL, engine_of
from shoal.engine.base import PairsAsked, RowMap
from shoal.releases.jobs import release_pseudonymized
from shoal.releases.results import NEEDS_PRIVATE
from shoal.releases.write import release
from shoal.storage.order import shuffled_order
from shoal.storage.reading import Options

pytestmark = pytest.mark.xdist_group("spark")

ON_SPARK = Options(engine="spark")
ROWS = 300
POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive", "who": "identifier",
                "row": "other", "paid": "other"},
    "models": [{"model": "k-anonymity", "k": 3}],
}  # fmt: skip


def people() -> pl.DataFrame:
    draw = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, ROWS),
            "town": draw.choice(["Bari", "Lecce", "Rome", None], ROWS).tolist(),
            "ill": draw.choice(["a", "b", "c"], ROWS),
            "who": [f"P{number:04d}" for number in range(ROWS)],
            "row": np.arange(ROWS),
            "paid": draw.choice([1.5, 2.25, None], ROWS).tolist(),
        }
    )


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in two files, of which the second is the larger one: Spark would read it first."""
    folder = tmp_path_factory.mktemp("original") / "two words"
    folder.mkdir()
    people()[:100].write_parquet(folder / "a.parquet")
    people()[100:].write_parquet(folder / "b.parquet")
    return folder


def both(target: Path, original: Path) -> Any:
    """What the engines say of a release beside its original, which is the same."""
    found, wanted = (shoal.verify(target, original=original, options=options) for options in (ON_SPARK, None))
    assert found.to_dict() == wanted.to_dict()
    return found


def test_a_release_of_spark_leads_back_to_its_rows(spark: Any, original: Path, tmp_path: Path) -> None:
    result = shoal.anonymize(original, POLICY, method="mondrian", options=ON_SPARK)
    target = tmp_path / "safe.parquet"
    release(result, target, seed=11)
    private = tmp_path / "safe.private.json"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    released = pl.concat([pl.read_parquet(file) for file in sorted(target.glob("*.parquet"))])
    assert released["row"].to_list() == shuffled_order(ROWS, 11).tolist()
    held = both(target, original)
    assert held.holds
    assert {"column age", "column paid", "column who"} <= {check.name for check in held.checks}
    part = sorted(target.glob("part-*.parquet"))[0]
    whole = pl.read_parquet(part)
    part.with_name(f".{part.name}.crc").unlink(missing_ok=True)
    whole.with_columns(age=pl.col("age").shift(7).fill_null(pl.col("age")), ill=pl.col("ill").reverse()).write_parquet(
        part
    )
    failed = {check.name for check in both(target, original).checks if not check.holds}
    assert {"data hash", "column age", "column ill"} <= failed
    assert not {"column row", "column paid", "column town"} & failed
    private.unlink()
    said = {check.name: check.detail for check in both(target, original).checks}
    assert said["rows"] == NEEDS_PRIVATE


def test_a_pseudonymised_release_of_spark_is_verified(spark: Any, original: Path, tmp_path: Path) -> None:
    """Its manifest has all columns, of which one alone was brought to the driver."""
    target = tmp_path / "pseudonyms.parquet"
    release_pseudonymized(original, output=target, column="who", key=bytes(range(32)), options=ON_SPARK)
    listed = json.loads((tmp_path / "pseudonyms.manifest.json").read_text())["columns"]
    local = shoal.pseudonymize(original, column="who", key=bytes(range(32)))
    assert [entry["name"] for entry in listed] == people().columns
    assert [entry["form"]["type"] for entry in listed] == [entry.form.type for entry in local.manifest_columns()]
    found = shoal.verify(target, original=original)
    assert found.holds
    assert {f"column {name}" for name in people().columns} <= {check.name for check in found.checks}
    part = sorted(target.glob("part-*.parquet"))[0]
    pl.read_parquet(part).drop("paid").write_parquet(part)
    assert "columns" in {check.name for check in shoal.verify(target).checks if not check.holds}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["microaggregate", "lattice"])
def test_a_release_of_one_machine_is_compared_on_spark(spark: Any, original: Path, tmp_path: Path, method: str) -> None:
    """Rows in a secret order, some of them removed; means, and labels of a tree."""
    target = tmp_path / "safe.parquet"
    models = [*POLICY["models"], *[{"model": "l-diversity", "l": 2, "sensitive": "ill"}] * (method == "lattice")]
    settings: dict[str, Any] = {"suppression": 0.5} if method == "lattice" else {}
    result = shoal.anonymize(original, {**POLICY, "models": models}, method=method, **settings)
    release(result, target, shuffle=True)
    assert both(target, original).holds
    changed = pl.read_parquet(target).with_columns(age=pl.col("age").reverse())
    changed.write_parquet(target)
    assert not both(target, original).holds


def test_rows_are_left_out_and_found_again(spark: Any, original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of(original, ON_SPARK)
    table, here = engine.rows(original, None, ON_SPARK, needed=[]), LOCAL.rows(original)
    removed = [0, 1, 63, 64, 65, 127, 299]
    kept = np.delete(np.arange(ROWS), removed)
    asked, row_map = [PairsAsked(["row"], ["row"]), PairsAsked(["age"], ["town"])], RowMap(3, removed)
    there = here.take(kept[shuffled_order(len(kept), 3)])
    assert next(LOCAL.pairs(there, here, row_map, asked, [])).shown["row"].nulls == 0
    for one in LOCAL.pairs(there, here, row_map, asked[:1], []):
        assert (one.shown["row"].decode() == one.was["row"].decode()).all()
    from shoal.engine.spark.frames import open_source
    from shoal.engine.spark.order import NUMBER, in_secret_order, left_out, numbered, released_numbers, without

    rows = numbered(open_source(table, None))
    some = rows.filter(~rows.row.isin(removed))
    assert left_out(some, ROWS, "it").tolist() == removed
    again = without(rows, removed, ROWS, "it")
    placed = pl.DataFrame(pl.from_arrow(released_numbers(again, 3, len(kept), "it").toArrow())).sort(NUMBER)
    assert placed["row"].to_list() == there["row"].decode().to_list()
    ordered = pl.DataFrame(pl.from_arrow(in_secret_order(again, 3, len(kept)).toArrow()))
    assert ordered["row"].to_list() == placed["row"].to_list()
    assert not engine.is_ordered(engine.rows(rows.drop(NUMBER), None, needed=[]))
    other_way_round = [original / "b.parquet", original / "a.parquet"]  # by a path that is not absolute
    monkeypatch.chdir(original.parent)
    source = open_source([path.relative_to(original.parent) for path in other_way_round], ON_SPARK)
    first = numbered(source).orderBy(NUMBER).limit(1).toArrow().column("row").to_pylist()
    assert first == [100]
