"""A learned second opinion beside the rules: a linear tagger of words, trained by `make tagger`, run by numpy alone.

Each word that may be a part of an identifier is judged by itself, from the words around it: how they are written, what
the lists know of them, a number for each word. An averaged perceptron (Freund and Schapire 1999; Collins 2002) has
weighed these signs; a weight is a byte, and signs are hashed into one table (Weinberger et al. 2009), so the shipped
file stays small. A word is tagged where its best kind beats "no identifier" by the margin of that kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from zlib import crc32

import numpy as np

from shoal.storage import Array
from shoal.text.base import Span, TextKind
from shoal.text.block import Block
from shoal.text.terms import rule
from shoal.text.words import (
    CAPITAL,
    DATE_WORD,
    EITHER,
    GIVEN,
    INITIAL,
    LOWER,
    RARE,
    SMALL,
    SURE,
    SURNAME,
    UNKNOWN,
    UPPER,
    WORD,
    WRITTEN_AS_NAME,
    without_genitive,
)

# what a word is tagged as; the first is no identifier, the last are found by rules and only keep the others apart
LABELS: tuple[TextKind | None, ...] = (
    None, "name", "organisation", "place", "address", "date", "record_number", "other_number",
)  # fmt: skip
_TAGGED = 7
REASON = "by the tagger"
_SCORE = 0.72
ROWS = 1 << 17
_LISTED = SURE | EITHER | RARE | UNKNOWN | WORD
_FORM = np.uint64(CAPITAL | UPPER | LOWER | INITIAL | _LISTED | GIVEN | SURNAME)
_STABLE = np.uint64((1 << 39) - 1)
_CANDIDATE = np.uint64(WRITTEN_AS_NAME | DATE_WORD)
_LOWER_NAME = np.uint64(SURE | RARE | UNKNOWN)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_SPAN_GAP = 3
_RAISED = 128
_MOST_WORDS = 1_000_000
_LEAST_DIGITS = 3
_SHORT = 4
_LONGEST_BETWEEN = 12
_NO_JOIN = frozenset('\n;:!?()"')
_YEAR = re.compile(r"(?:19|20)\d{2}")
_OUTSIDE = np.uint64(1)


@dataclass(frozen=True)
class Tokens:
    """The words, runs of digits and signs of a block of notes in their order, as arrays."""

    starts: Array
    ends: Array
    notes: Array
    # numbers for: the word itself, how it is written and how frequent as a name, what else lists say, its end
    words: Array
    forms: Array
    terms: Array
    tails: Array
    gaps: Array
    # which of them may be a part of an identifier
    candidates: Array

    @classmethod
    def of(cls, block: Block) -> Tokens:
        """The tokens of a block; hyphens inside words are none."""
        marks = block.marks
        within = np.searchsorted(block.word_starts, marks, "right") - 1
        inside = (within >= 0) & (marks < block.word_ends[within]) if len(block.word_starts) else np.zeros(0, bool)
        marks = marks[~inside] if len(block.word_starts) else marks
        signs = block.word_signs
        values = _numbers().of(block.words)
        digits = _digit_forms(block)
        sign_values = block.codes[marks].astype(np.uint64) + np.uint64(1 << 32)
        starts = np.concatenate([block.word_starts, block.run_starts, marks])
        order = np.argsort(starts, kind="stable")
        starts = starts[order]
        ends = np.concatenate([block.word_ends, block.run_ends, marks + 1])[order]
        form = (signs & _FORM) << np.uint64(8)
        in_lower = np.array([note.in_lower_case for note in block.notes], bool)
        in_lower = in_lower[np.searchsorted(block.firsts, block.word_starts, "right") - 1]
        candidates = (signs & _CANDIDATE != 0) | in_lower & (signs & np.uint64(SMALL) == 0) & (signs & _LOWER_NAME != 0)
        tag = (block.characters(block.word_starts - 1) == ord("[")) & (block.characters(block.word_ends) == ord("]"))
        candidates &= ~tag
        return cls(
            starts=starts,
            ends=ends,
            notes=np.searchsorted(block.firsts, starts, "right"),
            words=np.concatenate([values[:, 0], digits, sign_values])[order],
            forms=np.concatenate([form | values[:, 2], digits | np.uint64(2 << 32), sign_values])[order],
            terms=np.concatenate([signs & _STABLE & ~_FORM, digits | np.uint64(2 << 32), sign_values])[order],
            tails=np.concatenate([values[:, 1], digits, sign_values])[order],
            gaps=_gaps(block.codes, starts, ends),
            candidates=np.flatnonzero(
                np.concatenate([candidates, np.ones(len(digits), bool), np.zeros(len(marks), bool)])[order]
            ),
        )


class _Numbers(dict[str, int]):
    """A row of three numbers for each word: of the word, of its last letters, of its length and pattern of capitals."""

    def __init__(self) -> None:
        self.rows = np.zeros((1 << 12, 3), np.uint64)

    def __missing__(self, word: str) -> int:
        place = len(self)
        if place == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        lower = word.lower()
        shape = min(len(word), 7) | (16 if "-" in word else 0) | (32 if any(s.isupper() for s in word[1:]) else 0)
        self.rows[place] = crc32(lower.encode("utf-8", "replace")), crc32(lower[-3:].encode("utf-8", "replace")), shape
        self[word] = place
        return place

    def of(self, words: list[str]) -> Array:
        """The rows of some words."""
        if len(self) > _MOST_WORDS:
            self.clear()
        places = np.fromiter(map(self.__getitem__, words), np.int64, len(words))
        found: Array = self.rows[places]
        return found


@cache
def _numbers() -> _Numbers:
    return _Numbers()


def _digit_forms(block: Block) -> Array:
    """A number for each run of digits: its length, and what a short one can be (day, month, year)."""
    lengths = np.minimum(block.run_ends - block.run_starts, 15)
    values = block.run_values
    size = np.searchsorted([0, 1, 13, 32, 100, 1900, 2030], values, "right")
    found: Array = ((lengths << 4) | size | (1 << 33)).astype(np.uint64)
    return found


def _gaps(codes: Array, starts: Array, ends: Array) -> Array:
    """What stands before each token: nothing, blanks, a new line."""
    before = np.append(0, ends[:-1])
    lines = np.append(0, np.cumsum(codes == ord("\n")))
    newline = lines[starts] > lines[before]
    return (np.where(newline, 2, starts > before)).astype(np.uint64)


def _mixed(*parts: Array | np.uint64) -> Array:
    """One number from several, well spread."""
    found = np.asarray(parts[0], np.uint64)
    with np.errstate(over="ignore"):
        for part in parts[1:]:
            found = (found ^ (found >> _SHIFT)) * _MIX + part
        return (found ^ (found >> _SHIFT)) * _MIX


def signs_of(tokens: Tokens) -> Array:
    """The rows of the table of weights that speak about each candidate."""
    at = tokens.candidates

    def beside(values: Array, offset: int) -> Array:
        places = at + offset
        inside = (places >= 0) & (places < len(values))
        places = np.where(inside, places, at)
        found: Array = np.where(inside & (tokens.notes[places] == tokens.notes[at]), values[places], _OUTSIDE)
        return found

    word = {offset: beside(tokens.words, offset) for offset in range(-5, 4)}
    form = {offset: beside(tokens.forms, offset) for offset in range(-3, 4)}
    term = {offset: beside(tokens.terms, offset) for offset in range(-2, 3)}
    gap = {offset: beside(tokens.gaps, offset) for offset in range(-1, 3)}
    tail = tokens.tails[at]
    own: list[tuple[Array, ...]] = [
        (word[0],), (form[0],), (term[0],), (tail, form[0]), (form[0], term[0]), (gap[0], form[0], gap[1]),
        (word[-1],), (word[1],), (word[-2],), (word[2],), (word[-3],), (word[3],),
        (form[-1],), (form[1],), (form[-2],), (form[2],), (term[-1],), (term[1],), (term[-2],), (term[2],),
        (word[-1], form[0]), (form[0], word[1]), (word[-2], word[-1]), (word[1], word[2]), (word[-1], word[0]),
        (word[-2], word[-1], form[0]), (form[-1], form[0]), (form[0], form[1]), (form[-1], form[0], form[1]),
        (form[-2], form[-1], form[0]), (form[0], form[1], form[2]), (term[-1], form[0]), (form[0], term[1]),
        (term[-1], term[0], term[1]), (form[-3], form[-2], form[-1], form[0]), (form[0], form[1], form[2], form[3]),
        (gap[-1], gap[0], gap[1], gap[2]), (word[-1], gap[0], gap[1], word[1]),
    ]  # fmt: skip
    rows = [_mixed(np.uint64(number), *parts) for number, parts in enumerate(own)]
    left, right = np.uint64(len(own)), np.uint64(len(own) + 1)
    rows += [_mixed(left, word[offset], form[0]) for offset in range(-5, 0)]
    rows += [_mixed(right, word[offset], form[0]) for offset in range(1, 4)]
    return (np.stack(rows, axis=1) >> np.uint64(40) & np.uint64(ROWS - 1)).astype(np.int32)


@dataclass(frozen=True)
class Weights:
    """What the tagger has learned: for each hashed sign a weight of each label, and the margin of each label.

    Four weights lie in one number, sixteen bits for each and raised so that none is negative: one look-up adds four.
    """

    lanes: tuple[Array, Array]
    margins: Array

    @classmethod
    def of(cls, table: Array, margins: Array) -> Weights:
        """Weights from a table of bytes, a row for each sign."""
        raised = np.ascontiguousarray(table.astype(np.int16) + _RAISED).astype("<u2").view("<u8")
        return cls((np.ascontiguousarray(raised[:, 0]), np.ascontiguousarray(raised[:, 1])), margins)

    def scores(self, signs: Array) -> Array:
        """The sum of weights of each label for each candidate, raised by the same for all labels."""
        sums = [np.take(lane, signs).sum(axis=1, dtype="<u8") for lane in self.lanes]
        return np.stack(sums, axis=1).view("<u2").astype(np.int32)

    def judged(self, signs: Array) -> Array:
        """The label of each candidate, 0 where no kind is sure enough."""
        scores = self.scores(signs)
        best = np.argmax(scores, axis=1)
        lead = scores[np.arange(len(best)), best] - scores[:, 0]
        found: Array = np.where((lead >= self.margins[best]) & (best < _TAGGED), best, 0)
        return found


@cache
def weights() -> Weights:
    """The weights that ship with shoal."""
    with files("shoal.text").joinpath("lists", "tagger.npz").open("rb") as file:
        arrays = np.load(file)
        return Weights.of(arrays["table"], arrays["margins"])


class Tagger:
    """The recogniser that learned: what stands beside each word says which kind it is of."""

    name = "tagger"
    kinds: tuple[TextKind, ...] = tuple(label for label in LABELS[1:_TAGGED] if label is not None)

    def find_in(self, block: Block, found: list[list[Span]]) -> None:
        """Adds what the words of each note are tagged as; neighbours of one kind are one identifier."""
        tokens = Tokens.of(block)
        if not len(tokens.candidates):
            return
        labels = weights().judged(signs_of(tokens))
        there = np.flatnonzero(labels)
        at = tokens.candidates[there]
        notes = tokens.notes[at] - 1
        firsts = block.firsts[notes]
        words = tokens.forms[at] & np.uint64(WORD << 8) != 0
        rows = zip(
            at.tolist(), labels[there].tolist(), notes.tolist(), (tokens.starts[at] - firsts).tolist(),
            (tokens.ends[at] - firsts).tolist(), words.tolist(), strict=True,
        )  # fmt: skip
        stretches: list[_Stretch] = []
        for place, label, number, start, end, word in rows:
            last = stretches[-1] if stretches else None
            near = last and (last.note, last.label) == (number, label) and place - last.last <= _SPAN_GAP
            if last and near and _joins(block.notes[number].folded[last.end : start], LABELS[label]):
                last.last, last.end, last.words = place, end, last.words and word
            else:
                stretches.append(_Stretch(number, label, place, start, end, word))
        for one in stretches:
            kind = LABELS[one.label]
            text = without_genitive(block.notes[one.note].folded[one.start : one.end])
            if kind is not None and _can_be(kind, text, one.words):
                found[one.note].append(Span(one.start, one.start + len(text), kind, _SCORE, REASON))


@dataclass
class _Stretch:
    """Neighbouring words of one label: their note, the number of the last token, and whether all are plain words."""

    note: int
    label: int
    last: int
    start: int
    end: int
    words: bool


def _can_be(kind: TextKind, text: str, words: bool) -> bool:
    """Whether a stretch has what its kind cannot do without: a date is no year alone, a record number has digits, a
    name has a word that no dictionary holds."""
    digits = sum(map(str.isdigit, text))
    if kind == "date":
        return not text.isdigit() and (digits > 1 or len(text) > 4)
    if kind == "record_number":
        return digits >= _LEAST_DIGITS and _YEAR.fullmatch(text) is None
    if kind == "address":
        return len(text) > _SHORT and not text.islower()
    return len(text) > 1 and not text.isdigit() and not (kind == "name" and words)


def _joins(between: str, kind: TextKind | None) -> bool:
    """Whether what stands between two tagged words may be a part of one identifier: signs and small words, no line."""
    if len(between) > _LONGEST_BETWEEN or not _NO_JOIN.isdisjoint(between):
        return False
    words = "".join(sign if sign.isalpha() or sign in "'\u2019" else " " for sign in between).lower().split()
    return _linking(kind).issuperset(words)


@cache
def _linking(kind: TextKind | None) -> frozenset[str]:
    """The small words inside an identifier; between two names `and` joins nothing."""
    words = rule("place_joins") | rule("organisation_links") | rule("street_links") | {"of"}
    return words - {"y", "et"} if kind == "name" else words | {"and", "und", "et", "e", "y"}


RECOGNISER = Tagger()
