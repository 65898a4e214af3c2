"""All recognisers over all texts: each distinct text once, overlaps resolved, what must stay taken out."""

from __future__ import annotations

import gc
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from shoal import progress
from shoal.text import terms
from shoal.text.base import Note, Span
from shoal.text.block import Block, notes_in_blocks
from shoal.text.known import find_known
from shoal.text.known_values import KnownSet
from shoal.text.model import TextModel, model_spans
from shoal.text.recognisers import RECOGNISERS
from shoal.text.shapes import recurring_shapes
from shoal.text.stay import without_what_stays
from shoal.text.tags import Tagged, without_tags
from shoal.text.terms import rule
from shoal.text.words import (
    ACTS,
    CAPITAL,
    COMMON_EPONYM,
    DATE_WORD,
    EITHER,
    EPONYM,
    HEAD,
    INITIAL,
    LOWER,
    MONTH,
    PARTICLE,
    PLACE,
    RARE,
    REGION,
    ROLE,
    SMALL,
    STAYS,
    SURE,
    SURNAME,
    TITLE,
    TOWN,
    UNKNOWN,
    UPPER,
    WRITTEN_AS_NAME,
    lexicon,
    without_genitive,
)

# Names found once by strong context are found everywhere in the same note.


STRONG = 0.84
_SHORTEST = 3


def everywhere(note: Note, spans: list[Span]) -> list[Span]:
    """Other places of the parts of names that are sure; everyday words only in capitals."""
    parts = _parts(note, spans)
    if not parts:
        return []
    lower = note.lower
    parts = {part: particle for part, particle in parts.items() if lower.count(part) > 1}
    if not parts:
        return []
    covered = bytearray(len(note.folded))
    for span in spans:
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    found = []
    for number in _numbers(note, parts):
        word = note.words[number]
        form = without_genitive(word).lower()
        if form not in parts:
            form = form.removesuffix("s")
        start, end = note.pieces[number]
        if form not in parts or (covered[start] and not _has_particle(note, number, parts[form], covered)):
            continue
        bits = note.signs[number]
        if (bits & WRITTEN_AS_NAME and not (note.starts(number) and bits & (SMALL | ACTS))) or bits & (
            SURE | RARE | UNKNOWN
        ):
            end -= len(word) - len(without_genitive(word))
            if _is_what_it_says(note, number):
                continue
            while number and note.words[number - 1] == parts[form] and note.gap(number) in (" ", ""):
                number -= 1
                start = note.pieces[number][0]
            found.append(Span(start, end, "name", 0.85, "part of a name found elsewhere in the note"))
    return found


def _numbers(note: Note, parts: Iterable[str]) -> list[int]:
    """The numbers of the words that start with one of the parts, in order."""
    lower, pieces, found = note.lower, note.pieces, set()
    for part in parts:
        place = lower.find(part)
        while place >= 0:
            number = bisect_left(pieces, (place,))
            if number < len(pieces) and pieces[number][0] == place:
                found.add(number)
            place = lower.find(part, place + 1)
    return sorted(found)


def _is_what_it_says(note: Note, number: int) -> bool:
    """`Bell's palsy`, `from Georgia`, `Brown sputum`, `früher Koch`: the word, though somebody is called so."""
    bits = note.signs[number]
    after = note.signs[number + 1] if number + 1 < len(note.signs) else 0
    before = note.words[number - 1].lower() if number and note.gap(number) == " " else ""
    if note.signs[number - 1 if number else 0] & TITLE:
        return False
    if _is_eponym_or_region(note, number):
        return True
    if not bits & EITHER:
        return False
    if before in terms.rule("before_occupations") or (
        bits & DATE_WORD and before in ("im", "in", "en", "last", "this")
    ):
        return True
    described = after & LOWER and not after & (ACTS | SMALL | PARTICLE) and note.gap(number + 1) in (" ", ", ")
    return bool(number and not before and described)


def without_what_it_says(note: Note, spans: list[Span]) -> list[Span]:
    """Known values but single everyday words that stand as eponyms or regions: `Bell's palsy` of a Mr Bell.

    A name that is no word (`Parkinson`) goes, whatever stands beside it.
    """
    if note.folded is not note.text or not note.any_signs & (EPONYM | COMMON_EPONYM | REGION):
        return spans
    return [span for span in spans if span.kind != "name" or not _stays_though_known(note, span)]


def _stays_though_known(note: Note, span: Span) -> bool:
    number = bisect_left(note.pieces, (span.start,))
    if number >= len(note.pieces) or note.pieces[number][0] != span.start or not note.signs[number] & EITHER:
        return False
    whole = span.end >= note.pieces[number][1] - 2 and span.end <= note.pieces[number][1]
    return whole and bool(note.signs[number] & CAPITAL) and _is_eponym_or_region(note, number)


def _is_eponym_or_region(note: Note, number: int) -> bool:
    after = note.signs[number + 1] if number + 1 < len(note.signs) else 0
    before = note.words[number - 1].lower() if number and note.gap(number) == " " else ""
    if number and note.signs[number - 1] & TITLE:
        return False
    if note.signs[number] & (EPONYM | COMMON_EPONYM) and after & HEAD and note.gap(number + 1) == " ":
        return True
    return bool(note.signs[number] & REGION and before in terms.rule("before_regions"))


def _has_particle(note: Note, number: int, particle: str, covered: bytearray) -> bool:
    """Whether the particle of the name stands before a word and was not taken for a part of it."""
    return bool(particle and number) and note.words[number - 1] == particle and not covered[note.pieces[number - 1][0]]


def _parts(note: Note, spans: list[Span]) -> dict[str, str]:
    """Words of strong names in lower case, each with the particle before it, if there is one."""
    strong = [span for span in spans if span.kind == "name" and span.score >= STRONG]
    if not strong:
        return {}
    found: dict[str, str] = {}
    for span in strong:
        before = ""
        for word in note.folded[span.start : span.end].split():
            word = word.strip(".,'’")
            bits = lexicon()[word]
            if len(word) >= _SHORTEST and not bits & (PARTICLE | TITLE | ROLE | MONTH | STAYS):
                found[word.lower()] = before
            before = word if bits & PARTICLE else ""
    return found


LANGUAGES = ("en", "de", "fr", "it", "es")
Extra = Callable[[int, Note], list[Span]]

_MAY_END_WITH_DOT = frozenset(("date", "age_over_89", "address"))


def find_spans(
    texts: Sequence[str | None],
    *,
    languages: tuple[str, ...] = LANGUAGES,
    model: TextModel | None = None,
    extra: Extra | None = None,
    shapes: frozenset[str] | None = None,
) -> list[list[Span]]:
    """The identifiers in each text, in order and without overlap; offsets in characters of the text as it was given.

    `shapes` are those of codes that recur in the corpus of which the texts are a part, by default the texts' own.

    `extra(number, note)` adds what else is known about the text of that number (its place in `texts`); its spans are in
    characters of `note.text` and go first. `model` is a pipeline of the user's own, whose findings go last.

    >>> [[(span.kind, span.start, span.end) for span in spans] for spans in find_spans(["Mail a.b@c.org", "stable"])]
    [[('email', 5, 14)], []]
    """
    rows: dict[str, list[int]] = {}
    shapes = recurring_shapes(texts) if shapes is None else shapes
    for number, text in enumerate(texts):
        if text:
            rows.setdefault(text, []).append(number)
    found: list[list[Span]] = [[] for _ in texts]
    places = iter(rows.values())
    for notes in notes_in_blocks(rows, languages):
        for note, ours in zip(notes, spans_of(notes, shapes), strict=True):
            theirs = _of_model(model, note) if model is not None else []
            for number in next(places):
                found[number] = _with_known(note, number, [ours, theirs], extra)
    return found


def _of_model(model: TextModel, note: Note) -> list[Span]:
    """What a model finds; a note on which it fails is withheld."""
    try:
        return model_spans(model, note)
    except MemoryError:
        raise
    except Exception:
        return [withheld(note.text, f"{model.name} failed")]


def _with_known(note: Note, number: int, tiers: list[list[Span]], extra: Extra | None) -> list[Span]:
    """Spans of a note with what else is known about its text, without overlap."""
    for tier in tiers:
        if is_withheld(tier):
            return tier
    try:
        found = resolve(note, tiers if extra is None else [extra(number, note), *tiers])
        more = joined(note, found) if found else []
        return resolve(note, [more, found]) if more else found
    except MemoryError:
        raise
    except Exception:
        return [withheld(note.text, "the search for known values failed")]


def withheld(text: str, reason: str) -> Span:
    """All of a note: what could not be searched to its end does not leave."""
    return Span(0, len(text), "withheld", 1.0, reason)


def is_withheld(spans: Sequence[Span]) -> bool:
    """Whether a note is withheld."""
    return any(span.kind == "withheld" for span in spans)


def spans_of(notes: list[Note], shapes: frozenset[str]) -> list[list[Span]]:
    """What the recognisers find in each note, in characters of its original text; spans may overlap.

    Where a recogniser fails, its note is withheld and the others are not: they are searched one by one.
    """
    found: list[list[Span]] = [[] for _ in notes]
    asked = ""
    try:
        block = Block(notes, shapes)
        for recogniser in RECOGNISERS:
            asked = f"the recogniser of {recogniser.name} failed"
            recogniser.find_in(block, found)
        return [_as_written(note, spans) if spans else spans for note, spans in zip(notes, found, strict=True)]
    except MemoryError:
        raise
    except Exception:
        if len(notes) == 1:
            return [[withheld(notes[0].text, asked)]]
        return [spans_of([Note(note.text, note.languages)], shapes)[0] for note in notes]


def _as_written(note: Note, spans: list[Span]) -> list[Span]:
    """Spans without what stays, with the names that are found elsewhere, in characters of the original text."""
    spans = without_what_stays(note, spans)
    spans += everywhere(note, spans)
    return [_moved(note, _without_full_stop(note.folded, span)) for span in spans]


def _without_full_stop(text: str, span: Span) -> Span:
    """A date, an age or an address without the dot behind it, unless the dot is one of several: `y.o.`, `20.2.`"""
    if text[span.end - 1] != "." or span.kind not in _MAY_END_WITH_DOT or "." in text[span.end - 4 : span.end - 1]:
        return span
    return Span(span.start, span.end - 1, span.kind, span.score, span.reason)


def _moved(note: Note, span: Span) -> Span:
    start, end = note.original(span.start, span.end)
    if (start, end) == (span.start, span.end):
        return span
    return Span(start, end, span.kind, span.score, span.reason)


def resolve(note: Note, tiers: Sequence[Sequence[Span]]) -> list[Span]:
    """Spans without overlap: earlier tiers first, then the longer, then the surer; what a loser covers alone stays.

    >>> note = Note("Dr. Ann Lee")
    >>> spans = [Span(4, 7, "name", 0.9, "given name"), Span(4, 11, "name", 0.8, "title")]
    >>> [(span.start, span.end) for span in resolve(note, [spans])]
    [(4, 11)]
    """
    kept: list[Span] = []
    tiers = [tier for tier in tiers if tier]
    if len(tiers) == 1:
        alone = sorted(tiers[0], key=lambda span: span.start)
        if all(first.end <= second.start for first, second in pairwise(alone)):
            return alone
    covered = bytearray(len(note.text))
    for tier in tiers:
        for span in sorted(tier, key=lambda span: (span.start - span.end, -span.score, span.start)):
            free = [span] if covered.find(1, span.start, span.end) < 0 else _uncovered(note.text, span, covered)
            for part in free:
                covered[part.start : part.end] = b"\1" * (part.end - part.start)
            kept += free
    return sorted(kept, key=lambda span: span.start)


def _uncovered(text: str, span: Span, covered: bytearray) -> list[Span]:
    """The parts of a span that no kept one covers, if a letter or digit is in them."""
    parts, start = [], span.start
    while start < span.end:
        left = covered.find(0, start, span.end)
        if left < 0:
            break
        right = covered.find(1, left, span.end)
        start = span.end if right < 0 else right
        if any(sign.isalnum() for sign in text[left:start]):
            parts.append(_trimmed(text, span, left, start))
    return parts


def _trimmed(text: str, span: Span, start: int, end: int) -> Span:
    while not text[start].isalnum():
        start += 1
    while not text[end - 1].isalnum():
        end -= 1
    return Span(start, end, span.kind, span.score, span.reason)


# Identifiers of many notes, searched until nothing more is found: what is tagged may show what stands beside it.


MOST_ROUNDS = 12
# from this round on all of a word goes of which a part is found: a note that shows one piece after another settles
_WHOLE_WORDS = 6


def settled_spans(
    texts: Sequence[str | None],
    known: Sequence[KnownSet | None],
    model: TextModel | None = None,
    shapes: frozenset[str] | None = None,
) -> list[list[Span]]:
    """The identifiers of each text, known values first; a text whose spans are tagged has no identifier left.

    `known[n]` is what is known of the person of text n. After the first round only texts that changed are searched
    again, with their tags, until a round finds nothing. A text that shows something new each time is withheld.

    >>> from shoal.text.known_values import KnownValue
    >>> text = "Rose wrote from a.b@c.org"
    >>> [text[span.start : span.end] for span in settled_spans([text], [KnownSet([KnownValue("Rose")])])[0]]
    ['Rose', 'a.b@c.org']
    """
    shapes = recurring_shapes(texts) if shapes is None else shapes
    found = _searched(texts, known, model, shapes)
    open_ = [number for number, spans in enumerate(found) if spans]
    for turn in range(MOST_ROUNDS):
        if not open_:
            return found
        progress.report("searching notes again", 0)
        tagged = [Tagged.of(texts[number] or "", found[number]) for number in open_]
        more = _searched([entry.text for entry in tagged], [known[number] for number in open_], model, shapes)
        still = []
        for number, entry, spans in zip(open_, tagged, more, strict=True):
            pieces = [piece for span in spans for piece in entry.back(span)]
            if is_withheld(pieces):
                found[number] = [withheld(texts[number] or "", pieces[0].reason)]
            elif pieces:
                if turn >= _WHOLE_WORDS:
                    pieces = _whole_words(texts[number] or "", pieces, found[number])
                found[number] = sorted([*found[number], *pieces], key=lambda span: span.start)
                still.append(number)
        open_ = still
    for number in open_:
        found[number] = [withheld(texts[number] or "", "it shows something new whenever it is searched again")]
    return found


def _whole_words(text: str, pieces: Sequence[Span], found: Sequence[Span]) -> list[Span]:
    """Spans up to the next blank or span on either side.

    >>> [(span.start, span.end) for span in _whole_words("an abcdef", [Span(5, 6, "name", 1.0, "")], [])]
    [(3, 9)]
    """
    taken = bytearray(len(text))
    for span in found:
        taken[span.start : span.end] = b"\1" * (span.end - span.start)
    grown = []
    for span in pieces:
        start, end = span.start, span.end
        if taken.find(1, start, end) >= 0:  # a piece before it went over this one
            continue
        while start and not (taken[start - 1] or text[start - 1].isspace()):
            start -= 1
        while end < len(text) and not (taken[end] or text[end].isspace()):
            end += 1
        taken[start:end] = b"\1" * (end - start)
        grown.append(Span(start, end, span.kind, span.score, span.reason))
    return grown


def _searched(
    texts: Sequence[str | None], known: Sequence[KnownSet | None], model: TextModel | None, shapes: frozenset[str]
) -> list[list[Span]]:
    def extra(number: int, note: Note) -> list[Span]:
        mine = known[number]
        return [] if not mine or not note.text else without_what_it_says(note, find_known(note.text, mine))

    with without_collecting():
        found = find_spans(texts, model=model, extra=extra if any(known) else None, shapes=shapes)
    return [without_tags(text or "", _with_marks(text or "", spans)) for text, spans in zip(texts, found, strict=True)]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Without looking for cycles of objects: notes make many small objects and no cycles; looking costs a quarter."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _with_marks(text: str, spans: list[Span]) -> list[Span]:
    """Spans with the accents that are signs of their own behind the last letter.

    >>> [span.end for span in _with_marks("Jose\u0301 came", [Span(0, 4, "name", 1.0, "")])]
    [5]
    """
    if text.isascii():
        return spans
    grown = []
    for span in spans:
        end = span.end
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        grown.append(span if end == span.end else Span(span.start, end, span.kind, span.score, span.reason))
    return grown


# What belongs together though recognisers found its parts: both ends of a span of days, both streets of a crossing, an
# address from the house to the postal code; and the initials of a name that the note has in full.

_THE = r"(?:(?:the|le|la|el|il|lo|den|dem|der|del|de l['’]|de la|de|du|l['’])\s?)?"
_BETWEEN_DATES = re.compile(
    rf"(?i)\s?[-–]\s?|\s(?:to|through|thru|until|till|and|or|bis(?: zum)?|und|oder|au|et|al|e|y|a|hasta(?: el)?|fino al"
    rf"|jusqu['’]au)\s{_THE}"
)
# between two parts of an address: house, street, crossing street, landmark, town, state, code
_BETWEEN_PARTS = re.compile(
    r"(?i)[,(]?\s(?-i:[A-Z]{2},?\s)?|\s?[/&]\s?|,?\n(?-i:[A-Z]{2}\s)?|\s[-–]\s"
    rf"|,?\s(?:and|&|at|near|off|on|und|ecke|angolo|esquina|angle|et|e|con|y)\s{_THE}{_THE}"
)
_LANDMARK = re.compile(rf"(?i),?\s(?:on|at|off|in|near|an der|in der|sur|rue|en|sulla?|in)\s{_THE}")
_CAPITALS = r"[A-ZÀ-ÞŁŠŽ][\w'’-]{1,24}"
# a town and its state or code behind a street: `, Onawa IA`, `, AZ 85001`, ` N22`
_STATE_BEHIND = re.compile(
    rf"(?:,\s{_CAPITALS}(?:\s{_CAPITALS})?(?=,?\s[A-Z]{{2}}(?:[.,;:)\n]|\s|$)))?(?:,?\s[A-Z]{{2}}(?=[.,;:)\n]|\s\d"
    rf"{{5}}|\s?$|\s[a-z])"
    r"(?:\s\d{5}(?:-\d{4})?(?!\w))?|,?\s\d{5}(?![\w,.]\d|\w)|\s[A-Z]{1,2}\d{1,2}[A-Z]?(?:\s\d[A-Z]{2})?(?!\w))"
)
# where a house stands, told by what is near: `across from the fire station`
_NEARBY = re.compile(
    r"(?i),?\s(?:(?:(?:right|just|directly|trailer|house|the house)\s)?(?:behind|across from|opposite|next to"
    r"|in front of|next door to|past|beside|just off|adjacent to)\s(?:the|a|an|St\.?)?|gegenüber (?:vo[nm] )?(?:de[rm]"
    r"|des)?|hinter de[rm]|neben de[rm]|vor de[rm]|bei(?: der| dem)?|devant (?:la|le|l['’])|davanti (?:a|al|alla"
    r"|all['’])|delante (?:de la|del|de)|en face (?:de la|de l['’]|du|des|de)|derrière (?:la|le|l['’])|à côté (?:de la"
    r"|de l['’]|du|de)|di fronte (?:a|al|alla|all['’])|dietro (?:il|la|l['’])|accanto (?:al|alla|all['’])"
    r"|frente (?:a la|al|a)|detrás (?:de la|del|de)|al lado (?:de la|del|de)|junto (?:a la|al"
    r"|a))\s?[\w'’-]{3,20}(?:\s[\w'’-]{3,20}){0,2}?(?=[.,;:)\n]|$|\s(?:and|und|et|e|y|on|in|at|since|for)\s)"
)
_THE_BEFORE = re.compile(r"\b[Tt]he $")
_LONGEST_BETWEEN = 24
_PARTS_OF_ADDRESSES = frozenset(("address", "place", "postal_code"))
_LANDMARKS = frozenset(("organisation", "name", "place"))
# a part of a house behind an address, in any of the five languages
_DETAIL = re.compile(
    r"(?i),?\s(?:(?:apts?|apartment|appartement|appt?|appartamento|apartamento|apto|unit|suite|ste|flat|floor|room|rm"
    r"|bldg|building|lot|space|trailer|bât(?:iment)?|esc(?:alier|alera|\.)?|étage|porte|hall|chambre|logement"
    r"|int(?:erno)?|scala|piano|palazzina|piso|planta|puerta|pta|portal|bloque|blq|casa|nave|parcela|local|whg|wohnung"
    r"|zimmer|haus|aufgang|stiege|top|tür|og|eg|no|nr|n)\b\.?\s?[#º°]?\s?(?:\d{1,4}[a-z]?|[a-z]\d{0,3})(?!\w)"
    r"|(?:\d{1,2}\.?\s?(?:st|nd|rd|th|er|e|[eè]me|[ºª°])?|first|second|third|top|ground)\s?(?:floor|étage|piano|planta"
    r"|piso|og|stock|etage|ét\.?)(?!\w)|\d{1,2}\.?\s?[ºª°](?:\s?(?:[a-z](?!\w)|izq?d?a\b\.?|dcha\b\.?|centro))?"
    r"|(?:hinterhaus|vorderhaus|links|rechts|izquierda|derecha|izq?d?a|dcha|bajo|ático|entresuelo|rez-de-chaussée|rdc"
    r"|gauche|droite|upstairs|downstairs|basement|rear)(?![\w-])\.?)"
)
# `, Two Harbors.`: words in capitals that end the sentence
_SEVERAL_WORDS = re.compile(rf", {_CAPITALS}(?: {_CAPITALS}){{1,2}}(?=[.;)\n]|$)")
_ENDS_TOWN = re.compile(r"[.,;)\n]|$| [a-z]")
_MOST_DETAILS = 4
_SHORT_WORD = 2


def joined(note: Note, spans: Sequence[Span]) -> list[Span]:
    """What to add to the spans of a note, which are in order and apart.

    >>> note = Note("from March 28 to April 4")
    >>> [note.text[s.start : s.end] for s in joined(note, [Span(5, 13, "date", 1, ""), Span(17, 24, "date", 1, "")])]
    ['March 28 to April 4']
    """
    kinds = {span.kind for span in spans}
    found: list[Span] = []
    if "date" in kinds:
        found += _dates(note.text, spans)
    if "address" in kinds:
        found += _addresses(note, spans)
    if "name" in kinds:
        found += _initials_of(note, spans)
        found += _surnames(note, spans) if note.in_lower_case and note.in_place else []
    return found


def _dates(text: str, spans: Sequence[Span]) -> list[Span]:
    """Both ends of a span of days."""
    dates = [span for span in spans if span.kind == "date"]
    alone = [_with_article(text, span) for span in dates if text[span.start : span.start + 1].isdigit()]
    return [span for span in alone if span is not None] + [
        Span(first.start, second.end, "date", min(first.score, second.score), "span of days")
        for first, second in pairwise(dates)
        if second.start - first.end <= _LONGEST_BETWEEN and _BETWEEN_DATES.fullmatch(text, first.end, second.start)
    ]


def _with_article(text: str, span: Span) -> Span | None:
    """`the 1st of May`: with the article before it, if there is one."""
    before = _THE_BEFORE.search(text, max(0, span.start - 5), span.start)
    return None if before is None else span._replace(start=before.start())


def _addresses(note: Note, spans: Sequence[Span]) -> list[Span]:
    """Addresses with all parts that stand beside them, up to the flat and the state."""
    found, text = [], note.text
    place = 0
    while place < len(spans):
        last = place
        end = _with_details(text, spans[place])
        while last + 1 < len(spans) and _goes_on(text, spans[last], end, spans[last + 1]):
            last += 1
            end = _with_details(text, spans[last])
        chain = spans[place : last + 1]
        if any(span.kind == "address" for span in chain):
            start = chain[0].start
            for more in (_STATE_BEHIND, _NEARBY):
                behind = more.match(text, end)
                end = end if behind is None else behind.end()
            end = _town_behind(note, end)
            article = _THE_BEFORE.search(text, max(0, start - 5), start)
            start = start if article is None else article.start()
            if last > place or end > chain[-1].end or start < chain[0].start:
                score = max(span.score for span in chain if span.kind == "address")
                found.append(Span(start, end, "address", score, "address with its parts"))
        place = last + 1
    return found


def _town_behind(note: Note, end: int) -> int:
    """Where a word ends that stands alone behind an address and is no word of a language: `…, Inverurie`."""
    number = bisect_left(note.pieces, (end + 2,))
    if not (note.in_place and note.folded.startswith(", ", end) and number < len(note.pieces)):
        return end
    start, last = note.pieces[number]
    bits = note.signs[number]
    several = _SEVERAL_WORDS.match(note.folded, end)
    if several is not None and not any(
        sign & (TITLE | ROLE | STAYS | MONTH) for sign in note.signs[number : number + 1 + several[0].count(" ")]
    ):
        return several.end()
    town = (
        bits & CAPITAL and bits & (UNKNOWN | RARE | TOWN | PLACE) and not bits & (SMALL | STAYS | ROLE | TITLE | MONTH)
    )
    alone = _ENDS_TOWN.match(note.folded, last)
    return last if start == end + 2 and town and alone else end


def _goes_on(text: str, first: Span, end: int, second: Span) -> bool:
    """Whether the next span is a part of the same address: the street of a landmark, the town of a street."""
    if not end <= second.start <= end + _LONGEST_BETWEEN:
        return False
    if first.kind in _PARTS_OF_ADDRESSES and second.kind in _PARTS_OF_ADDRESSES:
        return _BETWEEN_PARTS.fullmatch(text, end, second.start) is not None
    landmark = first.kind in _LANDMARKS and second.kind == "address"
    return landmark and _LANDMARK.fullmatch(text, end, second.start) is not None


def _with_details(text: str, span: Span) -> int:
    end = span.end
    for _ in range(_MOST_DETAILS if span.kind == "address" else 0):
        more = _DETAIL.match(text, end)
        if more is None:
            break
        end = more.end()
    return end


def _initials_of(note: Note, spans: Sequence[Span]) -> list[Span]:
    """`RQ` and `R. Q.` in a note that has Rose Quindlen in full."""
    if not note.any_signs & (UPPER | INITIAL):
        return []
    sought: set[str] = set()
    for span in spans:
        name = note.text[span.start : span.end] if span.kind == "name" else ""
        words = [word for word in re.findall(r"[^\W\d_]+", name) if word[0].isupper()]
        if 1 < len(words) < 5:
            letters = "".join(word[0] for word in (words[1:] + words[:1] if "," in name else words))
            sought.update({letters, letters[0] + letters[-1]})
    sought -= rule("not_initials")
    found = []
    for number in note.marked(UPPER | INITIAL) if sought else ():
        start, end = note.pieces[number]
        word = without_genitive(note.words[number])
        after = note.folded[end : end + 1]
        if word in sought and not after.isdigit() and after not in ("-", "/"):
            found.append((start, start + len(word)))
        elif _both_letters(note, number, word) in sought:
            last = note.pieces[number + 1][1]
            found.append((start, last + (note.folded[last : last + 1] == ".")))
    reason = "initials of a name in the note"
    made = [Span(*note.original(start, end), "name", 0.7, reason) for start, end in found]
    return [one for one in made if not any(span.start <= one.start and one.end <= span.end for span in spans)]


def _both_letters(note: Note, number: int, word: str) -> str:
    """A letter and the letter behind its dot; nothing where there are not two."""
    two = len(word) == 1 and number + 1 < len(note.words) and note.gap(number + 1) in (". ", ".")
    return word + note.words[number + 1] if two else ""


def _surnames(note: Note, spans: Sequence[Span]) -> list[Span]:
    """`desmond pickering`: where all is in lower case, what follows a name and is hardly a word."""
    starts = {span.start for span in spans}
    found = []
    for span in spans:
        number = bisect_left(note.pieces, (span.end,)) if span.kind == "name" else len(note.pieces)
        if not number < len(note.pieces) or note.gap(number) != " " or note.pieces[number][0] != span.end + 1:
            continue
        bits, (start, end) = note.signs[number], note.pieces[number]
        unlike = bits & (SMALL | STAYS | ROLE) or end - start <= _SHORT_WORD or start in starts
        if bits & (SURE | RARE | UNKNOWN | SURNAME) and not unlike:
            found.append(Span(start, end, "name", 0.7, "behind a given name in lower case"))
    return found
