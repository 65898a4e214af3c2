"""A column of persons to pseudonyms, by a key or by a table of random surrogates; collisions are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from shoal import progress
from shoal.engine import engine_of
from shoal.errors import InputError, ShoalError, check_choice
from shoal.keys import Key, key_or_new, path_of
from shoal.pseudonyms.digits import digits
from shoal.pseudonyms.keyed import FORMATS, UNKEYED, Method, check_method, keyed, texts_of
from shoal.pseudonyms.results import Pseudonymized
from shoal.pseudonyms.surrogates import extended, read_surrogates, write_private_table, write_surrogates
from shoal.reading import Options
from shoal.table import Column
from shoal.table.texts import check_have_texts
from shoal.vocabulary import PseudonymFormat
from shoal.writing import check_apart

_Maker = Callable[[list[bytes]], pl.Series]


def pseudonymize(
    source: Any,
    *,
    column: str,
    key: Key | bytes | str | Path | None = None,
    surrogates: str | Path | None = None,
    method: Method = "hmac-sha-256",
    format: PseudonymFormat = "hex",
    domain: str = "",
    rotate_to: Key | bytes | str | Path | None = None,
    mapping: str | Path | None = None,
    options: Options | None = None,
) -> Pseudonymized:
    """Replace the values of a column by pseudonyms: the same value, key and domain give the same pseudonym anywhere.

    pseudonym = HMAC-SHA-256(key, value) (or keyed BLAKE2b), written as `hex` (128 bits), `short` (80 bits, base32),
    `uuid`, or as `digits` (a keyed permutation of the numbers of a length). A key file that is not there is made. With
    `surrogates` a table of random words is read, extended and written instead. `rotate_to` gives the pseudonyms of a
    new key, and old and new in `pairs` (and in the file `mapping`). `shoal.release` writes the table.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"patient": ["A-7", "B-2", "A-7"]})
    >>> made = pseudonymize(visits, column="patient", key=bytes(range(32)), format="short")
    >>> made.distinct, made.collisions, made.frame["patient"].n_unique()
    (2, 0, 2)
    >>> made.frame["patient"][0] == made.frame["patient"][2]
    True
    """
    check_method(method)
    check_choice("format", format, FORMATS)
    _check_keys(key, surrogates, rotate_to, mapping, format != "hex" or bool(domain))
    files = {"key_file": path_of(key), "surrogates": surrogates, "new_key_file": path_of(rotate_to)}
    check_apart(input=source, **files, mapping=mapping)
    if mapping is not None and Path(mapping).exists():
        raise InputError(f"{mapping} exists already: mappings are never overwritten.", "Choose another name.")
    table = engine_of(source, options).rows(source, None, options, needed=[column], by_tuple=0).expanded()
    persons = table.select([column])[0]  # before a key is made for it
    check_have_texts([persons])
    pairs, created = None, False
    if surrogates is not None:
        made, distinct = _pseudonyms(persons, _by_surrogates(Path(surrogates)))
    else:
        assert key is not None
        secret, created = key_or_new(key, create=rotate_to is None)
        made, distinct = _pseudonyms(persons, _by_key(secret, method, format, domain, column))
    if rotate_to is not None:
        old = made
        made, _ = _pseudonyms(persons, _by_key(key_or_new(rotate_to)[0], method, format, domain, column))
        both = pl.DataFrame({"old": old, "new": made}).drop_nulls().unique()
        pairs = [(str(before), str(after)) for before, after in both.sort("old").iter_rows()]
    result = Pseudonymized(
        column=column,
        distinct=distinct,
        collisions=0,
        method=method if surrogates is None else "random",
        format=format,
        records=table.rows,
        key_file_created=created,
        mapping=None if mapping is None else str(mapping),
        table=table,
        pseudonyms=made,
        pairs=pairs,
    )
    if mapping is not None:
        write_private_table(Path(mapping), ["old", "new"], pairs or [])
    return result


def _check_keys(key: Any, surrogates: Any, rotate_to: Any, mapping: Any, has_options: bool) -> None:
    """A key or a table of surrogates, and for a rotation two keys."""
    if key is None and surrogates is None:
        raise InputError(UNKEYED, "Give a key file (made if it is not there), or a table of random surrogates.")
    if key is not None and surrogates is not None:
        raise InputError("Pseudonyms come from a key or from random surrogates, not from both.", "Give one of them.")
    if surrogates is not None and (rotate_to is not None or has_options):
        raise InputError(
            "Random surrogates have one form and no key: no format, domain or rotation.", "Leave those options out."
        )
    if rotate_to is not None and isinstance(key, (str, Path)) and not Path(key).exists():
        raise InputError(f"There is no key file {key} to rotate from.", "Name the key that is in use.")
    if mapping is not None and rotate_to is None:
        raise InputError(
            "A mapping needs a rotation: the old key, and the new one in rotate_to.", "Give rotate_to, or no mapping."
        )


def _by_key(key: Key, method: Method, form: PseudonymFormat, domain: str, name: str) -> _Maker:
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
            f"{collisions:,} pseudonyms would stand for two persons. Nothing was written; use the format hex."
        )
    if len(distinct) == len(texts):
        return made.extend_constant(None, 1), len(distinct)
    places = pl.DataFrame({"text": distinct, "made": made})
    found = pl.DataFrame({"text": texts}).join(places, on="text", how="left", maintain_order="left")["made"]
    return found.extend_constant(None, 1), len(distinct)
