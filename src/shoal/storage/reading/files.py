"""Which files, and of which format: by their first bytes, then by their names; and where what is too large goes."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError, Message, quoted
from shoal.storage.databases import SYSTEMS, without_password
from shoal.storage.formats import FORMATS, Labels, format_of_file
from shoal.wording import in_words

if TYPE_CHECKING:
    from shoal.storage.spill import Spill


_ZIP = b"PK\x03\x04"
_DATABASES = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".duckdb": "duckdb"}
# what counting takes for each row: of memory, beside its codes, a key and its sorted twin; of disk, beside its codes
# and those of its tuple, a key or a count
_MEMORY_PER_ROW, _DISK_PER_ROW = 24, 10
# so much fits everywhere: nothing is asked, and nothing loaded
SMALL_TABLE = 1 << 27


@dataclass(frozen=True)
class Options:
    """How to read text files; what is not given is found."""

    encoding: str | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    # columns of a text file stay the texts they are: who reads gives them their types
    as_text: bool = False
    # what columns are, by name (docs/types.md), beside and before what a policy says
    types: Mapping[str, Any] | None = None
    types_of_policy: Mapping[str, Any] = field(default_factory=dict)
    # the source is a release: cells may be ranges, sets and `*`; None: nobody said so or not
    released: bool | None = None
    # columns of a release in which nothing but an empty cell is missing: its quasi-identifiers
    only_empty: frozenset[str] = frozenset()
    # the start of a text file is read a second time, by Python's csv module, and both readings must agree: whoever
    # verifies does not rest on one reader alone
    second_reader: bool = False
    # what works on the rows (local, spark), and where Spark runs
    engine: str | None = None
    master: str | None = None
    # memory that a table may take (`24GB`; a share of what is free), and where the rest goes: docs/performance.md
    memory: str | int | None = None
    spill_dir: str | Path | None = None
    # a file that says what columns and their codes mean, from which roles are proposed
    codebook: str | Path | None = None
    # the folder of a job that goes on with the table after reading
    overflow: Overflow | None = field(default=None, repr=False, compare=False)

    @property
    def declared_types(self) -> dict[str, Any]:
        """What columns are declared as.

        >>> Options(types={"roof": "text"}, types_of_policy={"roof": "nominal", "seen": "date"}).declared_types
        {'roof': 'text', 'seen': 'date'}
        """
        return {**self.types_of_policy, **(self.types or {})}


def declaring(
    options: Options | None, types: Mapping[str, Any], released: bool = False, only_empty: Iterable[str] = ()
) -> Options | None:
    """Options of reading with the types of a policy; as they are where nothing is declared."""
    if not types and not (options and options.types):
        return options
    return replace(options or Options(), types_of_policy=types, released=released, only_empty=frozenset(only_empty))


class Overflow:
    """The folder on disk of a table that does not fit in memory, as soon as there is one.

    `copies` of the codes and so many bytes `per_row` are what the whole job may need.

    >>> with Overflow(Options(memory="1GB")) as overflow:
    ...     overflow.spill_of(codes=1_000, rows=1_000, times=2.0) is None
    True
    """

    def __init__(
        self,
        options: Options | None,
        copies: int = 2,
        per_row: int = _DISK_PER_ROW,
    ) -> None:
        self._options, self._copies, self._per_row = options or Options(), copies, per_row
        self._asked = self._options.memory or os.environ.get("SHOAL_MEMORY") or None
        # what the work on each row takes, beside its codes, where all rows are in memory
        self.memory_per_row = _MEMORY_PER_ROW
        self.spill: Spill | None = None

    def spill_of(self, codes: int, rows: int, times: float) -> Spill | None:
        """Where to go on, if `times` what was read so far, in bytes of codes and in rows, is too much for memory."""
        memory = times * (codes + rows * self.memory_per_row)
        if memory < SMALL_TABLE and self._asked is None:
            return None
        from shoal.storage.spill import memory_budget

        if memory <= memory_budget(self._asked):
            return None
        from shoal.storage.spill import Spill

        self.spill = Spill(self._asked, self._options.spill_dir)
        self.spill.start(int(times * (self._copies * codes + rows * self._per_row)))
        return self.spill

    def __enter__(self) -> Overflow:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.spill is not None:
            self.spill.close()


@dataclass
class TableFile:
    """One file, opened: its columns, and its rows in batches with the bytes of the file read so far."""

    path: Path
    names: list[str]
    batches: Callable[[list[str]], Iterator[tuple[pl.DataFrame, int]]]
    from_text_file: bool = False
    columns_may_come_late: bool = False
    notes: list[str] = field(default_factory=list)
    # what the file says of its columns beside their values
    labels: Labels = field(default_factory=dict)
    # the first line may be a record, not a header: then the names are not for showing
    header_in_doubt: bool = False
    # words for missing that were met among its rows, where the source looks for them itself
    met: set[str] = field(default_factory=set)
    # where else in the file columns may be
    elsewhere: str = ""
    # the same rows for who finds the types of texts from distinct values: whole numbers may come as such
    typed_batches: Callable[[list[str]], Iterator[tuple[pl.DataFrame, int]]] | None = None


@dataclass(frozen=True)
class InputFile:
    """A file, and the columns that `key=value` folders above it stand for (as Spark and Hive write them).

    `part`: the sheet of a workbook, where one is named (`book.xlsx#persons`).
    """

    path: Path
    keys: dict[str, str] = field(default_factory=dict)
    part: str | None = None


# two letters at least: C:/ is a disk
_ADDRESS = re.compile(r"(?!file:)[a-z][a-z0-9+.-]+:/", re.IGNORECASE)

_OTHER_DATABASE = re.compile(
    r"(?:jdbc:|(?:mysql|mariadb|mssql|sqlserver|oracle|db2|snowflake|bigquery|redshift|mongodb)(?:\+\w+)?:/)",
    re.IGNORECASE,
)


def is_address(path: Any) -> bool:
    """Whether a path is one of an object store or a cluster's file system, which this machine does not see as files.

    >>> [is_address(path) for path in ("s3a://bucket/claims", "dbfs:/claims", "file:///claims", "C:/claims", "claims")]
    [True, True, False, False, False]
    """
    return isinstance(path, (str, Path)) and _ADDRESS.match(str(path)) is not None


def check_not_unknown_database(source: str | Path) -> None:
    """Refuse the address of a database of a system that is not read.

    >>> check_not_unknown_database("mysql://clinic.example/hospital")
    Traceback (most recent call last):
    shoal.errors.InputError: mysql://clinic.example/hospital is a database of a system that is not read. ...
    """
    if _OTHER_DATABASE.match(str(source)):
        raise InputError(
            f"{without_password(str(source))} is a database of a system that is not read.",
            f"Tables of {in_words(list(SYSTEMS.values()))} are read: export it to one of them, or to a file.",
        )


def find_files(source: str | Path | list[str | Path] | tuple[str | Path, ...]) -> list[InputFile]:
    """The files behind a path, a list of paths, a folder or a glob, in the order of their names, each once."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise InputError("The list of paths is empty.", "Name at least one file.")
        found = [entry for item in source for entry in find_files(item)]
        twice = [entry for index, entry in enumerate(found) if _same(entry, found[:index])]
        if twice:
            raise InputError(f"{twice[0].path} is named twice: its records would count double.", "Name it once.")
        return found
    if not str(source):
        raise InputError("The name of the file is empty.", "Name a file, a folder or a glob.")
    check_not_unknown_database(source)
    if is_address(source):
        raise InputError(
            f"{without_password(str(source))} is not a file of this machine.",
            Message(
                "Read it with {engine} spark, or copy it here first; give the address of a database alone, as text."
            ),
        )
    try:
        return _find(Path(source), str(source))
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or "it cannot be followed"
        raise InputError(f"{source} cannot be read: {why}.", "Check the name and the rights on it.") from None


def _same(entry: InputFile, others: list[InputFile]) -> bool:
    return any(entry.path.samefile(other.path) and entry.part == other.part for other in others)


def _find(path: Path, text: str) -> list[InputFile]:
    if path.is_dir():
        return _in_folder(path)
    if path.exists():
        if not path.is_file():
            raise InputError(
                f"{path} is no ordinary file; pipes and devices are not read.", "Write it to a file first."
            )
        return [InputFile(path)]
    book, _, sheet = text.partition("#")
    if sheet and Path(book).is_file():
        return [InputFile(Path(book), part=sheet)]
    matches = sorted(Path(match) for match in glob.glob(text, recursive=True))
    files = {match.resolve(): InputFile(match) for match in matches if match.is_file() and _is_table(match)}
    if not files and (files := {match.resolve(): InputFile(match) for match in matches if match.is_file()}):
        return list(files.values())
    if files:
        return list(files.values())
    folders = [match for match in matches if match.is_dir()]
    if folders:
        return [entry for folder in folders for entry in _in_folder(folder)]
    raise InputError(f"There is no file {path}.", _near_files(path))


def _in_folder(folder: Path) -> list[InputFile]:
    """The tables in a folder and below; one that cannot be read is an error, not a table less."""

    def refuse(error: OSError) -> None:
        raise error

    found = []
    for root, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        for name in sorted(names):
            file = Path(root) / name
            if not _is_table(file):
                continue
            if not file.is_file():
                raise InputError(f"{file} is no ordinary file, or a link to nowhere.", "Remove it from the folder.")
            parts = file.relative_to(folder).parts[:-1]
            found.append(InputFile(file, dict(part.split("=", 1) for part in parts if "=" in part)))
    if not found:
        raise InputError(f"Folder {folder} holds no table.", f"Known extensions: {', '.join(table_extensions())}.")
    return found


def table_extensions() -> list[str]:
    """The extensions of files that are taken for tables in a folder; `.json` alone may be anything."""
    return [extension for form in FORMATS for extension in form.extensions if extension != ".json"]


def _is_table(file: Path) -> bool:
    known = table_extensions()
    return not file.name.startswith(("_", ".")) and any(end.lower() in known for end in file.suffixes[-2:])


def _near_files(path: Path) -> str:
    """A cure that names files that are called alike; endings are not compared: most tables share theirs."""
    try:
        others = sorted(file.name for file in path.parent.iterdir()) if path.parent.is_dir() else []
    except OSError:
        others = []
    stems = get_close_matches(_stem(path.name), {_stem(name) for name in others}, n=3, cutoff=0.7)
    near = [name for stem in stems for name in others if _stem(name) == stem][:3]
    return f"Did you mean {quoted(near)}?" if near else "Check the name, and the folder that you are in."


def _stem(name: str) -> str:
    return name.partition(".")[0].casefold()


def open_file(found: InputFile, options: Options) -> TableFile:
    """Open one file by its format."""
    path = found.path
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check the rights on it.") from None
    if not head:
        raise InputError(f"{path} is empty.", "It should hold at least a header and one row.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    last = suffixes[-1] if suffixes else ""
    exact = format_of_file(head, suffixes, exact=True)
    if exact is not None:
        if found.part is not None and exact.name not in ("Excel", "ODS"):
            raise InputError(f"{path} has no sheets: it is not a workbook.", "Leave out # and what follows.")
        return _open(exact.name, found, options, head)
    if last in _DATABASES:
        raise InputError(
            f"{path} is a database, which may hold several tables.",
            f"Give its address, which names one: {_DATABASES[last]}:///{path}?table=NAME.",
        )
    if any(form.exact and last in form.extensions for form in FORMATS):
        raise InputError(
            f"{path} is not a {last[1:]} file: its first bytes are not those of one.",
            "It may be damaged, or its name may have the wrong extension.",
        )
    if head.startswith(_ZIP):
        raise InputError(f"{path} is a ZIP archive.", "Unpack it and give the table inside.")
    form = format_of_file(head, suffixes)
    assert form is not None  # CSV takes what is left
    return _open(form.name, found, options, head)


def _open(form: str, found: InputFile, options: Options, head: bytes) -> TableFile:
    """Open a file of a format by the module that reads it, which is loaded when one comes."""
    module, name, *more = OPENERS[form]
    opener: Callable[..., TableFile] = getattr(import_module(f"shoal.storage.reading.{module}"), name)
    return opener(found, options, head, *more)


# by the name of the format: the module and the function that open a file, and what the latter is told beside it, the
# options and its first bytes
OPENERS: dict[str, tuple[str, ...]] = {
    "Parquet": ("binary", "open_parquet"),
    "Arrow": ("binary", "open_ipc"),
    "Avro": ("binary", "open_avro"),
    "SPSS": ("survey", "open_survey", "SPSS"),
    "Stata": ("survey", "open_survey", "Stata"),
    "SAS": ("survey", "open_survey", "SAS"),
    "SAS transport": ("survey", "open_survey", "SAS transport"),
    "Excel": ("workbook", "open_workbook"),
    "ODS": ("workbook", "open_workbook"),
    "JSON lines": ("binary", "open_json_lines"),
    "CSV": ("csv", "open_csv"),
}


# Whether files are still those that were read: a release of rows that its source no longer holds would be a lie.


FileStates = Mapping[Path, tuple[int, ...] | None]


def states_of(paths: Iterable[Path]) -> dict[Path, tuple[int, ...] | None]:
    """Where each file is on its disk, its size, and when it was written last; None for one that is gone."""
    return {path.absolute(): _state(path) for path in paths}


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def check_unchanged(before: FileStates) -> None:
    """Refuse files that were written or replaced since their states were taken.

    >>> check_unchanged({Path("/people.csv"): (1, 2, 3, 4)})
    Traceback (most recent call last):
    shoal.errors.InputError: /people.csv was changed while shoal worked on it. ...
    """
    now = states_of(before)
    for path, state in before.items():
        if state != now[path]:
            raise InputError(
                f"{path} was changed while shoal worked on it.", "Nothing was written; run it again when it is whole."
            )
