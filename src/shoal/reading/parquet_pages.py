"""Columns of a large Parquet file as the codes of its dictionary pages, without a value for each row.

A writer puts the distinct values of a group of rows into a dictionary page, and rows as places in it, packed bit by
bit. Those places are codes already. Only what is known here exactly is read so (texts, integers and dates, packed with
Zstandard or not at all, every page of a column by its dictionary); other columns and files are left to polars, and so
is a file without texts, or one whose first rows polars reads otherwise.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.reading.parquet_check import Footer, PageAt
from shoal.reading.parquet_dictionaries import TEXT, numbers, texts_of, united_texts
from shoal.reading.thrift import varint
from shoal.table import Array, smallest_unsigned
from shoal.table.coded import InCodes
from shoal.table.encode import ranked

# rows of a batch, and of one group of rows at most
_ROWS = 1 << 24
# rows that are read by polars too
_COMPARED = 16
_PLAIN, _RLE = 0, 3
_BY_DICTIONARY = (2, 8)
_UNPACKED, _ZSTD = 0, 6
_DICTIONARY_PAGE, _DATA_PAGE = 2, 0
_IN_FOUR_BYTES = (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.Date)
_IN_EIGHT_BYTES = (pl.Int64, pl.UInt64)


class _Chunk(NamedTuple):
    """A column in one group of rows: where its pages are, and how they are packed."""

    dictionary: PageAt
    pages: list[PageAt]
    codec: int


@dataclass(frozen=True)
class _Known:
    """A column whose pages are known: its type, whether cells can be missing, and its chunks, group by group."""

    name: str
    dtype: pl.DataType
    kind: int
    optional: bool
    chunks: list[_Chunk]

    def united(self, contents: list[bytes], counts: list[int], first: Array) -> tuple[pl.Series, Array]:
        """The distinct values of dictionary pages in order, and the place among them of each entry."""
        found = united_texts(contents, first) if self.kind == TEXT else None
        return ranked(self.values(contents, counts)) if found is None else found

    def values(self, contents: list[bytes], counts: list[int]) -> pl.Series:
        """The values of dictionary pages, one behind the other."""
        if self.kind == TEXT:
            return texts_of(b"".join(contents), sum(counts))
        return numbers(self.dtype, self.kind, contents, counts)


class RowGroups:
    """Consecutive groups of rows; each column is read when it is asked for: in codes where its pages are known."""

    def __init__(self, file: CodedFile, groups: range, others: Sequence[str]) -> None:
        self._file, self._groups, self._others = file, groups, others
        self.columns = [*file.known, *others]
        # how many columns are still to be read
        self.uncoded = len(self.columns)

    def __len__(self) -> int:
        return sum(self._file.rows[group] for group in self._groups)

    def __getitem__(self, name: str) -> pl.Series | InCodes:
        if name in self._file.known:
            return self._file.codes(self._file.known[name], self._groups)
        return self._frame[name]

    @cached_property
    def _frame(self) -> pl.DataFrame:
        start = sum(self._file.rows[: self._groups.start])
        return self._file.scan.select(self._others).slice(start, len(self)).collect()


@dataclass(frozen=True)
class CodedFile:
    """A Parquet file with columns whose pages are known."""

    path: Path
    scan: pl.LazyFrame
    rows: list[int]  # of each group
    known: Mapping[str, _Known]

    @classmethod
    def of(
        cls, path: Path, footer: Footer, pages: Mapping[int, list[PageAt]], scan: pl.LazyFrame, wanted: Sequence[str]
    ) -> CodedFile | None:
        """None where no wanted column is read so, or polars reads its first rows otherwise."""
        about, schema = footer.about, scan.collect_schema()
        rows = [group[3] for group in about[4]]
        if max(rows, default=0) > _ROWS or not all(rows):
            return None
        flat = len(about[2]) == len(footer.names) + 1
        places = {name: place for place, name in enumerate(footer.names)} if flat else {}
        found = dict[str, _Known]()
        for name in wanted:
            if name in places:
                chunks = [group[1][places[name]][3] for group in about[4]]
                known = _known(name, schema[name], about[2][1 + places[name]], chunks, pages)
                found |= {} if known is None else {name: known}
        file = cls(path, scan, rows, found)
        # numbers alone are read by polars as cheaply, and by all processors from the first page on
        pays = any(column.kind == TEXT for column in found.values())
        return file if pays and file._is_read_alike() else None

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[RowGroups, int]]:
        """Groups of rows, as many at once as have not too many rows, and the rows so far."""
        others = [name for name in columns if name not in self.known]
        start = 0
        while start < len(self.rows):
            end = start + 1
            while end < len(self.rows) and sum(self.rows[start : end + 1]) <= _ROWS:
                end += 1
            batch = RowGroups(self, range(start, end), others)
            yield batch, sum(self.rows[:end])
            start = end

    def codes(self, column: _Known, groups: range) -> InCodes:
        """The values of the dictionaries of some groups, in order, and the place among them of each row."""
        chunks = [column.chunks[group] for group in groups]
        counts = [chunk.dictionary.header[7][1] for chunk in chunks]
        first = np.cumsum([0, *counts])
        held = np.zeros(first[-1], bool)
        row = 0
        with _Pages(self.path) as pages:
            values, place_of = column.united([pages.read(one.dictionary, one.codec) for one in chunks], counts, first)
            codes = np.empty(sum(self.rows[group] for group in groups), smallest_unsigned(len(values) + 1))
            # one page at a time, so that its cells stay in the cache
            cells = np.empty(max(at.header[5][1] for chunk in chunks for at in chunk.pages), np.uint32)
            for number, chunk in enumerate(chunks):
                here = slice(first[number], first[number + 1])
                own = np.append(place_of[here], len(values)).astype(codes.dtype)
                for at in chunk.pages:
                    some = cells[: at.header[5][1]]
                    _fill(some, pages.read(at, chunk.codec), at, column.optional, held[here])
                    own.take(some, out=codes[row : row + len(some)], mode="clip")
                    row += len(some)
        return _only_held(codes, values, place_of[held])

    def _is_read_alike(self) -> bool:
        """Whether polars reads the first rows of the last group as they are read here."""
        last = len(self.rows) - 1
        frame = self.scan.select(list(self.known)).slice(sum(self.rows[:last]), _COMPARED).collect()
        with _Pages(self.path) as pages:
            return all(
                self._begins(column.chunks[last], column, frame[name], pages) for name, column in self.known.items()
            )

    def _begins(self, chunk: _Chunk, column: _Known, expected: pl.Series, pages: _Pages) -> bool:
        """Whether the first cells of a column in one group of rows are these."""
        at, count = chunk.pages[0], chunk.dictionary.header[7][1]
        cells = np.empty(min(_COMPARED, at.header[5][1]), np.uint32)
        _fill(cells, pages.read(at, chunk.codec), at, column.optional, np.zeros(count, bool))
        dictionary = column.values([pages.read(chunk.dictionary, chunk.codec)], [count]).extend_constant(None, 1)
        return dictionary.gather(cells).equals(expected.head(len(cells)), check_dtypes=True)


class _Pages:
    """The pages of a file, each read and unpacked when it is asked for."""

    def __init__(self, path: Path) -> None:
        import zstandard

        self._library, self._descriptor = zstandard.ZstdDecompressor(), os.open(path, os.O_RDONLY)

    def __enter__(self) -> _Pages:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def read(self, at: PageAt, codec: int) -> bytes:
        """The content of a page; an EOFError where it is cut or damaged."""
        packed, size = os.pread(self._descriptor, at.header[3], at.start), at.header[2]
        if len(packed) != at.header[3]:
            raise EOFError
        return packed if codec == _UNPACKED else _unpacked(self._library, packed, size)


def has_loops() -> bool:
    """Whether machine code is at hand: compiling it, or starting numba, takes longer than reading otherwise."""
    from shoal.compiled import at_hand
    from shoal.reading.parquet_loops import unpack

    return at_hand(unpack)


def rehearse() -> None:
    """Read a small file with missing cells, so that every loop is compiled."""
    from shoal.reading.parquet_check import check_parquet

    frame = pl.DataFrame({"age": [34, None, 51, 34], "sex": ["f", "m", None, "f"]})
    with tempfile.TemporaryDirectory() as folder:
        path, pages = Path(folder) / "few.parquet", dict[int, list[PageAt]]()
        frame.select(pl.all().repeat_by(100).explode().sort()).write_parquet(path)
        footer = check_parquet(path, None, None, pages)
        file = CodedFile.of(path, footer, pages, pl.scan_parquet(path), frame.columns)
        assert file is not None
        for batch, _ in file.batches(frame.columns):
            assert all(isinstance(batch[name], InCodes) for name in frame.columns)


def _known(
    name: str, dtype: pl.DataType, element: Mapping[int, Any], chunks: Sequence[Any], pages: Mapping[int, list[PageAt]]
) -> _Known | None:
    """A column all of whose pages are known, else None; a column that repeats or has parts is not."""
    kind, repeats = element.get(1, -1), element.get(3)
    fits = kind == TEXT if dtype == pl.String else kind == 1 if dtype in _IN_FOUR_BYTES else kind == 2
    if not fits or dtype not in (pl.String, *_IN_FOUR_BYTES, *_IN_EIGHT_BYTES) or repeats not in (0, 1):
        return None
    found = []
    for about in chunks:
        own = pages.get(about[9] if about.get(11) is None else min(about[9], about[11]))
        if not own:
            return None
        first, others = own[0], own[1:]
        if first.header[1] != _DICTIONARY_PAGE or first.header[7].get(2) not in (_PLAIN, 2):
            return None
        if about[4] not in (_UNPACKED, _ZSTD) or not all(_is_known(one.header) for one in others):
            return None
        found.append(_Chunk(first, others, about[4]))
    return _Known(name, dtype, kind, repeats == 1, found)


def _is_known(header: Mapping[int, Any]) -> bool:
    return header[1] == _DATA_PAGE and header[5].get(2) in _BY_DICTIONARY and header[5].get(3) == _RLE


def _unpacked(library: Any, packed: bytes, size: int) -> bytes:
    """The content of a page, which must be as long as its header says."""
    import zstandard

    try:
        if zstandard.frame_content_size(packed) not in (-1, size):
            raise EOFError
        content: bytes = library.decompress(packed, max_output_size=size)
    except zstandard.ZstdError:
        raise EOFError from None
    if len(content) != size:
        raise EOFError
    return content


def _only_held(codes: Array, values: pl.Series, places: Array) -> InCodes:
    """Cells in codes without the values that no cell has: a dictionary may have such."""
    present = np.zeros(len(values) + 1, bool)
    present[places] = present[-1] = True
    if present.all():
        return InCodes(codes, values)
    kept = (np.cumsum(present) - 1).astype(codes.dtype)
    return InCodes(kept[codes], values.filter(pl.Series(present[:-1])))


def _fill(cells: Array, content: bytes, page: PageAt, optional: bool, held: Array) -> None:
    """The places of a page's first cells in its dictionary; missing ones are past it."""
    from shoal.reading.parquet_loops import MOST_BITS, unpack

    data, start, known = np.frombuffer(content, np.uint8), 0, None
    if optional:
        start = 4 + int.from_bytes(content[:4], "little")
        if start > len(content):
            raise EOFError
        # nearly always one run that says that nothing is missing
        if content[4:start] != varint(page.header[5][1] << 1) + b"\1":
            known = np.empty(len(cells), np.uint32)
            if unpack(data[:start], 4, 1, 0, known, np.zeros(2, bool)) < 0:
                raise EOFError
    found = cells if known is None else np.empty(int(known.sum()), np.uint32)
    if len(found) and (start >= len(content) or content[start] > MOST_BITS):
        raise EOFError
    if len(found) and unpack(data, start + 1, int(content[start]), 0, found, held) < 0:
        raise EOFError
    if known is not None:
        cells[:] = len(held)
        cells[known.view(bool)[::4]] = found
