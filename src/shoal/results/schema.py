"""The JSON Schema of a result, from the types of its fields."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from shoal.results.result import Result

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, dict[str, Any]] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Path: {"type": "string"},
    Decimal: {"type": "string"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
}


def schema_of(result: type[Result]) -> dict[str, Any]:
    """The JSON Schema of what a result's `to_dict` gives.

    >>> from shoal.identity import IdentityRisk
    >>> schema_of(IdentityRisk)["properties"]["k"]
    {'type': 'integer'}
    """
    found = _of_dataclass(result)
    version = {"schema_version": {"const": result.schema_version}}
    return {
        "$schema": DIALECT,
        "title": result.name,
        "description": (result.__doc__ or "").split("\n")[0],
        **found,
        "properties": {**version, **found["properties"]},
        "required": ["schema_version", *found["required"]],
    }


def _of_dataclass(kind: type) -> dict[str, Any]:
    hints = _hints(kind)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for entry in fields(kind):
        rule = entry.metadata.get("json")
        if rule == "left out":
            continue
        if rule == "beside":
            properties |= {key: {} for key in entry.metadata["keys"]}
            continue
        if rule == "merged":
            kinds = [part for part in (get_args(hints[entry.name]) or (hints[entry.name],)) if is_dataclass(part)]
            parts = _of_dataclass(kinds[0])  # type: ignore[arg-type]
            properties |= parts["properties"]
            required += parts["required"] if kinds[0] is hints[entry.name] else []
            continue
        key = entry.metadata.get("key", entry.name)
        properties[key] = _of_type(hints[entry.name])
        if rule != "where known":
            required.append(key)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields that are in the JSON; those that are left out may have types that JSON does not know."""
    shown = {entry.name for entry in fields(kind) if entry.metadata.get("json") != "left out"}
    found: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        own = {name: hint for name, hint in vars(owner).get("__annotations__", {}).items() if name in shown}
        found |= get_type_hints(type(owner.__name__, (), {"__annotations__": own, "__module__": owner.__module__}))
    return found


def _of_type(kind: Any) -> dict[str, Any]:
    if kind is Any:
        return {}
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of_type(argument) for argument in arguments]}
    if origin in (list, Sequence, set, frozenset):
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": _of_type(arguments[0])}
        places = [_of_type(argument) for argument in arguments]
        return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of_type(arguments[1])}
    if hasattr(kind, "model_json_schema"):
        return dict(kind.model_json_schema())
    if is_dataclass(kind):
        return _of_dataclass(kind)  # type: ignore[arg-type]
    raise TypeError(f"{kind} has no JSON Schema: give the field a JSON type, or leave it out.")
