"""A disk that fills at the output is said as that, in every format; nothing is left."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.releases import in_blocks
from shoal.releases.jobs import release_anonymized
from shoal.storage.reading import Options
from shoal.storage.writing import write_frame


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file can grow past a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def numbers(rows: int = 20_000) -> pl.DataFrame:
    draw = np.random.default_rng(0)
    return pl.DataFrame({"age": draw.integers(0, 80, rows), "pay": draw.random(rows)})


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow", "jsonl"])
def test_a_full_disk_is_named(form: str, tmp_path: Path) -> None:
    with (
        files_up_to(20_000),
        pytest.raises(InputError, match=r"The disk of .* is full: safe.* takes about 320 kB, and .* free"),
    ):
        write_frame(numbers(), tmp_path / f"safe.{form}")
    assert not list(tmp_path.iterdir())


def test_a_reason_that_is_not_told_is_looked_for_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.storage.writing.shutil.disk_usage", lambda _: type("Free", (), {"free": 0}))
    with files_up_to(20_000), pytest.raises(InputError, match=r"The disk of .* is full"):
        write_frame(numbers(), tmp_path / "safe.avro")


@pytest.mark.parametrize("memory", ["1GB", "20kB"])
def test_a_release_on_a_full_disk(memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, write = tmp_path / "people.parquet", in_blocks.write_blocks
    numbers().write_parquet(source)
    full = files_up_to(20_000)

    def written(*given: object) -> None:  # what is spilled has a disk of its own
        with full:
            write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("shoal.releases.write.write_blocks", written)
    how = {"quasi_identifiers": ["age"], "decide": {"pay": "other"}, "k": 2, "method": "coarsen", "resolution": 2}
    with (
        files_up_to(20_000 if memory == "1GB" else 10**9),
        pytest.raises(InputError, match=r"The disk of .* is full: safe.parquet takes about [0-9]+ kB"),
    ):
        release_anonymized(source, output=tmp_path / "safe.parquet", options=Options(memory=memory), **how)
    assert [file.name for file in tmp_path.iterdir()] == ["people.parquet"]
