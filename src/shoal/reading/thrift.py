"""Thrift's compact protocol, as far as Parquet's footers and page headers need it: numbers, bytes, lists, structs."""

from __future__ import annotations

from collections.abc import Sequence
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

    def spans(self) -> dict[int, tuple[int, int]]:
        """Where each field of a struct starts (with its head) and ends; heads count from the field before.

        >>> Reader(bytes([0x15, 0x04, 0x15, 0x06, 0x00])).spans()
        {1: (0, 2), 2: (2, 4)}
        """
        found: dict[int, tuple[int, int]] = {}
        field, start = 0, self.position
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            if head & 15 not in (1, 2):  # a truth value is in the head
                self._value(head & 15, 0)
            found[field], start = (start, self.position), self.position
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


I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
# a field of a struct: its number, its kind, and a number, bytes, a list (of one kind) or a struct
Fields = Sequence[tuple[int, int, Any]]


def struct_bytes(fields: Fields) -> bytes:
    """A struct, fields in the order of their numbers, none of them 16 or more past the one before.

    >>> struct_bytes([(1, I32, 2), (3, LIST, (I32, [5])), (4, BINARY, b"a")]).hex()
    '150429150a18016100'
    """
    found, last = bytearray(), 0
    for number, kind, value in fields:
        found.append((number - last) << 4 | kind)
        found += _written(kind, value)
        last = number
    found.append(0)
    return bytes(found)


def list_bytes(kind: int, values: Sequence[Any]) -> bytes:
    """A list of numbers, bytes, or structs.

    >>> list_bytes(I64, [1, -1]).hex()
    '260201'
    """
    head = bytes([len(values) << 4 | kind]) if len(values) < 15 else bytes([0xF0 | kind]) + varint(len(values))
    return head + b"".join(_written(kind, value) for value in values)


def varint(number: int) -> bytes:
    """A number of at least zero, seven bits a byte, the lowest first.

    >>> varint(300).hex()
    'ac02'
    """
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def _written(kind: int, value: Any) -> bytes:
    if kind in (I32, I64):
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == BINARY:
        return varint(len(value)) + bytes(value)
    return list_bytes(*value) if kind == LIST else struct_bytes(value)
