"""The options of all methods as options of a command, made from the registry: one panel per method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from shoal.anonymization.methods import METHODS, Method
from shoal.cli.options import how_of, names_of, pairs_of

SEVERAL = "Several methods"


def with_method_options(command: Callable[..., None], *only: type[Method], leave_out: tuple[str, ...] = ()) -> Any:
    """The command with one option for every option of the methods, in place of its `**method_options`."""
    kinds = only or tuple(METHODS.values())
    signature = inspect.signature(command, eval_str=True)
    fixed = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    names = dict.fromkeys(name for kind in kinds for name in kind.model_fields if name not in leave_out)
    # the options of single methods stand together, those of several before them
    shared = [name for name in names if len(_owners(name, kinds)) > 1]
    order = [*shared, *(name for kind in kinds for name in kind.model_fields if name in names and name not in shared)]
    made = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(name, kinds))
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
    found: dict[str, Any] = {}
    for name, value in typed.items():
        if value is None or value is False or value == []:
            continue
        kind = _plain(next(kind for kind in METHODS.values() if name in kind.model_fields).model_fields[name])
        flag = _flag(name)
        if get_origin(kind) is dict:
            found[name] = how_of(value, flag) if get_args(kind)[1] is str else pairs_of(value, flag)
        elif get_origin(kind) is list:
            found[name] = names_of(value)
        else:
            found[name] = value
    return found


def _owners(name: str, kinds: tuple[type[Method], ...]) -> list[type[Method]]:
    return [kind for kind in kinds if name in kind.model_fields]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _plain(field: FieldInfo) -> Any:
    """The type of an option without `None`."""
    kind = field.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    return str if get_origin(kind) is Annotated else kind  # read by a rule of its own, such as 5%


def _option(name: str, kinds: tuple[type[Method], ...]) -> Any:
    owners = _owners(name, kinds)
    field = owners[0].model_fields[name]
    typed, metavar = _typed(_plain(field))
    whose = f"{', '.join(owner.name for owner in owners)}: " if len(owners) > 1 else ""
    default = f" [default: {field.default}]" if isinstance(field.default, (str, float)) and field.default else ""
    panel = SEVERAL if len(owners) > 1 else f"Method {owners[0].name}" if len(kinds) > 1 else None
    info = typer.Option(
        _flag(name),
        metavar=metavar,
        help=f"{whose}{field.description}{default if len(owners) == 1 else ''}",
        show_default=False,
        rich_help_panel=panel,
    )
    return Annotated[typed, info]


def _typed(kind: Any) -> tuple[Any, str | None]:
    """The type that the command line takes, and the word that stands for a value in the help."""
    if kind is bool:
        return bool, None
    if get_origin(kind) is Literal:
        return str | None, "|".join(get_args(kind))
    if get_origin(kind) is list:
        return list[str] | None, "COLUMNS"
    if get_origin(kind) is dict:
        return list[str] | None, "COLUMN=HOW" if get_args(kind)[1] is str else "COLUMN=VALUE,..."
    if kind in (int, float):
        return kind | None, "NUMBER"
    return str | None, "VALUE"
