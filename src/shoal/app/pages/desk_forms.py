"""The forms of the query desk: fields as they were typed, and the options of the library that they stand for.

Columns go by their place, because a name may be anything. What a field means, and whether it is right, is said by the
library alone.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from shoal.app.verbs import VerbOptions
from shoal.app.verbs.asking import DeskOpenOptions, DeskQueryOptions, QueryKind
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.policy.conditions import Condition

KINDS: tuple[str, ...] = get_args(QueryKind)
Fields = Mapping[str, str]
# the kinds of questions that a field belongs to; a field of another kind is hidden and not sent on
FIELDS: dict[str, tuple[str, ...]] = {
    "column": tuple(kind for kind in KINDS if kind not in ("count", "persons")),
    "bounds": ("sum", "mean", "variance", "median", "quantile", "histogram"),
    "q": ("quantile",),
    "bins": ("histogram",),
    "step": ("median", "quantile"),
    "by": tuple(kind for kind in KINDS if kind not in ("histogram", "bounds")),
    "keys": tuple(kind for kind in KINDS if kind != "bounds"),
}
KIND_WORDS = {
    "count": "How many rows",
    "persons": "How many persons",
    "sum": "The sum",
    "mean": "The mean",
    "variance": "The variance",
    "median": "The median",
    "quantile": "Quantiles",
    "histogram": "A histogram",
    "bounds": "Bounds that hold most values",
}
_COMPARED = {"=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}
OPERATORS = [*_COMPARED.items(), ("null", "is missing"), ("known", "is not missing")]
CONDITIONS = 3
GROUPS = 2
FIRST_QUESTION = {"kind": "count", "epsilon": "0.1"}


def terms_of(fields: Fields, columns: Sequence[str]) -> Any:
    """The options of `shoal desk open` that a form stands for."""
    person = _column(fields, "person", columns)
    asked = [place for place, name in enumerate(columns) if f"use-{place}" in fields and name != person]
    if not asked:
        raise InputError("No column is left to ask about.", "Tick at least one column.")
    given: dict[str, Any] = {
        "epsilon": fields.get("epsilon", "").strip(),
        "delta": fields.get("delta", "").strip() or "0",
        "types": {columns[place]: fields.get(f"type-{place}", "") for place in asked},
        "accounting": fields.get("accounting", "basic"),
        "person": person,
        "max_rows_per_person": fields.get("max_rows_per_person", "").strip() or None,
    }
    if len(asked) + (person is not None) < len(columns):
        given["columns"] = [columns[place] for place in asked]
    return _checked(DeskOpenOptions, given)


def question_of(fields: Fields, types: Mapping[str, str]) -> Any:
    """The options of `shoal desk query` that a form stands for."""
    kind = fields.get("kind", "")
    given: dict[str, Any] = {"kind": kind, "epsilon": fields.get("epsilon", "").strip()}
    for name in ("q", "bins", "step"):
        if _wanted(name, kind):
            given[name] = fields.get(name, "").strip() or None
    low, high = fields.get("low", "").strip(), fields.get("high", "").strip()
    if _wanted("bounds", kind) and (low or high):
        given["bounds"] = f"{low},{high}"
    if _wanted("column", kind):
        given["column"] = _column(fields, "column", list(types))
    given |= _groups(fields, kind, list(types))
    given["where"] = _where(fields, types)
    given["delta"] = fields.get("delta", "").strip() or None
    given["mechanism"] = fields.get("mechanism", "laplace")
    return _checked(DeskQueryOptions, given)


def _wanted(name: str, kind: str) -> bool:
    return kind in FIELDS[name]


def _column(fields: Fields, name: str, columns: Sequence[str]) -> str | None:
    place = fields.get(name, "")
    known = place.isdecimal() and len(place) < 10 and int(place) < len(columns)
    return columns[int(place)] if known else None


def _groups(fields: Fields, kind: str, columns: Sequence[str]) -> dict[str, Any]:
    """The columns of groups, and their public keys where those are named."""
    by = [name for place in range(GROUPS) if (name := _column(fields, f"by-{place}", columns)) is not None]
    texts = [text for place in range(GROUPS) if (text := fields.get(f"keys-{place}", "").strip())]
    try:
        keys = [next(csv.reader([text], skipinitialspace=True)) for text in texts]
    except csv.Error:
        raise InputError("The list of groups cannot be read.", "Write them in one line: f,m.") from None
    found: dict[str, Any] = {"by": by} if by and _wanted("by", kind) else {}
    if keys and _wanted("keys", kind) and (found or kind == "histogram"):
        found["keys"] = keys
    return found


def _where(fields: Fields, types: Mapping[str, str]) -> str | None:
    """All conditions of the form, as one condition of the library."""
    from shoal.policy.conditions import Joined, parse_where

    found = [_condition(fields, place, types) for place in range(CONDITIONS)]
    if text := fields.get("where", "").strip():
        found.append(parse_where(text, types, "The desk"))
    conditions = tuple(condition for condition in found if condition is not None)
    return Joined("and", conditions).canonical() if conditions else None


def _condition(fields: Fields, place: int, types: Mapping[str, str]) -> Condition | None:
    from shoal.policy.conditions import Compare, IsNull, Not, typed_text

    column = _column(fields, f"column-{place}", list(types))
    if column is None:
        return None
    operator, value = fields.get(f"operator-{place}", "="), fields.get(f"value-{place}", "").strip()
    if operator in ("null", "known"):
        return IsNull(column) if operator == "null" else Not(IsNull(column))
    if operator not in _COMPARED:
        raise InputError("A condition compares in a way that is not known.", "Choose one of the list.")
    return Compare(column, operator, typed_text(value, types[column], column))


def _checked(kind: type[VerbOptions], given: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "The form"
        raise InputError(f"{name} cannot be taken: {first['msg']}.", "Change it, then try again.") from None
