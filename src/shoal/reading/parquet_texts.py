"""Texts of a Parquet file as the codes of its dictionary pages: a text that a million rows have is looked at once.

A writer puts the distinct texts of a group of rows into a dictionary page, and rows as places in it. polars reads them
so where the schema that it kept in the footer says that the column is categorical. Pages are those of the file; only
that note in the footer is another one in memory.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.table.encode import text_categories

_SCHEMA = b"ARROW:schema"
# where a chunk's dictionary page starts, and the path of its column, in the footer
_DICTIONARY_PAGE, _NAMES = 11, 3


def with_categories(
    path: Path, schema: Mapping[str, pl.DataType], footer: dict[int, Any], wanted: Collection[str]
) -> bytes | None:
    """A Parquet file whose texts are read as categories; None where no wanted column of it gains by that.

    A column gains that has a dictionary in every group of rows. The note in the footer must be the one that polars
    writes for such a table: then the types of all other columns stay what they are.
    """
    plain = {
        chunk[3][_NAMES][0].decode() for group in footer[4] for chunk in group[1] if _DICTIONARY_PAGE not in chunk[3]
    }
    texts = [name for name in wanted if schema.get(name) == pl.String and name not in plain]
    if not texts:
        return None
    changed = {**schema, **{name: text_categories() for name in texts}}
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        found = data[start:-8]
        old, new = _noted(schema), _noted(changed)
        if old is None or new is None or found.count(old) != 1:
            return None
        found = found.replace(old, new)
        with memoryview(data) as whole, whole[:start] as pages:
            return b"".join([pages, found, len(found).to_bytes(4, "little"), b"PAR1"])


def _noted(schema: Mapping[str, pl.DataType]) -> bytes | None:
    """The schema as polars notes it in a footer: its key, and the text with its length before it."""
    buffer = io.BytesIO()
    pl.DataFrame(schema=schema).write_parquet(buffer)
    footer = buffer.getvalue()
    key = footer.find(_SCHEMA)
    if key < 0:
        return None
    # a field of bytes (0x18), its length in groups of seven bits, the bytes
    start = key + len(_SCHEMA) + 1
    end, length, shift = start, 0, 0
    while True:
        byte = footer[end]
        length |= (byte & 127) << shift
        end, shift = end + 1, shift + 7
        if byte < 128:
            return footer[key : end + length]
