"""`dataclass` of the standard library, which writes the methods of a class when the class is first used.

Writing them takes half a millisecond a class; `anonymize` loads a hundred and fifty classes and uses a third of them.
What comes out is what the standard library makes: the same fields, signature, comparison, hash and errors. Slots, an
order, `InitVar` and a `hash` of a field's own are not offered.

>>> from shoal.dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Box:
...     low: int
...     high: int = 9
>>> Box(3)
Box(low=3, high=9)
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field
from operator import attrgetter
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        repr: bool = True,
        eq: bool = True,
        frozen: bool = False,
        kw_only: bool = False,
    ) -> Any:
        """The class, with its methods postponed."""
        options = {"repr": repr, "eq": eq, "frozen": frozen, "kw_only": kw_only}
        return _postponed(cls, options) if cls else lambda given: _postponed(given, options)


__all__ = ["dataclass"]

# by one of these a class is first used: for an object, for its fields, for an object that was kept in a file
_FIRST = ("__init__", "__dataclass_fields__", "__setstate__")
_ONE_AT_A_TIME = RLock()


class _Factory:
    """A parameter that was not given, and is to be made anew; a signature shows it as that."""

    def __repr__(self) -> str:
        return "<factory>"


class _Postponed:
    """Stands for an attribute until it is asked for. It stays until it is replaced: threads that meet it wait."""

    def __init__(self, cls: type, name: str, options: dict[str, bool]) -> None:
        self.cls, self.name, self.options = cls, name, options

    def __get__(self, instance: object | None, owner: type) -> Any:
        with _ONE_AT_A_TIME:
            if self.cls.__dict__.get(self.name) is self:
                _make(self.cls, self.options)
        return getattr(owner if instance is None else instance, self.name)


def _postponed(cls: type, options: dict[str, bool]) -> type:
    if any(name in cls.__dict__ for name in _FIRST):  # it would be used without our seeing it
        return dataclasses.dataclass(**options)(cls)
    for name in _FIRST:
        setattr(cls, name, _Postponed(cls, name, options))
    return cls


def _make(cls: type, options: dict[str, bool]) -> None:
    """Fields and protection by the standard library, the methods by us: `__init__` must never be missing while another
    thread waits for it, and the others need no code of their own.
    """
    if not cls.__doc__:  # the standard library would ask for the signature, and so for `__init__`
        cls.__doc__ = cls.__name__
    dataclasses.dataclass(init=False, repr=False, eq=False, frozen=options["frozen"], kw_only=options["kw_only"])(cls)
    fields = dataclasses.fields(cls)
    if options["repr"] and "__repr__" not in cls.__dict__:
        cls.__repr__ = _repr_of([field.name for field in fields if field.repr])  # type: ignore[assignment]
    if options["eq"]:
        _compare(cls, [field.name for field in fields if field.compare], options["frozen"])
    del cls.__setstate__  # type: ignore[attr-defined]
    cls.__init__ = _init_of(cls, options["frozen"])  # type: ignore[misc]


def _repr_of(names: list[str]) -> Callable[[object], str]:
    @recursive_repr()
    def __repr__(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _values_of(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    return lambda made: tuple(getattr(made, name) for name in names)


def _compare(cls: Any, names: list[str], frozen: bool) -> None:
    """`__eq__` between objects of one class by their values, and `__hash__` by the same where these cannot change."""
    values: Callable[[object], Any] = attrgetter(*names) if len(names) > 1 else _values_of(names)

    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(values(self) == values(other))

    def __hash__(self: object) -> int:
        return hash(values(self))

    own = cls.__dict__
    # a class that has its own `__eq__` has a `__hash__` of None from Python
    if "__hash__" not in own or (own["__hash__"] is None and "__eq__" in own):
        cls.__hash__ = __hash__ if frozen else None
    if "__eq__" not in own:
        cls.__eq__ = __eq__


def _init_of(cls: Any, frozen: bool) -> Any:
    """`__init__` as the standard library writes it."""
    fields: tuple[Field[Any], ...] = dataclasses.fields(cls)
    known: dict[str, Any] = {"_set": object.__setattr__, "_anew": _Factory()}
    by_place = [_parameter(field, known) for field in fields if field.init and not field.kw_only]
    by_name = [_parameter(field, known) for field in fields if field.init and field.kw_only]
    lines = [_line(field, frozen, known) for field in fields if field.init or field.default_factory is not MISSING]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    body = "".join(f"  {line}\n" for line in lines or ["pass"])
    text = f"def _make({', '.join(known)}):\n def __init__({parameters}):\n{body} return __init__"
    made_here: dict[str, Any] = {}
    exec(text, vars(sys.modules[cls.__module__]), made_here)  # noqa: S102
    made = made_here["_make"](**known)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return made


def _parameter(field: Field[Any], known: dict[str, Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=_anew"
    if field.default is MISSING:
        return field.name
    known[f"_default_{field.name}"] = field.default
    return f"{field.name}=_default_{field.name}"


def _line(field: Field[Any], frozen: bool, known: dict[str, Any]) -> str:
    value = field.name
    if field.default_factory is not MISSING:
        known[f"_new_{field.name}"] = field.default_factory
        made = f"_new_{field.name}()"
        value = f"{made} if {field.name} is _anew else {field.name}" if field.init else made
    return f"_set(self, {field.name!r}, {value})" if frozen else f"self.{field.name} = {value}"
