"""A group of commands that imports a command's module when the command is called, not before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from shoal.cli.commands import COMMANDS, Entry
from shoal.errors import CLOSED_PIPE

MARKUP: Literal["markdown"] = "markdown"
# digits of a number that needs no look at it
_SHORT_NUMBER = 16


# options that other commands have, and the way to the same thing here
_INSTEAD = {
    ("publish", "--engine"): "publish works on this machine; anonymize, verify and leak run on Spark: --engine spark.",
    ("publish", "--memory"): "Set the variable SHOAL_MEMORY instead: it holds for every step of publish.",
    ("publish", "--spill-dir"): "Set the variable SHOAL_SPILL instead: it holds for every step of publish.",
}


# the command that was called last: errors name its options
_called: list[Any] = []


def flags() -> dict[str, str]:
    """The options of the command that was called, by the names that Python gives them."""
    found = {}
    for parameter in [one for command in _called for one in command.params]:
        written = [flag for flag in getattr(parameter, "opts", []) if flag.startswith("-")]
        if written:
            found[max(written, key=len).lstrip("-").replace("-", "_")] = written[0]
    return found


class LazyGroup(TyperGroup):
    """The commands of the table: a line of help each, until one is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.commands[name] = TyperCommand(
                name, help=entry.help, rich_help_panel=entry.panel, rich_markup_mode=MARKUP
            )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for parameter in self.get_params(ctx):
            _spare_pydantic(parameter)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; typer ends with 1 at a closed pipe, which here says that a promise is not met."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise SystemExit(CLOSED_PIPE) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, with its options."""
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = load(args[0])
        return super().resolve_command(ctx, args)


def load(name: str) -> Any:
    """A command of the table, imported."""
    command = _command(name, COMMANDS[name])
    for each in [command, *getattr(command, "commands", {}).values()]:
        each.parse_args = partial(_parse_args, each, each.parse_args)
    return command


def _parse_args(command: Any, parse_args: Callable[..., list[str]], ctx: Any, args: list[str]) -> list[str]:
    for parameter in command.get_params(ctx):
        _spare_pydantic(parameter)
    _called[:] = [command]
    try:
        return parse_args(ctx, args)
    except Exception as error:
        if way := _INSTEAD.get((command.name, getattr(error, "option_name", ""))):
            error.message, error.possibilities = f"{error.message}. {way}", None  # type: ignore[attr-defined]
        raise


def _command(name: str, entry: Entry) -> Any:
    target = getattr(import_module(entry.module), entry.function)
    if not isinstance(target, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
        alone.command(name, rich_help_panel=entry.panel)(target)
        return get_command(alone)
    group = get_group(target)
    group.name = name
    return group


class _AsTyped:
    """What typer does to a value, without pydantic where the value is as it should be already."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        annotation = param.type_descriptor.annotation
        if annotation is str and isinstance(value, str):
            return value
        if annotation is Path and isinstance(value, str) and _any_path(param.type_descriptor.parameter_info):
            return Path(value)
        if annotation == list[str] and isinstance(value, (tuple, list)) and all(isinstance(v, str) for v in value):
            return list(value)
        if annotation is int and _is_plain(value) and _any_number(param.type_descriptor.parameter_info):
            return int(value)
        if annotation in (bool, int, float, Path) and type(value) is annotation and value == param.default:
            return value
        from typer._coercion import build_runtime_param

        return build_runtime_param(param.type_descriptor).coerce(value, param=param, ctx=ctx)


def _is_plain(value: Any) -> bool:
    """Nothing but a few digits.

    >>> [_is_plain(value) for value in ("5", "-5", "5.0", "٥", 5)]
    [True, False, False, False, False]
    """
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _SHORT_NUMBER


def _any_number(info: Any) -> bool:
    """No rule for the number."""
    return info.min is None and info.max is None and not info.clamp and not info.count


def _any_path(info: Any) -> bool:
    """No rule for the path: it need not exist, and is taken as it is typed."""
    return not (info.exists or info.resolve_path or not info.file_okay or not info.dir_okay or info.writable)


def _spare_pydantic(parameter: Any) -> None:
    """typer loads pydantic (0.1 s) even to hand on text as text; a typer that does not work so is left alone."""
    info = getattr(getattr(parameter, "type_descriptor", None), "parameter_info", None)
    if info is not None and getattr(info, "parser", None) is None and hasattr(parameter, "_runtime_param"):
        parameter._runtime_param = _AsTyped()
