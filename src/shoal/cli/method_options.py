"""The options of all methods as options of a command, made from the table of methods: one panel per method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from shoal.cli.method_table import METHOD_OPTIONS, Option
from shoal.cli.options import how_of, names_of, pairs_of

SEVERAL = "Several methods"
_TYPES: dict[str, Any] = {
    "flag": bool,
    "text": str | None,
    "int": int | None,
    "float": float | None,
    "columns": list[str] | None,
    "how": list[str] | None,
    "pairs": list[str] | None,
}


def with_method_options(command: Callable[..., None], *only: str, leave_out: tuple[str, ...] = ()) -> Any:
    """The command with one option for every option of the methods, in place of its `**method_options`."""
    methods = only or tuple(METHOD_OPTIONS)
    signature = inspect.signature(command, eval_str=True)
    fixed = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    names = dict.fromkeys(
        option.name for method in methods for option in METHOD_OPTIONS[method] if option.name not in leave_out
    )
    # the options of single methods stand together, those of several before them
    order = sorted(names, key=lambda name: len(_owners(name, methods)) == 1)
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
        takes = next(iter(_owners(name, tuple(METHOD_OPTIONS)).values())).takes
        if takes == "how":
            options[name] = how_of(value, _flag(name))
        elif takes == "pairs":
            options[name] = pairs_of(value, _flag(name))
        elif takes == "columns":
            options[name] = names_of(value)
        else:
            options[name] = value
    return options


def _owners(name: str, methods: tuple[str, ...]) -> dict[str, Option]:
    """The methods that have an option, and the option as each has it."""
    return {method: option for method in methods for option in METHOD_OPTIONS[method] if option.name == name}


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _annotation(name: str, methods: tuple[str, ...]) -> Any:
    owners = _owners(name, methods)
    first, option = next(iter(owners.items()))
    shared = len(owners) > 1
    whose = f"{', '.join(owners)}: " if shared else ""
    default = f" [default: {option.default}]" if option.default and not shared else ""
    info = typer.Option(
        _flag(name),
        metavar=option.metavar,
        help=f"{whose}{option.help}{default}",
        show_default=False,
        rich_help_panel=SEVERAL if shared else f"Method {first}" if len(methods) > 1 else None,
    )
    return Annotated[_TYPES[option.takes], info]
