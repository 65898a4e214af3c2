"""What a killed run left is taken up only by a run of the same columns, and only where it is whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.engine import LOCAL
from shoal.errors import InputError
from shoal.storage import external, spill
from shoal.storage.classes import Coded, CountTable
from shoal.storage.reading import Options, read
from shoal.storage.spill import Spill, memory_budget
from shoal.storage.tuples import tuples_on_disk

WIDE = {"a": 5_000, "b": 5_000, "c": 3_000, "d": 4_000, "e": 50}


class Killed(BaseException):
    """Stands for a kill: nothing of the run is removed."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "spilled"
    folder.mkdir()
    monkeypatch.setenv("SHOAL_SPILL", str(folder))
    monkeypatch.setattr(external, "ROWS_AT_ONCE", 300)
    return folder


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    draw = np.random.default_rng(0)
    path = tmp_path / "wide.parquet"
    pl.DataFrame({name: draw.integers(0, size, 3_000) for name, size in WIDE.items()}).write_parquet(path)
    return path


def kill(of: Any, name: str, monkeypatch: pytest.MonkeyPatch, when: Any) -> None:
    """End a run as a kill does, after a call for which `when` holds."""
    old = getattr(of, name)

    def last(self: Any, *given: Any, **named: Any) -> Any:
        found = old(self, *given, **named)
        if when(given, named):
            raise Killed
        return found

    def close(self: Spill) -> None:
        assert self._lock is not None
        self._lock.release()
        self._lock = None

    monkeypatch.setattr(of, name, last)
    monkeypatch.setattr(Spill, "close", close)


def counted(path: Path, memory: str = "1kB", **how: Any) -> Any:
    found = LOCAL.count(path, options=Options(memory=memory), **how)
    return {name: column.codes.tolist() for name, column in found.columns.items()}, found.counts.tolist()


def test_a_run_of_other_columns_does_not_take_up_the_ranges(wide: Path, own_folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        kill(Spill, "keep", patch, lambda given, named: "sizes" in named)
        with pytest.raises(Killed):
            counted(wide, without=["a"])
    assert list(own_folder.iterdir())
    assert counted(wide, without=["e"]) == counted(wide, "1GB", without=["e"])


def test_ranges_of_other_columns_in_one_folder_are_cut_anew() -> None:
    draw = np.random.default_rng(1)
    columns = {name: Coded(draw.integers(0, 1 << 20, 2_000), 1 << 20) for name in "abc"}
    with Spill(memory="1kB") as where:
        where.start(1)
        for names in ("ab", "bc"):
            some = {name: columns[name] for name in names}
            found, told = external.count_on_disk(some, None, where), CountTable.of(some, None)
            assert {name: found.tuples[name].codes.tolist() for name in names} == {
                name: told.tuples[name].codes.tolist() for name in names
            }


def test_a_frequent_key_without_records_is_not_a_class() -> None:
    odd = np.arange(6_000) % 2
    codes = Coded(np.where(odd, np.arange(6_000) + 30_000_000, 7), 1 << 40)
    with Spill(memory="1kB") as where:
        where.start(1)
        found = external.count_on_disk({"x": codes}, odd * 3, where)
        assert list(where.state["alone"].values()) == [7]
    assert found.counts.tolist() == [3] * 3_000
    assert found.tuples["x"].codes.min() == 30_000_001


def test_a_kill_while_results_are_gathered(wide: Path, own_folder: Path) -> None:
    added: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        kill(external._Gathered, "add", patch, lambda given, named: added.append(1) or len(added) == 12)
        with pytest.raises(Killed):
            counted(wide, columns=["a", "b", "c"])
    (left,) = own_folder.iterdir()
    assert not (left / "counted-0").exists(), "some were gathered already"
    assert counted(wide, columns=["a", "b", "c"]) == counted(wide, "1GB", columns=["a", "b", "c"])
    assert not list(own_folder.iterdir())


def test_a_source_changed_in_secret_is_read_anew(tmp_path: Path) -> None:
    path, draw = tmp_path / "people.csv", np.random.default_rng(0)
    pl.DataFrame({"age": draw.integers(10, 99, 20_000), "zip": draw.integers(10_000, 99_999, 20_000)}).write_csv(path)
    with pytest.MonkeyPatch.context() as patch:
        kill(Spill, "keep", patch, lambda given, named: "table" in named)
        with pytest.raises(Killed):
            counted(path)
    about, lines = path.stat(), path.read_bytes().split(b"\n")
    lines[1:9_000] = [lines[1]] * 8_999
    path.write_bytes(b"\n".join(lines))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert path.stat().st_size == about.st_size
    assert counted(path) == counted(path, "1GB")


@pytest.mark.parametrize("when", ["while it is emptied", "before it is removed itself"])
def test_an_equal_run_that_starts_while_one_ends_loses_nothing(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    first, second = (Spill(memory="1kB", stamp=lambda: "stamp") for _ in range(2))
    first.start(1)
    first.keep(sizes=[1])
    remove, rmdir = spill.remove_file, Path.rmdir

    def emptied(path: Path) -> bool:
        monkeypatch.undo()
        second.start(1)
        return remove(path)

    def removed(path: Path) -> None:
        monkeypatch.undo()
        second.start(1)
        rmdir(path)

    if when == "while it is emptied":
        monkeypatch.setattr(spill, "remove_file", emptied)
    else:
        monkeypatch.setattr(Path, "rmdir", removed)
    first.close()
    with second:
        assert not second.state
        second.file("codes").append(np.arange(3))
        assert second.folder.exists()
    assert not first.folder.exists()
    assert not second.folder.exists()


def test_a_temporary_file_that_is_gone_is_not_a_fault_of_the_source(
    wide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*given: Any) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("shoal.storage.encode.ColumnEncoder.move_to", gone)
    with pytest.raises(InputError, match="Temporary files of this run"):
        counted(wide)


def test_counting_again_keeps_to_the_memory_that_was_asked_for(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[int] = []
    start = Spill.start
    monkeypatch.setattr(Spill, "start", lambda self, need: (budgets.append(self.budget), start(self, need))[1])
    table = read(wide, ["a", "b"], Options(memory="1kB"))
    tuples_on_disk(table, ["a", "b"], None)
    assert budgets == [memory_budget("1kB")] * 2
