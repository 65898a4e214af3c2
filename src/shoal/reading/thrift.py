"""Thrift's compact protocol, as far as Parquet's footers and page headers need it: numbers, bytes, lists, structs."""

from __future__ import annotations

from mmap import mmap
from typing import Any

MOST_DEPTH = 32
MOST_ENTRIES = 5_000_000


class Damaged(Exception):
    """The bytes are not what they should be."""


class Reader:
    """Reads structs from bytes; a struct is a dict from field number to value.

    >>> Reader(bytes([0x15, 0x04, 0x00])).struct()
    {1: 2}
    """

    def __init__(self, data: bytes | mmap, position: int = 0) -> None:
        self.data, self.position = data, position
        self._entries = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """A struct up to its end."""
        if depth > MOST_DEPTH:
            raise Damaged
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            if 4 <= kind <= 6:
                found[field] = self._signed()
            else:
                found[field] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return found

    def _byte(self) -> int:
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            raise Damaged
        try:
            byte = self.data[self.position]
        except IndexError:
            raise Damaged from None
        self.position += 1
        return byte

    def _unsigned(self) -> int:
        number = self._byte()
        if number < 128:
            return number
        number &= 127
        for shift in range(7, 64, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise Damaged

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _bytes(self, length: int) -> bytes:
        end = self.position + length
        if end > len(self.data):
            raise Damaged
        found = bytes(self.data[self.position : end])
        self.position = end
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):  # in a list
            return self._byte() == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._unsigned()
            if length > len(self.data) - self.position:
                raise Damaged
            return [self._value(head & 15, depth + 1) for _ in range(length)]
        if kind == 12:
            return self.struct(depth + 1)
        raise Damaged
