"""Is an Arrow file what its own counts say? Looked at before it is decoded.

Compressed buffers begin with the length that they unpack to, and polars asks for as much memory: with a wrong one the
process ends. So the messages (not the buffers) are read here first, by the little of FlatBuffers that they need.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import InputError
from shoal.reading.parquet_check import MOST_ROWS_PER_BYTE, ROWS_COUNT_FROM
from shoal.reading.thrift import Damaged

_DICTIONARY, _RECORDS = 2, 3
_CONTINUES = b"\xff\xff\xff\xff"
# zstd and LZ4 unpack a byte to less than this
_MOST_EXPANSION = 1 << 16
_MOST_BYTES = 1 << 40


def check_arrow(path: Path, stream: bool) -> None:
    """Refuse a file whose counts cannot be true."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            places = _in_stream(data) if stream else _in_file(data)
            rows = sum(_check_message(data, *place) for place in places)
    except (Damaged, IndexError, ValueError, struct.error):
        raise InputError(
            f"{path} is damaged: what it says about itself does not agree.", "Copy or export it again."
        ) from None
    if rows > ROWS_COUNT_FROM and rows > MOST_ROWS_PER_BYTE * path.stat().st_size:
        raise InputError(
            f"{path} holds {rows:,} rows in {path.stat().st_size:,} bytes: it is made to fill memory.",
            "If you trust it, write its distinct rows with a column of counts.",
        )


def _hold(*conditions: bool) -> None:
    if not all(conditions):
        raise Damaged


def _number(data: mmap.mmap, at: int, form: str) -> int:
    if at < 0:
        raise Damaged
    return int(struct.unpack_from("<" + form, data, at)[0])


class _Table:
    """A table of FlatBuffers: fields by number."""

    def __init__(self, data: mmap.mmap, at: int) -> None:
        self.data, self.at = data, at
        self._fields = at - _number(data, at, "i")
        self._size = _number(data, self._fields, "H")

    def place(self, field: int) -> int | None:
        """Where a field stands, if it is there."""
        entry = 4 + 2 * field
        offset = _number(self.data, self._fields + entry, "H") if entry + 2 <= self._size else 0
        return self.at + offset if offset else None

    def number(self, field: int, form: str) -> int:
        place = self.place(field)
        return 0 if place is None else _number(self.data, place, form)

    def table(self, field: int) -> _Table:
        place = self.place(field)
        if place is None:
            raise Damaged
        return _Table(self.data, place + _number(self.data, place, "I"))

    def structs(self, field: int, size: int) -> Iterator[int]:
        """Where each struct of a list stands."""
        place = self.place(field)
        if place is None:
            return
        start = place + _number(self.data, place, "I")
        count = _number(self.data, start, "I")
        _hold(start + 4 + count * size <= len(self.data))
        yield from range(start + 4, start + 4 + count * size, size)


def _root(data: mmap.mmap, at: int) -> _Table:
    return _Table(data, at + _number(data, at, "I"))


def _in_file(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    """The places of the messages that the footer names, each with the length of its head."""
    length = _number(data, len(data) - 10, "i")
    _hold(data[-6:] == b"ARROW1", 0 < length <= len(data) - 18)
    footer = _root(data, len(data) - 10 - length)
    for field in (2, 3):
        for block in footer.structs(field, 24):
            at, head, body = (_number(data, block + offset, form) for offset, form in ((0, "q"), (8, "i"), (16, "q")))
            _hold(at >= 8, head > 8, body >= 0, at + head + body <= len(data))
            yield at, head


def _in_stream(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    at = 0
    while at + 8 <= len(data):
        length = _number(data, at + 4, "i")
        _hold(data[at : at + 4] == _CONTINUES, length >= 0, at + 8 + length <= len(data))
        if length == 0:
            return
        yield at, 8 + length
        body = _root(data, at + 8).number(3, "q")
        _hold(body >= 0)
        at += 8 + length + body


def _check_message(data: mmap.mmap, at: int, head: int) -> int:
    """The rows of a message, once its buffers lie inside its body and unpack to what they can."""
    message = _root(data, at + (8 if data[at : at + 4] == _CONTINUES else 4))
    kind, body, start = message.number(1, "B"), message.number(3, "q"), at + head
    _hold(0 <= body <= len(data) - start)
    if kind not in (_DICTIONARY, _RECORDS):
        return 0
    batch = message.table(2) if kind == _RECORDS else message.table(2).table(1)
    rows = batch.number(0, "q")
    _hold(0 <= rows < _MOST_BYTES)
    for node in batch.structs(1, 16):
        length, nulls = _number(data, node, "q"), _number(data, node + 8, "q")
        _hold(0 <= nulls <= length < _MOST_BYTES)
    packed = batch.place(3) is not None
    for buffer in batch.structs(2, 16):
        offset, length = _number(data, buffer, "q"), _number(data, buffer + 8, "q")
        _hold(offset >= 0, length >= 0, offset + length <= body)
        if packed and length:
            _hold(length >= 8)
            unpacked = _number(data, start + offset, "q")
            _hold(-1 <= unpacked <= _MOST_EXPANSION * length)
    return rows
