"""Whole tables with the roles that a person who knows their code books would give, values made by code.

A table is a text, a column a line of it: header, acceptable roles (the first is what one would say), values, label.
Roles: I identifier, Q quasi-identifier, S sensitive, O other. Several letters: people who know the field disagree.

Values: `0-94` whole numbers, `01-56` numbers with their zeros, `m|f` one of these, `~30000` a skewed amount of which
a third is 0, `w:1-900` a number with decimals, `#9999AA` a code, `@seq` a running number, `@name`, `@date:2000-2020`,
`@prose`, `@city` and the like; `?0.4` after them: so much of it is missing.

The headers were written down from published code books from memory. No value is of a person.
"""

import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import labelled_makers as m
import polars as pl

ROLES = {"I": "identifier", "Q": "quasi-identifier", "S": "sensitive", "O": "other"}
ROWS = 300


@dataclass(frozen=True)
class LabelledColumn:
    """A header, the roles that are right for it, its values and what a code book says of it."""

    name: str
    roles: tuple[str, ...]
    values: pl.Series
    label: str | None


@dataclass(frozen=True)
class LabelledTable:
    """A table: its name, what sort of table it is, and its columns."""

    name: str
    group: str
    columns: tuple[LabelledColumn, ...]

    def frame(self) -> pl.DataFrame:
        """The table as it would be read."""
        return pl.DataFrame({column.name: column.values for column in self.columns})

    @property
    def labels(self) -> dict[str, str]:
        """What its code book says, where there is one."""
        return {column.name: column.label for column in self.columns if column.label}


def table(name: str, group: str, text: str) -> LabelledTable:
    """A table from its lines; parts of a line stand two blanks apart."""
    lines = [re.split(r"\s{2,}", line.strip(), maxsplit=3) for line in text.strip().splitlines()]
    columns = tuple(
        LabelledColumn(
            header,
            tuple(ROLES[letter] for letter in roles),
            _values(f"{name}/{header}", header, spec),
            label[0] if label else None,
        )
        for header, roles, spec, *label in lines
    )
    return LabelledTable(name, group, columns)


def _values(case: str, header: str, spec: str) -> pl.Series:
    source = random.Random(zlib.crc32(case.encode()))
    spec, _, missing = spec.partition("?")
    share = float(missing or 0)
    values = list(_maker(spec, source))
    return pl.Series(header, [None if source.random() < share else value for value in values], strict=False)


def _maker(spec: str, source: random.Random) -> Iterator[object]:
    """So many values as the tables have rows."""
    if spec == "@seq":
        start = source.randint(1, 5_000)
        return iter(range(start, start + ROWS))
    return (_one(spec, source) for _ in range(ROWS))


def _one(spec: str, source: random.Random) -> object:
    if "|" in spec:
        value = source.choice(spec.split("|"))
        return int(value) if all(re.fullmatch(r"-?\d+", part) for part in spec.split("|")) else value
    if found := re.fullmatch(r"(-?\d+)-(-?\d+)", spec):
        low, high = found.groups()
        number = source.randint(int(low), int(high))
        return f"{number:0{len(low)}d}" if low.startswith("0") and len(low) > 1 else number
    if spec.startswith("~"):
        return 0 if source.random() < 0.3 else int(float(spec[1:]) * source.lognormvariate(0, 0.8))
    if spec.startswith("w:"):
        low, high = spec[2:].split("-")
        return round(source.uniform(float(low), float(high)), 4)
    if spec.startswith("#"):
        return m.pattern(spec[1:])(source)
    return _of_people(spec, source)


def _of_people(spec: str, source: random.Random) -> object:
    word, _, rest = spec.partition(":")
    if word == "@date":
        first, last, *form = rest.split("-", 2)
        return m.day(int(first), int(last), form[0] if form else "%Y-%m-%d")(source)
    makers = {
        "@name": lambda: m.full_name(rest or "en")(source),
        "@given": lambda: m.given(rest or "en")(source),
        "@surname": lambda: m.surname(rest or "en")(source),
        "@city": lambda: m.city(rest or "en")(source),
        "@street": lambda: m.street(rest or "en")(source),
        "@email": lambda: m.email()(source),
        "@uuid": lambda: m.make_uuid(source),
        "@prose": lambda: m.prose(6, 30, rest.replace("_", " ") or "the claim was seen again and nothing new found")(
            source
        ),
    }
    return makers[word]()
