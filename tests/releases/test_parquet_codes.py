"""Parquet files that are written from codes: every reader finds the table, and who wrote them cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.releases.test_in_blocks import METHODS, PEOPLE, ROLES

import shoal
from shoal.releases import coded, in_blocks
from shoal.releases.coded import CodedColumn, _packed, write_coded
from shoal.storage.encode import encode
from shoal.storage.reading.hostile import check_parquet

ROWS = 1003


def _columns(frame: pl.DataFrame) -> list[CodedColumn]:
    return [coded._coded(encode(series)) for series in frame]


def _groups(rows: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


def _people() -> pl.DataFrame:
    draw = np.random.default_rng(3)
    numbers = pl.Series(draw.integers(0, 400, ROWS))
    return pl.DataFrame(
        {
            "whole": draw.integers(-90, 90, ROWS),
            "small": pl.Series(draw.integers(-100, 90, ROWS), dtype=pl.Int8),
            "unsigned": pl.Series(draw.integers(0, 2**32, ROWS), dtype=pl.UInt32),
            "widest": pl.Series([2**64 - 1 - row % 7 for row in range(ROWS)], dtype=pl.UInt64),
            "text": pl.Series(draw.choice(["x", "ü€", "", "a" * 300, None], ROWS).tolist(), dtype=pl.String),
            "apart": [f"person {row}" for row in range(ROWS)],
            "nothing": pl.Series([None] * ROWS, dtype=pl.String),
            "one": ["same"] * ROWS,
            "real": pl.Series([0.0, -0.0, 1.5, None] * 250 + [2.5] * 3),
            "short": pl.Series(draw.integers(0, 9, ROWS) / 2, dtype=pl.Float32),
            "day": numbers.cast(pl.Int32).cast(pl.Date),
            "moment": numbers.cast(pl.Datetime("ms")),
            "zoned": numbers.cast(pl.Datetime("us", "Europe/Vienna")),
            "fine": numbers.cast(pl.Datetime("ns")),
            "clock": (numbers * 10**9).cast(pl.Time),
            "said": pl.Series([True, False, None] * 334 + [True]),
        }
    )


@pytest.mark.parametrize("size", [8, 450, 2_000])
def test_polars_and_pyarrow_read_the_table(size: int, tmp_path: Path) -> None:
    frame, path, other = _people(), tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    assert all(column.is_written for column in _columns(frame))
    write_coded(path, _columns(frame), _groups(ROWS, size))
    frame.write_parquet(other, row_group_size=size)
    check_parquet(path)
    read = pl.read_parquet(path)
    assert read.schema == frame.schema
    assert read.equals(frame)
    assert read["real"].cast(pl.String).equals(frame["real"].cast(pl.String))  # -0.0 is not 0.0
    ours, theirs = pq.ParquetFile(path), pq.ParquetFile(other)
    assert ours.schema.equals(theirs.schema)
    assert ours.read().equals(theirs.read())
    assert ours.metadata.num_row_groups == len(_groups(ROWS, size))
    for group in range(ours.metadata.num_row_groups):
        for number, name in enumerate(frame.columns):
            told, expected = (file.metadata.row_group(group).column(number) for file in (ours, theirs))
            assert told.statistics.null_count == expected.statistics.null_count
            # of floats no least value is said (0.0 is -0.0 there), nor a long text
            if name not in ("real", "short", "text"):
                assert told.statistics.has_min_max == expected.statistics.has_min_max
            if told.statistics.has_min_max:
                assert (told.statistics.min, told.statistics.max) == (expected.statistics.min, expected.statistics.max)


def test_rows_in_another_order(tmp_path: Path) -> None:
    frame, path = _people(), tmp_path / "people.parquet"
    order = np.random.default_rng(1).permutation(ROWS)
    write_coded(path, _columns(frame), [order[:500], order[500:]])
    assert pl.read_parquet(path).equals(frame[order])


def test_a_dictionary_holds_what_the_group_holds(tmp_path: Path) -> None:
    """A label that no released row has is not in the file."""
    column = CodedColumn("age", np.array([2, 0, 2, 0, 0], np.uint8), pl.Series(["young", "secret", "old"]))
    write_coded(tmp_path / "people.parquet", [column], [slice(0, 5)])
    assert b"secret" not in (tmp_path / "people.parquet").read_bytes()
    assert pl.read_parquet(tmp_path / "people.parquet")["age"].to_list() == ["old", "young", "old", "young", "young"]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 32).flatmap(lambda bits: st.tuples(st.just(bits), st.lists(st.integers(0, 2**bits - 1)))))
def test_codes_are_packed_bit_by_bit(case: tuple[int, list[int]]) -> None:
    bits, codes = case
    packed = _packed(np.array(codes, np.uint32), bits)
    groups = (len(codes) + 7) // 8
    number = int.from_bytes(packed[len(packed) - groups * bits :], "little")
    assert [number >> place * bits & (1 << bits) - 1 for place in range(len(codes))] == codes
    assert number < 1 << max(len(codes), 1) * bits


@pytest.mark.parametrize("how", [*METHODS, {"method": "sorted-clusters", "k": 3, "interval": "mean"}], ids=str)
@pytest.mark.parametrize("shuffle", [True, False])
def test_blocks_are_written_as_the_whole_is(
    how: dict[str, Any], shuffle: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = shoal.anonymize(PEOPLE, **ROLES, **how)
    plain, whole, blocks = (tmp_path / f"{name}.parquet" for name in ("plain", "whole", "blocks"))
    shoal.release(result, plain, shuffle=shuffle, seed=8)
    monkeypatch.setattr(coded, "FROM_ROWS", 100)
    monkeypatch.setattr(coded, "ROW_GROUP", 450)
    shoal.release(result, whole, shuffle=shuffle, seed=8)
    monkeypatch.setattr(in_blocks, "MANY_ROWS", 100)
    monkeypatch.setattr(in_blocks, "_ROWS", 64)
    shoal.release(result, blocks, shuffle=shuffle, seed=8)
    assert blocks.read_bytes() == whole.read_bytes()
    by_codes = how.get("interval") != "mean"
    assert (b"shoal version" in whole.read_bytes()) == by_codes
    assert pl.read_parquet(whole).equals(pl.read_parquet(plain))
    assert pl.read_parquet_schema(whole) == pl.read_parquet_schema(plain)
    assert shoal.verify(blocks, original=PEOPLE).holds


def test_what_is_written_from_codes_is_read_back_and_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that changes one cell: the draft is measured, not what was meant."""
    result = shoal.anonymize(PEOPLE, **ROLES, **METHODS[0])
    for module, name in ((coded, "FROM_ROWS"), (in_blocks, "MANY_ROWS")):
        monkeypatch.setattr(module, name, 100)
    true_write = coded.write_coded

    def wrong(path: Path, columns: list[CodedColumn], groups: Any) -> None:
        place = next(number for number, column in enumerate(columns) if column.name == "charge")
        codes = columns[place].codes.copy()
        codes[3] = (codes[3] + 1) % len(columns[place].values)
        columns[place] = CodedColumn("charge", codes, columns[place].values)
        true_write(path, columns, groups)

    monkeypatch.setattr(coded, "write_coded", wrong)
    with pytest.raises(shoal.ShoalError, match="charge"):
        shoal.release(result, tmp_path / "safe.parquet", shuffle=True, seed=8)
    assert not list(tmp_path.iterdir())


def test_the_writer_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = shoal.anonymize(PEOPLE, **ROLES, **METHODS[0])
    for module, name in ((coded, "FROM_ROWS"), (in_blocks, "MANY_ROWS")):
        monkeypatch.setattr(module, name, 100)
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    shoal.release(result, ours, shuffle=True, seed=8)
    monkeypatch.setenv("SHOAL_PARQUET_WRITER", "polars")
    shoal.release(result, theirs, shuffle=True, seed=8)
    assert [b"shoal version" in path.read_bytes() for path in (ours, theirs)] == [True, False]
    assert pl.read_parquet(ours).equals(pl.read_parquet(theirs))
    assert pl.read_parquet_schema(ours) == pl.read_parquet_schema(theirs)
    assert shoal.verify(theirs, original=PEOPLE).holds


def test_long_texts_are_left_to_polars() -> None:
    codes = np.array([0, 1], np.uint8)
    assert CodedColumn("note", codes, pl.Series(["a", "b" * 2_000])).is_written
    assert not CodedColumn("note", codes, pl.Series(["a", "b" * 2_001])).is_written


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.int64])
def test_codes_of_every_type_are_written(kind: Any, tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    codes = draw.integers(0, 200, ROWS).astype(kind)
    columns = [
        CodedColumn("all", codes, pl.Series([f"v{n:03}" for n in range(200)])),
        CodedColumn("some missing", codes, pl.Series(range(150))),
        CodedColumn("apart", np.arange(ROWS).astype(np.uint32), pl.Series(range(ROWS))),
    ]
    order = draw.permutation(ROWS)
    groups = [order[:8], order[8:500], order[500:]]
    write_coded(tmp_path / "loops.parquet", columns, groups)
    read = pl.read_parquet(tmp_path / "loops.parquet")
    assert read["apart"].to_list() == order.tolist()
    assert read["some missing"].to_list() == [None if codes[row] >= 150 else codes[row] for row in order]
