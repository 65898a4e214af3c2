"""Code books: what columns of codes hold, from a DDI file, the labels of an SPSS, Stata or SAS file, or a CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from shoal.detection.context import Codebook
from shoal.errors import InputError, Message
from shoal.identifiers.letters import squeeze
from shoal.storage.formats.labels import ColumnLabels
from shoal.storage.reading.files import Options, find_files, open_file

# DDI code books (2.x `var`, 3.x `Variable`): names, labels and categories, from XML that is not trusted.


# a label longer than this is a text; a file with more elements or deeper ones was not written by people
_LONGEST = 2_000
_MOST_ELEMENTS = 5_000_000
_DEEPEST = 100


def read_ddi(raw: bytes, name: str) -> Codebook:
    """The variables of a DDI file.

    Entities are refused and no other file is read: a small file could grow without end (CWE-611, CWE-776).

    >>> text = b'<codeBook><dataDscr><var name="V1"><labl>Sex</labl></var></dataDscr></codeBook>'
    >>> read_ddi(text, "book.xml")["V1"].label
    'Sex'
    """
    root = _parse(raw, name)
    found = {**_of_codebook(root), **_of_lifecycle(root)}
    if not found:
        raise InputError(
            f"{name} is XML without variables of DDI.", "Give DDI Codebook 2.x (`var`) or Lifecycle 3.x (`Variable`)."
        )
    return found


def _parse(raw: bytes, name: str) -> ElementTree.Element:
    """The tree, without entities, other files, or more than a code book has."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    depth = count = 0

    def refuse(*_: object) -> None:
        raise InputError(
            f"{name} declares entities, which can name other files or grow without end.",
            "Remove its document type (DOCTYPE); a DDI file needs none.",
        )

    def document_type(_name: str, _system: str | None, _public: str | None, has_declarations: int) -> None:
        if has_declarations:
            refuse()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > _DEEPEST or count > _MOST_ELEMENTS:
            raise InputError(f"{name} is nested or filled beyond what a code book is.", "Give a DDI file.")
        builder.start(_local(tag), {_local(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(tag))

    parser.StartDoctypeDeclHandler = document_type
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.buffer_text = True
    try:
        parser.Parse(raw, True)
        return builder.close()
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is not well-formed XML.", "Export the code book again.") from None


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _element_text(element: ElementTree.Element | None) -> str | None:
    if element is None:
        return None
    return " ".join("".join(element.itertext()).split())[:_LONGEST] or None


def _of_codebook(root: ElementTree.Element) -> Codebook:
    """DDI 2.x: `var` with `labl`, `qstn/qstnLit` and `catgry`."""
    found = {}
    for variable in root.iter("var"):
        name = variable.get("name")
        if not name:
            continue
        label, question = _element_text(variable.find("labl")), _element_text(variable.find("qstn/qstnLit"))
        pairs = (
            (_element_text(category.find("catValu")), _element_text(category.find("labl")))
            for category in variable.iter("catgry")
        )
        codes: dict[float | str, str] = {code: text for code, text in pairs if code is not None and text is not None}
        found[name] = ColumnLabels(_joined(label, question, name), codes)
    return found


def _joined(label: str | None, question: str | None, name: str) -> str | None:
    """The label, with the question where it says no more than the name."""
    told = label if label and label.casefold() != name.casefold() else None
    return " ".join(part for part in (told, question if question != told else None) if part) or None


def _of_lifecycle(root: ElementTree.Element) -> Codebook:
    """DDI 3.x: `Variable` with names and labels, whose codes are in a `CodeList` of `Category` elsewhere."""
    categories = {
        key: text
        for category in root.iter("Category")
        for key in _ids(category)
        if (text := _element_text(category.find("Label")) or _element_text(category.find("CategoryName")))
    }
    lists = {
        key: codes
        for name in ("CodeList", "CodeScheme")
        for entry in root.iter(name)
        for codes in [dict(_codes(entry, categories))]
        for key in _ids(entry)
    }
    found = {}
    for variable in root.iter("Variable"):
        name = _element_text(variable.find("VariableName")) or _element_text(variable.find("Name"))
        if name:
            said = next(
                (lists[key] for reference in variable.iter() for key in _referred(reference) if key in lists), {}
            )
            found[name] = ColumnLabels(
                _element_text(variable.find("Label")) or _element_text(variable.find("Description")), said
            )
    return found


def _ids(element: ElementTree.Element) -> list[str]:
    """How others refer to an element: by its identifier, given as an attribute, an element or a part of its URN."""
    urn = _element_text(element.find("URN"))
    parts = [
        element.get("id"),
        _element_text(element.find("ID")),
        urn.split(":")[-2] if urn and urn.count(":") >= 2 else None,
    ]
    return [part for part in parts if part]


def _codes(entry: ElementTree.Element, categories: dict[str, str]) -> Iterator[tuple[float | str, str]]:
    for code in entry.iter("Code"):
        value = _element_text(code.find("Value"))
        texts = (categories[key] for reference in code.iter() for key in _referred(reference) if key in categories)
        text = next(texts, None)
        if value is not None and text is not None:
            yield value, text


def _referred(element: ElementTree.Element) -> list[str]:
    """The identifier that a reference names."""
    return _ids(element) if element.tag.endswith("Reference") else []


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
        raise InputError(f"There is no code book {file}.", Message("Give the path of a file ({codebook}): {}.", _FORMS))
    if file.stat().st_size > MOST_BYTES:
        raise InputError(f"{file} is too large for a code book.", Message("Give one of less than 200 MB ({codebook})."))
    if file.suffix.lower() in _SURVEY_FILES:
        return _of_survey_file(file)
    raw = file.read_bytes()
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found = read_ddi(raw, str(file))
    else:
        found = _of_csv(_text(raw, file), file)
    if not found:
        raise InputError(f"{file} describes no column.", Message("A code book ({codebook}) is {}.", _FORMS))
    return found


def _text(raw: bytes, file: Path) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(f"{file} is not a text in UTF-8.", Message("A code book ({codebook}) is {}.", _FORMS))


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
