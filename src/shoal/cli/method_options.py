"""The options of all methods as options of a command, made from the registry of methods: one panel per method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from shoal.methods import METHODS
from shoal.verbs import Entry, Option
from shoal.verbs.forms import COLUMNS, HOWS, NUMBER, PAIRS, SWITCH, TEXT, WHOLE, TypedForm

SEVERAL = "Several methods"
# options of one method that also count where none is named, and for what
WITHOUT_METHOD = {"time_limit": "Without a method: of the trials, and of the method that is taken."}


def names_of_methods(option: Option) -> Option:
    """An option whose help lists the methods."""
    return replace(option, help=option.help.replace("{methods}", ", ".join(METHODS)))


def entries_of_methods(only: tuple[str, ...], leave_out: tuple[str, ...]) -> Iterator[Entry]:
    """One option for every option of the methods: those of several methods first, then those of each alone."""
    methods = only or tuple(METHODS)
    owners: dict[str, list[str]] = {}
    for method in methods:
        for name in METHODS[method].model_fields:
            if name not in leave_out:
                owners.setdefault(name, []).append(method)
    panels = len(methods) > 1
    for name in sorted(owners, key=lambda name: not _is_shared(name, owners[name], panels)):
        yield Entry(name, _option(name, owners[name], panels), str, None)


def _is_shared(name: str, owners: list[str], panels: bool) -> bool:
    """Whether an option is one of several methods, or one that also counts where no method is named."""
    return len(owners) > 1 or (name in WITHOUT_METHOD and panels)


def _option(name: str, owners: list[str], panels: bool) -> Option:
    field = METHODS[owners[0]].model_fields[name]
    form, metavar = _form(field.annotation)
    shared = _is_shared(name, owners, panels)
    without = [WITHOUT_METHOD[name]] if shared and name in WITHOUT_METHOD else []
    described = " ".join([field.description or "", *without])
    is_told = isinstance(field.default, (str, float)) and field.default and len(owners) == 1
    return Option(
        "--" + name.replace("_", "-"),
        (f"{', '.join(owners)}: " if shared else "") + described,
        metavar,
        form,
        shown=str(field.default) if is_told else None,
        panel=SEVERAL if shared else f"Method {owners[0]}" if panels else None,
    )


def _form(kind: Any) -> tuple[TypedForm, str | None]:
    """How an option of a type is typed; a word is checked by the method itself."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if kind in (bool, int, float):
        return {bool: (SWITCH, None), int: (WHOLE, "NUMBER"), float: (NUMBER, "NUMBER")}[kind]
    origin = get_origin(kind)
    if origin is Literal:
        return TEXT, "|".join(get_args(kind))
    if origin is list:
        return COLUMNS, None
    if origin is dict:
        return (HOWS, None) if get_args(kind)[1] is str else (PAIRS, None)
    return TEXT, "VALUE"  # a text, or read by a rule of its own, such as 5%
