"""CSV and its kin: encoding and delimiter found, parsed block by block as text, every row of one length."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.storage import Array
from shoal.storage.reading.bytes import CHUNK, LONGEST_RECORD, Compression, chunks, compression_of, records
from shoal.storage.reading.files import InputFile, Options, TableFile

# Columns of a text file that hold whole numbers, parsed as numbers where that loses nothing of what is written.
#
# A number in the least characters that say it (`7`, not `07` or `+7`) is its own text, so a block whose bytes are as
# many as its cells, delimiters, line ends and quotes take when every number is written that way has no cell written
# otherwise.


# what may be parsed as a number: at most so many digits that every one of them fits 64 bits
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
_FIRST_SIGNS = "-0123456789"
_HEAD = 1 << 16
_QUOTE_BYTE, _RETURN, _EMPTY_TEXT = b'"', b"\r", b'""'

Split = Callable[[bytes, Mapping[str, pl.DataType]], pl.DataFrame]


class WholeNumbers:
    """Which columns are parsed as whole numbers, block after block; `split` parses a block by a schema.

    The bytes of a block are accounted for by all columns, so where most are not wanted it is not worth the parsing.
    """

    def __init__(self, columns: Collection[str], wanted: Collection[str], split: Split) -> None:
        self._columns, self._wanted, self._split = list(columns), list(wanted), split
        self._numbers: set[str] | None = None if 2 * len(set(wanted)) >= len(self._columns) else set()

    def parse(self, block: bytes) -> pl.DataFrame | None:
        """All columns of a block, numbers as numbers; None where the block must be parsed as text."""
        if self._numbers is None:
            self._numbers = self._found_in(block)
        if not self._numbers.intersection(self._wanted):
            return None
        quotes = block.count(_QUOTE_BYTE) if _QUOTE_BYTE in block else 0
        if quotes and _EMPTY_TEXT in block:  # as a number it would be a missing one
            return None
        schema = {name: pl.Int64() if name in self._numbers else pl.String() for name in self._columns}
        try:
            frame = self._split(block, schema)
        except pl.exceptions.PolarsError:
            return None
        return frame if accounted_for(block, frame, quotes) else None

    def parsed_as_text(self, frame: pl.DataFrame) -> None:
        """Parse no column as a number from now on that is not one in this block, which was parsed as text."""
        left = {name for name in self._numbers or () if name in frame.columns and are_whole(frame[name])}
        # where all of them are, something else is not accounted for, and would not be the next time
        self._numbers = set() if left == self._numbers else left

    def _found_in(self, block: bytes) -> set[str]:
        head = block[: block.rfind(b"\n", 0, _HEAD) + 1]
        while head.count(_QUOTE_BYTE) % 2:
            head = head[: head.rfind(b"\n", 0, -1) + 1]
        try:
            frame = self._split(head, {name: pl.String() for name in self._columns}).head(1_000)
        except pl.exceptions.PolarsError:
            return set()
        return {name for name in self._columns if are_whole(frame[name])}


def are_whole(texts: pl.Series) -> bool:
    """Whether texts are whole numbers in the least characters that say them, some at least.

    >>> are_whole(pl.Series(["7", None, "-12"])), are_whole(pl.Series(["07"]))
    (True, False)
    """
    known = texts.drop_nulls() if texts.null_count() else texts
    return len(known) > 0 and known[0][:1] in _FIRST_SIGNS and bool(known.str.contains(_WHOLE).all())


def accounted_for(block: bytes, frame: pl.DataFrame, quotes: int = 0) -> bool:
    r"""Whether the cells of a block, each as it is written in the least characters, take all of its bytes.

    `quotes`: how many of its bytes are quotes.

    >>> accounted_for(b"7,a\n12,b\n", pl.DataFrame({"n": [7, 12], "t": ["a", "b"]}))
    True
    >>> accounted_for(b"07,a\n12,b\n", pl.DataFrame({"n": [7, 12], "t": ["a", "b"]}))
    False
    """
    returns = block.count(_RETURN) if _RETURN in block else 0
    if returns not in (0, len(frame)):
        return False
    texts = frame.select(pl.col(pl.String))
    # signs that are in no cell are ends of lines, or around cells
    apart = [sign.decode() for sign, count in ((_QUOTE_BYTE, quotes), (_RETURN, returns)) if count]
    if apart and texts.width and any(texts.select(pl.all().str.contains_any(apart).any()).row(0)):
        return False
    total = len(frame) * frame.width + returns + quotes
    total += sum(texts.select(pl.all().str.len_bytes().sum()).row(0)) if texts.width else 0
    return total + sum(_characters(column) for column in frame.get_columns() if column.dtype == pl.Int64) == len(block)


def _characters(numbers: pl.Series) -> int:
    """How many characters whole numbers take.

    >>> _characters(pl.Series([0, 9, 10, -100, None])), _characters(pl.Series([100, 2_000]))
    (8, 7)
    """
    low, high = numbers.min(), numbers.max()
    if low is None or high is None:
        return 0
    assert isinstance(low, int)
    assert isinstance(high, int)
    known = (numbers.drop_nulls() if numbers.null_count() else numbers).to_numpy()
    total = len(known)
    if low < 0:
        total += int(np.count_nonzero(known < 0))
        known, low, high = np.abs(known), 0, max(high, -low)
    power = 10
    while power <= high:
        total += len(known) if power <= low else int(np.count_nonzero(known >= power))
        power *= 10
    return total


DELIMITERS = ",;\t|"
MOST_HEADERS = 1_000_000
_BLANK = re.compile(rb"(?:[ \t]*\r?\n)+")
_EXCEL_DELIMITER = re.compile(rb"\"?sep=(.?)\"?\r?\n")
# numbers with many digits, dates, e-mail addresses: no names of columns
_LOOKS_LIKE_DATA = re.compile(r"^[\d .,:/+-]{5,}$|@|^\d+[.,]\d+$")
_DOUBT = "the first line looks like a record, and was read as names of columns: if it is one, put those above it"
# files that are no tables, by how they begin
_NO_TABLES = {b"%pdf": "a PDF", b"<!doctype html": "a web page", b"<html": "a web page", b"{\\rtf": "a text document"}
# encodings that Python knows for host names, source code and tests
_NOT_OF_FILES = {"undefined", "idna", "punycode", "unicode-escape", "raw-unicode-escape"}
# encodings in which no letter holds a zero byte
_ONE_BYTE = {"utf-8", "cp1252"}
_QUOTE, _NEWLINE = b'"', b"\n"
_NO_BYTES = np.zeros(0, np.int64)
_STRAY_QUOTE = (
    "a quote is opened and not closed, or stands inside a plain field.",
    'Put the whole field in quotes and double the quotes inside it: "5"" pipe".',
)
_STRAY_RETURN = (
    "a carriage return stands outside quotes, and no line feed follows it.",
    "End all lines in the same way, and put a field that holds a line end in quotes.",
)
# of a decoder that waits for no more bytes of a letter
_BETWEEN_LETTERS = (b"", 0)


class NotInEncoding(InputError):
    """The bytes of a text file are not in the encoding that was given or taken."""

    def __init__(self, path: Path, encoding: str) -> None:
        super().__init__(f"{path} is not written in {encoding}.", "Name its encoding, for example cp1252 or utf-16.")


def open_csv(found: InputFile, options: Options, head: bytes) -> TableFile:
    """A delimited text file with a header line."""
    path, compression = found.path, compression_of(head)
    encoding = options.encoding or _find_encoding(path, compression)
    head = next(_blocks(path, compression, encoding), (b"", 0))[0]
    if not head.strip():
        raise InputError(f"{path} is empty.", "It should hold at least a header and one row.")
    if what := next((what for start, what in _NO_TABLES.items() if head.lstrip().lower().startswith(start)), None):
        raise InputError(f"{path} is {what}, and no table.", "Export its table as CSV, and read that.")
    start = _before_header(head)
    delimiter = options.delimiter or _said_delimiter(head[:start], path) or _find_delimiter(head[start:])
    header = head[start : start + _end_of_first_record(head[start:])]
    if header.count(delimiter.encode()) >= MOST_HEADERS:
        raise InputError(f"{path} has more than {MOST_HEADERS:,} columns.", "That is no table; look at its first line.")
    if (fault := _fault(header, delimiter)) is not None:
        raise _at_line(path, 1 + head.count(_NEWLINE, 0, start + fault[0]), fault[1])
    names = names_of_header(next(_split(header.decode(), delimiter), []))
    reader = _Reader(path, compression, encoding, delimiter, names, options.second_reader)
    source = TableFile(path, names, reader.batches, from_text_file=True, typed_batches=reader.typed_batches)
    source.header_in_doubt = looks_like_data(names)
    if source.header_in_doubt:
        source.notes.append(_DOUBT)
    if encoding not in ("utf-8", "utf-16"):
        source.notes.append(f"read as {encoding}")
    if delimiter != ",":
        source.notes.append(_SEPARATED + _WORDS.get(delimiter, delimiter))
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


_SEPARATED, _WORDS = "columns separated by ", {"\t": "tab"}


def delimiter_of(notes: Iterable[str]) -> str | None:
    """The delimiter of the text file that a table came from, by what was said of it; None for a comma and other files.

    >>> delimiter_of(["columns separated by tab"]), delimiter_of([])
    ('\\t', None)
    """
    words = {word: sign for sign, word in _WORDS.items()}
    found = [note.removeprefix(_SEPARATED) for note in notes if note.startswith(_SEPARATED)]
    return words.get(found[0], found[0]) if found else None


def _said_delimiter(before_header: bytes, path: Path) -> str | None:
    """The delimiter that a `sep=;` line says."""
    said = _EXCEL_DELIMITER.match(before_header.lstrip())
    if said is None:
        return None
    if said.group(1) in (b"", _QUOTE, _RETURN):
        raise InputError(
            f"{path}: what its first line names after sep= cannot separate columns.",
            "Take that line out, or write , or ; or a tab after sep=.",
        )
    return said.group(1).decode()


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
        self, path: Path, compression: Compression, encoding: str, delimiter: str, names: list[str], compared: bool
    ) -> None:
        self.path, self.compression, self.encoding, self.delimiter = path, compression, encoding, delimiter
        self.names, self.compared = names, compared
        # the parser knows the columns by position: any text may be a header
        self.schema = {f"column_{index}": pl.String() for index in range(1, len(names) + 1)}
        self.last = f"column_{len(names)}"
        self._position_of = dict(zip(names, self.schema, strict=True))

    def batches(self, columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        """The rows as they are written."""
        yield from self._batches(columns, None)

    def typed_batches(self, columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        """The rows; whole numbers as such where these are as good as the texts."""
        numbers = WholeNumbers(self.schema, [self._position_of[name] for name in columns], self._split)
        found = self._batches(columns, numbers)
        if self.path.stat().st_size < CHUNK:
            yield from found
            return
        from shoal.threads import ahead

        yield from ahead(found)

    def _batches(self, columns: list[str], numbers: WholeNumbers | None) -> Iterator[tuple[pl.DataFrame, int]]:
        wanted = [self._position_of[name] for name in columns]
        for number, (block, position) in enumerate(_blocks(self.path, self.compression, self.encoding)):
            body = block[_end_of_header(block) :] if number == 0 else block
            if not body:
                continue
            if (fault := _fault(body, self.delimiter)) is not None:
                raise _at_line(self.path, self._line_of(number) + body.count(_NEWLINE, 0, fault[0]), fault[1])
            frame = self._parse(body, wanted, numbers, number)[wanted]
            frame.columns = columns
            if self.compared and number == 0:
                self._check_second_reading(body, frame)
            yield frame, position

    def _parse(self, block: bytes, wanted: list[str], numbers: WholeNumbers | None, number: int) -> pl.DataFrame:
        """One block, the `number`th."""
        if numbers is not None:
            frame = numbers.parse(block)
            if frame is not None and self._is_even(frame, block):
                return frame
        schema = {name: pl.String() for name in [*wanted, self.last]}
        frame = self._even(block, schema)
        if frame is None:  # a blank line is no record, but in a table of one column it is one without a value
            without = block if len(self.names) == 1 else _without_blank_lines(block)
            frame = self._even(without, schema)
        if frame is None:
            raise self._ragged(block, number)
        if numbers is not None:
            numbers.parsed_as_text(frame)
        return frame

    def _even(self, block: bytes, columns: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
        """Columns of a block; None where a row has more or fewer fields than the header."""
        try:
            frame = self._split(block, columns)
        except pl.exceptions.PolarsError:
            return None
        return frame if self._is_even(frame, block) else None

    def _is_even(self, frame: pl.DataFrame, block: bytes) -> bool:
        """Whether each row has as many fields as the header: polars drops those past the last column asked for.

        A row that is too short, or blank, shows as a null in the last column. Where there is none, and there are no
        more delimiters than such rows need, no row is too long.
        """
        width, delimiter = len(self.names), self.delimiter
        if width > 1 and frame[self.last].null_count():
            return _rows_are_even(block, delimiter, width)
        needed = len(frame) * (width - 1)
        return np.count_nonzero(np.frombuffer(block, np.uint8) == ord(delimiter)) == needed or (
            _QUOTE in block and _count_outside_quotes(block, delimiter) == needed + len(frame)
        )

    def _split(self, block: bytes, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
        if not block:
            return pl.DataFrame(schema=columns)
        # the mark of the file's start is gone already: polars would take the same character in a cell for it
        scan = pl.scan_csv(
            codecs.BOM_UTF8 + block if block.startswith(codecs.BOM_UTF8) else block,
            has_header=False,
            separator=self.delimiter,
            schema={**self.schema, **columns},
            quote_char='"',
            glob=False,
        )
        return scan.select(list(columns)).collect()

    def _check_second_reading(self, block: bytes, frame: pl.DataFrame) -> None:
        """Refuse a block in which Python's csv module, which shares nothing with polars, finds other cells."""
        rows = _split(block.decode(), self.delimiter)
        # a blank line is no record, but in a table of one column it is one without a value
        records = rows if len(self.names) == 1 else filter(None, rows)
        found = list(zip_longest(self.names, *records, fillvalue=""))
        cells = dict(zip(self.names, found, strict=False))
        for column in frame.get_columns():
            again = pl.Series(cells[column.name][1:], dtype=pl.String)
            if len(found) != len(self.names) or not column.cast(pl.String).fill_null("").equals(again):
                raise InputError(
                    f"{self.path} is read otherwise by another reader of CSV: column '{column.name}' has other cells.",
                    "Put texts in quotes and double the quotes inside them, or write the table as Parquet.",
                )

    def _line_of(self, number: int) -> int:
        """The line at which a block starts; counted when somebody must be told."""
        line = 1
        for at, (block, _) in enumerate(_blocks(self.path, self.compression, self.encoding)):
            if at == number:
                return line + (block.count(_NEWLINE, 0, _end_of_header(block)) if at == 0 else 0)
            line += block.count(_NEWLINE)
        return line

    def _ragged(self, block: bytes, number: int) -> InputError:
        csv.field_size_limit(2 * LONGEST_RECORD)
        # lines as they are counted elsewhere: a carriage return inside quotes ends none
        rows, start = csv.reader(io.StringIO(block.decode(), newline="\n"), delimiter=self.delimiter), 0
        said = "the records from here on cannot be told apart.", "Write the table again, or as Parquet."
        for row in rows:
            if row and len(row) != len(self.names):
                said = (
                    f"{len(row)} fields where the header has {len(self.names)}.",
                    "Fix that line, or quote fields that hold the delimiter.",
                )
                break
            start = rows.line_num
        return _at_line(self.path, self._line_of(number) + start, said)


def _at_line(path: Path, line: int, fault: tuple[str, str]) -> InputError:
    """What is wrong in a line, and the cure, as an error."""
    return InputError(f"{path}, line {line:,}: {fault[0]}", fault[1])


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
            Message("Try the `{encoding}` utf-16-le or utf-16-be, or export it as CSV or Parquet."),
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


def _fault(block: bytes, delimiter: str) -> tuple[int, tuple[str, str]] | None:
    """Where a quote or a carriage return stands first that readers of CSV take in different ways, and what to say.

    >>> _fault(b'1,"a"\\r\\n2,a\\rb\\n', ",")[0], _fault(b'1,"a"\\n2,"a"b"c"\\n', ",")[0]
    (10, 6)
    """
    if _QUOTE not in block and _RETURN not in block:
        return None
    data = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(data == ord(_QUOTE)) if _QUOTE in block else _NO_BYTES
    broken = None if _enclose_fields(data, quotes, delimiter) else _broken_record(block, delimiter)
    returns = (
        np.flatnonzero((data[:-1] == ord(_RETURN)) & (data[1:] != ord(_NEWLINE))) if _RETURN in block else _NO_BYTES
    )
    returns = returns[np.searchsorted(quotes, returns) % 2 == 0]
    if len(returns) and (broken is None or returns[0] < broken):
        return int(returns[0]), _STRAY_RETURN
    return None if broken is None else (broken, _STRAY_QUOTE)


def _enclose_fields(data: Array, quotes: Array, delimiter: str) -> bool:
    """Whether each quote, by its position, opens or ends a field or is one of two inside it."""
    before, after = data[quotes[::2] - 1], data[quotes[1::2] + 1]  # before the first is the last: the end of a line
    separates = (ord(delimiter), ord(_NEWLINE), ord(_QUOTE))
    return len(before) == len(after) and bool(
        _is_one_of(before, separates).all() and _is_one_of(after, (*separates, ord(_RETURN))).all()
    )


def _is_one_of(data: Array, signs: Collection[int]) -> Array:
    found = np.zeros(len(data), np.bool_)
    for sign in signs:
        found |= data == sign
    return found


def _broken_record(block: bytes, delimiter: str) -> int | None:
    """Where the first record starts whose quotes do not enclose whole fields, or do not come in pairs inside one.

    >>> _broken_record(b'1,"a, b"\\n2,"a"x\\n', ",")
    9
    """
    plain = rb'[^"\n%b]' % re.escape(delimiter.encode())
    field = rb'(?:"(?:[^"]++|"")*+"|(?:%b++(?:"%b*+"%b*+)*+)?)' % (plain, plain, plain)
    record = re.compile(rb"%b(?:%b%b)*+(?:\r?\n|\Z)" % (field, re.escape(delimiter.encode()), field))
    start = 0
    while start < len(block):
        found = record.match(block, start)
        if found is None:
            return start
        start = found.end()
    return None


def _count_outside_quotes(block: bytes, delimiter: str) -> int:
    """How many delimiters and ends of lines are not inside quotes.

    >>> _count_outside_quotes(b'1,"a, b"\\n', ",")
    2
    """
    signs = _signs(block, delimiter)
    quotes = np.flatnonzero(np.frombuffer(signs, np.uint8) == ord(_QUOTE))
    return len(signs) - int((quotes[1::2] - quotes[::2] + 1).sum())


def _signs(block: bytes, delimiter: str) -> bytes:
    """The delimiters, ends of lines and quotes of a block."""
    return block.translate(None, bytes(set(range(256)) - {ord(_NEWLINE), ord(_QUOTE), ord(delimiter)}))


def _rows_are_even(block: bytes, delimiter: str, width: int) -> bool:
    """Whether every record of the block has `width` fields."""
    signs = _signs(block, delimiter)
    if _QUOTE in signs:
        data = np.frombuffer(signs, np.uint8)
        signs = data[~_inside_quotes(data) & (data != ord(_QUOTE))].tobytes()
    row = delimiter.encode() * (width - 1) + _NEWLINE
    return signs == row * (len(signs) // width)


def _without_blank_lines(block: bytes) -> bytes:
    data = np.frombuffer(block, np.uint8)
    outside = ~_inside_quotes(data)
    text = data[~((data == ord("\r")) & outside & (np.append(data[1:], 0) == ord(_NEWLINE)))]
    outside = ~_inside_quotes(text)
    ends = (text == ord(_NEWLINE)) & outside
    blank = ends & np.append(True, ends[:-1])
    return bytes(text[~blank].tobytes())
