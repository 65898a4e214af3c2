"""The values of Parquet's dictionary pages: integers and dates as they lie there, texts read by polars, once each."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.reading.thrift import BINARY, I32, I64, LIST, STRUCT, Reader, list_bytes, struct_bytes, varint
from shoal.table import Array, smallest_unsigned

# physical types: integers of four and eight bytes, and bytes with their length
_INTEGERS: dict[int, np.dtype[Any]] = {1: np.dtype("<i4"), 2: np.dtype("<i8")}
TEXT = 6
# dictionaries that are united by looking at the first text of each that is left
_MOST_UNITED = 64
_PLAIN, _RLE, _DATA_PAGE, _UNPACKED = 0, 3, 0, 0


def numbers(dtype: pl.DataType, kind: int, contents: Sequence[bytes], counts: Sequence[int]) -> pl.Series:
    """The integers or dates of dictionary pages, one behind the other."""
    wide = _INTEGERS[kind]
    if any(len(content) != count * wide.itemsize for content, count in zip(contents, counts, strict=True)):
        raise EOFError
    array: Array = np.frombuffer(b"".join(contents), wide)
    if dtype in (pl.UInt32, pl.UInt64):
        array = array.view(f"<u{wide.itemsize}")
    return pl.Series(array).cast(dtype)


def united_texts(contents: Sequence[bytes], first: Array) -> tuple[pl.Series, Array] | None:
    """The texts of dictionaries that are in order as one that is, and the place in it of each; None of others."""
    from shoal.reading.parquet_loops import copy_texts, merge_texts, text_starts

    if len(contents) > _MOST_UNITED:
        return None
    data, count = np.frombuffer(b"".join(contents), np.uint8), int(first[-1])
    starts = np.empty(count, np.int64)
    in_order = text_starts(data, first, starts)
    if in_order < 0:
        raise EOFError
    if not in_order:
        return None
    places, chosen = np.empty(count, np.uint32), np.empty(count, np.uint32)
    texts = merge_texts(data, first, starts, np.empty(len(contents), np.int64), places, chosen)
    copied = np.empty(len(data), np.uint8)
    size = copy_texts(data, starts, chosen[:texts], copied)
    return texts_of(copied[:size].tobytes(), texts), places.astype(smallest_unsigned(texts + 1))


def texts_of(content: bytes, count: int) -> pl.Series:
    """Texts with their lengths in four bytes before them: polars reads them as the one page of a file."""
    runs = varint(count << 1) + b"\1"
    levels = len(runs).to_bytes(4, "little") + runs
    page = struct_bytes([
        (1, I32, _DATA_PAGE),
        (2, I32, len(levels) + len(content)),
        (3, I32, len(levels) + len(content)),
        (5, STRUCT, [(1, I32, count), (2, I32, _PLAIN), (3, I32, _RLE), (4, I32, _RLE)]),
    ])  # fmt: skip
    size = len(page) + len(levels) + len(content)
    about = [
        (1, I32, TEXT), (2, LIST, (I32, [_PLAIN, _RLE])), (3, LIST, (BINARY, [b"text"])), (4, I32, _UNPACKED),
        (5, I64, count), (6, I64, size), (7, I64, size), (9, I64, 4),
    ]  # fmt: skip
    group = [(1, LIST, (STRUCT, [[(2, I64, 4), (3, STRUCT, about)]])), (2, I64, size), (3, I64, count)]
    footer = footer_of(template_of({"text": pl.String()}), count, [group])
    file = b"".join([b"PAR1", page, levels, content, footer, len(footer).to_bytes(4, "little"), b"PAR1"])
    return pl.read_parquet(io.BytesIO(file))["text"]


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
