"""What leaves through the door: whole, verified, as asked; what was tampered with is caught."""

from __future__ import annotations

import json
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError, ShoalError
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.policy.manifest import manifest_path, private_path
from shoal.releases.jobs import release_anonymized

QI = ["age_yrs", "sex", "patzip"]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return shoal.sample_data("discharges", 600).select([*QI, "race", "charge"])


def released(people: pl.DataFrame, folder: Path, name: str = "safe.csv", **options: Any) -> Path:
    anonymizing = {"quasi_identifiers": QI, "sensitive": "charge", "k": 5, "method": "sorted-clusters"}
    leaving = {
        key: options.pop(key)
        for key in list(options)
        if key in ("shuffle", "seed", "force", "no_guarantee", "excel_safe")
    }
    result = shoal.anonymize(people, **{**anonymizing, **options})
    left = {name: "other" for name in people.columns if name not in result.policy.columns}
    result = result.with_roles(left)
    return shoal.release(result, folder / name, **{"shuffle": True, **leaving}).output


# what comes out


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl", "tsv"])
@pytest.mark.parametrize("interval", ["bracket", "dash", "columns", "midpoint"])
def test_what_anonymize_wrote_verify_accepts(people: pl.DataFrame, tmp_path: Path, ending: str, interval: Any) -> None:
    path = released(people, tmp_path, f"safe.{ending}", interval=interval)
    found = shoal.verify(path, original=people)
    assert (found.verdict, found.records) == ("holds", 600)
    assert found.k >= 5
    assert len(found.checks) >= 6


@pytest.mark.parametrize(
    "options",
    [
        {"t": 0.2},
        {"t": 0.2, "remainder": "middle"},
        {"untouched_if_safe": True},
        {"method": "coarsen", "resolution": 2, "quasi_identifiers": ["sex", "age_yrs"], "k": 2},
        {"method": "coarsen", "resolution": 2, "cut_over": "labels", "quasi_identifiers": ["sex", "age_yrs"], "k": 2},
    ],
)
def test_every_method_keeps_its_promise(people: pl.DataFrame, tmp_path: Path, options: dict[str, Any]) -> None:
    kept = people.filter(pl.col("sex") < 3)
    path = released(kept, tmp_path, **options)
    found = shoal.verify(path, original=kept)
    assert found.verdict == "holds", found.reasons()


def test_masking_by_a_policy(people: pl.DataFrame, tmp_path: Path) -> None:
    steps: Any = [
        {"column": "age_yrs", "groups": [0, 20, 40, 60]},
        {"column": "patzip", "digits": 2},
        {"column": "age_yrs"},
    ]
    roles: Any = {**dict.fromkeys(QI, "quasi-identifier"), "race": "other"}
    policy = Policy(columns=roles, masking=steps)
    result = shoal.anonymize(people, policy, method="mask")
    assert 0 < result.findings.modified_rows <= 600
    with pytest.raises(InputError, match="no privacy model"):
        shoal.release(result, tmp_path / "m.csv")
    shoal.release(result, tmp_path / "m.csv", no_guarantee=True)
    manifest = json.loads((tmp_path / "m.manifest.json").read_text())
    assert (manifest["verdict"], manifest["no_guarantee"]) == ("no guarantee", True)
    assert "no guarantee" in manifest["warning"]


def test_a_release_is_its_files_and_the_private_ones_are_private(people: pl.DataFrame, tmp_path: Path) -> None:
    path = released(people, tmp_path, seed=987654321)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "safe.csv",
        "safe.dictionary.json",
        "safe.manifest.json",
        "safe.policy.yaml",
        "safe.private.json",
    ]
    assert stat.S_IMODE((tmp_path / "safe.policy.yaml").stat().st_mode) == 0o600
    assert stat.S_IMODE(private_path(path).stat().st_mode) == 0o600
    public = manifest_path(path).read_text() + (tmp_path / "safe.dictionary.json").read_text()
    assert "987654321" not in public
    assert json.loads(private_path(path).read_text())["seed"] == 987654321
    columns = json.loads((tmp_path / "safe.dictionary.json").read_text())["columns"]
    assert {column["name"]: column["technique"] for column in columns} == {
        **dict.fromkeys(QI, "sorted-clusters"),
        "race": "none",
        "charge": "none",
    }


def test_rows_are_shuffled_or_kept(people: pl.DataFrame, tmp_path: Path) -> None:
    kept = pl.read_csv(released(people, tmp_path, "kept.csv", shuffle=False))
    shuffled = pl.read_csv(released(people, tmp_path, "shuffled.csv", seed=1))
    assert kept["charge"].to_list() == people["charge"].to_list() != shuffled["charge"].to_list()
    assert sorted(kept["charge"]) == sorted(shuffled["charge"])


def test_identifiers_leave_and_types_stay(people: pl.DataFrame, tmp_path: Path) -> None:
    frame = people.with_columns(pl.Series("name", [f"N{row}" for row in range(600)])).to_pandas()
    frame["race"] = frame["race"].astype("category")
    frame.index = range(1000, 1600)
    policy = Policy(columns={"name": "identifier"})
    result = shoal.anonymize(frame, policy, quasi_identifiers=QI, k=5, method="sorted-clusters")
    assert isinstance(result.frame, pd.DataFrame)
    assert list(result.frame.columns) == [*QI, "race", "charge"]
    assert result.frame["race"].dtype == frame["race"].dtype
    assert result.frame.index.tolist() == frame.index.tolist()
    arrow = shoal.anonymize(people.to_arrow(), quasi_identifiers=QI, k=5, method="sorted-clusters").frame
    assert type(arrow).__module__.startswith("pyarrow")


def test_untouched_records_stay_as_they_are(people: pl.DataFrame) -> None:
    """The paper says that records already k-anonymous stay; its algorithm changes them, this option does not."""
    some = people.select("sex", "age_yrs", "charge")
    plain = shoal.anonymize(some, quasi_identifiers=["sex", "age_yrs"], k=5, method="sorted-clusters")
    kept = shoal.anonymize(
        some, quasi_identifiers=["sex", "age_yrs"], k=5, method="sorted-clusters", untouched_if_safe=True
    )
    sizes = some.with_columns(pl.len().over(["sex", "age_yrs"]).alias("size"))["size"].to_numpy()
    changed = np.array(kept.frame["age_yrs"].cast(pl.String)) != np.array(some["age_yrs"].cast(pl.String))
    assert changed.any()
    assert not changed[sizes >= 5].any()
    assert kept.findings.k >= 5
    assert kept.findings.information_loss < plain.findings.information_loss


def test_spreadsheet_formulas_are_defused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "note": ["=1+1", "+x", "plain", "@cmd"]})
    result = shoal.anonymize(frame, quasi_identifiers=["age"], k=2, method="sorted-clusters")
    path = shoal.release(result, tmp_path / "x.csv", excel_safe=True, decide={"note": "other"}).output
    assert pl.read_csv(path)["note"].to_list() == ["'=1+1", "'+x", "plain", "'@cmd"]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), min_size=6, max_size=25),
    st.integers(2, 3),
    st.booleans(),
)
@settings(max_examples=25)
def test_any_table_leaves_with_k(rows: list[tuple[int, int, int]], k: int, safe: bool) -> None:
    frame = pl.DataFrame(rows, schema=["a", "b", "s"], orient="row")
    result = shoal.anonymize(
        frame, quasi_identifiers=["a", "b"], sensitive="s", k=k, method="sorted-clusters", untouched_if_safe=safe
    )
    assert result.verdict == "holds"
    again = shoal.risk(result.frame, quasi_identifiers=["a", "b"])
    assert (again.k, again.classes, again.uniques) == (result.findings.k, result.findings.classes, 0)


# recoding


@pytest.fixture(scope="module")
def towns() -> pl.DataFrame:
    return shoal.sample_data("licences", 2000).select(
        "anno_nascita", "comune_residenza", "provincia_residenza", "sesso"
    )


def test_recoding_where_records_stand_out(towns: pl.DataFrame, tmp_path: Path) -> None:
    names = ["anno_nascita", "comune_residenza", "sesso"]
    frame = towns.drop_nulls()
    provinces = tmp_path / "provinces.csv"
    towns.select("comune_residenza", "provincia_residenza").unique().sort("comune_residenza").write_csv(provinces)
    before = shoal.risk(frame, quasi_identifiers=names).uniques
    wish = {"comune_residenza": str(provinces)}
    local = shoal.anonymize(frame, quasi_identifiers=names, method="recode", generalize=wish, where="uniques")
    everywhere = shoal.anonymize(frame, quasi_identifiers=names, method="recode", generalize=wish)
    assert 0 < local.findings.uniques < before
    assert local.findings.modified_rows == before < everywhere.findings.modified_rows
    assert local.findings.information_loss is None
    decide: Any = {name: "other" for name in frame.columns if name not in names}
    path = shoal.release(local, tmp_path / "local.csv", no_guarantee=True, shuffle=True, decide=decide).output
    assert shoal.verify(path, original=frame).verdict == "holds"


def test_a_search_elects_the_best_strategy(towns: pl.DataFrame) -> None:
    frame = towns.drop_nulls()
    names = ["anno_nascita", "comune_residenza", "sesso"]
    result = shoal.anonymize(frame, quasi_identifiers=names, method="recode", search=True, k=2)
    strategies = result.findings.strategies
    assert strategies is not None
    assert len(strategies) == 4 * 2 * 2
    best = min(strategies, key=lambda entry: (entry.uniques, entry.modified_rows))
    assert result.parameters["elected"] == best.strategy
    assert (result.findings.uniques, result.findings.modified_rows) == (best.uniques, best.modified_rows)
    assert result.findings.suppressed_cells >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs something to recode"),
        ({"generalize": {"sesso": "sideways"}}, "not a way to generalise"),
        ({"generalize": {"nothing": "*"}}, "no column 'nothing'"),
        ({"generalize": {"sesso": "*"}, "where": "here"}, "is not known"),
    ],
)
def test_recodings_that_make_no_sense(towns: pl.DataFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        shoal.anonymize(towns, quasi_identifiers=["sesso"], method="recode", **options)


def test_the_change_of_means_and_correlations(people: pl.DataFrame) -> None:
    """Checked with numpy's own correlation on the midpoints that are released."""
    result = shoal.anonymize(people, quasi_identifiers=QI, k=5, method="sorted-clusters", interval="midpoint")
    change = result.findings.change
    assert change is not None
    middle = result.polars.select(QI).cast(pl.Float64).to_numpy()
    original = people.select(QI).cast(pl.Float64).to_numpy()
    moved = (middle.mean(axis=0) - original.mean(axis=0)) / original.std(axis=0)
    assert list(change.means.values()) == pytest.approx(moved.tolist())
    old, new = (np.corrcoef(table.T)[np.tril_indices(3, -1)] for table in (original, middle))
    assert change.correlations == pytest.approx(np.abs(old - new).max())
    assert change.correlation_of_correlations == pytest.approx(np.corrcoef(old, new)[0, 1])


# what is refused


def test_what_does_not_hold_is_refused_and_nothing_is_written(people: pl.DataFrame, tmp_path: Path) -> None:
    result = shoal.anonymize(
        people.drop("race"), quasi_identifiers=QI, sensitive="charge", k=2, t=0.01, method="coarsen", resolution=4
    )
    assert result.verdict == "refused"
    with pytest.raises(shoal.Refused, match="k-anonymity"):
        shoal.release(result, tmp_path / "bad.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_written_file_is_measured_not_the_plan(
    people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that loses a value is caught before anything leaves."""

    def lossy(frame: pl.DataFrame, draft: Path, target: Path, output: object, labels: object) -> None:
        frame.with_columns(
            pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("[0;1]")).otherwise("age_yrs").alias("age_yrs")
        ).write_csv(draft)

    monkeypatch.setattr("shoal.releases.places.write_draft", lossy)
    with pytest.raises(shoal.Refused):
        released(people, tmp_path, shuffle=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "protects nobody"),
        ({"k": 601}, "more than the 600 records"),
        ({"l": 0}, "no number of values"),
        ({"t": 1.5}, "not above 0"),
        ({"t": 0.1, "sensitive": None}, "a sensitive column"),
        ({"sensitive": "age_yrs"}, "at once"),
        ({"quasi_identifiers": ["word"]}, "holds text"),
        ({"quasi_identifiers": ["gap"]}, "missing values"),
        ({"quasi_identifiers": ["nothing"]}, "no column 'nothing'"),
        ({"quasi_identifiers": None}, "No quasi-identifiers"),
        ({"method": "coarsen"}, "needs a resolution"),
        ({"untouched_if_safe": True, "t": 0.2}, "k alone"),
        ({"method": "mask"}, "masking steps"),
        ({"method": "magic"}, "is not known"),
        ({"interval": "sideways"}, "is not known"),
        ({"disclosure": ["charge is high"]}, "not a condition"),
        ({"disclosure": ["charge>many"]}, "another type"),
        ({"k": None}, "needs k"),
    ],
)
def test_bad_input(people: pl.DataFrame, options: dict[str, Any], message: str) -> None:
    frame = people.with_columns(pl.lit("x").alias("word"), pl.when(pl.col("sex") == 1).then(1).alias("gap"))
    with pytest.raises(InputError, match=message):
        shoal.anonymize(
            frame, **{"quasi_identifiers": QI, "sensitive": "charge", "k": 5, "method": "sorted-clusters", **options}
        )


def test_targets_that_cannot_be_written(people: pl.DataFrame, tmp_path: Path) -> None:
    path = released(people, tmp_path)
    before = path.read_bytes()
    made = shoal.anonymize(people, quasi_identifiers=QI, k=5, method="sorted-clusters", decide={"race": "other"})
    for target, message in (
        (path, "exists already"),
        (tmp_path / "none" / "x.csv", "no folder"),
        (tmp_path / "x.doc", "file extension"),
    ):
        with pytest.raises(InputError, match=message):
            shoal.release(made, target)
    with pytest.raises(InputError, match="belongs to another release"):
        shoal.release(made, tmp_path / "safe.parquet")
    assert path.read_bytes() == before
    assert shoal.verify(path).verdict == "holds"


def test_a_taken_name_is_refused_before_the_work(
    people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = released(people, tmp_path)
    source = tmp_path / "people.csv"
    people.write_csv(source)
    monkeypatch.setattr("shoal.releases.jobs.asked", lambda *_, **__: pytest.fail("the table was read"))
    for target, message in ((path, "exists already"), (path.with_suffix(".parquet"), "belongs to another release")):
        with pytest.raises(InputError, match=message):
            release_anonymized(source, output=target, quasi_identifiers=QI, k=5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("charge>2", 2),
        ("charge >= 2", 3),
        ("charge=2", 1),
        ("charge!=2", 3),
        ("charge in 1,4", 2),
        ("charge in [2;3]", 2),
    ],
)
def test_conditions(text: str, expected: int) -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 1], "charge": [1, 2, 3, 4]})
    found = shoal.anonymize(
        frame, quasi_identifiers=["a"], k=2, method="sorted-clusters", disclosure=[text]
    ).findings.attribute_disclosure[0]
    assert (found.records, found.disclosed) == (expected, 0)


# tampering


def edit(path: Path, change: Callable[[pl.DataFrame], pl.DataFrame], mend: bool) -> None:
    """Change the data; a cunning hand also mends the hash in the manifest."""
    change(pl.read_csv(path, infer_schema=False)).write_csv(path)
    if mend:
        import hashlib

        manifest = json.loads(manifest_path(path).read_text())
        manifest["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest_path(path).write_text(json.dumps(manifest))


def row_7(column: str, value: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda frame: frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    )


TAMPERING: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "a range narrowed to a point": row_7("age_yrs", "3"),
    "a range that misses its value": row_7("patzip", "[1;2]"),
    "a sensitive value changed": row_7("charge", "123456789"),
    "another column changed": row_7("race", "9"),
    "a row removed": lambda frame: frame.head(599),
    "a row doubled": lambda frame: pl.concat([frame, frame.head(1)]),
    "a row replaced by another": lambda frame: pl.concat([frame.head(599), frame.head(1)]),
    "two rows exchanged": lambda frame: pl.concat([frame[1:2], frame[0:1], frame[2:]]),
    "a column removed": lambda frame: frame.drop("race"),
    "a column added": lambda frame: frame.with_columns(pl.lit("x").alias("extra")),
    "a column renamed": lambda frame: frame.rename({"race": "colour"}),
    "ranges exchanged between columns": lambda frame: frame.with_columns(pl.col("patzip").alias("age_yrs")),
}


@pytest.mark.parametrize("mend", [False, True], ids=["hash left", "hash mended"])
@pytest.mark.parametrize("how", TAMPERING)
def test_tampering_with_the_data_is_caught(people: pl.DataFrame, tmp_path: Path, how: str, mend: bool) -> None:
    path = released(people, tmp_path)
    edit(path, TAMPERING[how], mend)
    try:
        assert shoal.verify(path, original=people).verdict == "refused"
    except ShoalError:  # a column that the manifest names is not there
        assert how in ("a column removed", "a column renamed")


def test_tampering_with_the_manifest_is_caught(people: pl.DataFrame, tmp_path: Path) -> None:
    path = released(people, tmp_path)
    whole = manifest_path(path).read_text()

    def changed(**entries: Any) -> str:
        manifest_path(path).write_text(json.dumps({**json.loads(whole), **entries}))
        return shoal.verify(path).verdict

    weaker = {**json.loads(whole)["policy"], "models": [{"model": "k-anonymity", "k": 2}]}
    assert changed() == "holds"
    assert changed(policy=weaker) == "refused"
    assert changed(data_sha256="0" * 64) == "refused"
    assert changed(written=599) == "refused"
    manifest_path(path).write_text("{}")
    with pytest.raises(InputError, match="not a manifest"):
        shoal.verify(path)


def test_verify_against_another_policy_than_the_releases(people: pl.DataFrame, tmp_path: Path) -> None:
    path = released(people, tmp_path, interval="columns")
    names: Any = {**dict.fromkeys(QI, "quasi-identifier"), "race": "other", "charge": "other"}
    lenient = Policy(columns=names, models=[KAnonymity(k=3)])
    found = shoal.verify(path, lenient, original=people)
    assert found.verdict == "holds"
    assert found.models[0].worst["columns"] == [f"{name}_{end}" for name in QI for end in ("low", "high")]
    assert shoal.verify(path, Policy(columns=names, models=[KAnonymity(k=500)])).verdict == "refused"


def test_verify_without_a_manifest_needs_a_policy(people: pl.DataFrame, tmp_path: Path) -> None:
    path = released(people, tmp_path)
    manifest_path(path).unlink()
    with pytest.raises(InputError, match="no policy"):
        shoal.verify(path)
    roles: Any = {**dict.fromkeys(QI, "quasi-identifier"), "race": "other"}
    policy = Policy(columns=roles, models=[KAnonymity(k=5)])
    assert shoal.verify(path, policy).verdict == "holds"
    stricter = policy.model_copy(update={"models": [KAnonymity(k=500)]})
    assert shoal.verify(path, stricter).verdict == "refused"
    assert shoal.verify(people, policy).verdict == "refused"


# a hard end at any moment

KILLED = """
import sys, shoal
frame = shoal.sample_data("discharges", 20_000, seed=int(sys.argv[2]))
result = shoal.anonymize(
    frame, quasi_identifiers=["age_yrs", "sex", "patzip", "los"], sensitive="charge", k=5, method="sorted-clusters",
    decide=dict.fromkeys(["race", "ethncty", "patcnty", "adm_qtr", "oshpd_id"], "other"))
print("ready", flush=True)
while True:
    shoal.release(result, sys.argv[1], force=True, shuffle=True)
    print("released", flush=True)
"""


def kill_rounds(folder: Path, rounds: int) -> None:
    target = folder / "safe.csv"
    frame = shoal.sample_data("discharges", 20_000, seed=0)
    result = shoal.anonymize(
        frame,
        quasi_identifiers=["age_yrs", "sex", "patzip", "los"],
        sensitive="charge",
        k=5,
        method="sorted-clusters",
        decide=dict.fromkeys(["race", "ethncty", "patcnty", "adm_qtr", "oshpd_id"], "other"),
    )
    shoal.release(result, target, shuffle=True)
    draw = np.random.default_rng(0)
    for _ in range(rounds):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(target), "0"], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(float(draw.uniform(0, 0.5)))
        child.send_signal(signal.SIGKILL)
        child.wait()
        # the data is whole, old or new; only a manifest that was to come before it may tell of the next
        assert shoal.read(target).rows == 20_000
        policy = result.policy
        moved = folder / "alone" / "safe.csv"
        moved.parent.mkdir(exist_ok=True)
        shutil.copy(target, moved)
        assert shoal.verify(moved, policy).verdict == "holds"


def test_killed_it_leaves_the_old_release_or_the_new(tmp_path: Path) -> None:
    kill_rounds(tmp_path, 3)


@pytest.mark.slow
def test_killed_fifty_times(tmp_path: Path) -> None:
    kill_rounds(tmp_path, 50)


@pytest.mark.parametrize("column", ["born", "moment", "score", "below"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("interval", ["bracket", "columns", "midpoint"])
def test_dates_moments_fractions_and_negative_numbers(tmp_path: Path, column: str, ending: str, interval: Any) -> None:
    import datetime as dt

    draw = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "born": [dt.date(2000, 1, 1) + dt.timedelta(days=int(day)) for day in draw.integers(0, 9000, 60)],
            "moment": [dt.datetime(2020, 1, 1) + dt.timedelta(minutes=int(m)) for m in draw.integers(0, 9000, 60)],
            "score": draw.normal(size=60).round(3),
            "below": draw.integers(-50, 50, 60),
        }
    )
    result = shoal.anonymize(frame, quasi_identifiers=[column], k=5, method="sorted-clusters", interval=interval)
    decide: Any = {name: "other" for name in frame.columns if name != column}
    path = shoal.release(result, tmp_path / f"safe.{ending}", shuffle=True, decide=decide).output
    assert shoal.verify(path, original=frame).verdict == "holds"
    with pytest.raises(InputError, match="dashes"):
        shoal.anonymize(frame, quasi_identifiers=[column], k=5, method="sorted-clusters", interval="dash")


def test_what_needs_the_private_record_is_not_checked_and_not_accepted(people: pl.DataFrame, tmp_path: Path) -> None:
    data = released(people, tmp_path)
    private_path(data).unlink()
    assert shoal.verify(data).verdict == "holds"
    found = shoal.verify(data, original=people)
    assert (found.verdict, found.unchecked) == ("refused", ["rows"])
    assert found.summary().startswith("Not checked against the original, all else holds")
    assert "cannot be checked" in found.reasons()
    # what is wrong beside stays wrong
    data.write_bytes(data.read_bytes() + data.read_bytes().splitlines(keepends=True)[-1])
    assert shoal.verify(data, original=people).summary().startswith("Does not hold")
