"""Archives and XML from strangers: limited in size, read in memory, without entities, never unpacked to disk."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, XMLParser

from shoal.errors import InputError
from shoal.reading.small import read_small

LARGEST_ARCHIVE = 2 << 30
_LARGEST_PART = 64 << 20
_MOST_PARTS = 10_000
_DEEPEST = 30
_DAMAGED = "Save the project again with its own tool."


class Archive:
    """The named parts of a ZIP file, each read whole and only when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(read_small(path, LARGEST_ARCHIVE)))
            names = [entry.filename for entry in self._zip.infolist()]
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError):
            raise InputError(f"{path} is not a whole ZIP archive.", _DAMAGED) from None
        if len(names) > _MOST_PARTS or len(set(names)) != len(names):
            raise InputError(f"{path} has too many parts, or one twice.", _DAMAGED)

    @property
    def names(self) -> list[str]:
        """What is in it."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes | None:
        """A part, or None where there is none; one that is larger than it says, or than it may be, is refused."""
        if name not in self.names:
            return None
        try:
            with self._zip.open(name) as part:
                content = part.read(_LARGEST_PART + 1)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, ValueError) as error:
            raise InputError(f"{self.path} has a part that is damaged ({type(error).__name__}).", _DAMAGED) from None
        except Exception as error:  # zlib and lzma have errors of their own
            if type(error).__module__ not in ("zlib", "_lzma", "lzma"):
                raise
            raise InputError(f"{self.path} has a part that cannot be read.", _DAMAGED) from None
        if len(content) > _LARGEST_PART:
            raise InputError(f"{self.path} has a part of more than {_LARGEST_PART:,} bytes.", _DAMAGED)
        return content

    def xml(self, name: str) -> Element | None:
        """A part as XML."""
        content = self.read(name)
        return None if content is None else parse_xml(content, f"{self.path} ({name})")


class _Plain:
    """Builds elements; refuses document types, with which entities come, and endless nesting."""

    def __init__(self) -> None:
        self.open: list[Element] = []
        self.root: Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes)
        if self.open:
            self.open[-1].append(element)
        else:
            self.root = element
        if len(self.open) >= _DEEPEST:
            raise ValueError("nested too deeply")
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        if self.open and not len(self.open[-1]):
            self.open[-1].text = (self.open[-1].text or "") + text

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ValueError("a document type")

    def close(self) -> Element | None:
        return self.root


def parse_xml(content: bytes, where: str) -> Element:
    """XML without document types, entities and endless nesting.

    >>> parse_xml(b"<a><b>5</b></a>", "x").findtext("b")
    '5'
    >>> parse_xml(b'<!DOCTYPE a [<!ENTITY e "boom">]><a>&e;</a>', "project.deid")
    Traceback (most recent call last):
    shoal.errors.InputError: project.deid is not plain XML...
    """
    try:
        parser = XMLParser(target=_Plain())
        parser.feed(content)
        root = parser.close()
    except (ParseError, ValueError, LookupError):
        raise InputError(f"{where} is not plain XML (no document type, no entities).", _DAMAGED) from None
    if root is None:
        raise InputError(f"{where} is empty.", _DAMAGED)
    return root
