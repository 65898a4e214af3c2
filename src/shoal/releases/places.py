"""Where the data of a release goes: a file, or a table of a database. A draft is written, read back, and takes its
name only when everything was judged."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from shoal.databases import Address, database_of, is_database
from shoal.databases.base import StagedTable, check_table
from shoal.errors import InputError
from shoal.formats import Labels
from shoal.manifest.files import read_manifest, stored_as
from shoal.manifest.schema import StoredIn
from shoal.reading import Options, read, read_rows
from shoal.releases.drafts import DraftFile
from shoal.releases.elsewhere import path_here
from shoal.releases.notation import Notation, read_back
from shoal.table import Table
from shoal.table.content import content_sha256
from shoal.writing import OutputFormat, check_target, failure, sha256, sync, write_draft


class Place(Protocol):
    """Where data goes. `path`: from it the names of manifest, dictionary, private record and plan follow."""

    path: Path

    @property
    def shown(self) -> str | Path:
        """The place for people, without credentials."""

    @property
    def stored_in(self) -> StoredIn | None:
        """The table, for the manifest; None for a file, which lies beside it."""

    def check(self, force: bool) -> None:
        """Refuse before any work is done."""

    def exists(self) -> bool:
        """Whether something is there."""

    def stage(self, frame: pl.DataFrame, output: OutputFormat | None, labels: Labels | None = None) -> None:
        """Write the draft, with labels of columns and codes where the place has them."""

    def fill(self, write: Callable[[Path], None]) -> None:
        """Let `write` fill the draft, block by block."""

    def digest(self) -> str:
        """The hash of the draft, by which it is known when it has its name."""

    def read(self, notation: Notation | None, options: Options | None) -> tuple[Table, list[str]]:
        """The draft, read back, and the columns that are written otherwise."""

    def publish(self) -> None:
        """Give the draft its name."""

    def discard(self) -> None:
        """Remove the draft; nothing to do once it has its name."""


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
        self._draft.replace(self.path)
        self._draft = self.path
        sync(self.path.parent)

    def discard(self) -> None:
        """Remove what did not take its name."""
        if self._held is not None:
            self._held.close()


class TablePlace:
    """A table of a database: written in a transaction that ends only when the table takes its name."""

    def __init__(self, address: Address) -> None:
        if address.query is not None:
            raise InputError("A query is not a place for a release.", "Name a table: ?table=safe.", settings="output")
        check_table(address)
        self.address, self.path = address, address.beside
        self._staged: StagedTable | None = None
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
        manifest = read_manifest(self.path, digest)
        if manifest is None or manifest.data_sha256 != digest:
            why = "there is no manifest beside it" if manifest is None else "its content is not that of its manifest"
            raise InputError(
                f"{self.shown} is not a table that shoal wrote, or it was changed since: {why}.",
                "`force` replaces releases only: drop the table yourself, or choose another name.",
                settings="force",
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
            "Name a .parquet file, raise `memory`, or name fewer columns.",
            settings=["output", "memory"],
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
