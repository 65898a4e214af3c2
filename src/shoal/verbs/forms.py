"""Forms of options: how what is typed at the command line becomes a value of a request, and how a value is typed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from shoal.errors import InputError
from shoal.vocabulary import words_of


@dataclass(frozen=True)
class TypedForm:
    """How an option is typed: what stands for a value in the help, how a value is read, and how it is written.

    `repeated`: the option may be given several times, and `read` gets a list. `write` gives the texts behind the flag,
    one for each time.
    """

    metavar: str = ""
    repeated: bool = False
    read: Callable[[str, Any], Any] = lambda flag, typed: typed
    write: Callable[[Any], list[str]] = lambda value: [str(value)]

    def arguments(self, flag: str, value: Any) -> list[str]:
        """The words of a command that give the value."""
        on, _, off = flag.partition("/")
        if self in (SWITCH, OFF):
            return [on] if value is (self is SWITCH) else [off] if off else []
        return [word for text in self.write(value) for word in ((flag, text) if flag else (text,))]


def names_of(given: list[str] | None) -> list[str] | None:
    """Column names from `a,b` or repeated options; a name with a comma in it stands in quotes."""
    if given is None:
        return None
    try:
        names = [
            name
            for text in given
            for row in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
            for name in row
        ]
    except csv.Error:
        raise InputError(
            "The list of columns cannot be read.", "Write the names with commas between: age,sex,zip."
        ) from None
    if not any('"' in text for text in given):  # in quotes, spaces belong to the name
        names = [name.strip() for name in names]
    if not names or "" in names:
        raise InputError("A column name in the list is empty.", "Write the names with commas between: age,sex,zip.")
    return names


def in_one(names: Iterable[str]) -> str:
    """Names as one argument: commas between, quotes where a name needs them.

    >>> in_one(["age", "name"]), in_one(["a,b", " c"]), in_one([""])
    ('age,name', '"a,b"," c"', '""')
    """
    listed = list(names)
    odd = any(not name or name != name.strip() or set(name) & set(',"\r\n') for name in listed)
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL if odd else csv.QUOTE_NONE, lineterminator="").writerow(listed)
    return text.getvalue()


def _names(flag: str, typed: list[str]) -> list[str]:
    return names_of(typed) or []


def _pairs(flag: str, typed: list[str]) -> dict[str, str]:
    """Settings of columns from `COLUMN=VALUE,…`, each column once."""
    pairs = []
    for text in _names(flag, typed):
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"{flag} '{text}' is not COLUMN=VALUE.", f"Write {flag} age=…,zip=….")
        pairs.append((name.strip(), value.strip()))
    _each_once(flag, [name for name, _ in pairs])
    return dict(pairs)


def _each_once(flag: str, names: list[str]) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{flag} names column '{twice[0]}' twice.", "Name it once.")


def _roles(flag: str, typed: list[str]) -> dict[str, Any]:
    from shoal.vocabulary import Role

    return {name: one_of(f"{flag} {name}", role, Role) for name, role in _pairs(flag, typed).items()}


def one_of(flag: str, typed: str, vocabulary: Any) -> str:
    """A word of a vocabulary."""
    known = words_of(vocabulary)
    if typed not in known:
        raise InputError(f"{flag} '{typed}' is not known.", f"Use one of {', '.join(known)}.")
    return typed


def _hows(flag: str, typed: list[str]) -> dict[str, str]:
    """Per column one text from `COLUMN=HOW`, which may hold commas."""
    pairs = [text.partition("=") for text in typed]
    for text, (column, equals, how) in zip(typed, pairs, strict=True):
        if not equals or not column.strip() or not how.strip():
            raise InputError(
                f"{flag} '{text}' is not COLUMN=HOW.",
                f"Write {flag} and behind it a column, = and how: town=provinces.csv, or diagnoses='|'.",
            )
    _each_once(flag, [column.strip() for column, _, _ in pairs])
    return {column.strip(): how.strip() for column, _, how in pairs}


def _groups(flag: str, typed: list[str]) -> dict[str, list[str]]:
    """Groups of columns from `NAME=a,b`."""
    groups: dict[str, list[str]] = {}
    for text in typed:
        name, equals, columns = text.partition("=")
        if not equals or not name.strip() or name.strip() in groups:
            raise InputError(
                f"{flag} '{text}' is not a new NAME=COLUMNS.", f"Write {flag} census=age,sex,zip, each name once."
            )
        groups[name.strip()] = names_of([columns]) or []
    return groups


def _steps(flag: str, typed: list[str]) -> dict[str, list[str]]:
    return {name: names_of([text]) or [] for name, text in _hows(flag, typed).items()}


def _together(flag: str, typed: list[str]) -> dict[tuple[str, ...], str]:
    """Columns that belong together, from `a,b=VALUE`."""
    together: dict[tuple[str, ...], str] = {}
    for text in typed:
        names, equals, value = text.rpartition("=")
        if not equals or not names.strip() or not value.strip():
            raise InputError(f"{flag} '{text}' is not A,B=VALUE.", f"Write {flag} income,savings=0.1.")
        columns = tuple(names_of([names]) or ())
        _each_once(flag, list(columns))
        together[columns] = value.strip()
    return together


def _sums(flag: str, typed: list[str]) -> dict[str, list[str]]:
    """Columns, with others each, from `COLUMN` or `COLUMN=A+B`."""
    pairs = [text.partition("=") for text in typed]
    names = [name.strip() for name, _, _ in pairs]
    _each_once(flag, names)
    sums = {}
    for name, (_, equals, others) in zip(names, pairs, strict=True):
        kept = [other.strip() for other in others.split("+")] if equals else []
        if not name or "" in kept:
            raise InputError(f"{flag} names no column.", f"Write {flag} income or {flag} income=age+hours.")
        sums[name] = kept
    return sums


def _models(flag: str, typed: list[str]) -> list[Any]:
    """Models from `NAME PARAMETER=VALUE …`, checked as a policy checks them."""
    from shoal.policy import as_policy
    from shoal.policy.loading import PolicyError

    models: list[Any] = []
    for text in typed:
        name, *parameters = text.replace(",", " ").split() or [""]
        entries: dict[str, Any] = {"model": name}
        for parameter in parameters:
            key, equals, value = parameter.partition("=")
            if not equals:
                raise InputError(
                    f"{flag} '{text}' is not NAME PARAMETER=VALUE.", "Write 'l-diversity l=3 sensitive=x'."
                )
            entries[key] = _number_or_text(value)
        try:
            models += as_policy({"models": [entries]}).models
        except PolicyError as error:
            problems = "; ".join(problem for _, problem in error.problems)
            problems = problems.replace("models.0.", "").removeprefix("models.0: ")
            end = "" if problems.endswith("?") else "."
            raise InputError(f"{flag} '{text}': {problems}{end}", "See docs/models.md.") from None
    return models


def _number_or_text(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def types_of(flag: str, typed: list[str]) -> dict[str, Any]:
    """Types of columns from `COLUMN=TYPE SETTING=VALUE …`, checked as a policy checks them.

    >>> types_of("--type", ["seen=date format='%d %b %Y'", "sex=nominal map=F:female,M:male"])["sex"].map
    {'F': 'female', 'M': 'male'}
    """
    import shlex

    from shoal.storage.column_type import as_column_type

    types: dict[str, Any] = {}
    for text in typed:
        column, equals, rest = text.partition("=")
        try:
            word, *parts = shlex.split(rest)
            settings: list[str] = []
            for part in parts:  # a blank may stand in a value: format=%-d %B %Y
                if settings and "=" not in part:
                    settings[-1] += f" {part}"
                else:
                    settings.append(part)
        except ValueError:
            word, settings = "", []
        pairs = [setting.partition("=") for setting in settings]
        if not equals or not word or column.strip() in ("", *types) or not all(sign for _, sign, _ in pairs):
            raise InputError(
                f"{flag} '{text}' is not a new COLUMN=TYPE.",
                f"Write {flag} 'seen=date format=%m/%d/%Y', each column once.",
            )
        values: dict[str, Any] = {name: value for name, _, value in pairs}
        for name in ("order", "missing"):
            if name in values:
                values[name] = names_of([values[name]])
        if "map" in values:
            entries = [entry.partition(":") for entry in names_of([values["map"]]) or []]
            values["map"] = {old: new or None for old, _, new in entries}
        types[column.strip()] = as_column_type({"type": word, **values} if values else word, column.strip())
    return types


def _numbers(flag: str, typed: str) -> Any:
    from shoal.policy.amounts import parse_targets

    return parse_targets(typed, flag.lstrip("-"))


def _figures(flag: str, typed: str) -> list[int | float | str]:
    figures = [_number_or_text(text.strip()) for text in typed.split(",")]
    if any(isinstance(figure, str) for figure in figures):
        raise InputError(f"{flag} '{typed}' is not a list of numbers.", f"Write {flag} 2,5, for example.")
    return figures


def _list_or_one(flag: str, typed: str) -> Any:
    names = names_of([typed]) or []
    return names[0] if len(names) == 1 else names


def _name(name: str) -> str:
    if "=" in name:
        raise InputError("A name with an equals sign cannot be typed as COLUMN=VALUE.", "Use the Python of this step.")
    return name


def _write_pairs(value: Mapping[str, Any]) -> list[str]:
    return [in_one(f"{_name(name)}={text}" for name, text in value.items())]


def _write_groups(value: Mapping[str, Iterable[str]]) -> list[str]:
    return [f"{_name(name)}={in_one(names)}" for name, names in value.items()]


TEXT = TypedForm("TEXT")
FILE = TypedForm("FILE")
WHOLE = TypedForm("N")
NUMBER = TypedForm("X")
SWITCH = TypedForm()
# a switch that turns off what is on by default
OFF = TypedForm()
COLUMNS = TypedForm("COLUMNS", True, _names, lambda value: [in_one([value] if isinstance(value, str) else value)])
REPEATED = TypedForm("TEXT", True, lambda flag, typed: list(typed), list)
LISTS = TypedForm(
    "VALUES", True, lambda flag, typed: [names_of([text]) for text in typed], lambda value: [*map(in_one, value)]
)
NUMBERS = TypedForm("N,...", False, _numbers, lambda value: [",".join(map(str, value))])
FIGURES = TypedForm("X,...", False, _figures, lambda value: [",".join(map(str, value))])
LIST_OR_ONE = TypedForm(
    "X", False, _list_or_one, lambda value: [str(value) if not isinstance(value, list) else in_one(value)]
)
PAIRS = TypedForm("COLUMN=VALUE,...", True, _pairs, _write_pairs)
ROLES = TypedForm("COLUMN=ROLE,...", True, _roles, _write_pairs)
HOWS = TypedForm("COLUMN=HOW", True, _hows, lambda value: [f"{_name(name)}={how}" for name, how in value.items()])
GROUPS = TypedForm("NAME=COLUMNS", True, _groups, _write_groups)
STEPS = TypedForm("COLUMN=STEPS", True, _steps, _write_groups)
SUMS = TypedForm(
    "COLUMN[=A+B]",
    True,
    _sums,
    lambda value: [f"{_name(name)}{'=' if others else ''}{'+'.join(others)}" for name, others in value.items()],
)
TOGETHER = TypedForm(
    "A,B,...=SHARE", True, _together, lambda value: [f"{in_one(names)}={share}" for names, share in value.items()]
)
MODELS = TypedForm("NAME PARAMETER=VALUE...", True, _models)
TYPES = TypedForm("COLUMN=TYPE", True, types_of)


def word_of(vocabulary: Any) -> TypedForm:
    """One word of a vocabulary."""
    return TypedForm("|".join(words_of(vocabulary)), False, lambda flag, typed: one_of(flag, typed, vocabulary))


def form_of(kind: Any) -> TypedForm:
    """The form that follows from a type."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    parts = tuple(part for part in parts if part is not type(None))
    if len(parts) > 1 and Path not in parts and Sequence[str] not in parts:
        return TEXT  # a number or a text with a meaning of its own, such as 5%
    (part, *_) = parts
    if Path in parts:
        return FILE
    if part in (bool, int, float):
        return {bool: SWITCH, int: WHOLE, float: NUMBER}[part]
    origin = get_origin(part)
    if origin is Literal:
        return word_of(part)
    if origin is not None and issubclass(origin, Mapping):
        return PAIRS
    return COLUMNS if origin is not None else TEXT
