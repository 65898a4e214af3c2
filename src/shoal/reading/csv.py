"""CSV and its kin: encoding and delimiter found, parsed block by block as text, every row of one length."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.reading.bytes import CHUNK, LONGEST_RECORD, PADDING, Compression, chunks, padded_records, records
from shoal.reading.csv_numbers import WholeNumbers
from shoal.reading.files import Options, Source
from shoal.table import Array
from shoal.table.coded import CodedBatch

DELIMITERS = ",;\t|"
MOST_HEADERS = 1_000_000
_BLANK = re.compile(rb"(?:[ \t]*\r?\n)+")
_EXCEL_DELIMITER = re.compile(rb"\"?sep=(.)\"?\r?\n")
# numbers with many digits, dates, e-mail addresses: no names of columns
_LOOKS_LIKE_DATA = re.compile(r"^[\d .,:/+-]{5,}$|@|^\d+[.,]\d+$")
# encodings that Python knows for host names, source code and tests
_NOT_OF_FILES = {"undefined", "idna", "punycode", "unicode-escape", "raw-unicode-escape"}
# encodings in which no letter holds a zero byte
_ONE_BYTE = {"utf-8", "cp1252"}
_QUOTE, _NEWLINE = b'"', b"\n"
# of a decoder that waits for no more bytes of a letter
_BETWEEN_LETTERS = (b"", 0)


class NotInEncoding(InputError):
    """The bytes of a text file are not in the encoding that was given or taken."""

    def __init__(self, path: Path, encoding: str) -> None:
        super().__init__(f"{path} is not written in {encoding}.", "Name its encoding, for example cp1252 or utf-16.")


def open_csv(path: Path, compression: Compression, options: Options) -> Source:
    """A delimited text file with a header line."""
    encoding = options.encoding or _find_encoding(path, compression)
    head = next(_blocks(path, compression, encoding), (b"", 0))[0]
    if not head.strip():
        raise InputError(f"{path} is empty.", "It should hold at least a header and one row.")
    start = _before_header(head)
    said = _EXCEL_DELIMITER.match(head[:start].lstrip())
    delimiter = options.delimiter or (said.group(1).decode() if said else _find_delimiter(head[start:]))
    if head[start : start + _end_of_first_record(head[start:])].count(delimiter.encode()) >= MOST_HEADERS:
        raise InputError(f"{path} has more than {MOST_HEADERS:,} columns.", "That is no table; look at its first line.")
    names = names_of_header(_first_record(head[start:], delimiter))
    reader = _Reader(path, compression, encoding, delimiter, names, options.generally)
    source = Source(path, names, reader.batches, from_text_file=True, typed_batches=reader.typed_batches)
    source.header_in_doubt = looks_like_data(names)
    if encoding not in ("utf-8", "utf-16"):
        source.notes.append(f"read as {encoding}")
    if delimiter != ",":
        source.notes.append(f"columns separated by {'tab' if delimiter == chr(9) else delimiter}")
    return source


def _end_of_header(head: bytes) -> int:
    start = _before_header(head)
    return start + _end_of_first_record(head[start:])


def _before_header(head: bytes) -> int:
    """Where the header starts: after blank lines, and after the `sep=;` line that Excel knows."""
    blank = _BLANK.match(head)
    start = blank.end() if blank else 0
    said = _EXCEL_DELIMITER.match(head[start:])
    return start + (said.end() if said else 0)


def names_of_header(header: list[str]) -> list[str]:
    """The header's names; a column without one is named after its place."""
    names = [name.strip() for name in header]
    taken = set(names)
    for index, name in enumerate(names):
        if not name:
            place = f"column_{index + 1}"
            while place in taken:
                place += "_"
            taken.add(place)
            names[index] = place
    return names


def looks_like_data(names: list[str]) -> bool:
    """Whether a header may be a record: then it is not for showing.

    >>> looks_like_data(["age", "sex"]), looks_like_data(["34", "ann@example.org"])
    (False, True)
    """
    return any(_LOOKS_LIKE_DATA.search(name) for name in names)


class _Reader:
    """Parses the file's blocks; knows its line numbers, for messages."""

    def __init__(
        self, path: Path, compression: Compression, encoding: str, delimiter: str, names: list[str], generally: bool
    ) -> None:
        self.path, self.compression, self.encoding, self.delimiter = path, compression, encoding, delimiter
        self.names, self.generally = names, generally
        # the parser knows the columns by position: any text may be a header
        self.schema = {f"column_{index}": pl.String() for index in range(1, len(names) + 1)}
        self.last = f"column_{len(names)}"
        self._position_of = dict(zip(names, self.schema, strict=True))

    def batches(self, columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        """The rows as they are written."""
        yield from self._batches(columns, None)

    def typed_batches(self, columns: list[str]) -> Iterator[tuple[pl.DataFrame | CodedBatch, int]]:
        """The rows; texts as codes, or whole numbers as such, where these are as good as the texts."""
        numbers = WholeNumbers(self.schema, [self._position_of[name] for name in columns], self._split)
        if (size := self.path.stat().st_size) < CHUNK:
            yield from self._batches(columns, numbers)
            return
        from shoal.reading.csv_codes import is_worth_it
        from shoal.threads import ahead

        coded = not self.generally and is_worth_it(size, self.delimiter)
        yield from ahead(self._coded_batches(columns, numbers) if coded else self._batches(columns, numbers))

    def _coded_batches(
        self, columns: list[str], numbers: WholeNumbers
    ) -> Iterator[tuple[pl.DataFrame | CodedBatch, int]]:
        from shoal.reading.csv_codes import FieldCodes

        place_of = {name: place for place, name in enumerate(self.names)}
        codes = FieldCodes(len(self.names), [place_of[name] for name in columns], self.delimiter)
        for body, number, position in self._padded_bodies():
            found = None if codes.given_up else codes.parse_padded(body)
            texts = {self._position_of[self.names[place]]: pl.String() for place in codes.texts}
            if found is None:
                plain, left = bytes(body[:-PADDING]), numbers if codes.given_up else None
                yield self._frame(plain, columns, left, number), position
                continue
            beside = self._split(bytes(body[:-PADDING]), texts) if texts else pl.DataFrame()
            by_name = {
                name: beside[self._position_of[name]] if (column := found.get(place_of[name])) is None else column
                for name in columns
            }
            yield CodedBatch(by_name), position

    def _batches(self, columns: list[str], numbers: WholeNumbers | None) -> Iterator[tuple[pl.DataFrame, int]]:
        for body, number, position in self._bodies():
            yield self._frame(body, columns, numbers, number), position

    def _bodies(self) -> Iterator[tuple[bytes, int, int]]:
        """Blocks of records, each with its number and how far the file has been read."""
        for body, number, position in self._padded_bodies():
            yield bytes(body[:-PADDING]), number, position

    def _padded_bodies(self) -> Iterator[tuple[memoryview, int, int]]:
        """The same with quotes behind each block."""
        pieces = _as_utf8(self.path, self.compression, self.encoding)
        for number, (block, position) in enumerate(padded_records(pieces, self.path, _end_of_last_record)):
            body = block[_end_of_header(bytes(block[:-PADDING])) :] if number == 0 else block
            if len(body) > PADDING:
                yield body, number, position

    def _frame(self, body: bytes, columns: list[str], numbers: WholeNumbers | None, number: int) -> pl.DataFrame:
        wanted = [self._position_of[name] for name in columns]
        renamed = dict(zip(wanted, columns, strict=True))
        return self._parse(body, wanted, numbers, number).select(wanted).rename(renamed)

    def _parse(self, block: bytes, wanted: list[str], numbers: WholeNumbers | None, number: int) -> pl.DataFrame:
        """One block, the `number`th."""
        if numbers is not None:
            frame = numbers.parse(block)
            if frame is not None and self._is_even(frame, block):
                return frame
        schema = {name: pl.String() for name in [*wanted, self.last]}
        try:
            frame = self._split(block, schema)
        except pl.exceptions.PolarsError:
            self._refuse_ragged(block, number)
            raise self._bad_quote(block, number) from None
        if not self._is_even(frame, block):
            without = _without_blank_lines(block)
            if not _rows_are_even(without, self.delimiter, len(self.names)):
                self._refuse_ragged(block, number)
            frame = self._split(without, schema)
        if numbers is not None:
            numbers.parsed_as_text(frame)
        return frame

    def _is_even(self, frame: pl.DataFrame, block: bytes) -> bool:
        """Whether no row is too short, or blank: that shows as a null in the last column."""
        return (
            len(self.names) == 1
            or not frame[self.last].null_count()
            or _rows_are_even(block, self.delimiter, len(self.names))
        )

    def _split(self, block: bytes, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
        if not block:
            return pl.DataFrame(schema=columns)
        # the mark of the file's start is gone already: polars would take the same character in a cell for it
        return pl.read_csv(
            codecs.BOM_UTF8 + block if block.startswith(codecs.BOM_UTF8) else block,
            has_header=False,
            separator=self.delimiter,
            schema={**self.schema, **columns},
            columns=list(columns),
            quote_char='"',
            glob=False,
        )

    def _line_of(self, number: int) -> int:
        """The line at which a block starts; counted when somebody must be told."""
        line = 1
        for at, (block, _) in enumerate(_blocks(self.path, self.compression, self.encoding)):
            if at == number:
                return line + (block.count(_NEWLINE, 0, _end_of_header(block)) if at == 0 else 0)
            line += block.count(_NEWLINE)
        return line

    def _refuse_ragged(self, block: bytes, number: int) -> None:
        csv.field_size_limit(2 * LONGEST_RECORD)
        rows = csv.reader(io.StringIO(block.decode(), newline=""), delimiter=self.delimiter)
        start = 0
        for row in rows:
            if row and len(row) != len(self.names):
                line = self._line_of(number) + start
                raise InputError(
                    f"{self.path}, line {line:,}: {len(row)} fields where the header has {len(self.names)}.",
                    "Fix that line, or quote fields that hold the delimiter.",
                )
            start = rows.line_num

    def _bad_quote(self, block: bytes, number: int) -> InputError:
        first, start = self._line_of(number), _broken_record(block, self.delimiter)
        if start is None:
            where = f"between lines {first:,} and {first + block.rstrip().count(_NEWLINE):,}"
        else:
            where = f"line {first + block.count(_NEWLINE, 0, start):,}"
        return InputError(
            f"{self.path}, {where}: a quote is opened and not closed, or stands inside a plain field.",
            'Put the whole field in quotes and double the quotes inside it: "5"" pipe".',
        )


def _blocks(path: Path, compression: Compression, encoding: str) -> Iterator[tuple[bytes, int]]:
    yield from records(_as_utf8(path, compression, encoding), path, _end_of_last_record)


def _as_utf8(path: Path, compression: Compression, encoding: str) -> Iterator[tuple[bytes, int]]:
    """The file's bytes in UTF-8; that they are text is checked here, once."""
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
        raise InputError(f"There is no encoding '{encoding}'.", "Try utf-8, cp1252 or utf-16.") from None
    if codec.incrementaldecoder is None or not getattr(codec, "_is_text_encoding", True) or codec.name in _NOT_OF_FILES:
        raise InputError(f"'{encoding}' is not an encoding of text files.", "Try utf-8, cp1252 or utf-16.")
    decoder = codec.incrementaldecoder()
    first, old_mac = True, False
    try:
        for piece, position in chunks(path, compression):
            if codec.name in _ONE_BYTE:  # what is not text should be called so, not a text in another encoding
                _check_text(piece, path)
            if codec.name != "utf-8":
                out = decoder.decode(piece).encode()
            else:
                out = piece
                if not piece.isascii() or decoder.getstate() != _BETWEEN_LETTERS:
                    decoder.decode(piece)
            if first:
                out = out.removeprefix(codecs.BOM_UTF8)
                first, old_mac = False, b"\r" in out and b"\n" not in out
            if out is not piece:
                _check_text(out, path)
            yield out.replace(b"\r", b"\n") if old_mac else out, position
        decoder.decode(b"", final=True)
    except UnicodeError:  # also a UTF-16 without its mark, and halves of letters
        raise NotInEncoding(path, encoding) from None


def _check_text(piece: bytes, path: Path) -> None:
    if b"\0" in piece:
        raise InputError(
            f"{path} holds NUL bytes: it is UTF-16 without its mark, or not a text file.",
            "Try the `encoding` utf-16-le or utf-16-be, or export it as CSV or Parquet.",
        )


def _find_encoding(path: Path, compression: Compression) -> str:
    """By its byte order mark, else UTF-8."""
    head = next(chunks(path, compression, 16), (b"", 0))[0]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8"


def _find_delimiter(head: bytes) -> str:
    """The candidate that cuts the header and the first lines into the same number of fields, and into most."""
    sample = head[: _end_of_last_record(head[:200_000]) or len(head)].decode(errors="replace")
    best, most = ",", 1
    for delimiter in DELIMITERS:
        rows = list(islice((len(row) for row in _split(sample, delimiter) if row), 200))
        width, often = Counter(rows).most_common(1)[0]
        # a few ragged lines must not hide the delimiter: they get an error of their own; but the header tells
        if width > most and rows[0] == width and often >= 0.5 * len(rows):
            best, most = delimiter, width
    return best


def _split(text: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(2 * LONGEST_RECORD)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _first_record(block: bytes, delimiter: str) -> list[str]:
    return next(_split(block[: _end_of_first_record(block)].decode(), delimiter), [])


def _end_of_first_record(block: bytes) -> int:
    """Just past the first line end that is not inside quotes."""
    end = quotes = 0
    while True:
        start, end = end, block.find(_NEWLINE, end) + 1
        if end == 0:
            return len(block)
        quotes += block.count(_QUOTE, start, end)
        if quotes % 2 == 0:
            return end


def _end_of_last_record(buffer: bytes | bytearray) -> int:
    """Just past the last line end that is not inside quotes; 0 if there is none."""
    end = buffer.rfind(_NEWLINE) + 1
    if end == 0 or _QUOTE not in buffer or buffer.count(_QUOTE, 0, end) % 2 == 0:
        return end
    data = np.frombuffer(buffer, np.uint8)
    ends = np.flatnonzero((data == ord(_NEWLINE)) & ~_inside_quotes(data))
    return int(ends[-1]) + 1 if len(ends) else 0


def _inside_quotes(data: Array) -> Array:
    return np.asarray(np.logical_xor.accumulate(data == ord(_QUOTE)))


def _broken_record(block: bytes, delimiter: str) -> int | None:
    """Where the first record starts whose quotes do not enclose whole fields, or do not come in pairs.

    >>> _broken_record(b'1,"a, b"\\n2,"a"x\\n', ",")
    9
    """
    cut = re.escape(delimiter.encode())
    field = rb'(?:"(?:[^"]++|"")*+"|(?:[^"\n%b][^\n%b]*+)?)' % (cut, cut)
    record = re.compile(rb"%b(?:%b%b)*+(?:\r?\n|\Z)" % (field, cut, field))
    start = 0
    while start < len(block):
        found = record.match(block, start)
        if found is None or block.count(_QUOTE, start, found.end()) % 2:
            return start
        start = found.end()
    return None


def _rows_are_even(block: bytes, delimiter: str, width: int) -> bool:
    """Whether every record of the block has `width` fields."""
    data = np.frombuffer(block, np.uint8)
    separators = (data == ord(delimiter)) | (data == ord(_NEWLINE))
    if _QUOTE in block:
        separators &= ~_inside_quotes(data)
    found = data[separators] == ord(_NEWLINE)
    if len(found) % width:
        return False
    ends = found.reshape(-1, width)
    return bool(ends[:, -1].all() and not ends[:, :-1].any())


def _without_blank_lines(block: bytes) -> bytes:
    data = np.frombuffer(block, np.uint8)
    outside = ~_inside_quotes(data)
    text = data[~((data == ord("\r")) & outside & (np.append(data[1:], 0) == ord(_NEWLINE)))]
    outside = ~_inside_quotes(text)
    ends = (text == ord(_NEWLINE)) & outside
    blank = ends & np.append(True, ends[:-1])
    return bytes(text[~blank].tobytes())
