"""Which files, and of which format: by their first bytes, then by their names."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import polars as pl

from shoal.errors import InputError, quoted
from shoal.read.bytes import Compression, compression_of

TABLE_SUFFIXES = (
    ".parquet", ".pq", ".csv", ".tsv", ".txt", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson",
)  # fmt: skip

_LATER = {
    ".xlsx": "Excel", ".xls": "Excel", ".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS",
    ".xpt": "SAS", ".db": "SQLite", ".sqlite": "SQLite",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """How to read text files; what is not given is found."""

    encoding: str | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(slots=True)
class Source:
    """One file, opened: its columns, and its rows in batches with the bytes of the file read so far."""

    path: Path
    names: list[str]
    batches: Callable[[list[str]], Iterator[tuple[pl.DataFrame, int]]]
    from_text_file: bool = False
    columns_may_come_late: bool = False
    notes: list[str] = field(default_factory=list)


def find_files(source: str | Path | list[str | Path] | tuple[str | Path, ...]) -> list[Path]:
    """The files behind a path, a list of paths, a folder or a glob, in the order of their names."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise InputError("The list of paths is empty.", "Name at least one file.")
        return [path for item in source for path in find_files(item)]
    path = Path(source)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if _is_table(file))
        if not found:
            raise InputError(f"Folder {path} holds no table.", f"Known endings: {', '.join(TABLE_SUFFIXES)}.")
        return found
    if path.exists():
        return [path]
    matches = sorted(Path(match) for match in glob.glob(str(source), recursive=True))
    if matches:
        return [file for match in matches for file in find_files(match)]
    raise InputError(f"There is no file {path}.", _near_files(path))


def _is_table(file: Path) -> bool:
    hidden = any(part.startswith(("_", ".")) for part in file.parts[-1:])
    endings = [suffix.lower() for suffix in file.suffixes[-2:]]
    return file.is_file() and not hidden and any(ending in TABLE_SUFFIXES for ending in endings)


def _near_files(path: Path) -> str:
    try:
        others = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    except PermissionError:
        others = []
    near = get_close_matches(path.name, others, n=3, cutoff=0.6)
    return f"Did you mean {quoted(near)}?" if near else f"Looked in {path.parent.resolve().name or '/'}/."


def open_file(path: Path, options: Options) -> Source:
    """Open one file by its format."""
    from shoal.read import binary, csv, json_lines

    try:
        with path.open("rb") as file:
            head = file.read(16)
    except PermissionError:
        raise InputError(f"{path} may not be read.", "Ask for read access to it.") from None
    if not head:
        raise InputError(f"{path} is empty.", "It should hold at least a header and one row.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if head.startswith(b"PAR1"):
        return binary.open_parquet(path)
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return binary.open_ipc(path, stream=not head.startswith(b"ARROW1"))
    if suffixes and suffixes[-1] in _LATER:
        raise InputError(f"{path}: {_LATER[suffixes[-1]]} files are not read yet.", "Save the table as CSV or Parquet.")
    if suffixes and suffixes[-1] in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        raise InputError(
            f"{path} is not a {suffixes[-1][1:]} file: its first bytes are not those of one.",
            "It may be damaged, or its name may have the wrong ending.",
        )
    compression = compression_of(head)
    if compression is Compression.NONE and head.startswith(b"PK\x03\x04"):
        raise InputError(f"{path} is a ZIP archive.", "Unpack it and give the table inside.")
    if any(suffix in (".jsonl", ".ndjson", ".json") for suffix in suffixes):
        return json_lines.open_json_lines(path, compression)
    return csv.open_csv(path, compression, options)
