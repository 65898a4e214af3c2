"""A column of persons to pseudonyms, by a key or by a table of random surrogates; collisions are refused."""

from __future__ import annotations

import csv
import os
import secrets
from base64 import b32encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.undecided import identifiers_beside
from shoal.engine import engine_of
from shoal.errors import InputError, Message, Setting, ShoalError, check_choice
from shoal.keys import SecretKey, key_or_new, path_of
from shoal.methods.pseudonyms.keyed import FORMATS, UNKEYED, check_method, digester, keyed, texts_of
from shoal.methods.pseudonyms.results import Pseudonymized
from shoal.storage import Array, Column
from shoal.storage.texts import check_have_texts
from shoal.storage.writing import check_apart
from shoal.systems.files import others_may, replace
from shoal.verbs.base import takes
from shoal.verbs.personal import PseudonymizeRequest
from shoal.vocabulary import PseudonymFormat
from shoal.vocabulary import PseudonymMethod as Method

# Pseudonyms that are digits again, as many as before: a keyed permutation of all numbers of a length.
#
# A Feistel network over decimal digits in the manner of FF1 (NIST SP 800-38G), with HMAC-SHA-256 as its round function:
# one-to-one, so two persons never share a pseudonym, and undone by the key only. The standard asks for a million
# possible values at least, so shorter numbers are refused.


ROUNDS = 10
FEWEST, MOST = 6, 18


def digits(values: list[bytes], secret: bytes, method: Method, name: str = "column") -> pl.Series:
    """A pseudonym of the same length for each number.

    >>> made = digits([b"000001", b"000002"], b"k" * 32, "blake2b")
    >>> [len(text) for text in made], made[0] != made[1], all(text.isdecimal() for text in made)
    ([6, 6], True, True)
    """
    texts = pl.Series(values, dtype=pl.Binary).cast(pl.String)
    if not texts.str.contains(rf"^[0-9]{{{FEWEST},{MOST}}}$").all():
        raise InputError(
            f"Column '{name}' holds values that are not {FEWEST} to {MOST} digits, so none of their form can be made.",
            Message("Use {format='short'}, which fits every value."),
        )
    lengths = texts.str.len_bytes().to_numpy()
    numbers = texts.cast(pl.Int64).to_numpy()
    made = np.empty(len(numbers), np.int64)
    for length in np.unique(lengths).tolist():
        rows = lengths == length
        made[rows] = permuted(numbers[rows], length, secret, method)
    out = pl.DataFrame({"made": made, "length": lengths.astype(np.int64)})
    return out.select(pl.col("made").cast(pl.String).str.pad_start(pl.col("length"), "0")).to_series()


def permuted(numbers: Array, length: int, secret: bytes, method: Method) -> Array:
    """Numbers below 10^length, each to another, one-to-one.

    >>> sorted(set(permuted(np.arange(1000), 6, b"k" * 32, "blake2b").tolist())) != list(range(1000))
    True
    """
    left_digits = length // 2
    sizes = (10**left_digits, 10 ** (length - left_digits))
    left, right = numbers // sizes[1], numbers % sizes[1]
    for turn in range(ROUNDS):
        # the sides change places: the left one has the size of the turn
        size = sizes[turn % 2]
        left, right = right, (left + _round(right, turn, length, secret, method)) % size
    # after an even number of turns both have their first sizes again
    return np.asarray(left * sizes[1] + right)


def _round(halves: Array, turn: int, length: int, secret: bytes, method: Method) -> Array:
    """A keyed number for each half; each distinct half is hashed once."""
    distinct, where = np.unique(halves, return_inverse=True)
    digest, lead = digester(secret, method, 8), f"digits {length} {turn} ".encode()
    hashed = b"".join([digest(lead + b"%d" % half) for half in distinct.tolist()])
    return np.asarray((np.frombuffer(hashed, ">u8") >> np.uint64(1)).astype(np.int64)[where] % 10**18)


# Random surrogates: words that nothing computes, kept in a table apart (mode 0600) that grows file by file.


_HEADER = ["value", "pseudonym"]
# 80 bits: among 4 million persons two alike once in 10^11 tables, and then one more is drawn
_BYTES = 10


def read_surrogates(path: Path) -> dict[str, str]:
    """The table as it is; empty where there is none yet."""
    if not path.exists():
        return {}
    cure = "Name the table that an earlier run wrote, or a file that is not there yet."
    if others_may(path.stat().st_mode):
        raise InputError(f"Surrogate table {path} can be read by others.", f"Run chmod 600 {path}.")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error, OSError):
        raise InputError(f"{path} is no surrogate table.", cure) from None
    if not rows or rows[0] != _HEADER or any(len(row) != 2 for row in rows):
        raise InputError(f"{path} is no surrogate table.", cure)
    table = dict(rows[1:])
    if len(table) != len(rows) - 1 or len(set(table.values())) != len(table):
        raise InputError(f"{path} names a value or a pseudonym twice.", "Take the table as an earlier run wrote it.")
    return table


def extended(table: dict[str, str], values: list[bytes]) -> dict[str, str]:
    """The table with a random word for every value that has none yet.

    >>> first = extended({}, [b"7"])
    >>> extended(first, [b"7", b"8"])["7"] == first["7"]
    True
    """
    table = dict(table)
    taken = set(table.values())
    for value in values:
        text = value.decode()
        if text not in table:
            while (word := b32encode(secrets.token_bytes(_BYTES)).decode().lower()) in taken:
                pass
            table[text] = word
            taken.add(word)
    return table


def write_private_table(path: Path, header: list[str], rows: list[tuple[str, str]]) -> None:
    """A table for its owner only (mode 0600 from its first byte on), whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
            file.flush()
            os.fsync(file.fileno())
        replace(draft, path)
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.", "Nothing was done.") from None
    finally:
        draft.unlink(missing_ok=True)


def write_surrogates(path: Path, table: dict[str, str]) -> None:
    """Write the whole table in the order of the words, which says nothing about the order of the persons."""
    write_private_table(path, _HEADER, sorted(table.items(), key=lambda entry: entry[1]))


_Maker = Callable[[list[bytes]], pl.Series]


@takes(PseudonymizeRequest)
def pseudonymize(source: Any, asked: PseudonymizeRequest) -> Pseudonymized:
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
    check_method(asked.method)
    check_choice(Setting("format"), asked.format, FORMATS)
    _check_keys(
        asked.key, asked.surrogates, asked.rotate_to, asked.mapping, asked.format != "hex" or bool(asked.domain)
    )
    files = {"key_file": path_of(asked.key), "surrogates": asked.surrogates, "new_key_file": path_of(asked.rotate_to)}
    check_apart(input=source, **files, mapping=asked.mapping)
    if asked.mapping is not None and Path(asked.mapping).exists():
        raise InputError(f"{asked.mapping} exists already: mappings are never overwritten.", "Choose another name.")
    table = (
        engine_of(source, asked.options).rows(source, None, asked.options, needed=[asked.column], by_tuple=0).expanded()
    )
    persons = table.select([asked.column])[0]  # before a key is made for it
    check_have_texts([persons])
    pairs, created = None, False
    if asked.surrogates is not None:
        made, distinct = _pseudonyms(persons, _by_surrogates(Path(asked.surrogates)))
    else:
        assert asked.key is not None
        secret, created = key_or_new(asked.key, create=asked.rotate_to is None)
        made, distinct = _pseudonyms(persons, _by_key(secret, asked.method, asked.format, asked.domain, asked.column))
    if asked.rotate_to is not None:
        old = made
        made, _ = _pseudonyms(
            persons, _by_key(key_or_new(asked.rotate_to)[0], asked.method, asked.format, asked.domain, asked.column)
        )
        both = pl.DataFrame({"old": old, "new": made}).drop_nulls().unique()
        pairs = [(str(before), str(after)) for before, after in both.sort("old").iter_rows()]
    result = Pseudonymized(
        column=asked.column,
        distinct=distinct,
        collisions=0,
        method=asked.method if asked.surrogates is None else "random",
        format=asked.format,
        records=table.rows,
        key_file_created=created,
        mapping=None if asked.mapping is None else str(asked.mapping),
        identifiers_beside=identifiers_beside(table, [asked.column]),
        table=table,
        pseudonyms=made,
        pairs=pairs,
    )
    if asked.mapping is not None:
        write_private_table(Path(asked.mapping), ["old", "new"], pairs or [])
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
            Message("A mapping needs a rotation: the old key, and the new one in {rotate_to}."),
            Message("Give {rotate_to}, or no mapping."),
        )


def _by_key(key: SecretKey, method: Method, form: PseudonymFormat, domain: str, name: str) -> _Maker:
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
    pseudonyms = pl.DataFrame({"text": texts}).join(places, on="text", how="left", maintain_order="left")["made"]
    return pseudonyms.extend_constant(None, 1), len(distinct)
