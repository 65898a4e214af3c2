"""Parquet and Arrow IPC files, batch by batch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from shoal.errors import InputError
from shoal.storage.reading.bytes import Compression, chunks, compression_of, damage_as_error, parse_json, records
from shoal.storage.reading.files import InputFile, Options, TableFile
from shoal.storage.reading.frames import ROWS_PER_BATCH
from shoal.storage.reading.hostile import check_arrow, check_parquet, within_limits
from shoal.storage.table import check_names
from shoal.storage.texts import typed_dictionary

# rows that are read at once where groups of rows are as small as polars writes them: a stretch is then whole groups
_FEWER_ROWS = 1 << 17
# a stretch inside of a group is read by going over the rows before it: too many, where groups are larger than this
_LARGEST_SLICED = 1 << 22


def open_parquet(found: InputFile, options: Options, head: bytes) -> TableFile:
    """A Parquet file; `key=value` folders above it become columns that the file itself does not have."""
    path = found.path
    footer = check_parquet(path, ())
    check_names(footer.names, str(path))
    with damage_as_error(path):
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        own = within_limits(path, scan.collect_schema)
        keys = {key: unquote(value) for key, value in found.keys.items() if key not in own}
        added = {key: typed_dictionary(pl.Series([value])) for key, value in keys.items()}
        keyed = scan.with_columns(pl.lit(value[0]).alias(key) for key, value in added.items())
        largest = max((group[3] for group in footer.about[4]), default=0)
        step = None if largest > _LARGEST_SLICED else _FEWER_ROWS if largest <= _FEWER_ROWS else ROWS_PER_BATCH
        return _source(path, keyed, lambda columns: check_parquet(path, set(columns), footer), step)


def open_ipc(found: InputFile, options: Options, head: bytes) -> TableFile:
    """An Arrow IPC (Feather) file; the stream form has no index and is read at once."""
    path, stream = found.path, not head.startswith(b"ARROW1")
    check_arrow(path, stream)
    with damage_as_error(path):
        whole = within_limits(path, lambda: pl.read_ipc_stream(path)) if stream else None
        scan = pl.scan_ipc(path, glob=False) if whole is None else whole.lazy()
        return _source(path, scan)


def open_avro(found: InputFile, options: Options, head: bytes) -> TableFile:
    """An Avro file, read at once: its blocks have no index."""
    path = found.path
    with damage_as_error(path):
        return _source(path, within_limits(path, lambda: pl.read_avro(path)).lazy())


def _source(
    path: Path,
    scan: pl.LazyFrame,
    check: Callable[[list[str]], object] = lambda columns: None,
    step: int | None = None,
) -> TableFile:
    """The batches of a scan, of so many rows; `check` looks at some columns before they are read."""
    size = path.stat().st_size
    rows = int(within_limits(path, scan.select(pl.len()).collect).item())

    def batches(columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        check(columns)
        wanted, seen = scan.select(columns), 0
        found: Iterator[pl.DataFrame]
        if step:  # stretches, each read on its own: `collect_batches` decodes far ahead, which takes twice the memory
            found = (wanted.slice(start, step).collect() for start in range(0, rows, step))
        else:
            found = wanted.collect_batches(chunk_size=ROWS_PER_BATCH)
        while (batch := within_limits(path, lambda: next(found, None))) is not None:
            seen += len(batch)
            yield batch, size * seen // max(rows, 1)
            del batch  # not in memory while the next one is read
        if seen != rows:
            raise EOFError

    return TableFile(path, within_limits(path, scan.collect_schema).names(), batches)


# JSON lines: one object per line, keys may come and go.


LINES = 4096
MOST_KEYS = 10_000
# whole numbers of so many digits may not be exact as floats
_LONG = re.compile(rb"[0-9]{16,}")
# half of a sign that UTF-16 writes in two parts: alone it is not text, and the reader would make it a zero byte
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def open_json_lines(found: InputFile, options: Options, head: bytes) -> TableFile:
    """A file of JSON objects, one per line, plain or compressed."""
    path, compression = found.path, compression_of(head)
    names = _all_names(path, compression)

    def batches(columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        for frame, position in _frames(path, compression):
            yield (
                frame.select([name for name in columns if name in frame.columns] or pl.lit(None).alias("")),
                position,
            )

    return TableFile(path, names, batches, columns_may_come_late=True)


def _all_names(path: Path, compression: Compression) -> list[str]:
    names: dict[str, None] = {}
    for frame, _ in _frames(path, compression):
        names.update(dict.fromkeys(frame.columns))
        if len(names) > MOST_KEYS:
            raise InputError(f"{path} has more than {MOST_KEYS:,} different keys.", "Give every object the same keys.")
    return list(names)


def _frames(path: Path, compression: Compression) -> Iterator[tuple[pl.DataFrame, int]]:
    line = 1
    for block, position in _small_blocks(path, compression):
        try:
            frame = pl.read_ndjson(block, infer_schema_length=None)
        except (pl.exceptions.PolarsError, UnicodeDecodeError):
            raise _fault(path, block, line) from None
        _check_exact(path, frame, block, line)
        _check_text(path, block, line)
        _check_keys(path, block, line)
        yield frame, position
        line += block.count(b"\n")


def _check_exact(path: Path, frame: pl.DataFrame, block: bytes, line: int) -> None:
    """Refuse whole numbers beside decimals that no float holds: two of them could become one value."""
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    if not floats or _LONG.search(block) is None:
        return
    for number, text in enumerate(block.splitlines(), line):
        if _LONG.search(text) is None:
            continue
        for name, value in parse_json(text).items():
            if name in floats and isinstance(value, int) and int(float(value)) != value:
                raise InputError(
                    f"{path}, line {number:,}: column '{name}' has decimals, and a whole number that they cannot hold "
                    "exactly.",
                    "Write its numbers as text, in quotes.",
                )


def _check_text(path: Path, block: bytes, line: int) -> None:
    """Refuse escapes that are half of a sign: no text holds them."""
    if _HALF.search(block) is None:
        return
    for number, text in enumerate(block.splitlines(), line):
        if _HALF.search(text) is None:
            continue
        try:
            parse_json(text)
        except ValueError:
            raise InputError(
                f"{path}, line {number:,}: an escape such as \\ud800 is half of a sign and not text.",
                "Write the text as UTF-8, or remove the escape.",
            ) from None


# a text of a line of JSON, and whether it is a key
_TEXT = r'"(?:[^"\\]|\\.)*"(?:\s*:)?'


def _check_keys(path: Path, block: bytes, line: int) -> None:
    """Refuse objects with a key twice: one reader takes its first value, another its last."""
    lines = pl.Series([block]).cast(pl.String).str.split("\n").explode()
    keys = lines.str.extract_all(_TEXT).list.eval(
        pl.element().filter(pl.element().str.ends_with(":")).str.replace(r"\s*:$", "")
    )
    # of escapes and of objects inside of others only the parser tells
    doubtful = (keys.list.len() != keys.list.n_unique()) | lines.str.contains("\\", literal=True)
    for number in doubtful.fill_null(False).arg_true().to_list():
        try:
            json.loads(lines[number], object_pairs_hook=_once)
        except _Twice:
            raise InputError(
                f"{path}, line {line + number:,}: an object has a key twice, and readers differ in which they take.",
                "Keep one of them.",
            ) from None
        except (ValueError, RecursionError):
            continue  # what cannot be parsed was told already


class _Twice(Exception):
    """A key that an object has already."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _Twice
    return dict(pairs)


def _small_blocks(path: Path, compression: Compression) -> Iterator[tuple[bytes, int]]:
    """Not too many lines at once: a block of n lines may have n keys, and so n times n cells."""
    for block, position in records(chunks(path, compression), path, lambda buffer: buffer.rfind(b"\n") + 1):
        lines = block.splitlines(keepends=True)
        for start in range(0, len(lines), LINES):
            yield b"".join(lines[start : start + LINES]), position


def _fault(path: Path, block: bytes, line: int) -> InputError:
    """The first line that is not a JSON object."""
    if block.lstrip().startswith(b"["):
        return InputError(f"{path} is one JSON array.", "Write one object per line (JSON lines).")
    for number, text in enumerate(block.splitlines(), line):
        try:
            whole = not text.strip() or isinstance(parse_json(text), dict)
        except ValueError:
            whole = False
        if not whole:
            return InputError(f"{path}, line {number:,}: not a JSON object.", "Each line must be one {…} object.")
    return InputError(f"{path}: the same key holds values of different shapes.", "Give each key one type.")
