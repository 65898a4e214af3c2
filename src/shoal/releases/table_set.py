"""A release of several tables: one folder with its tables, one manifest, one verdict, and the owner's folder beside it.

The tables are files of one format, or the tables of one database file (SQLite, DuckDB). They are written into a draft
folder, read back and judged together; then both folders take their names, or nothing is there.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from shoal import __version__
from shoal.errors import InputError, Message
from shoal.methods.anatomy import COUNT, GROUP, QUASI_IDENTIFIERS, SENSITIVE
from shoal.methods.pseudonyms.pseudonymize import PSEUDONYM
from shoal.policy import Policy
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import (
    TABLES_MANIFEST,
    TABLES_RECORD,
    CheckEntry,
    ColumnEntry,
    Hash,
    ModelEntry,
    Statements,
    as_shape,
    private_folder,
    read_json,
)
from shoal.releases.beside_table import beside_the_table, written_again
from shoal.releases.folder import check_free, staged, take_place
from shoal.releases.manifest_checks import OF_CLASSES, forms_check, undecided_check
from shoal.releases.results import Verification
from shoal.releases.signing import check_signature, sign
from shoal.releases.write import Refused
from shoal.results.result import as_json
from shoal.storage import Table
from shoal.storage.databases import Address, database_of, is_database
from shoal.storage.databases.base import FileDatabase
from shoal.storage.formats import format_of
from shoal.storage.reading import read
from shoal.storage.texts import texts_of
from shoal.storage.writing import OutputFormat, sha256, write_bytes, write_draft
from shoal.wording import in_words

Kind = Literal["anatomy", "linked"]
_ENDINGS = {".sqlite": "sqlite", ".db": "sqlite", ".duckdb": "duckdb"}
_LARGEST_RECORD = 1_000_000_000


class TableEntry(BaseModel):
    """One table: its file (of a database the file that all tables are in), and its columns."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    file: Annotated[str, Field(pattern=r"^[^/\\]+$")]
    sha256: Hash
    rows: Annotated[int, Field(ge=0)]
    columns: list[ColumnEntry]


class TablesManifest(Statements):
    """What is said in public about a release of several tables."""

    schema_version: Literal[1] = 1
    kind: Kind
    shoal: str
    created: str
    tables: dict[str, TableEntry]
    policy: Policy
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    findings: dict[str, JsonValue] = Field(default_factory=dict)
    verdict: Literal["holds"]
    models: list[ModelEntry]
    checks: list[CheckEntry]
    notes: list[str] = Field(default_factory=list)
    # SHA-256 of the private record, and of each other file of the folder
    private: Hash
    files: dict[str, Hash] = Field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; keys without a value are left out."""
        return {**super().to_dict(), "policy": self.policy.as_written()}


class TablesPlace(NamedTuple):
    """Where a set of tables goes: a folder, and the ending of its files or the one database file in it."""

    folder: Path
    ending: str = ".csv"
    database: Address | None = None

    @classmethod
    def of(cls, output: str | Path, ending: str = ".csv") -> TablesPlace:
        """A folder, or the address of a database file whose folder the release is.

        >>> TablesPlace.of("sqlite:///safe/clinic.db").folder
        PosixPath('safe')
        """
        if is_database(output):
            address = Address.of(output)  # type: ignore[arg-type]
            if address.file is None or address.table or address.query or address.file.parent == Path():
                raise InputError(
                    "Several tables are released into a new folder, or into a database file in one.",
                    Message("Write sqlite:///safe/clinic.db or duckdb:///safe/clinic.duckdb ({output})."),
                )
            return cls(address.file.parent, address.file.suffix, address)
        return cls(Path(output), ending)

    def source_of(self, folder: Path, name: str) -> Path | Address:
        """Where one table is, in this folder or in a draft of it."""
        if self.database is None:
            return folder / f"{name}{self.ending}"
        assert self.database.file is not None
        return replace(self.database, database=str(folder / self.database.file.name), table=name)

    def write(self, folder: Path, tables: Mapping[str, pl.DataFrame]) -> None:
        """All tables, into a folder that is empty."""
        if self.database is None and (format_of(Path(f"data{self.ending}")) is None):
            raise InputError(f"{self.ending} is not a format that is written.", "Use .csv or .parquet.")
        for name, frame in tables.items():
            source = self.source_of(folder, name)
            if isinstance(source, Path):
                write_draft(frame, source, source)
            else:
                database_of(source).stage(source, frame).publish()


@dataclass(frozen=True)
class TableSet:
    """A release of several tables as it lies on disk."""

    folder: Path
    manifest: TablesManifest

    @classmethod
    def find(cls, source: Any) -> TableSet | None:
        """The release that a folder, or the manifest in it, is; None where it is something else."""
        if not isinstance(source, (str, Path)) or is_database(source):
            return None
        path = Path(source)
        path = path / TABLES_MANIFEST if path.is_dir() else path
        if path.name != TABLES_MANIFEST or not path.is_file():
            return None
        return cls(path.parent, as_shape(TablesManifest, read_json(path, "manifest"), path, "manifest"))

    def source_of(self, name: str) -> Path | Address:
        """Where one of its tables is."""
        return source_in(self.folder, name, self.manifest.tables[name].file)

    @cached_property
    def tables(self) -> dict[str, Table]:
        """All tables, read."""
        return {name: read(self.source_of(name)) for name in self.manifest.tables}

    @cached_property
    def private(self) -> dict[str, Any] | None:
        """What its owner knows; None where that is not beside it."""
        path = private_folder(self.folder.absolute()) / TABLES_RECORD
        return read_json(path, "private record", _LARGEST_RECORD) if path.is_file() else None

    def checks(self, policy: Policy, signed_by: str | Path | None = None) -> list[Check]:
        """Whether files and private record are those that were released, nothing else lies there, and each table holds
        the columns that the manifest names and the policy decides on, written as shoal writes them."""
        said = self.manifest
        hashes = {entry.file: entry.sha256 for entry in said.tables.values()} | dict(said.files)
        there = {path.name for path in self.folder.iterdir() if path.name != TABLES_MANIFEST}
        wrong = [name for name, digest in hashes.items() if not (self.folder / name).is_file()
                 or sha256(self.folder / name) != digest]  # fmt: skip
        strange = [*sorted(there - set(hashes)), *self._strange_tables]
        checks = [
            Check("files", not wrong, f"not what was released: {', '.join(wrong[:8])}" if wrong else "as released"),
            Check("folder", not strange, f"it holds {', '.join(strange[:8])} too" if strange else "nothing else"),
        ]
        if self.private is not None:
            known = self.private.get("manifest_sha256") == said.digest()
            same = known and digest_of(self.private) == said.private
            checks.append(Check("private record", same, "that of the release" if same else "of another release"))
        checks += [] if signed_by is None else [check_signature(said, signed_by)]
        return [*checks, *(check for name in said.tables for check in self._table_checks(name, policy))]

    @property
    def _strange_tables(self) -> list[str]:
        """What a database file holds beside the tables of the release."""
        found = set[str]()
        for name in self.manifest.tables:
            if isinstance(address := self.source_of(name), Address):
                database = database_of(address)
                assert isinstance(database, FileDatabase)
                found |= {f"table {other}" for other in database.names_in(address)}
        return sorted(found - {f"table {name}" for name in self.manifest.tables})

    def _table_checks(self, name: str, policy: Policy) -> list[Check]:
        """One table: its columns, what the policy says of them, how its cells are written."""
        entry, table, source = self.manifest.tables[name], self.tables[name], self.source_of(name)
        own = _OWN_COLUMNS[self.manifest.kind].get(name, ())
        relations = policy.relations
        part = None if relations is None else relations.tables.get(name)
        roles: Mapping[str, str] = policy.columns if part is None else part.columns
        keys = () if part is None else part.keys
        names = [*own, *(one for column in entry.columns for one in column.released_as)]
        problems = []
        if sorted(table.names) != sorted(names) or table.rows != entry.rows:
            problems.append("other columns or rows than the manifest says")
        for column in entry.columns:
            role = roles.get(column.name)
            if role == "identifier" and column.released_as:
                problems.append(f"{column.name} identifies and is released")
            if column.form.kind in OF_CLASSES and role != "quasi-identifier":
                problems.append(f"{column.name} is no quasi-identifier, and only these are made coarser")
            if (column.form.kind == "pseudonym") != (column.name in keys):
                problems.append(f"{column.name} is a pseudonym where the policy has no key, or none where it has one")
        odd = [key for key in keys if table.has(key) and not texts_of(table[key].values).str.contains(PSEUDONYM).all()]
        problems += [f"{key} holds other keys than the pseudonyms that shoal writes" for key in odd]
        if name != SENSITIVE and not keys and policy.sensitive and self.manifest.kind == "anatomy":
            problems += [f"{one} stands beside exact values" for one in policy.sensitive if table.has(one)]
        forms = forms_check(entry.columns, table, policy, False)
        problems += [] if forms.holds else [forms.detail]
        checks = [Check("table", not problems, "; ".join(problems[:8]) or "columns and cells as the manifest says")]
        if isinstance(source, Path):
            checks += [*beside_the_table(source, table), *written_again(source, OutputFormat())]
        checks += undecided_check(table, {*own, *roles, *keys, *policy.needed})
        return [Check(f"{name}, {check.name}", check.holds, check.detail) for check in checks]

    def figures_check(self, own: Verification) -> Check:
        """What the manifest says was measured, against what is measured by its own policy."""
        measured = as_json([verdict.to_dict() for verdict in own.models])
        wrong = measured != [model.model_dump(mode="json") for model in self.manifest.models]
        claimed = in_words([*self.manifest.parameters, *self.manifest.findings])
        fine = f"models measured again; claimed, not checked: {claimed}"
        return Check("figures", not wrong, "the models were measured otherwise" if wrong else fine)


# columns that shoal adds to the tables of a release
_OWN_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "anatomy": {QUASI_IDENTIFIERS: (GROUP,), SENSITIVE: (GROUP, COUNT)},
    "linked": {},
}


def source_in(folder: Path, name: str, file: str) -> Path | Address:
    """A table in a folder by the file that it is in."""
    system = _ENDINGS.get(Path(file).suffix.lower())
    return folder / file if system is None else Address(system, str(folder / file), name)


def digest_of(private: Mapping[str, Any]) -> str:
    """SHA-256 of a private record, but for the hash of the manifest, which has this one."""
    content = {name: value for name, value in private.items() if name != "manifest_sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class TablesDraft:
    """What is to be released: tables, their columns, what was found, and what only the owner may know."""

    kind: Kind
    tables: Mapping[str, pl.DataFrame]
    columns: Mapping[str, Sequence[ColumnEntry]]
    policy: Policy
    parameters: Mapping[str, Any]
    findings: Mapping[str, Any]
    private: Mapping[str, Any]
    notes: Sequence[str]
    # the tables as they were read back -> models and checks
    judge: Callable[[Mapping[str, Table]], Verification]


def write_tables(
    draft: TablesDraft,
    place: TablesPlace,
    *,
    force: bool = False,
    sign_with: str | Path | None = None,
    pages: Callable[[TablesManifest], Mapping[str, bytes]] | None = None,
) -> tuple[TableSet, Verification]:
    """Write the tables, read them back, judge them; both folders take their names only if all of it holds."""
    check_free(place.folder, force)
    with staged(place.folder) as made:
        place.write(made.public, draft.tables)
        written = {name: read(place.source_of(made.public, name)) for name in draft.tables}
        judged = draft.judge(written)
        if not judged.holds:
            raise Refused(f"Refused, nothing was written. {judged.reasons()}.")
        # without the salt its hash would confirm a guess of what stands there
        private = {**draft.private, "kind": draft.kind, "salt": secrets.token_hex(16)}
        entries = {}
        for name in draft.tables:
            source = place.source_of(made.public, name)
            file = source if isinstance(source, Path) else Path(source.database)
            columns = list(draft.columns[name])
            entries[name] = TableEntry(file=file.name, sha256=sha256(file), rows=written[name].rows, columns=columns)
        manifest = TablesManifest.model_validate(
            {
                "kind": draft.kind,
                "shoal": __version__,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "tables": entries,
                "policy": draft.policy,
                "parameters": as_json(draft.parameters),
                "findings": as_json(draft.findings),
                "verdict": judged.verdict,
                "models": as_json([verdict.to_dict() for verdict in judged.models]),
                "checks": as_json(judged.checks),
                "notes": list(draft.notes),
                "private": digest_of(private),
            }
        )
        files = {} if pages is None else dict(pages(manifest))
        for name, content in files.items():
            write_bytes(made.public / name, content, 0o644)
        manifest = manifest.model_copy(update={"files": {name: sha256(made.public / name) for name in files}})
        manifest = manifest if sign_with is None else sign(manifest, sign_with)
        private["manifest_sha256"] = manifest.digest()
        for folder, name, told, mode in (
            (made.public, TABLES_MANIFEST, manifest.to_dict(), 0o644),
            (made.private, TABLES_RECORD, private, 0o600),
        ):
            write_bytes(folder / name, json.dumps(told, ensure_ascii=False, indent=1).encode(), mode)
        take_place(made, place.folder, force)
    return TableSet(place.folder, manifest), judged
