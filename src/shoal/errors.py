"""What shoal says when it cannot go on: what happened, and the cure. Never a value from the data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import NamedTuple

# the exit code 128 + SIGPIPE: who read the standard output closed it, as `| head` does; files that were written stay
CLOSED_PIPE = 141
# 128 + SIGINT: Ctrl-C
INTERRUPTED = 130


class Setting(NamedTuple):
    """A parameter of the library that a message names, with the value to give it where the message says one.

    `output.delimiter` is the delimiter of what is given as `output`.

    >>> str(Setting("null_rule")), str(Setting("null_rule", "'drop'")), str(Setting("output.delimiter"))
    ('null_rule', "null_rule='drop'", 'delimiter')
    """

    name: str
    value: str = ""

    def __str__(self) -> str:
        """The setting as it is written in Python."""
        name = self.name.rpartition(".")[2]
        return f"{name}={self.value}" if self.value else name


# `{}` is the next field, `{name}` a setting, `{name=value}` a setting with its value; backquotes around it belong to it
_PLACE = re.compile(r"(`?)\{(?:([a-z_]+)(?:=([^{}]+))?)?\}\1")


class Message(str):
    """A text that names settings. It reads as Python has them; a front end that calls them otherwise asks `named_by`.

    Settings stand in the template in braces. What is not known beforehand stands there as `{}` and is given as a field,
    which is never searched for settings: a column may be called `{k}`. A field may be a message or a setting itself.

    >>> message = Message("Column '{}': set {null_rule='drop'} or `{k}`.", "{k}")
    >>> print(message)
    Column '{k}': set null_rule='drop' or `k`.
    >>> print(message.named_by(lambda setting: "--" + setting.name))
    Column '{k}': set --null_rule or --k.
    """

    template: str
    fields: tuple[str | Setting, ...]

    def __new__(cls, template: str, *fields: object) -> Message:
        """The text as Python reads it."""
        given = tuple(field if isinstance(field, (Message, Setting)) else str(field) for field in fields)
        message = super().__new__(cls, _filled(template, given, lambda setting: None))
        message.template, message.fields = template, given
        return message

    def __reduce__(self) -> tuple[type[Message], tuple[str | Setting, ...]]:
        """A copy is made as this was: its text is no template."""
        return Message, (self.template, *self.fields)

    def as_clause(self) -> Message:
        """The same on one line without its full stop, to stand inside a sentence."""
        return type(self)(self.template.replace("\n", " ").rstrip("."), *self.fields)

    def named_by(self, name_of: Callable[[Setting], str | None]) -> str:
        """The text with the names that a front end gives the settings; one without such a name is as in Python."""
        return _filled(self.template, self.fields, name_of)


def _filled(template: str, fields: Iterable[str | Setting], name_of: Callable[[Setting], str | None]) -> str:
    rest = iter(fields)

    def written(found: re.Match[str]) -> str:
        quote, name, value = found.groups()
        field = Setting(name, value or "") if name else next(rest)
        if isinstance(field, Message):
            field = field.named_by(name_of)
        if isinstance(field, Setting) and (named := name_of(field)) is not None:
            return named
        return f"{quote}{field}{quote}"

    return _PLACE.sub(written, template)


def joined(parts: Iterable[object], between: str = ", ") -> Message:
    """Messages, settings and texts as one message.

    >>> joined([Message("`{k}`"), Setting("method"), "age"])
    '`k`, method, age'
    """
    parts = list(parts)
    return Message(between.join("{}" for _ in parts), *parts)


class ShoalError(Exception):
    """Anything that shoal refuses, with the exit code of the command line."""

    exit_code = 1


class InputError(ShoalError, ValueError):
    """Bad input: `what` happened and its `cure`. Where they name parameters they are a `Message`."""

    exit_code = 2

    def __init__(self, what: str, cure: str | None = None) -> None:
        self.what = what
        self.cure = cure
        super().__init__(what if cure is None else f"{what}\n{cure}")

    @staticmethod
    def missing_columns(
        missing: Iterable[str], present: Iterable[str], where: str, elsewhere: str = ""
    ) -> MissingColumns:
        """Columns that are not there, each with its near names.

        >>> InputError.missing_columns(["agee"], ["age", "sex"], "people.csv").cure
        "Did you mean 'age' for 'agee'? The columns are: age, sex."
        """
        return MissingColumns(missing, present, where, elsewhere)


class PolicyNotMet(InputError):
    """No method that is allowed keeps the policy on this table: a refusal, where a release was asked for."""


class NotCovered(InputError):
    """Values without a leaf in a hierarchy, or records that a plan cannot release: the table that it was made from has
    no such ones."""


class MissingColumns(InputError, KeyError):
    """Columns that are named and not there: also a KeyError, as a missing key of a frame is."""

    def __init__(self, missing: Iterable[str], present: Iterable[str], where: str, elsewhere: str = "") -> None:
        self.columns, present = list(missing), list(present)
        what = Message("{} has no column{} {}.", where, "s" if len(self.columns) > 1 else "", quoted(self.columns))
        apart = [sign for sign in ";,\t|" for name in present if set(self.columns) <= set(name.split(sign))]
        if apart and len(present) == 1:
            sign = {"\t": "tab"}.get(apart[0], apart[0])
            super().__init__(what, Message("Its columns were not set apart: set `{delimiter}` to {}.", quoted([sign])))
            return
        near = [f"'{close[0]}' for '{name}'" for name in self.columns if (close := _closest(name, present))]
        shown = ", ".join(present[:40]) + (f" and {len(present) - 40:,} more" if len(present) > 40 else "")
        hint = f"Did you mean {', '.join(near)}? " if near else ""
        cure = f"{hint}The columns are: {shown}." + (f" {elsewhere}" if elsewhere else "")
        super().__init__(what, cure)

    def __str__(self) -> str:
        """The message as it is; a KeyError would show it in quotes."""
        return str(self.args[0])


def _closest(name: str, present: list[str]) -> list[str]:
    """One that is spelled alike but for capitals, else one that has the name as a word, else one that looks alike.

    >>> _closest("age", ["charge", "age_yrs"]), _closest("Age", ["age_yrs", "age"]), _closest("agee", ["charge", "age"])
    (['age_yrs'], ['age'], ['age'])
    """
    by_lower, asked = {other.lower(): other for other in reversed(present)}, name.lower()
    words = [found for found in by_lower if asked and asked in re.split(r"[^a-z0-9]+", found)]
    alike = [asked] if asked in by_lower else words[-1:] or get_close_matches(asked, by_lower, n=1, cutoff=0.6)
    return [by_lower[found] for found in alike]


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, for a message.

    >>> quoted(["age", "sex"])
    "'age', 'sex'"
    """
    return ", ".join(f"'{name}'" for name in names)


def as_names(given: Iterable[str] | str | None) -> list[str]:
    """Names of columns as a list; one name alone is a list of one.

    >>> as_names("age"), as_names(["age", "sex"]), as_names(None)
    (['age'], ['age', 'sex'], [])
    """
    if given is None:
        return []
    return [given] if isinstance(given, str) else [str(name) for name in given]


def check_choice(option: Setting | str, given: str, known: Iterable[str]) -> None:
    """Refuse what is not one of the known words."""
    known = list(known)
    if given not in known:
        raise InputError(Message("{} '{}' is not known.", option, given), f"Use one of {', '.join(known)}.")


def check_at_least(least: int, given: int, what: Setting | str) -> None:
    """Refuse a number that is too small."""
    if given < least:
        raise InputError(Message("{} is {}.", what, given), f"Use {least} or more.")
