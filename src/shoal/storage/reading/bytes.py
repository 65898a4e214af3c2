"""A file as a stream of bytes: decompressed on the way, cut at the ends of records, within bounded memory."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from shoal.errors import InputError
from shoal.systems.files import open_at_once

# files of fewer bytes are not worth reading ahead
CHUNK = 8 << 20
# bytes that are read at once: they are looked at several times, from memory near the processor
PIECE = 4 << 20
LONGEST_RECORD = 64 << 20
# Text tables shrink by 3 to 50 times; a file that grows this much is made to fill memory.
GREATEST_EXPANSION = 100
EXPANSION_COUNTS_FROM = 1 << 28
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# a frame may ask for a window of gigabytes: 128 MB is what `zstd --ultra` writes at most by default
_MOST_WINDOW_BITS = 27


class Compression(Enum):
    """How a file is compressed, by its first bytes."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


def compression_of(head: bytes) -> Compression:
    """The compression of a file that starts with `head`."""
    if head.startswith(_GZIP):
        return Compression.GZIP
    if head.startswith(_ZSTD):
        return Compression.ZSTD
    return Compression.NONE


def chunks(path: Path, compression: Compression, size: int = PIECE) -> Iterator[tuple[bytes, int]]:
    """The decompressed bytes piece by piece, each with how far the file itself has been read."""
    with path.open("rb") as raw:
        out = 0
        try:
            for piece in _decompressed(raw, compression, size):
                out += len(piece)
                _refuse_bomb(path, out, raw.tell())
                yield piece, raw.tell()
        except (gzip.BadGzipFile, zlib.error, EOFError, struct.error):
            raise InputError(
                f"{path} cannot be decompressed to its end: it is damaged or cut short.", "Copy it again."
            ) from None


def _decompressed(raw: IO[bytes], compression: Compression, size: int) -> Iterator[bytes]:
    """Pieces of at most `size` bytes, whatever the file unpacks to; an EOFError where it is cut."""
    if compression is Compression.ZSTD:
        from shoal.storage.formats.zstandard import DecompressionParameter, ZstdError, ZstdFile

        most: dict[int, int] = {DecompressionParameter.window_log_max: _MOST_WINDOW_BITS}
        with ZstdFile(raw, options=most) as stream:
            try:
                while piece := stream.read(size):
                    yield piece
            except ZstdError:
                raise EOFError from None
        return
    plain = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compression is Compression.GZIP else raw
    while piece := plain.read(size):
        yield piece


def _refuse_bomb(path: Path, out: int, read: int) -> None:
    if out > EXPANSION_COUNTS_FROM and out > GREATEST_EXPANSION * max(read, 1):
        raise InputError(
            f"{path} grows more than {GREATEST_EXPANSION} times when decompressed: no table does.",
            "If you trust it, decompress it yourself and give the plain file.",
        )


def records(
    pieces: Iterator[tuple[bytes, int]], path: Path, end_of_last_record: Callable[[bytes], int]
) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole records; `end_of_last_record` says where the last whole record of a block ends (0: nowhere)."""
    left: list[bytes] = []
    held = position = 0
    for piece, position in pieces:
        left.append(piece)
        held += len(piece)
        if b"\n" not in piece and held < LONGEST_RECORD:
            continue
        # up to the last end of a line, so that the rest alone is copied again
        last = piece.rfind(b"\n") + 1
        block = b"".join([*left[:-1], memoryview(piece)[:last]])
        end = end_of_last_record(block)
        left, held = [block[end:], piece[last:]], held - end
        if end:
            yield block[:end], position
        if held >= LONGEST_RECORD:
            raise InputError(
                f"{path} has a record longer than {LONGEST_RECORD >> 20} MB.",
                "Look for a quote that is opened and never closed, or for missing line ends.",
            )
    rest = b"".join(left)
    if rest.strip(b"\r\n"):
        yield rest + (b"" if rest.endswith(b"\n") else b"\n"), position


@contextmanager
def damage_as_error(path: Path) -> Iterator[None]:
    """A fault of the file as our error, because the library's may show values; its panics are no Exceptions."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if (
            isinstance(error, (pl.exceptions.PolarsError, OSError, EOFError))
            or type(error).__name__ == "PanicException"
        ):
            raise InputError(
                f"{path} cannot be read to its end: it is damaged or cut short.", "Copy or export it again."
            ) from None
        raise


# Small files that people write or keep: policies, hierarchies, plans, manifests. Ordinary ones, of limited size.


# More than any manifest or plan with its hierarchies has.
MOST_BYTES = 64 << 20


def read_small(path: str | Path, limit: int = MOST_BYTES) -> bytes:
    """The bytes of an ordinary file that has at most `limit` of them; pipes and devices are refused, not waited for.

    >>> read_small("/dev/null")
    Traceback (most recent call last):
    shoal.errors.InputError: /dev/null is not an ordinary file.
    Name a file.
    """
    handle = open_at_once(path)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{path} is not an ordinary file.", "Name a file.")
        content = file.read(limit + 1) if about.st_size <= limit else b""
    if about.st_size > limit or len(content) > limit:
        raise InputError(f"{path} has more than {limit:,} bytes.", "Check that it is the right file.")
    return content


# an escape that may be half a character
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def parse_json(content: bytes | str) -> Any:
    """JSON as Python objects; whatever is wrong with it is a ValueError, also endless nesting, endless digits, and half
    a character (a lone surrogate), which is no text.

    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: not JSON
    """
    try:
        found = json.loads(content)
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        if _HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None


def read_json(path: str | Path, limit: int = MOST_BYTES) -> Any:
    """The content of a small JSON file; a ValueError where it is none, an OSError where there is no file."""
    return parse_json(read_small(path, limit))
