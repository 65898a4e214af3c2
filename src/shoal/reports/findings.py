"""The document that a report is made from: what every step found, and nothing that is still to be computed.

It is kept as JSON, read back with its types for the chapters, and checked against the pydantic model that follows from
them. Findings leave out what says something about few people, and the public edition what helps an attacker: such keys
may be missing, and the fields that they would fill are None then. What findings have beside the results of the verbs is
described here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
)

from shoal.attacks.base import AttackResult
from shoal.detection.profiles import Profile
from shoal.detection.results import Detection
from shoal.dp.tables.results import PrivateTable
from shoal.errors import InputError
from shoal.exposure.leakage.results import LeakSeries
from shoal.exposure.results import AttackerRisk, IdentityRisk
from shoal.methods.results import Anonymized
from shoal.policy.manifest import DecidedBy
from shoal.releases.compare import LinkedReleases
from shoal.releases.results import Verification
from shoal.results import Figure, Figures, Headline, Notes, Result, Section, keyed, where_known
from shoal.results.registry import JsonKey, Keys, from_json, keys_of, model_with
from shoal.storage.reading.bytes import parse_json, read_small
from shoal.utility.quality import QualityFigures
from shoal.wording import counted

_SHOWN = 5
_CURE = "Name a folder that `shoal publish` wrote, or its findings.json."
Edition = Literal["internal", "public"]


@dataclass(frozen=True, repr=False)
class FindingsDocument(Result):
    """What every step of a publication found, each as its own verb gives it (`shoal schema risk` and so on), without
    counts of few people. `context` has the edition: the public one leaves out what helps an attacker."""

    name: ClassVar[str] = "findings"

    created: str
    software: dict[str, str]
    data: dict[str, Any]
    policy: dict[str, Any]
    profile: dict[str, Any] | None
    detect: dict[str, Any] | None
    risk: dict[str, dict[str, Any] | None]
    change: dict[str, Any] | None
    verification: dict[str, Any] | None
    attacks: dict[str, Any] | None
    leak: dict[str, Any] | None
    utility: dict[str, Any] | None
    context: dict[str, Any]
    limits: list[str]
    # attacks past their limit that the policy accepts, each with its reason
    accepted: list[str] | None = where_known()
    # where the release was refused: at which `step`, the `reason` and the `cure`
    refusal: dict[str, str | None] | None = where_known()
    # of a table under differential privacy: what it promises and, for its owner, how far off it is
    private_table: dict[str, Any] | None = where_known()

    def summary(self) -> str:
        """What was published, in a sentence."""
        if self.refusal is not None:
            return f"{counted(self.data['records'], 'record')}, {self.created[:10]}; refused: {self.refusal['step']}."
        verdict = "not reached" if self.verification is None else self.verification["verdict"]
        return f"{counted(self.data['records'], 'record')}, {self.created[:10]}; verification: {verdict}."

    def sections(self) -> list[Section]:
        """The steps that have findings, and what is not known."""
        steps = [name for name in KEYS[5:13] if getattr(self, name)]
        figures = [Figure("created", self.created), Figure("steps with findings", ", ".join(steps))]
        return [Headline(self.summary()), Figures(figures), Notes(self.limits)]


# what must be there for a report; what a step did not find is null
KEYS = ("schema_version", *(entry.name for entry in fields(FindingsDocument) if not entry.metadata))


def read_findings(path: str | Path) -> dict[str, Any]:
    """The findings in a file, or in a published folder.

    >>> read_findings("nothing.json")
    Traceback (most recent call last):
    shoal.errors.InputError: There are no findings at nothing.json. ...
    """
    file = Path(path) / "findings.json" if Path(path).is_dir() else Path(path)
    if not file.is_file():
        raise InputError(f"There are no findings at {path}.", _CURE)
    try:
        found = parse_json(read_small(file))
    except (ValueError, OSError):
        raise InputError(f"{file} is not a file of findings.", _CURE) from None
    return checked_findings(found, str(file))


def checked_findings(found: Any, where: str) -> dict[str, Any]:
    """Findings that have every part a report needs; what is missing is named."""
    if not isinstance(found, dict):
        raise InputError(f"{where} is not a file of findings.", _CURE)
    if missing := [key for key in KEYS if key not in found]:
        raise InputError(f"{where} is not a file of findings: it lacks {', '.join(missing)}.", _CURE)
    if found["schema_version"] != FindingsDocument.schema_version:
        raise InputError(f"{where} was written by another version of shoal.", "Make the report with that version.")
    if wrong := wrong_places(found):
        raise InputError(f"{where} is not a file of findings: see {', '.join(wrong[:_SHOWN])}.", _CURE)
    return found


# Findings with their types: what chapters take, and the model that a file of findings must keep.


# keys that only the owner may know: what repeats the draw of chance, where the table was cut, whose file it was
OWNER_ONLY = frozenset({"seed", "sha256", "levels", "plan_path", "output", "manifest", "path", "cuts"})
# keys under which counts by class stand
COUNTS_BY_CLASS = frozenset({"class_sizes", "exact_counts"})
# counts of few people are null
_HIDDEN = frozenset({"nulls", "single", "missing", "share_over_threshold"})
_COUNTS = frozenset({
    "records", "released", "columns", "suppressed_rows", "removed_rows", "suppressed_cells", "modified_rows", "k",
    "classes", "uniques", "targets", "persons", "leaked", "written", "size", "to",
})  # fmt: skip
_SHARES = frozenset({
    "uniqueness", "rate", "low", "high", "baseline", "control", "probability", "highest", "average", "threshold",
    "share_over_threshold", "total_variation", "unchanged", "unknown",
})  # fmt: skip
_LARGEST = 2**63


def _countable(value: Any) -> Any:
    """Any value whose numbers can be counted with."""
    if isinstance(value, list):
        return [_countable(entry) for entry in value]
    if abs(value) >= _LARGEST if isinstance(value, int) else isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


_Integer = Annotated[StrictInt, Field(gt=-_LARGEST, lt=_LARGEST)]
_Anything = Annotated[Any, AfterValidator(_countable)]
_Count = Annotated[StrictInt, Field(ge=0, lt=_LARGEST)]
_Number = Annotated[StrictFloat, Field(ge=0)]
_Share = Annotated[StrictFloat, Field(ge=0, le=1)]
_Hash = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
_DAY = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_Day = Annotated[StrictStr, Field(pattern=_DAY + "$")]
Moment = Annotated[StrictStr, Field(pattern=_DAY + "T[0-9:+.Z-]+$")]


class _Part(BaseModel):
    """A part of findings; keys that it does not name are left alone."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class GroupedSizes(_Part):
    """Records in classes of these sizes; `to` is null where there is no last one."""

    size: _Count
    to: _Count | None
    records: _Count


class SizesBeside(_Part):
    """The same before and after."""

    size: _Count
    to: _Count | None
    before: _Count
    after: _Count


class DataFigures(_Part):
    """What was read and released, by counts and hashes."""

    name: StrictStr | None = None
    records: _Count
    columns: _Count
    released: _Count
    suppressed_rows: _Count
    removed_rows: _Count
    sha256: _Hash | None = None
    released_sha256: _Hash | None = None
    manifest_sha256: _Hash | None = None


class _Model(_Part):
    model: StrictStr


class _Accepted(_Part):
    limit: _Share | None = None
    accept: StrictStr | None = None


class PolicyParts(_Part):
    """What a report needs of a policy."""

    columns: dict[str, StrictStr] = {}
    knowledge: dict[str, list[StrictStr]] = {}
    models: list[_Model] = []
    threshold: _Share | StrictStr = 1
    attacks: dict[str, _Accepted | _Share | None] = {}
    leak: dict[str, Any] | None = None

    def limit(self, criterion: str) -> float | None:
        """How much excess an attack on a criterion may have."""
        said = self.attacks.get(criterion.replace("-", "_"))
        return said.limit if isinstance(said, _Accepted) else said


class ReportContext(_Part):
    """What people said about the release, and which edition the findings are."""

    edition: Literal["internal", "public"]
    expires: _Day = ""
    title: StrictStr = ""
    recipient: StrictStr = ""
    purpose: StrictStr = ""
    controls: StrictStr = ""
    phi: StrictStr = ""
    covered_entity: StrictStr = ""
    data_use_agreement: StrictStr = ""
    motives: StrictStr = ""
    precedent: StrictStr = ""
    responsible: StrictStr = ""


class _Software(BaseModel):
    """Of each part of the software its version."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, StrictStr]

    shoal: StrictStr


class ReportedColumn(_Part):
    """A column: its role, who decided it and why, and what was done to it. `form` is how its cells are written."""

    column: StrictStr
    role: StrictStr
    decided_by: DecidedBy
    reasons: list[StrictStr]
    nature: StrictStr
    technique: StrictStr
    form: StrictStr = ""
    released: StrictBool


class PictureBar(_Part):
    """The share of the records that have a value, before and after."""

    label: StrictStr
    before: _Share
    after: _Share


class ColumnPicture(_Part):
    """A column before and after."""

    column: StrictStr
    kind: StrictStr
    bars: list[PictureBar]
    total_variation: _Share


_R = Annotated[StrictFloat, Field(ge=-1, le=1)]


class CorrelationPair(_Part):
    """How strongly two columns go together, before and after."""

    first: StrictStr
    second: StrictStr
    measure: StrictStr
    before: _R | None
    after: _R | None


class RefusedStep(_Part):
    """At which step a release was refused, why, and the cure."""

    step: StrictStr
    reason: StrictStr
    cure: StrictStr | None = None


class _Worst(BaseModel):
    """The worst class: each model has other figures of it, these all have."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, _Anything]

    size: _Number = 0
    failing_classes: _Number = 0


@dataclass(frozen=True, repr=False)
class ReportedRisk(IdentityRisk):
    """The risk as findings tell it: class sizes in groups; after the change, beside those before."""

    histogram: list[GroupedSizes]  # type: ignore[assignment]
    records_by_size: list[SizesBeside] | None = where_known()

    @property
    def over_population(self) -> bool:
        """Whether the policy counts the risk in the population that the table is a sample of."""
        return self.risk_over == "population" and self.journalist is not None

    @property
    def in_population(self) -> str:
        """Where the journalist's risk comes from: a table of the population, or an estimate of it."""
        return "counted in the population" if self.journalist_by == "table" else "estimated for the population"

    @property
    def judged(self) -> AttackerRisk:
        """The risk that the threshold is about: in the population where the policy says so, else in the table."""
        return self.journalist if self.over_population and self.journalist else self.prosecutor


@dataclass(frozen=True, repr=False)
class ReportedChange(Anonymized):
    """The change, with every column of the input as a report lists it."""

    listed: list[ReportedColumn] = keyed("columns", default_factory=list)


@dataclass(frozen=True, repr=False)
class ReportedVerification(Verification):
    """The verdict on the written file."""

    verdict: Literal["holds", "refused"]


@dataclass(frozen=True, repr=False)
class ReportedUtility(QualityFigures):
    """What the release is good for, with pictures of columns and of pairs of columns."""

    columns: list[ColumnPicture] | None = where_known()
    correlations: list[CorrelationPair] | None = where_known()


@dataclass(frozen=True)
class RiskBeforeAfter:
    """The risk of the table, and of its release."""

    before: ReportedRisk | None
    after: ReportedRisk | None


@dataclass(frozen=True)
class ReportFindings:
    """What chapters are made from: the result of each step of a publication, None where the step did not come.

    A step that is to be told in reports has a field here; the model that a file must keep follows from the fields.
    """

    created: Moment
    software: dict[str, str]
    data: DataFigures
    policy: PolicyParts
    profile: Profile | None
    detect: Detection | None
    risk: RiskBeforeAfter
    change: ReportedChange | None
    verification: ReportedVerification | None
    attacks: AttackResult | None
    leak: LeakSeries | None
    utility: ReportedUtility | None
    context: ReportContext
    limits: list[StrictStr]
    accepted: list[StrictStr] | None = where_known()
    refusal: RefusedStep | None = where_known()
    private_table: PrivateTable | None = where_known()
    linked: list[LinkedReleases] | None = where_known()

    @property
    def columns(self) -> list[ReportedColumn]:
        """Every column of the input, where it was changed."""
        return [] if self.change is None else self.change.listed

    @property
    def threshold(self) -> tuple[float, str] | None:
        """The highest risk that is accepted, and the name of the rule that it comes from."""
        risk = self.risk.after or self.risk.before
        if risk is None or risk.judged.threshold is None:
            return None
        return risk.judged.threshold, risk.threshold_name or ""


def typed_findings(found: Mapping[str, Any]) -> ReportFindings:
    """The document of a publication, or what was read from a file and checked, with its types."""
    return from_json(ReportFindings, found)


def wrong_places(found: Mapping[str, Any]) -> list[str]:
    """The keys at which findings are not what a report may rely on; names from the data are not told.

    >>> wrong_places({})[:3]
    ['schema_version', 'created', 'software']
    """
    try:
        _findings().model_validate(found)
    except ValidationError as error:
        return list(dict.fromkeys(_place(entry["loc"]) for entry in error.errors(include_input=False)))
    return []


@cache
def _findings() -> type[BaseModel]:
    """The model of findings as reports read them."""
    version = (_version(FindingsDocument), ...)
    told: dict[str, Any] = {"schema_version": version, **_parts(ReportFindings), "software": (_Software, ...)}
    return create_model("Findings", __base__=_Part, **told)


def _parts(kind: type) -> dict[str, Any]:
    """The fields of a part of findings, each with the type that its JSON has; what is known only sometimes may lack."""
    hints = get_type_hints(kind, include_extras=True)
    return {entry.name: (_in_findings(hints[entry.name]), None if entry.metadata else ...) for entry in fields(kind)}


def _in_findings(hint: Any) -> Any:
    kind = next((part for part in (hint, *get_args(hint)) if isinstance(part, type) and is_dataclass(part)), None)
    if kind is RiskBeforeAfter:
        return create_model("Risk", __base__=_Part, **_parts(kind))
    return hint if kind is None else _part(kind)  # type: ignore[arg-type]


@cache
def _keys() -> set[str]:
    """Every key that the model names."""
    schema = _findings().model_json_schema()
    return {key for part in (schema, *schema["$defs"].values()) for key in part.get("properties", ())}


def _place(location: tuple[int | str, ...]) -> str:
    """A place, by the keys that the model names.

    >>> _place(("change", "columns", 3, "role")), _place(("policy", "columns", "age"))
    ('change.columns[3].role', 'policy.columns')
    """
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part in _keys():
            place += f".{part}"
    return place.removeprefix(".") or "its content"


def _part(result: type[Result]) -> Any:
    """The result of a verb as findings tell it, or null where the step did not come."""
    keys = {"schema_version": JsonKey(_version(result)), **keys_of(result, _as_told)}
    return model_with(result.name, keys, "ignore") | None


def _version(result: type[Result]) -> Any:
    return Annotated[StrictInt, Field(ge=result.schema_version, le=result.schema_version)]


def _as_told(keys: Keys) -> Keys:
    """The keys of a result as findings tell them: some are left out, few people are null, counts and shares keep
    within their limits."""
    gone = OWNER_ONLY | COUNTS_BY_CLASS
    return {key: JsonKey(_told(key, kind), required and key not in gone) for key, (kind, required) in keys.items()}


def _told(key: str, kind: Any) -> Any:
    if key in _COUNTS or key in _SHARES:
        limits = {StrictInt: _Count} if key in _COUNTS else {StrictFloat: _Share}
        kind = _replaced(kind, limits, Union)
    kind = _replaced(kind, {StrictInt: _Integer, Any: _Anything}, Union, list, dict)
    if key == "worst" and get_origin(kind) is dict:
        return _Worst
    if key == "missing" and get_origin(kind) is dict:
        kind = _replaced(kind, {_Integer: _Integer | None}, dict)
    return kind | None if key in _HIDDEN else kind


def _replaced(kind: Any, by: Mapping[Any, Any], *within: Any) -> Any:
    """A type in which some are replaced by others."""
    if kind in by:
        return by[kind]
    origin = get_origin(kind)
    return origin[tuple(_replaced(part, by, *within) for part in get_args(kind))] if origin in within else kind
