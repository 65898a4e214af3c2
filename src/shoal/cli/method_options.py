"""The options of all methods as options of a command, made from the registry of methods: one panel per method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import typer

from shoal.cli.options import how_of, names_of, pairs_of
from shoal.methods import METHODS

SEVERAL = "Several methods"
# options of one method that also count where none is named, and for what
WITHOUT_METHOD = {"time_limit": "Without a method: of the trials, and of the method that is taken."}


class _Taken(NamedTuple):
    """What the command line takes for an option, the word that stands for a value in the help, and how it is read."""

    type: Any
    metavar: str | None = None
    read: Callable[[Any, str], Any] | None = None


def with_method_options(command: Callable[..., None], *only: str, leave_out: tuple[str, ...] = ()) -> Any:
    """The command with one option for every option of the methods, in place of its `**method_options`."""
    methods = only or tuple(METHODS)
    signature = inspect.signature(command)
    fixed = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    names = dict.fromkeys(name for method in methods for name in METHODS[method].model_fields if name not in leave_out)
    # the options of single methods stand together, those of several before them
    order = sorted(names, key=lambda name: not _is_shared(name, methods))
    made = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name, methods))
        for name in order
    ]
    # what concerns all methods comes first
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[entry.replace(kind=inspect.Parameter.KEYWORD_ONLY) for entry in fixed] + made
    )
    command.__annotations__ = {entry.name: entry.annotation for entry in [*fixed, *made]} | {"return": None}
    return command


def given_options(typed: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed as what the methods take; an option that was not given is left out."""
    options: dict[str, Any] = {}
    for name, value in typed.items():
        if value is None or value is False or value == []:
            continue
        read = _taken(next(iter(_owners(name, tuple(METHODS)).values()))).read
        options[name] = value if read is None else read(value, _flag(name))
    return options


def _owners(name: str, methods: tuple[str, ...]) -> dict[str, Any]:
    """The methods that have an option, and the option as each has it."""
    fields = {method: METHODS[method].model_fields for method in methods}
    return {method: options[name] for method, options in fields.items() if name in options}


def _is_shared(name: str, methods: tuple[str, ...]) -> bool:
    """Whether an option is one of several methods, or one that also counts where no method is named."""
    return len(_owners(name, methods)) > 1 or (name in WITHOUT_METHOD and len(methods) > 1)


def _taken(option: Any) -> _Taken:
    """What the command line takes for the type of an option."""
    kind = option.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if kind is bool:
        return _Taken(bool)
    if kind in (int, float):
        return _Taken(kind | None, "NUMBER")
    if get_origin(kind) is Literal:
        return _Taken(str | None, "|".join(get_args(kind)))
    if get_origin(kind) is list:
        return _Taken(list[str] | None, "COLUMNS", lambda given, _: names_of(given))
    if get_origin(kind) is dict:
        per_column = ("COLUMN=HOW", how_of) if get_args(kind)[1] is str else ("COLUMN=VALUE,...", pairs_of)
        return _Taken(list[str] | None, *per_column)
    return _Taken(str | None, "VALUE")  # a text, or read by a rule of its own, such as 5%


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _annotation(name: str, methods: tuple[str, ...]) -> Any:
    owners = _owners(name, methods)
    first, option = next(iter(owners.items()))
    taken = _taken(option)
    shared = _is_shared(name, methods)
    whose = f"{', '.join(owners)}: " if shared else ""
    described = " ".join([option.description, *([WITHOUT_METHOD[name]] if shared and name in WITHOUT_METHOD else [])])
    is_told = isinstance(option.default, (str, float)) and option.default and len(owners) == 1
    info = typer.Option(
        _flag(name),
        metavar=taken.metavar,
        help=f"{whose}{described}" + (f" [default: {option.default}]" if is_told else ""),
        show_default=False,
        rich_help_panel=SEVERAL if shared else f"Method {first}" if len(methods) > 1 else None,
    )
    return Annotated[taken.type, info]
