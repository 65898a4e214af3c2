"""A column of persons to pseudonyms, by a key or by a table of random surrogates; collisions are refused."""

from __future__ import annotations

import csv
import os
import secrets
from base64 import b32encode
from collections.abc import Callable
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.undecided import identifiers_beside
from shoal.engine import engine_of
from shoal.errors import InputError, Message, Setting, ShoalError, check_choice
from shoal.keys import SecretKey, key_or_new, path_of
from shoal.methods.pseudonyms.results import Pseudonymized
from shoal.storage import Array, Column
from shoal.storage.texts import check_have_texts
from shoal.storage.writing import check_apart
from shoal.systems.files import others_may, replace
from shoal.verbs.base import takes
from shoal.verbs.changing import PseudonymizeRequest
from shoal.vocabulary import PseudonymFormat
from shoal.vocabulary import PseudonymMethod as Method

# Keyed pseudonyms: HMAC-SHA-256 or keyed BLAKE2b of the value, written as hex, short base32 or UUID.
#
# A hash without a key is refused: whoever can list the possible values hashes them all and reads the table.

METHODS = ("hmac-sha-256", "blake2b")
FORMATS = ("hex", "short", "uuid", "digits")
# bytes of the digest that each way of writing shows
_BYTES = {"hex": 16, "short": 10, "uuid": 16}
# what a pseudonym in the form `short` looks like
PSEUDONYM = "^[a-z2-7]{16}$"
_STEP = 1 << 18

UNKEYED = (
    "A hash without a key is no pseudonym: there are at most 1,000,000,000 social security numbers, one core hashes "
    "them all in about a quarter of an hour, a graphics card in a second, and then every row has its name back."
)


def check_method(method: str) -> None:
    """Refuse unkeyed hashes with the reason."""
    if method.lower().replace("-", "").replace("_", "") in (
        "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3", "sha3256", "blake3", "crc32", "xxhash",
    ):  # fmt: skip
        raise InputError(UNKEYED, Message("Use a key: {} {key='key.bin'}.", Setting("method", repr(METHODS[0]))))
    check_choice(Setting("method"), method, METHODS)


def digester(secret: bytes, method: Method, size: int) -> Callable[[bytes], bytes]:
    """A function from a value to the first `size` bytes of its keyed hash.

    >>> import hmac
    >>> digester(b"k" * 32, "hmac-sha-256", 4)(b"7") == hmac.digest(b"k" * 32, b"7", "sha256")[:4]
    True
    """
    if method == "blake2b":
        return lambda value: blake2b(value, key=secret, digest_size=size).digest()
    # HMAC as RFC 2104 writes it, the two keyed states made once: H(key ^ outer || H(key ^ inner || value))
    key = secret.ljust(sha256().block_size, b"\0")
    inner, outer = (sha256(bytes(byte ^ pad for byte in key)).copy for pad in (0x36, 0x5C))

    def digest(value: bytes) -> bytes:
        first, second = inner(), outer()
        first.update(value)
        second.update(first.digest())
        return second.digest()[:size]

    return digest


def keyed(values: list[bytes], secret: bytes, method: Method, form: PseudonymFormat) -> pl.Series:
    """A pseudonym for each value.

    >>> import hmac
    >>> keyed([b"7"], b"k" * 32, "hmac-sha-256", "hex")[0] == hmac.digest(b"k" * 32, b"7", "sha256")[:16].hex()
    True
    """
    digest, write = digester(secret, method, _BYTES[form]), _WRITERS[form]
    found: list[pl.Series] = []
    for start in range(0, len(values), _STEP):
        progress.report("making pseudonyms", start, len(values))
        digests = b"".join([digest(value) for value in values[start : start + _STEP]])
        found.append(write(np.frombuffer(digests, np.uint8).reshape(-1, _BYTES[form])))
    return pl.concat(found) if found else pl.Series([], dtype=pl.String)


def _texts(signs: Array) -> pl.Series:
    """Rows of ASCII signs as texts."""
    return pl.Series(np.ascontiguousarray(signs).view(f"S{signs.shape[1]}").ravel(), dtype=pl.Binary).cast(pl.String)


def _hex(digests: Array) -> pl.Series:
    signs = np.frombuffer(b"0123456789abcdef", np.uint8)
    return _texts(signs[np.stack([digests >> 4, digests & 15], axis=2)].reshape(len(digests), -1))


def _short(digests: Array) -> pl.Series:
    """Base32 in small letters: five bits a sign."""
    bits = np.unpackbits(digests, axis=1).reshape(len(digests), -1, 5)
    return _texts(_BASE32[bits @ np.array([16, 8, 4, 2, 1], np.uint8)])


def _uuid(digests: Array) -> pl.Series:
    """Version 8, made for hashes (RFC 9562)."""
    digests = digests.copy()
    digests[:, 6] = digests[:, 6] & 0x0F | 0x80
    digests[:, 8] = digests[:, 8] & 0x3F | 0x80
    return _hex(digests).str.replace(r"^(.{8})(.{4})(.{4})(.{4})", "${1}-${2}-${3}-${4}-")


_BASE32 = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", np.uint8)
_WRITERS: dict[str, Callable[[Array], pl.Series]] = {"hex": _hex, "short": _short, "uuid": _uuid}


def texts_of(values: pl.Series) -> pl.Series:
    """Values in the one form in which a key sees them, so that a person is the same in every file.

    Letters composed, no outer blanks, whole numbers without decimals, whatever the type of the column: `7`, `7.0`,
    `"7.0"` and `" 7"` are one person, `007` is another.

    >>> texts_of(pl.Series([" A-7", "A-7"])).to_list(), texts_of(pl.Series(["7.0", "007", "7.50"])).to_list()
    ([b'A-7', b'A-7'], [b'7', b'007', b'7.50'])
    >>> texts_of(pl.Series([7.0])).to_list()
    [b'7']
    """
    if values.dtype.is_float():
        whole = (values == values.floor()) & (values.abs() < 2**53)
        numbers = values.cast(pl.Int64, strict=False).cast(pl.String)
        values = numbers.zip_with(whole, values.cast(pl.String))
    elif values.dtype == pl.Binary:
        return values
    texts = values.cast(pl.String).str.strip_chars().str.normalize("NFC")
    return texts.str.replace(r"^(-?(?:0|[1-9][0-9]*))\.0+$", "${1}").cast(pl.Binary)


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
    left, right, digest = numbers // sizes[1], numbers % sizes[1], digester(secret, method, 8)
    for turn in range(ROUNDS):
        # the sides change places: the left one has the size of the turn
        size = sizes[turn % 2]
        # a keyed number for each half; each distinct half is hashed once
        distinct, where = np.unique(right, return_inverse=True)
        lead = f"digits {length} {turn} ".encode()
        hashed = np.frombuffer(b"".join([digest(lead + b"%d" % half) for half in distinct.tolist()]), ">u8")
        added = (hashed >> np.uint64(1)).astype(np.int64)[where] % 10**18
        left, right = right, (left + added) % size
    # after an even number of turns both have their first sizes again
    return np.asarray(left * sizes[1] + right)


# Random surrogates: words that nothing computes, kept in a table apart (mode 0600) that grows file by file.

_HEADER = ["value", "pseudonym"]
# 80 bits: among 4 million persons two alike once in 10^11 tables, and then one more is drawn
_WORD_BYTES = 10


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
            while (word := b32encode(secrets.token_bytes(_WORD_BYTES)).decode().lower()) in taken:
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
