"""How the settings of the library are called on the command line.

Messages of the library name parameters as Python has them; `InputError.settings` says which. Here they become options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

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


def _written(setting: str, found: re.Match[str]) -> str:
    return option_of(setting) if found[2] is None else f"{option_of(setting)} {found[2]}"
