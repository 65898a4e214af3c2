"""Is a Parquet file what its own counts say? Looked at before it is decoded.

polars trusts the counts in page headers: with a negative one, a file of 3 kB makes it ask for exabytes, and the process
ends. So the footer and the headers of the pages are read here first (not the pages): positions inside the file, sizes
and counts that agree with each other.
"""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.reading.thrift import Damaged, Reader

# So many rows in a byte of file are one value over and over: past this, a file is made to fill memory.
MOST_ROWS_PER_BYTE = 50
ROWS_COUNT_FROM = 20_000_000
_DATA, _INDEX, _DICTIONARY, _DATA_2 = 0, 1, 2, 3
# bytes of one value that is not packed, by physical type: INT32, INT64, INT96, FLOAT, DOUBLE, text with its length
_WIDTH = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4}
_MOST_BYTES = 1 << 31


@dataclass(frozen=True)
class Footer:
    """What a file says about itself: the bytes, what they mean, and its columns, also where two have one name."""

    raw: bytes
    about: dict[int, Any]
    names: list[str]


class PageAt(NamedTuple):
    """The header of a page, and where what follows it starts."""

    header: dict[int, Any]
    start: int


def check_parquet(
    path: Path,
    columns: Collection[str] | None = None,
    known: Footer | None = None,
    pages: dict[int, list[PageAt]] | None = None,
) -> Footer:
    """Refuse a file whose counts cannot be true; of the pages, those of `columns` (all, if none are named).

    `known`: its footer as it was read before; the same bytes are not taken apart again. `pages` are filled with those
    of each column in each group of rows, by where the first of them starts.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            footer = _footer(data, known)
            rows = _check(data, footer.about, columns, {} if pages is None else pages)
    except (Damaged, KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError):
        raise InputError(
            f"{path} is damaged: what it says about itself does not agree.", "Copy or export it again."
        ) from None
    if rows > ROWS_COUNT_FROM and rows > MOST_ROWS_PER_BYTE * path.stat().st_size:
        raise InputError(
            f"{path} holds {rows:,} rows in {path.stat().st_size:,} bytes: it is made to fill memory.",
            "If you trust it, write its distinct rows with a column of counts.",
        )
    return footer


def _footer(data: mmap.mmap, known: Footer | None) -> Footer:
    length = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[-4:] != b"PAR1" or length > len(data) - 12:
        raise Damaged
    raw = data[-8 - length : -8]
    if known is not None and raw == known.raw:
        return known
    about = Reader(raw).struct()
    return Footer(raw, about, _names(about[2]))


def _check(
    data: mmap.mmap, footer: dict[int, Any], columns: Collection[str] | None, pages: dict[int, list[PageAt]]
) -> int:
    rows, groups = footer[3], footer[4]
    _hold(rows >= 0, sum(group[3] for group in groups) == rows, all(group[3] >= 0 for group in groups))
    for group in groups:
        for chunk in group[1]:
            about = chunk[3]
            if columns is None or about[3][0].decode() in columns:
                start, found = _check_chunk(data, about, group[3], flat=len(about[3]) == 1)
                if found:
                    pages[start] = found
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


def _check_chunk(data: mmap.mmap, about: dict[int, Any], rows: int, flat: bool) -> tuple[int, list[PageAt]]:
    """Where the pages of one column in one group of rows start, and they: together they hold as many values as the
    chunk says."""
    kind, values = about[1], about[5]
    start = about[9] if about.get(11) is None else min(about[9], about[11])
    if flat and rows == values == 0:  # nothing is read of a group without rows, which may be said to be anywhere
        return start, []
    _hold(values >= 0, not flat or values == rows, start >= 4, about[7] >= 0, start + about[7] <= len(data) - 8)
    seen, found = 0, list(_pages(data, start, start + about[7]))
    for header, _ in found:
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
    return start, found


def _pages(data: mmap.mmap, position: int, end: int) -> Iterator[PageAt]:
    while position < end:
        reader = Reader(data, position)
        header = reader.struct()
        _hold(0 <= header[2] < _MOST_BYTES, 0 <= header[3] < _MOST_BYTES)
        position = reader.position + header[3]
        _hold(position <= end)
        yield PageAt(header, reader.position)


def _check_dictionary(header: dict[int, Any], kind: int) -> None:
    """A dictionary has at least so many bytes for each of its values."""
    values = header[7][1]
    _hold(values >= 0, values * _WIDTH.get(kind, 0) <= header[2])
