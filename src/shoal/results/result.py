"""The base of all results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from shoal.results.sections import Section

_REGISTERED: dict[str, type[Result]] = {}


def left_out(**how: Any) -> Any:
    """A field that is not part of the JSON: a frame, a table, a function."""
    return field(metadata={"json": "left out"}, repr=False, compare=False, **how)


def where_known(**how: Any) -> Any:
    """A field whose key is there only where it has a value: None leaves it out."""
    return field(default=None, metadata={"json": "where known"}, **how)


def known_with(other: str, **how: Any) -> Any:
    """A field whose key is there exactly where another field has a value; it may be null then."""
    return field(default=None, metadata={"json": "where known", "with": other}, **how)


def beside(keys: Sequence[str], **how: Any) -> Any:
    """A field whose own keys, all of them among `keys`, stand beside the others in the JSON, not under its name."""
    return field(metadata={"json": "beside", "keys": tuple(keys)}, **how)


def keyed(key: str, **how: Any) -> Any:
    """A field whose key is a word that Python keeps for itself, such as `global`."""
    return field(metadata={"key": key}, **how)


def merged(**how: Any) -> Any:
    """A field that is a dataclass, or None: its keys stand beside those of the result, not below its name."""
    return field(metadata={"json": "merged"}, **how)


class Result(ABC):
    """What a verb returns: a frozen dataclass whose fields are the keys of its JSON.

    A subclass is a `@dataclass(frozen=True)` with a `name` (`risk`), by which `shoal schema` knows it. Fields made by
    `left_out` do not appear in the JSON, fields made by `where_known` only where they have a value, and the keys of a
    field made by `beside` stand beside the others.
    """

    name: ClassVar[str] = ""
    schema_version: ClassVar[int] = 1

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        if "name" in cls.__dict__:
            _REGISTERED[cls.name] = cls
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints, exactly."""
        return {"schema_version": self.schema_version, **as_json(self)}

    @abstractmethod
    def summary(self) -> str:
        """What was found, in sentences."""

    @abstractmethod
    def sections(self) -> list[Section]:
        """What was found, as a terminal, a notebook, a page or a PDF shows it."""

    def _repr_html_(self) -> str:
        from shoal.results.html import fragment

        return fragment(self.sections())

    def in_short(self) -> dict[str, Any]:
        """What `repr` shows the numbers of."""
        found: dict[str, Any] = as_json(self)
        return found

    def plot(self) -> Any:
        """What was found as an altair chart, which a notebook shows and `.save("risk.svg")` writes."""
        from shoal.results.html import CHARTS

        return import_module(CHARTS).plot(self)

    def __repr__(self) -> str:
        """Counts and verdicts only: no value of the data, no name of a column.

        >>> from shoal.exposure import risk
        >>> risk({"age": [30, 30, 51]}, quasi_identifiers=["age"])
        <risk: records 3, removed_rows 0, classes 2, uniques 1, uniqueness 0.3333, k 1, ...>
        """
        shown = [
            f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in self.in_short().items()
            if isinstance(value, (bool, int, float))
        ]
        if isinstance(getattr(self, "verdict", None), str):  # a word of ours, never one of the data
            shown.insert(0, f"verdict {self.verdict}")  # type: ignore[attr-defined]
        more = ", ..." if len(shown) > _SHOWN else ""
        return f"<{self.name or type(self).__name__}: {', '.join(shown[:_SHOWN])}{more}>"


_SHOWN = 6


def results() -> dict[str, type[Result]]:
    """All registered results by name; those of modules that were imported."""
    return dict(sorted(_REGISTERED.items()))


def as_json(value: Any) -> Any:
    """A value as JSON knows it: dataclasses by their fields, tuples as lists, paths and decimals as texts.

    >>> as_json({"a": (1, None), "b": Decimal("0.10")})
    {'a': [1, None], 'b': '0.10'}
    """
    if hasattr(value, "to_dict") and not isinstance(value, Result):
        return as_json(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return fields_as_json(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(content) for key, content in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(content) for content in value]
    if isinstance(value, (Path, Decimal)):
        return str(value)
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):  # a numpy scalar
        return value.item()
    return value


def fields_as_json(value: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON, by the rules that `left_out`, `where_known`, `beside` and `merged` set."""
    found: dict[str, Any] = {}
    for entry in fields(value):
        rule, content = entry.metadata.get("json"), getattr(value, entry.name)
        decides = getattr(value, entry.metadata.get("with", entry.name))
        if rule == "left out" or (rule in ("where known", "merged") and decides is None):
            continue
        key = entry.metadata.get("key", entry.name)
        found |= as_json(content) if rule in ("beside", "merged") else {key: as_json(content)}
    return found
