"""Both engines say the same: what Spark counts and changes is what the local engine counts and changes."""

from __future__ import annotations

import datetime
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engine import LOCAL, TupleRecoding, engine_of
from shoal.engine.base import Counted
from shoal.errors import InputError
from shoal.releases.jobs import release_safe_harbor
from shoal.releases.write import Refused, release
from shoal.storage.reading import Options

pytestmark = pytest.mark.xdist_group("spark")
_TABLE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "engine_table.py"))
CAPABILITIES, capability_table = _TABLE["CAPABILITIES"], _TABLE["capability_table"]

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


@pytest.mark.parametrize(("columns", "count"), [(None, None), (NARROW, "n")])
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
    tuples = pl.DataFrame([column.decode() for column in LOCAL.count(people(), NARROW).columns.values()])
    words = pl.Series("word", [f"{number}" for number in range(len(tuples))])
    becomes = {"age": words, "new": pl.Series(range(len(words)))}
    found = engine.recode(frame, [TupleRecoding(NARROW, becomes)])
    tuples = tuples.with_columns(words, new=becomes["new"])
    wanted = people().join(tuples, on=NARROW, how="left", nulls_equal=True, maintain_order="left")
    wanted = wanted.with_columns(age=pl.col("word")).drop("word")
    assert found.columns == wanted.columns
    assert Counter(rows_of(found)) == Counter(wanted.fill_nan(None).rows())
    with pytest.raises(InputError, match="3 new values for"):
        engine.recode(frame, [TupleRecoding(NARROW, {"age": words[:3]})])
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


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(settings, id=name, marks=[pytest.mark.slow] * (name in ("wildcard", "types", "counts")))
        for name, settings in SETTINGS.items()
    ],
)
def test_risk_is_the_same_to_the_digit(frame: Any, settings: dict[str, Any]) -> None:
    assert shoal.risk(frame, **settings).to_dict() == shoal.risk(people(), **settings).to_dict()


def test_detection_and_leaks_are_the_same(frame: Any, folder: Path) -> None:
    columns = [*NARROW, "seen", "smokes"]
    assert shoal.detect(frame, columns=columns).to_dict() == shoal.detect(people(), columns=columns).to_dict()
    on_spark = Options(engine="spark", master="local[2]")
    ours = shoal.leak(folder, quasi_identifiers=NARROW, leaked="10%", options=on_spark).to_dict()
    assert ours == shoal.leak(folder, quasi_identifiers=NARROW, leaked="10%").to_dict()


@pytest.fixture
def address(spark: Any, folder: Path) -> str:
    """The table under an address of its own: Hadoop's mount table takes a scheme and leads to files of this machine."""
    settings = spark._jsc.hadoopConfiguration()
    settings.set("fs.s3a.impl", "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme")
    settings.set("fs.viewfs.overload.scheme.target.s3a.impl", "org.apache.hadoop.fs.LocalFileSystem")
    settings.set("fs.viewfs.mounttable.bucket.link./claims", folder.as_uri())
    return "s3a://bucket/claims"


def test_an_address_reaches_the_cluster_whole(address: str, folder: Path) -> None:
    on_spark, columns = Options(engine="spark"), ["age", "sex"]
    for run in (
        lambda source, options: shoal.risk(source, quasi_identifiers=columns, options=options),
        lambda source, options: shoal.profile(source, columns=columns, options=options),
    ):
        assert run(address, on_spark).to_dict() == run(folder, None).to_dict()
    with pytest.raises(InputError, match=r"finds no file s3a://bucket/claims/none\.parquet"):
        shoal.risk(f"{address}/none.parquet", quasi_identifiers=columns, options=on_spark)


METHODS: dict[str, dict[str, Any]] = {
    "lattice": {"k": 5, "suppression": 0.3, "sensitive": "sex"},
    "coarsen": {"resolution": 4},
    "sorted-clusters": {"k": 5},
    "sorted-clusters, t": {"k": 5, "t": 0.3, "sensitive": "n"},
    "mondrian": {"k": 5, "l": 2, "sensitive": "sex"},
    "microaggregate": {"k": 5},
    "suppress": {"k": 5},
}
LONG = ("lattice", "microaggregate", "suppress")
FEW = ["age", "sex", "seen", "n", "who"]


@pytest.fixture(scope="module")
def small(frame: Any) -> Any:
    """The same rows with fewer columns."""
    return frame.select(FEW).cache()


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


@pytest.mark.parametrize("method", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in METHODS])
def test_a_changed_table_is_the_same_to_the_cell(small: Any, method: str) -> None:
    settings: dict[str, Any] = {"quasi_identifiers": ["age", "seen"], "decide": {"who": "identifier"}}
    settings |= {"method": method.partition(",")[0], **METHODS[method]}
    ours, theirs = shoal.anonymize(small, **settings), shoal.anonymize(people().select(FEW), **settings)
    assert ours.frame.columns == theirs.frame.columns
    assert Counter(rows_of(ours.frame)) == Counter(theirs.frame.fill_nan(None).rows())
    assert findings(ours) == findings(theirs)


POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "seen": "quasi-identifier", "sex": "sensitive", "who": "identifier",
                "n": "other"},
    "models": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "sensitive": "sex"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def clustered(small: Any) -> shoal.Anonymized:
    """A result that is released once, and refused once."""
    return shoal.anonymize(small, {**POLICY, "models": POLICY["models"][:1]}, method="sorted-clusters")


@pytest.mark.parametrize("method", ["sorted-clusters", pytest.param("lattice", marks=pytest.mark.slow)])
def test_a_release_is_verified_by_both_engines(
    small: Any, clustered: shoal.Anonymized, tmp_path: Path, method: str
) -> None:
    result = clustered
    if method == "lattice":
        result = shoal.anonymize(small, POLICY, method=method, suppression=0.9)
    target = tmp_path / "safe.parquet"
    released = release(result, target, shuffle=True)
    assert sorted(path.name for path in tmp_path.iterdir() if "plan" not in path.name) == [
        "safe.dictionary.json", "safe.manifest.json", "safe.parquet", "safe.policy.yaml",
    ]  # fmt: skip
    written = pl.read_parquet(target / "*.parquet")
    assert len(written) == released.written
    assert "who" not in written.columns
    assert written.group_by("age", "seen").len()["len"].min() >= 5
    for options in (None, Options(engine="spark")):
        assert shoal.verify(target, options=options).verdict == "holds"
    part = next(target.glob("part-*.parquet"))
    pl.read_parquet(part).with_columns(n=pl.lit(7)).write_parquet(part)
    part.with_name(f".{part.name}.crc").unlink(missing_ok=True)
    assert shoal.verify(target).verdict == "refused"


def test_a_release_that_fails_leaves_nothing(
    clustered: shoal.Anonymized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = property(lambda _: ["age", "seen", "n", "sex"])  # what the object keeps of itself does not count
    monkeypatch.setattr(type(clustered), "quasi_identifiers", more)
    with pytest.raises(Refused, match="nothing was written"):
        release(clustered, tmp_path / "safe.parquet")
    assert list(tmp_path.iterdir()) == []


def test_columns_are_profiled_where_they_are(small: Any) -> None:
    assert shoal.profile(small).to_dict() == shoal.profile(people().select(FEW)).to_dict()


def test_persons_get_the_same_pseudonyms(small: Any) -> None:
    settings: dict[str, Any] = {"column": "who", "key": bytes(range(32))}
    ours, theirs = shoal.pseudonymize(small, **settings), shoal.pseudonymize(people().select(FEW), **settings)
    assert ours.to_dict() == theirs.to_dict()
    assert Counter(rows_of(ours.frame)) == Counter(theirs.frame.fill_nan(None).rows())


def visits(rows: int = 300) -> pl.DataFrame:
    """Dates and years of birth, ages and events that tell of each other, and a cell that hides a number."""
    draw = np.random.default_rng(1)
    born = [datetime.date(1912, 1, 1) + datetime.timedelta(int(days)) for days in draw.integers(0, 35_000, rows)]
    return pl.DataFrame(
        {
            "mrn": [f"M{number:07d}" for number in range(rows)],
            "dob": [None if place % 17 == 0 else day for place, day in enumerate(born)],
            "birth_year": [str(1912 + int(years)) for years in draw.integers(0, 90, rows)],
            "age": draw.integers(0, 99, rows),
            "sex": draw.choice(["f", "m", None], rows),
            "admission_date": [datetime.date(2001 + int(year), 3, 7) for year in draw.integers(0, 9, rows)],
            "zip": ["10001", "03601", "94110"] * (rows // 3),
            "ward": [*["A1"] * (rows - 1), "501510691"],
        }
    )


@pytest.mark.parametrize(
    ("left_out", "other_actions"),
    [
        (["birth_year", "sex", "zip", "ward"], set()),
        pytest.param([], {"zip", "kept"}, marks=pytest.mark.slow),
    ],
    ids=["births", "all"],
)
def test_safe_harbor_treats_the_same_cells(spark: Any, left_out: list[str], other_actions: set[str]) -> None:
    table = visits().drop(left_out)
    ours = shoal.safe_harbor(spark.createDataFrame(table.to_arrow(compat_level=pl.CompatLevel.oldest())))
    theirs = shoal.safe_harbor(table)
    assert ours.to_dict() == theirs.to_dict()
    assert {entry.action for entry in theirs.treatments} == {"removed", "date-of-birth", "age", "date", *other_actions}
    found = pl.DataFrame(pl.from_arrow(ours.frame.toArrow()))
    assert found.schema == theirs.frame.schema
    assert Counter(found.rows()) == Counter(theirs.frame.rows())


@pytest.mark.slow
def test_safe_harbor_is_released_where_the_rows_are(spark: Any, tmp_path: Path) -> None:
    visits().write_csv(tmp_path / "visits.csv")
    options = Options(engine="spark")
    made = release_safe_harbor(tmp_path / "visits.csv", output=tmp_path / "safe.parquet", options=options)
    assert (made.verdict, made.written) == ("holds", 300)
    wanted = shoal.safe_harbor(visits())
    assert made.residual is not None
    assert wanted.residual is not None
    assert made.residual.uniques == wanted.residual.uniques
    written = pl.read_parquet(tmp_path / "safe.parquet" / "*.parquet")
    assert Counter(written.cast(pl.String).rows()) == Counter(wanted.frame.cast(pl.String).rows())
    for options in (None, Options(engine="spark")):
        assert shoal.verify(tmp_path / "safe.parquet", options=options).verdict == "holds"


def test_safe_harbor_does_not_let_free_text_leave(small: Any) -> None:
    with pytest.raises(InputError, match="scrubbed on one machine only"):
        shoal.safe_harbor(small, policy={"columns": {"sex": "text"}})


@pytest.mark.parametrize(
    "settings", [SETTINGS["knowledge"], pytest.param(SETTINGS["counts"], marks=pytest.mark.slow)], ids=["all", "counts"]
)
def test_risk_of_tuples_that_do_not_fit_the_driver(spark: Any, frame: Any, settings: dict[str, Any]) -> None:
    wanted = shoal.risk(people(), **settings).to_dict()
    spark.conf.set("spark.shoal.driver.tuples", "40")  # more values than a column has, fewer than tuples
    try:
        found = shoal.risk(frame, **settings).to_dict()
        with pytest.raises(InputError, match="the driver takes 40"):
            shoal.risk(frame, sensitive=["smokes"], **settings)
    finally:
        spark.conf.unset("spark.shoal.driver.tuples")
    if len(wanted["quasi_identifiers"]) > 1:
        assert any("counted where the rows are" in note for note in found["notes"])
        wanted["readings"], wanted["notes"] = {}, found["notes"]
    assert found == wanted


@pytest.mark.slow  # the same figures set by set are proven without Spark in tests/detection/test_rolled_up.py
def test_sets_of_columns_whose_tuples_do_not_fit_the_driver(spark: Any, frame: Any) -> None:
    settings: dict[str, Any] = {"columns": NARROW, "null_rule": "drop"}
    wanted = shoal.detect(people(), **settings).to_dict()
    spark.conf.set("spark.shoal.driver.tuples", "40")
    try:
        found = shoal.detect(frame, time_limit=600.0, **settings).to_dict()
        with pytest.raises(InputError, match="the driver takes 40"):
            shoal.detect(frame, sample=100, **settings)
    finally:
        spark.conf.unset("spark.shoal.driver.tuples")
    assert any("counted where the rows are" in note for note in found["notes"])
    for told in (found, wanted):
        told["notes"], told["sets_examined"] = [], 0  # bounds spare the local engine some sets
    assert rounded(found) == rounded(wanted)


@pytest.mark.slow  # class sizes past the driver's limit are those of the test of `risk`
def test_leaks_of_tuples_that_do_not_fit_the_driver(spark: Any, frame: Any) -> None:
    settings: dict[str, Any] = {"quasi_identifiers": NARROW, "leaked": ["10%", 40], "null_rule": "drop", "targets": 2}
    wanted = shoal.leak(people(), **settings).to_dict()
    spark.conf.set("spark.shoal.driver.tuples", "40")
    try:
        found = shoal.leak(frame, **settings).to_dict()
        with pytest.raises(InputError, match="the driver takes 40"):
            shoal.leak(frame, simulate=10, unit="records", **settings)
        texts = frame.selectExpr("cast(age as string) as age", "sex")
        starred = texts.union(spark.createDataFrame([("*", "*")], NARROW[:2]))
        with pytest.raises(InputError, match="the driver takes 40"):
            shoal.leak(starred, quasi_identifiers=NARROW[:2], leaked="10%")
    finally:
        spark.conf.unset("spark.shoal.driver.tuples")
    for entry in found["answers"]:
        assert any("counted where the rows are" in note for note in entry["notes"])
        entry["notes"] = [note for note in entry["notes"] if "counted where the rows are" not in note]
    assert found == wanted


def _published(frame: Any, folder: Path) -> None:
    shoal.publish(frame, policy=POLICY, output=folder / "release")


def _with_original(frame: Any, folder: Path) -> None:
    found = shoal.verify(frame, POLICY, original=frame)
    assert any(check.name == "records" for check in found.checks)


def _too_many(verb: str, **settings: Any) -> Any:
    def run(frame: Any, folder: Path) -> None:
        frame.sparkSession.conf.set("spark.shoal.driver.tuples", "40")
        try:
            getattr(shoal, verb)(frame, **settings)
        finally:
            frame.sparkSession.conf.unset("spark.shoal.driver.tuples")

    return run


GAPS: dict[str, Any] = {
    "detect": _too_many("detect", columns=["age", "seen"], sample=100),
    "risk": _too_many("risk", quasi_identifiers=["age", "seen"], null_rule="wildcard"),
    "leak": _too_many("leak", quasi_identifiers=["age", "seen"], person="who", leaked="10%"),
    "anonymize": _too_many("anonymize", quasi_identifiers=["age", "seen"], k=5, method="mondrian"),
    "verify": _with_original,
    "pseudonymize": _too_many("pseudonymize", column="who", key=bytes(range(32))),
    "safe-harbor": _too_many("safe_harbor", year_of_data=2021),  # of `who` there are 900
    "publish": _published,
}


@pytest.mark.parametrize("command", [entry.command for entry in CAPABILITIES if entry.gap is not None])
@pytest.mark.xfail(strict=True, raises=InputError, reason="declared in docs/engine_table.py")
def test_gaps_that_are_declared(small: Any, tmp_path: Path, command: str) -> None:
    GAPS[command](small, tmp_path)


def test_free_text_does_not_leave_as_it_is(small: Any) -> None:
    with pytest.raises(InputError, match="scrubbed on one machine only"):
        shoal.anonymize(small, {**POLICY, "columns": {**POLICY["columns"], "n": "text"}})


def test_the_table_of_the_docs_is_that_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "spark.md"
    assert capability_table() in page.read_text(), "write it anew with: python docs/engine_table.py"


SLOW_STEPS = ("CartesianProduct", "BroadcastNestedLoopJoin", "PythonUDF", "EvalPython", "MapInArrow", "MapInPandas")


@pytest.fixture
def collected(frame: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The plans, optimised and physical, of all that is brought to the driver meanwhile."""
    plans: list[tuple[str, str]] = []
    kind = type(frame)
    whole = kind.toArrow

    def watched(one: Any) -> Any:
        execution = one._jdf.queryExecution()
        plans.append((execution.optimizedPlan().toString(), execution.executedPlan().toString()))
        return whole(one)

    monkeypatch.setattr(kind, "toArrow", watched)
    return plans


def test_plans_bring_counts_and_never_rows(frame: Any, collected: list[tuple[str, str]]) -> None:
    """Whatever reaches the driver was aggregated before: counts, ends, distinct values."""
    shoal.risk(frame, quasi_identifiers=NARROW)
    shoal.leak(frame, quasi_identifiers=NARROW, leaked="10%")
    result = shoal.anonymize(frame.select(FEW), quasi_identifiers=["age", "seen"], method="coarsen", resolution=4)
    assert collected
    for optimised, physical in collected:
        steps = [line.lstrip(" :+-") for line in optimised.splitlines()]
        assert next(step for step in steps if "Limit" not in step).startswith("Aggregate"), optimised
        assert "HashAggregate" in physical
        assert not any(step in physical for step in SLOW_STEPS), physical
    plan = result.frame._jdf.queryExecution().executedPlan().toString()
    assert "BroadcastHashJoin" in plan
    assert not any(step in plan for step in (*SLOW_STEPS, "Window"))


def test_keys_of_mondrian_are_brought_and_nothing_else(frame: Any, collected: list[tuple[str, str]]) -> None:
    result = shoal.anonymize(frame.select(FEW), quasi_identifiers=["age", "seen"], k=5, method="mondrian")
    rows = [optimised for optimised, _ in collected if "Aggregate" not in optimised]
    assert len(rows) == 1
    assert rows[0].startswith("Project [")
    assert rows[0].splitlines()[0].count(" AS ") == 1  # one key per row
    plan = result.frame._jdf.queryExecution().executedPlan().toString()
    assert not any(step in plan for step in SLOW_STEPS)
