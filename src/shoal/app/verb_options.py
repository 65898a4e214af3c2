"""What a verb of the app is: a request of the library as JSON, the function that answers it, and what stands around."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model

from shoal.errors import InputError
from shoal.verbs import Entry, Request, forms, request_of
from shoal.vocabulary import Role

FileName = Annotated[str, Field(min_length=1, max_length=4_000)]
Columns = Annotated[list[str], Field(min_length=1, max_length=10_000)]
FileKind = Literal["csv", "tsv", "parquet"]

# Requests as JSON: the fields go by the names of their flags, and what is beyond their limits is refused.


class VerbOptions(BaseModel):
    """The options of a verb; what is not given is as the library has it."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    request: ClassVar[type[Request]] = Request
    # the options of the request by their names here
    entries: ClassVar[dict[str, Entry]] = {}

    def given(self) -> list[tuple[Entry, Any]]:
        """The options of the request that were given, as the library takes them."""
        differing = []
        for name, entry in self.entries.items():
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                differing.append((entry, not value if entry.form is forms.OFF else value))
        return differing

    def files(self) -> list[str]:
        """The files of this machine that the options name."""
        own = [value for entry, value in self.given() if entry.form is forms.FILE]
        return [*own, *(value for name in self.more_files if (value := getattr(self, name)) is not None)]

    # files that are named beside the request
    more_files: ClassVar[tuple[str, ...]] = ()

    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of the library's function."""
        own = {entry.name for entry in fields(self.request)}
        return {entry.name: value for entry, value in self.given() if entry.name in own}


def options_of(words: str, base: type[VerbOptions] = VerbOptions, required: tuple[str, ...] = ()) -> Any:
    """The options of a verb as JSON: those of its request, and those of `base`, which the app has beside them."""
    request, made, entries = request_of(words), {}, {}
    for entry in request.typed():
        name = entry.json if entry.name not in request.beside else entry.option.json or ""
        if not name or entry.name == "file" or name in base.model_fields:
            continue
        entries[name] = entry
        needed = entry.required or entry.option.required or name in required
        made[name] = _field(entry, needed)
    kind = create_model(
        f"{request.__name__.removesuffix('Request')}Options",
        __base__=base,
        __doc__=f"Options of `shoal {words}`." + (f" {base.__doc__}" if base is not VerbOptions else ""),
        **made,  # type: ignore[call-overload]
    )
    kind.request, kind.entries = request, entries
    return kind


def _field(entry: Entry, needed: bool) -> tuple[Any, Any]:
    option, kind = entry.option, _json_type(entry)
    bounds = {"ge": option.least, "le": option.most, "gt": option.above, "lt": option.below}
    limits: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    if entry.form is forms.NUMBERS:
        kind = list[Annotated[int, Field(**limits)]]
        limits = {"min_length": 1, "max_length": option.longest}
    elif option.longest is not None:
        listed = get_origin(kind) in (list, dict)
        limits = {"max_length": option.longest, **({"min_length": 1} if listed else {})}
    unit = f" In {option.unit}." if option.unit else ""
    kind = Annotated[kind, Field(**limits)] if limits else kind
    if needed:
        return kind, Field(description=option.help + unit)
    if entry.form in (forms.SWITCH, forms.OFF):
        default = entry.default if entry.form is forms.SWITCH and entry.default is not MISSING else False
        return kind, Field(default=bool(default), description=option.help + unit)
    plain = entry.default if isinstance(entry.default, (str, int, float)) else None
    return (kind if plain is not None else kind | None), Field(default=plain, description=option.help + unit)


_BY_FORM: dict[forms.TypedForm, Any] = {
    forms.SWITCH: bool,
    forms.OFF: bool,
    forms.WHOLE: int,
    forms.NUMBER: float,
    forms.FILE: FileName,
    forms.COLUMNS: list[str],
    forms.REPEATED: list[str],
    forms.ROLES: dict[str, Role],
    forms.GROUPS: dict[str, Columns],
    forms.STEPS: dict[str, Columns],
    forms.SUMS: dict[str, list[str]],
    forms.LISTS: list[Columns],
    forms.LIST_OR_ONE: float | str,
    forms.FIGURES: list[float],
}


def _json_type(entry: Entry) -> Any:
    """The type of an option in JSON, by how it is typed, or by what the library takes."""
    parts = [part for part in get_args(entry.type) if part is not type(None)]
    words = [part for part in (entry.type, *parts) if get_origin(part) is Literal]
    if words:
        return words[0]
    if entry.form in _BY_FORM:
        return _BY_FORM[entry.form]
    if entry.form is forms.PAIRS:
        pairs = next(part for part in parts if get_origin(part) is not None)
        return dict[str, get_args(pairs)[1]]  # type: ignore[misc]
    if Decimal in parts or entry.type is Any:
        return str
    return int | str if int in parts else float | str if float in parts else str


# Verbs.


@dataclass(frozen=True)
class Task:
    """What a verb works on: the file and how it is read, the policy, the folder for what it writes, and what verbs
    released before, by the workspace of the file and the verb."""

    source: str
    reading: Any
    policy: Path | None
    folder: Path
    workspace: str = ""
    releases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def released(self, by: str, workspace: str | None = None) -> str:
        """The release that a verb made of this file, or of another that is open."""
        known = self.releases.get(workspace or self.workspace, {})
        if by not in known:
            raise InputError("Nothing is released yet.", f"Run {by} first.")
        return known[by]


def out(task: Task) -> Path:
    """The folder for what may leave, made."""
    folder = task.folder / "out"
    folder.mkdir(mode=0o700)
    return folder


@dataclass(frozen=True)
class Verb:
    """A verb: its name in addresses, its options, and how it is run (`run` stands in for a plain call).

    `home` is the function that is called, that of the request if it is not given. `policy`: the function is told the
    policy of the file. `writes`: it releases a file, and this is its name, without an ending, where the step is
    repeated by hand. A verb that is no command, but part of a page, has no request; its `note` says what it is for.
    """

    name: str
    options: type[VerbOptions]
    run: Callable[[Task, Any], Any] | None = None
    home: str = ""
    policy: bool = True
    writes: str | None = None
    words: tuple[str, ...] = ()
    note: str = ""

    @property
    def takes_policy(self) -> bool:
        """Whether the function knows the parameter `policy`, and is told it."""
        return self.policy and any(entry.name == "policy" for entry in self.options.request.entries())

    @property
    def takes_reading(self) -> bool:
        """Whether the function is told how the file is read."""
        return "encoding" in self.options.request.beside

    @property
    def summary(self) -> str:
        """What it answers, in a sentence: the bold words of the request's help."""
        return self.note or (self.options.request.__doc__ or "").split("**")[1]

    @property
    def place(self) -> tuple[str, str]:
        """The module and the name of the function."""
        module, _, name = (self.home or self.options.request.home).partition(":")
        return module, name

    def call(self, task: Task, options: VerbOptions) -> Any:
        """Run the verb on a file; a `Result` comes back."""
        if self.run is not None:
            return self.run(task, options)
        module, name = self.place
        policy = {"policy": task.policy} if self.takes_policy else {}
        reading = {"options": task.reading} if self.takes_reading else {}
        return getattr(import_module(module), name)(task.source, **options.keywords(), **policy, **reading)


def command(words: str, base: type[VerbOptions] = VerbOptions, *required: str, name: str = "", **more: Any) -> Verb:
    """A verb that is a command too, with the options of its request."""
    options = options_of(words, base, required)
    return Verb(name or words.replace(" ", "-"), options, words=tuple(words.split()), **more)
