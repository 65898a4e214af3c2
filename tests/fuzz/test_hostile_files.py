"""Files that once ended the process or filled its memory."""

from __future__ import annotations

import io
import sqlite3
import subprocess
import sys
import time
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.storage.formats import zstandard
from shoal.storage.reading import hostile
from shoal.storage.reading.bytes import PIECE, Compression, chunks, parse_json, read_small
from shoal.storage.reading.hostile import within_limits


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


def test_a_parquet_file_made_to_fill_memory_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    """200 million rows in less than a megabyte."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bomb.parquet"
    part = arrow.table({"age": arrow.array(np.zeros(10_000_000, np.int8))})
    with parquet.ParquetWriter(path, part.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(part)
    assert path.stat().st_size < 1 << 20
    code = (
        "import sys\nfrom shoal.cli import main\nsys.argv = ['shoal', *sys.argv[1:]]\n"
        "try:\n    main()\nexcept SystemExit as ended:\n"
        # of this program alone: ru_maxrss begins with what its parent has
        "    status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "    print(ended.code, status['VmHWM'].split()[0])"
    )
    command = [sys.executable, "-c", code, "risk", str(path), "--qi", "age"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    exit_code, kilobytes = map(int, done.stdout.split())
    assert exit_code == 2
    assert "200,000,000 rows" in done.stderr
    assert kilobytes < 400_000


def test_zstd_comes_in_pieces_and_a_cut_is_noticed(tmp_path: Path) -> None:
    path, packed = tmp_path / "table.csv.zst", zstandard.compress(bytes(1 << 27))
    path.write_bytes(packed)
    pieces = [len(piece) for piece, _ in chunks(path, Compression.ZSTD)]
    assert (sum(pieces), max(pieces)) == (1 << 27, PIECE)
    for cut in (3, len(packed) - 9, len(packed) - 1):
        path.write_bytes(packed + packed[:cut])
        with pytest.raises(InputError, match="cut short"):
            list(chunks(path, Compression.ZSTD))


def test_zstd_that_is_made_to_fill_memory_is_refused(tmp_path: Path) -> None:
    """A gigabyte of the same line, and a frame that asks for a window of a gigabyte."""
    path = tmp_path / "table.csv.zst"
    path.write_bytes(b"".join(zstandard.compress(b"a\n" * (1 << 25)) for _ in range(16)))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="grows more than 100 times"):
        shoal.read(path)
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00")
    with pytest.raises(InputError, match="damaged"):
        shoal.read(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-7", "idna", "punycode", "unicode_escape"])
def test_an_encoding_that_does_not_fit_is_bad_input(tmp_path: Path, encoding: str) -> None:
    from shoal.storage.reading import Options

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


def ods_of(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return path


_HEAD = (
    b'<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    b'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body><office:spreadsheet>'
)


@pytest.mark.parametrize(
    "content",
    [
        b"<table:table-row>" * 20_000,  # never closed: a search for the ends of each is quadratic
        _HEAD + b'<table:table table:name="S"><table:table-row><table:table-cell <\x00</office:document-content>',
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>' + _HEAD,
        _HEAD + b"<a>" * 5_000,
    ],
    ids=["rows in rows", "no XML", "entities", "deep"],
)
def test_content_of_an_ods_file_that_is_no_xml_is_refused_at_once(tmp_path: Path, content: bytes) -> None:
    path = ods_of(tmp_path / "a.ods", content)
    with pytest.raises(shoal.InputError, match="damaged or cut short"):
        shoal.profile(path)


def test_texts_of_a_database_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t (name TEXT)")
        connection.execute("INSERT INTO t VALUES ('Ada'), (CAST(X'41ff42' AS TEXT))")
        connection.commit()
    with pytest.raises(shoal.InputError, match="not UTF-8"):
        shoal.profile(f"sqlite:///{tmp_path / 'a.db'}?table=t")


@pytest.mark.parametrize("text", ['{"format": "\\ud800"}', '{"\\uDBFF": 1}', '{"a": "\\udc00\\ud800"}'])
def test_half_a_character_in_a_plan_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(shoal.InputError, match="is not a plan of shoal"):
        shoal.apply_plan({"age": [1, 2]}, plan=path)
    assert parse_json('{"a": "\\ud83d\\ude00"}') == {"a": "\N{GRINNING FACE}"}


def command_with(settings: str, *arguments: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    """A command in a process where limits are lower or a check is not there, and the seconds that it took."""
    code = f"from shoal.storage.reading import hostile, workbook\n{settings}\nfrom shoal.cli import run\nrun()"
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    return time.monotonic() - start, done


def test_a_file_that_hangs_its_reader_ends_the_command_at_the_limit(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    # its reader waits for the end of the table again and again
    path = ods_of(tmp_path / "a.ods", b'<office:spreadsheet><table:table table:name="x">')
    unchecked = "hostile._SECONDS = 1.0\nworkbook.check_archive = lambda path: None"
    seconds, done = command_with(unchecked, "risk", str(path), "--qi", "age")
    assert done.returncode == 2, done.stderr
    assert "made to hang its reader" in done.stderr
    assert done.stderr.count("error:") == 1
    assert 1 < seconds < 60


def test_a_file_that_fills_memory_ends_the_command_at_the_limit(tmp_path: Path) -> None:
    """Each text is said to begin as the one before, so 20 kB stand for 2 GB, and every count agrees."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    part = arrow.table({"note": ["x" * 100_000] * 500})
    as_prefixes = {"use_dictionary": False, "column_encoding": {"note": "DELTA_BYTE_ARRAY"}}
    with parquet.ParquetWriter(path, part.schema, compression="zstd", write_statistics=False, **as_prefixes) as writer:
        for _ in range(40):
            writer.write_table(part)
    assert path.stat().st_size < 1 << 16
    lower = "hostile._MEMORY, hostile._MEMORY_PER_BYTE = 1 << 28, 1"
    _, done = command_with(lower, "risk", str(path), "--qi", "note")
    assert done.returncode == 2, done.stderr
    assert "made to fill memory" in done.stderr


def test_within_the_limits_results_and_errors_come_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n1\n")
    monkeypatch.setattr(hostile, "_LOOKED_EVERY", 0.001)

    def fails() -> None:
        time.sleep(0.01)
        raise KeyError("a")

    assert within_limits(path, lambda: time.sleep(0.01) or 3) == 3
    with pytest.raises(KeyError):
        within_limits(path, fails)
    monkeypatch.setattr(hostile, "_SECONDS", 0.05)
    monkeypatch.setattr(hostile, "_BYTES_PER_SECOND", 1 << 30)
    with pytest.raises(InputError, match="takes longer to read"):
        within_limits(path, lambda: time.sleep(2))
    monkeypatch.setattr(hostile, "_BYTES_PER_SECOND", 1)  # four bytes, four seconds
    assert within_limits(path, lambda: time.sleep(0.1) or 3) == 3
