"""Columns of a Parquet file read from its dictionary pages: what polars reads, or nothing; damage is an error."""

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

from shoal.compiled import machine
from shoal.errors import InputError
from shoal.reading import Options, binary, parquet_pages, read
from shoal.reading.parquet_check import check_parquet
from shoal.reading.parquet_loops import unpack
from shoal.releases.parquet_codes import CodedColumn, _packed, write_coded
from shoal.table import Table
from shoal.table.encode import encode

pytestmark = pytest.mark.skipif(not machine.is_supported(), reason="loops are loaded on Linux on x86-64 alone")
ROWS = 700


@pytest.fixture(autouse=True)
def small_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    parquet_pages.rehearse()
    monkeypatch.setattr(binary, "FROM_ROWS", 1)


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


def _by_polars(path: Path | list[Path], monkeypatch: pytest.MonkeyPatch) -> Table:
    with monkeypatch.context() as patched:
        patched.setattr(binary, "FROM_ROWS", 1 << 60)
        return read(path)


def _known(path: Path) -> list[str]:
    pages: dict[int, Any] = {}
    footer = check_parquet(path, None, None, pages)
    found = parquet_pages.CodedFile.of(path, footer, pages, pl.scan_parquet(path), footer.names)
    return [] if found is None else list(found.known)


@pytest.mark.parametrize("how", ["zstd", "uncompressed", "snappy"])
@pytest.mark.parametrize("size", [64, 700])
def test_polars_files_are_read_as_polars_reads_them(
    how: Any, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, frame = tmp_path / "some.parquet", _frame()
    frame.write_parquet(path, row_group_size=size, compression=how)
    _same(read(path), _by_polars(path, monkeypatch))
    _same(read(path, ["runs", "real", "text"]), read(frame.select("runs", "real", "text")))
    assert ("runs" in _known(path)) == (how != "snappy")
    assert not {"real", "moment", "said", "kind"} & set(_known(path))


def test_our_own_files_are_read_in_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, frame = tmp_path / "ours.parquet", _frame().drop("kind", "said")
    columns = [CodedColumn(own.name, own.codes, own.values) for own in map(encode, frame)]
    write_coded(path, columns, [slice(0, 300), slice(300, ROWS)])
    assert {"text", "many", "whole", "day"} <= set(_known(path))
    _same(read(path), _by_polars(path, monkeypatch))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_files_of_another_writer(version: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    _same(found, _by_polars(path, monkeypatch))
    assert found["spare"].values.to_list() == ["a", "b"]
    assert ("never" in _known(path)) == (version == "1.0")
    pq.write_table(table, path, compression="zstd", data_page_version=version)
    _same(read(path, ["never"]), read(pl.DataFrame({"never": ["k", "l"] * 200})))


def test_several_files_and_folders_that_are_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for year in (2019, 2020):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        _frame(year).write_parquet(folder / "part.parquet", row_group_size=100)
    found = read(tmp_path)
    assert found["year"].values.to_list() == [2019, 2020]
    _same(found, _by_polars(tmp_path, monkeypatch))  # type: ignore[arg-type]


def test_batches_of_several_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.parquet"
    _frame().write_parquet(path, row_group_size=90)
    monkeypatch.setattr(parquet_pages, "_ROWS", 200)
    _same(read(path), _by_polars(path, monkeypatch))


def test_past_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.parquet"
    _frame().write_parquet(path, row_group_size=90)
    _same(read(path, options=Options(memory="10kB", spill_dir=str(tmp_path))), _by_polars(path, monkeypatch))


def test_a_file_that_polars_reads_otherwise_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.parquet"
    _frame().write_parquet(path)
    assert _known(path)
    monkeypatch.setattr(parquet_pages, "united_texts", lambda contents, first: None)
    monkeypatch.setattr(parquet_pages, "texts_of", lambda content, count: pl.Series(["wrong"] * count))
    assert not _known(path)
    _same(read(path), _by_polars(path, monkeypatch))


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


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 24), st.lists(st.integers(0, 2**24 - 1), min_size=1, max_size=60), st.integers(0, 9))
def test_packed_numbers(bits: int, numbers: list[int], first: int) -> None:
    codes = np.array(numbers, np.uint32) % (1 << bits)
    packed = np.frombuffer(_packed(codes, bits), np.uint8)
    found, held = np.empty(len(codes), np.uint32), np.zeros(int(codes.max()) + 1, bool)
    assert unpack(packed, 0, bits, first, found, held) == len(packed)
    assert (found == codes + first).all()
    assert np.flatnonzero(held).tolist() == sorted(set(codes.tolist()))
    assert unpack(packed, 0, bits, first, found, held[:-1]) == -1
    assert unpack(packed[:-1], 0, bits, first, found, held) == -1


def test_a_file_without_texts_is_left_to_polars(tmp_path: Path) -> None:
    path = tmp_path / "numbers.parquet"
    _frame().select("whole", "day").write_parquet(path)
    assert not _known(path)


@pytest.mark.parametrize("sizes", [[0, ROWS], [300, 0, ROWS - 300], [ROWS, 0], [0, 0, ROWS, 0]])
def test_groups_without_rows(sizes: list[int], tmp_path: Path) -> None:
    whole, path, start = pa.table({"a": [f"x{n % 7}" for n in range(ROWS)]}), tmp_path / "t.parquet", 0
    with pq.ParquetWriter(path, whole.schema) as writer:
        for size in sizes:
            writer.write_table(whole.slice(start, size))
            start += size
    assert read(path)["a"].decode().to_list() == whole["a"].to_pylist()
