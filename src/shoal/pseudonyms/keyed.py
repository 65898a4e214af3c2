"""Keyed pseudonyms: HMAC-SHA-256 or keyed BLAKE2b of the value, written as hex, short base32 or UUID.

A hash without a key is refused: whoever can list the possible values hashes them all and reads the table.
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from collections.abc import Callable
from hashlib import blake2b
from typing import Literal
from uuid import UUID

from shoal import progress
from shoal.errors import InputError, check_choice

Method = Literal["hmac-sha-256", "blake2b"]
METHODS = ("hmac-sha-256", "blake2b")
Format = Literal["hex", "short", "uuid", "digits"]
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
        raise InputError(UNKEYED, f"Use a key: --method {METHODS[0]} --key-file key.bin.")
    check_choice("method", method, METHODS)


def digester(secret: bytes, method: Method, size: int) -> Callable[[bytes], bytes]:
    """A function from a value to the first `size` bytes of its keyed hash.

    >>> digester(b"k" * 32, "hmac-sha-256", 4)(b"7").hex() == hmac.digest(b"k" * 32, b"7", "sha256")[:4].hex()
    True
    """
    if method == "blake2b":
        return lambda value: blake2b(value, key=secret, digest_size=size).digest()
    return lambda value: hmac.digest(secret, value, "sha256")[:size]


def keyed(values: list[bytes], secret: bytes, method: Method, form: Format) -> list[str]:
    """A pseudonym for each value.

    >>> keyed([b"7", b"8"], b"k" * 32, "blake2b", "short") == keyed([b"7", b"8"], b"k" * 32, "blake2b", "short")
    True
    """
    digest, write = digester(secret, method, _BYTES[form]), _WRITERS[form]
    found: list[str] = []
    for start in range(0, len(values), _STEP):
        progress.report("making pseudonyms", start, len(values))
        found += [write(digest(value)) for value in values[start : start + _STEP]]
    return found


def _uuid(digest: bytes) -> str:
    """Version 8, made for hashes (RFC 9562)."""
    number = int.from_bytes(digest, "big")
    number = number & ~(0xF << 76) | (8 << 76)
    number = number & ~(0x3 << 62) | (2 << 62)
    return str(UUID(int=number))


_WRITERS: dict[str, Callable[[bytes], str]] = {
    "hex": bytes.hex,
    "short": lambda digest: b32encode(digest).decode().lower(),
    "uuid": _uuid,
}
