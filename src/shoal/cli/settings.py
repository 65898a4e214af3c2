"""How the settings of the library are called on the command line.

Messages of the library name parameters as Python has them; `InputError.settings` says which. Here they become options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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


# in a policy or in the type of a column, a setting is called as in Python
_ELSEWHERE = r"(?!(?: or `[a-z_]+`)? (?:in|of|out of) (?:the|a|its) (?:policy|type))"
_QUOTED, _BARE = r"(?<!under )`([a-z_]+)`" + _ELSEWHERE, r"(?<![\w'\"`/.-])([a-z]+(?:_[a-z]+)+)(?![\w'\"`/=-]|\.\w)"
_NAMED = re.compile(f"{_QUOTED}|{_BARE}{_ELSEWHERE}")
_IN_BACKQUOTES = re.compile(_QUOTED)
# names of columns follow, without quotes
_COLUMNS = "The columns are: "
# sentences start with a capital letter: what starts with a small one, and says what it is not, is on a setting
_FIRST = re.compile(r"([a-z]+)(?=(?: '.*?')? is not (?:known\b|above |a whole number\b)| is -?\d+\.$)")


def with_flags(text: str, flags: Mapping[str, str]) -> str:
    """A message in which settings that the command has an option for are called by it.

    Settings are written `so`, or have an underscore; what stands in other quotes is a name from the data. A setting of
    one word needs no quotes where a message starts with it and refuses its value.

    >>> flags = {"null_rule": "--null-rule"}
    >>> with_flags("Set `null_rule`, or null_rule in Python; the column 'null_rule' and `rows` are others.", flags)
    "Set --null-rule, or --null-rule in Python; the column 'null_rule' and `rows` are others."
    """
    named = {**flags, **{setting: flag for setting, flag in OPTIONS.items() if flag in flags.values()}}
    text, columns, rest = text.partition(_COLUMNS)
    text = _NAMED.sub(lambda found: named.get(found[1] or found[2], found[0]), text)
    text += columns + _IN_BACKQUOTES.sub(lambda found: named.get(found[1], found[0]), rest)
    first = _FIRST.match(text)
    return text if first is None else named.get(first[1], first[1]) + text[first.end() :]


def _written(setting: str, found: re.Match[str]) -> str:
    return option_of(setting) if found[2] is None else f"{option_of(setting)} {found[2]}"
