"""Trees that come with shoal: countries, US states, ICD-10, NACE, ISCED; each file names its source and date.

A value is looked up by its code or by any of its names, whatever its case, accents and punctuation. Values that the
list does not know stand directly below `*`, and the hierarchy's `source` counts them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple, TypeGuard, get_args

import numpy as np
import polars as pl

from shoal.ranges.hierarchy.given import Step, leaf_texts
from shoal.ranges.parsing import STAR
from shoal.storage import Column

Shipped = Literal["countries", "us-states", "icd-10", "nace", "isced"]
# a list is taken by itself only where it knows this share of the distinct values, and at least so many of them
_KNOWN = 0.8
_LEAST = 3


def is_shipped(kind: str) -> TypeGuard[Shipped]:
    """Whether a kind of hierarchy is one of the lists."""
    return kind in get_args(Shipped)


class NodePaths(NamedTuple):
    """The nodes above each distinct value of a column, lowest first (None: the list does not know it)."""

    kind: Shipped
    nodes: list[tuple[str, ...] | None]
    source: str

    @property
    def known(self) -> float:
        """The share of the distinct values that the list knows."""
        return sum(node is not None for node in self.nodes) / max(len(self.nodes), 1)

    def steps(self) -> list[Step]:
        """The levels of the tree, finest first; what is not known is `*`."""
        height = max((len(node) for node in self.nodes if node), default=0)
        return [_step([node[level] if node else STAR for node in self.nodes]) for level in range(height)]

    def words(self) -> str:
        """Where the tree is from, and how many values it does not know."""
        unknown = sum(node is None for node in self.nodes)
        return self.source + (f"; {unknown:,} values are not in it" if unknown else "")


def _step(labels: list[str]) -> Step:
    distinct = list(dict.fromkeys(labels))
    places = {label: place for place, label in enumerate(distinct)}
    return np.array([places[label] for label in labels], np.int64), pl.Series(distinct, dtype=pl.String)


def place(column: Column, kind: Shipped) -> NodePaths:
    """The values of a column placed in a list.

    >>> from shoal.storage.reading import read
    >>> place(read({"land": ["FR", "Viet-Nam", "Utopia"]})["land"], "countries").nodes
    [('Western Europe', 'Europe'), None, ('South-eastern Asia', 'Asia')]
    """
    lookup, source = _LISTS[kind]()
    return NodePaths(kind, [lookup(text) for text in leaf_texts(column).to_list()], source)


def recognised(column: Column) -> NodePaths | None:
    """The list that knows the texts of a column, if one does; numbers are never taken for codes unasked.

    Two letters can mean a state or a country: the list that knows more of them is taken, then what the header says.
    """
    if column.values.dtype != pl.String or len(column.values) < _LEAST:
        return None
    kinds: list[Shipped] = ["countries", "us-states", "isced"]  # codes of illnesses look like many others
    if "nace" in column.name.lower():
        kinds.append("nace")
    placed = [place(column, kind) for kind in kinds]
    digits = column.values.str.contains(r"^[0-9.]*$").any()
    fitting = [entry for entry in placed if entry.known >= _KNOWN and not digits]
    says_country = any(word in column.name.lower() for word in ("country", "nation", "land"))
    order = {"us-states": says_country, "countries": not says_country}
    return min(fitting, key=lambda entry: (-entry.known, order.get(entry.kind, False)), default=None)


# each list: its file -> the nodes above a text, lowest first

Lookup = Callable[[str], tuple[str, ...] | None]


def folded(text: str) -> str:
    """A name as it is looked up: small letters without accents, words with single blanks.

    >>> folded("Côte d'Ivoire"), folded("El-Salvador")
    ('cote d ivoire', 'el salvador')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return " ".join(re.sub(r"[^a-z0-9]+", " ", plain.lower()).split())


def _rows(name: str) -> tuple[list[list[str]], str]:
    """The rows of a list, and its source from the first line."""
    text = (resources.files(__package__) / name).read_text(encoding="utf-8")
    head, *lines = text.splitlines()
    return [line.split(";") for line in lines], head.split(" — ", 1)[1]


@cache
def _countries() -> tuple[Lookup, str]:
    rows, source = _rows("countries.csv")
    found = {}
    for two, three, names, sub_region, region in rows:
        for name in (two, three, *names.split("|")):
            found[folded(name)] = (sub_region, region)
    return lambda text: found.get(folded(text)), source


@cache
def _us_states() -> tuple[Lookup, str]:
    rows, source = _rows("us_states.csv")
    found = {}
    for code, fips, name, division, region in rows:
        for word in (code, fips, name):
            found[folded(word)] = (division, region)
    return lambda text: found.get(folded(text).zfill(2) if text.isdigit() else folded(text)), source


@cache
def _isced() -> tuple[Lookup, str]:
    rows, source = _rows("isced.csv")
    found = {}
    for level, names, band in rows:
        for name in (level, *names.split("|")):
            found[folded(name)] = (f"{level} {names.split('|')[0]}", band)
    return lambda text: found.get(folded(text)), source


@cache
def _nace() -> tuple[Lookup, str]:
    """Sections by their letter, divisions and finer codes by their first two digits."""
    rows, source = _rows("nace.csv")
    sections = {section: (f"{section} {title}", group) for section, _, _, title, group in rows}
    divisions = {
        f"{number:02}": sections[section]
        for section, first, last, _, _ in rows
        for number in range(int(first), int(last) + 1)
    }

    def lookup(text: str) -> tuple[str, ...] | None:
        found = re.fullmatch(r"\s*([A-Ua-u])?\.?(\d{2})?(?:\.?\d{1,2})?\s*", text)
        if found is None:
            return None
        letter, digits = found[1], found[2]
        return divisions.get(digits) if digits else sections.get(letter.upper()) if letter else None

    return lookup, source


@cache
def _icd_10() -> tuple[Lookup, str]:
    """Categories (three signs), blocks and chapters; a category outside all blocks stands in its chapter alone."""
    rows, source = _rows("icd10.csv")
    blocks = sorted((_position(first), _position(last), block) for block, first, last, *_ in rows)
    chapters = {
        (_position(codes[:3]), _position(codes[4:])): f"{chapter} {title}" for _, _, _, chapter, title, codes in rows
    }

    def lookup(text: str) -> tuple[str, ...] | None:
        found = re.fullmatch(r"\s*([A-Za-z])(\d)([0-9A-Za-z])(?:\.?[0-9A-Za-z]{1,4})?\s*", text)
        if found is None:
            return None
        category = (found[1] + found[2] + found[3]).upper() + ".-"
        place = _position(found[1].upper() + found[2] + (found[3] if found[3].isdigit() else "9"))
        chapter = next((title for (low, high), title in chapters.items() if low <= place <= high), None)
        if chapter is None:
            return None
        block = next((block for low, high, block in blocks if low <= place <= high), chapter)
        return (category, block, chapter)

    return cache(lookup), source


def _position(code: str) -> int:
    """A category as a number: letters count hundreds."""
    return (ord(code[0]) - ord("A")) * 100 + int(code[1:3])


_LISTS: dict[Shipped, Callable[[], tuple[Lookup, str]]] = {
    "countries": _countries,
    "us-states": _us_states,
    "icd-10": _icd_10,
    "nace": _nace,
    "isced": _isced,
}
