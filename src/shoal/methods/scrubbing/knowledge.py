"""What a table knows of the people whose notes it holds: their own identifiers, and those of relatives and doctors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.identifiers import DECIDED, ColumnView, Finding, find_kinds
from shoal.storage import Array, Column, Table
from shoal.storage.texts import texts_of
from shoal.text.base import TextKind
from shoal.text.known import KnownSets, known_sets
from shoal.text.known_values import KnownValue

# the kind of a column as `shoal profile` finds it -> the kind that its values have inside a note
TEXT_KINDS_OF: dict[str, TextKind] = {
    "name": "name", "date": "date", "date-of-birth": "date", "phone": "phone", "fax": "fax", "email": "email",
    "street-address": "address", "postal-code": "postal_code", "geography": "place", "national-id": "national_id",
    "medical-record-number": "record_number", "health-plan-number": "health_plan_number", "iban": "account_number",
    "account-number": "account_number", "payment-card": "account_number", "licence-number": "licence_number",
    "vehicle-number": "vehicle_number", "device-number": "device_number", "mac-address": "device_number", "url": "url",
    "ip-address": "ip", "username": "username", "unique-code": "other_number", "uuid": "other_number",
    "hash": "other_number",
}  # fmt: skip
_HINT = 0.3
ID, KNOWN = "id", "known"


@dataclass(frozen=True, repr=False)
class PersonKnowledge:
    """Whose note each row is (a number per person), and what is known of each person."""

    persons: Array
    known: list[frozenset[KnownValue]]

    def sets(self, texts: Iterable[str | None]) -> KnownSets:
        """What is looked for in the notes of each person."""
        return known_sets(self.known, texts)


def kinds_of(column: Column) -> list[Finding]:
    """The kinds of data that a column seems to hold."""
    counts = np.bincount(column.codes, minlength=len(column.values))[: len(column.values)]
    return find_kinds(ColumnView(column.name, column.values, counts, len(column.codes))) if len(counts) else []


def knowledge_of(
    table: Table, known: Sequence[str], person: str | None, more: Mapping[str, Sequence[KnownValue]] | None = None
) -> PersonKnowledge:
    """What the known columns, and a file of known values by `id`, say of each person; all rows of a person share it."""
    persons = _persons(table, person)
    values_of_person: list[set[KnownValue]] = [set() for _ in range(int(persons.max()) + 1)]
    for column in table.select(known):
        _add(values_of_person, persons, column, text_kind_of(column))
    if more is not None:
        ids = table.select([ID])[0]
        texts = texts_of(ids.values).to_list()
        if more and not any(text in more for text in texts):
            raise InputError(
                Message("None of the ids of {known_from} belongs to a row: nothing of it could be looked for."),
                f"Give the values of this table, with its ids as its column '{ID}' writes them.",
            )
        by_code = [more.get(text, ()) for text in texts]
        for who, code in _pairs(persons, ids):
            values_of_person[who].update(by_code[code])
    return PersonKnowledge(persons, [frozenset(values) for values in values_of_person])


def _persons(table: Table, person: str | None) -> Array:
    if person is None:
        return np.arange(table.rows)
    whose = table.select([person])[0]
    if whose.nulls:
        raise InputError(
            f"Person column '{person}' is empty in {whose.nulls:,} rows: whose notes are they?",
            Message("Fill it, or leave out `{person}`: each row is then a person of its own."),
        )
    return whose.codes.astype(np.int64)


def text_kind_of(column: Column) -> TextKind | None:
    """The kind of a known column where it is decided or hinted at; values of others are judged by their own form."""
    findings = [finding for finding in kinds_of(column) if finding.kind in TEXT_KINDS_OF]
    if not findings or findings[0].confidence < _HINT:
        return "date" if column.values.dtype in (pl.Date, pl.Datetime) else None
    found = TEXT_KINDS_OF[findings[0].kind]
    return None if found == "other_number" and findings[0].confidence < DECIDED else found


def _pairs(persons: Array, column: Column) -> list[tuple[int, int]]:
    """Each person with each value of theirs, once."""
    there = ~column.is_null()
    frame = pl.DataFrame({"who": persons[there], "code": column.codes[there].astype(np.int64)}).unique()
    return list(zip(frame["who"].to_list(), frame["code"].to_list(), strict=True))


def _add(found: list[set[KnownValue]], persons: Array, column: Column, kind: TextKind | None) -> None:
    texts = texts_of(column.values).to_list()
    values = [KnownValue(str(text), kind) for text in texts]
    for who, code in _pairs(persons, column):
        if values[code].text.strip():
            found[who].add(values[code])


KnownFrom = str | Path | Iterable[Mapping[str, Any]]


def read_known(given: KnownFrom) -> dict[str, list[KnownValue]]:
    """Known values by `id`, from a file of JSON lines `{"id": …, "known": [values]}` or from such mappings.

    >>> sorted(read_known([{"id": 7, "known": ["Rose Brown"]}]))
    ['7']
    """
    values_by_person: dict[str, list[KnownValue]] = {}
    for number, entry in enumerate(_lines(given) if isinstance(given, (str, Path)) else given, 1):
        values = entry.get(KNOWN) if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or entry.get(ID) is None or not isinstance(values, list):
            raise InputError(
                Message("Entry {} of {known_from} has no `id` with a list `known`.", f"{number:,}"),
                'Write one object per line: {"id": "7", "known": ["Ann Example", "1980-12-31"]}.',
            )
        if not all(isinstance(value, (str, int, float)) and not isinstance(value, bool) for value in values):
            raise InputError(
                Message("Entry {} of {known_from} has a value that is not text.", f"{number:,}"), "Write texts."
            )
        values_by_person.setdefault(str(entry[ID]), []).extend(
            KnownValue(str(value)) for value in values if str(value).strip()
        )
    return values_by_person


def _lines(path: str | Path) -> Iterator[Any]:
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            for line in file:
                if line.strip():
                    yield json.loads(line)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}.", "Check it."
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON lines.", "Write one object per line.") from None
