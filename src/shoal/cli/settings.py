"""How the settings of the library are called on the command line.

Messages of the library name parameters as Python has them; `InputError.settings` says which. Here they become options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

# where the option is not the parameter with dashes
OPTIONS = {
    "quasi_identifiers": "--qi",
    "output": "-o",
    "k": "-k",
    "answers": "--answer",
    "margins": "--margin",
    "source": "FILE",
    "sources": "FILE",
    "released": "FILE",
}


def option_of(setting: str) -> str:
    """The option that gives a setting.

    >>> option_of("quasi_identifiers"), option_of("null_rule")
    ('--qi', '--null-rule')
    """
    return OPTIONS.get(setting, "--" + setting.replace("_", "-"))


def as_options(text: str, settings: Iterable[str]) -> str:
    """A message with the settings that it names as options; those that it does not name are added.

    >>> as_options("Name columns in quasi_identifiers, or set null_rule='drop'.", ["quasi_identifiers", "null_rule"])
    'Name columns in --qi, or set --null-rule drop.'
    >>> as_options("Name the columns.", ["quasi_identifiers"])
    'Name the columns (--qi).'
    """
    unnamed = []
    for setting in settings:
        word = re.compile(rf"(?<![\w-]){re.escape(setting)}(?![\w-])(?:=(['\"]?)([\w.%-]+)\1)?")
        if word.search(text):
            text = word.sub(partial(_written, setting), text)
        else:
            unnamed.append(option_of(setting))
    if not unnamed:
        return text
    return f"{text.removesuffix('.')} ({', '.join(unnamed)})." if text else f"See {', '.join(unnamed)}."


# the options of the command that runs, by the names that settings have in Python
_running: dict[str, str] = {}
# in a policy or in the type of a column, a setting is called as in Python
_ELSEWHERE = r"(?!(?: or `[a-z_]+`)? (?:in|of|out of) (?:the|a|its) (?:policy|type))"
_QUOTED, _BARE = r"(?<!under )`([a-z_]+)`" + _ELSEWHERE, r"(?<![\w'\"`/.-])([a-z]+(?:_[a-z]+)+)(?![\w'\"`/.=-])"
_NAMED = re.compile(f"{_QUOTED}|{_BARE}{_ELSEWHERE}")


def note_options(command: Any) -> None:
    """Remember the options of the command that is called: messages of the library name them as Python has them."""
    _running.clear()
    for parameter in command.params:
        flags = [flag for flag in getattr(parameter, "opts", []) if flag.startswith("-")]
        if flags:
            _running[max(flags, key=len).lstrip("-").replace("-", "_")] = flags[0]
    _running.update({setting: flag for setting, flag in OPTIONS.items() if flag in _running.values()})


def with_flags(text: str) -> str:
    """A message in which the settings that this command has an option for are called by it.

    Settings are written `so`, or have an underscore; what stands in other quotes is a name from the data.

    >>> _running["null_rule"] = "--null-rule"
    >>> with_flags("Set `null_rule`, or null_rule in Python; the column 'null_rule' and `rows` are something else.")
    "Set --null-rule, or --null-rule in Python; the column 'null_rule' and `rows` are something else."
    """
    return _NAMED.sub(lambda found: _running.get(found[1] or found[2], found[0]), text)


def _written(setting: str, found: re.Match[str]) -> str:
    return option_of(setting) if found[2] is None else f"{option_of(setting)} {found[2]}"
