"""Where the data of a release goes: a file, or a table of a database. A draft is written, read back, and takes its
name only when everything was judged.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from shoal.errors import InputError, Message
from shoal.policy.manifest import (
    StoredIn,
    files_of,
    finish_interrupted,
    parts_lock,
    pending_path,
    plan_path,
    read_manifest,
    read_private,
    stored_as,
)
from shoal.releases.documents import ReleaseDocuments
from shoal.releases.notation import Notation, read_back
from shoal.releases.remote_release import path_here
from shoal.storage import Table
from shoal.storage.content import content_sha256
from shoal.storage.databases import SYSTEMS, Address, database_of, is_database
from shoal.storage.formats import Labels
from shoal.storage.reading import Options, read, read_rows
from shoal.storage.writing import OutputFormat, check_target, failure, sha256, write_bytes, write_draft
from shoal.systems.files import check_closed, remove, replace, sync
from shoal.systems.locks import abandoned, lock_beside

if TYPE_CHECKING:
    from shoal.storage.databases.base import Staged


# The draft of a file is its owner's alone, and locked while its writer lives: a killed one leaves data behind.
#
# A draft is removed by the next release to the same target, and only where its writer is dead: nobody holds its lock.


class DraftFile:
    """A new file beside a target, under a name of its own; drafts of dead writers for that target are removed.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> draft = DraftFile(folder / "safe.csv")
    >>> sorted(file.name.removeprefix(draft.path.name) for file in folder.iterdir())
    ['', '.lock']
    >>> draft.close(); list(folder.iterdir())
    []
    """

    def __init__(self, target: Path) -> None:
        remove_dead_drafts(target)
        name = f".{target.stem}.{os.getpid()}-{secrets.token_hex(4)}.draft{target.suffix.lower()}"
        self.path = target.with_name(name)
        self._lock = lock_beside(self.path)
        self._lock.take(wait=True)  # another writer may be looking whether it is abandoned
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except BaseException:
            self._lock.release()
            raise

    def close(self) -> None:
        """Nothing more is written; what has still its own name is removed."""
        remove(self.path)
        self._lock.release()


def remove_dead_drafts(target: Path) -> int:
    """Remove the drafts for a target whose writers are dead; how many there were."""
    end = re.escape(target.suffix.lower())
    name = re.compile(rf"^\.{re.escape(target.stem)}\.[0-9]+-[0-9a-f]{{8}}\.draft{end}$", re.DOTALL)
    return sum(remove(draft) for draft in abandoned(target.parent, name))


def place_of(output: Any) -> Place:
    """The place that an output names.

    >>> place_of("sqlite:///visits.db?table=safe").path
    PosixPath('safe.visits.db.sqlite')
    """
    return TablePlace(Address.of(output)) if is_database(output) else FilePlace(path_here(output))


def check_not_input(sources: Iterable[Any], place: Place) -> None:
    """Refuse a table of a database that is read by the input of what would replace it; a new name is read by none."""
    if not isinstance(place, TablePlace):
        return
    target = place.address
    given = [Address.of(source) for source in sources if is_database(source)]
    given = [address for address in given if address.system == target.system]
    if given and place.exists() and any(database_of(target).reads(address, target) for address in given):
        raise InputError(
            f"{target.shown} is the input and the output at once.", "Choose another name for the table that is written."
        )


def _check_writable(folder: Path) -> None:
    """Refuse a folder that takes no file, by one without a name that is gone at once."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(f"{folder} cannot be written to: {failure(error)}.", "Choose another folder.")


class FilePlace:
    """A file: written under a temporary name beside it, synced, then renamed."""

    stored_in: StoredIn | None = None

    def __init__(self, path: Path) -> None:
        self.path, self._draft = path, path
        self._held: DraftFile | None = None

    @property
    def shown(self) -> Path:
        """Its path."""
        return self.path

    def check(self, force: bool) -> None:
        """Refuse another extension, a folder that is not there, a file that is."""
        check_target(self.path, force)

    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def stage(self, frame: pl.DataFrame, output: OutputFormat | None, labels: Labels | None = None) -> None:
        """Write the draft down to the disk."""
        self.fill(lambda draft: write_draft(frame, draft, self.path, output, labels))

    def fill(self, write: Callable[[Path], None]) -> None:
        """A draft beside the file."""
        try:
            self._held = DraftFile(self.path)
        except OSError as error:
            raise _unwritable(self.path.parent, error) from None
        self._draft = self._held.path
        write(self._draft)

    def digest(self) -> str:
        """The hash of the file's bytes."""
        return sha256(self._draft)

    def read(self, notation: Notation | None, options: Options | None) -> tuple[Table, list[str]]:
        """The file as it was written."""
        return read_back(self._draft, notation, options)

    def publish(self) -> None:
        """Rename it, and make that last."""
        self._draft.chmod(0o644)
        sync(self.path.parent)
        replace(self._draft, self.path)
        self._draft = self.path
        sync(self.path.parent)

    def discard(self) -> None:
        """Remove what did not take its name."""
        if self._held is not None:
            self._held.close()


class TablePlace:
    """A table of a database: written in a transaction that ends only when the table takes its name."""

    def __init__(self, address: Address) -> None:
        from shoal.storage.databases.base import check_table

        if address.query is not None:
            raise InputError("A query is not a place for a release.", Message("Name a table: ?table=safe ({output})."))
        check_table(address)
        self.address, self.path = address, address.beside
        self._staged: Staged | None = None
        self._force = False
        # asked before a transaction is open: some systems let nobody else in
        self._where: StoredIn | None = None

    @property
    def shown(self) -> str:
        """Its address without credentials."""
        return self.address.shown

    @property
    def stored_in(self) -> StoredIn:
        """The table by its names; of a file the name alone."""
        return self._where or stored_as(self.address, database_of(self.address).found(self.address))

    def check(self, force: bool) -> None:
        """Refuse a table that is there, and folders that are not or that cannot be written to."""
        for folder in {self.path.parent, (self.address.file or self.path).parent}:
            if not folder.is_dir():
                raise InputError(f"There is no folder {folder}.", "Make it first.")
            _check_writable(folder)
        found = database_of(self.address).found(self.address)
        self._where = stored_as(self.address, found)
        if not force:
            found.check_free(self.address)
        elif found.kind is not None and not self._force:
            self._check_released(found.kind)
        self._force = force

    def _check_released(self, kind: str) -> None:
        """Refuse to replace what no release is: a table whose content is not that of the manifest beside it."""
        if kind != "table":
            raise InputError(f"{self.shown} is a {kind}, not a table that shoal wrote.", "Drop it yourself.")
        try:
            digest = content_sha256(read(self.address))
        except InputError:  # no rows, or types that no release has
            digest = ""
        if digest:
            finish_interrupted(self.path, digest)
        manifest = read_manifest(self.path)
        if manifest is None or manifest.data_sha256 != digest:
            why = "there is no manifest beside it" if manifest is None else "its content is not that of its manifest"
            raise InputError(
                f"{self.shown} is not a table that shoal wrote, or it was changed since: {why}.",
                Message("`{force}` replaces releases only: drop the table yourself, or choose another name."),
            )

    def exists(self) -> bool:
        """Whether the table is there."""
        return database_of(self.address).found(self.address).kind is not None

    def stage(self, frame: pl.DataFrame, output: OutputFormat | None, labels: Labels | None = None) -> None:
        """Write it into an open transaction."""
        self._staged = database_of(self.address).stage(self.address, frame, self._force)

    def fill(self, write: Callable[[Path], None]) -> None:
        """Refuse what does not fit in memory."""
        raise InputError(
            "A table that does not fit in memory is released into a file, not into a database.",
            Message("Name a .parquet file ({output}), raise `{memory}`, or name fewer columns."),
        )

    @cached_property
    def _table(self) -> Table:
        assert self._staged is not None
        return read_rows(self._staged.rows(), self.shown)

    def digest(self) -> str:
        """The hash of the rows, in whatever order."""
        return content_sha256(self._table)

    def read(self, notation: Notation | None, options: Options | None) -> tuple[Table, list[str]]:
        """The table as the database gives it back."""
        return read_back(self._table, notation, options)

    def publish(self) -> None:
        """Rename it and commit."""
        assert self._staged is not None
        self._staged.publish()

    def discard(self) -> None:
        """End the transaction."""
        if self._staged is not None:
            self._staged.discard()


# where data goes; from its `path` the names of manifest, dictionary, private record and plan follow
Place: TypeAlias = FilePlace | TablePlace

# All parts of a release take their names together, or none does.
#
# A fresh release gets its manifest, dictionary, private record and plan first, and the data takes its name last. Where
# a release is replaced, the new parts wait under names that carry the hash of the new data until the data has taken its
# name: whenever it is interrupted, either the old release is whole or the new one is, and both are read as such.


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
        written_documents = documents()
        files = written_documents.files(path)
        digest = written_documents.manifest["data_sha256"]
        places = {part: pending_path(part, digest) if replaced else part for part in files}
        with parts_lock(path) as alone:
            for part, (content, mode) in files.items():
                write_bytes(places[part], content, mode)
                made.append(places[part])
            check_closed(*files, plan_path(path))  # or the data would take its name, and they could not
            place.publish()
            made.clear()  # from here on they belong to the data
            for part, waiting in places.items():
                replace(waiting, part)
            if plan_path(path) not in files:
                remove(plan_path(path))  # of a release that this one replaces
            if alone.is_kept:
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
    return written_documents


def check_free(place: Place, force: bool) -> None:
    """Refuse to write over the data or the parts of another release; those of one that was interrupted are none."""
    place.check(force)
    if force or place.exists():
        return
    for part in files_of(place.path)[1:]:
        if part.exists() and not _interrupted(place):
            other = "" if place.stored_in is None else " for the manifest: ?table=…&manifest=other.manifest.json"
            raise InputError(
                f"{part} exists already: it belongs to another release.",
                Message("Choose another name{}, or replace it with `{force}`.", other),
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
    """Remove the parts that killed writers left beside a target; asked for while `parts_lock` keeps living ones out.

    A part waits as `.NAME.HASH` for its data (`pending_path`), and is written as a draft of such a name or of its own
    (`write_bytes`).
    """
    parts = "|".join(re.escape(part.name) for part in files_of(path)[1:])
    name = re.compile(rf"\.({parts})\.([0-9a-f]{{8}}|[0-9a-f]{{16}})|\.\.({parts})\.[0-9a-f]{{16}}\.[0-9a-f]{{8}}")
    for file in path.parent.iterdir():
        if name.fullmatch(file.name):
            with suppress(OSError):  # of another user: the release is whole without that
                remove(file)
