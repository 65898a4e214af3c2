"""The file formats of tables: how each is recognised and written, and what it needs to be installed.

A new one is a line here, and a line in `storage/reading/files.py` that says who opens it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import polars as pl

from shoal.errors import InputError
from shoal.storage.formats.labels import ColumnLabels as ColumnLabels
from shoal.storage.formats.labels import Labels as Labels

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLD_STATA = {bytes([version]) for version in range(104, 116)}
_STATA_ORDERS = (b"\x01\x01\x00", b"\x02\x01\x00")
JSON = (".jsonl", ".ndjson", ".json")

# writes a frame to a path, with the labels of its columns where the format has a place for them
Writer = Callable[[pl.DataFrame, Path, Labels], None]


class FileFormat(NamedTuple):
    """A format: its file extensions, whether a file's first bytes and extensions are its own, and how it is written.

    `exact` formats are known by their first bytes: a file with their extension and other bytes is damaged. `typed`: the
    file keeps the types of its columns; `tells_empty`: it tells an empty text from a missing value; `coded`:
    its columns are codes, which have labels. `extra`: what
    `pip install 'shoal[extra]'` adds, because its modules are needed.
    """

    name: str
    extensions: tuple[str, ...]
    recognises: Callable[[bytes, Sequence[str]], bool]
    exact: bool = True
    writes: tuple[str, ...] = ()
    write: Writer | None = None
    typed: bool = True
    tells_empty: bool = True
    coded: bool = False
    extra: str | None = None


def _starts(*starts: bytes) -> Callable[[bytes, Sequence[str]], bool]:
    return lambda head, _: head.startswith(starts)


def _last(extensions: Sequence[str], start: str) -> bool:
    return bool(extensions) and extensions[-1].startswith(start)


def _writer(module: str, name: str) -> Writer:
    """A writer of this package whose module is loaded when something is written."""

    def write(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
        getattr(import_module(f"shoal.storage.formats.{module}"), name)(frame, path, labels)

    return write


# the first that recognises a file opens it; CSV takes what is left
FORMATS: list[FileFormat] = [
    FileFormat(
        "Parquet", (".parquet", ".pq"), _starts(b"PAR1"), writes=(".parquet",), write=_writer("plain", "write_parquet")
    ),
    FileFormat(
        "Arrow",
        (".arrow", ".feather", ".ipc"),
        _starts(b"ARROW1", b"\xff\xff\xff\xff"),
        writes=(".arrow", ".feather"),
        write=_writer("plain", "write_arrow"),
    ),
    FileFormat("Avro", (".avro",), _starts(b"Obj\x01"), writes=(".avro",), write=_writer("plain", "write_avro")),
    FileFormat(
        "SPSS",
        (".sav", ".zsav"),
        _starts(b"$FL2", b"$FL3"),
        writes=(".sav", ".zsav"),
        write=_writer("survey", "write_spss"),
        tells_empty=False,
        coded=True,
        extra="survey",
    ),
    FileFormat(
        "Stata",
        (".dta",),
        # a tag, or the number of an old version and the order of its bytes
        lambda head, _: head.startswith(b"<stata_dta>") or (head[:1] in _OLD_STATA and head[1:4] in _STATA_ORDERS),
        writes=(".dta",),
        write=_writer("survey", "write_stata"),
        tells_empty=False,
        coded=True,
        extra="survey",
    ),
    FileFormat("SAS", (".sas7bdat",), _starts(bytes(12) + b"\xc2\xea\x81\x60"), tells_empty=False, extra="survey"),
    FileFormat(
        "SAS transport",
        (".xpt",),
        _starts(b"HEADER RECORD***"),
        writes=(".xpt",),
        write=_writer("survey", "write_sas"),
        tells_empty=False,
        coded=True,
        extra="survey",
    ),
    FileFormat(
        "Excel",
        (".xlsx", ".xlsm", ".xlsb", ".xls"),
        lambda head, extensions: _last(extensions, ".xls") and head.startswith((_ZIP, _OLE)),
        writes=(".xlsx",),
        write=_writer("workbook", "write_excel"),
        tells_empty=False,
        extra="excel",
    ),
    FileFormat(
        "ODS",
        (".ods",),
        lambda head, extensions: _last(extensions, ".ods") and head.startswith(_ZIP),
        tells_empty=False,
        extra="excel",
    ),
    FileFormat(
        "JSON lines",
        JSON,
        lambda _, extensions: any(end in JSON for end in extensions),
        exact=False,
        writes=(".jsonl", ".ndjson"),
        write=_writer("plain", "write_json_lines"),
    ),
    FileFormat(
        "CSV",
        (".csv", ".tsv", ".txt"),
        lambda _, extensions: True,
        exact=False,
        writes=(".csv", ".tsv"),
        write=_writer("plain", "write_csv"),
        typed=False,
        tells_empty=False,
    ),
]


def format_of(path: Path) -> FileFormat | None:
    """The format in which a path is written, by its extension.

    >>> [found.name if found else None for found in map(format_of, (Path("safe.csv"), Path("safe.doc")))]
    ['CSV', None]
    """
    return next((form for form in FORMATS if path.suffix.lower() in form.writes), None)


def format_of_file(head: bytes, extensions: Sequence[str], exact: bool = False) -> FileFormat | None:
    """The format of a file, by its first bytes, then by its extensions; the `exact` ones only, where asked for.

    >>> format_of_file(b"PAR1", [".csv"]).name
    'Parquet'
    """
    return next((form for form in FORMATS if (form.exact or not exact) and form.recognises(head, extensions)), None)


def read_extensions() -> list[str]:
    """The extensions of files that can be read.

    >>> ".sas7bdat" in read_extensions(), ".sas7bdat" in written_extensions()
    (True, False)
    """
    return [extension for form in FORMATS for extension in form.extensions]


def written_extensions() -> list[str]:
    """The extensions of files that can be written."""
    return [extension for form in FORMATS for extension in form.writes]


@contextmanager
def needed(form: str, extra: str) -> Iterator[None]:
    """Import what an extra brings; where it is absent, the error names the extra.

    >>> with needed("SPSS", "survey"):
    ...     import no_such_module
    Traceback (most recent call last):
    shoal.errors.InputError: SPSS files need more than shoal itself. pip install 'shoal[survey]'
    """
    try:
        yield
    except ImportError:
        raise InputError(f"{form} files need more than shoal itself.", f"pip install 'shoal[{extra}]'") from None
