"""The two folders of a publication: they take their names together once they are whole, or not at all.

Both are put together in one draft folder (0700) beside the target, on which its process holds a lock: a draft without
one is what a run that was killed has left. What is replaced waits in the draft too, so that the next run can put it
back.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.dataclasses import dataclass
from shoal.dp.drafts import locked
from shoal.errors import InputError
from shoal.manifest.files import private_folder
from shoal.publication.ours import check_ours
from shoal.reading.files import is_address
from shoal.writing import failure, sync

_DRAFT = ".publication-draft"
_OLD = {"private": ".old.private", "public": ".old.public"}


@dataclass(frozen=True)
class Folders:
    """Where a publication is put together: what may leave, and what its owner keeps. `left`: drafts of runs that were
    killed, which were removed."""

    draft: Path
    left: int = 0

    @property
    def public(self) -> Path:
        """What may leave."""
        return self.draft / "public"

    @property
    def private(self) -> Path:
        """What its owner keeps; the release is written and measured here."""
        return self.draft / "private"


def check_free(output: Path, force: bool) -> None:
    """Refuse a place that is taken, or that holds what shoal did not write, before any work."""
    if is_address(output):
        raise InputError(
            "A publication is a folder of this machine, not a database or an address.",
            "Name a folder; `anonymize` writes a release into a database.",
            settings="output",
        )
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent}.", "Make it first.")
    for folder, kind in ((output, "publication"), (private_folder(output), "owner's folder of a publication")):
        if _is_filled(folder):
            if not force:
                raise InputError(f"{folder} is there already.", "Name another place, or replace it with --force.")
            check_ours(folder, kind)


def check_evidence_free(folder: Path, force: bool) -> None:
    """Refuse a place for evidence that is taken by anything but evidence."""
    if not folder.parent.is_dir():
        raise InputError(f"There is no folder {folder.parent}.", "Make it first.")
    if _is_filled(folder):
        check_ours(folder, "folder of evidence")
        if not force:
            raise InputError(f"{folder} holds evidence already.", "Name another place, or replace it with --force.")


def _is_filled(folder: Path) -> bool:
    if not os.path.lexists(folder):
        return False
    if not folder.is_dir() or folder.is_symlink():
        raise InputError(f"{folder} is not a folder.", "Name another place.")
    try:
        return any(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {failure(error)}.", "Name another place.") from None


@contextmanager
def staged(output: Path) -> Iterator[Folders]:
    """Two folders beside the target to fill; they are gone if something fails."""
    handle = None
    try:
        left = _remove_dead_drafts(output)
        while handle is None:  # a draft may be taken for a dead one before it is locked
            made = Folders(output.with_name(f".{output.name}.{secrets.token_hex(4)}{_DRAFT}"), left)
            made.draft.mkdir(mode=0o700)
            handle = locked(made.draft)
        made.public.mkdir(mode=0o755)
        made.private.mkdir(mode=0o700)
        yield made
    except OSError as error:
        raise InputError(f"{output} could not be written: {failure(error)}.", "Nothing was written.") from None
    finally:
        if handle is not None:
            shutil.rmtree(made.draft, ignore_errors=True)
            os.close(handle)


def _remove_dead_drafts(output: Path) -> int:
    """Remove what killed runs left for this target; what they had set aside takes its place again."""
    name = re.compile(rf"^\.{re.escape(output.name)}\.[0-9a-f]{{8}}{re.escape(_DRAFT)}$", re.DOTALL)
    removed = 0
    for draft in list(output.parent.iterdir()):
        if not name.match(draft.name) or draft.is_symlink() or (handle := locked(draft)) is None:
            continue
        _put_back(Folders(draft), output)
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)
        removed += not draft.exists()
    return removed


def _put_back(made: Folders, output: Path) -> None:
    """Undo a publication of which only one folder has its name, or none: the target is as it was before."""
    if not made.public.exists():
        return  # it was whole
    private, old = private_folder(output), {kind: made.draft / name for kind, name in _OLD.items()}
    if not made.private.exists() and private.exists():
        private.rename(made.private)
    for kind, target in (("private", private), ("public", output)):
        if old[kind].exists() and not target.exists():
            old[kind].rename(target)


def take_place(made: Folders, output: Path, force: bool) -> None:
    """Both folders take their names; what they replace comes back if one cannot."""
    for folder in (made.public, made.private):
        for file in folder.iterdir():
            sync(file)
        sync(folder)
    # without `force` another run may have been faster: renaming onto a folder that is not empty fails as well
    with _placing(output.absolute().parent):
        check_free(output, force)
        try:
            # the owner's part first: what may leave is never there without it
            for kind, target in (("private", private_folder(output)), ("public", output)):
                if os.path.lexists(target):
                    target.rename(made.draft / _OLD[kind])
                (made.draft / kind).rename(target)
        except BaseException:
            _put_back(made, output)
            raise
        sync(output.absolute().parent)


def place_evidence(made: Folders, folder: Path, force: bool) -> None:
    """The folder of evidence takes its name."""
    with _placing(folder.absolute().parent):
        check_evidence_free(folder, force)
        if os.path.lexists(folder):
            folder.rename(made.draft / _OLD["public"])
        made.public.chmod(0o700)
        made.public.rename(folder)


@contextmanager
def _placing(parent: Path) -> Iterator[None]:
    """One publication at a time takes its names in a folder."""
    handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
