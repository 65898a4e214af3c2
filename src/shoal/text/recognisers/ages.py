"""Ages over 89, and years of birth that tell one."""

from __future__ import annotations

import re
from bisect import bisect_left

from shoal.storage import Array
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.words import CAPITAL, GIVEN, MONTH, RARE, ROLE, STAYS, SURNAME, UNKNOWN, WORD, is_word_of, trigger_part

_UNITS = re.compile(
    r"(?i)(?:[\s-]{0,2}(?:years?|yrs?\.?)[\s-]{0,2}(?:of age|old)\b|[\s-]?y\.?/?\s?o\.?(?!\w)|[\s-]yrs?\b|[\s-]years?\b"
    r"|[\s-]?jährige?[rnms]?\b|\s?jahre(?: alt)?\b|\s?ans\b|\s?anni\b|\s?años\b|\s?enne\b|\s?J\.(?!\w))"
)
_AGED = re.compile(
    r"(?i)\b(?:aged?|age:|age of|âgée? de|di anni|anni|im alter von|alter:?|edad de|edad:?|età:?|turned|turning)\s?$"
)
_BORN = re.compile(r"(?i)\b(?:born|geboren|geb\.|née?|nato|nata|nacid[oa])\s(?:in|im jahr|en|nel)?\s?$")
_NINETIES = re.compile(r"(?i)\bin (?:his|her|their) (?P<id>(?:(?:early|mid|late)[- ])?(?:nineties|90['’]?s))")
# ages in words: with a unit, after a word for age, or between commas behind a name; compounds say an age alone
_NINETY = (
    r"(?:(?:ninety|one hundred|a hundred)(?:[- ](?:and )?(?:one|two|three|four|five|six|seven|eight|nine))?|(?:ein"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun)?(?:und)?neunzig|(?:ein)?hundert(?:ein|eins|zwei|drei|vier)?"
    r"|quatre-vingt-(?:dix(?:-sept|-huit|-neuf)?|onze|douze|treize|quatorze|quinze|seize)"
    r"|nonante(?:[- ](?:et )?[a-z]{2,6})?|novant(?:a(?:due|tré|quattro|cinque|sei|sette|nove)?|uno|otto)|cent(?:o|ouno"
    r"|odue)|noventa(?: y (?:uno?|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve))?|cien(?:to (?:uno?|dos|tres))?)"
)
_SPELLED = re.compile(
    rf"(?i)(?<![\w-])(?:{_NINETY}(?:[\s-](?:years?|yrs?|jahre|ans|anni|años)(?:[\s-](?:old|of age|alt))?)(?!\w)"
    r"|(?:ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)?(?:und)?neunzigjährige?[rnms]?(?!\w)"
    r"|hundertjährige?[rnms]?(?!\w)|novant(?:a(?:du|tre|quattr|cinqu|sei|sett|nov)?|un|ott)?enne(?!\w)"
    r"|centenari[oa](?!\w)|nonag[ée]nari(?:an|a|o)(?!\w)|nonag[eé]naire(?!\w)|centenaire(?!\w)|centenarian(?!\w)"
    rf"|(?:(?<=now )|(?<=aged )|(?<=age )|(?<=turned )|(?<=turning )|(?<=turns )|(?<=is )|(?<=was )|(?<=wird )"
    rf"|(?<=sei )|(?<=está )|(?<=a )|(?<=ha )|(?<=tiene )|(?<=compie )|(?<=cumple )|(?<=wurde )"
    rf"|(?<=ist )|(?<=, )){_NINETY}(?=\s?[.,;:!?)]|$|\s(?:last|this|next|on|in|when|now|today|and|und|et|e|y)\s))"
)
_SPELLED_WORD = trigger_part(
    ("ninet", "neunzig", "quatre-vingt-", "nonan", "novant", "noventa", "nonag", "centen", "hundred", "hundert")
)
# `she is 96.`: only of a person
_OF_PERSON = re.compile(
    r"(?i)\b(?:he|she|who|patient|pt|client|resident|man|woman|mother|father|mom|mum|dad|grandmother|grandfather|widow"
    r"|widower|aunt|uncle|sie|er|mutter|vater|oma|opa|großmutter|großvater|patientin|elle|il|lei|lui|ella|él)"
    r"(?: [A-ZÀ-Þ][\w'’-]{1,20}){0,2}(?:['’]s| is| was| turned| turns| ist| wird| wurde| a| ha| tiene| cumple)"
    r"(?: now| about| almost| over| jetzt| schon)?\s$"
)
_SUBJECT = re.compile(r"(?<!\w)([A-ZÀ-Þ][a-zà-ÿ'’]{2,20})\s(?:is|was|turned|turns|ist|wird|est)\s(?:now\s|jetzt\s)?$")
_BIRTHDAY = re.compile(
    r"(?i)\b(?:turns|turned|turning|cumple|cumplió|cumplirá|cumplido|compie|compirà|compiuti|ha compiuto|fête ses"
    r"|fêté ses|aura|wird|wurde|vollendet|aged|âgée?|alter)\s$"
)
_ALONE = re.compile(r"(?=[.,;!?)]|$|\s[\"“(]|\s(?:and|und|et|e|y|but|or|now)\b)")
# 98F is a temperature
_SEX = re.compile(r"(?:M|W|m|f|(?<!9[5-9])(?<!10\d)F|F(?! ?[.,;)]))(?!\w)")
_DECADE = ("nineties", "90s", "90's", "90’s")
_PART_OF_MORE = frozenset("./,-0123456789")
# whoever was born before is over 89 wherever notes are written
_LAST_YEAR = 1935


class AgesRecogniser(NoteByNote):
    """Ages from 90; those below are no identifiers."""

    name = "ages"
    kinds: tuple[TextKind, ...] = ("age_over_89",)

    def worth(self, block: Block) -> Array:
        """Notes with a number that may be an age over 89 or a year of birth, or a word for one."""
        lengths, values = block.run_ends - block.run_starts, block.run_values
        born = (lengths == 4) & (values >= 1900) & (values <= _LAST_YEAR)
        aged = (lengths > 1) & (lengths < 4) & (values >= 90) & (values < 120)
        return block.with_run(born | aged) | block.marked(_SPELLED_WORD) | block.holding("nineties")

    def find(self, note: Note) -> list[Span]:
        """Ages over 89 in the note."""
        text, found = note.folded, []
        for start, end in note.digits:
            if end - start == 4 and "1900" <= text[start:end] <= str(_LAST_YEAR):
                if text[end : end + 1] not in ("-", "/", ".") and _BORN.search(text, max(0, start - 24), start):
                    found.append(Span(start, end, "age_over_89", 0.75, "year of a birth long ago"))
            elif 1 < end - start < 4 and 90 <= int(text[start:end]) < 120:
                found += _at(text, start, end) or _behind_name(note, start, end)
        if note.any_signs & _SPELLED_WORD:
            found += [Span(*match.span(), "age_over_89", 0.85, "age over 89") for match in _SPELLED.finditer(text)]
        if "nineties" in text or ("90" in text and any(part in note.lower for part in _DECADE)):
            found += [Span(*match.span("id"), "age_over_89", 0.8, "age over 89") for match in _NINETIES.finditer(text)]
        return found


def _behind_name(note: Note, start: int, end: int) -> list[Span]:
    """`Elvira (94)`, `Mr Roe, 93,` and `turned 95`: a number behind a name or a word for a birthday."""
    text = note.folded
    if text[end : end + 1] not in (")", ",", ".", ";", "") or text[end + 1 : end + 2].isdigit():
        return []
    if _BIRTHDAY.search(text, max(0, start - 20), start):
        return [Span(start, end, "age_over_89", 0.75, "age over 89")]
    opened = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
    if not opened and not (text[start - 2 : start] == ", " and text[end : end + 1] in (",", ")", ";")):
        return []
    number = bisect_left(note.pieces, (start,)) - 1
    if number < 0 or start - note.pieces[number][1] > 2:
        return []
    bits = note.signs[number]
    named = bits & ROLE or (
        bits & CAPITAL and bits & (GIVEN | SURNAME | RARE | UNKNOWN) and not bits & (STAYS | WORD | ROLE | MONTH)
    )
    return [Span(start, end, "age_over_89", 0.7, "age over 89")] if named else []


def _at(text: str, start: int, end: int) -> list[Span]:
    """A number from 90 to 119 with a word for age before or behind it."""
    if start and text[start - 1] in _PART_OF_MORE:
        return []
    behind = _UNITS.match(text, end)
    if behind is not None:
        return [Span(start, behind.end(), "age_over_89", 0.93, "age over 89")]
    more = text[end : end + 1] in (".", ",", "/") and text[end + 1 : end + 2].isdigit()
    if not more and text[end : end + 1] != "%" and _AGED.search(text, max(0, start - 24), start):
        return [Span(start, end, "age_over_89", 0.9, "age over 89")]
    alone = not more and _ALONE.match(text, end) and _OF_PERSON.search(text, max(0, start - 40), start)
    if alone:
        return [Span(start, end, "age_over_89", 0.75, "age over 89")]
    subject = None if more else _SUBJECT.search(text, max(0, start - 40), start)
    if subject is not None and _ALONE.match(text, end) and not is_word_of(subject[1].lower(), "en"):
        return [Span(start, end, "age_over_89", 0.7, "age over 89")]  # Koro is 91
    return [Span(start, end, "age_over_89", 0.7, "age and sex")] if _SEX.match(text, end) else []


RECOGNISER = AgesRecogniser()
