"""A frame -> a file, whole or not at all: written under a temporary name beside it, synced, then renamed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Collection
from glob import glob
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError

# how a frame is written, by the extension of the file
WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".arrow": lambda frame, path: frame.write_ipc(path),
    ".feather": lambda frame, path: frame.write_ipc(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
    ".ndjson": lambda frame, path: frame.write_ndjson(path),
}


def check_target(path: Path, force: bool, endings: Collection[str] | None = None) -> None:
    """Refuse a target before any work is done for it."""
    endings = list(WRITERS) if endings is None else endings
    if path.suffix.lower() not in endings:
        raise InputError(f"{path} has no known file extension.", f"Use one of {', '.join(endings)}.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file.")
    if path.exists() and not force:
        raise InputError(f"{path} exists already.", "Add --force to replace it.")


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
    code = re.search(r"os error ([0-9]+)", str(error))
    return error.strerror or (os.strerror(int(code.group(1))) if code else "no space, or no right to write there")


def write_frame(frame: pl.DataFrame, path: str | Path, force: bool = False) -> None:
    """Write a frame in the format of the file's ending."""
    path = Path(path)
    check_target(path, force)
    write_whole(path, lambda draft: WRITERS[path.suffix.lower()](frame, draft))


def write_draft(frame: pl.DataFrame, draft: Path, target: Path) -> None:
    """Write a frame under another name than its target's, in the target's format, down to the disk."""
    WRITERS[target.suffix.lower()](frame, draft)
    sync(draft)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
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
        give_usual_rights(draft)
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path} could not be written: {failure(error)}.", "Nothing was written.") from None
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: Path, content: dict[str, Any], mode: int) -> None:
    """JSON, whole or not at all, readable by those it is for from its first byte on."""
    write_bytes(path, json.dumps(content, ensure_ascii=False, indent=2).encode(), mode)


def write_bytes(path: Path, content: bytes, mode: int) -> None:
    """Bytes, whole or not at all, readable by those they are for from the first one on."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Down to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def give_usual_rights(path: Path) -> None:
    """The rights that a new file has; a temporary one is its owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
