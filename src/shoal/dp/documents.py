"""The small files of a desk: ordinary files of limited size, read through models."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from shoal.errors import InputError
from shoal.systems.files import open_at_once


def read_limited(path: Path, most: int) -> bytes:
    """The bytes of an ordinary file, if it is not larger than `most`."""
    try:
        handle = open_at_once(path)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(f"{path} is not an ordinary file.", "Restore it.")
            content = file.read(most + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Restore it, or check its rights.") from None
    if len(content) > most:
        raise InputError(f"{path} is larger than {most:,} bytes.", "Restore it: a desk does not write such a file.")
    return content


# Where the parts of a desk are: its folder, the ledger key beside it or elsewhere, the witness elsewhere.


def default_key_file(folder: Path) -> Path:
    """Where the ledger key of a desk is if nobody says where: beside its folder, never in it.

    >>> default_key_file(Path("desks/visits")).name
    'visits.ledger-key'
    """
    folder = folder.absolute()
    return folder.with_name(f"{folder.name}.ledger-key")


def checked_places(folder: Path, ledger_key: str | Path | None, witness: str | Path | None) -> tuple[Path, Path | None]:
    """Where the key and the witness are to be: never inside the desk, never over something else."""
    _check_folder(folder)
    key_file = default_key_file(folder) if ledger_key is None else Path(ledger_key)
    witness = None if witness is None else Path(witness)
    inside = folder.resolve()
    for name, path in (("ledger_key", key_file), ("witness", witness)):
        if path is not None and inside in (path.resolve(), *path.resolve().parents):
            raise InputError(
                f"{name} lies inside the desk's folder: whoever puts an old copy of that back puts it back too.",
                "Name a file elsewhere, best on another machine or under another account.",
            )
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    if witness is not None and (witness.exists() or witness.resolve() == key_file.resolve()):
        raise InputError(
            f"{witness} exists already, or is the ledger key.", "A witness serves one desk: name a new file."
        )
    return key_file, witness


def _check_folder(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists already.",
            "Choose another folder: a desk is never replaced, because that would forget what was spent.",
        )
    if not folder.absolute().parent.is_dir():
        raise InputError(f"There is no folder {folder.parent}.", "Make it first.")
