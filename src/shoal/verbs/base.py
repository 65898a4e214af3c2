"""What a request is: the options of one verb, each declared once.

The library's function takes a request or its fields as keywords. The command line, the JSON API, the text of a step
that is repeated by hand and the tables of the documentation are made from the fields.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import Annotated, Any, ClassVar, NamedTuple, ParamSpec, Protocol, TypeVar, get_args, get_origin, overload

from shoal.verbs.forms import SWITCH, TypedForm, form_of


@dataclass(frozen=True)
class Option:
    """How a field is typed at the command line and called in JSON, what it means, and which values it may have.

    Without a flag it is an argument of the command. `form` follows from the type of the field where it is not given.
    `shown`: the default, where none of the field says it. `json`: its name in the API where the flag does not say it;
    an empty one keeps it out of the API. The API refuses what is beyond the limits (`least` … `below`, for lists and
    texts `longest`); so does the command line where it `checks`, because the library does not.
    """

    flag: str
    help: str
    metavar: str | None = None
    form: TypedForm | None = None
    unit: str | None = None
    shown: str | None = None
    panel: str | None = None
    json: str | None = None
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    longest: int | None = None
    checks: bool = False
    required: bool = False

    @property
    def flags(self) -> list[str]:
        """The flags, the short one first: `-o`, `--output`."""
        return self.flag.split()

    @property
    def long(self) -> str:
        """The flag that messages use."""
        return self.flags[-1] if self.flag else ""

    @property
    def first(self) -> str:
        """The flag that is typed, the short one where there is one."""
        return self.flags[0] if self.flag else ""


class Entry(NamedTuple):
    """A field with its option."""

    name: str
    option: Option
    type: Any
    default: Any

    @property
    def form(self) -> TypedForm:
        """How it is typed."""
        return self.option.form or form_of(self.type)

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING

    @property
    def json(self) -> str:
        """Its name in the API: that of its flag; empty where the API does not have it."""
        if self.option.json is not None:
            return self.option.json
        flag = self.option.long.partition("/")[0].lstrip("-").replace("-", "_")
        return flag if len(flag) > 1 else self.name

    @property
    def metavar(self) -> str:
        """The word that stands for a value in the help."""
        return self.option.metavar or self.form.metavar

    @property
    def help(self) -> str:
        """What it means, with the default where that tells something."""
        default = self.option.shown
        if default is None and not self.required and self.form is not SWITCH and self.default not in (None, "", True):
            values = self.default if isinstance(self.default, tuple) else (self.default,)
            default = ",".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
        return self.option.help + (f" [default: {default}]" if default else "")


@dataclass(frozen=True)
class Request:
    """What a verb is asked: a subclass per verb, whose docstring is the help of its command.

    `home` is the function of the library, `source` the argument that stands before all options, `beside` the options
    that only the command line has: how the file is read and written, and how the result is shown.
    """

    home: ClassVar[str] = ""
    source: ClassVar[Option | None] = None
    beside: ClassVar[dict[str, Option]] = {}
    # whether the source comes after the other arguments
    source_last: ClassVar[bool] = False
    # the methods whose options it takes too (all, if it names none), and which options of theirs it does not
    methods: ClassVar[tuple[str, ...] | None] = None
    without: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def entries(cls) -> Iterator[Entry]:
        """The fields that have an option."""
        for entry in fields(cls):
            if get_origin(entry.type) is Annotated:
                kind, *about = get_args(entry.type)
                option = next(made for made in about if isinstance(made, Option))
                default = entry.default if entry.default_factory is MISSING else entry.default_factory()
                yield Entry(entry.name, option, kind, default)

    @classmethod
    def typed(cls) -> Iterator[Entry]:
        """All that is typed at the command line: the argument, the fields, and what stands beside them."""
        own = sorted(cls.entries(), key=lambda entry: (bool(entry.option.flag), entry.name == "policy"))
        source = [] if cls.source is None else [Entry("file", cls.source, str, cls.source_default())]
        place = sum(not entry.option.flag for entry in own) if cls.source_last else 0
        yield from [*own[:place], *source, *own[place:]]
        for name, option in cls.beside.items():
            yield Entry(name, option, str, None)

    @classmethod
    def source_default(cls) -> Any:
        """None where the source need not be given."""
        return None if cls.source is None or (cls.source.metavar or "").startswith("[") else MISSING

    @classmethod
    def function(cls) -> Callable[..., Any]:
        """The function of the library."""
        module, _, name = cls.home.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function


Given = ParamSpec("Given")
Asked = TypeVar("Asked", bound=Request)
Asked_contra = TypeVar("Asked_contra", bound=Request, contravariant=True)
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class VerbFunction(Protocol[Given, Asked_contra, Result_co]):
    """A function of the library that takes a source, and a request or its fields as keywords."""

    __name__: str

    @overload
    def __call__(self, source: Any, request: Asked_contra, /) -> Result_co: ...
    @overload
    def __call__(self, source: Any, *given: Given.args, **more: Given.kwargs) -> Result_co: ...


class VerbOfNumbers(Protocol[Given, Asked_contra, Result_co]):
    """The same where numbers may stand in the place of a source."""

    __name__: str

    @overload
    def __call__(self, source: Any, request: Asked_contra, /) -> Result_co: ...
    @overload
    def __call__(self, source: Any = None, *given: Given.args, **more: Given.kwargs) -> Result_co: ...


def takes(
    request: Callable[Given, Asked],
) -> Callable[[Callable[[Any, Asked], Result]], VerbFunction[Given, Asked, Result]]:
    """A function of a source and a request that takes the fields of the request as keywords too."""
    return functools.partial(_taking, request)


def takes_numbers(
    request: Callable[Given, Asked],
) -> Callable[[Callable[[Any, Asked], Result]], VerbOfNumbers[Given, Asked, Result]]:
    """The same for a function that needs no source."""
    return functools.partial(_taking, request)


def _taking(request: Any, function: Any) -> Any:
    first = next(iter(inspect.signature(function).parameters.values()))
    if request.source_default() is None:
        first = first.replace(default=None)
    fields = inspect.signature(request).parameters.values()
    plain = [entry.replace(annotation=_plain(entry.annotation)) for entry in fields]
    signature = inspect.Signature([first.replace(kind=first.POSITIONAL_OR_KEYWORD), *plain])

    @functools.wraps(function)
    def call(*given: Any, **more: Any) -> Any:
        if len(given) == 2 and isinstance(given[1], Request) and not more:
            return function(*given)
        try:
            bound = signature.bind(*given, **more).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        return function(bound.pop(first.name, None), request(**bound))

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _plain(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
