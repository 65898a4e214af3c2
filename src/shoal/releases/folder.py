"""The two folders of a publication: they take their names together once they are whole, or not at all.

Both are put together in one draft folder (0700) beside the target, of which its process holds the lock: a draft whose
lock is free is what a run that was killed has left. What is replaced waits in the draft too, so that the next run can
put it back.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Message
from shoal.policy import Policy
from shoal.policy.manifest import (
    TABLES_MANIFEST,
    TABLES_RECORD,
    Manifest,
    PrivateRecord,
    as_shape,
    private_folder,
    read_json,
)
from shoal.releases.write import files_read
from shoal.storage.reading.files import is_address
from shoal.storage.writing import failure
from shoal.systems.files import move, sync
from shoal.systems.locks import Lock, abandoned, lock_beside

# What `--force` may replace: folders in which shoal wrote every file, and which none of the inputs is in.


MANIFEST, RECORD = "data.manifest.json", "data.private.json"
FINDINGS = "findings.json"
_OWNERS = {RECORD, "data.plan.json", FINDINGS, "report.html", "report.pdf", "policy.yaml"}
_SHOWN = 5


def check_ours(folder: Path, kind: str) -> None:
    """Refuse to replace a folder with a file in it that shoal did not write."""
    known = _written(folder)
    strange = sorted(
        entry.name for entry in folder.iterdir() if entry.name not in known or entry.is_symlink() or entry.is_dir()
    )
    if strange:
        more = f" and {len(strange) - _SHOWN:,} more" if len(strange) > _SHOWN else ""
        raise InputError(
            f"{folder} is not replaced: it is not a {kind} as shoal writes it. It holds "
            f"{', '.join(strange[:_SHOWN])}{more}, which shoal did not write there.",
            "Move what you need out of it, or name another place.",
        )


def _written(folder: Path) -> set[str]:
    """The names of the files that shoal wrote into a folder, by the manifest or the private record in it."""
    if (folder / MANIFEST).is_file():
        manifest = as_shape(Manifest, read_json(folder / MANIFEST, "manifest"), folder / MANIFEST, "manifest")
        return {MANIFEST, *(manifest.files or {})}
    if (folder / RECORD).is_file():
        as_shape(PrivateRecord, read_json(folder / RECORD, "private record"), folder / RECORD, "private record")
        return _OWNERS
    if (folder / TABLES_MANIFEST).is_file():
        told = read_json(folder / TABLES_MANIFEST, "manifest")
        tables, files = told.get("tables"), told.get("files")
        entries = tables.values() if isinstance(tables, dict) else ()
        named = {str(entry.get("file")) for entry in entries if isinstance(entry, dict)}
        return {TABLES_MANIFEST, *named, *(files if isinstance(files, dict) else ())}
    if (folder / TABLES_RECORD).is_file():
        return {TABLES_RECORD, "policy.yaml"}
    if not is_evidence(folder):
        return set()
    return {FINDINGS, "report.html", "report.pdf", *(file.name for file in folder.glob("cure-*.yaml"))}


def is_evidence(folder: Path) -> bool:
    """Whether a folder holds the findings of a publication that was refused."""
    try:
        return isinstance(read_json(folder / FINDINGS, "file of findings").get("refusal"), dict)
    except InputError:
        return False


def check_outside(
    source: Any, policy: Any, rules: Policy, sign: str | Path | None, output: Path | None, evidence: Path | None
) -> None:
    """Refuse an output that holds something that is read, or that lies in a folder of inputs.

    Whatever is read (table, policy, key, hierarchies, populations) would be destroyed by a later
    `--force`, and released rows in a folder of inputs would be read as records the next time.
    """
    places = [] if output is None else [("output", output), ("owner's folder", private_folder(output))]
    places += [] if evidence is None else [("folder of evidence", evidence)]
    for number, (word, place) in enumerate(places):
        for other_word, other in places[:number]:
            if _within(place, other) or _within(other, place):
                raise InputError(f"{place} is the {word}, and the {other_word} {other} too.", "Name another place.")
    read = {"input": source, "policy": policy, "signing key": sign, "file that the policy names": files_read(rules, {})}
    for what, given in read.items():
        for path in _paths(given):
            for word, place in places:
                if _within(path, place):
                    raise InputError(f"{path} is the {what}, and lies in the {word} {place}.", "Name another place.")
                if path.is_dir() and _within(place, path):
                    raise InputError(
                        f"{place} would lie in {path}, which is read as the {what}: released records would be read "
                        "with it the next time.",
                        "Name a place outside of it.",
                    )


def _paths(given: Any) -> Iterable[Path]:
    """The paths among what was given; of a pattern, the folder in which it looks."""
    several = given if isinstance(given, (list, tuple)) else [given]
    for path in several:
        if isinstance(path, (str, Path)):
            parts = Path(path).parts
            fixed = next((place for place, part in enumerate(parts) if any(sign in part for sign in "*?[")), None)
            whole = fixed is None or Path(path).exists()
            recursive = not whole and "**" in parts
            yield from [Path(path)] if whole else [Path(*parts[:fixed])] if recursive else _matches(str(path))


def _matches(pattern: str) -> list[Path]:
    from glob import glob

    return [Path(path) for path in glob(pattern)]


def _within(path: Path, folder: Path) -> bool:
    """Whether a path is a folder or lies in it, links followed."""
    try:
        inner, outer = path.resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return inner == outer or outer in inner.parents


_DRAFT = ".publication-draft"
# one publication at a time takes its names in a folder
_PLACING = ".publication.lock"
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
            Message("Name a folder ({output}); `anonymize` writes a release into a database."),
        )
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent}.", "Make it first.")
    for folder, kind in ((output, "publication"), (private_folder(output), "owner's folder of a publication")):
        if _is_filled(folder):
            if not force:
                raise InputError(
                    f"{folder} is there already.", Message("Name another place, or replace it with `{force}`.")
                )
            check_ours(folder, kind)


def check_evidence_free(folder: Path, force: bool) -> None:
    """Refuse a place for evidence that is taken by anything but evidence."""
    if not folder.parent.is_dir():
        raise InputError(f"There is no folder {folder.parent}.", "Make it first.")
    if _is_filled(folder):
        check_ours(folder, "folder of evidence")
        if not force:
            raise InputError(
                f"{folder} holds evidence already.", Message("Name another place, or replace it with `{force}`.")
            )


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
    try:
        left = _remove_dead_drafts(output)
        made = Folders(output.with_name(f".{output.name}.{secrets.token_hex(4)}{_DRAFT}"), left)
        with lock_beside(made.draft):
            made.draft.mkdir(mode=0o700)
            try:
                made.public.mkdir(mode=0o755)
                made.private.mkdir(mode=0o700)
                yield made
            finally:
                shutil.rmtree(made.draft, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{output} could not be written: {failure(error)}.", "Nothing was written.") from None


def _remove_dead_drafts(output: Path) -> int:
    """Remove what killed runs left for this target; what they had set aside takes its place again."""
    name = re.compile(rf"^\.{re.escape(output.name)}\.[0-9a-f]{{8}}{re.escape(_DRAFT)}$", re.DOTALL)
    removed = 0
    for draft in abandoned(output.parent, name):
        _put_back(Folders(draft), output)
        shutil.rmtree(draft, ignore_errors=True)
        removed += not draft.exists()
    return removed


def _put_back(made: Folders, output: Path) -> None:
    """Undo a publication of which only one folder has its name, or none: the target is as it was before."""
    if not made.public.exists():
        return  # it was whole
    private, old = private_folder(output), {kind: made.draft / name for kind, name in _OLD.items()}
    if not made.private.exists() and private.exists():
        move(private, made.private)
    for kind, target in (("private", private), ("public", output)):
        if old[kind].exists() and not target.exists():
            move(old[kind], target)


def take_place(made: Folders, output: Path, force: bool) -> None:
    """Both folders take their names; what they replace comes back if one cannot."""
    for folder in (made.public, made.private):
        for file in folder.iterdir():
            sync(file)
        sync(folder)
    # without `force` another run may have been faster: renaming onto a folder that is not empty fails as well
    with Lock(output.absolute().parent / _PLACING):
        check_free(output, force)
        try:
            # the owner's part first: what may leave is never there without it
            for kind, target in (("private", private_folder(output)), ("public", output)):
                if os.path.lexists(target):
                    move(target, made.draft / _OLD[kind])
                move(made.draft / kind, target)
        except BaseException:
            _put_back(made, output)
            raise
        sync(output.absolute().parent)


def place_evidence(made: Folders, folder: Path, force: bool) -> None:
    """The folder of evidence takes its name; what it replaces goes with its owner's folder, and comes back if it
    cannot."""
    with Lock(folder.absolute().parent / _PLACING):
        check_evidence_free(folder, force)
        made.public.chmod(0o700)
        try:
            # the owner's folder last: a release is never without it
            for kind, target in (("public", folder), ("private", private_folder(folder))):
                if os.path.lexists(target) and (kind == "public" or (force and (target / RECORD).is_file())):
                    move(target, made.draft / _OLD[kind])
            move(made.public, folder)
        except BaseException:
            _put_back(made, folder)
            raise
