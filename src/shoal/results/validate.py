"""Whether JSON is what a schema says: the part of JSON Schema that `results/schema.py` writes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

_LARGEST = 2**63


def problems_of(value: Any, schema: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """The places at which a value is not what the schema says; keys that the schema does not name are left alone.

    >>> schema = {"type": "object", "properties": {"k": {"type": "integer", "minimum": 0}}, "required": ["k"]}
    >>> list(problems_of({"k": -1}, schema)), list(problems_of({}, schema)), list(problems_of({"k": 5}, schema))
    (['k'], ['k'], [])
    """
    if "anyOf" in schema:
        found = [list(problems_of(value, kind, where)) for kind in schema["anyOf"]]
        if all(found):  # the kind that fits best says what is wrong
            yield from max(found, key=lambda places: max(len(place) for place in places))
        return
    if not _fits(value, schema):
        yield where or "its content"
        return
    if isinstance(value, dict):
        yield from _in_object(value, schema, where)
    elif isinstance(value, list):
        places = schema.get("prefixItems", [])
        for number, entry in enumerate(value):
            kind = places[number] if number < len(places) else schema.get("items", {})
            yield from problems_of(entry, kind, f"{where}[{number}]")


def _in_object(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    yield from (_join(where, key) for key in schema.get("required", ()) if key not in value)
    for key, entry in value.items():
        if key in known:
            yield from problems_of(entry, known[key], _join(where, key))
        elif isinstance(others, Mapping):  # keys are names of columns and the like, and are not told
            yield from problems_of(entry, others, where or "its content")


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Type, choice, range and pattern of one value; numbers are finite and not endless."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value) if isinstance(value, float) else abs(value) >= _LARGEST:
            return False
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            return False
    if isinstance(value, str) and "pattern" in schema and re.fullmatch(schema["pattern"], value) is None:
        return False
    if isinstance(value, list) and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices is not None and not any(type(value) is type(choice) and value == choice for choice in choices):
        return False
    return "type" not in schema or _TYPES[schema["type"]](value)


_TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}
