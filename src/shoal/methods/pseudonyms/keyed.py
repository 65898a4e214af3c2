"""Keyed pseudonyms: HMAC-SHA-256 or keyed BLAKE2b of the value, written as hex, short base32 or UUID.

A hash without a key is refused: whoever can list the possible values hashes them all and reads the table.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b, sha256

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError, Message, Setting, check_choice
from shoal.storage import Array
from shoal.vocabulary import PseudonymFormat
from shoal.vocabulary import PseudonymMethod as Method

METHODS = ("hmac-sha-256", "blake2b")
FORMATS = ("hex", "short", "uuid", "digits")
# bytes of the digest that each way of writing shows
_BYTES = {"hex": 16, "short": 10, "uuid": 16}
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
