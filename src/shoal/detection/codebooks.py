"""Code books: what columns of codes hold, from a DDI file, the labels of an SPSS, Stata or SAS file, or a CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from shoal.detection.context import Codebook
from shoal.detection.ddi import read_ddi
from shoal.errors import InputError
from shoal.formats.labels import ColumnLabels
from shoal.kinds.letters import squeeze
from shoal.reading.files import Options, find_files, open_file

# more is not a code book
MOST_BYTES = 200 << 20
_NAMES = ("name", "variable", "variablename", "varname", "var", "column", "columnname", "field", "fieldname", "item")
_LABELS = ("label", "variablelabel", "varlabel", "description", "question", "questiontext", "text", "title", "meaning")
_VALUES = ("values", "valuelabels", "categories", "codes", "labels", "choices", "options", "coding")
_PAIR = re.compile(r"\s*([^=:|;]{1,60}?)\s*[=:]\s*([^|;]*)")
_SURVEY_FILES = (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
_FORMS = "DDI XML, SPSS (.sav), Stata (.dta) or a CSV with the columns name, label and values"


def read_codebook(path: str | Path) -> Codebook:
    """The labels of a code book by the names of columns.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "book.csv"
    ...     _ = file.write_text("name,label,values\\nQ2,Sex of respondent,1=male;2=female\\n")
    ...     read_codebook(file)["Q2"]
    ColumnLabels(label='Sex of respondent', values={'1': 'male', '2': 'female'}, missing=())
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no code book {file}.", f"Give the path of a file: {_FORMS}.", settings="codebook")
    if file.stat().st_size > MOST_BYTES:
        raise InputError(f"{file} is too large for a code book.", "Give one of less than 200 MB.", settings="codebook")
    if file.suffix.lower() in _SURVEY_FILES:
        return _of_survey_file(file)
    raw = file.read_bytes()
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found = read_ddi(raw, str(file))
    else:
        found = _of_csv(_text(raw, file), file)
    if not found:
        raise InputError(f"{file} describes no column.", f"A code book is {_FORMS}.", settings="codebook")
    return found


def _text(raw: bytes, file: Path) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(f"{file} is not a text in UTF-8.", f"A code book is {_FORMS}.", settings="codebook")


def _of_csv(text: str, file: Path) -> Codebook:
    """One line for each column, or one for each code of a column under the same name."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        raise InputError(f"{file} is not a CSV that can be read.", f"A code book is {_FORMS}.") from None
    header = [squeeze(cell) for cell in rows[0]] if rows else []
    name, label, values = (_place(header, words) for words in (_NAMES, _LABELS, _VALUES))
    if name is None or label is None:
        raise InputError(
            f"The code book {file} has no columns `name` and `label`.",
            "Its first line names its columns: name, label and, if there are any, values such as 1=male;2=female.",
            settings="codebook",
        )
    found: dict[str, ColumnLabels] = {}
    for row in rows[1:]:
        cells = {place: row[place].strip() for place in (name, label, values) if place is not None and place < len(row)}
        if not cells.get(name):
            continue
        codes: dict[float | str, str] = dict(pairs_of(cells.get(values, ""))) if values is not None else {}
        known = found.get(cells[name], ColumnLabels())
        found[cells[name]] = ColumnLabels(known.label or cells.get(label) or None, {**known.values, **codes})
    return found


def _place(header: list[str], words: Iterable[str]) -> int | None:
    return next((header.index(word) for word in words if word in header), None)


def pairs_of(text: str) -> list[tuple[str, str]]:
    """Codes with their labels, as people write them in one cell.

    >>> pairs_of("1=male; 2 = female"), pairs_of("1: yes | 2: no")
    ([('1', 'male'), ('2', 'female')], [('1', 'yes'), ('2', 'no')])
    """
    parts = re.split(r"[;|\n]", text) if re.search(r"[;|\n]", text) else re.split(r",(?=\s*[^,=:]{1,20}[=:])", text)
    pairs = (_PAIR.fullmatch(part) for part in parts)
    return [(found.group(1), found.group(2).strip()) for found in pairs if found]


def _of_survey_file(file: Path) -> Codebook:
    """The labels of an SPSS, Stata or SAS file; its values are not read."""
    source = open_file(find_files(file)[0], Options())
    return {name: source.labels.get(name, ColumnLabels()) for name in source.names}
