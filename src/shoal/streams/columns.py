"""The quasi-identifiers of a stream as numbers that a kernel compares, and their boxes as released text."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from pydantic_core import from_json, to_json

from shoal.errors import InputError
from shoal.kernels.streams import CODES, MISSING, NUMBER, SET, TREE
from shoal.policy import Policy
from shoal.ranges.forms import escape
from shoal.ranges.hierarchy.given import given_hierarchies
from shoal.ranges.hierarchy.outside import check_labels
from shoal.ranges.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR, set_labels
from shoal.storage import Array
from shoal.storage.column_type import ColumnType

# so many values of a column are known at once; those that nothing needs any more are forgotten then
MOST_VALUES = 100_000
_EPOCH = date(1970, 1, 1)
_DAYS = (date.min - _EPOCH).days, (date.max - _EPOCH).days
_EXACT = 2**53
_LARGEST = 1e290
# between codes by hash: those of equal hashes come one after the other
_SPREAD = 1 << 16
# stands for a list or an object; no text of JSON
_NO_TEXT = "\ud800"


class StreamColumn:
    """One quasi-identifier: `encode` gives a number per value, NaN where it cannot be one; `text` writes a box."""

    kind = NUMBER
    # what the kernel knows of a tree: the node and the share of each place, level by level
    nodes: Array = np.zeros((0, 0), np.int64)
    shares: Array = np.zeros((0, 0))

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, values: Sequence[Any]) -> Array:
        """Numbers, `MISSING` for null; whole ones beyond 2^53 are not exact and refused."""
        kinds = set(map(type, values))
        if kinds <= {int, float}:
            found = np.array(values, float) if kinds == {float} else _exact(values)
        else:
            found = np.array([MISSING if one is None else _as_number(one) for one in values], float)
        found[(np.abs(found) > _LARGEST) & (found != MISSING)] = np.nan
        return found

    def text(self, low: float, high: float, bits: int) -> str | None:
        """A box as it is released: null where all are missing, `*` where some are."""
        if low == high:
            return None if low == MISSING else self.point(low)
        return STAR if low == MISSING else self.span(low, high, bits)

    def point(self, value: float) -> str:
        """One value."""
        return _number_text(value)

    def span(self, low: float, high: float, bits: int) -> str:
        """Several values."""
        return f"[{self.point(low)};{self.point(high)}]"

    def to_dict(self) -> dict[str, Any]:
        """What has to be known to go on with it."""
        return {}

    def restore(self, content: dict[str, Any]) -> None:
        """Go on with it."""

    def forget(self, needed: Callable[[], Array]) -> None:
        """Let go of values that are not among the needed ones, where there are too many."""


class DateColumn(StreamColumn):
    """Days, written by the format that the policy declares, or as 2026-11-19."""

    def __init__(self, name: str, declared: ColumnType) -> None:
        super().__init__(name)
        self.format = declared.format[0] if declared.format else "%Y-%m-%d"

    def encode(self, values: Sequence[Any]) -> Array:
        """Days since 1970."""
        texts = [one if one is None or isinstance(one, str) else "" for one in values]
        days = pl.Series(texts, dtype=pl.String).str.to_date(self.format, strict=False).to_physical()
        missing = np.fromiter((one is None for one in values), bool, len(values))
        found = days.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return np.where(missing, MISSING, np.where((found < _DAYS[0]) | (found > _DAYS[1]), np.nan, found))

    def point(self, value: float) -> str:
        """A day."""
        return (_EPOCH + timedelta(int(value))).strftime(self.format)


class OrderedColumn(StreamColumn):
    """Texts in a declared order."""

    def __init__(self, name: str, order: Sequence[str]) -> None:
        super().__init__(name)
        self.texts = list(order)
        self.places: dict[Any, float] = {text: float(place) for place, text in enumerate(order)}

    def encode(self, values: Sequence[Any]) -> Array:
        """The place of each text."""
        places = self.places
        return np.array([MISSING if one is None else places.get(_as_text(one), np.nan) for one in values], float)

    def point(self, value: float) -> str:
        """The text at a place."""
        return self.texts[int(value)]


class TreeColumn(OrderedColumn):
    """Leaves of a hierarchy, in the order of its walk; a box is the lowest node that holds it."""

    kind = TREE

    def __init__(self, name: str, tree: Hierarchy) -> None:
        order = tree.leaf_order
        super().__init__(name, tree.levels[0].gather(order).to_list())
        self.nodes = np.stack([tree.node_codes(level)[order] for level in range(tree.height)]).astype(np.int64)
        self.shares = np.stack([tree.shares(level)[order] for level in range(tree.height)])
        self.labels = [tree.labels(level) for level in range(tree.height)]

    def span(self, low: float, high: float, bits: int) -> str:
        """A node."""
        same = self.nodes[:, int(low)] == self.nodes[:, int(high)]
        level = int(np.argmax(same))
        return self.labels[level][int(self.nodes[level, int(low)])]


class SetColumn(StreamColumn):
    """Categories without a hierarchy; a box is a set of them, `*` where it holds rare ones beside others."""

    kind = SET

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.codes: dict[str, int] = {}
        self.texts: dict[int, str] = {}
        self.written: dict[int, tuple[str, str]] = {}
        self.next = 0

    def encode(self, values: Sequence[Any]) -> Array:
        """The code of each text: small ones as they first come, of rare ones a hash, whatever was forgotten."""
        if set(map(type, values)) - {str}:
            values = [None if one is None else _as_text(one) for one in values]
        found: list[float | None] = list(map(self.codes.get, values))
        if None in found:
            for text in dict.fromkeys(one for one, code in zip(values, found, strict=True) if code is None):
                with suppress(AttributeError, UnicodeEncodeError):  # null, and what is no text of JSON
                    code = zlib.crc32(text.encode()) * _SPREAD + CODES
                    code = self.next if self.next < CODES else code
                    while code in self.texts:
                        code += 1
                    self.codes[text], self.texts[code] = code, text
                    self.next = min(self.next + 1, CODES)
            found = [MISSING if one is None else self.codes.get(one, np.nan) for one in values]
        return np.array(found, float)

    def _written(self, code: int) -> tuple[str, str]:
        """A category alone, marked where it looks like a released text, and as a member of a set."""
        if code not in self.written:
            text = pl.Series([self.texts[code]])
            self.written[code] = escape(text)[0], set_labels(text)[0]
        return self.written[code]

    def point(self, value: float) -> str:
        """A category."""
        return self._written(int(value))[0]

    def span(self, low: float, high: float, bits: int) -> str:
        """A set in the order of its texts."""
        if bits >> CODES:
            return STAR
        codes = [code for code in range(bits.bit_length()) if bits >> code & 1]
        return "[" + ", ".join([self._written(code)[1] for code in sorted(codes, key=self.texts.__getitem__)]) + "]"

    def to_dict(self) -> dict[str, Any]:
        """The codes, and which small one comes next."""
        return {"codes": self.codes, "next": self.next}

    def restore(self, content: dict[str, Any]) -> None:
        """Take over codes."""
        self.codes, self.next = dict(content["codes"]), content["next"]
        self.texts = {code: text for text, code in self.codes.items()}

    def forget(self, needed: Callable[[], Array]) -> None:
        """Rare values that no record and no box needs; one that comes again gets a new code."""
        if len(self.codes) <= MOST_VALUES:
            return
        kept = {*range(CODES), *needed().astype(np.int64).tolist()}
        self.codes = {text: code for text, code in self.codes.items() if code in kept}
        self.texts = {code: text for text, code in self.codes.items()}
        self.written = {code: text for code, text in self.written.items() if code in kept}


def columns_of(policy: Policy) -> list[StreamColumn | None]:
    """The quasi-identifiers as the policy declares them; None where the first value is to tell."""
    names = policy.quasi_identifiers
    trees = given_hierarchies(policy.hierarchies, names) if policy.hierarchies else {}
    if not policy.labels_are_names:
        check_labels(trees)
    return [TreeColumn(name, trees[name]) if name in trees else _declared(policy, name) for name in names]


def _declared(policy: Policy, name: str) -> StreamColumn | None:
    declared = policy.types.get(name)
    if declared is None:
        return None
    used = declared.model_dump(exclude_defaults=True).keys() - {"type"}
    if declared.type == "date" and used <= {"format"}:
        return DateColumn(name, declared)
    if declared.type == "ordered" and used <= {"order"}:
        return OrderedColumn(name, declared.order or ())
    if declared.type == "number" and not used:
        return StreamColumn(name)
    if declared.type in ("nominal", "code", "boolean", "text") and not used:
        return SetColumn(name)
    raise InputError(
        f"A stream does not read column '{name}' by the type {declared.type} with such settings.",
        "Declare number, date (with a format), ordered (with its order) or nominal.",
    )


def column_for(name: str, value: Any) -> StreamColumn:
    """What a column is, by its first value: a number, or a category."""
    return StreamColumn(name) if isinstance(value, (int, float)) and not isinstance(value, bool) else SetColumn(name)


def _exact(values: Sequence[Any]) -> Array:
    found = np.array([one if -_LARGEST < one < _LARGEST else np.nan for one in values], float)
    if (np.abs(found) > _EXACT).any():
        found = np.array([_as_number(one) for one in values], float)
    return found


def _as_number(value: Any) -> float:
    """A number of JSON, NaN for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if -_EXACT <= value <= _EXACT else float("nan")
    return value if isinstance(value, float) else float("nan")


def _as_text(value: Any) -> str:
    """A value of JSON as the text of a category."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number_text(value) if -_LARGEST < value < _LARGEST else _NO_TEXT
    return value if isinstance(value, str) else _NO_TEXT


def same_text(value: Any) -> str | None:
    """A text that two sensitive values share if a reader cannot tell them apart; None where there is no value.

    >>> [same_text(value) for value in (1, 1.0, "1", None, float("nan"), {"b": 1, "a": 2.0})]
    ['1', '1', '1', None, None, '{"a": "2", "b": "1"}']
    """
    if value is None or (text := _as_text(value)) != _NO_TEXT:
        return None if value is None else text
    try:
        plain = from_json(to_json(value, fallback=str, bytes_mode="base64", inf_nan_mode="null"))
    except ValueError:
        return None
    plain = _plain_texts(plain)
    return plain if plain is None or isinstance(plain, str) else json.dumps(plain, sort_keys=True)


def _plain_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain_texts(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain_texts(one) for one in value]
    return None if value is None else text if (text := _as_text(value)) != _NO_TEXT else str(value)


def _number_text(value: float) -> str:
    """The shortest text of a number, without an exponent.

    >>> [_number_text(number) for number in (20.0, 0.1, 1e-7, -3)]
    ['20', '0.1', '0.0000001', '-3']
    """
    if value == int(value):
        return str(int(value))
    short = repr(value)
    return np.format_float_positional(value, trim="-") if "e" in short else short
