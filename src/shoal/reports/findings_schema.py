"""The JSON Schema of findings, with every part as its own verb gives it: what a report may rely on.

Findings leave out what says something about few people, and the public edition what helps an attacker: such keys may be
missing. What findings have beside the results of the verbs is described here.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from shoal.manifest.schema import DecidedBy
from shoal.results.registry import result_type
from shoal.results.schema import schema_of

# keys that only the owner may know: what repeats the draw of chance, where the table was cut, whose file it was
OWNER_ONLY = frozenset({"seed", "sha256", "levels", "plan_path", "output", "manifest", "path", "cuts"})
# keys under which counts by class stand
COUNTS_BY_CLASS = frozenset({"class_sizes", "exact_counts"})
# counts of few people are null
_HIDDEN = frozenset({"nulls", "single", "missing", "share_over_threshold"})
_VERBS = {"profile": "profile", "detect": "detect", "change": "anonymize", "verification": "verify",
          "attacks": "attack", "utility": "quality"}  # fmt: skip
_COUNTS = frozenset(
    [
        "records",
        "released",
        "columns",
        "suppressed_rows",
        "removed_rows",
        "suppressed_cells",
        "modified_rows",
        "k",
        "classes",
        "uniques",
        "targets",
        "persons",
        "leaked",
        "written",
        "size",
        "to",
    ]
)
_SHARES = frozenset(
    [
        "uniqueness",
        "rate",
        "low",
        "high",
        "baseline",
        "control",
        "probability",
        "highest",
        "average",
        "threshold",
        "share_over_threshold",
        "total_variation",
        "unchanged",
        "unknown",
    ]
)
_TEXT = {"type": "string"}
_NULL = {"type": "null"}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}


def _object(required: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **others}, "required": list(required)}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _or_null(kind: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [kind, _NULL]}


_HASH = {"type": "string", "pattern": "[0-9a-f]{64}"}
_DAY = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_SIZES = _list(_object({"size": _COUNT, "to": _or_null(_COUNT), "records": _COUNT}))
_BY_SIZE = _list(_object({"size": _COUNT, "to": _or_null(_COUNT), "before": _COUNT, "after": _COUNT}))
_DATA = _object(
    dict.fromkeys(("records", "columns", "released", "suppressed_rows", "removed_rows"), _COUNT),
    sha256=_or_null(_HASH),
    released_sha256=_or_null(_HASH),
    manifest_sha256=_or_null(_HASH),
)
_POLICY = _object(
    {},
    columns={"type": "object", "additionalProperties": _TEXT},
    knowledge={"type": "object", "additionalProperties": _list(_TEXT)},
    models=_list(_object({"model": _TEXT})),
    threshold={"anyOf": [_SHARE, _TEXT]},
    attacks={"type": "object", "additionalProperties": _or_null(_SHARE)},
    leak=_or_null({"type": "object"}),
)
_CONTEXT = _object(
    {"edition": {"enum": ["internal", "public"]}},
    expires={"type": "string", "pattern": _DAY},
    **dict.fromkeys(("title", "recipient", "purpose", "controls", "motives", "precedent", "responsible"), _TEXT),
)
_COLUMN = _object(
    {
        "column": _TEXT,
        "role": _TEXT,
        "decided_by": {"enum": list(get_args(DecidedBy))},
        "reasons": _list(_TEXT),
        "nature": _TEXT,
        "technique": _TEXT,
        "released": {"type": "boolean"},
    }
)
_BAR = _object({"label": _TEXT, "before": _SHARE, "after": _SHARE})
_PICTURE = _object({"column": _TEXT, "kind": _TEXT, "bars": _list(_BAR), "total_variation": _SHARE})
_R = _or_null({"type": "number", "minimum": -1, "maximum": 1})
_PAIR = _object({"first": _TEXT, "second": _TEXT, "measure": _TEXT, "before": _R, "after": _R})
_REFUSAL = _object({"step": _TEXT, "reason": _TEXT}, cure=_or_null(_TEXT))


@cache
def findings_schema() -> dict[str, Any]:
    """The schema of findings as reports read them."""
    risk = _part("risk")
    risk["properties"] |= {"histogram": _SIZES, "records_by_size": _BY_SIZE}
    parts = {key: _part(name) for key, name in _VERBS.items()}
    parts["change"]["properties"]["columns"] = _list(_COLUMN)
    parts["change"]["required"] = [*parts["change"]["required"], "columns"]
    parts["utility"]["properties"] |= {"columns": _list(_PICTURE), "correlations": _list(_PAIR)}
    parts["verification"]["properties"]["verdict"] = {"enum": ["holds", "refused"]}
    return _object(
        {
            "schema_version": {"const": result_type("findings").schema_version},
            "created": {"type": "string", "pattern": _DAY + r"T[0-9:+.\-Z]+"},
            "software": {"type": "object", "properties": {"shoal": _TEXT}, "required": ["shoal"],
                         "additionalProperties": _TEXT},
            "data": _DATA,
            "policy": _POLICY,
            "risk": _object({"before": _or_null(risk), "after": _or_null(risk)}),
            "leak": _or_null(_part("leak-series")),
            "context": _CONTEXT,
            "limits": _list(_TEXT),
            **{key: _or_null(kind) for key, kind in parts.items()},
        },
        refusal=_or_null(_REFUSAL),
    )  # fmt: skip


def _part(name: str) -> dict[str, Any]:
    found: dict[str, Any] = _as_told(schema_of(result_type(name)))
    return found


def _as_told(schema: Any, key: str = "") -> Any:
    """The schema of a result as findings tell it: without the keys that are left out, few people as null, counts and
    shares within their limits."""
    if isinstance(schema, list):
        return [_as_told(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    told = {name: _as_told(value) for name, value in schema.items() if name not in ("properties", "anyOf", "required")}
    if "anyOf" in schema:
        told["anyOf"] = [_as_told(kind, key) for kind in schema["anyOf"]]
    if "properties" in schema:
        told["properties"] = {name: _as_told(value, name) for name, value in schema["properties"].items()}
        gone = OWNER_ONLY | COUNTS_BY_CLASS
        told["required"] = [name for name in schema.get("required", ()) if name not in gone]
    if key in _COUNTS and schema.get("type") == "integer":
        told["minimum"] = 0
    if key in _SHARES and schema.get("type") == "number":
        told |= {"minimum": 0, "maximum": 1}
    if key == "worst":  # of each model other figures; these all have
        told["properties"] = {"size": _NUMBER, "failing_classes": _NUMBER}
    if key == "missing" and isinstance(told.get("additionalProperties"), dict):
        told["additionalProperties"] = _or_null(told["additionalProperties"])
    return _or_null(told) if key in _HIDDEN and "type" in told else told
