"""Classes whose methods are made at first use are those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

import pytest

from shoal.dataclasses import _Postponed, dataclass

OPTIONS: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"frozen": True, "repr": False},
    {"frozen": True, "eq": False},
    {"kw_only": True},
    {"frozen": True, "kw_only": True},
]


def made(by: Callable[..., Any], **options: bool) -> type[Any]:
    @by(**options)
    class Box:
        """A box."""

        unit: ClassVar[str] = "cm"
        low: int
        high: float = 9.5
        names: list[str] = field(default_factory=list, compare=False)
        seen: list[int] = field(default_factory=list, init=False, repr=False)
        last: int = field(default=0, kw_only=True)

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("the wrong way round")

    return Box


def said(action: Callable[[], object]) -> object:
    """What comes of it, or which error."""
    try:
        return action()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_is_that_of_the_standard_library(options: dict[str, bool]) -> None:
    def told(cls: type[Any]) -> list[object]:
        given = {"low": 3} if options.get("kw_only") else {}
        args = () if options.get("kw_only") else (3,)
        one, same, other = cls(*args, **given), cls(low=3, names=["a"]), cls(low=4)
        return [
            "object at" in repr(one) or repr(one),
            one == same,
            one == other,
            one == 3,
            said(lambda: asdict(cls(3, 4, last=7))),
            said(lambda: asdict(cls(3, 4, ["b"], 5))),
            said(lambda: cls(low=3, seen=[])),
            one.names is same.names,
            one.names is cls(low=3).names,
            one.seen,
            said(lambda: (hash(one) == hash(same), hash(one) == hash(other))),
            said(lambda: setattr(one, "low", 5)),
            said(lambda: delattr(one, "low")),
            said(lambda: cls()),
            said(lambda: cls(low=10)),
            said(lambda: cls.__match_args__),
            cls.unit,
            str(inspect.signature(cls)),
            get_type_hints(cls.__init__),
            (cls.__init__.__module__, cls.__init__.__qualname__, cls.__init__.__name__),
            [(each.name, each.type, each.default, each.compare, each.kw_only) for each in fields(cls)],
            asdict(other),
            asdict(replace(other, low=1, high=2)),
            cls.__doc__,
        ]

    assert told(made(dataclass, **options)) == told(made(dataclasses.dataclass, **options))


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("own", [(), ("__eq__",), ("__hash__",), ("__eq__", "__hash__"), ("__repr__",), ("__init__",)])
def test_the_methods_of_a_class_stay(own: tuple[str, ...], frozen: bool) -> None:
    def told(by: Callable[..., Any]) -> list[object]:
        methods: dict[str, Any] = {
            "__eq__": lambda self, other: "equal",
            "__hash__": lambda self: 7,
            "__repr__": lambda self: "shown",
            "__init__": lambda self, one=None: object.__setattr__(self, "one", 5),
        }
        space = {name: methods[name] for name in own} | {"__annotations__": {"one": "object"}}
        cls = by(frozen=frozen)(type("Own", (), space))
        made, again, inner = cls(1), cls(1), cls(None)
        said_of_itself = "left out"
        if not frozen:
            inner.one = inner
            said_of_itself = repr(inner)
        return [made == again, made != again, said(lambda: hash(made)), repr(made), said_of_itself]

    assert told(dataclass) == told(dataclasses.dataclass)


def postponed(cls: type[Any]) -> bool:
    return any(isinstance(value, _Postponed) for value in vars(cls).values())


@pytest.mark.parametrize(
    "use",
    [
        lambda cls: cls(3),
        fields,
        is_dataclass,
        inspect.signature,
        lambda cls: cls.__init__,
    ],
)
def test_nothing_is_made_before_a_class_is_used(use: Callable[[Any], object]) -> None:
    cls = made(dataclass, frozen=True)
    assert postponed(cls)
    assert use(cls)
    assert not postponed(cls)


def test_classes_build_on_classes_that_are_not_made_yet() -> None:
    for decorator in (dataclass, dataclasses.dataclass):

        @dataclass(frozen=True)
        class Base:
            one: int

            def __repr__(self) -> str:
                return f"Base of {self.one}"

        class Plain(Base):
            pass

        @decorator(frozen=True, repr=False)
        class Child(Base):
            two: int = 2

        child = Child(1)
        assert (child.one, child.two, repr(child), repr(Plain(5))) == (1, 2, "Base of 1", "Base of 5")
        assert [each.name for each in fields(Child)] == ["one", "two"]
        assert Plain(5) == Plain(5)
        assert Base(1) != child
        with pytest.raises(FrozenInstanceError):
            child.two = 3


@dataclass(frozen=True)
class Kept:
    """Kept in a file and read by another program."""

    low: int
    names: tuple[str, ...] = field(default=("a",))


def test_what_was_kept_is_read_before_anything_is_made() -> None:
    code = (
        "import pickle\nimport tests.test_dataclasses as tests\n"
        f"assert tests.postponed(tests.Kept)\nkept = pickle.loads({pickle.dumps([Kept(3), Kept(3)])!r})\n"
        "{use}\nassert not tests.postponed(tests.Kept)"
    )
    for use in (
        "assert kept[0] == kept[1]",
        "assert len(set(kept)) == 1",
        "assert repr(kept[0]) == \"Kept(low=3, names=('a',))\"",
        "try:\n    kept[0].low = 4\nexcept AttributeError:\n    pass\nassert kept[0].low == 3",
        "match kept[0]:\n    case tests.Kept(low, names):\n        assert (low, names) == (3, ('a',))",
    ):
        subprocess.run([sys.executable, "-c", code.replace("{use}", use)], check=True, cwd=Path(__file__).parents[1])
    assert copy.deepcopy(Kept(3)) == Kept(3)


def test_threads_that_meet_a_class_at_once_have_it_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    real, count = dataclasses.dataclass, []
    monkeypatch.setattr(dataclasses, "dataclass", lambda **options: (count.append(1), real(**options))[1])
    classes = [made(dataclass, frozen=True) for _ in range(50)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: classes[n // 8](3), range(8 * len(classes))))
    assert len(count) == len(classes)
    assert all(each == type(each)(3) for each in found)
