"""A file as a stream of bytes: decompressed on the way, cut at the ends of records, within bounded memory."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import IO, cast

import polars as pl
import zstandard

from shoal.errors import InputError

# files of fewer bytes are not worth reading ahead
CHUNK = 8 << 20
# bytes that are read at once: they are looked at several times, from memory near the processor
PIECE = 4 << 20
LONGEST_RECORD = 64 << 20
# Text tables shrink by 3 to 50 times; a file that grows this much is made to fill memory.
GREATEST_EXPANSION = 100
_GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
EXPANSION_COUNTS_FROM = 1 << 28
# quotes that are behind the last record for who looks at many bytes at once: where one that is not closed ends
PADDING = 16
_QUOTES = b'"' * PADDING


class Compression(Enum):
    """How a file is compressed, by its first bytes."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


def compression_of(head: bytes) -> Compression:
    """The compression of a file that starts with `head`."""
    if head.startswith(_GZIP):
        return Compression.GZIP
    if head.startswith(ZSTD):
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
        except (gzip.BadGzipFile, zlib.error, EOFError, zstandard.ZstdError, struct.error):
            raise InputError(
                f"{path} cannot be decompressed to its end: it is damaged or cut short.", "Copy it again."
            ) from None


def _decompressed(raw: IO[bytes], compression: Compression, size: int) -> Iterator[bytes]:
    if compression is Compression.ZSTD:
        from shoal.reading.zstd import decompressed

        yield from decompressed(raw)
        return
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compression is Compression.GZIP else raw
    while piece := stream.read(size):
        yield piece


def _refuse_bomb(path: Path, out: int, read: int) -> None:
    if out > EXPANSION_COUNTS_FROM and out > GREATEST_EXPANSION * max(read, 1):
        raise InputError(
            f"{path} grows more than {GREATEST_EXPANSION} times when decompressed: no table does.",
            "If you trust it, decompress it yourself and give the plain file.",
        )


def records(
    pieces: Iterator[tuple[bytes, int]], path: Path, end_of_last_record: Callable[[bytes | bytearray], int]
) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole records; `end_of_last_record` says where the last whole record of a block ends (0: nowhere)."""
    for block, position in padded_records(pieces, path, end_of_last_record):
        yield bytes(block[:-PADDING]), position


def padded_records(
    pieces: Iterator[tuple[bytes, int]], path: Path, end_of_last_record: Callable[[bytes | bytearray], int]
) -> Iterator[tuple[memoryview, int]]:
    """The same with quotes behind the last record: no byte is copied more than once."""
    left: list[bytes] = []
    held = position = 0
    for piece, position in pieces:
        left.append(piece)
        held += len(piece)
        if b"\n" not in piece and held < LONGEST_RECORD:
            continue
        buffer = bytearray().join([*left, bytes(PADDING)])
        end = end_of_last_record(buffer)
        left, held = [bytes(memoryview(buffer)[end:held])], held - end
        if end:
            buffer[end : end + PADDING] = _QUOTES
            yield memoryview(buffer)[: end + PADDING], position
        if held >= LONGEST_RECORD:
            raise InputError(
                f"{path} has a record longer than {LONGEST_RECORD >> 20} MB.",
                "Look for a quote that is opened and never closed, or for missing line ends.",
            )
    rest = b"".join(left)
    if rest.strip(b"\r\n"):
        yield padded(rest + (b"" if rest.endswith(b"\n") else b"\n")), position


def padded(block: bytes | memoryview) -> memoryview:
    """A block with quotes behind it."""
    return memoryview(bytearray().join([block, _QUOTES]))


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
