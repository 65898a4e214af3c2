"""The columns of many rows as they are written, in codes: what a Parquet file of them is made from."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal import __version__, progress
from shoal.kernels.rows import pack_numbers, take_codes
from shoal.methods.results import Anonymized
from shoal.storage import Array, Column
from shoal.storage.encode import encode
from shoal.storage.formats.zstandard import compress
from shoal.storage.reading.hostile import Reader
from shoal.storage.writing import filling_disk
from shoal.systems.files import sync
from shoal.threads import in_threads

# What a Parquet file that is written from codes says about itself: Thrift's compact protocol, and the footer.


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


def template_of(schema: Mapping[str, pl.DataType]) -> bytes:
    """The footer that polars writes for such columns without rows."""
    buffer = io.BytesIO()
    pl.DataFrame(schema=schema).write_parquet(buffer)
    data = buffer.getvalue()
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8]


def footer_of(template: bytes, rows: int, groups: list[Any], writer: str = "shoal") -> bytes:
    """The footer of a table without rows with the rows of another, and the name of who wrote it."""
    spans = Reader(template).spans()
    parts = {number: template[start:end] for number, (start, end) in spans.items()}
    # heads count from the field before: each of these follows the one before it
    parts[3] = struct_bytes([(1, I64, rows)])[:-1]
    parts[4] = bytes([0x19]) + list_bytes(STRUCT, groups)
    parts[6] = struct_bytes([(1, BINARY, writer.encode())])[:-1]
    return b"".join(parts[number] for number in sorted(parts)) + b"\0"


# Parquet straight from codes: the dictionary of each group of rows, and codes packed bit by bit; no row is a text.
#
# What a file says of its columns (the schema, and the note for Arrow) is what polars says of a table with such columns.


# as polars packs them
_LEVEL = 3
_DICTIONARY_PAGE, _DATA_PAGE, _ZSTD = 2, 0, 6
_PLAIN, _RLE, _RLE_DICTIONARY = 0, 3, 8
_TYPES = (
    pl.String, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64,
    pl.Date, pl.Datetime, pl.Time, pl.Boolean,
)  # fmt: skip
# longer texts are not said to be the least or the greatest of a group
_LONGEST = 64
# a page of half a million texts has a size of 31 bits
_LONGEST_WRITTEN = 2_000
# a dictionary pays where so many of the cells share their values with others
_MOST_DISTINCT = 0.75


@dataclass(frozen=True)
class CodedColumn:
    """A column that is written: the codes of its rows, and the values that they stand for; every other code is null."""

    name: str
    codes: Array
    values: pl.Series

    @property
    def is_written(self) -> bool:
        """Whether its type is one that is written from codes, and the texts of a group of rows fit a page."""
        if self.values.dtype == pl.String and (self.values.str.len_bytes().max() or 0) > _LONGEST_WRITTEN:  # type: ignore[operator]
            return False
        return any(self.values.dtype == dtype for dtype in _TYPES) and not self.values.null_count()

    @cached_property
    def in_order(self) -> bool:
        """Whether the first of some values is the least and the last the greatest."""
        return not self.values.dtype.is_float() and self.values.is_sorted()

    @cached_property
    def plain(self) -> _PlainValues:
        """The values as they lie in a page."""
        if self.values.dtype == pl.Boolean:
            return _Bits(self.values.to_numpy())
        return _Texts.of(self.values) if self.values.dtype == pl.String else _CodeNumbers.of(self.values)

    def pays(self, distinct: int, cells: int) -> bool:
        """Whether a dictionary of so many values is written for so many cells."""
        return self.values.dtype != pl.Boolean and 0 < distinct <= _MOST_DISTINCT * cells


class _PlainValues:
    """Values as they lie in a page, one behind the other."""

    def of_some(self, places: Array) -> bytes:
        raise NotImplementedError

    def alone(self, place: int) -> bytes:
        """One value, as the statistics of a page have it."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Bits(_PlainValues):
    values: Array

    def of_some(self, places: Array) -> bytes:
        return np.packbits(self.values[places], bitorder="little").tobytes()

    def alone(self, place: int) -> bytes:
        return bytes([int(self.values[place])])


@dataclass(frozen=True)
class _CodeNumbers(_PlainValues):
    values: Array

    @classmethod
    def of(cls, values: pl.Series) -> _CodeNumbers:
        array = values.to_physical().to_numpy()
        if array.dtype.kind == "f":
            return cls(array)
        # of small integers four bytes, and those without a sign bit by bit
        wide = np.int64 if array.dtype.itemsize == 8 else np.int32
        return cls(array.view(np.int64) if array.dtype == np.uint64 else array.astype(np.int64).astype(wide))

    def of_some(self, places: Array) -> bytes:
        return self.values[places].tobytes()

    def alone(self, place: int) -> bytes:
        return self.values[place : place + 1].tobytes()


@dataclass(frozen=True)
class _Texts(_PlainValues):
    """Texts with their lengths in four bytes before them, as one array of bytes, and where each starts."""

    content: Array
    starts: Array

    @classmethod
    def of(cls, values: pl.Series) -> _Texts:
        lengths = values.str.len_bytes().to_numpy().astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths + 4)])
        content = np.empty(starts[-1], np.uint8)
        is_length = np.zeros(len(content), bool)
        heads = starts[:-1, None] + np.arange(4)
        is_length[heads.ravel()] = True
        content[is_length] = lengths.astype("<u4").view(np.uint8)
        content[~is_length] = np.frombuffer("".join(values.to_list()).encode(), np.uint8)
        return cls(content, starts)

    def of_some(self, places: Array) -> bytes:
        lengths = self.starts[places + 1] - self.starts[places]
        ends = np.cumsum(lengths)
        at = np.repeat(self.starts[places] - (ends - lengths), lengths)
        at += np.arange(len(at))
        return bytes(self.content[at])

    def alone(self, place: int) -> bytes:
        return self.content[self.starts[place] + 4 : self.starts[place + 1]].tobytes()


def write_coded(path: Path, columns: Sequence[CodedColumn], groups: Iterable[slice | Array]) -> None:
    """Write columns as a Parquet file, group by group: the rows of each are a stretch, or positions."""
    template = template_of({column.name: column.values.dtype for column in columns})
    tasks = list(zip(columns, (element[1] for element in Reader(template).struct()[2][1:]), strict=True))
    written: list[Any] = []
    rows = 0
    with path.open("wb") as file:
        file.write(b"PAR1")
        for group in groups:
            chunks = in_threads(partial(_chunk, group), tasks)
            told = []
            for chunk in chunks:
                told.append(chunk.about(file.tell()))
                file.writelines(chunk.pages)
            sizes, length = sum(chunk.unpacked for chunk in chunks), chunks[0].rows
            written.append([(1, LIST, (STRUCT, told)), (2, I64, sizes), (3, I64, length)])
            rows += length
        footer = footer_of(template, rows, written, f"shoal version {__version__}")
        file.write(footer + len(footer).to_bytes(4, "little") + b"PAR1")


class _Chunk(NamedTuple):
    """The pages of one column in one group of rows, and what the footer says of them."""

    name: str
    kind: int
    rows: int
    pages: list[bytes]
    unpacked: int
    dictionary: int  # the bytes of its page; none: there is no dictionary
    statistics: list[Any]

    def about(self, start: int) -> list[Any]:
        """The entry in the footer of a chunk that starts there."""
        packed = sum(map(len, self.pages))
        encodings = [_PLAIN, _RLE, _RLE_DICTIONARY] if self.dictionary else [_PLAIN, _RLE]
        own = [
            (1, I32, self.kind),
            (2, LIST, (I32, encodings)),
            (3, LIST, (BINARY, [self.name.encode()])),
            (4, I32, _ZSTD),
            (5, I64, self.rows),
            (6, I64, self.unpacked),
            (7, I64, packed),
            (9, I64, start + self.dictionary),
            *([(11, I64, start)] if self.dictionary else []),
            (12, STRUCT, self.statistics),
        ]
        return [(2, I64, start), (3, STRUCT, own)]


def _chunk(rows: slice | Array, task: tuple[CodedColumn, int]) -> _Chunk:
    column, kind = task
    codes, held, missing = _taken(column, rows)
    length, levels = len(codes), _levels_of_all(len(codes))
    if missing:
        known = codes < len(column.values)
        codes, levels = codes[known], _levels(known)
    places = np.flatnonzero(held)
    pages, how = list[_Page](), _PLAIN
    if column.pays(len(places), len(codes)):
        pages.append(_dictionary_page(column.plain.of_some(places), len(places)))
        numbers = np.cumsum(held, dtype=np.uint32)
        numbers -= np.uint32(1)
        bits = max(int(len(places) - 1).bit_length(), 1)
        cells, how = bytes([bits]) + _packed_numbers(codes, numbers, bits), _RLE_DICTIONARY
    else:
        cells = column.plain.of_some(codes.astype(np.int64))
    data = _data_page(levels + cells, length, how)
    told: list[Any] = [(3, I64, length - len(codes))]
    ends = [column.plain.alone(int(place)) for place in (places[[-1, 0]] if len(places) and column.in_order else ())]
    if ends and max(map(len, ends)) <= _LONGEST:
        told += [(5, BINARY, ends[0]), (6, BINARY, ends[1])]
    dictionary = sum(len(page.content) for page in pages)
    pages.append(data)
    return _Chunk(
        column.name,
        kind,
        length,
        [page.content for page in pages],
        sum(page.unpacked for page in pages),
        dictionary,
        told,
    )


class _Page(NamedTuple):
    """A page with its head, and how many bytes that would be if nothing was packed."""

    content: bytes
    unpacked: int


def _dictionary_page(content: bytes, values: int) -> _Page:
    return _page(_DICTIONARY_PAGE, content, (7, STRUCT, [(1, I32, values), (2, I32, _PLAIN)]))


def _data_page(content: bytes, rows: int, how: int) -> _Page:
    return _page(_DATA_PAGE, content, (5, STRUCT, [(1, I32, rows), (2, I32, how), (3, I32, _RLE), (4, I32, _RLE)]))


def _page(kind: int, content: bytes, about: tuple[int, int, Any]) -> _Page:
    packed = compress(content, _LEVEL)
    head = struct_bytes([(1, I32, kind), (2, I32, len(content)), (3, I32, len(packed)), about])
    return _Page(head + packed, len(head) + len(content))


def _taken(column: CodedColumn, rows: slice | Array) -> tuple[Array, Array, int]:
    """The codes of some rows, which values they have, and how many are missing."""
    held = np.zeros(len(column.values), bool)
    if not isinstance(rows, slice) and type(column.codes) is np.ndarray and _are_looped(column.codes):
        taken = np.empty(len(rows), np.uint32)
        return taken, held, take_codes(column.codes, rows, taken, held)
    codes = np.asarray(column.codes[rows] if isinstance(rows, slice) else column.codes.take(rows))
    known = codes < len(column.values)
    if known.all():
        held[codes] = True
        return codes, held, 0
    held[codes[known]] = True
    return codes, held, int(np.count_nonzero(~known))


def _are_looped(codes: Array) -> bool:
    """Whether these codes are of a type for which there is a loop."""
    return codes.dtype in (np.uint8, np.uint16, np.uint32) and codes.flags.c_contiguous


def _packed_numbers(codes: Array, numbers: Array, bits: int) -> bytes:
    """The numbers of codes as one run of so many bits each."""
    if codes.dtype != np.uint32:
        return _packed(numbers.take(codes), bits)
    groups = (len(codes) + 7) // 8
    packed = np.zeros(groups * bits, np.uint8)
    pack_numbers(codes, numbers, bits, packed)
    return varint(groups << 1 | 1) + packed.tobytes()


def _levels_of_all(rows: int) -> bytes:
    """That all of so many rows have a value: one run."""
    runs = varint(rows << 1) + b"\1"
    return len(runs).to_bytes(4, "little") + runs


def _levels(known: Array) -> bytes:
    """Which rows have a value, bit by bit."""
    runs = varint((len(known) + 7) // 8 << 1 | 1) + np.packbits(known, bitorder="little").tobytes()
    return len(runs).to_bytes(4, "little") + runs


def _packed(codes: Array, bits: int) -> bytes:
    """Codes as one run of so many bits each, the lowest first: eight of them are `bits` bytes.

    >>> _packed(np.arange(8, dtype=np.uint32), 3).hex()
    '0388c6fa'
    """
    groups = (len(codes) + 7) // 8
    eights = np.zeros((8, groups), np.uint64)
    whole = len(codes) // 8
    eights[:, :whole] = codes[: whole * 8].reshape(whole, 8).T
    eights[: len(codes) - whole * 8, whole:] = codes[whole * 8 :, None]
    words = np.zeros((groups, (bits + 7) // 8), np.uint64)
    for place in range(8):
        word, shift = divmod(place * bits, 64)
        words[:, word] |= eights[place] << np.uint64(shift)
        if shift + bits > 64:  # the rest is in the next word
            words[:, word + 1] |= eights[place] >> np.uint64(64 - shift)
    return varint(groups << 1 | 1) + words.astype("<u8", copy=False).view(np.uint8)[:, :bits].tobytes()


# From so many rows on a file is written from codes, whoever writes it: then it is the same byte by byte.
FROM_ROWS = 1 << 18
# Records that stand together in such a file: of fewer, more of the dictionaries would be the same again.
ROW_GROUP = 1 << 19


def coded_result(result: Anonymized, rows: int, target: Path) -> list[CodedColumn] | None:
    """The columns of a result that is released with so many rows; None where they are not written from codes."""
    if not _from_codes(result, rows, target):
        return None
    gone, found = set(result.policy.with_role("identifier")), []
    for name, own in result.table.columns.items():
        if name not in gone:
            shown = [own] if name not in result.columns else result.columns[name].encoded
            found += [_coded(column) for column in shown]
    return _if_all(found)


def coded_frame(result: Anonymized, frame: pl.DataFrame, target: Path) -> list[CodedColumn] | None:
    """The columns of a frame that a result is released as; None where they are not written from codes."""
    if not _from_codes(result, len(frame), target):
        return None
    return _if_all([_coded(encode(series)) for series in frame])


def write_groups(columns: Sequence[CodedColumn], draft: Path, rows: int, order: Array | None = None) -> None:
    """Write so many rows as a Parquet file, in an `order` of them, if any."""

    def groups() -> Iterator[slice | Array]:
        for start in range(0, rows, ROW_GROUP):
            stop = min(start + ROW_GROUP, rows)
            yield slice(start, stop) if order is None else order[start:stop]
            progress.report("writing", stop, rows)

    write_coded(draft, columns, groups())


def write_coded_frame(columns: Sequence[CodedColumn], frame: pl.DataFrame, draft: Path, target: Path) -> None:
    """Write the columns of a frame as a Parquet file, down to the disk."""
    with filling_disk(draft, target, lambda: frame.estimated_size()):
        write_groups(columns, draft, len(frame))
    sync(draft)


def _from_codes(result: Anonymized, rows: int, target: Path) -> bool:
    """Not few rows, no other format than Parquet, no text that was scrubbed, nothing spelled as declared, no means."""
    if os.environ.get("SHOAL_PARQUET_WRITER") == "polars":  # who does not trust this writer can do without it
        return False
    if rows <= FROM_ROWS or target.suffix.lower() != ".parquet" or result.policy.with_role("text"):
        return False
    spelled = any(column.declared is not None for column in result.table.columns.values())
    return not spelled and all(entry.form.decimals is None for entry in result.columns.values())


def _coded(column: Column) -> CodedColumn:
    if column.written is not None and column.written[1].dtype.is_float():  # 0.0 and -0.0 apart; the last is null
        return CodedColumn(column.name, column.written[0], column.written[1][:-1])
    texts = isinstance(column.dtype, (pl.Categorical, pl.Enum))
    return CodedColumn(column.name, column.codes, column.values.cast(pl.String() if texts else column.dtype))


def _if_all(columns: list[CodedColumn]) -> list[CodedColumn] | None:
    apart = len({column.name for column in columns}) == len(columns)
    return columns if apart and all(column.is_written for column in columns) else None
