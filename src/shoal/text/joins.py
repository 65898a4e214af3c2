"""What belongs together though recognisers found its parts: both ends of a span of days, both streets of a crossing, an
address from the house to the postal code; and the initials of a name that the note has in full."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from shoal.text.base import Note, Span
from shoal.text.terms import rule
from shoal.text.words import (
    CAPITAL,
    INITIAL,
    MONTH,
    PLACE,
    RARE,
    ROLE,
    SMALL,
    STAYS,
    SURE,
    SURNAME,
    TITLE,
    TOWN,
    UNKNOWN,
    UPPER,
    without_genitive,
)

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
    r"(?i),?\s(?:(?:(?:right|just|directly|trailer|house|the house)\s)?(?:behind|across from|opposite|next to|in fr"
    r"ont of|next door to|past|beside|just off|adjacent to)\s"
    r"(?:the|a|an|St\.?)?|gegenüber (?:vo[nm] )?(?:de[rm]|des)?|hinter de[rm]|neben de[rm]|vor de[rm]|bei(?: der| d"
    r"em)?|devant (?:la|le|l['’])|davanti (?:a|al|alla|all['’])|delante (?:de la|del|de)|en face (?:de la|de l['’]|"
    r"du|des|de)"
    r"|derrière (?:la|le|l['’])|à côté (?:de la|de l['’]|du|de)|di fronte (?:a|al|alla|all['’])|dietro (?:il|la|l['"
    r"’])|accanto (?:al|alla|all['’])"
    r"|frente (?:a la|al|a)|detrás (?:de la|del|de)|al lado (?:de la|del|de)|junto (?:a la|al|a))\s?[\w'’-]{3,20}(?"
    r":\s[\w'’-]{3,20}){0,2}?(?=[.,;:)\n]|$|\s(?:and|und|et|e|y|on|in|at|since|for)\s)"
)
_THE_BEFORE = re.compile(r"\b[Tt]he $")
_LONGEST_BETWEEN = 24
_PARTS = frozenset(("address", "place", "postal_code"))
_LANDMARKS = frozenset(("organisation", "name", "place"))
# a part of a house behind an address, in any of the five languages
_DETAIL = re.compile(
    r"(?i),?\s(?:(?:apts?|apartment|appartement|appt?|appartamento|apartamento|apto|unit|suite|ste|flat|floor|room|rm"
    r"|bldg|building|lot|space|trailer|bât(?:iment)?|esc(?:alier|alera|\.)?|étage|porte|hall|chambre|logement"
    r"|int(?:erno)?|scala|piano|palazzina|piso|planta|puerta|pta|portal|bloque|blq|casa|nave|parcela|local|whg|wohnung"
    r"|zimmer|haus|aufgang|stiege|top|tür|og|eg|no|nr|n)\b\.?\s?[#º°]?\s?(?:\d{1,4}[a-z]?|[a-z]\d{0,3})(?!\w)"
    r"|(?:\d{1,2}\.?\s?(?:st|nd|rd|th|er|e|[eè]me|[ºª°])?|first|second|third|top|ground)\s?"
    r"(?:floor|étage|piano|planta|piso|og|stock|etage|ét\.?)(?!\w)"
    r"|\d{1,2}\s?[ºª°](?:\s?(?:[a-z](?!\w)|izqd?a\b\.?|dcha\b\.?|centro))?"
    r"|(?:hinterhaus|vorderhaus|links|rechts|izquierda|derecha|izqd?a|dcha|bajo|ático|entresuelo|rez-de-chaussée|rdc"
    r"|gauche|droite|upstairs|downstairs|basement|rear)(?![\w-])\.?)"
)
_ENDS_TOWN = re.compile(r"[.,;)\n]|$| [a-z]")
_MOST_DETAILS = 4
_SHORT = 2


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
        found += _initials(note, spans)
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
    town = (
        bits & CAPITAL and bits & (UNKNOWN | RARE | TOWN | PLACE) and not bits & (SMALL | STAYS | ROLE | TITLE | MONTH)
    )
    alone = _ENDS_TOWN.match(note.folded, last)
    return last if start == end + 2 and town and alone else end


def _goes_on(text: str, first: Span, end: int, second: Span) -> bool:
    """Whether the next span is a part of the same address: the street of a landmark, the town of a street."""
    if not end <= second.start <= end + _LONGEST_BETWEEN:
        return False
    if first.kind in _PARTS and second.kind in _PARTS:
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


def _initials(note: Note, spans: Sequence[Span]) -> list[Span]:
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
        unlike = bits & (SMALL | STAYS | ROLE) or end - start <= _SHORT or start in starts
        if bits & (SURE | RARE | UNKNOWN | SURNAME) and not unlike:
            found.append(Span(start, end, "name", 0.7, "behind a given name in lower case"))
    return found
