"""Both engines say the same: what Spark counts and changes is what the local engine counts and changes."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engine import LOCAL, engine_of
from shoal.engine.base import Counted
from shoal.errors import InputError
from shoal.reading import Options

pytestmark = pytest.mark.xdist_group("spark")

ROWS = 3_000
START = datetime.date(2020, 1, 1)


def people(rows: int = ROWS) -> pl.DataFrame:
    """Every type of column that there is, with missing values, a name that needs quotes, and keys past 64 bits."""
    draw = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": draw.integers(0, 30, rows),
            "sex": draw.choice(["f", "m", None], rows),
            "weight.kg": draw.choice([1.5, 2.5, float("nan"), -0.0, 0.0], rows),
            "seen": [START + datetime.timedelta(int(days)) for days in draw.integers(0, 5, rows)],
            "smokes": draw.random(rows) > 0.5,
            "zip`code": pl.Series(draw.integers(0, 4, rows)).replace(3, None).cast(pl.Int16),
            "far": draw.choice([-(2**62), 0, 2**62], rows),
            "farther": draw.choice([-(2**63), 2**63 - 1], rows),
            "n": draw.integers(0, 3, rows),
            "who": draw.integers(0, 900, rows),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in two files."""
    found = tmp_path_factory.mktemp("people") / "people"
    found.mkdir()
    whole = people()
    whole[:1_000].write_parquet(found / "a.parquet")
    whole[1_000:].write_parquet(found / "b.parquet")
    return found


@pytest.fixture(scope="module")
def frame(spark: Any, folder: Path) -> Any:
    """Spark reads the larger file first; the local engine reads them in the order of their names."""
    one, other = (spark.read.parquet(str(folder / name)) for name in ("a.parquet", "b.parquet"))
    return one.union(other).cache()


def same(one: Counted, other: Counted) -> None:
    assert one.names == other.names
    assert one.counts.tolist() == other.counts.tolist()
    for name in one.names:
        assert one.columns[name].values.equals(other.columns[name].values), name
        assert one.columns[name].codes.tolist() == other.columns[name].codes.tolist(), name
        assert one.columns[name].nulls == other.columns[name].nulls, name


NARROW = ["age", "sex", "zip`code"]


@pytest.mark.parametrize("columns", [None, NARROW, ["weight.kg", "seen", "far", "farther", "smokes"]])
@pytest.mark.parametrize("count", [None, "n"])
def test_tuples_are_those_of_the_local_engine(frame: Any, columns: list[str] | None, count: str | None) -> None:
    spark_engine = engine_of(frame)
    assert spark_engine.name == "spark"
    same(spark_engine.count(frame, columns, count=count), LOCAL.count(people(), columns, count=count))


def test_a_text_file_has_the_types_that_are_found_in_it(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,town,seen\n34,"Bari, old",2020-01-05\n,NA,2020-01-05\n034,x,2021-02-01\n')
    for missing in ((), ("NA",)):
        there = engine_of(path, Options(engine="spark", missing=missing))
        one = there.count(path, options=Options(engine="spark", missing=missing))
        other = LOCAL.count(path, options=Options(missing=missing))
        same(one, other)
        assert one.notes == other.notes


def test_class_sizes_are_rolled_up_where_the_rows_are(frame: Any) -> None:
    sets = [NARROW, ["age"]]
    for settings in ({}, {"count": "n"}, {"without_nulls": ["sex", "zip`code"]}):
        ours = engine_of(frame).sizes(frame, sets, **settings)  # type: ignore[arg-type]
        for one, other in zip(ours, LOCAL.sizes(people(), sets, **settings), strict=True):  # type: ignore[arg-type]
            assert one.sizes.tolist() == other.sizes.tolist()
            assert one.classes.tolist() == other.classes.tolist()
            assert one.removed == other.removed


def test_rows_come_and_go(frame: Any, spark: Any, tmp_path: Path) -> None:
    engine = engine_of(frame)
    words = [f"{number}" for number in range(len(LOCAL.count(people(), NARROW).counts))]
    becomes = {"age": pl.Series(words), "new": pl.Series(range(len(words)))}
    found, wanted = engine.apply(frame, NARROW, becomes), LOCAL.apply(people(), NARROW, becomes)
    assert found.columns == wanted.columns
    assert Counter(rows_of(found)) == Counter(wanted.fill_nan(None).rows())
    table = engine.rows(frame, NARROW)
    numbers = pl.DataFrame({"age": np.arange(table.rows), "sex": table["sex"].decode()})
    placed = engine.assign(table, numbers, dropped=["who"])
    assert placed.columns == [name for name in people().columns if name not in ("who", "zip`code")]
    assert sorted(row[0] for row in rows_of(placed.select("age"))) == list(range(ROWS))
    target = tmp_path / "out.parquet"
    engine.write(placed, target)
    assert sorted(pl.read_parquet(target / "*.parquet")["age"]) == list(range(ROWS))
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]
    with pytest.raises(InputError, match="exists already"):
        engine.write(placed, target)
    doubled = engine.map(frame.select("age"), lambda rows: rows * 2, {"age": pl.Int64})
    assert sorted(row[0] for row in rows_of(doubled)) == sorted((people()["age"] * 2).to_list())


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    return pl.DataFrame(pl.from_arrow(frame.toArrow())).fill_nan(None).rows()


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"quasi_identifiers": NARROW},
    "knowledge": {"knowledge": {"a": ["age", "sex"], "b": ["seen", "smokes"]}, "null_rule": "drop"},
    "wildcard": {"quasi_identifiers": NARROW, "null_rule": "wildcard"},
    "counts": {"quasi_identifiers": NARROW, "count": "n"},
    "persons": {"quasi_identifiers": ["age", "sex"], "person": "who"},
    "sensitive": {"quasi_identifiers": ["age"], "sensitive": ["weight.kg", "sex"]},
    "models": {"policy": {"columns": {"age": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 5}]}},
    "types": {"quasi_identifiers": ["age"], "options": Options(types={"age": "nominal"})},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_risk_is_the_same_to_the_digit(frame: Any, settings: dict[str, Any]) -> None:
    assert shoal.risk(frame, **settings).to_dict() == shoal.risk(people(), **settings).to_dict()


def test_detection_and_leaks_are_the_same(frame: Any, folder: Path) -> None:
    columns = [*NARROW, "seen", "smokes"]
    assert shoal.detect(frame, columns=columns).to_dict() == shoal.detect(people(), columns=columns).to_dict()
    on_spark = Options(engine="spark", master="local[2]")
    ours = shoal.leak(folder, quasi_identifiers=NARROW, leaked="10%", options=on_spark).to_dict()
    assert ours == shoal.leak(folder, quasi_identifiers=NARROW, leaked="10%").to_dict()


METHODS: dict[str, dict[str, Any]] = {
    "lattice": {"k": 5, "suppression": 0.3, "sensitive": "sex"},
    "coarsen": {"resolution": 4},
    "sorted-clusters": {"k": 5},
    "mondrian": {"k": 5, "l": 2, "sensitive": "sex"},
    "microaggregate": {"k": 5},
    "suppress": {"k": 5},
}


def findings(result: shoal.Anonymized) -> dict[str, Any]:
    """What a result says, without the clock; sums of floats to twelve digits, because they depend on the order."""
    told = result.to_dict()
    told.pop("seconds", None)
    (told.get("search") or {}).pop("seconds", None)
    return rounded(told)  # type: ignore[no-any-return]


def rounded(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: rounded(entry) for name, entry in told.items()}
    if isinstance(told, list):
        return [rounded(entry) for entry in told]
    return round(told, 12) if isinstance(told, float) else told


@pytest.mark.parametrize("method", METHODS)
def test_a_changed_table_is_the_same_to_the_cell(frame: Any, method: str) -> None:
    settings: dict[str, Any] = {"quasi_identifiers": ["age", "seen"], "decide": {"who": "identifier"}}
    settings |= {"method": method, **METHODS[method]}
    ours, theirs = shoal.anonymize(frame, **settings), shoal.anonymize(people(), **settings)
    assert ours.frame.columns == theirs.frame.columns
    assert Counter(rows_of(ours.frame)) == Counter(theirs.frame.fill_nan(None).rows())
    assert findings(ours) == findings(theirs)
