"""The two folders of a publication: they take their names together once they are whole, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError
from shoal.manifest.files import private_folder
from shoal.writing import failure, sync


@dataclass(frozen=True)
class Folders:
    """Where a publication is put together: what may leave, and what its owner keeps."""

    public: Path
    private: Path


def check_free(output: Path, force: bool) -> None:
    """Refuse a place that is taken, or that is not a folder of ours, before any work."""
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent}.", "Make it first.")
    for folder in (output, private_folder(output)):
        if not os.path.lexists(folder):
            continue
        if not folder.is_dir() or folder.is_symlink():
            raise InputError(f"{folder} is not a folder.", "Name another place.")
        if not any(folder.iterdir()):
            continue
        if not force:
            raise InputError(f"{folder} is there already.", "Name another place, or replace it with --force.")
        if folder == output and not list(folder.glob("*.manifest.json")):
            raise InputError(f"{folder} is not a publication: it is not replaced.", "Name another place.")


@contextmanager
def staged(output: Path) -> Iterator[Folders]:
    """Two folders beside the target to fill; they are gone if something fails."""
    mark = secrets.token_hex(4)
    made = Folders(output.with_name(f".{output.name}.{mark}"), output.with_name(f".{output.name}.private.{mark}"))
    try:
        made.public.mkdir(mode=0o755)
        made.private.mkdir(mode=0o700)
        yield made
    except OSError as error:
        raise InputError(f"{output} could not be written: {failure(error)}.", "Nothing was written.") from None
    finally:
        for folder in (made.public, made.private):
            shutil.rmtree(folder, ignore_errors=True)


def take_place(made: Folders, output: Path) -> None:
    """Both folders take their names; what they replace comes back if one cannot."""
    for folder in (made.public, made.private):
        for file in folder.iterdir():
            sync(file)
    aside: list[tuple[Path, Path]] = []
    placed: list[tuple[Path, Path]] = []
    try:
        # the owner's part first: what may leave is never there without it
        for draft, target in ((made.private, private_folder(output)), (made.public, output)):
            if target.exists():
                old = target.with_name(f".{target.name}.old.{secrets.token_hex(4)}")
                target.rename(old)
                aside.append((old, target))
            draft.rename(target)
            placed.append((draft, target))
    except BaseException:
        for draft, target in placed:
            target.rename(draft)
        for old, target in aside:
            old.rename(target)
        raise
    for old, _ in aside:
        shutil.rmtree(old, ignore_errors=True)
