"""DDI code books (2.x `var`, 3.x `Variable`): names, labels and categories, from XML that is not trusted."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree
from xml.parsers import expat

from shoal.detection.context import Codebook
from shoal.errors import InputError
from shoal.formats.labels import ColumnLabels

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


def _text(element: ElementTree.Element | None) -> str | None:
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
        label, question = _text(variable.find("labl")), _text(variable.find("qstn/qstnLit"))
        pairs = (
            (_text(category.find("catValu")), _text(category.find("labl"))) for category in variable.iter("catgry")
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
        if (text := _text(category.find("Label")) or _text(category.find("CategoryName")))
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
        name = _text(variable.find("VariableName")) or _text(variable.find("Name"))
        if name:
            said = next(
                (lists[key] for reference in variable.iter() for key in _referred(reference) if key in lists), {}
            )
            found[name] = ColumnLabels(_text(variable.find("Label")) or _text(variable.find("Description")), said)
    return found


def _ids(element: ElementTree.Element) -> list[str]:
    """How others refer to an element: by its identifier, given as an attribute, an element or a part of its URN."""
    urn = _text(element.find("URN"))
    parts = [element.get("id"), _text(element.find("ID")), urn.split(":")[-2] if urn and urn.count(":") >= 2 else None]
    return [part for part in parts if part]


def _codes(entry: ElementTree.Element, categories: dict[str, str]) -> Iterator[tuple[float | str, str]]:
    for code in entry.iter("Code"):
        value = _text(code.find("Value"))
        texts = (categories[key] for reference in code.iter() for key in _referred(reference) if key in categories)
        text = next(texts, None)
        if value is not None and text is not None:
            yield value, text


def _referred(element: ElementTree.Element) -> list[str]:
    """The identifier that a reference names."""
    return _ids(element) if element.tag.endswith("Reference") else []
