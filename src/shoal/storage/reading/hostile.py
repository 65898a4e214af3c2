"""What polars would end the process or fill memory on is refused before it reads: counts and sizes of Parquet, Arrow
and workbook files that nobody wrote in earnest.
"""

from __future__ import annotations

import re
import struct
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.parsers import expat

from shoal.errors import InputError
from shoal.storage.reading.bytes import EXPANSION_COUNTS_FROM, GREATEST_EXPANSION
from shoal.systems.machine import free_memory, resident_memory

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
            field = field + (head >> 4) if head >> 4 else self.signed()
            kind = head & 15
            if 4 <= kind <= 6:
                found[field] = self.signed()
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
            field = field + (head >> 4) if head >> 4 else self.signed()
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

    def signed(self) -> int:
        """A number in zigzag."""
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def take(self, length: int) -> bytes:
        """So many bytes."""
        if length < 0:
            raise Damaged
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
            return self.signed()
        if kind == 7:
            return self.take(8)
        if kind == 8:
            return self.take(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._unsigned()
            if length > len(self.data) - self.position:
                raise Damaged
            return [self._value(head & 15, depth + 1) for _ in range(length)]
        if kind == 12:
            return self.struct(depth + 1)
        raise Damaged


# Is a Parquet file what its own counts say? Looked at before it is decoded.
#
# polars trusts the counts in page headers: with a negative one, a file of 3 kB makes it ask for exabytes, and the
# process ends. So the footer and the headers of the pages are read here first (not the pages): positions inside the
# file, sizes and counts that agree with each other.


# So many rows in a byte of file are one value over and over: past this, a file is made to fill memory.
MOST_ROWS_PER_BYTE = 50
ROWS_COUNT_FROM = 20_000_000
_DATA, _INDEX, _DICTIONARY, _DATA_2 = 0, 1, 2, 3
# bytes of one value that is not packed, by physical type: INT32, INT64, INT96, FLOAT, DOUBLE, text with its length
_WIDTH = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4}
_MOST_BYTES = 1 << 31


class Footer(NamedTuple):
    """What a file says about itself: the bytes, what they mean, and its columns, also where two have one name."""

    raw: bytes
    about: dict[int, Any]
    names: list[str]


def check_parquet(path: Path, columns: Collection[str] | None = None, known: Footer | None = None) -> Footer:
    """Refuse a file whose counts cannot be true; of the pages, those of `columns` (all, if none are named).

    `known`: its footer as it was read before; the same bytes are not taken apart again.
    """
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            footer = _footer(data, known)
            rows = _check(data, footer.about, columns)
    except (Damaged, KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError):
        raise _disagrees(path) from None
    _check_rows(path, rows)
    return footer


def _disagrees(path: Path) -> InputError:
    return InputError(f"{path} is damaged: what it says about itself does not agree.", "Copy or export it again.")


def _check_rows(path: Path, rows: int) -> None:
    if rows > ROWS_COUNT_FROM and rows > MOST_ROWS_PER_BYTE * path.stat().st_size:
        raise InputError(
            f"{path} holds {rows:,} rows in {path.stat().st_size:,} bytes: it is made to fill memory.",
            "If you trust it, write its distinct rows with a column of counts.",
        )


def _footer(data: mmap, known: Footer | None) -> Footer:
    length = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[-4:] != b"PAR1" or length > len(data) - 12:
        raise Damaged
    raw = data[-8 - length : -8]
    if known is not None and raw == known.raw:
        return known
    about = Reader(raw).struct()
    return Footer(raw, about, _names(about[2]))


def _check(data: mmap, footer: dict[int, Any], columns: Collection[str] | None) -> int:
    rows, groups = footer[3], footer[4]
    _hold(rows >= 0, sum(group[3] for group in groups) == rows, all(group[3] >= 0 for group in groups))
    for group in groups:
        for chunk in group[1]:
            about = chunk[3]
            if columns is None or about[3][0].decode() in columns:
                _check_chunk(data, about, group[3], flat=len(about[3]) == 1)
    return int(rows)


def _names(schema: list[dict[int, Any]]) -> list[str]:
    """The parts of the table itself, not those of what it holds."""
    names: list[str] = []
    above = [1]  # how many parts each open group still wants; the first group is the table
    for part in schema:
        above[-1] -= 1
        if len(above) == 2:
            names.append(part[4].decode())
        if part.get(5):
            above.append(part[5])
        while above and above[-1] == 0:
            above.pop()
    return names


def _hold(*conditions: bool) -> None:
    if not all(conditions):
        raise Damaged


def _check_chunk(data: mmap, about: dict[int, Any], rows: int, flat: bool) -> None:
    """The pages of one column in one group of rows hold as many values together as the chunk says."""
    kind, values = about[1], about[5]
    start = about[9] if about.get(11) is None else min(about[9], about[11])
    if flat and rows == values == 0:  # nothing is read of a group without rows, which may be said to be anywhere
        return
    _hold(values >= 0, not flat or values == rows, start >= 4, about[7] >= 0, start + about[7] <= len(data) - 8)
    seen = 0
    for header in _page_headers(data, start, start + about[7]):
        if header[1] == _DICTIONARY:
            _check_dictionary(header, kind)
        elif header[1] in (_DATA, _DATA_2):
            page = header[5] if header[1] == _DATA else header[8]
            _hold(page[1] >= 0)
            if header[1] == _DATA_2:
                _hold(0 <= page[2] <= page[1], 0 <= page[3] <= page[1], page[5] >= 0, page[6] >= 0)
                _hold(page[5] + page[6] <= header[2])
            seen += page[1]
    _hold(seen == values)


def _page_headers(data: mmap, position: int, end: int) -> Iterator[dict[int, Any]]:
    while position < end:
        reader = Reader(data, position)
        header = reader.struct()
        _hold(0 <= header[2] < _MOST_BYTES, 0 <= header[3] < _MOST_BYTES)
        position = reader.position + header[3]
        _hold(position <= end)
        yield header


def _check_dictionary(header: dict[int, Any], kind: int) -> None:
    """A dictionary has at least so many bytes for each of its values."""
    values = header[7][1]
    _hold(values >= 0, values * _WIDTH.get(kind, 0) <= header[2])


# Is an Arrow file what its own counts say? Looked at before it is decoded.
#
# Compressed buffers begin with the length that they unpack to, and polars asks for as much memory: with a wrong one the
# process ends. So the messages (not the buffers) are read here first, by the little of FlatBuffers that they need.


_ARROW_DICTIONARY, _RECORDS = 2, 3
_CONTINUES = b"\xff\xff\xff\xff"
# zstd and LZ4 unpack a byte to less than this
_MOST_EXPANSION = 1 << 16
_MOST_ARROW_BYTES = 1 << 40


def check_arrow(path: Path, stream: bool) -> None:
    """Refuse a file whose counts cannot be true."""
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            places = _in_stream(data) if stream else _in_file(data)
            rows = sum(_check_message(data, *place) for place in places)
    except (Damaged, IndexError, ValueError, struct.error):
        raise _disagrees(path) from None
    _check_rows(path, rows)


def _number(data: mmap | bytes, at: int, form: str) -> int:
    if at < 0:
        raise Damaged
    return int(struct.unpack_from("<" + form, data, at)[0])


class FlatTable:
    """A table of FlatBuffers: fields by number."""

    def __init__(self, data: mmap | bytes, at: int) -> None:
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

    def table(self, field: int) -> FlatTable:
        place = self.place(field)
        if place is None:
            raise Damaged
        return FlatTable(self.data, place + _number(self.data, place, "I"))

    def structs(self, field: int, size: int) -> Iterator[int]:
        """Where each struct of a list stands."""
        place = self.place(field)
        if place is None:
            return
        start = place + _number(self.data, place, "I")
        count = _number(self.data, start, "I")
        _hold(start + 4 + count * size <= len(self.data))
        yield from range(start + 4, start + 4 + count * size, size)

    def tables(self, field: int) -> Iterator[FlatTable]:
        """The tables of a list."""
        for place in self.structs(field, 4):
            yield FlatTable(self.data, place + _number(self.data, place, "I"))


def messages_of(data: mmap, stream: bool) -> Iterator[FlatTable]:
    """The messages of an Arrow file."""
    for at, _ in _in_stream(data) if stream else _in_file(data):
        yield root_of(data, at + (8 if data[at : at + 4] == _CONTINUES else 4))


def root_of(data: mmap | bytes, at: int) -> FlatTable:
    """The table that a buffer of FlatBuffers begins with."""
    return FlatTable(data, at + _number(data, at, "I"))


def _in_file(data: mmap) -> Iterator[tuple[int, int]]:
    """The places of the messages that the footer names, each with the length of its head."""
    length = _number(data, len(data) - 10, "i")
    _hold(data[-6:] == b"ARROW1", 0 < length <= len(data) - 18)
    footer = root_of(data, len(data) - 10 - length)
    for field in (2, 3):
        for block in footer.structs(field, 24):
            at, head, body = (_number(data, block + offset, form) for offset, form in ((0, "q"), (8, "i"), (16, "q")))
            _hold(at >= 8, head > 8, body >= 0, at + head + body <= len(data))
            yield at, head


def between_messages(data: mmap, stream: bool) -> Iterator[bytes]:
    """What stands behind each message of an Arrow file, up to the next one or the footer; marks of an end left out."""
    places = sorted(set(_in_stream(data) if stream else _in_file(data)))
    last = len(data) if stream else len(data) - 10 - _number(data, len(data) - 10, "i")
    for (at, head), (after, _) in zip(places, [*places[1:], (last, 0)], strict=False):
        root = at + (8 if data[at : at + 4] == _CONTINUES else 4)
        yield data[at + head + root_of(data, root).number(3, "q") : after].removeprefix(_CONTINUES + bytes(4))


def _in_stream(data: mmap) -> Iterator[tuple[int, int]]:
    at = 0
    while at + 8 <= len(data):
        length = _number(data, at + 4, "i")
        _hold(data[at : at + 4] == _CONTINUES, length >= 0, at + 8 + length <= len(data))
        if length == 0:
            return
        yield at, 8 + length
        body = root_of(data, at + 8).number(3, "q")
        _hold(body >= 0)
        at += 8 + length + body


def _check_message(data: mmap, at: int, head: int) -> int:
    """The rows of a message, once its buffers lie inside its body and unpack to what they can."""
    message = root_of(data, at + (8 if data[at : at + 4] == _CONTINUES else 4))
    kind, body, start = message.number(1, "B"), message.number(3, "q"), at + head
    _hold(0 <= body <= len(data) - start)
    if kind not in (_ARROW_DICTIONARY, _RECORDS):
        return 0
    batch = message.table(2) if kind == _RECORDS else message.table(2).table(1)
    rows = batch.number(0, "q")
    _hold(0 <= rows < _MOST_ARROW_BYTES)
    for node in batch.structs(1, 16):
        length, nulls = _number(data, node, "q"), _number(data, node + 8, "q")
        _hold(0 <= nulls <= length < _MOST_ARROW_BYTES)
    packed = batch.place(3) is not None
    for buffer in batch.structs(2, 16):
        offset, length = _number(data, buffer, "q"), _number(data, buffer + 8, "q")
        _hold(offset >= 0, length >= 0, offset + length <= body)
        if packed and length:
            _hold(length >= 8)
            unpacked = _number(data, start + offset, "q")
            _hold(-1 <= unpacked <= _MOST_EXPANSION * length)
    return rows


# Is a workbook a workbook, and does it fit in memory? Looked at before it is parsed: what a few bytes unpack to, and
# the rectangle that its cells span.


_LARGEST = 1 << 32
# a rectangle of more cells than this, and of so many for each cell in it, is made to fill memory
_CELLS_COUNT_FROM, _SPARSE = 1 << 24, 200
_MOST_REPEATED = 1 << 26
_CHUNK = 1 << 22
_CELL = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,9})"')
# elements inside each other, and digits of a count
_DEEPEST, _MOST_DIGITS = 100, 12


def check_archive(path: Path) -> None:
    """Refuse an archive that is not a workbook, or that unpacks to more than a table can be."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if not any(name.startswith("xl/") or name == "content.xml" for name in names):
                raise InputError(f"{path} is a ZIP archive and not a workbook.", "Give the table inside.")
            unpacked = 0
            for name in names:
                cells = _SheetCells()
                ods = _OdsCells() if name == "content.xml" else None
                for piece in _pieces(archive, name):
                    unpacked += len(piece)
                    _refuse_bomb(path, unpacked)
                    if name.startswith("xl/worksheets/"):
                        cells.add(piece)
                    elif ods is not None:
                        ods.add(piece)
                _refuse_span(path, cells.spanned, max(_CELLS_COUNT_FROM, cells.seen * _SPARSE))
                if ods is not None:
                    ods.add(b"", last=True)
                    _refuse_span(path, ods.cells, _MOST_REPEATED)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError):
        raise InputError(
            f"{path} cannot be read as a workbook: it is damaged or cut short.", "Open it and save it again."
        ) from None


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with archive.open(name) as file:
        while piece := file.read(_CHUNK):
            yield piece


def _refuse_bomb(path: Path, unpacked: int) -> None:
    most = max(EXPANSION_COUNTS_FROM, path.stat().st_size * GREATEST_EXPANSION)
    if unpacked > min(most, _LARGEST):
        raise InputError(f"{path} unpacks to more than a workbook can be.", "Export the table as CSV or Parquet.")


def _refuse_span(path: Path, spanned: int, most: int) -> None:
    if spanned > most:
        raise InputError(
            f"A sheet of {path} spans {spanned:,} cells, nearly all of them empty or alike.",
            "Delete the cells far to the right or below the table, and save it again.",
        )


class _SheetCells:
    """How many cells of a sheet there are, and the rectangle that they span."""

    def __init__(self) -> None:
        self.seen, self._right, self._bottom, self._rest = 0, 0, 0, b""

    def add(self, piece: bytes) -> None:
        text = self._rest + piece
        cut = text.rfind(b"<")
        self._rest = text[cut:] if cut >= 0 else b""
        found = _CELL.findall(text[:cut] if cut >= 0 else text)
        if found:
            self.seen += len(found)
            self._right = max(self._right, *map(_number_of, {letters for letters, _ in found}))
            self._bottom = max(self._bottom, *(int(digits) for digits in {digits for _, digits in found}))

    @property
    def spanned(self) -> int:
        """The cells of the rectangle."""
        return self._right * self._bottom


def _number_of(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


class _OdsCells:
    """The cells with a value that repeated rows and columns stand for, of the content of an OpenDocument file.

    Its reader never returns from some content that is no XML: all of it is parsed here, once, piece by piece.
    """

    def __init__(self) -> None:
        self.cells, self._rows, self._depth = 0, 1, 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._starts
        self._parser.EndElementHandler = self._ends
        self._parser.StartDoctypeDeclHandler = self._doctype

    def add(self, piece: bytes, last: bool = False) -> None:
        """Parse a piece; raises ValueError where it is no XML."""
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError:
            raise ValueError from None

    def _starts(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError
        if name == "table:table-row":
            self._rows = _repeated(attributes.get("table:number-rows-repeated"))
        elif name in ("table:table-cell", "table:covered-table-cell") and "office:value-type" in attributes:
            self.cells += self._rows * _repeated(attributes.get("table:number-columns-repeated"))

    def _ends(self, name: str) -> None:
        self._depth -= 1

    def _doctype(self, *_: object) -> None:
        raise ValueError


def _repeated(times: str | None) -> int:
    return max(1, int(times)) if times and len(times) <= _MOST_DIGITS and times.isdecimal() else 1


# Limits of time and memory on what a library reads from a file: one that is made to hang it must not hang us.
#
# The library reads in a thread of its own, and whoever waits for it gives up. That costs a tenth of a millisecond; a
# process of its own costs 0.15 s of processor time and a copy of every row. What is given up goes on reading until
# this process ends: a command ends at once.


_Result = TypeVar("_Result")
# how long a step of reading may take: so many seconds, and one for so many bytes of the file
_SECONDS, _BYTES_PER_SECOND = 60.0, 1 << 20
# the memory that it may take: so many bytes, or so many for each of the file's; and no more than this share of what is
# free, for past it the system ends processes without a word
_MEMORY, _MEMORY_PER_BYTE, _OF_FREE = 4 << 30, 200, 0.9
_LOOKED_EVERY = 0.05
_EXPORT_AGAIN = "Copy or export it again; or have the program that wrote it write CSV."


def within_limits(path: Path, work: Callable[[], _Result]) -> _Result:
    """What `work` reads from a file; an error where it takes more time or memory than any table of the file's size.

    >>> within_limits(Path("people.parquet"), lambda: 3)
    3
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def read() -> None:
        try:
            results.append(work())
        except BaseException as error:  # a panic of the library is no Exception
            errors.append(error)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(_LOOKED_EVERY)
    if reader.is_alive():
        _wait(reader, path)
    if errors:
        raise errors[0]
    return results[0]


def _wait(reader: threading.Thread, path: Path) -> None:
    """Until it has ended, or is past a limit."""
    size, start = path.stat().st_size, resident_memory()
    last = time.monotonic() + _SECONDS + size / _BYTES_PER_SECOND
    most = min(max(_MEMORY, _MEMORY_PER_BYTE * size), int(_OF_FREE * free_memory()))
    while reader.is_alive():
        if resident_memory() - start > most:
            raise InputError(
                f"{path} takes more memory than a table of its size: it is damaged, or made to fill memory.",
                _EXPORT_AGAIN,
            )
        if time.monotonic() > last:
            raise InputError(
                f"{path} takes longer to read than a table of its size: it is damaged, or made to hang its reader.",
                _EXPORT_AGAIN,
            )
        reader.join(_LOOKED_EVERY)
