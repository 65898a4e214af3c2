"""A table that does not fit in memory is anonymised on disk: the release is the one that memory gives, byte by byte."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.methods import lattice as levels
from shoal.methods.partition import in_parts
from shoal.methods.results import Anonymized
from shoal.releases import coded, in_blocks
from shoal.releases.in_blocks import treatments_in_codes
from shoal.releases.jobs import Writing, release_anonymized
from shoal.releases.treatment import treatments
from shoal.storage import spill, table
from shoal.storage.classes import Coded, CountTable
from shoal.storage.external import DiskOrder, TupleOfRow, shuffled_on_disk
from shoal.storage.formats import plain
from shoal.storage.order import shuffled_order
from shoal.storage.reading import Options
from shoal.storage.spill import Spill

SMALL, LARGE = "20kB", "1GB"
QI = ["age", "seen", "height"]
COARSEN = {"method": "coarsen", "resolution": 2, "cut_over": "labels", "k": 2}
S2, S4 = {"method": "sorted-clusters", "k": 7}, {"method": "sorted-clusters", "k": 7, "t": 0.25}
METHODS = [
    COARSEN,
    S2,
    S4,
    {**S4, "remainder": "middle"},
    {**S2, "interval": "columns"},
    {**S2, "interval": "midpoint"},
]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Blocks are small, so that a small table has many; nothing is left in the folder of spilled files."""
    folder = tmp_path / "spilled"
    folder.mkdir()
    monkeypatch.setenv("SHOAL_SPILL", str(folder))
    monkeypatch.setattr(table, "ROWS_AT_ONCE", 300)
    monkeypatch.setattr(in_blocks, "_ROWS", 700)
    monkeypatch.setattr(plain, "ROW_GROUP", 450)
    return folder


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(rows)],
            "age": draw.integers(0, 90, rows),
            "seen": pl.Series(draw.integers(0, 400, rows)).cast(pl.Int32).cast(pl.Date),
            "height": draw.integers(1000, 2000, rows) / 10,
            "pay": draw.integers(10, 60, rows) * 100,
            "ward": pl.Series(draw.choice([*"abcd", None], rows).tolist(), dtype=pl.String),
        }
    )


ROLES = {"name": "identifier", "ward": "other"}


def released(source: Path, output: Path, memory: str, shuffle: bool = True, **how: Any) -> Anonymized:
    result = release_anonymized(
        source,
        output=output,
        quasi_identifiers=QI,
        sensitive="pay",
        decide=ROLES,
        options=Options(memory=memory),
        writing=Writing(seed=5, shuffle=shuffle, force=True),
        **how,
    )
    assert result.refusal is None
    assert result.on_disk == (memory == SMALL)
    return result


def of_findings(result: Anonymized) -> Any:
    """The findings but for what is not measured on disk: ranks of all rows, and what each model adds on a sample."""
    found = result.findings
    near = None if found.closeness is None else {"values": found.closeness["values"]}
    return replace(found, closeness=near, cost_by_model=None, information_loss=_near(found.information_loss))


def _near(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 12)


RELEASES = [
    *(("parquet", how, True) for how in METHODS),
    ("parquet", S2, False),
    ("csv", COARSEN, True),
    ("csv", S2, False),
]


@pytest.mark.parametrize(("form", "how", "shuffle"), RELEASES, ids=str)
def test_the_release_is_that_of_memory(
    form: str, how: dict[str, Any], shuffle: bool, tmp_path: Path, own_folder: Path
) -> None:
    source, here, there = (tmp_path / f"{name}.{form}" for name in ("people", "here", "there"))
    getattr(people(1_500), f"write_{form}")(source)
    one, other = released(source, here, LARGE, shuffle, **how), released(source, there, SMALL, shuffle, **how)
    assert here.read_bytes() == there.read_bytes()
    assert of_findings(one) == of_findings(other)
    assert one.models == other.models
    assert other.to_dict()["on_disk"]
    assert "cost_by_model" in other.to_dict()["not_measured"]
    told = [json.loads(file.with_suffix(".manifest.json").read_text()) for file in (here, there)]
    for key in ("columns", "models", "checks", "parameters", "verdict", "notes", "written", "shuffled"):
        assert told[0][key] == told[1][key], key
    assert not list(own_folder.iterdir())
    found = shoal.verify(there, original=source, options=Options(memory=SMALL))
    assert found.verdict == "holds", found.reasons()
    assert not list(own_folder.iterdir())


def test_mondrian_on_disk_keeps_k_and_holds_every_record(
    tmp_path: Path, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers, dates, categories and missing values, in parts; what was lost is that of memory, or hardly more."""
    monkeypatch.setattr(in_parts, "PART", 400)
    source, output = tmp_path / "people.parquet", tmp_path / "safe.parquet"
    frame = people(1_500).with_columns(
        land=pl.Series(["FR", "IT", "DE"] * 500),
        height=pl.when(pl.int_range(1_500) < 1_300).then(170.5).otherwise(pl.col("height")),  # a part of equal values
        seen=pl.when(pl.col("age") > 5).then(pl.col("seen")),
    )
    frame.write_parquet(source)
    names = [*QI, "ward", "land"]
    asked: dict[str, Any] = {
        "quasi_identifiers": names, "sensitive": "pay", "decide": {"name": "identifier"}, "method": "mondrian", "k": 5,
    }  # fmt: skip
    found = release_anonymized(source, output=output, options=Options(memory=SMALL), **asked)
    wanted = shoal.anonymize(source, **asked)
    assert (found.on_disk, found.verdict) == (True, "holds")
    sizes = pl.read_parquet(output).group_by(names).len()["len"]
    assert (found.findings.k, found.findings.classes) == (sizes.min(), len(sizes))
    assert found.findings.loss is not None
    assert wanted.findings.loss is not None
    assert found.findings.loss < 1.1 * wanted.findings.loss
    assert shoal.verify(output, original=source, options=Options(memory=SMALL)).verdict == "holds"
    assert not list(own_folder.iterdir())
    with pytest.raises(InputError, match="keeps k-anonymity alone"):
        release_anonymized(source, output=tmp_path / "other.parquet", options=Options(memory=SMALL), l=2, **asked)


@pytest.mark.parametrize("how", [COARSEN, S2, {**S2, "interval": "columns"}], ids=str)
def test_a_release_that_is_written_from_codes_is_that_of_memory(
    how: dict[str, Any], tmp_path: Path, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coded, "FROM_ROWS", 100)
    monkeypatch.setattr(coded, "ROW_GROUP", 450)
    test_the_release_is_that_of_memory("parquet", how, True, tmp_path, own_folder)
    assert b"shoal version" in (tmp_path / "here.parquet").read_bytes()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(20, 900), st.integers(0, 10**6), st.sampled_from(METHODS[:4]), st.integers(1, 3))
def test_boxes_on_disk_are_those_in_memory(rows: int, seed: int, how: dict[str, Any], width: int) -> None:
    frame = people(rows, seed)
    here, there = (
        shoal.anonymize(
            frame, quasi_identifiers=QI[:width], sensitive="pay", options=Options(memory=memory), decide=ROLES, **how
        )
        for memory in (LARGE, 1)
    )
    assert there.on_disk
    assert there.block(slice(0, rows)).polars.equals(here.polars)
    assert of_findings(there) == of_findings(here)
    assert there.models == here.models


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    block=st.integers(1, 500),
    written=st.integers(1, 300),
    memory=st.sampled_from([1, 2_000, 9_000]),
    how=st.sampled_from([*METHODS[:4], {"method": "lattice", "k": 3, "suppression": 0.1}]),
    seed=st.integers(0, 10**6),
)
def test_blocks_of_any_size_give_what_memory_gives(
    block: int, written: int, memory: int, how: dict[str, Any], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A table in memory is one block; blocks on disk of any size, and any memory, give the same file and figures."""
    folder = tmp_path_factory.mktemp("blocks")
    people(400, seed).with_columns(pl.col("age") // 30).write_csv(folder / "people.csv")
    found = []
    for name, budget, rows in (("here", LARGE, 1 << 22), ("there", memory, block)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table, "ROWS_AT_ONCE", rows)
            patch.setattr(in_blocks, "_ROWS", written)
            patch.setattr(levels, "BYTES_PER_ROW", 0)
            result = release_anonymized(
                folder / "people.csv",
                output=folder / f"{name}.csv",
                quasi_identifiers=["age", "height"] if how["method"] == "lattice" else QI,
                sensitive="pay",
                decide={**ROLES, **({"seen": "other"} if how["method"] == "lattice" else {})},
                options=Options(memory=budget),
                writing=Writing(seed=5),
                **how,
            )
        assert result.on_disk == (name == "there")
        found.append(((folder / f"{name}.csv").read_bytes(), of_findings(result), result.models))
    assert found[0] == found[1]


def test_many_equal_distances_are_sorted_by_row() -> None:
    frame = pl.DataFrame({"age": [30, 30, 31] * 400, "pay": range(1_200)})
    here, there = (
        shoal.anonymize(frame, quasi_identifiers=["age"], k=7, method="sorted-clusters", options=Options(memory=memory))
        for memory in (LARGE, 1)
    )
    assert there.block(slice(0, 1_200)).polars.equals(here.polars)


@pytest.mark.parametrize(("cell", "text"), [("age", "[91;95]"), ("ward", "another")])
def test_an_edit_is_refused_on_disk(cell: str, text: str, tmp_path: Path) -> None:
    source, there = tmp_path / "people.parquet", tmp_path / "safe.parquet"
    people(2_000).write_parquet(source)
    released(source, there, SMALL, **S2)
    frame = pl.read_parquet(there)
    frame.with_columns(frame[cell].scatter(0, text)).write_parquet(there)
    here, on_disk_ = (shoal.verify(there, original=source, options=Options(memory=memory)) for memory in (LARGE, SMALL))
    assert here.verdict == on_disk_.verdict == "refused"
    wrong = [check for check in on_disk_.checks if check.name == f"column {cell}"]
    assert [check for check in here.checks if check.name == f"column {cell}"] == wrong
    assert not wrong[0].holds


def test_a_frame_on_disk_is_released_after_it_was_made(tmp_path: Path) -> None:
    frame = people(2_000)
    result = shoal.anonymize(
        frame, quasi_identifiers=QI, sensitive="pay", decide=ROLES, options=Options(memory=SMALL), **S2
    )
    with pytest.raises(InputError, match="does not fit in memory"):
        _ = result.frame
    shoal.release(result, tmp_path / "safe.parquet", seed=5)
    assert pl.read_parquet(tmp_path / "safe.parquet").height == 2_000


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"method": "microaggregate", "k": 3}, r"method microaggregate.*on disk .*coarsen"),
        ({"k": 3}, r"without a named method"),
        ({**S2, "interval": "mean"}, r"means of records"),
        ({**S2, "untouched_if_safe": True}, r"untouched_if_safe"),
        ({**COARSEN, "policy": {"weight": "pay"}}, r"`weight` is not supported"),
    ],
)
def test_what_needs_all_rows_at_once_is_refused_before_the_work(how: dict[str, Any], why: str) -> None:
    with pytest.raises(
        InputError, match=f"(?s)2,000 rows takes at least 600 kB of memory, and 20 kB may be used.*{why}"
    ):
        shoal.anonymize(people(2_000), quasi_identifiers=["age"], options=Options(memory=SMALL), **how)


@pytest.mark.parametrize("memory", [590_000, 100_000])
@pytest.mark.parametrize("how", [{"method": "microaggregate"}, {}], ids=str)
def test_memory_that_was_said_is_kept_by_every_method(how: dict[str, Any], memory: int) -> None:
    with pytest.raises(InputError, match=r"takes at least 600 kB of memory"):
        shoal.anonymize(people(2_000), quasi_identifiers=["age"], k=3, options=Options(memory=memory), **how)
    made = shoal.anonymize(people(100), quasi_identifiers=["age"], k=3, options=Options(memory=memory), **how)
    assert (made.on_disk, made.not_measured) == (False, None)


def test_a_policy_that_does_not_hold_leaves_nothing(tmp_path: Path, own_folder: Path) -> None:
    source, output = tmp_path / "people.parquet", tmp_path / "safe.parquet"
    people(2_000).write_parquet(source)
    settings = {**COARSEN, "resolution": 40, "k": 5}
    result = release_anonymized(
        source,
        output=output,
        quasi_identifiers=QI,
        decide={**ROLES, "pay": "other"},
        options=Options(memory=SMALL),
        **settings,
    )
    assert result.verdict == "refused"
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["people.parquet"]
    assert not list(own_folder.iterdir())


def test_a_format_that_is_written_whole_is_refused_before_the_work(tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    people(1_500).write_parquet(source)
    with pytest.raises(InputError, match=r"does not fit in memory is not written as \.xlsx"):
        released(source, tmp_path / "safe.xlsx", SMALL, **S2)


def test_a_declared_column_is_released_as_in_memory(tmp_path: Path) -> None:
    source, told = tmp_path / "people.parquet", []
    words = ["low", "middle", "high"]
    people(1_500).with_columns(pl.Series("need", words * 500)).write_parquet(source)
    order = {"type": "ordered", "order": [*words, "extreme"]}
    policy = {"types": {"need": order}, "columns": {"need": "other"}}
    for memory in (LARGE, SMALL):
        output = tmp_path / f"safe-{memory}.parquet"
        released(source, output, memory, policy=shoal.Policy(**policy), **S2)
        manifest = json.loads(output.with_suffix(".manifest.json").read_text())
        told.append((output.read_bytes(), manifest["columns"], manifest["policy"]))
    assert told[0] == told[1]


# the lattice: searched on the tuples


def patients(rows: int, seed: int = 1) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    zips = draw.choice(["02139", "02140", "10001", "94000", None], rows, p=[0.4, 0.3, 0.2, 0.09, 0.01])
    return pl.DataFrame(
        {
            "age": np.minimum(draw.geometric(0.05, rows), 90),
            "sex": draw.choice(["f", "m", "x"], rows, p=[0.5, 0.49, 0.01]),
            "zip": pl.Series(zips.tolist(), dtype=pl.String),
            "ill": draw.choice(list("abcde"), rows),
            "ward": draw.choice(list("abcd"), rows),
        }
    )


LATTICE = {
    "method": "lattice",
    "quasi_identifiers": ["age", "sex", "zip"],
    "sensitive": "ill",
    "decide": {"ward": "other"},
    "disclosure": ["ill in a,b"],
}
# suppressed rows that give nothing away, some whose sensitive cells are emptied, and rounds
SEARCHES: list[dict[str, Any]] = [
    {"k": 3},
    {"k": 3, "suppression": "5%", "l": 2},
    {"k": 30, "suppression": "0.5%", "l": 2},
    {"k": 5, "suppression": "5%", "local": True},
]


@pytest.mark.parametrize(("form", "how"), [*(("parquet", how) for how in SEARCHES), ("csv", SEARCHES[2])], ids=str)
def test_levels_are_those_of_memory(
    how: dict[str, Any], form: str, tmp_path: Path, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "BYTES_PER_ROW", 0)
    source, found = tmp_path / f"patients.{form}", []
    getattr(patients(4_000), f"write_{form}")(source)
    for memory in (LARGE, SMALL):
        output = tmp_path / f"safe-{memory}.{form}"
        result = release_anonymized(
            source, output=output, options=Options(memory=memory), writing=Writing(seed=5), **LATTICE, **how
        )
        assert result.on_disk == (memory == SMALL)
        plan = json.loads(output.with_suffix(".plan.json").read_text())
        assert len(plan.pop("salt")) == 32  # drawn anew for each release
        manifest = json.loads(output.with_suffix(".manifest.json").read_text())
        told = [manifest[key] for key in ("columns", "models", "checks", "parameters", "notes", "suppressed_rows")]
        found.append((output.read_bytes(), plan, told, of_findings(result), result.models))
        assert not list(own_folder.iterdir())
        judged = shoal.verify(output, original=source, options=Options(memory=SMALL))
        assert judged.verdict == "holds", judged.reasons()
    assert found[0] == found[1]


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("how", SEARCHES[1:3], ids=str)
def test_suppressed_rows_of_many_are_treated_as_those_of_few(
    how: dict[str, Any], form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written block by block from codes, at once as a frame, and from disk: the same file."""
    monkeypatch.setattr(levels, "BYTES_PER_ROW", 0)
    source, found = tmp_path / f"patients.{form}", []
    getattr(patients(4_000), f"write_{form}")(source)
    for name, memory, many in (("frame", LARGE, 1 << 18), ("codes", LARGE, 100), ("disk", SMALL, 100)):
        monkeypatch.setattr(in_blocks, "MANY_ROWS", many)
        output = tmp_path / f"{name}.{form}"
        made = release_anonymized(
            source, output=output, options=Options(memory=memory), writing=Writing(seed=5), **LATTICE, **how
        )
        manifest = json.loads(output.with_suffix(".manifest.json").read_text())
        assert made.findings.suppressed_rows > 0
        found.append((pl.read_csv(output) if form == "csv" else pl.read_parquet(output), manifest["columns"],
                      made.findings.removed_rows, made.written, manifest["suppressed_rows"]))  # fmt: skip
    assert all(one[0].equals(found[0][0]) and one[1:] == found[0][1:] for one in found)


@pytest.mark.parametrize("from_codes", [False, True])
def test_rows_that_must_go_are_removed_in_the_same_way(
    from_codes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what is emptied shifts the whole table, suppressed rows leave: from a frame, from codes, from disk."""
    monkeypatch.setattr(levels, "BYTES_PER_ROW", 0)
    if from_codes:
        monkeypatch.setattr(coded, "FROM_ROWS", 100)
        monkeypatch.setattr(coded, "ROW_GROUP", 450)
    source, found = tmp_path / "patients.parquet", []
    patients(4_000).write_parquet(source)
    for name, memory, many in (("frame", LARGE, 1 << 18), ("codes", LARGE, 100), ("disk", SMALL, 100)):
        monkeypatch.setattr(in_blocks, "MANY_ROWS", many)
        output = tmp_path / f"{name}.parquet"
        with monkeypatch.context() as patch:
            patch.setattr("shoal.releases.write.treatments", lambda *given: _last(treatments(*given)))
            patch.setattr("shoal.releases.write.treatments_in_codes", lambda *given: _last(treatments_in_codes(*given)))
            made = release_anonymized(
                source, output=output, options=Options(memory=memory), writing=Writing(seed=5), **LATTICE, **SEARCHES[2]
            )
        assert made.findings.removed_rows > 0
        assert made.written == 4_000 - made.findings.removed_rows
        found.append((pl.read_parquet(output), made.findings.removed_rows))
        assert shoal.verify(output, original=source).verdict == "holds"
    assert all(one[0].equals(found[0][0]) and one[1] == found[0][1] for one in found)


def _last(ways: list[Any]) -> list[Any]:
    assert len(ways) == 2, "cells are emptied, or rows are removed"
    return ways[-1:]


def towns() -> pl.DataFrame:
    """Three large towns with one tuple each, and six small ones with many."""
    draw, names = np.random.default_rng(1), ["Dd", "Ee", "Ff", "Gg", "Hh", "Ii"]
    large = [(town, 40 + place) for place, town in enumerate(["Aa", "Bb", "Cc"]) for _ in range(600)]
    small = [(town, 40 + int(age)) for town in names for age in draw.integers(0, 20, 50)]
    return pl.DataFrame([*large, *small], ["town", "age"], orient="row")


def test_hierarchies_are_built_from_records_on_disk_and_by_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "BYTES_PER_ROW", 0)
    source = tmp_path / "towns.parquet"
    towns().write_parquet(source)
    how: dict[str, Any] = {"quasi_identifiers": ["town", "age"], "k": 5, "method": "lattice"}
    found = []
    for memory in (LARGE, SMALL):
        writing = Writing(seed=5)
        output = tmp_path / f"safe-{memory}.parquet"
        found.append(release_anonymized(source, output=output, options=Options(memory=memory), writing=writing, **how))
    columns = dict.fromkeys(["town", "age"], "quasi-identifier")
    policy = {"columns": columns, "models": [{"model": "k-anonymity", "k": 5}], "count": "n"}
    found.append(shoal.anonymize(towns().group_by("town", "age").len("n"), policy, method="lattice"))
    assert found[1].on_disk
    trees = [result.plan.trees["town"].levels[1].sort().to_list() for result in found if result.plan is not None]
    assert trees == [trees[0]] * 3
    assert [result.findings.loss for result in found] == pytest.approx([found[0].findings.loss] * 3)


def test_too_many_tuples_to_search_are_refused(own_folder: Path) -> None:
    with pytest.raises(InputError, match=r"different combinations .* takes 0?.* of memory: 20 kB may be used"):
        shoal.anonymize(people(2_000), quasi_identifiers=QI, k=3, method="lattice", options=Options(memory=SMALL))
    assert not list(own_folder.iterdir())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 600), st.integers(0, 10**6), st.sampled_from([9, 10**9, 10**15]))
def test_every_row_finds_its_tuple(rows: int, seed: int, cardinality: int) -> None:
    draw = np.random.default_rng(seed)
    columns = {str(place): Coded(draw.integers(0, cardinality, rows) // 7 * 7, cardinality) for place in range(3)}
    tuples = CountTable.of(columns)
    which = TupleOfRow(list(tuples.tuples.values()), list(columns.values())).of(slice(0, rows))
    for name, column in columns.items():
        assert (tuples.tuples[name].codes[which] == column.codes).all()


def test_rows_that_are_removed_leave_the_others_in_their_order() -> None:
    result = shoal.anonymize(people(900), quasi_identifiers=QI, options=Options(memory=1), decide=ROLES, **S2)
    removed = np.arange(0, 900, 7)
    kept = np.delete(np.arange(900), removed)
    with Spill(memory=1) as disk:
        disk.start(1)
        left = in_blocks.TreatedCodes(result, {}, removed).in_order(3, disk).block(slice(0, len(kept))).polars
    whole = result.block(slice(0, 900)).polars
    assert left.equals(whole[kept[shuffled_order(len(kept), 3)]])


# the disk


def test_a_disk_that_is_too_small_is_refused_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "people.parquet"
    people(2_000).write_parquet(source)
    free = type("Free", (), {"free": 1_000})
    monkeypatch.setattr(spill.shutil, "disk_usage", lambda _: free)
    with pytest.raises(InputError, match=r"takes up to .* has 1 kB free"):
        released(source, tmp_path / "safe.parquet", SMALL, **S2)
    assert not (tmp_path / "safe.parquet").exists()


def test_a_disk_that_fills_up_is_one_sentence(
    tmp_path: Path, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "people.parquet"
    people(2_000).write_parquet(source)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spill.os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"The disk of .* is full"):
        released(source, tmp_path / "safe.parquet", SMALL, **S2)
    assert not list(own_folder.iterdir())
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["people.parquet"]


KILLED = """
import os, signal, sys
from shoal.storage.formats import plain
from shoal.storage.reading import Options
from shoal.releases import in_blocks
from shoal.releases.in_blocks import treatments_in_codes
from shoal.releases.jobs import Writing, release_anonymized
from shoal.releases.treatment import treatments
in_blocks._ROWS, plain.ROW_GROUP = 500, 450
block, seen = in_blocks.Anonymized.block, []
def killed(self, rows):
    seen.append(rows)
    if len(seen) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return block(self, rows)
in_blocks.Anonymized.block = killed
release_anonymized(sys.argv[1], output=sys.argv[2], quasi_identifiers=["age", "seen", "height"], sensitive="pay",
    decide={"name": "identifier", "ward": "other"}, options=Options(memory="20kB"), writing=Writing(seed=5),
    method="sorted-clusters", k=7)
"""


def test_a_run_that_was_killed_is_cleaned_up_after(tmp_path: Path, own_folder: Path) -> None:
    source, output, expected = (tmp_path / f"{name}.parquet" for name in ("people", "safe", "expected"))
    people(3_000).write_parquet(source)
    released(source, expected, LARGE, **S2)
    assert (
        subprocess.run([sys.executable, "-c", KILLED, str(source), str(output)], check=False).returncode
        == -signal.SIGKILL
    )
    assert not output.exists()
    assert list(own_folder.iterdir())
    released(source, output, SMALL, **S2)
    assert output.read_bytes() == expected.read_bytes()
    assert not list(own_folder.iterdir())


# the order of rows


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 5_000), st.integers(0, 10**6))
def test_rows_are_shuffled_as_in_memory(rows: int, seed: int) -> None:
    with Spill(memory=1) as disk:
        disk.start(1)
        order = shuffled_on_disk(rows, seed, disk)
        found = order.apply(np.arange(rows))
        assert found.tolist() == shuffled_order(rows, seed).tolist()
        assert order.undo(found).tolist() == list(range(rows))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 12), min_size=1, max_size=900), st.integers(1, 5))
def test_an_order_by_keys_is_that_of_a_stable_sort(keys: list[int], width: int) -> None:
    values = np.array(keys)
    with Spill(memory=1) as disk:
        disk.start(1)
        order = DiskOrder.by(
            len(values), 12 // width + 1, lambda block: (values[block] // width, [values[block]]), disk
        )
        assert order.apply(np.arange(len(values))).tolist() == np.argsort(values, kind="stable").tolist()
