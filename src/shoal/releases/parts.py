"""All parts of a release take their names together, or none does.

A fresh release gets its manifest, dictionary, private record and plan first, and the data takes its name last. Where
a release is replaced, the new parts wait under names that carry the hash of the new data until the data has taken its
name: whenever it is interrupted, either the old release is whole or the new one is, and both are read as such.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from shoal.databases.address import SYSTEMS
from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.manifest.files import (
    dictionary_path,
    files_of,
    manifest_path,
    pending_path,
    plan_path,
    private_path,
    read_manifest,
    read_private,
)
from shoal.releases.documents import ReleaseDocuments
from shoal.releases.places import Place
from shoal.writing import failure, sync, write_bytes

# seconds after which a part that waits for its data waits in vain
_LEFT = 600


@dataclass(frozen=True)
class _Parts:
    """The bytes of the parts beside the data, and the rights of each."""

    files: dict[Path, tuple[bytes, int]]
    stale_plan: Path | None

    @classmethod
    def of(cls, path: Path, documents: ReleaseDocuments) -> _Parts:
        files = {
            manifest_path(path): (documents.manifest_bytes, 0o644),
            dictionary_path(path): (documents.dictionary_bytes, 0o644),
            private_path(path): (documents.private_bytes, 0o600),
        }
        if documents.plan_bytes is not None:
            files[plan_path(path)] = (documents.plan_bytes, 0o600)
        return cls(files, plan_path(path) if documents.plan_bytes is None else None)


def write_release(
    stage: Callable[[], None],
    place: Place,
    force: bool,
    documents: Callable[[], ReleaseDocuments],
) -> ReleaseDocuments:
    """The draft is written by `stage`, `documents` judges it (and may refuse), then all parts take their names."""
    check_free(place, force)
    path, replaced = place.path, place.exists()
    made: list[Path] = []
    try:
        stage()
        found = documents()
        parts = _Parts.of(path, found)
        digest = found.manifest["data_sha256"]
        places = {part: pending_path(part, digest) if replaced else part for part in parts.files}
        for part, (content, mode) in parts.files.items():
            write_bytes(places[part], content, mode)
            made.append(places[part])
        place.publish()
        made.clear()  # from here on they belong to the data
        for part, waiting in places.items():
            waiting.replace(part)
        if parts.stale_plan is not None:
            parts.stale_plan.unlink(missing_ok=True)  # of a release that this one replaces
        _remove_leftovers(path)
        sync(path.parent)  # the renames themselves must survive a crash
    except OSError as error:
        raise InputError(f"{path} could not be written: {failure(error)}.", "Nothing was released.") from None
    except (pl.exceptions.ComputeError, pl.exceptions.PanicException):  # its message may show values
        raise InputError(
            f"A column has a type that a {path.suffix} file cannot hold.",
            "Write .parquet. Nothing was released.",
        ) from None
    finally:
        place.discard()
        for file in made:
            file.unlink(missing_ok=True)
    return found


def check_free(place: Place, force: bool) -> None:
    """Refuse to write over the data or the parts of another release; those of one that was interrupted are none."""
    place.check(force)
    if force or place.exists():
        return
    for part in files_of(place.path)[1:]:
        if part.exists() and not _interrupted(place):
            other = "" if place.stored_in is None else ", or name another: ?table=…&manifest=other.manifest.json"
            raise InputError(
                f"{part} exists already: it belongs to another release.",
                f"Use `force` to replace it{other}.",
                settings="force",
            )


def _interrupted(place: Place) -> bool:
    """Whether the parts beside a target name data that never came.

    A manifest does not name the server: only of a database that is a file in the same folder it is known that its
    table never came.
    """
    path, stored = place.path, place.stored_in
    try:
        manifest = read_manifest(path)
        named = manifest.data if manifest is not None else None
        if named is None and (private := read_private(path)) is not None:
            named = private.data
    except InputError:
        return False
    if stored is not None or (named is not None and Path(named).suffix.removeprefix(".") in SYSTEMS):
        address = getattr(place, "address", None)
        here = address is not None and address.file is not None and address.file.parent == path.parent
        return here and manifest is not None and manifest.stored_in == stored and not place.exists()
    if named == path.name:
        return not place.exists()
    return named is not None and not path.with_name(Path(named).name).exists()


def _remove_leftovers(path: Path) -> None:
    """Parts that waited for a release that was never finished."""
    for part in files_of(path)[1:]:
        for file in [*part.parent.glob(f".{part.name}.*"), *part.parent.glob(f"..{part.name}.*")]:
            if time.time() - file.stat().st_mtime > _LEFT:  # younger ones may be another process's
                file.unlink(missing_ok=True)
