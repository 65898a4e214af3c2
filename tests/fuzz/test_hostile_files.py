"""Files that once ended the process or filled its memory."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
import zstandard

import shoal
from shoal.errors import InputError
from shoal.reading.small import read_small
from shoal.reading.zstd import decompressed


def test_a_page_with_a_negative_count_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"a": range(60)}).write_parquet(buffer, compression="uncompressed", statistics=False)
    data = bytearray(buffer.getvalue())
    # the header of the data page says 60 values (zigzag 120): say -60 (119)
    at = data.rindex(b"\x2c\x15\x78", 0, len(data) // 2 + 200) + 2
    data[at] = 119
    path = tmp_path / "table.parquet"
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        shoal.read(path)


def test_zstd_comes_in_pieces_and_a_cut_is_noticed() -> None:
    packed = zstandard.ZstdCompressor().compress(bytes(1 << 28))
    assert max(map(len, decompressed(io.BytesIO(packed)))) <= 8 << 20
    with pytest.raises(EOFError):
        list(decompressed(io.BytesIO(packed[:-9])))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-7", "idna", "punycode", "unicode_escape"])
def test_an_encoding_that_does_not_fit_is_bad_input(tmp_path: Path, encoding: str) -> None:
    from shoal.reading import Options

    path = tmp_path / "table.csv"
    path.write_bytes("a,b\n1,é\\\n".encode())
    with pytest.raises(InputError):
        shoal.read(path, options=Options(encoding=encoding))


def test_devices_and_large_files_are_not_read_as_small_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not an ordinary file"):
        shoal.load_policy("/dev/zero")
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * 1000)
    with pytest.raises(InputError, match="more than 999 bytes"):
        read_small(path, 999)
