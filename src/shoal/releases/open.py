"""A release as it lies on disk: data, manifest, policy, and for its owner plan and private record."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.policy import Policy
from shoal.policy.manifest import (
    LARGEST_PLAN,
    TABLES_MANIFEST,
    Manifest,
    PrivateRecord,
    dictionary_path,
    finish_interrupted,
    manifest_path,
    owners_part,
    plan_path,
    private_path,
    read_json,
    read_manifest,
    read_private,
)
from shoal.releases.notation import Notation, read_back
from shoal.storage import Table
from shoal.storage.column_type import ColumnType
from shoal.storage.content import content_sha256
from shoal.storage.databases import Address, is_database
from shoal.storage.reading import Options, declared_table, declaring, read
from shoal.storage.writing import sha256

if TYPE_CHECKING:
    from shoal.methods.mondrian import CutPlan
    from shoal.methods.search.generalize import LatticePlan

_MANIFEST = ".manifest.json"


def _manifest_in(path: Path) -> Path:
    """The manifest of a published folder; a folder of tables without one stays what it is."""
    if (path / TABLES_MANIFEST).is_file():
        raise InputError(
            f"{path} is a release of several tables, and this takes one.",
            "`shoal verify`, `attack all` and `report` take the folder; or name one of its tables.",
        )
    found = sorted(path.glob(f"*{_MANIFEST}")) if path.is_dir() else []
    if len(found) > 1:
        raise InputError(f"{path} holds {len(found)} releases.", "Name one of their data files.")
    if not found and (path / "findings.json").is_file():
        raise InputError(
            f"{path} holds no data: it is a draft, or the evidence of a refusal.",
            "Publish by one of its cures, then name the folder of that release.",
        )
    return found[0] if found else path


@dataclass(frozen=True)
class Release:
    """A released data file and what lies beside it.

    `data` is the path of the data, `table()` reads it. `plan` and `private` are None where they were not kept.
    """

    data: Path
    options: Options | None = field(default=None, repr=False)
    # where the data is a table: then `data` is the name from which those of its manifest and private record follow
    address: Address | None = None

    @classmethod
    def open(cls, source: str | Path, *, options: Options | None = None) -> Release:
        """A release by its data file, by its manifest, or by the folder that `shoal publish` wrote.

        >>> Release.open("nothing.csv")
        Traceback (most recent call last):
        shoal.errors.InputError: There is no file nothing.csv. ...
        """
        if is_database(source):
            address = Address.of(source)  # type: ignore[arg-type]
            return cls(address.beside, options, address)
        path = _manifest_in(Path(source))
        if path.name.endswith(_MANIFEST):
            from shoal.policy.manifest import as_shape

            manifest = as_shape(Manifest, read_json(path, "manifest"), path, "manifest")
            if Path(manifest.data).name != manifest.data:
                raise InputError(f"{path} names data in another folder.", "Name the data file itself.")
            if manifest.stored_in is not None:
                raise InputError(
                    f"The data of {path} is a table of {manifest.stored_in.system}.", "Name the table by its address."
                )
            path = path.with_name(manifest.data)
        if not path.exists() and not any(sign in str(path) for sign in "*?["):
            raise InputError(
                f"There is no file {path}.",
                "Name a released data file, its manifest, or the folder that `shoal publish` wrote.",
            )
        return cls(path, options)

    @cached_property
    def data_sha256(self) -> str | None:
        """The hash of the data as it is; None for several files."""
        if self.address is not None:
            return content_sha256(self._table)
        released = self.data.is_dir() and manifest_path(self.data).is_file()  # as an engine writes it
        return sha256(self.data) if self.data.is_file() or released else None

    @cached_property
    def manifest_or_none(self) -> Manifest | None:
        """The manifest, if there is one; of a release whose writer was killed the parts that wait get their names."""
        waits = list(self.data.parent.glob(f".{glob.escape(self.data.stem)}.*"))
        if waits and self.data_sha256 is not None:
            finish_interrupted(self.data, self.data_sha256)
        released = self.address is not None or self.data.is_file() or self.data.is_dir()
        return read_manifest(self.data) if released else None

    @property
    def manifest(self) -> Manifest:
        """The manifest."""
        found = self.manifest_or_none
        if found is None:
            raise InputError(f"There is no manifest beside {self.data}.", "Keep it beside the data.")
        return found

    @property
    def policy(self) -> Policy:
        """The policy that the release was made for."""
        return self.manifest.policy

    @cached_property
    def plan(self) -> LatticePlan | CutPlan | None:
        """The plan by which it was generalised, if its owner has it."""
        from shoal.methods.search.generalize import plan_of

        file = owners_part(plan_path(self.data))
        if file is None or not self._knows("plan", sha256(file)):
            return None  # none, or that of another release
        return plan_of(read_json(file, "plan", LARGEST_PLAN), file)

    @cached_property
    def private(self) -> PrivateRecord | None:
        """The private record, if its owner has it."""
        return None if self.manifest_or_none is None else read_private(self.data)

    @property
    def is_vouched(self) -> bool:
        """Whether the owner's private record is there, and data and manifest are those that it knows."""
        manifest, private = self.manifest_or_none, self.private
        if manifest is None or private is None:
            return False
        known = private.data_sha256 == self.data_sha256 and private.manifest_sha256 == manifest.digest()
        return known and manifest.parts.get("private") == private.digest()

    def _knows(self, part: str, digest: str) -> bool:
        """Whether the manifest, and where it is there the private record, has this hash of a part."""
        manifest, private = self.manifest_or_none, self.private
        said = part != "plan" or private is None or private.plan_sha256 == digest
        return manifest is not None and manifest.parts.get(part) == digest and said

    @property
    def other_parts(self) -> dict[str, str]:
        """What is wrong with the parts beside data and manifest: the dictionary is public, a plan may be there."""
        dictionary, plan = dictionary_path(self.data), owners_part(plan_path(self.data))
        wrong = {}
        if not dictionary.is_file():
            wrong["dictionary"] = "is missing"
        elif not self._knows("dictionary", sha256(dictionary)):
            wrong["dictionary"] = "is not the one that was released"
        if plan is not None and not self._knows("plan", sha256(plan)):
            wrong["plan"] = "is not that of the release"
        return wrong

    @property
    def whole_types(self) -> dict[str, ColumnType]:
        """Types whose order the manifest does not tell whole, as the private record has them."""
        manifest, private = self.manifest_or_none, self.private
        if manifest is None or private is None or private.manifest_sha256 != manifest.digest():
            return {}
        return private.types

    @property
    def types(self) -> dict[str, ColumnType]:
        """What columns are declared as: the manifest says it, and the private record what the manifest leaves out."""
        manifest = self.manifest_or_none
        return {**({} if manifest is None else manifest.policy.types), **self.whole_types}

    @property
    def notation(self) -> Notation | None:
        """How the data is written, where that is not the usual way."""
        manifest = self.manifest_or_none
        if manifest is None or manifest.output is None:
            return None
        return Notation.of(manifest.output, manifest.columns, self.data, manifest.excel_safe)

    @property
    def _plain(self) -> Options | None:
        return None if self.options is None else replace(self.options, types=None)

    @cached_property
    def _table(self) -> Table:
        """The table of a database, read once."""
        return read(self.address, None, self._plain)

    @cached_property
    def _read(self) -> tuple[Table, list[str]]:
        return read_back(self.data if self.address is None else self._table, self.notation, self._plain)

    def table(self) -> Table:
        """The data, read: `*` is what is suppressed, whatever the file writes for it, and columns are what the policy
        declares them as."""
        manifest = self.manifest_or_none
        if manifest is None:
            return self.table_by({}, ())
        return self.table_by(self.types, manifest.quasi_identifiers)

    def table_by(self, types: Mapping[str, Any], only_empty: Iterable[str]) -> Table:
        """The data, read; columns are what is said here, and an empty cell alone is missing in some of them."""
        options = declaring(self.options, types, True, only_empty)
        return self._read[0] if options is None else declared_table(self._read[0], options)

    @property
    def otherwise_written(self) -> list[str]:
        """The columns with cells that are not written as the manifest's `output` says."""
        return self._read[1]

    @property
    def parts(self) -> dict[str, Any]:
        """Where the parts are."""
        return {"manifest": manifest_path(self.data), "private": private_path(self.data), "plan": plan_path(self.data)}
