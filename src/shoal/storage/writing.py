"""A frame -> a file, whole or not at all: written under a temporary name beside it, synced, then renamed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from shoal.errors import InputError, Message, Setting, joined
from shoal.storage.formats import Labels, format_of, read_extensions, written_extensions
from shoal.storage.formats.plain import zoned_as_texts
from shoal.systems.files import as_errno, replace, sync
from shoal.wording import in_units

# A disk that fills while a file is written: said as that, with how much is needed, whatever a library makes of it.


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# a writer that does not say why it failed failed for lack of space where less than this is left
_NEARLY_NOTHING = 1 << 16


@contextmanager
def filling_disk(draft: Path, target: Path, size: Callable[[], float]) -> Iterator[None]:
    """Around the writing of a draft beside its target; `size`: about the bytes that it takes, asked for on failure.

    Polars has the reason of the system in the words of a ComputeError, and for Avro not even there.
    """
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        code = reason_of(error)
        free = _free(draft)
        if code is None and isinstance(error, pl.exceptions.ComputeError) and free is not None:
            code = errno.ENOSPC if free < _NEARLY_NOTHING else None
        if code in _FULL:
            there = "" if free is None else f", and {in_units(free + draft.stat().st_size)} were free"
            raise InputError(
                f"The disk of {target.parent.resolve()} is full: {target.name} takes about {in_units(size())}{there}.",
                f"Choose a folder with {in_units(size())} free. Nothing was written.",
            ) from None
        if code is not None:
            raise OSError(code, os.strerror(code)) from None
        raise


def reason_of(error: BaseException) -> int | None:
    """The number of the system's error that an error stands for, which some libraries leave in their message only.

    >>> reason_of(OSError("No space left on device (os error 28)"))
    28
    """
    found = re.search(r"os error ([0-9]+)", str(error))
    return getattr(error, "errno", None) or (as_errno(int(found[1])) if found else None)


def _free(draft: Path) -> int | None:
    """The bytes that are left beside a draft, where that can be known."""
    try:
        return shutil.disk_usage(draft.parent).free
    except OSError:
        return None


_LONGEST_WORD = 60
# `delimiter` alone is that of the input
_NAMES = {"delimiter": "output.delimiter"}


class OutputFormat(BaseModel):
    """How the cells of a release are written in its file.

    `delimiter`: comma, semicolon, tab or | (`;` with a decimal comma, otherwise by the extension); `bom`: a mark at the
    start by which Excel knows UTF-8; `suppressed_as`: the text for `*`; `missing_as`: the text for a missing value.

    >>> OutputFormat(decimal_comma=True).separator(Path("safe.csv"))
    ';'
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    delimiter: Literal[",", ";", "\t", "|"] | None = None
    decimal_comma: bool = False
    bom: bool = False
    suppressed_as: str | None = None
    missing_as: str | None = None

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            found = joined((_in_words(entry) for entry in error.errors(include_input=False, include_url=False)), "; ")
            raise InputError(Message("The output format cannot be used: {}.", found), "See docs/releases.md.") from None

    @field_validator("delimiter", mode="before")
    @classmethod
    def _tab(cls, value: Any) -> Any:
        return "\t" if value in ("tab", "\\t") else value

    @field_validator("suppressed_as", "missing_as")
    @classmethod
    def _one_word(cls, value: str | None) -> str | None:
        if value is not None and (len(value) > _LONGEST_WORD or value != value.strip() or not value.isprintable()):
            raise ValueError(f"write at most {_LONGEST_WORD} characters in one line, without blanks around them")
        return value

    @field_validator("missing_as")
    @classmethod
    def _nothing(cls, value: str | None) -> str | None:
        return value or None

    @model_validator(mode="after")
    def _apart(self) -> OutputFormat:
        if self.suppressed_as is not None and _is_number(self.suppressed_as):
            raise ValueError(Message("{suppressed_as} must not be a number: it would be taken for a value"))
        word = self.missing_as
        if word is not None and (word in ("*", self.suppressed_as) or _is_number(word)):
            raise ValueError(Message("{missing_as} must be neither a number nor what suppressed cells are written as"))
        return self

    def overridden(self, by: OutputFormat | None) -> OutputFormat:
        """The same with the settings that another one gives."""
        return self if by is None else OutputFormat(**self.model_dump() | by.model_dump(exclude_unset=True))

    def separator(self, path: Path) -> str:
        """What stands between the columns of a text file."""
        return self.delimiter or ("\t" if path.suffix.lower() == ".tsv" else ";" if self.decimal_comma else ",")

    @property
    def star(self) -> str | None:
        """What `*` is written as, where that is another text."""
        return None if self.suppressed_as == "*" else self.suppressed_as

    def said(self, *names: str) -> list[Setting]:
        """What differs from the usual notation, of some settings or of all.

        >>> [str(setting) for setting in OutputFormat(bom=True, delimiter=";").said()]
        ['delimiter', 'bom']
        """
        names = names or tuple(OutputFormat.model_fields)
        return [Setting(_NAMES.get(name, name)) for name in names if getattr(self, name) not in (None, False)]

    def check(self, path: Path) -> None:
        """Refuse settings that have no meaning in the format of a file."""
        if is_text_file(path):
            return
        if self.suppressed_as == "" and not tells_empty(path):
            raise InputError(
                f"A {path.suffix} file does not tell an empty text from a missing value.",
                Message("Choose another text for suppressed cells ({suppressed_as})."),
            )
        if said := self.said("delimiter", "decimal_comma", "bom", "missing_as"):
            what = Message("A {} file has no {}.", path.suffix, joined(said, " and no "))
            raise InputError(what, "Leave it out, or write .csv.")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?", text) is not None


def _in_words(entry: Any) -> str:
    """A problem of a setting, without the value that was given."""
    where = ".".join(str(part) for part in entry["loc"])
    if entry["type"] == "literal_error":
        return f"{where} is comma, semicolon, tab or |"
    if entry["type"] == "extra_forbidden":
        return f"there is no setting {where}; there are {', '.join(OutputFormat.model_fields)}"
    message = entry["ctx"]["error"].args[0] if "error" in entry.get("ctx", {}) else entry["msg"]
    return f"{where}: {message}" if where else message


def is_text_file(path: Path) -> bool:
    """Whether a file's format has no types: every cell is a text.

    >>> is_text_file(Path("safe.csv")), is_text_file(Path("safe.parquet"))
    (True, False)
    """
    form = format_of(path)
    return form is not None and not form.typed


def tells_empty(path: Path) -> bool:
    """Whether a file's format tells an empty text from a missing value.

    >>> tells_empty(Path("safe.parquet")), tells_empty(Path("safe.csv")), tells_empty(Path("safe.xlsx"))
    (True, False, False)
    """
    form = format_of(path)
    return form is None or form.tells_empty


def check_target(path: Path, force: bool, endings: Collection[str] | None = None) -> None:
    """Refuse a target before any work is done for it."""
    only_read = set(read_extensions()) - set(written_extensions()) if endings is None else ()
    endings = written_extensions() if endings is None else endings
    if path.suffix.lower() in only_read:
        raise InputError(f"{path.suffix} files can be read, but not written.", f"Use one of {', '.join(endings)}.")
    if path.suffix.lower() not in endings:
        raise InputError(f"{path} has no known file extension.", f"Use one of {', '.join(endings)}.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file.")
    if path.exists() and not force:
        raise InputError(f"{path} exists already.", Message("Add `{force}` to replace it."))


def check_apart(**files: Any) -> None:
    """Refuse two names for one file, links included: an output never replaces an input, a key or a map.

    Each argument is a path, several paths, or None; its name says what the file is (`key_file` is the key file). An
    input folder holds all files below it.

    >>> check_apart(output="safe.csv", input="people.csv", key_file=None)
    """
    named = [(word.replace("_", " "), Path(path)) for word, given in files.items() for path in _paths(given)]
    for number, (word, path) in enumerate(named):
        for other_word, other in named[:number]:
            if (word, other_word) != ("input", "input") and _one_file(path, other):
                raise InputError(
                    f"{path} is the {other_word} and the {word} at once: one would destroy the other.",
                    "Name different files; nothing was done.",
                )


def _paths(given: Any) -> list[str]:
    """The paths among what was given; frames and tables are none."""
    several = given if isinstance(given, (list, tuple)) else [given]
    paths = [path for path in several if isinstance(path, (str, Path))]
    return [file for path in paths for file in (glob(str(path)) or [str(path)])]


def _one_file(path: Path, other: Path) -> bool:
    """Whether two names mean one file, or one is in the folder that the other is."""
    try:
        if path.exists() and other.exists() and path.samefile(other):
            return True
        ends = path.resolve(), other.resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, a name that cannot be one
        return False
    if ends[0] == ends[1]:
        return True
    return any(folder.is_dir() and file.is_file() and folder in file.parents for folder, file in (ends, ends[::-1]))


def failure(error: OSError) -> str:
    """Why writing failed, in words; some libraries leave the reason in their message only.

    >>> failure(OSError("No space left on device (os error 28)"))
    'No space left on device'
    """
    code = reason_of(error)
    return error.strerror or (os.strerror(code) if code else "no space, or no right to write there")


def write_frame(frame: pl.DataFrame, path: str | Path, force: bool = False) -> None:
    """Write a frame in the format of the file's ending."""
    path = Path(path)
    check_target(path, force)
    write_whole(path, lambda draft: _write(frame, draft, path))


def _write(frame: pl.DataFrame, draft: Path, target: Path, labels: Labels | None = None) -> None:
    """Write a frame in the format of its target."""
    form = format_of(target)
    assert form is not None
    assert form.write is not None
    with filling_disk(draft, target, lambda: frame.estimated_size()):
        form.write(frame, draft, labels or {})


def write_private(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame whole or not at all, readable by its owner alone from the first byte on."""
    write_whole(path, lambda draft: _write(frame, draft, path), private=True)


def write_draft(
    frame: pl.DataFrame, draft: Path, target: Path, output: OutputFormat | None = None, labels: Labels | None = None
) -> None:
    """Write a frame under another name than its target's, in the target's format, down to the disk."""
    if output is None or not is_text_file(target):
        _write(frame, draft, target, labels)
    else:
        with filling_disk(draft, target, lambda: frame.estimated_size()):
            frame.with_columns(zoned_as_texts()).write_csv(
                draft,
                separator=output.separator(target),
                include_bom=output.bom,
                decimal_comma=output.decimal_comma,
                null_value=output.missing_as,
            )
    sync(draft)


def write_whole(path: Path, write: Callable[[Path], object], private: bool = False) -> None:
    """Let `write` fill a draft beside the target; the draft becomes the target only when it is whole."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix.lower(), dir=path.parent)
    except OSError as error:
        raise InputError(f"{path.parent} cannot be written to: {failure(error)}.", "Choose another folder.") from None
    draft = Path(name)
    try:
        os.close(handle)
        write(draft)
        sync(draft)
        if not private:  # a draft is made with mode 0600
            give_usual_rights(draft)
        replace(draft, path)
    except OSError as error:
        raise InputError(f"{path} could not be written: {failure(error)}.", "Nothing was written.") from None
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A text, whole or not at all: UTF-8, its lines ended alike on every system."""
    write_whole(path, lambda draft: draft.write_bytes(text.encode()))


def write_json(path: Path, content: dict[str, Any], mode: int) -> None:
    """JSON, whole or not at all, readable by those it is for from its first byte on."""
    write_bytes(path, json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False).encode(), mode)


def write_bytes(path: Path, content: bytes, mode: int) -> None:
    """Bytes, whole or not at all, readable by those they are for from the first one on."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def give_usual_rights(path: Path) -> None:
    """The rights that a new file has; a temporary one is its owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def hash_of_files(hashes: Mapping[str, str]) -> str:
    """The hash of a folder: of the lines `hash  name` of its files, in the order of their names.

    >>> hash_of_files({"b": "2", "a": "1"}) == hash_of_files({"a": "1", "b": "2"})
    True
    """
    lines = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))
    return hashlib.sha256(lines.encode()).hexdigest()


def digest_of_file(source: Any) -> str | None:
    """The hash of a source that is one file; None of all others."""
    return sha256(Path(source)) if isinstance(source, (str, Path)) and Path(source).is_file() else None


def sha256(path: Path) -> str:
    """The hash of a file's bytes; of a folder, by its Parquet files."""
    if path.is_dir():
        return hash_of_files({file.name: sha256(file) for file in path.glob("[!_.]*.parquet")})
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
