"""The flags that a text names, held against the commands: its own, and those that it names itself."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from shoal.cli.group import load
from shoal.verbs import VERBS

_FLAG = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]*|-[ok])(?![\w-])")
# a command with what is typed behind it: `shoal hierarchy check --fix`
_TYPED = re.compile(r"\b(shoal|pip) ([a-z-]+(?: [a-z]+)?)([^`.,;()\n]*)")


@cache
def commands() -> dict[str, Any]:
    """Every command with its options, by its name: `risk`, `attack link`."""
    return {words: load(words) for words in VERBS}


def named_in(text: str) -> set[str]:
    """The flags of a text that stand behind no command."""
    return set(_FLAG.findall(_TYPED.sub("", text)))


def names_flags(text: str) -> bool:
    """Whether a text names a flag at all."""
    return _FLAG.search(text) is not None


def unknown_in(text: str, *shown_by: Any) -> set[str]:
    """The flags of a text that do not exist: behind a command in that one, otherwise in one of those that show it."""
    unknown = {flag for command in shown_by for flag in named_in(text) - _options_of(command)}
    for program, name, typed in _TYPED.findall(text):
        command = commands().get(name) or commands().get(name.split()[0])
        if program == "shoal" and _FLAG.search(typed):
            unknown |= set(_FLAG.findall(typed)) - (set() if command is None else _options_of(command))
    return unknown


def _options_of(command: Any) -> set[str]:
    return {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)} | {"--help"}
