"""What shoal says when it cannot go on: what happened, and the cure. Never a value from the data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

# the exit code 128 + SIGPIPE: who read the standard output closed it, as `| head` does; files that were written stay
CLOSED_PIPE = 141


class ShoalError(Exception):
    """Anything that shoal refuses, with the exit code of the command line."""

    exit_code = 1


class InputError(ShoalError, ValueError):
    """Bad input: `what` happened and its `cure`; `settings` are the names of the parameters that would cure it.

    Messages name parameters as Python has them. A front end that calls them otherwise translates `settings`.
    """

    exit_code = 2
    # whether it is about what a file says, where settings are called as in Python by every front end
    in_a_file = False

    def __init__(self, what: str, cure: str | None = None, *, settings: Iterable[str] | str | None = None) -> None:
        self.what = what
        self.cure = cure
        self.settings = as_names(settings)
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


class MissingColumns(InputError, KeyError):
    """Columns that are named and not there: also a KeyError, as a missing key of a frame is."""

    def __init__(self, missing: Iterable[str], present: Iterable[str], where: str, elsewhere: str = "") -> None:
        self.columns, present = list(missing), list(present)
        near = [f"'{close[0]}' for '{name}'" for name in self.columns if (close := _closest(name, present))]
        shown = ", ".join(present[:40]) + (f" and {len(present) - 40:,} more" if len(present) > 40 else "")
        hint = f"Did you mean {', '.join(near)}? " if near else ""
        plural = "s" if len(self.columns) > 1 else ""
        cure = f"{hint}The columns are: {shown}." + (f" {elsewhere}" if elsewhere else "")
        super().__init__(f"{where} has no column{plural} {quoted(self.columns)}.", cure)

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


def check_choice(option: str, given: str, known: Iterable[str]) -> None:
    """Refuse what is not one of the known words."""
    known = list(known)
    if given not in known:
        raise InputError(f"{option} '{given}' is not known.", f"Use one of {', '.join(known)}.")


def check_at_least(least: int, given: int, what: str) -> None:
    """Refuse a number that is too small."""
    if given < least:
        raise InputError(f"{what} is {given}.", f"Use {least} or more.")
