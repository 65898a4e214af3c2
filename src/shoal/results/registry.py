"""Which module defines which result: a name is looked up without loading the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr, create_model
from pydantic.json_schema import GenerateJsonSchema

from shoal.errors import InputError
from shoal.results.result import Result, results

# a result's name -> the module that defines it; a test keeps the list complete
MODULES = {
    "anatomy": "shoal.methods.anatomy",
    "anonymize": "shoal.methods.results",
    "attack": "shoal.attacks.base",
    "attack-intersect": "shoal.attacks.intersect",
    "attack-link": "shoal.attacks.link",
    "attack-membership": "shoal.attacks.membership",
    "attack-reconstruct": "shoal.attacks.reconstruct",
    "attack-scoreboard": "shoal.attacks.scoreboard",
    "attack-unicity": "shoal.attacks.unicity",
    "cells": "shoal.methods.cells",
    "compare": "shoal.releases.compare",
    "compare-publications": "shoal.reports.publication.compare",
    "desk-open": "shoal.dp.results",
    "desk-preview": "shoal.dp.results",
    "desk-query": "shoal.dp.results",
    "desk-refusal": "shoal.dp.results",
    "desk-show": "shoal.dp.results",
    "joint-simulate": "shoal.joint.simulate",
    "local-estimate": "shoal.local.estimate",
    "local-randomize": "shoal.local.randomize",
    "local-spec": "shoal.local.spec",
    "detect": "shoal.detection.results",
    "doctor": "shoal.doctor",
    "dp-release": "shoal.dp.tables.results",
    "epsilon": "shoal.attacks.epsilon",
    "estimate": "shoal.releases.estimate",
    "findings": "shoal.reports.findings",
    "hierarchy-build": "shoal.ranges.hierarchy.results",
    "hierarchy-check": "shoal.ranges.hierarchy.results",
    "import-policy": "shoal.policy.migration.import_policy",
    "k-safety": "shoal.methods.scrubbing.documents",
    "lattice": "shoal.methods.solve",
    "leak": "shoal.exposure.leakage.results",
    "leak-series": "shoal.exposure.leakage.results",
    "perturb": "shoal.methods.perturbation.results",
    "profile": "shoal.detection.profiles",
    "pseudonymize": "shoal.methods.pseudonyms.results",
    "publish": "shoal.reports.publication.results",
    "publish-tables": "shoal.reports.publication.linked",
    "quality": "shoal.utility.quality",
    "regenerate": "shoal.methods.regenerate",
    "release": "shoal.releases.results",
    "reproduce": "shoal.reproduction.results",
    "risk": "shoal.exposure.results",
    "safe-harbor": "shoal.methods.hipaa.results",
    "sample-data": "shoal.reproduction.sample.written",
    "scrub": "shoal.methods.scrubbing.results",
    "shift-dates": "shoal.methods.pseudonyms.results",
    "standards": "shoal.policy.named",
    "stream": "shoal.streams.results",
    "verify": "shoal.releases.results",
}


def result_type(name: str) -> type[Result]:
    """A result by its name; its module is imported.

    >>> result_type("risk").__name__
    'IdentityRisk'
    """
    if name not in MODULES:
        raise InputError(f"There is no result '{name}'.", f"Use one of {', '.join(MODULES)}.")
    import_module(MODULES[name])
    return results()[name]


def all_results() -> dict[str, type[Result]]:
    """Every result by its name; all modules that define one are imported."""
    return {name: result_type(name) for name in MODULES}


# The JSON of a result as a pydantic model, from the types of its fields: it gives the JSON Schema, and checks JSON.


# what a value is in JSON; numbers are not read from texts, nor truth values from numbers
_IN_JSON: dict[Any, Any] = {
    bool: StrictBool,
    int: StrictInt,
    float: StrictFloat,
    **dict.fromkeys((str, Path, Decimal, date, datetime), StrictStr),
}


class JsonKey(NamedTuple):
    """A key of a JSON object: the type of its value, and whether it is always there."""

    type: Any
    required: bool = True


Keys = dict[str, JsonKey]
ExtraValues = Literal["forbid", "ignore"]
Change = Callable[[Keys], Keys]


def schema_of(result: type[Result]) -> dict[str, Any]:
    """The JSON Schema of what a result's `to_dict` gives.

    >>> from shoal.exposure import IdentityRisk
    >>> schema_of(IdentityRisk)["properties"]["k"]
    {'title': 'K', 'type': 'integer'}
    """
    return {"$schema": GenerateJsonSchema.schema_dialect, **model_of(result).model_json_schema()}


def model_of(result: type[Result]) -> type[BaseModel]:
    """What a result's `to_dict` gives, as a model.

    >>> from shoal.exposure import risk
    >>> found = risk({"age": [30, 30, 51]}, quasi_identifiers=["age"])
    >>> model_of(type(found)).model_validate(found.to_dict()).k
    1
    """
    keys = {"schema_version": JsonKey(Literal[result.schema_version]), **keys_of(result)}
    return model_with(result.name, keys, "forbid", (result.__doc__ or "").split("\n")[0])


def model_with(name: str, keys: Keys, extra: ExtraValues, description: str | None = None) -> type[BaseModel]:
    """A JSON object with these keys; `extra` says what becomes of others."""
    made: dict[str, Any] = {key: (kind, ... if required else None) for key, (kind, required) in keys.items()}
    return create_model(name, __config__=ConfigDict(extra=extra, allow_inf_nan=False), __doc__=description, **made)


def keys_of(kind: type, change: Change | None = None) -> Keys:
    """The keys that a dataclass has in JSON.

    `change` alters them, also in the dataclasses inside, which then may have keys that are not theirs.
    """
    hints, keys = _hints(kind), Keys()
    for entry in fields(kind):
        rule = entry.metadata.get("json")
        if rule == "beside":
            keys |= {key: JsonKey(Any, required=False) for key in entry.metadata["keys"]}
        elif rule == "merged":
            hint = hints[entry.name]
            inside = next(part for part in (hint, *get_args(hint)) if is_dataclass(part))
            parts = keys_of(inside, change)  # type: ignore[arg-type]
            keys |= {key: JsonKey(part.type, part.required and inside is hint) for key, part in parts.items()}
        elif rule != "left out":
            keys[entry.metadata.get("key", entry.name)] = JsonKey(
                _in_json(hints[entry.name], change), rule != "where known"
            )
    return keys if change is None else change(keys)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields that are in the JSON; those that are left out may have types that JSON does not know."""
    shown = {entry.name for entry in fields(kind) if entry.metadata.get("json") != "left out"}
    found: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        own = {name: hint for name, hint in vars(owner).get("__annotations__", {}).items() if name in shown}
        found |= get_type_hints(type(owner.__name__, (), {"__annotations__": own, "__module__": owner.__module__}))
    return found


def _in_json(kind: Any, change: Change | None) -> Any:
    """A type with its dataclasses as models; what JSON has no type for, and keys, are texts."""
    if is_dataclass(kind):
        return _model(kind, change)  # type: ignore[arg-type]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is None or origin is Literal:
        return _IN_JSON.get(kind, kind)
    inside = tuple(_in_json(part, change) for part in arguments)
    if origin in (dict, Mapping):
        return dict[str, inside[1]]  # type: ignore[valid-type]
    return Union[inside] if origin is UnionType else origin[inside]  # noqa: UP007


@cache
def _model(kind: Any, change: Change | None) -> type[BaseModel]:
    """The one model of a dataclass, wherever it stands."""
    return model_with(kind.__name__, keys_of(kind, change), "forbid" if change is None else "ignore")


# JSON as a dataclass again: a report, a page and a comparison have typed results, whoever measured them.


T = TypeVar("T")


def from_json(kind: type[T], content: Mapping[str, Any]) -> T:
    """A result, a part of one or a section from the JSON that it gave.

    Nothing is computed or checked. A field that the JSON does not have holds its default, or None.

    >>> from shoal.exposure import IdentityRisk, risk
    >>> found = risk({"age": [30, 30, 51]}, quasi_identifiers=["age"])
    >>> from_json(IdentityRisk, found.to_dict()).prosecutor == found.prosecutor
    True
    """
    if issubclass(kind, BaseModel):
        return kind.model_validate(content)
    hints, made = _hints(kind), object.__new__(kind)  # type: ignore[arg-type]
    for entry in fields(kind):  # type: ignore[arg-type]
        rule, key = entry.metadata.get("json"), entry.metadata.get("key", entry.name)
        if rule == "merged":
            value = _merged(hints[entry.name], content)
        elif rule == "beside":
            value = {name: content[name] for name in entry.metadata["keys"] if name in content}
        elif rule != "left out" and key in content:
            value = _typed(hints[entry.name], content[key])
        else:
            value = _default(entry)
        object.__setattr__(made, entry.name, value)
    return made


def _default(entry: Field[Any]) -> Any:
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return None if entry.default is MISSING else entry.default


def _merged(hint: Any, content: Mapping[str, Any]) -> Any:
    """A part whose keys stand beside those of the whole; None where it may be absent and none of its keys is there."""
    inside = next(part for part in (hint, *get_args(hint)) if is_dataclass(part))
    if inside is not hint and not any(key in content for key in keys_of(inside)):  # type: ignore[arg-type]
        return None
    return from_json(inside, content)  # type: ignore[arg-type]


def _typed(hint: Any, value: Any) -> Any:
    """A value of JSON as the type that a field has; what JSON has no other form for stays as it is."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        parts = [part for part in inside if part is not type(None)]
        known = parts if len(parts) == 1 else [part for part in parts if _fits(part, value)]
        return _typed(known[0], value) if known and value is not None else value
    if isinstance(value, Mapping):
        if origin in (dict, Mapping):
            return {int(key) if inside[0] is int else key: _typed(inside[1], entry) for key, entry in value.items()}
        is_part = is_dataclass(hint) or (isinstance(hint, type) and issubclass(hint, BaseModel))
        return from_json(hint, value) if is_part else value
    if isinstance(value, list) and origin in (list, tuple, Sequence):
        each = inside if origin is tuple and inside[-1] is not ... else (inside[0],) * len(value)
        made = [_typed(part, entry) for part, entry in zip(each, value, strict=True)]
        return made if origin is list else tuple(made)
    return hint(value) if hint in (Path, Decimal) and value is not None else value


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value of JSON can be of a type: an object of the dataclass that has its keys."""
    if is_dataclass(hint):
        return isinstance(value, Mapping) and set(value) == {entry.name for entry in fields(hint)}
    return isinstance(value, Mapping) == (get_origin(hint) in (dict, Mapping) or hint is dict)
