"""Parquet files of several writers, read stretch by stretch: the table is the one that polars reads at once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.releases.coded import CodedColumn, write_coded
from shoal.storage import Table
from shoal.storage.encode import encode
from shoal.storage.reading import Options, binary, read

ROWS = 700


def _frame(seed: int = 0) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    numbers = pl.Series(draw.integers(-50, 50, ROWS))
    return pl.DataFrame(
        {
            "whole": numbers,
            "small": numbers.cast(pl.Int8),
            "medium": numbers.cast(pl.Int16).replace(7, None),
            "four": numbers.cast(pl.Int32),
            "u1": (numbers + 60).cast(pl.UInt8),
            "u2": (numbers + 60_000).cast(pl.UInt16),
            "u4": (numbers + 2**32 - 100).cast(pl.UInt32),
            "u8": pl.Series([2**64 - 1 - int(n) % 9 for n in numbers], dtype=pl.UInt64),
            "day": numbers.cast(pl.Int32).cast(pl.Date),
            "text": pl.Series(draw.choice(["x", "ü€", "", "a" * 300, None], ROWS).tolist(), dtype=pl.String),
            "many": [f"{n % 97} of many" for n in range(ROWS)],
            "runs": ["same"] * (ROWS // 2) + ["other"] * (ROWS - ROWS // 2),
            "nothing": pl.Series([None] * ROWS, dtype=pl.String),
            "real": draw.integers(0, 4, ROWS) / 2,
            "moment": numbers.cast(pl.Datetime("us")),
            "said": numbers > 0,
            "kind": pl.Series(draw.choice(["a", "b"], ROWS).tolist()).cast(pl.Categorical),
        }
    )


def _same(one: Table, other: Table) -> None:
    assert (one.names, one.rows) == (other.names, other.rows)
    for name in one.names:
        a, b = one[name], other[name]
        assert (a.codes == b.codes).all(), name
        assert (a.codes.dtype, a.nulls, a.dtype) == (b.codes.dtype, b.nulls, b.dtype), name
        assert a.values.equals(b.values, check_names=True, check_dtypes=True), name


@pytest.mark.parametrize("how", ["zstd", "uncompressed", "snappy"])
@pytest.mark.parametrize("size", [64, 90, 700])
@pytest.mark.parametrize("step", [50, 64, 180, 10_000])
def test_stretches_of_rows_make_the_table(
    how: Any, size: int, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, frame = tmp_path / "some.parquet", _frame()
    frame.write_parquet(path, row_group_size=size, compression=how)
    monkeypatch.setattr(binary, "_FEWER_ROWS", step)
    monkeypatch.setattr(binary, "ROWS_PER_BATCH", step)
    _same(read(path), read(frame))
    _same(read(path, ["runs", "real", "text"]), read(frame.select("runs", "real", "text")))


def test_large_groups_are_not_read_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, frame = tmp_path / "some.parquet", _frame()
    frame.write_parquet(path)
    monkeypatch.setattr(binary, "_LARGEST_SLICED", ROWS - 1)
    steps, whole = [], binary._source
    monkeypatch.setattr(binary, "_source", lambda *given: (steps.append(given[3]), whole(*given))[1])
    _same(read(path), read(frame))
    monkeypatch.setattr(binary, "_LARGEST_SLICED", ROWS)
    _same(read(path), read(frame))
    assert steps[0] is None, "a stretch of a large group is read by going over the rows before it"
    assert steps[-1]


def test_our_own_files(tmp_path: Path) -> None:
    path, frame = tmp_path / "ours.parquet", _frame().drop("kind", "said")
    columns = [CodedColumn(own.name, own.codes, own.values) for own in map(encode, frame)]
    write_coded(path, columns, [slice(0, 300), slice(300, ROWS)])
    _same(read(path), read(frame))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_files_of_another_writer(version: Any, tmp_path: Path) -> None:
    """A dictionary with values that no row has, columns that cannot be missing, several pages, parts of a column."""
    path = tmp_path / "arrow.parquet"
    spare = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2] * 100), pa.array(["b", "unused", "a"]))
    table = pa.table(
        {
            "spare": spare.cast(pa.dictionary(pa.int32(), pa.string())),
            "never": pa.array(["k", "l"] * 200),
            "part": [{"x": n} for n in range(400)],
        },
        schema=pa.schema([
            pa.field("spare", pa.dictionary(pa.int32(), pa.string())),
            pa.field("never", pa.string(), nullable=False),
            pa.field("part", pa.struct([("x", pa.int64())])),
        ]),
    )  # fmt: skip
    pq.write_table(
        table.drop_columns(["part"]), path, compression="zstd", data_page_version=version, data_page_size=64,
        store_schema=False, row_group_size=150,
    )  # fmt: skip
    found = read(path)
    assert found["spare"].values.to_list() == ["a", "b"]
    assert found["spare"].decode().to_list() == ["a", "b", None, "a"] * 100
    assert found["never"].decode().to_list() == ["k", "l"] * 200
    pq.write_table(table, path, compression="zstd", data_page_version=version)
    _same(read(path, ["never"]), read(pl.DataFrame({"never": ["k", "l"] * 200})))


def test_several_files_and_folders_that_are_columns(tmp_path: Path) -> None:
    for year in (2019, 2020):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        _frame(year).write_parquet(folder / "part.parquet", row_group_size=100)
    both = pl.concat([_frame(year).with_columns(year=year) for year in (2019, 2020)])
    assert read(tmp_path)["year"].values.to_list() == [2019, 2020]
    for name, series in both.to_dict().items():
        assert read(tmp_path)[name].decode().cast(pl.String).equals(series.cast(pl.String)), name


def test_past_memory(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    _frame().write_parquet(path, row_group_size=90)
    _same(read(path, options=Options(memory="10kB", spill_dir=str(tmp_path))), read(_frame()))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_page_is_an_error_or_another_table(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Bytes of pages that are not packed are changed: never a crash, never more memory, at worst another value."""
    path = tmp_path_factory.mktemp("damaged") / "some.parquet"
    _frame().select("text", "many", "four", "medium").write_parquet(
        path, compression="uncompressed", row_group_size=350
    )
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(4, len(content) - 9 - int.from_bytes(content[-8:-4], "little")))
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with suppress(InputError):
        assert read(path).rows == ROWS


@pytest.mark.parametrize("sizes", [[0, ROWS], [300, 0, ROWS - 300], [ROWS, 0], [0, 0, ROWS, 0]])
def test_groups_without_rows(sizes: list[int], tmp_path: Path) -> None:
    whole, path, start = pa.table({"a": [f"x{n % 7}" for n in range(ROWS)]}), tmp_path / "t.parquet", 0
    with pq.ParquetWriter(path, whole.schema) as writer:
        for size in sizes:
            writer.write_table(whole.slice(start, size))
            start += size
    assert read(path)["a"].decode().to_list() == whole["a"].to_pylist()
