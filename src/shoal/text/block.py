"""Many notes at once: where their words and digits are, and what is known of the words, as arrays over all of them.

A `Note` makes each of these when it is first asked for, note by note; here they are made for a block of notes in one
go, and are the same. The notes of a block stand behind each other with a line break between them, which is neither
part of a word nor of a number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, reduce
from itertools import pairwise
from operator import or_

import numpy as np

from shoal.storage import Array
from shoal.text.base import Note, once
from shoal.text.terms import small_words
from shoal.text.words import CAPITAL, INITIAL, LONGEST, LOWER, PLAIN_WORD, SMALL, SPLIT, SURE, UPPER, lexicon

# so many notes and characters are looked at together
_MOST_NOTES = 1000
_MOST_CHARACTERS = 2_000_000
_OTHER, _LETTER, _DIGIT, _HYPHEN, _APOSTROPHE = range(5)
_TABLE = 0x3000
# runs of digits whose number is asked for
_SHORT_RUN = 4


class Block:
    """Some notes with what recognisers ask of all of them at once: which of them are worth a closer look.

    Each answer is an array with a truth for each note; where it is false, there is nothing to be found.

    >>> block = Block([Note("Rose, 42"), Note("l'eau")])
    >>> block.notes[0].words, block.has_digits.tolist(), block.holding("eau").tolist()
    (['Rose'], [True, False], [False, True])
    """

    def __init__(self, notes: list[Note], shapes: frozenset[str] = frozenset()) -> None:
        self.notes = notes
        self.shapes = shapes  # of codes that recur in the corpus (`shoal.text.shapes`)
        self.text = "\n".join([note.folded for note in notes])
        lengths = np.array([len(note.folded) + 1 for note in notes], np.int64)
        self.firsts = np.append(0, np.cumsum(lengths))
        self._starts: list[int] = self.firsts.tolist()
        self._holding: dict[str, Array] = {}
        self._beside: dict[int, Array] = {}
        self._fill()

    def _fill(self) -> None:
        """What each note would make by itself when it is asked for, made for all notes."""
        notes, text = self.notes, self.text
        self.codes = _codes(text)
        classes = _classes(self.codes)
        self.marks = np.flatnonzero((classes == _OTHER) & (self.codes > ord(" ")) | (classes == _HYPHEN))
        self.run_starts, self.run_ends = _runs(classes == _DIGIT)
        digits, bounds = _local(self.run_starts, self.run_ends, self.firsts)
        for note, (low, high) in zip(notes, bounds, strict=True):
            note.digits = digits[low:high]
        self.run_notes = np.searchsorted(self.firsts, self.run_starts, "right") - 1
        self.has_digits = np.array([low < high for low, high in bounds], bool)
        starts, ends, words = _words(text, self.codes, classes)
        self.word_starts, self.word_ends, self.words = starts, ends, words
        pieces, bounds = _local(starts, ends, self.firsts)
        signs = list(map(lexicon().__getitem__, words))
        self.word_signs = np.array(signs, np.uint64)
        for note, (low, high) in zip(notes, bounds, strict=True):
            note.words, note.pieces, note.signs = words[low:high], pieces[low:high], signs[low:high]
        places = np.array(bounds, np.int64).reshape(-1, 2)
        self.any_signs = _add_signs(notes, words, self.word_signs, places, ends - starts)

    def __len__(self) -> int:
        return len(self.notes)

    @once
    def lower(self) -> str:
        """The notes in lower case, with the same places."""
        return "\n".join([note.lower for note in self.notes])

    @once
    def run_values(self) -> Array:
        """The numbers that runs of up to four digits are; longer ones are -1."""
        lengths = self.run_ends - self.run_starts
        values = np.zeros(len(lengths), np.int64)
        for place in range(_SHORT_RUN):
            there = lengths > place
            values[there] = values[there] * 10 + self.codes[self.run_starts[there] + place] - ord("0")
        return np.where(lengths > _SHORT_RUN, -1, values)

    def characters(self, places: Array) -> Array:
        """The numbers of the characters at some places; 0 outside of the text."""
        inside = (places >= 0) & (places < len(self.codes))
        return np.where(inside, self.codes[np.where(inside, places, 0)], 0)

    def beside_runs(self, offset: int) -> Array:
        """The characters that stand `-offset` places before the runs of digits, or `offset` places behind them."""
        known = self._beside.get(offset)
        if known is None:
            places = self.run_starts if offset < 0 else self.run_ends
            known = self._beside[offset] = self.characters(places + offset)
        return known

    def speaking(self, languages: tuple[str, ...]) -> Array:
        """Which notes are in one of some languages."""
        return np.array([note.language in languages for note in self.notes], bool)

    def marked(self, bits: int) -> Array:
        """Which notes have a word with one of the bits."""
        found: Array = self.any_signs & np.uint64(bits) != 0
        return found

    def with_run(self, runs: Array) -> Array:
        """Which notes have one of some runs of digits, given as a truth for each of `run_starts`."""
        return np.bincount(self.run_notes[runs], minlength=len(self)).astype(bool)

    def with_places(self, places: Array, least: int = 1) -> Array:
        """Which notes have at least so many of some places of the text."""
        numbers = np.searchsorted(self.firsts, places, "right") - 1
        found: Array = np.bincount(numbers, minlength=len(self)) >= least
        return found

    def by_note(self, runs: Array) -> Iterator[tuple[int, list[int]]]:
        """The notes that have some runs of digits, each with where those start in it."""
        notes = self.run_notes[runs]
        starts = (self.run_starts[runs] - self.firsts[notes]).tolist()
        cuts = np.flatnonzero(np.diff(notes, prepend=-1)).tolist()
        for low, high in pairwise([*cuts, len(starts)]):
            yield int(notes[low]), starts[low:high]

    def holding_one_of(self, parts: tuple[str, ...], asked: Array) -> Array:
        """Which of the notes that are asked hold one of some parts in lower case; few notes are asked one by one."""
        if 8 * np.count_nonzero(asked) > len(self):
            return reduce(or_, map(self.holding, parts))
        found = np.zeros(len(self), bool)
        for number in np.flatnonzero(asked).tolist():
            lower = self.notes[number].lower
            found[number] = any(part in lower for part in parts)
        return found

    def holding(self, part: str) -> Array:
        """Which notes hold a part in lower case."""
        known = self._holding.get(part)
        if known is None:
            known = self._holding[part] = np.zeros(len(self), bool)
            place = self.lower.find(part)
            while place >= 0:  # one look for each note that holds it
                number = bisect_right(self._starts, place) - 1
                known[number] = True
                place = self.lower.find(part, self._starts[number + 1])
        return known


def notes_in_blocks(texts: Iterable[str], languages: tuple[str, ...]) -> Iterator[list[Note]]:
    """The texts as notes, as many at once as make a block, in their order."""
    notes: list[Note] = []
    characters = 0
    for text in texts:
        notes.append(Note(text, languages))
        characters += len(text)
        if len(notes) == _MOST_NOTES or characters > _MOST_CHARACTERS:
            yield notes
            notes, characters = [], 0
    if notes:
        yield notes


@cache
def _class_table() -> Array:
    """What each of the first characters of Unicode is, as the patterns of `shoal.text.words` see them."""
    return np.array([_class_of(chr(code)) for code in range(_TABLE)], np.uint8)


def _class_of(sign: str) -> int:
    if sign in "0123456789":
        return _DIGIT
    if sign in "'\u2019":
        return _APOSTROPHE
    letter = sign.isalnum() and not sign.isdecimal()
    return _LETTER if letter else _HYPHEN if sign == "-" else _OTHER


def _codes(text: str) -> Array:
    """The numbers of the characters."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _classes(codes: Array) -> Array:
    if codes.dtype == np.uint8:
        return _class_table()[codes]
    found = _class_table()[np.minimum(codes, _TABLE - 1)]
    high = np.flatnonzero(codes >= _TABLE)
    if len(high):
        distinct, inverse = np.unique(codes[high], return_inverse=True)
        found[high] = np.array([_class_of(chr(code)) for code in distinct.tolist()], np.uint8)[inverse]
    return found


def _runs(inside: Array) -> tuple[Array, Array]:
    """Where stretches of True start, and where they end."""
    padded = np.zeros(len(inside) + 2, np.int8)
    padded[1:-1] = inside
    edges = np.diff(padded)
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def _words(text: str, codes: Array, classes: Array) -> tuple[Array, Array, list[str]]:
    """Where words are, and the words: letters, with hyphens and apostrophes between two of them; what is elided is a
    word apart."""
    inside = classes == _LETTER
    joins = np.flatnonzero(classes >= _HYPHEN)
    joins = joins[(joins > 0) & (joins < len(inside) - 1)]
    joins = joins[inside[joins - 1] & inside[joins + 1]]
    inside[joins] = True
    starts, ends = _runs(inside)
    alone = np.where(inside, codes, ord(" ")).astype(codes.dtype).tobytes()
    words = alone.decode("ascii" if codes.dtype == np.uint8 else "utf-32-le", "surrogatepass").split(" ")
    words = list(filter(None, words))
    with_apostrophe = joins[classes[joins] == _APOSTROPHE]
    if not len(with_apostrophe):
        return starts, ends, words
    numbers = np.unique(np.searchsorted(starts, with_apostrophe, "right") - 1)
    parts, spelled, last = [], list[str](), 0
    for number, low, high in zip(numbers.tolist(), starts[numbers].tolist(), ends[numbers].tolist(), strict=True):
        matches = list(SPLIT.finditer(text, low, high))
        parts += [match.span() for match in matches]
        spelled += words[last:number]
        spelled += [match[0] for match in matches]
        last = number + 1
    places = np.array(parts).reshape(-1, 2)
    return (
        np.sort(np.concatenate([np.delete(starts, numbers), places[:, 0]])),
        np.sort(np.concatenate([np.delete(ends, numbers), places[:, 1]])),
        spelled + words[last:],
    )


def _local(starts: Array, ends: Array, firsts: Array) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Stretches in characters of their own notes, and which of them each note has: from, and up to before."""
    cuts = np.searchsorted(starts, firsts)
    shift = np.repeat(firsts[:-1], np.diff(cuts))
    stretches = list(zip((starts - shift).tolist(), (ends - shift).tolist(), strict=True))
    bounds = cuts.tolist()
    return stretches, list(pairwise(bounds))


def _add_signs(notes: list[Note], words: list[str], signs: Array, bounds: Array, lengths: Array) -> Array:
    """Which words of each note are notable, and which language they are of; what the words are altogether is given."""
    numbers = np.flatnonzero(signs & np.uint64(~PLAIN_WORD & (1 << 64) - 1))
    places, shares = _shared(numbers, bounds)
    notable = list(zip(places, signs[numbers].tolist(), strict=True))
    capitals = np.append(0, np.cumsum(signs & np.uint64(CAPITAL) != 0))
    in_lower_case = (capitals[bounds[:, 1]] - capitals[bounds[:, 0]]) * 12 < bounds[:, 1] - bounds[:, 0]
    filled = np.flatnonzero(bounds[:, 0] < bounds[:, 1])
    together = np.zeros(len(notes), np.uint64)
    if len(filled):
        together[filled] = np.bitwise_or.reduceat(signs, bounds[filled, 0])
    loud = (signs & np.uint64(UPPER | INITIAL) != 0) | (lengths >= LONGEST)
    languages = _languages(notes[0].languages, words, signs, bounds, loud)
    sure = np.uint64(LOWER | SURE)
    in_lower, parts = _shared(np.flatnonzero(signs & sure == sure), bounds)
    for note, (low, high) in zip(notes, parts, strict=True):
        note.lower_names = in_lower[low:high]
    made = zip(notes, together.tolist(), in_lower_case.tolist(), languages, shares, strict=True)
    for note, any_signs, lower, language, (low, high) in made:
        note.any_signs, note.notable, note.in_lower_case = any_signs, notable[low:high], lower
        if language is not None:
            note.language = language
    return together


def _shared(numbers: Array, bounds: Array) -> tuple[list[int], list[tuple[int, int]]]:
    """Some words by their numbers in their own notes, and which of them each note has: from, and up to before."""
    cuts = np.searchsorted(numbers, np.append(bounds[:, 0], bounds[-1, 1]))
    return (numbers - np.repeat(bounds[:, 0], np.diff(cuts))).tolist(), list(pairwise(cuts.tolist()))


def _languages(
    languages: tuple[str, ...], words: list[str], signs: Array, bounds: Array, loud: Array
) -> list[str | None]:
    """The language of each note by its small words; None where it has hardly any, and capitals may hide them."""
    small = small_words()
    numbers = np.flatnonzero(signs & np.uint64(SMALL))
    spoken = [small.get(words[number], ()) for number in numbers.tolist()]
    note = np.searchsorted(bounds[:, 0], numbers, "right") - 1
    counts = np.zeros((len(bounds), len(languages)), np.int64)
    for place, language in enumerate(languages):
        there = np.fromiter((language in some for some in spoken), bool, len(spoken))
        counts[:, place] = np.bincount(note[there], minlength=len(bounds))
    best = np.argmax(counts, axis=1)
    shouted = np.append(0, np.cumsum(loud))[bounds]
    quiet = 2 * (shouted[:, 1] - shouted[:, 0]) <= bounds[:, 1] - bounds[:, 0]
    sure = (counts.max(axis=1, initial=0) > 0) | quiet
    return [languages[place] if there else None for place, there in zip(best.tolist(), sure.tolist(), strict=True)]
