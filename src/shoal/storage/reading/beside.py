"""What a file holds beside its table: other readers of it find metadata, comments, other sheets and dictionary entries
that no cell uses. Nothing of this is in a file that shoal writes.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.storage.formats import format_of_file
from shoal.storage.reading.bytes import Compression, compression_of, damage_as_error
from shoal.storage.reading.hostile import (
    Damaged,
    FlatTable,
    Reader,
    between_messages,
    check_parquet,
    messages_of,
    root_of,
    within_limits,
)
from shoal.storage.table import Table

_HEAD = 64
# the last three bytes by which a part that zstd skips begins, and how much of a gzip file is unpacked at once
_SKIPPED, _PIECE = b"\x2a\x4d\x18", 1 << 16
# who writes Parquet, as these libraries name themselves; and the fields of a footer that is not encrypted
_WRITER = re.compile(
    rb"(shoal|Polars( \(python\))?|parquet-(mr|cpp-arrow|rs|rs-arrow)|DuckDB)( version v?[0-9]+(\.[0-9a-z+]+){0,6})?"
    rb"( \(build [0-9a-f]{0,40}\))?"
)
_FOOTER_FIELDS = {1, 2, 3, 4, 5, 6, 7}
# writers cut texts of so many bytes where they say which is the least and the greatest
_CUT = 16


def held_beside(path: Path, table: Table) -> list[str]:
    """What a file holds beside the table that was read from it, in words; formats that shoal does not write are said.

    >>> from shoal.storage.reading import read
    >>> held_beside(Path("no such file.csv"), read({"age": [3]}))
    []
    """
    if path.is_dir():
        parts = sorted(path.rglob("*.parquet"))
        return list(dict.fromkeys(found for part in parts for found in _of_parquet(part)))
    if not path.is_file():
        return []
    with path.open("rb") as file:
        head = file.read(_HEAD)
    form = format_of_file(head, [end.lower() for end in path.suffixes])
    is_text = form is None or form.name in ("CSV", "JSON lines")
    if form is not None and not is_text and (form.write is None or path.suffix.lower() in (".xls", ".xlsb", ".xlsm")):
        return [f"what {form.name} files have room for: it was not looked at, write a format that shoal writes"]
    looked = {"Parquet": _of_parquet, "Arrow": _of_arrow, "Avro": _of_avro}
    try:
        if form is None or is_text:
            return list(dict.fromkeys(_of_compressed(path, head)))
        if form.name in looked:
            return list(dict.fromkeys(looked[form.name](path)))
        return list(_of_workbook(path, table) if form.name == "Excel" else _of_labels(table))
    except (Damaged, KeyError, IndexError, TypeError, AttributeError, ValueError, struct.error, zlib.error):
        raise InputError(f"{path} is damaged: its parts do not fit together.", "Copy or export it again.") from None


def _of_compressed(path: Path, head: bytes) -> Iterator[str]:
    """Of a gzip or zstd file: what stands in and between its parts, which readers pass over."""
    from shoal.storage.formats.zstandard import ZstdError, get_frame_size

    compression = compression_of(head)
    if compression is Compression.NONE:
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        at = 0
        while at < len(data):
            if compression is Compression.ZSTD:
                if data[at + 1 : at + 4] == _SKIPPED:
                    yield "a part that zstd skips"
                with memoryview(data) as whole, whole[at:] as rest:
                    try:
                        at += get_frame_size(rest)
                    except ZstdError:
                        raise Damaged from None
                continue
            if data[at : at + 2] != head[:2]:
                yield "bytes after the end of its gzip stream"
                return
            if data[at + 3]:
                yield "a name, a comment or a field in its gzip header"
            at = _end_of_gzip(data, at)


def _end_of_gzip(data: mmap, at: int) -> int:
    """Just past one stream of a gzip file."""
    stream = zlib.decompressobj(wbits=31)
    while not stream.eof:
        if at >= len(data):
            raise Damaged
        piece = data[at : at + _PIECE]
        at += len(piece)
        stream.decompress(piece)
    return at - len(stream.unused_data)


def _of_parquet(path: Path) -> Iterator[str]:
    about = check_parquet(path, ()).about
    if not _WRITER.fullmatch(about.get(6, b"")) or set(about) - _FOOTER_FIELDS:
        yield "a writer that there is not, or fields that nobody reads"
    columns = [(element[4].decode(), element.get(3) == 1) for element in about[2][1:]]
    for entry in about.get(5) or []:
        if _is_of_spark(entry[1], entry.get(2) or b"", columns):
            continue
        if entry[1] != b"ARROW:schema":
            yield "key-value metadata"
        elif any(_of_schema(_message(base64.b64decode(entry[2])).table(2))):
            yield "metadata in its Arrow schema"
    row = 0
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        for group in about[4]:
            flat = [chunk for chunk in group[1] if len(chunk[3][3]) == 1]
            found = _different(path, row, group[3], [chunk[3][3][0].decode() for chunk in flat])
            for chunk in flat:
                yield from _of_chunk(data, chunk, found[chunk[3][3][0].decode()])
            for chunk in group[1]:
                if chunk[3].get(8) or chunk[3].get(14):
                    yield "metadata or a filter of a column"
            row += group[3]


# the types of columns that Spark writes; one with fields of its own is not among what shoal releases
_SPARK_TYPE = re.compile(
    r"(string|boolean|byte|short|integer|long|float|double|binary|date|timestamp(_ntz)?|decimal\(\d{1,2},\d{1,2}\))"
)


def _is_of_spark(key: bytes, value: bytes, columns: list[tuple[str, bool]]) -> bool:
    """Whether an entry is what Spark itself writes into each file, to the letter: its version, or the names and types
    of the columns (and whether cells may be missing), with no word more.

    >>> _is_of_spark(b"org.apache.spark.version", b"4.0.1", []), _is_of_spark(b"note", b"4.0.1", [])
    (True, False)
    """
    if key == b"org.apache.spark.version":
        return re.fullmatch(rb"\d{1,2}\.\d{1,2}\.\d{1,2}", value) is not None
    if key != b"org.apache.spark.sql.parquet.row.metadata":
        return False
    try:
        types = [field["type"] for field in json.loads(value)["fields"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    if len(types) != len(columns) or not all(isinstance(one, str) and _SPARK_TYPE.fullmatch(one) for one in types):
        return False
    fields = [
        {"name": name, "type": one, "nullable": optional, "metadata": {}}
        for (name, optional), one in zip(columns, types, strict=True)
    ]
    schema = {"type": "struct", "fields": fields}
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode() == value


def _start(about: dict[int, Any]) -> int:
    return int(min(about[9], about.get(11) or about[9]))


def _different(path: Path, row: int, rows: int, names: list[str]) -> dict[str, pl.Series]:
    """The different values that each column has in some rows."""
    if not names or not rows:
        return {name: pl.Series([], dtype=pl.Null) for name in names}
    with damage_as_error(path):
        stretch = pl.scan_parquet(path, glob=False, hive_partitioning=False).select(names).slice(row, rows)
        frame = within_limits(path, stretch.collect)
    # 0.0 and -0.0 are two entries
    known = [one.cast(pl.String) if one.dtype.is_float() else one for one in frame.get_columns()]
    return {one.name: series.drop_nulls().unique() for one, series in zip(frame.get_columns(), known, strict=True)}


def _of_chunk(data: mmap, chunk: dict[int, Any], found: pl.Series) -> Iterator[str]:
    """Of one column in one group of rows: dictionary entries that no cell uses, and statistics of other values."""
    about = chunk[3]
    if about[7]:
        header = Reader(data, _start(about)).struct()
        if header[1] == 2 and header[7][1] > len(found):
            yield "dictionary entries that no cell uses"
    if about[1] != 6 or found.dtype != pl.String:  # of numbers readers tell what is wrong
        return
    told = [text for field, text in (about.get(12) or {}).items() if field in (1, 2, 5, 6)]
    if chunk.get(6):
        pages = Reader(data, chunk[6]).struct()
        empty = pages.get(1) or []
        lists = [pages.get(field) or [] for field in (2, 3)]
        told += [text for ends in lists for text, none in zip(ends, empty, strict=True) if text or not none]
    if not all(_is_bound(text, found) for text in set(told)):
        yield "statistics that tell of other values"


def _is_bound(text: bytes, values: pl.Series) -> bool:
    """Whether a text is one of some values, or the start of one with its last sign raised, as long ones are cut."""
    try:
        start = text.decode()
    except UnicodeDecodeError:
        start = text[:-1].decode(errors="ignore")
    if (values == start).any() or values.str.starts_with(start).any():
        return True
    return len(text) >= _CUT and bool(values.str.starts_with(start[:-1]).any())


def _message(data: bytes) -> FlatTable:
    return root_of(data, 8 if data[:4] == b"\xff\xff\xff\xff" else 4)


def _of_schema(schema: FlatTable) -> Iterator[str]:
    if schema.place(2) is not None and any(True for _ in schema.structs(2, 4)):
        yield "metadata in its Arrow schema"
    for field in schema.tables(1):
        yield from _of_field(field)


def _of_field(field: FlatTable) -> Iterator[str]:
    if any(True for _ in field.structs(6, 4)):
        yield "metadata in its Arrow schema"
    for part in field.tables(5):
        yield from _of_field(part)


def _of_arrow(path: Path) -> Iterator[str]:
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        stream = data[:6] != b"ARROW1"
        if not stream:
            footer = root_of(data, len(data) - 10 - int.from_bytes(data[-10:-6], "little"))
            if any(True for _ in footer.structs(4, 4)):
                yield "metadata in its footer"
            yield from _of_schema(footer.table(1))
        if any(gap.strip(b"\0") for gap in between_messages(data, stream)):
            yield "bytes that belong to none of its parts"
        entries = 0
        for message in messages_of(data, stream):
            if any(True for _ in message.structs(4, 4)):
                yield "metadata of a message"
            if message.number(1, "B") == 1:
                yield from _of_schema(message.table(2))
            if message.number(1, "B") == 2:
                entries += message.table(2).table(1).number(0, "q")
    if entries:
        with damage_as_error(path):
            frame = within_limits(path, lambda: pl.read_ipc_stream(path) if stream else pl.read_ipc(path))
        coded = [one.drop_nulls() for one in frame.get_columns() if isinstance(one.dtype, (pl.Categorical, pl.Enum))]
        if entries > sum(one.n_unique() if len(one) else 0 for one in coded):
            yield "dictionary entries that no cell uses"


# what polars writes of a type; anything else in the schema is a text for people
_AVRO_WORDS = {"type", "name", "fields", "logicalType", "precision", "scale", "items", "size"}


def _of_avro(path: Path) -> Iterator[str]:
    reader = Reader(path.read_bytes(), 4)
    while count := reader.signed():
        if count < 0:
            reader.signed()
        for _ in range(abs(count)):
            key, value = reader.take(reader.signed()), reader.take(reader.signed())
            if key == b"avro.schema" and not _only_types(json.loads(value)):
                yield "words in its schema"
            elif key not in (b"avro.schema", b"avro.codec"):
                yield "metadata"


def _only_types(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(map(_only_types, schema))
    if isinstance(schema, dict):
        return not set(schema) - _AVRO_WORDS and all(map(_only_types, schema.values()))
    return True


def _of_labels(table: Table) -> Iterator[str]:
    """Labels of a survey file for codes that no cell holds."""
    for name, labels in table.labels.items():
        if name in table.columns:
            shown = table[name].decode()
            there = {*labels.kept(shown).values, *(shown.unique().to_list() if shown.dtype == pl.String else ())}
            if {*labels.values} - there:
                yield f"labels of codes that no cell of {name} holds"


_MEMBERS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/workbook\.xml|xl/_rels/workbook\.xml\.rels"
    r"|xl/worksheets/sheet1\.xml|xl/styles\.xml|xl/sharedStrings\.xml|xl/theme/theme1\.xml"
)
# the elements of a sheet that is a table, of its texts, and of the list of sheets
_ELEMENTS = {
    "xl/worksheets/sheet1.xml": b"worksheet dimension sheetPr sheetViews sheetView pane selection sheetFormatPr cols "
    b"col sheetData row c v is t pageMargins pageSetup printOptions autoFilter",
    "xl/sharedStrings.xml": b"sst si t r rPr rFont sz b i color family scheme",
    "xl/workbook.xml": b"workbook fileVersion workbookPr bookViews workbookView sheets sheet calcPr",
}
_TAG = re.compile(rb"<([A-Za-z][A-Za-z0-9:]*)")
_ABOUT = re.compile(rb"<(?:[a-z]+:)?(title|subject|description|keywords|category|Company|Manager)>[^<]")
_NAMED_FORMAT = re.compile(rb'formatCode="[^"]*&quot;[^"]*[A-Za-z0-9][^"]*&quot;')
_SHARED = re.compile(rb't="s"[^>]*><v>([0-9]+)</v>')


def _of_workbook(path: Path, table: Table) -> Iterator[str]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if other := [name for name in names if not _MEMBERS.fullmatch(name)]:
            yield f"{len(other)} parts that are no part of a table (other sheets, comments, pictures, links)"
        if archive.comment or len(set(names)) != len(names):
            yield "a comment, or a part twice"
        parts = {name: archive.read(name) for name in names if _MEMBERS.fullmatch(name)}
    for name, known in _ELEMENTS.items():
        if set(_TAG.findall(parts.get(name, b""))) - set(known.split()) or b"<!" in parts.get(name, b""):
            yield "formulas, or other elements than cells"
    if any(_ABOUT.search(content) for name, content in parts.items() if name.startswith("docProps/")):
        yield "words about the document"
    if _NAMED_FORMAT.search(parts.get("xl/styles.xml", b"")):
        yield "formats of numbers that show texts"
    sheet, texts = parts["xl/worksheets/sheet1.xml"], parts.get("xl/sharedStrings.xml", b"")
    if len(re.findall(rb"<si[\s/>]", texts)) > len(set(_SHARED.findall(sheet))):
        yield "texts that no cell uses"
    if sum(b"<v>" in row or b"<t" in row for row in sheet.split(b"<row")[1:]) != table.total + 1:
        yield "rows that are not of the table"
