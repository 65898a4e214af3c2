"""The manifest of a release: one versioned shape for every method. Unknown keys are refused; nothing in it names
another file to be read.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from shoal.errors import InputError, ShoalError
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns
from shoal.ranges.forms import NATURES, ColumnForm
from shoal.storage import Table
from shoal.storage.column_type import ColumnType, type_word
from shoal.storage.databases import Address, is_database
from shoal.storage.formats.cells import defused_name
from shoal.storage.reading.bytes import parse_json
from shoal.storage.reading.files import is_address
from shoal.storage.writing import OutputFormat
from shoal.systems.files import replace
from shoal.systems.locks import Lock

if TYPE_CHECKING:
    from shoal.storage.databases.base import DatabaseObject


MANIFEST_VERSION: Literal[2] = 2
# of a release of several tables (`shoal.releases.table_set`)
TABLES_MANIFEST, TABLES_RECORD = "tables.json", "tables.private.json"
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


# the method of a manifest whose table was drawn under differential privacy
PRIVATE_TABLE = "dp-release"
# what a private record says where the rows of the input have no order
NO_ROW_MAP = "none: the rows of the input came from a database without an order"

# methods whose tables are still personal data: they promise nothing, and nobody needs to decide on their columns
PERSONAL = ("pseudonymize", "shift-dates", "scrub")
DecidedBy = Literal["policy", "answer", "proposal", "detection"]


class _Entry(BaseModel):
    """A part of a manifest: unknown keys are refused, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ColumnEntry(_Entry):
    """One column of the input: its role, what was done to it, and under which names and types it is released.

    `decided_by`: a policy said so, the answer or option of a person, or what shoal proposed with confidence and nobody
    changed; or nobody did, and detection found nothing that points at people.
    """

    name: str
    role: str
    decided_by: DecidedBy = "policy"
    nature: str
    technique: str
    form: ColumnForm
    released_as: list[str]
    types: list[str] = []
    clause: str | None = None

    @property
    def derived(self) -> list[str]:
        """The names that the column may be released under."""
        if self.form.kind == "removed":
            return []
        return [f"{self.name}_low", f"{self.name}_high"] if self.form.kind == "columns" else [self.name]

    @property
    def consistent(self) -> bool:
        """Whether the nature is one of the form."""
        return (self.nature == "named") == self.form.labels_are_names and self.nature in NATURES[self.form.kind]


class WrittenAs(OutputFormat):
    """How the file is written; `decimal_columns` are those whose decimal points are commas."""

    decimal_columns: tuple[str, ...] = ()


class StoredIn(_Entry):
    """The table of a database that the data is in: by names alone, without host, user or password."""

    system: Literal["postgresql", "sqlite", "duckdb"]
    database: str
    schema_name: str | None = None
    table: str


class ModelEntry(_Entry):
    """The verdict of one model when the file was written."""

    name: str
    parameters: dict[str, JsonValue]
    holds: bool
    worst: dict[str, JsonValue]


class CheckEntry(_Entry):
    """One check when the file was written."""

    name: str
    holds: bool
    detail: str


class Signature(_Entry):
    """An Ed25519 signature over everything else in the manifest."""

    algorithm: Literal["ed25519"]
    public_key: Hash
    value: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class Statements(_Entry):
    """What a manifest of any kind is: statements that have a digest and may be signed."""

    signature: Signature | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; keys without a value are left out."""
        return self.model_dump(mode="json", exclude_none=True)

    def canonical_bytes(self, signature: bool = True) -> bytes:
        """What the manifest says, whatever its layout; without the signature that is what is signed."""
        content = {name: value for name, value in self.to_dict().items() if signature or name != "signature"}
        return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )

    def digest(self) -> str:
        """SHA-256 of what the manifest says."""
        return hashlib.sha256(self.canonical_bytes()).hexdigest()


class Manifest(Statements):
    """What is said in public about a release."""

    schema_version: Literal[2] = MANIFEST_VERSION
    shoal: str
    created: str
    data: str
    # of a file its bytes, of a table its rows in whatever order (`shoal.storage.content`)
    data_sha256: Hash
    stored_in: StoredIn | None = None
    policy: Policy
    policy_sha256: Hash
    method: str
    source: str | None = None
    parameters: dict[str, JsonValue] = {}
    quasi_identifiers: list[str]
    columns: list[ColumnEntry]
    written: Annotated[int, Field(ge=0)]
    suppressed_rows: Annotated[int, Field(ge=0)] = 0
    removed_rows: Annotated[int, Field(ge=0)] = 0
    seconds: float = 0.0
    shuffled: bool
    excel_safe: bool = False
    # how the file is written, where that is not the usual way
    output: WrittenAs | None = None
    findings: dict[str, JsonValue] = {}
    sections: dict[str, JsonValue] = {}
    verdict: Literal["holds", "no guarantee"]
    models: list[ModelEntry]
    checks: list[CheckEntry]
    no_guarantee: bool
    warning: str | None = None
    notes: list[str] = []
    # what is written with the data besides, by its word: `dictionary`, and of the owner's `private` record and `plan`
    parts: dict[str, Hash] = {}
    # of a publication: every other file of its folder, by its name
    files: dict[str, Hash] | None = None

    @field_validator("findings")
    @classmethod
    def _by_column(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """What the dictionary repeats of the findings stands there by column."""
        loss, scrubbed = value.get("information_loss_by_column"), value.get("scrubbed")
        columns = scrubbed.get("columns", {}) if isinstance(scrubbed, dict) else scrubbed
        if not all(one is None or isinstance(one, dict) for one in (loss, scrubbed, columns)):
            raise ValueError("the findings of a manifest tell losses and scrubbed text by column")
        return value

    @field_validator("data")
    @classmethod
    def _beside(cls, value: str) -> str:
        """The data lies beside its manifest: a path would name another file."""
        if value in ("", ".", "..") or "/" in value or "\\" in value:
            raise ValueError("the data of a manifest is the name of a file beside it")
        return value

    @field_validator("policy", mode="before")
    @classmethod
    def _a_mapping(cls, value: Any) -> Any:
        """A policy stands there itself: a path would have other files read."""
        if not isinstance(value, (dict, Policy)):
            raise ValueError("a policy in a manifest is a mapping")
        trees = value.hierarchies if isinstance(value, Policy) else value.get("hierarchies") or {}
        if isinstance(trees, str) or (
            isinstance(trees, dict) and any(isinstance(tree, str) for tree in trees.values())
        ):
            raise ValueError("hierarchies in a manifest are trees, not files")
        return value

    @property
    def released_names(self) -> list[str]:
        """The columns of the data file in their order."""
        return [name for column in self.columns for name in column.released_as]

    @property
    def undecided(self) -> list[str]:
        """The columns of the input that nobody decided on."""
        return [column.name for column in self.columns if column.decided_by == "detection"]

    def column(self, name: str) -> ColumnEntry | None:
        """The entry of a column of the input."""
        return next((column for column in self.columns if column.name == name), None)

    def form_of(self, released: str) -> ColumnForm | None:
        """The form of a column of the data file."""
        return next((column.form for column in self.columns if released in column.released_as), None)

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each column's tree, where one generalisation was made for all rows."""
        found = self.parameters.get("levels")
        if not isinstance(found, dict):
            return None
        return {name: level for name, level in found.items() if isinstance(level, int)}

    def to_dict(self) -> dict[str, Any]:
        """As JSON; keys without a value are left out."""
        return self.model_dump(mode="json", exclude_none=True) | {"policy": self.policy.model_dump(mode="json")}

    def statements_digest(self) -> str:
        """SHA-256 of what the manifest says about the release; hashes of other files and the signature are not part of
        it, so that those files can name it."""
        alone = self.model_copy(update={"files": None})
        return hashlib.sha256(alone.canonical_bytes(signature=False)).hexdigest()


class PrivateRecord(_Entry):
    """For the owner of a release only: how rows can be found again, and what exactly was released.

    The manifest has its hash (`parts`). Every key stands there: one that is gone was taken away.
    """

    data: str
    data_sha256: Hash
    manifest_sha256: Hash
    plan_sha256: Hash | None
    shuffled: bool
    seed: Annotated[int, Field(ge=0, lt=2**128)]
    row_map: str
    records: Annotated[int, Field(ge=0)]
    # rows of the input that are not released, counted from 0
    removed: list[Annotated[int, Field(ge=0)]]
    input_sha256: Hash | None
    # per column: each original value, and the labels that it was given
    labels: dict[str, list[tuple[str | None, list[str | None]]]]
    perturbation_seed: int | None
    treatment_seed: int | None
    # declared types whose order the manifest does not tell whole
    types: dict[str, ColumnType]
    # exact figures of a release under differential privacy: nothing of them was paid for, and nothing of them leaves
    measured: dict[str, JsonValue]
    # without it the hash in the manifest would confirm a guess of what stands here
    salt: str

    def digest(self) -> str:
        """SHA-256 of what it says, but for the hash of the manifest, which has this one."""
        content = self.model_dump(mode="json", exclude={"manifest_sha256"})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# The columns of a release as its manifest lists them.


def column_entries(
    table: Table,
    policy: Policy,
    method: str,
    changed: Mapping[str, ReleasedColumns],
    decided_by: Mapping[str, DecidedBy] | None = None,
) -> list[ColumnEntry]:
    """Each column of the input: its role, what was done, under which names it is released.

    `decided_by`: who decided on the columns that no person wrote into the policy.

    >>> from shoal.storage.reading import read
    >>> found = column_entries(read({"name": ["x"], "age": [3]}), Policy(columns={"name": "identifier"}), "mask", {})
    >>> [(entry.name, entry.form.kind, entry.released_as) for entry in found]
    [('name', 'removed', []), ('age', 'as-it-was', ['age'])]
    """
    known = decided_names(policy) | set(changed)
    return [
        _entry(
            name,
            type_word(dtype),
            policy.columns.get(name, "other"),
            f"scrub by {policy.text.replace}" if policy.columns.get(name) == "text" else method,
            changed.get(name),
            (decided_by or {}).get(name, "policy") if name in known else "detection",
        )
        for name, dtype in types_by_name(table).items()
    ]


def types_by_name(table: Table) -> dict[str, pl.DataType]:
    """The types of all columns of the input in its order, also of those that stayed where the rows are."""
    found = {name: column.dtype for name, column in table.columns.items()}
    if not table.beside:
        return found
    found |= {name: table.beside[name].dtype for name in table.beside}
    return {name: found[name] for name in table.source_names if name in found}


def decided_names(policy: Policy) -> set[str]:
    """The columns that a policy decides on: those with a role, and those that a model is about.

    >>> decided_names(Policy(columns={"age": "other"}))
    {'age'}
    """
    return set(policy.columns) | set(policy.needed)


def _entry(
    name: str, kind: str, role: str, method: str, changed: ReleasedColumns | None, decided_by: DecidedBy
) -> ColumnEntry:
    if role == "identifier":
        form, nature, technique, names = ColumnForm(kind="removed"), "removed", "removed", []
    elif role == "text":
        form, nature, technique, names = ColumnForm(kind="scrubbed", type="text"), "scrubbed", method, [name]
    elif changed is None:
        form, nature, technique, names = ColumnForm(kind="as-it-was", type=kind), "unchanged", "none", [name]
    else:
        form, nature, names = changed.form, changed.nature, changed.names
        technique = "none" if nature == "unchanged" else method
    return ColumnEntry(
        name=name,
        role=role,
        decided_by=decided_by,
        nature=nature,
        technique=technique,
        form=form,
        released_as=names,
    )


# The parts beside a data file, read back: ordinary files of a limited size only; any damage is an `InputError`.


LARGEST_MANIFEST = 64_000_000
LARGEST_PLAN = 1_000_000_000

Shape = TypeVar("Shape", bound=BaseModel)


def names_as_released(names: Iterable[str], columns: Collection[str]) -> list[str]:
    """Columns under the names by which those of a release have them: their own, behind an apostrophe where a
    spreadsheet would run it, or the two names that ranges in two columns have. A name that is there is nobody else's.

    >>> names_as_released(["age", "job", "=pay"], ["age", "age_low", "age_high", "job_low", "job_high", "'=pay"])
    ['age', 'job_low', 'job_high', "'=pay"]
    """
    found: list[str] = []
    for name in names:
        own, ends = [name, defused_name(name)], [f"{name}_low", f"{name}_high"]
        spellings = [[one] for one in own] + [ends, [defused_name(end) for end in ends]]
        found += next((said for said in spellings if all(one in columns for one in said)), [name])
    return found


def released_names(source: Any, names: Sequence[str]) -> list[str]:
    """Quasi-identifiers under the names that a file's manifest says they were released as; as they are without one."""
    here = isinstance(source, (str, Path)) and not is_address(source)
    beside = Address.of(source).beside if is_database(source) else Path(source) if here else None
    manifest = read_manifest(beside)
    return list(names) if manifest is None else names_as_released(names, manifest.released_names)


def stored_as(address: Address, found: DatabaseObject) -> StoredIn:
    """Where a table is, by its names; of a file of a database the name alone."""
    from shoal.storage.databases.base import check_table

    return StoredIn(
        system=address.system,  # type: ignore[arg-type]
        database=found.database,
        schema_name=found.schema,
        table=check_table(address),
    )


def manifest_path(path: Path) -> Path:
    """The public manifest of a data file.

    >>> manifest_path(Path("safe.csv")).name
    'safe.manifest.json'
    """
    return path.with_name(path.stem + ".manifest.json")


def private_path(path: Path) -> Path:
    """The private record of a data file: seed, row map, input hash; for its owner only."""
    return path.with_name(path.stem + ".private.json")


def plan_path(path: Path) -> Path:
    """The plan by which a data file was generalised; for its owner only."""
    return path.with_name(path.stem + ".plan.json")


def private_folder(folder: Path) -> Path:
    """The owner's folder of a published folder: it lies beside it.

    >>> private_folder(Path("release")).name
    'release.private'
    """
    return folder.with_name(folder.name + ".private")


def dictionary_path(path: Path) -> Path:
    """The data dictionary of a data file."""
    return path.with_name(path.stem + ".dictionary.json")


def policy_path(path: Path) -> Path:
    """The policy that a data file was made by, with all that was said beside it; for its owner only."""
    return path.with_name(path.stem + ".policy.yaml")


# how the names of the owner's files beside a release end
OWNERS_ENDINGS = (".private.json", ".plan.json", ".policy.yaml")


def files_of(path: str | Path | None) -> list[Path]:
    """All files that a release writes: the data and what lies beside it.

    >>> [file.name for file in files_of("safe.csv")][:2]
    ['safe.csv', 'safe.manifest.json']
    """
    if path is None:
        return []
    path = Path(path)
    parts = (manifest_path, dictionary_path, private_path, plan_path, policy_path)
    return [path, *(part(path) for part in parts)]


def pending_path(part: Path, data_sha256: str) -> Path:
    """Where a part of a release waits that replaces another: until the data has taken its name."""
    return part.with_name(f".{part.name}.{data_sha256[:16]}")


def parts_lock(path: Path) -> Lock:
    """The lock that who writes the parts of a release holds, until all of them have their names."""
    return Lock(path.with_name(f".{path.stem}.parts.lock"))


def read_json(path: Path, what: str, largest: int = LARGEST_MANIFEST) -> dict[str, Any]:
    """A JSON object from an ordinary file of a limited size.

    >>> read_json(Path("/dev/zero"), "manifest")
    Traceback (most recent call last):
    shoal.errors.InputError: /dev/zero is not an ordinary file. ...
    """
    cure = f"Take the {what} that was written with the release."
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{path} is not an ordinary file.", cure)
        if found.st_size > largest:
            raise InputError(f"{path} has more than {largest:,} bytes: that is not a {what}.", cure)
        content = parse_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"There is no {what} {path}.", cure) from None
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or type(error).__name__}.", cure) from None
    except (ValueError, RecursionError, MemoryError):
        raise InputError(f"{path} is not a {what} of shoal.", cure) from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a {what} of shoal.", cure)
    return content


def as_shape(shape: type[Shape], content: dict[str, Any], path: Path, what: str) -> Shape:
    """JSON as its pydantic model; what does not fit is named by its place, never by its value."""
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        places = dict.fromkeys(".".join(str(part) for part in found["loc"][:3]) for found in error.errors())
        shown = ", ".join(list(places)[:5])
        raise InputError(
            f"{path} is not a {what} of shoal: see {shown or 'its content'}.",
            f"Take the {what} that was written with the release.",
        ) from None
    except (RecursionError, ValueError, TypeError, OverflowError, ShoalError):
        raise InputError(
            f"{path} is not a {what} of shoal.", f"Take the {what} that was written with the release."
        ) from None


def finish_interrupted(path: Path, data_sha256: str) -> None:
    """Give the parts of a release their names whose writer was killed when its data had taken its own.

    A manifest that is there and is of this data stays: what is read is what everybody sees.
    """
    waiting = {part: pending_path(part, data_sha256) for part in files_of(path)[1:]}
    if not any(one.exists() for one in waiting.values()):
        return
    with suppress(OSError), parts_lock(path):
        found = read_manifest(path)
        if found is not None and found.data_sha256 == data_sha256 and waiting[manifest_path(path)].exists():
            return  # the same data was released before: what waits belongs to another manifest of it
        for part, one in waiting.items():
            if one.exists():
                replace(one, part)


def owners_part(part: Path) -> Path | None:
    """Where a part for the owner is: beside its data, or in the folder beside a published one."""
    kept = private_folder(part.parent.absolute()) / part.name
    return next((one for one in (part, kept) if one.exists()), None)


def read_manifest(path: Path | None) -> Manifest | None:
    """The manifest beside a data file, if there is one."""
    file = None if path is None else manifest_path(path)
    if file is None or not file.exists():
        return None
    return as_shape(Manifest, read_json(file, "manifest"), file, "manifest")


def read_private(path: Path) -> PrivateRecord | None:
    """The private record beside a data file, if there is one."""
    file = owners_part(private_path(path))
    return None if file is None else as_shape(PrivateRecord, read_json(file, "private record"), file, "private record")
