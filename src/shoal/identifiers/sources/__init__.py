"""Headers of published surveys, censuses and registers: what each variable of a source holds, one file per source.

A file says what the source is, where the names come from, and for each kind the names of its variables; `/.../` is a
pattern of names, `strip` what may stand before them (the letter of a wave). To add a source, write its file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from math import exp
from typing import NamedTuple

from shoal.identifiers.letters import plain

# What a name tells about the source of its table: words that many tables have (`common.names`) tell little, as do short
# names and those of a letter or two and a number.
_BARE = re.compile(r"[a-z]{1,2}_?\d{1,3}[a-z]?")
_COMMON_TELLS, _BARE_TELLS, _SHORT_TELLS = 0.1, 0.4, 0.5
# numbers of questions and variables, which any questionnaire has (Q1, v12)
_QUESTION, _QUESTION_TELLS = re.compile(r"q\d{1,3}|v\d{1,2}"), 0.01
# How sure one is that a table is of a source from what its names tell together, at most, and how fast it comes;
# a wide table has short names by chance: so much must be told for each of its columns.
_SUREST, _ENOUGH, _PER_COLUMN = 0.92, 1.5, 0.06
# Where most headers are short single words, each may be one that a statistical office shortened: a guess by its
# letters, where a good part of them can be read so and they speak of several things, as a survey does.
_SHORTENED = 0.62
_FEWEST_COLUMNS, _MOSTLY, _READ, _FEWEST_KINDS = 8, 0.6, 0.25, 4
_QUANTIFIERS = ("?", "*", "+", "{")
_SHORT_HEADER = re.compile(r"[A-Za-z]{1,10}\d{0,5}[A-Za-z]{0,4}|[A-Za-z0-9]{1,10}(_[A-Za-z0-9]{1,10}){1,2}")
# patterns of a source are looked at where its plain names tell so much already
_PLAIN_FIRST = 0.8


class HeaderSource(NamedTuple):
    """A source: what it is, the kind of each of its names, and of names by their pattern."""

    title: str
    names: dict[str, str]
    patterns: tuple[tuple[str, str], ...]
    strip: re.Pattern[str] | None

    def bare(self, name: str) -> str:
        """A name in lower case, without what may stand before it."""
        lower = name.lower()
        return lower if lower in self.names or self.strip is None else self.strip.sub("", lower, count=1)

    def kind_by_pattern(self, name: str) -> str | None:
        """The kind of the first pattern that fits, as the name stands or without what may stand before it."""
        return self._kind(name.lower()) or self._kind(self.bare(name))

    def kind_by_part(self, name: str) -> str | None:
        """The kind of the whole name, else of it without a number, its last letter or the letter of a wave, else of its
        first part that has one."""
        name = plain(name)
        whole, bare = self.kind_by_pattern(name), self.bare(name)
        if whole is not None:
            return whole
        unnumbered = bare.rstrip("0123456789").rstrip("_")
        parts = [part for part in [unnumbered, *bare.split("_"), *unnumbered.split("_")] if len(part) >= 3]
        shorter = [bare[:-1]] if len(bare) >= 4 and bare[-1].isalpha() else []
        return next((kind for part in [*shorter, *parts] if (kind := self._kind(part)) is not None), None)

    def _kind(self, name: str) -> str | None:
        fitting = (kind for text, kind in self.patterns if name.startswith(_start(text)) and _fits(text, name))
        return next(fitting, None)


@cache
def _start(pattern: str) -> str:
    """The letters with which all that a pattern fits begins: most patterns need not be compiled to see that they do
    not fit.

    >>> [_start(pattern) for pattern in ("age_?[0-9]", "ages?", "(wk)?age", "ab|cd", "a(b|c)")]
    ['age', 'age', '', '', 'a']
    """
    if "|" in re.sub(r"\([^()]*\)", "", pattern):
        return ""
    letters = re.match(r"[a-z0-9_]*", pattern)
    assert letters is not None
    return letters.group()[:-1] if pattern[letters.end() :][:1] in _QUANTIFIERS else letters.group()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _fits(pattern: str, name: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


class SourceMatch(NamedTuple):
    """What a source says of a column, and how sure it is that its table is of this source (`strength`).

    `matched` counts the columns of the table that the source names.
    """

    kind: str
    title: str
    strength: float
    matched: int
    by_pattern: bool = False


@cache
def sources() -> tuple[HeaderSource, ...]:
    """All sources, read once."""
    folder = files("shoal.identifiers.sources")
    texts = sorted((entry.name, entry.read_text("utf-8")) for entry in folder.iterdir() if entry.name.endswith(".txt"))
    return tuple(read_source(text) for _, text in texts)


def read_source(text: str) -> HeaderSource:
    """A source from the text of its file.

    >>> read_source("source: A survey\\nage: AGEP /AGE_\\\\d/\\nsex: SEX").names
    {'agep': 'age', 'sex': 'sex'}
    """
    said = dict(_entries(text))
    names: dict[str, str] = {}
    patterns = []
    for kind, words in said.items():
        if kind in ("source", "from", "strip"):
            continue
        for word in words.split():
            if word.startswith("/"):
                patterns.append((word.strip("/").lower().replace(r"\w", "[a-z0-9_]"), kind))
            else:
                names.setdefault(word.lower(), kind)
    strip = re.compile(f"^(?:{said['strip']})") if "strip" in said else None
    return HeaderSource(said["source"], names, tuple(patterns), strip)


def _entries(text: str) -> list[tuple[str, str]]:
    """Lines as pairs; what is indented goes on with the line before."""
    joined = re.sub(r"\n\s+", " ", text)
    return [
        (key.strip(), rest.strip()) for key, _, rest in (line.partition(":") for line in joined.splitlines()) if key
    ]


@cache
def _common() -> frozenset[str]:
    """Names that tables of many sources have."""
    return frozenset(files("shoal.identifiers.sources").joinpath("common.names").read_text("utf-8").split())


@cache
def _shared() -> Counter[str]:
    """In how many sources each name is."""
    return Counter(name for source in sources() for name in source.names)


def _tells(name: str) -> float:
    """What a name tells about the source of its table, 0 to 1; the number of a question tells nearly nothing."""
    if _QUESTION.fullmatch(name):
        return _QUESTION_TELLS
    if name in _common():
        return _COMMON_TELLS
    form = _BARE_TELLS if _BARE.fullmatch(name) else _SHORT_TELLS if len(name) <= 3 else 1.0
    return form / _shared()[name]


def listed(names: Iterable[str]) -> dict[str, SourceMatch]:
    """What the sources that a table looks like say of its columns; of several the one that it looks like most.

    >>> found = listed(["SERIALNO", "AGEP", "SCHL", "RAC1P", "my_note"])
    >>> found["SCHL"].kind, found["SCHL"].title[:25], found["SCHL"].strength > 0.8, "my_note" in found
    ('education', 'American Community Survey', True, False)
    >>> listed(["SCHL", "price", "colour"])["SCHL"].strength < 0.5
    True
    """
    every = list(dict.fromkeys(names))
    best: dict[str, SourceMatch] = {}
    for source in sources():
        for name, found in _of_source(source, every).items():
            if name not in best or found.strength > best[name].strength:
                best[name] = found
    for name, found in _shortened(every).items():
        if name not in best or found.strength > best[name].strength:
            best[name] = found
    return best


@cache
def _short() -> HeaderSource:
    """The abbreviations that are common in headers, whatever the source."""
    return read_source(files("shoal.identifiers.sources").joinpath("short.headers").read_text("utf-8"))


def _shortened(every: list[str]) -> dict[str, SourceMatch]:
    """What short headers may stand for, in a table where most are short."""
    short = [name for name in every if _SHORT_HEADER.fullmatch(plain(name))]
    if len(every) < _FEWEST_COLUMNS or len(short) < _MOSTLY * len(every):
        return {}
    source = _short()
    found = {name: kind for name in short if (kind := source.kind_by_part(name)) is not None}
    if len(found) < _READ * len(every) or len(set(found.values())) < _FEWEST_KINDS:
        return {}
    return {name: SourceMatch(kind, source.title, _SHORTENED, len(found), True) for name, kind in found.items()}


def _of_source(source: HeaderSource, every: list[str]) -> dict[str, SourceMatch]:
    exact = {name: source.bare(name) for name in every}
    exact = {name: bare for name, bare in exact.items() if bare in source.names}
    told = sum(_tells(bare) for bare in exact.values())
    if not told:
        return {}
    strength = _SUREST * (1 - exp(-told / _ENOUGH)) * min(1.0, told / len(every) / _PER_COLUMN)
    by_pattern = {}
    if told >= _PLAIN_FIRST:
        found = ((name, source.kind_by_pattern(name)) for name in every if name not in exact)
        by_pattern = {name: kind for name, kind in found if kind is not None}
    matched = len(exact) + len(by_pattern)
    return {
        **{name: SourceMatch(source.names[bare], source.title, strength, matched) for name, bare in exact.items()},
        **{name: SourceMatch(kind, source.title, strength * 0.95, matched, True) for name, kind in by_pattern.items()},
    }
