"""A table that does not fit in memory is counted on disk, and gives what it gives in memory, to the digit."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.engine import LOCAL, Counted
from shoal.errors import InputError
from shoal.methods import past_memory as measured
from shoal.policy import as_policy
from shoal.storage import external, spill, table
from shoal.storage.classes import Coded, CountTable
from shoal.storage.external import PackedWords
from shoal.storage.reading import Options, read
from shoal.storage.spill import Spill, bytes_of, memory_budget
from shoal.storage.table import on_disk
from shoal.storage.tuples import counted_tuples
from shoal.wording import in_units

SMALL = "2kB"
LEFT = f"shoal-spill-{os.getuid()}-*"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is left in the folder of spilled files, whatever happens."""
    folder = tmp_path / "spilled"
    folder.mkdir()
    monkeypatch.setenv("SHOAL_SPILL", str(folder))
    monkeypatch.setattr(table, "ROWS_AT_ONCE", 300)
    return folder


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    town = draw.choice([*"abcdefgh", "long name", None], rows)
    age = [None if number % 13 == 0 else int(value) for number, value in enumerate(draw.integers(0, 90, rows))]
    return pl.DataFrame(
        {
            "town": pl.Series(town.tolist(), dtype=pl.String),
            "age": age,
            "pay": draw.normal(size=rows).round(1),
            "seen": pl.Series(draw.integers(0, 400, rows)).cast(pl.Int32).cast(pl.Date),
            "n": draw.integers(0, 4, rows),
            "who": draw.integers(0, max(rows // 3, 1), rows),
        }
    )


def same(one: Counted, other: Counted) -> None:
    assert one.names == other.names
    assert one.counts.tolist() == other.counts.tolist()
    for name, column in one.columns.items():
        again = other.columns[name]
        assert column.codes.tolist() == again.codes.tolist(), name
        assert column.values.equals(again.values), name
        assert (column.nulls, column.dtype) == (again.nulls, again.dtype), name


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 900), st.integers(0, 10**6), st.sampled_from([None, "n", "who"]), st.integers(1, 4))
def test_tuples_on_disk_are_those_in_memory(rows: int, seed: int, extra: str | None, width: int) -> None:
    frame = people(rows, seed)
    if extra == "n" and not frame["n"].sum():
        return
    names = ["town", "age", "pay", "seen"][:width]
    given = {} if extra is None else {"count" if extra == "n" else "person": extra}
    here = LOCAL.count(frame, names, options=Options(memory="1GB"), **given)  # type: ignore[arg-type]
    there = LOCAL.count(frame, names, options=Options(memory=1), **given)  # type: ignore[arg-type]
    same(here, there)


def leaked(path: Path, names: list[str], **how: Any) -> Any:
    found = shoal.leak(path, quasi_identifiers=names, leaked="10%", **how)
    assert isinstance(found, shoal.LeakRisk)
    return found.to_dict()


@pytest.mark.parametrize(
    "how", [{}, {"count": "n"}, {"person": "who"}, {"null_rule": "drop"}, {"null_rule": "wildcard"}]
)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_risk_and_leak_are_the_same(how: dict[str, Any], form: str, tmp_path: Path, own_folder: Path) -> None:
    path, found = tmp_path / f"people.{form}", []
    getattr(people(3_000), f"write_{form}")(path)
    names = ["town", "age", "seen"]
    for memory in ("1GB", SMALL):
        how["options"] = Options(memory=memory)
        found.append((shoal.risk(path, quasi_identifiers=names, **how).to_dict(), leaked(path, names, **how)))
    assert found[0] == found[1]
    assert not list(own_folder.iterdir())


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    block=st.integers(1, 700),
    memory=st.sampled_from([1, 2_000, 20_000]),
    seed=st.integers(0, 10**6),
    how=st.sampled_from([{}, {"count": "n"}, {"null_rule": "drop"}]),
)
def test_risk_is_the_same_whatever_the_blocks(block: int, memory: int, seed: int, how: dict[str, Any]) -> None:
    frame, found = people(700, seed), []
    for budget, rows in (("1GB", 1 << 22), (memory, block)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table, "ROWS_AT_ONCE", rows)
            options = Options(memory=budget)
            found.append(shoal.risk(frame, quasi_identifiers=["town", "age", "seen"], options=options, **how).to_dict())
    assert found[0] == found[1]


POLICIES: list[dict[str, Any]] = [
    {"models": [{"model": "k-anonymity", "k": 2}]},
    {"models": [{"model": "k-anonymity", "k": 2}], "count": "n", "leak": {"leaked": "10%", "threshold": 0.2}},
    {
        "models": [{"model": "l-diversity", "l": 2, "sensitive": "pay"}, {"model": "k-anonymity", "k": 3}],
        "null_rule": "drop",
    },
    {"models": [{"model": "t-closeness", "t": 0.4, "sensitive": "age"}], "null_rule": "wildcard"},
    {"models": [{"model": "k-anonymity", "k": 2}], "person": "who"},
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_verify_is_the_same(policy: dict[str, Any], tmp_path: Path, own_folder: Path) -> None:
    path = tmp_path / "people.parquet"
    people(3_000).with_columns(pl.col("seen").dt.year()).write_parquet(path)
    columns = {"town": "quasi-identifier", "seen": "quasi-identifier"}
    told = as_policy({"columns": columns, **policy})
    found = [shoal.verify(path, told, options=Options(memory=memory)).to_dict() for memory in ("1GB", SMALL)]
    assert found[0] == found[1]
    assert not list(own_folder.iterdir())


def test_anonymising_what_does_not_fit_is_refused_before_the_work() -> None:
    with pytest.raises(InputError, match=r"3,000 rows takes at least 900 kB of memory, and 2 kB may be used"):
        shoal.anonymize(people(3_000), quasi_identifiers=["age"], k=3, options=Options(memory=SMALL))


@pytest.mark.parametrize("how", [{"method": "sorted-clusters", "k": 3}, {"method": "coarsen", "resolution": 4}])
def test_a_table_on_disk_is_anonymised_as_one_in_memory(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "BYTES_PER_ROW", 0)
    frame, names = people(3_000).drop("town", "n", "who").fill_null(0), ["age", "seen"]
    here, there = (
        shoal.anonymize(frame, quasi_identifiers=names, sensitive="pay", options=Options(memory=memory), **how)
        for memory in ("1GB", SMALL)
    )
    assert on_disk(there.table["age"].codes)
    assert here.polars.equals(there.polars)
    assert here.findings == there.findings


def test_files_with_other_columns_are_named_with_the_columns(tmp_path: Path) -> None:
    people(10).drop("n").write_parquet(tmp_path / "a.parquet")
    people(10).drop("who").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        InputError, match=r"b\.parquet has other columns than .*a\.parquet: it lacks 'who', and it has also 'n'"
    ):
        read(tmp_path)
    with pytest.raises(InputError, match=r"b\.parquet has no column 'who'"):
        shoal.risk(str(tmp_path / "*.parquet"), quasi_identifiers=["age", "who"])


def test_keys_past_64_bits() -> None:
    draw = np.random.default_rng(5)
    frame = pl.DataFrame(
        {f"c{number}": draw.integers(0, 3, 2_000) * draw.integers(0, 10**6, 2_000) for number in range(7)}
    )
    frame = pl.concat([frame, frame.head(700)])
    here, there = (LOCAL.count(frame, options=Options(memory=memory)) for memory in ("1GB", SMALL))
    assert np.prod([float(column.cardinality) for column in here.columns.values()]) > 2**64
    same(here, there)


def test_one_key_that_most_rows_have_is_counted_and_not_kept(tmp_path: Path) -> None:
    codes = Coded(np.array([7] * 5_000 + list(range(30_000_000, 30_000_900)) + [7] * 3_000), 1 << 40)
    weights = np.arange(len(codes.codes)) % 3
    for counts in (None, weights):
        with Spill(memory=SMALL) as where:
            where.start(1)
            found = external.count_on_disk({"x": codes}, counts, where)
            assert list(
                external._RangeFiles(PackedWords.of([codes]), counts, where).starts_of_ranges()[1].values()
            ) == [7]
        kept = slice(None) if counts is None else weights > 0
        told = CountTable.of({"x": Coded(codes.codes[kept], 1 << 40)}, None if counts is None else counts[kept])
        assert found.counts.tolist() == told.counts.tolist()
        assert found.tuples["x"].codes.tolist() == told.tuples["x"].codes.tolist()


def test_a_table_on_disk_stays_readable_when_its_files_are_gone(own_folder: Path) -> None:
    frame = people(2_000)
    table = read(frame, None, Options(memory=SMALL, types={"age": "number", "town": "nominal"}))
    assert all(on_disk(column.codes) for column in table.columns.values())
    assert table.to_polars().equals(read(frame, None, Options(types={"age": "number", "town": "nominal"})).to_polars())
    assert not list(own_folder.iterdir())


def test_files_are_their_owners_alone_and_go_at_an_error(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []

    def look(*_: Any) -> None:
        modes.extend((path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in own_folder.rglob("*"))
        raise KeyboardInterrupt

    monkeypatch.setattr(external, "_together", look)
    with pytest.raises(KeyboardInterrupt):
        LOCAL.count(people(2_000), ["town", "age"], options=Options(memory=SMALL))
    assert {mode for folder, mode in modes if folder} == {0o700}
    assert {mode for folder, mode in modes if not folder} == {0o600}
    assert not list(own_folder.iterdir())


def test_a_disk_that_is_too_small_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch, own_folder: Path) -> None:
    monkeypatch.setattr(spill.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000}))
    with pytest.raises(InputError, match=r"takes up to .* has 1 kB free") as error:
        LOCAL.count(people(2_000), ["town", "age"], options=Options(memory=SMALL))
    assert "SHOAL_SPILL" in (error.value.cure or "")
    assert not list(own_folder.iterdir())


def test_a_disk_that_fills_is_one_sentence_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, own_folder: Path
) -> None:
    kept = spill.SpilledFile.append

    def full(self: Any, array: Any) -> int:
        with spill.filling(self.path.parent):
            if self.path.name.startswith("range"):
                raise OSError(28, "No space left on device")
        return kept(self, array)

    monkeypatch.setattr(spill.SpilledFile, "append", full)
    with pytest.raises(InputError, match="is full; nothing was left on it"):
        LOCAL.count(people(2_000), ["town", "age", "pay", "seen"], options=Options(memory=SMALL))
    assert not list(own_folder.iterdir())


def test_no_folder_for_spilled_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder") as raised:
        read(people(2_000), None, Options(memory=SMALL, spill_dir=tmp_path / "nowhere"))
    assert str(raised.value.cure).startswith("Set `spill_dir` (SHOAL_SPILL)")


def test_amounts_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_MEMORY", "3 GB")
    assert memory_budget() == 3 * 10**9
    assert [memory_budget(amount) for amount in ("1MB", "1 MiB", "2k", "5B", 7)] == [10**6, 1 << 20, 2000, 5, 7]
    assert in_units(memory_budget("200MB")) == "200 MB"
    monkeypatch.delenv("SHOAL_MEMORY")
    assert memory_budget() > 1 << 20
    for wrong in ("much", "0", "-1GB"):
        with pytest.raises(InputError, match="cannot be read"):
            bytes_of(wrong)
    assert bytes_of("2000000000") == 2 * 10**9
    for wrong in ("8", "0.5", "999999"):
        with pytest.raises(InputError, match=r"`upload_limit` has no unit\."):
            bytes_of(wrong, "upload_limit")


KILLED = """
import os, signal, sys
import shoal
from shoal.storage.reading import Options
from shoal.storage import external, table
table.ROWS_AT_ONCE = 300
count, done = external._RangeFiles._count, []
def count_and_die(self, files):
    done.append(count(self, files))
    if len(done) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return done[-1]
external._RangeFiles._count = count_and_die
shoal.risk(sys.argv[1], quasi_identifiers=["town", "age", "pay", "seen"], options=Options(memory="20kB"))
"""


def killed(path: Path) -> Path:
    """Risk killed in the middle of counting: what it left."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)], env={**os.environ, "SHOAL_THREADS": "1"}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    (left,) = Path(os.environ["SHOAL_SPILL"]).glob(LEFT)
    return left


def risk_of(path: Path, memory: str) -> dict[str, Any]:
    names = ["town", "age", "pay", "seen"]
    return shoal.risk(path, quasi_identifiers=names, options=Options(memory=memory)).to_dict()


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path, own_folder: Path) -> None:
    path = tmp_path / "people.parquet"
    people(9_000).write_parquet(path)
    left = killed(path)
    assert any(left.iterdir()), "killed while it counted"
    assert risk_of(path, "20kB") == risk_of(path, "1GB")
    assert not list(own_folder.iterdir())


def test_what_a_living_run_uses_is_left_alone(own_folder: Path) -> None:
    with Spill(memory=SMALL) as first:
        first.start(1)
        file = first.new_file("codes")
        file.append(np.arange(3))
        with Spill(memory=SMALL) as second:
            second.start(1)
            assert second.folder != first.folder
        assert file.mapped(np.int64).tolist() == [0, 1, 2]


def test_a_folder_that_others_may_write_to_is_not_removed(own_folder: Path) -> None:
    open_to_all = own_folder / f"shoal-spill-{os.getuid()}-left"
    open_to_all.mkdir(mode=0o755)
    (open_to_all / "codes").write_text("of somebody else")
    with Spill(memory=SMALL) as spilled:
        spilled.start(1)
    assert [path.name for path in open_to_all.iterdir()] == ["codes"]


def test_threads_that_take_a_new_file_at_once_take_different_ones(own_folder: Path) -> None:
    """Columns are written by several threads: two in one file would be codes of neither."""
    threads, times = 8, 40
    together = threading.Barrier(threads)
    with Spill(parent=own_folder) as folder:
        folder.start(1)

        def take(_: int) -> list[Path]:
            taken = []
            for _ in range(times):
                together.wait()
                file = folder.new_file("codes")
                file.close()
                taken.append(file.path)
            return taken

        with ThreadPoolExecutor(threads) as pool:
            paths = [path for taken in pool.map(take, range(threads)) for path in taken]
    assert len({*paths}) == threads * times


def test_what_is_computed_from_an_array_on_disk_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_folder: Path
) -> None:
    """numpy calls it mapped as well, but it has no file, beside which something could be written."""
    monkeypatch.chdir(tmp_path)
    with Spill(parent=own_folder) as folder:
        folder.start(1)
        file = folder.new_file("codes")
        file.append(np.arange(5, dtype=np.uint8))
        codes = file.mapped(np.uint8)
        like = np.zeros_like(codes)
        assert isinstance(like, np.memmap)
        assert [on_disk(array) for array in (codes, codes[1:], like, codes.astype(np.int64))] == [
            True,
            True,
            False,
            False,
        ]
        assert spill.in_blocks(like, lambda block: block + 2, np.uint8).tolist() == [2] * 5
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_a_frequent_key_without_records_is_not_a_class() -> None:
    odd = np.arange(6_000) % 2
    codes = Coded(np.where(odd, np.arange(6_000) + 30_000_000, 7), 1 << 40)
    with Spill(memory="1kB") as where:
        where.start(1)
        found = external.count_on_disk({"x": codes}, odd * 3, where)
        ranges = external._RangeFiles(PackedWords.of([codes]), odd * 3, where)
        assert list(ranges.starts_of_ranges()[1].values()) == [7]
    assert found.counts.tolist() == [3] * 3_000
    assert found.tuples["x"].codes.min() == 30_000_001


def test_two_counts_in_one_folder_leave_each_other_alone() -> None:
    draw = np.random.default_rng(1)
    columns = {name: Coded(draw.integers(0, 1 << 20, 2_000), 1 << 20) for name in "abc"}
    with Spill(memory="1kB") as where:
        where.start(1)
        found = {
            names: external.count_on_disk({name: columns[name] for name in names}, None, where)
            for names in ("ab", "bc")
        }
        for names, one in found.items():
            told = CountTable.of({name: columns[name] for name in names}, None)
            assert {name: one.tuples[name].codes.tolist() for name in names} == {
                name: told.tuples[name].codes.tolist() for name in names
            }


def test_a_temporary_file_that_is_gone_is_not_a_fault_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*given: Any) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("shoal.storage.encode.ColumnEncoder.move_to", gone)
    with pytest.raises(InputError, match="Temporary files of this run"):
        LOCAL.count(people(2_000), ["town", "age"], options=Options(memory=SMALL))


def test_counting_again_keeps_to_the_memory_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[int] = []
    start = Spill.start
    monkeypatch.setattr(Spill, "start", lambda self, need: (budgets.append(self.budget), start(self, need))[1])
    table = read(people(2_000), ["town", "age"], Options(memory=SMALL))
    counted_tuples(table, ["town", "age"])
    assert budgets == [memory_budget(SMALL)] * 2
