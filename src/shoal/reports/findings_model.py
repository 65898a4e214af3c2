"""Findings as a pydantic model, with every part as its own verb gives it: what a report may rely on.

Findings leave out what says something about few people, and the public edition what helps an attacker: such keys may be
missing. What findings have beside the results of the verbs is described here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

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

from shoal.policy.manifest import DecidedBy
from shoal.results import Result
from shoal.results.registry import JsonKey, Keys, keys_of, model_with, result_type

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
_Moment = Annotated[StrictStr, Field(pattern=_DAY + "T[0-9:+.Z-]+$")]


class _Part(BaseModel):
    """A part of findings; keys that it does not name are left alone."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class _Sizes(_Part):
    size: _Count
    to: _Count | None
    records: _Count


class _SizesBeside(_Part):
    size: _Count
    to: _Count | None
    before: _Count
    after: _Count


class _Data(_Part):
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


class _Policy(_Part):
    columns: dict[str, StrictStr] = {}
    knowledge: dict[str, list[StrictStr]] = {}
    models: list[_Model] = []
    threshold: _Share | StrictStr = 1
    attacks: dict[str, _Accepted | _Share | None] = {}
    leak: dict[str, Any] | None = None


class _Context(_Part):
    edition: Literal["internal", "public"]
    expires: _Day = ""
    title: StrictStr = ""
    recipient: StrictStr = ""
    purpose: StrictStr = ""
    controls: StrictStr = ""
    motives: StrictStr = ""
    precedent: StrictStr = ""
    responsible: StrictStr = ""


class _Software(BaseModel):
    """Of each part of the software its version."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, StrictStr]

    shoal: StrictStr


class _Column(_Part):
    column: StrictStr
    role: StrictStr
    decided_by: DecidedBy
    reasons: list[StrictStr]
    nature: StrictStr
    technique: StrictStr
    released: StrictBool


class _Bar(_Part):
    label: StrictStr
    before: _Share
    after: _Share


class _Picture(_Part):
    column: StrictStr
    kind: StrictStr
    bars: list[_Bar]
    total_variation: _Share


_R = Annotated[StrictFloat, Field(ge=-1, le=1)]


class _Pair(_Part):
    first: StrictStr
    second: StrictStr
    measure: StrictStr
    before: _R | None
    after: _R | None


class _Refusal(_Part):
    step: StrictStr
    reason: StrictStr
    cure: StrictStr | None = None


class _Worst(BaseModel):
    """The worst class: each model has other figures of it, these all have."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, _Anything]

    size: _Number = 0
    failing_classes: _Number = 0


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
    risk = _part("risk", histogram=JsonKey(list[_Sizes]), records_by_size=JsonKey(list[_SizesBeside], required=False))
    pictures, pairs = JsonKey(list[_Picture], required=False), JsonKey(list[_Pair], required=False)
    utility = _part("quality", columns=pictures, correlations=pairs)
    return create_model(
        "Findings",
        __base__=_Part,
        schema_version=(_version(result_type("findings")), ...),
        created=(_Moment, ...),
        software=(_Software, ...),
        data=(_Data, ...),
        policy=(_Policy, ...),
        risk=(create_model("Risk", __base__=_Part, before=(risk, ...), after=(risk, ...)), ...),
        leak=(_part("leak-series"), ...),
        context=(_Context, ...),
        limits=(list[StrictStr], ...),
        profile=(_part("profile"), ...),
        detect=(_part("detect"), ...),
        change=(_part("anonymize", columns=JsonKey(list[_Column])), ...),
        verification=(_part("verify", verdict=JsonKey(Literal["holds", "refused"])), ...),
        attacks=(_part("attack"), ...),
        utility=(utility, ...),
        accepted=(list[StrictStr] | None, None),
        refusal=(_Refusal | None, None),
    )


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


def _part(name: str, **others: JsonKey) -> Any:
    """The result of a verb as findings tell it, or null where the step did not come; `others` are told otherwise."""
    result = result_type(name)
    keys = {"schema_version": JsonKey(_version(result)), **keys_of(result, _as_told), **others}
    return model_with(name, keys, "ignore") | None


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
