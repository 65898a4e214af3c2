"""A column of persons to pseudonyms, by a key or by a table of random surrogates; collisions are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from shoal import progress
from shoal.errors import InputError, ShoalError, check_choice
from shoal.keys import Key, as_key
from shoal.pseudonyms.digits import digits
from shoal.pseudonyms.keyed import FORMATS, UNKEYED, Format, Method, check_method, keyed, texts_of
from shoal.pseudonyms.surrogates import extended, read_surrogates, write_surrogates
from shoal.reading import Options, read
from shoal.reading.frames import to_native
from shoal.table import Column, Table

_Maker = Callable[[list[bytes]], pl.Series]


@dataclass(frozen=True)
class Pseudonymized:
    """A table whose persons have pseudonyms; `distinct` counts the persons, `mapping` is old and new of a rotation."""

    table: Table = field(repr=False)
    column: str
    pseudonyms: pl.Series = field(repr=False)
    distinct: int
    collisions: int
    mapping: list[tuple[str, str]] | None = field(default=None, repr=False)

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The table with its pseudonyms."""
        series = [
            self.pseudonyms.gather(column.codes).alias(name) if name == self.column else column.decode()
            for name, column in self.table.columns.items()
        ]
        return pl.DataFrame(series)

    @property
    def frame(self) -> Any:
        """The same as the kind of frame that came in."""
        return to_native(self.polars, self.table.native, {self.column})


def pseudonymize(
    source: Any,
    column: str,
    *,
    key: Key | bytes | str | Path | None = None,
    surrogates: str | Path | None = None,
    method: Method = "hmac-sha-256",
    format: Format = "hex",
    domain: str = "",
    rotate_to: Key | bytes | str | Path | None = None,
    options: Options | None = None,
) -> Pseudonymized:
    """Replace the values of a column by pseudonyms: the same value, key and domain give the same pseudonym anywhere.

    pseudonym = HMAC-SHA-256(key, value) (or keyed BLAKE2b), written as `hex` (128 bits), `short` (80 bits, base32),
    `uuid`, or as `digits` (a keyed permutation of the numbers of a length). With `surrogates` a table of random words
    is read, extended and written instead. `rotate_to` gives the pseudonyms of a new key, and old and new in `mapping`.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"patient": ["A-7", "B-2", "A-7"]})
    >>> made = pseudonymize(visits, "patient", key=bytes(range(32)), format="short")
    >>> made.distinct, made.collisions, made.frame["patient"].n_unique()
    (2, 0, 2)
    >>> made.frame["patient"][0] == made.frame["patient"][2]
    True
    """
    check_method(method)
    check_choice("format", format, FORMATS)
    if (key is None) == (surrogates is None):
        raise InputError(
            UNKEYED if key is None else "A key and a surrogate table exclude each other.",
            "Give --key-file key.bin (made if it is not there), or --surrogates table.csv.",
        )
    if surrogates is not None and (rotate_to is not None or format != "hex" or domain):
        raise InputError(
            "Random surrogates have one form and no key: no format, domain or rotation.", "Leave those options out."
        )
    table = read(source, None, options)
    persons = table.select([column])[0]
    if surrogates is not None:
        made, distinct = _pseudonyms(persons, _by_surrogates(Path(surrogates)))
        return Pseudonymized(table, column, made, distinct, 0)
    assert key is not None
    made, distinct = _pseudonyms(persons, _by_key(as_key(key), method, format, domain, column))
    mapping = None
    if rotate_to is not None:
        old = made
        made, _ = _pseudonyms(persons, _by_key(as_key(rotate_to), method, format, domain, column))
        pairs = pl.DataFrame({"old": old, "new": made}).drop_nulls().unique()
        mapping = [(str(before), str(after)) for before, after in pairs.sort("old").iter_rows()]
    return Pseudonymized(table, column, made, distinct, 0, mapping)


def _by_key(key: Key, method: Method, form: Format, domain: str, name: str) -> _Maker:
    secret = key.secret_for(f"pseudonyms {domain}")
    if form == "digits":
        return lambda values: digits(values, secret, method, name)
    return lambda values: keyed(values, secret, method, form)


def _by_surrogates(path: Path) -> _Maker:
    def make(values: list[bytes]) -> pl.Series:
        known = read_surrogates(path)
        table = extended(known, values)
        if len(table) > len(known):
            write_surrogates(path, table)
        return pl.Series([table[value.decode()] for value in values], dtype=pl.String)

    return make


def _pseudonyms(persons: Column, make: _Maker) -> tuple[pl.Series, int]:
    """A pseudonym for each value of the dictionary (and null for null), and how many persons there are."""
    progress.report("making pseudonyms", 0)
    texts = texts_of(persons.values)
    filled = texts.filter(texts.bin.size() > 0)
    distinct = filled if filled.n_unique() == len(filled) else filled.unique(maintain_order=True)
    made = make(distinct.to_list())
    collisions = len(distinct) - made.n_unique()
    if collisions:
        raise ShoalError(
            f"{collisions:,} pseudonyms would stand for two persons. Nothing was written; use --format hex."
        )
    if len(distinct) == len(texts):
        return made.extend_constant(None, 1), len(distinct)
    places = pl.DataFrame({"text": distinct, "made": made})
    found = pl.DataFrame({"text": texts}).join(places, on="text", how="left", maintain_order="left")["made"]
    return found.extend_constant(None, 1), len(distinct)
