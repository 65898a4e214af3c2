"""What the table itself knows, found in a person's notes: names in any case and order, as initials, inflected or
misspelt by one edit, dates in other words, numbers with other separators.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import overload

import polars as pl

from shoal.storage.months import month_words
from shoal.text.base import Span, TextKind
from shoal.text.known_values import (
    LEAST_DIGITS,
    LONG,
    PARTICLES,
    TITLES,
    TOKEN,
    UNSPACED,
    KnownSet,
    KnownValue,
    folded,
    folded_words,
    parts_of,
    street_word,
)
from shoal.text.terms import words_set
from shoal.text.words import is_word, is_word_of, lexicon
from shoal.text.written_dates import dates_in

# Names that are misspelt by one edit: a letter added, left out or exchanged, or two neighbours swapped.
#
# All words of the notes are held against all long names at once, through the words that either becomes without one of
# its letters; the work grows with the words, not with words times names.


_LONGEST = 40


def misspelt(parts: Iterable[str], vocabulary: Mapping[str, int], notes: int) -> dict[str, list[str]]:
    """For each long, rare name the words of the notes that are one edit away from it.

    `vocabulary` counts the notes that hold each folded word. A word of the dictionary, or one that many notes hold, is
    not a misspelling; a name that is itself a word of the dictionary is not looked for in other spellings.

    >>> misspelt(["okonkwo", "brown"], {"okonkow": 1, "okonkwo": 3, "browne": 1}, 10)
    {'okonkwo': ['okonkow']}
    """
    rare = [
        part for part in dict.fromkeys(parts) if LONG <= len(part) <= _LONGEST and part.isalpha() and not is_word(part)
    ]
    shortened: dict[str, list[str]] = {}
    for part in rare:
        for form in _without_one(part):
            shortened.setdefault(form, []).append(part)
    most = max(3, notes // 1000)
    found: dict[str, list[str]] = {}
    for word, count in vocabulary.items():
        if not LONG - 1 <= len(word) <= _LONGEST + 1 or count > most:
            continue
        near = {part for form in _without_one(word) for part in shortened.get(form, ())}
        near = {part for part in near if part != word and within_one_edit(part, word)}
        if near and word.isalpha() and not is_word(word):
            for part in near:
                found.setdefault(part, []).append(word)
    return found


def _without_one(word: str) -> set[str]:
    """The word itself, and what it becomes without one of its letters."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def within_one_edit(first: str, second: str) -> bool:
    """Whether two words are equal but for one letter added, left out or exchanged, or two neighbours swapped.

    >>> within_one_edit("meyer", "meier"), within_one_edit("brown", "borwn"), within_one_edit("brown", "bronx")
    (True, True, False)
    """
    if abs(len(first) - len(second)) > 1:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    left, right = first[start:], second[start:]
    if len(left) == len(right):
        return left[1:] == right[1:] or (left[2:] == right[2:] and left[:2] == right[1::-1])
    return left[1:] == right if len(left) > len(right) else left == right[1:]


REASON = "a value that the table has of this person"
# what may stand between the parts of one name, and between the groups of one number
_BETWEEN_NAMES = re.compile(r"[ \t,'\u2019\-\u2010\u2011]{1,3}|\r?\n ?")
# between the parts of a whole name that stands there in sequence: a dot, but a dot and a blank behind an initial or a
# title only
_IN_WHOLE = re.compile(r"(?:[^\w!?:;.]|_){0,3}(?:[^\w!?:;]|_)")
_IN_WHOLE_BEHIND_INITIAL = re.compile(r"(?:[^\w!?:;]|_){1,4}")
_BEHIND_INITIAL = re.compile(r"\.? ?-?|[ '\u2019]")
_BEFORE_MONTH = words_set(
    """
    in of since until till by from before after late early mid last next this
    """
)
_BETWEEN_CODES = re.compile(r"[ \t\u00a0\u202f.,\-\u2010-\u2015/()+_:#]{1,4}")
_DOTTED = re.compile(r"(?<!\w)[^\W\d_]\.[ -]?[^\W\d_]\.(?:[ -]?[^\W\d_]\.)?")
_SENTENCE_END = re.compile(r"[.!?:;\n\u2022*\"\u201c]\s*$")
_MOST_GROUPS = 9
_PREFIX = 4
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
# a written date reaches at most so far from the number of its day
_AROUND = 32
# texts whose words are counted at once
_AT_ONCE = 4096
# so few words are looked for one by one
_FEW_WORDS = 16
_ASCII_SPLIT = re.compile("([A-Za-z0-9]+)")

NOT_LOOKED_FOR = (
    "numbers of one to three digits, single letters, nicknames, initials without dots, a year or the last digits alone"
)


class KnownSets(Sequence[KnownSet]):
    """What is looked for in the notes of each person, made when it is asked for: together they would fill the memory.

    `alike` has a number for each person; persons of whom the same is known have the same number.
    """

    def __init__(self, persons: Iterable[frozenset[KnownValue]], near: Mapping[str, Iterable[str]]) -> None:
        numbers: dict[frozenset[KnownValue], int] = {}
        self.alike = [numbers.setdefault(values, len(numbers)) for values in persons]
        self._values = list(numbers)
        self._near = near
        self._made: dict[int, KnownSet] = {}

    def __len__(self) -> int:
        return len(self.alike)

    @overload
    def __getitem__(self, person: int) -> KnownSet: ...
    @overload
    def __getitem__(self, person: slice) -> list[KnownSet]: ...
    def __getitem__(self, person: int | slice) -> KnownSet | list[KnownSet]:
        """What is known of a person; the same object for the same number as long as it is among the last made."""
        if isinstance(person, slice):
            return [self[number] for number in range(*person.indices(len(self)))]
        number = self.alike[person]
        made = self._made.get(number)
        if made is None:
            values = sorted(self._values[number], key=lambda value: (value.text, value.kind or ""))
            if len(self._made) == _AT_ONCE:
                self._made.clear()
            made = self._made[number] = KnownSet(values, self._near)
        return made


def known_sets(persons: Sequence[Iterable[KnownValue]], texts: Iterable[str | None]) -> KnownSets:
    """What is looked for in the notes of each person; words of all `texts` are held against all names for misspellings.

    >>> known_sets([[KnownValue("Okonkwo")]], ["Ms Okonkow was here"])[0].words["okonkow"]
    ('name', 'any')
    """
    keys = [frozenset(values) for values in persons]
    names = {word for value in set().union(*keys) for word in _names(value)}
    near: dict[str, list[str]] = {}
    if names:
        vocabulary, notes = _vocabulary(texts)
        near = misspelt(names, vocabulary, notes)
    return KnownSets(keys, near)


def _vocabulary(texts: Iterable[str | None]) -> tuple[Counter[str], int]:
    """How many texts hold each folded word, and how many texts there are; plain texts are counted all at once."""
    found: Counter[str] = Counter()
    notes = 0
    rest = iter([text for text in texts if text])
    while some := list(islice(rest, _AT_ONCE)):
        notes += len(some)
        ascii_ = [text for text in some if text.isascii()]
        for text in some if len(ascii_) < len(some) else ():
            if not text.isascii():
                found.update(set(folded_words(text)))
        words = pl.Series(ascii_, dtype=pl.String).str.to_lowercase().str.extract_all("[a-z0-9]{5,}").list.unique()
        counts = words.list.explode().drop_nulls().value_counts()
        found.update(dict(zip(*(column.to_list() for column in counts.get_columns()), strict=True)))
    return found, notes


def _names(value: KnownValue) -> Iterable[str]:
    if value.kind not in (None, "name"):
        return ()
    parts = parts_of(value)
    return parts.words if parts.kind == "name" else ()


def find_known(text: str, known: KnownSet) -> list[Span]:
    """The known values of a person in one text, in order; offsets in its characters.

    >>> text = "BROWN, R. phoned from 559 555 0182 about Mrs Brown's pills."
    >>> found = find_known(text, KnownSet([KnownValue("Rose Brown"), KnownValue("+1 (559) 555-0182")]))
    >>> [text[span.start : span.end] for span in found]
    ['BROWN, R.', '559 555 0182', 'Brown']
    """
    found = list(_literals(text, known)) if known.literals else []
    words = folded_words(text)
    has = set(words)
    if known.words and (numbered := {word: name for word in has if (name := _numbered_name(word, known)) is not None}):
        words = [numbered.get(word, word) for word in words]
        has = set(words)
    named = not known.triggers.isdisjoint(has)
    streets = bool(known.sequences)
    digits = _code_places(words, has, known) if known.prefixes else []
    dated = not known.day_words.isdisjoint(has)
    whole = not has.isdisjoint(known.wholes)
    if named or streets or digits or dated or whole:
        pieces = _pieces(text, words)
        names = list(_wholes(text, words, pieces, known)) if whole else []
        found += [_span(pieces[first][0], pieces[last][1], "name") for first, last in names]
        if named:
            within = {place for first, last in names for place in range(first, last + 1)}
            found += _names_in(text, words, pieces, known, within)
        if streets:
            found += _sequences(text, words, pieces, known)
        if digits:
            found += _codes(text, words, pieces, known, digits)
        if dated:
            found += _dates(text, words, pieces, known)
    if known.initials and not (text.isascii() and known.initials.isdisjoint(has)):
        found += _dotted(text, known)
    return _joined(found) if found else []


def _numbered_name(word: str, known: KnownSet) -> str | None:
    """The name in a word that is a name with digits beside it: `Quindlen2`, `QUINDLEN1954`."""
    name = word.strip(_DIGITS) if not word.isalpha() else word
    if name == word or name not in known.words:
        return None
    kind, rule = known.words[name]
    return name if kind == "name" and rule != "weak" else None


def _places(words: list[str], sought: set[str]) -> list[int]:
    """The numbers of the words that are one of some words, which are in the text, in order."""
    if len(sought) > _FEW_WORDS:
        return [place for place, word in enumerate(words) if word in sought]
    found = []
    for word in sought:
        place = words.index(word)
        found.append(place)
        for _ in range(words.count(word) - 1):
            place = words.index(word, place + 1)
            found.append(place)
    return sorted(found)


def _code_places(words: list[str], has: set[str], known: KnownSet) -> list[int]:
    """Where a known code may start: a word that one starts with, or one that ends with digits behind a prefix."""
    loose = {word for word in has if word[-1] <= "9" and (word[0] > "9" or known.cores)}
    return _places(words, loose | (has & known.prefixes))


def _pieces(text: str, words: list[str]) -> list[tuple[int, int]]:
    """Where the words are; in plain text where what stands before them ends."""
    if not text.isascii():
        return [match.span() for match in TOKEN.finditer(text)]
    ends = list(accumulate(map(len, _ASCII_SPLIT.split(text))))
    return list(zip(ends[0::2], ends[1::2], strict=False))


def _dates(text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet) -> Iterator[Span]:
    """Dates that can mean a known one; only around the number of a known day is a date looked for."""
    stretches: list[tuple[int, int]] = []
    for start, end in (pieces[place] for place, word in enumerate(words) if word in known.day_words):
        first = max(start - _AROUND, 0)
        if stretches and first <= stretches[-1][1]:
            first = stretches.pop()[0]
        stretches.append((first, end + _AROUND))
    for start, end in stretches:
        yield from (
            _span(date.start, date.end, "date") for date in dates_in(text, start, end) if date.means(known.days)
        )


def _span(start: int, end: int, kind: TextKind) -> Span:
    return Span(start, end, kind, 1.0, REASON)


def _joined(spans: list[Span]) -> list[Span]:
    """Spans without overlap, the longer first."""
    kept: list[Span] = []
    last = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start >= last:
            kept.append(span)
            last = span.end
        elif span.end > last:  # one starts inside the other: both go, as one
            before = kept.pop()
            kept.append(_span(before.start, span.end, before.kind))
            last = span.end
    return kept


def _literals(text: str, known: KnownSet) -> Iterator[Span]:
    """Addresses of e-mail, and names in scripts without blanks, as they are written, whatever the case."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    for literal, kind in known.literals.items():
        start = lower.find(literal)
        anywhere = "@" in literal or UNSPACED.search(literal) is not None
        while start >= 0:
            end = start + len(literal)
            if anywhere or not (lower[start - 1 : start].isalnum() or lower[end : end + 1].isalnum()):
                yield _span(start, end, kind)
            start = lower.find(literal, end)


def _wholes(text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet) -> Iterator[tuple[int, int]]:
    """Where whole names stand in sequence, in whatever case, with particles and apostrophes: first and last word."""
    last = 0
    for place in _places(words, known.wholes.keys() & words):
        word = words[place]
        names = known.wholes[word] if place >= last else None
        if not names:
            continue
        longest = max(map(len, names))
        end, signs = place, word
        while len(signs) < longest and end + 1 < len(words) and _in_whole(text, words, pieces, end):
            end += 1
            signs += words[end]
            if signs in names:
                yield place, end
                last = end + 1


def _in_whole(text: str, words: list[str], pieces: list[tuple[int, int]], left: int) -> bool:
    """Whether a word and the next may stand in one whole name."""
    short = len(words[left]) == 1 or words[left] in TITLES
    between = _IN_WHOLE_BEHIND_INITIAL if short else _IN_WHOLE
    return between.fullmatch(text, pieces[left][1], pieces[left + 1][0]) is not None


def _names_in(
    text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet, within: set[int]
) -> Iterator[Span]:
    """Parts of names that are written as they must be, neighbours and initials beside them taken along.

    `within`: the places of whole names.
    """
    hits = _places(words, known.words.keys() & words)
    beside = within.union(hits)
    taken = [place for place in hits if _counts(text, words, pieces, known, place, beside)]
    place = 0
    while place < len(taken):
        first = last = taken[place]
        kind = known.words[words[first]][0]
        place += 1
        while place < len(taken) and kind == "name" and _one_name(text, words, pieces, known, last, taken[place]):
            last = taken[place]
            place += 1
        if kind == "name":
            first, last = _with_initials(text, words, pieces, known, first, last)
        end = pieces[last][1]
        dotted = kind == "name" and len(words[last]) == 1 and text[end : end + 1] == "."
        yield _span(pieces[first][0], end + dotted, kind)


def _counts(
    text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet, place: int, beside: set[int]
) -> bool:
    """Whether a word that is part of a known value is written so that the value is meant."""
    rule = known.words[words[place]][1]
    start = pieces[place][0]
    if rule == "any" or (rule == "inflected" and not (text[start].islower() and is_word(words[place]))):
        return True
    neighbour = any(
        other in beside and 0 <= other < len(words) and _near(text, pieces, *sorted((place, other)))
        for other in (place - 1, place + 1)
    )
    if neighbour or (place and words[place - 1] in TITLES and _near(text, pieces, place - 1, place)):
        return True
    if text[start].islower():
        return (
            rule == "capital"
            and len(words[place]) > 3
            and not any(is_word_of(words[place], own) for own in ("en", _language(words)))
        )
    if rule == "capital":
        return True
    if words[place] in month_words() and _is_month(words, place):
        return False
    if _SENTENCE_END.search(text[max(0, start - 4) : start]) or not text[:start].strip():
        return False
    return not (text[start : pieces[place][1]].isupper() and len(words[place]) == 2)


def _language(words: list[str]) -> str:
    return lexicon().language(words, ("en", "de", "fr", "it", "es"))


def _is_month(words: list[str], place: int) -> bool:
    """Whether a word that is a name too stands as a month does: beside a number, or behind `in` and the like."""
    beside = words[max(place - 1, 0) : place] + words[place + 1 : place + 2]
    return any(word[0].isdigit() for word in beside) or (place > 0 and words[place - 1] in _BEFORE_MONTH)


def _near(text: str, pieces: list[tuple[int, int]], left: int, right: int) -> bool:
    """Whether two neighbouring words may belong to one name; a dot stands behind initials and titles only."""
    start, end = pieces[left]
    if end - start == 1 or folded(text[start:end]) in TITLES:
        return _BEHIND_INITIAL.fullmatch(text, end, pieces[right][0]) is not None
    return _BETWEEN_NAMES.fullmatch(text, end, pieces[right][0]) is not None


def _one_name(
    text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet, left: int, right: int
) -> bool:
    """Whether two parts belong to one name: only particles and initials stand between them."""
    if right - left > 4 or known.words[words[right]][0] != "name":
        return False
    if not all(_near(text, pieces, place, place + 1) for place in range(left, right)):
        return False
    return all(
        words[place] in PARTICLES
        or (len(words[place]) == 1 and (words[place] in "vdz" or not text[pieces[place][0]].islower()))
        for place in range(left + 1, right)
    )


def _with_initials(
    text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet, first: int, last: int
) -> tuple[int, int]:
    """A name with the initials before and behind it."""
    while first and _initial(text, words, pieces, known, first - 1) and _near(text, pieces, first - 1, first):
        first -= 1
    while (
        last + 1 < len(words)
        and _initial(text, words, pieces, known, last + 1)
        and _near(text, pieces, last, last + 1)
        and text[pieces[last][1]] not in "'\u2019"
        and (text[pieces[last][1]] == "," or text[pieces[last + 1][1] : pieces[last + 1][1] + 1] == ".")
    ):
        last += 1
    return first, last


def _initial(text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet, place: int) -> bool:
    start, end = pieces[place]
    if len(words[place]) != 1 or words[place] not in known.single_initials:
        return False
    return not text[start].islower() or text[end : end + 1] in ("'", "\u2019", ".")


def _dotted(text: str, known: KnownSet) -> Iterator[Span]:
    """`R.B.`: two or three initials with dots, all of this person."""
    for match in _DOTTED.finditer(text):
        letters = [folded(sign) for sign in match[0] if sign.isalpha()]
        own = all(letter in known.initials for letter in letters) and match[0].upper() == match[0]
        if own and (len(set(letters)) > 1 or len(known.initials) == 1):
            yield _span(match.start(), match.end(), "name")


def _sequences(text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet) -> Iterator[Span]:
    """Addresses and other values of several words, whatever signs stand between them."""
    short = [street_word(word) for word in words]
    for place, word in enumerate(short):
        for sequence, kind in known.sequences.get(word, ()):
            end = place + len(sequence)
            if tuple(short[place:end]) == sequence and pieces[end - 1][1] - pieces[place][0] < 40 * len(sequence):
                yield _span(pieces[place][0], pieces[end - 1][1], kind)


def _codes(
    text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet, places: list[int]
) -> Iterator[Span]:
    """Numbers and codes: groups of letters and digits put together while they are the start of a known one."""
    last = 0
    for place in places:
        word = words[place]
        if place < last:
            continue
        end, kind = _code_at(text, words, pieces, known, place)
        if kind is None:
            continue
        first = _with_prefix(text, words, pieces, place) if word[0].isdigit() else place
        start = pieces[first][0]
        while start and text[start - 1] in "+(":
            start -= 1
        yield _span(start, pieces[end][1], kind)
        last = end + 1


def _code_at(
    text: str, words: list[str], pieces: list[tuple[int, int]], known: KnownSet, place: int
) -> tuple[int, TextKind | None]:
    """The longest known code that starts at a word: the place of its last word, and its kind."""
    best, kind = place, None
    for table, signs in _starts(words[place], known):
        end = place
        while signs in known.prefixes:
            if signs in table and (kind is None or end > best):
                best, kind = end, table[signs]
            end += 1
            if end == len(words) or end - place == _MOST_GROUPS:
                break
            if _BETWEEN_CODES.fullmatch(text, pieces[end - 1][1], pieces[end][0]) is None:
                break
            signs += words[end]
    return best, kind


def _starts(first: str, known: KnownSet) -> Iterator[tuple[dict[str, TextKind], str]]:
    """What a first group can be the start of: a code, one behind letters (`MRN12345`), a phone behind its prefix."""
    yield known.codes, first
    if first.isdigit():
        if first[0] == "0" and len(first.lstrip("0")) >= LEAST_DIGITS:
            yield known.codes, first.lstrip("0")
        for skipped in range(min(_PREFIX + 1, len(first)) if known.cores else 0):
            yield known.cores, first[skipped:]
        return
    digits = first.lstrip(_LETTERS)
    if digits != first and len(digits) > LEAST_DIGITS - 1:
        yield known.codes, digits
        if digits[0] == "0" and len(digits.lstrip("0")) >= LEAST_DIGITS:
            yield known.codes, digits.lstrip("0")


def _with_prefix(text: str, words: list[str], pieces: list[tuple[int, int]], place: int) -> int:
    """Where a phone starts whose country code or leading zero stands apart: `+49 (0)30 …`."""
    first, size = place, 0
    for before in range(place - 1, max(place - 4, -1), -1):
        word = words[before]
        size += len(word)
        gap = _BETWEEN_CODES.fullmatch(text, pieces[before][1], pieces[before + 1][0])
        if not word.isdigit() or size > _PREFIX + 1 or gap is None or "," in gap[0]:
            break
        start = pieces[before][0]
        if text[start - 1 : start] == "+" or word.startswith("00") or word in ("0", "1"):
            first = before
    return first
