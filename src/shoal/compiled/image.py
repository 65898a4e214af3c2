"""Machine code as numba makes it, laid out to be copied into memory: what a linker does, as far as loops need it.

An object file (ELF, x86-64) holds sections, names, and places where addresses are to be filled in. Loops are compiled
for any distance between code and data, so nearly all of these are whole addresses: of something in the image, or of a
function of the C library. Anything else is refused, and numba then runs the loop itself.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shoal.dataclasses import dataclass

PAGE = 4096
_X86_64 = 62
_SYMBOLS, _PLACES, _EMPTY = 2, 4, 8
_IN_MEMORY, _EXECUTABLE = 2, 4
_UNDEFINED, _COMMON = 0, 0xFFF2
_WHOLE_ADDRESS, _NEAR, _NEAR_CALL, _DISTANCE = 1, 2, 4, 24


class UnsupportedError(Exception):
    """Machine code of a kind that is not laid out here."""


@dataclass(frozen=True)
class Image:
    """Bytes for memory: `code` of them to be run, the rest data; `names` of the functions that it calls.

    Places to fill in are (offset, which, added): the address of `names[which]`, or of the image itself (-1), plus a
    number. `starts` are the offsets of the functions that it offers.
    """

    content: bytes
    code: int
    names: list[str]
    places: list[tuple[int, int, int]]
    starts: dict[str, int]


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int
    size: int


class _Object:
    """The sections and names of an object file."""

    def __init__(self, content: bytes) -> None:
        if content[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", content, 18)[0] != _X86_64:
            raise UnsupportedError("not an object file of this processor")
        first, (size, count, names) = struct.unpack_from("<Q", content, 40)[0], struct.unpack_from("<HHH", content, 58)
        self.content = content
        self.sections = [_Section(*struct.unpack_from("<IIQQQQIIQQ", content, first + i * size)) for i in range(count)]
        self.names = self.sections[names]
        self.symbols = [symbol for section in self.sections if section.kind == _SYMBOLS for symbol in self._in(section)]

    def _in(self, table: _Section) -> Iterator[_Symbol]:
        for at in range(table.offset, table.offset + table.size, 24):
            name, _, _, section, value, size = struct.unpack_from("<IBBHQQ", self.content, at)
            yield _Symbol(self.text(self.sections[table.link], name), section, value, size)

    def text(self, table: _Section, at: int) -> str:
        start = table.offset + at
        return self.content[start : self.content.index(b"\0", start)].decode()

    def loaded(self) -> Iterator[tuple[int, _Section]]:
        """What has a place in memory, but for what only exceptions of C++ need."""
        for number, section in enumerate(self.sections):
            if section.flags & _IN_MEMORY and self.text(self.names, section.name) != ".eh_frame":
                yield number, section

    def bytes_of(self, section: _Section) -> bytes:
        if section.kind == _EMPTY:
            return bytes(section.size)
        return self.content[section.offset : section.offset + section.size]

    def places(self) -> Iterator[tuple[int, int, int, _Symbol, int]]:
        """(section, offset, kind, what is meant, added) of each address to fill in."""
        for section in self.sections:
            if section.kind == _PLACES:
                for at in range(section.offset, section.offset + section.size, 24):
                    offset, what, added = struct.unpack_from("<QQq", self.content, at)
                    yield section.info, offset, what & 0xFFFFFFFF, self.symbols[what >> 32], added


def laid_out(objects: Sequence[bytes], starts: Sequence[str]) -> Image:
    """An image of some object files that offers the functions named."""
    files = [_Object(content) for content in objects]
    content = bytearray()
    at: dict[tuple[int, int], int] = {}
    for executable in (True, False):
        for f, file in enumerate(files):
            for number, section in file.loaded():
                if bool(section.flags & _EXECUTABLE) is executable and section.size:
                    _pad(content, section.alignment)
                    at[f, number] = len(content)
                    content += file.bytes_of(section)
        if executable:
            _pad(content, PAGE)
            code = len(content)
    known = _addresses(files, at, content)
    names, places = _fill_in(files, at, known, content)
    return Image(bytes(content), code, names, places, {name: known[name] for name in starts})


def _pad(content: bytearray, alignment: int) -> None:
    content += bytes(-len(content) % max(alignment, 1))


def _addresses(files: Sequence[_Object], at: dict[tuple[int, int], int], content: bytearray) -> dict[str, int]:
    """The offsets of all names that an object file defines; the first definition of a name counts."""
    known: dict[str, int] = {}
    for f, file in enumerate(files):
        for symbol in file.symbols:
            if symbol.name in known or symbol.section == _UNDEFINED:
                continue
            if symbol.section == _COMMON:
                _pad(content, symbol.value)
                known[symbol.name] = len(content)
                content += bytes(symbol.size)
            elif symbol.name and (f, symbol.section) in at:
                known[symbol.name] = at[f, symbol.section] + symbol.value
    return known


def _fill_in(
    files: Sequence[_Object], at: dict[tuple[int, int], int], known: dict[str, int], content: bytearray
) -> tuple[list[str], list[tuple[int, int, int]]]:
    """Fill in distances within the image; what is left for whoever loads it."""
    names: list[str] = []
    places = []
    for f, file in enumerate(files):
        for section, offset, kind, symbol, added in file.places():
            if (f, section) not in at:
                continue
            place = at[f, section] + offset
            inside = known.get(symbol.name) if symbol.name else None
            if not symbol.name and (f, symbol.section) in at:  # the section itself
                inside = at[f, symbol.section] + symbol.value
            if kind == _WHOLE_ADDRESS and inside is not None:
                places.append((place, -1, inside + added))
            elif kind == _WHOLE_ADDRESS and symbol.name and symbol.section == _UNDEFINED:
                if symbol.name not in names:
                    names.append(symbol.name)
                places.append((place, names.index(symbol.name), added))
            elif kind in (_NEAR, _NEAR_CALL, _DISTANCE) and inside is not None:
                struct.pack_into("<q" if kind == _DISTANCE else "<i", content, place, inside + added - place)
            else:
                raise UnsupportedError(f"an address of kind {kind}")
    return names, places
