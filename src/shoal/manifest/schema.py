"""The manifest of a release: one versioned shape for every method. Unknown keys are refused; nothing in it names
another file to be read."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from shoal.policy import Policy
from shoal.ranges.forms import NATURES, ColumnForm
from shoal.table.column_type import ColumnType
from shoal.writing import OutputFormat

MANIFEST_VERSION: Literal[2] = 2
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_STRICT = ConfigDict(extra="forbid", frozen=True, defer_build=True)


# what a private record says where the rows of the input have no order
NO_ROW_MAP = "none: the rows of the input came from a database without an order"

# methods whose tables are still personal data: they promise nothing, and nobody needs to decide on their columns
PERSONAL = ("pseudonymize", "shift-dates", "scrub")
DecidedBy = Literal["policy", "answer", "proposal", "detection"]


class ColumnEntry(BaseModel):
    """One column of the input: its role, what was done to it, and under which names and types it is released.

    `decided_by`: a policy said so, the answer or option of a person, or what shoal proposed with confidence and nobody
    changed; or nobody did, and detection found nothing that points at people.
    """

    model_config = _STRICT

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
        """Whether nature and names are those of the form."""
        named = (self.nature == "named") == self.form.labels_are_names
        return named and self.nature in NATURES[self.form.kind] and self.released_as == self.derived


class WrittenAs(OutputFormat):
    """How the file is written; `decimal_columns` are those whose decimal points are commas."""

    decimal_columns: tuple[str, ...] = ()


class StoredIn(BaseModel):
    """The table of a database that the data is in: by names alone, without host, user or password."""

    model_config = _STRICT

    system: Literal["postgresql", "sqlite", "duckdb"]
    database: str
    schema_name: str | None = None
    table: str


class ModelEntry(BaseModel):
    """The verdict of one model when the file was written."""

    model_config = _STRICT

    name: str
    parameters: dict[str, JsonValue]
    holds: bool
    worst: dict[str, JsonValue]


class CheckEntry(BaseModel):
    """One check when the file was written."""

    model_config = _STRICT

    name: str
    holds: bool
    detail: str


class Signature(BaseModel):
    """An Ed25519 signature over everything else in the manifest."""

    model_config = _STRICT

    algorithm: Literal["ed25519"]
    public_key: Hash
    value: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class Manifest(BaseModel):
    """What is said in public about a release."""

    model_config = _STRICT

    schema_version: Literal[2] = MANIFEST_VERSION
    shoal: str
    created: str
    data: str
    # of a file its bytes, of a table its rows in whatever order (`shoal.table.content`)
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
    # of a publication: every other file of its folder, by its name
    files: dict[str, Hash] | None = None
    signature: Signature | None = None

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

    def canonical_bytes(self, signature: bool = True) -> bytes:
        """What the manifest says, whatever its layout; without the signature that is what is signed."""
        content = {name: value for name, value in self.to_dict().items() if signature or name != "signature"}
        return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )

    def digest(self) -> str:
        """SHA-256 of what the manifest says."""
        return hashlib.sha256(self.canonical_bytes()).hexdigest()

    def statements_digest(self) -> str:
        """SHA-256 of what the manifest says about the release; hashes of other files and the signature are not part of
        it, so that those files can name it."""
        alone = self.model_copy(update={"files": None})
        return hashlib.sha256(alone.canonical_bytes(signature=False)).hexdigest()


class PrivateRecord(BaseModel):
    """For the owner of a release only: how rows can be found again, and what exactly was released."""

    model_config = _STRICT

    data: str
    data_sha256: Hash
    manifest_sha256: Hash
    plan_sha256: Hash | None = None
    shuffled: bool
    seed: Annotated[int, Field(ge=0, lt=2**128)]
    row_map: str
    records: Annotated[int, Field(ge=0)]
    # rows of the input that are not released, counted from 0
    removed: list[Annotated[int, Field(ge=0)]] = []
    input_sha256: Hash | None = None
    # per column: each original value, and the labels that it was given
    labels: dict[str, list[tuple[str | None, list[str | None]]]] = {}
    perturbation_seed: int | None = None
    # declared types whose order the manifest does not tell whole
    types: dict[str, ColumnType] = {}
