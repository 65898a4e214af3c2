"""Zstandard, a few blocks at a time: bounded memory whatever a file says, and a file that is cut is noticed.

A block of the format (RFC 8878) holds at most 128 kB however small it is packed, so the file is cut between blocks:
what goes into the library at once cannot become more than so many blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import zstandard

from shoal.reading.bytes import ZSTD

# a frame may ask for a window of gigabytes: 128 MB is what `zstd --ultra` writes at most by default
MOST_WINDOW = 1 << 27
BLOCKS = 64
_MOST_BLOCK = 1 << 17
_RAW, _RLE, _COMPRESSED = 0, 1, 2


def decompressed(raw: IO[bytes]) -> Iterator[bytes]:
    """The content of all frames of a file, at most 8 MB at once; raises EOFError where it is cut or damaged."""
    library = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW)
    while magic := raw.read(4):
        if len(magic) == 4 and magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:
            _skip(raw, int.from_bytes(_take(raw, 4), "little"))
        elif magic == ZSTD:
            yield from _frame(raw, library)
        else:
            raise EOFError


def _frame(raw: IO[bytes], library: zstandard.ZstdDecompressor) -> Iterator[bytes]:
    head, has_checksum = _header(raw)
    frame = library.decompressobj()
    pieces = [ZSTD, head]
    last = False
    while not last:
        for _ in range(BLOCKS):
            block, last = _block(raw)
            pieces.append(block)
            if last:
                pieces.append(_take(raw, 4 * has_checksum))
                break
        if out := frame.decompress(b"".join(pieces)):
            yield out
        pieces = []
    if not frame.eof:
        raise EOFError


def _header(raw: IO[bytes]) -> tuple[bytes, bool]:
    """The rest of a frame's header, and whether a checksum comes after its last block."""
    descriptor = _take(raw, 1)
    flags = descriptor[0]
    single = flags >> 5 & 1
    sizes = (single, 2, 4, 8)
    length = (1 - single) + (0, 1, 2, 4)[flags & 3] + sizes[flags >> 6]
    return descriptor + _take(raw, length), bool(flags >> 2 & 1)


def _block(raw: IO[bytes]) -> tuple[bytes, bool]:
    head = _take(raw, 3)
    number = int.from_bytes(head, "little")
    kind, size = number >> 1 & 3, number >> 3
    if kind > _COMPRESSED or size > _MOST_BLOCK:
        raise EOFError
    return head + _take(raw, 1 if kind == _RLE else size), bool(number & 1)


def _take(raw: IO[bytes], length: int) -> bytes:
    found = raw.read(length)
    if len(found) < length:
        raise EOFError
    return found


def _skip(raw: IO[bytes], length: int) -> None:
    while length:
        step = min(length, 1 << 20)
        _take(raw, step)
        length -= step
