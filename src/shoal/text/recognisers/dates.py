"""Dates in every written form of five languages. A year alone stays: HIPAA permits years, and so does shoal."""

from __future__ import annotations

import re

from shoal.table.dates import WHOLE_MONTH_NAMES
from shoal.text.base import Note, Span
from shoal.text.kinds import TextKind
from shoal.text.terms import alternation
from shoal.text.words import DATE_WORD

_CENTURY = r"(?:1[89]|20|21)\d{2}"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = rf"(?:{WHOLE_MONTH_NAMES}|jänner|jän|sett|juil|janv|déc)"
_OF = r"(?:de\s+|del\s+|of\s+)?"
_BEFORE = rf"(?:\b{alternation('weekdays')},?\s+(?:the\s+|den\s+|dem\s+|le\s+|el\s+|il\s+)?)?"
_UNIT = r"(?!\s?(?:mg|ml|mcg|µg|g|kg|%|mmol|units?|tabs?|tablets?|hours?|h|days?|weeks?|mm|cm)\b|[.,:]?\d)"
_RANGE = rf"(?:{_DAY}\.?\s?(?:-|to|bis|bis zum|au|al|and|und|et|e|y)\s?)?"
_YEAR = rf"(?:,?[\s-]+{_OF}{_CENTURY}\b|\s'?\d{{2}}\b(?!\s?[:%]|[.,]\d)|-\d{{2}}\b)"
_ORDINAL = r"(?:\.|st|nd|rd|th|er|re|º|°|ª|o|a)?"
_DAY_MONTH = rf"{_BEFORE}\b{_RANGE}{_DAY}{_ORDINAL}(?:\s+of|\s+de|\s+del)?[\s-]{{0,2}}{_MONTH}\b\.?{_YEAR}?"
_DAYS = rf"{_DAY}(?:st|nd|rd|th)?\b(?:\s?-\s?{_DAY}\b)?"
_MONTH_DAY = rf"{_BEFORE}\b{_MONTH}\b\.?,?\s+(?:the\s+)?{_DAYS}{_UNIT}(?:,?\s+{_CENTURY}\b|,?\s'\d{{2}}\b)?"
_MONTH_YEAR = rf"\b{_MONTH}\b\.?,?[\s/-]+{_OF}(?:{_CENTURY}\b|'\d{{2}}\b)|\b{_CENTURY}[\s-]{_MONTH}\b"
_SEASON = rf"\b{alternation('seasons')},?\s{_OF}{_CENTURY}\b"
_PARTS = rf"{_SEASON}|\bq[1-4][\s/-]?{_CENTURY}\b|\b{_CENTURY}[\s-]?q[1-4]\b|\b{_CENTURY}-?w\d{{2}}\b"
_JOINED = rf"\b\d{{1,2}}{_MONTH}(?:{_CENTURY}|\d{{2}})\b"
_NAMED = re.compile(rf"(?i){_DAY_MONTH}|{_MONTH_DAY}|{_MONTH_YEAR}|{_JOINED}|{_PARTS}")
_NUMERIC = re.compile(
    rf"(?<![\d./-]){_CENTURY}([-/.]){_DAY}\1{_DAY}(?:T\d{{2}}:?\d{{2}}(?::?\d{{2}})?Z?)?(?!\d|[-/.]\d)"
    rf"|(?<![\d./-])(?P<a>\d{{1,2}})([-/.])\s?(?P<b>\d{{1,2}})\3\s?(?:{_CENTURY}|\d{{2}})(?!\d|[-/]\d|\.\d|\s?[%])"
    rf"|(?<![\d./-])(?P<c>\d{{1,2}}) (?P<d>\d{{1,2}}) {_CENTURY}(?!\d)"
)
# `3/14` and `20.2.` are dates only after such words; elsewhere they are scores, doses and ratios
_BEFORE_SHORT = re.compile(rf"(?i)\b{alternation('before_short_dates')}\s?:?\s$")
_SHORT = re.compile(
    r"(?<![\d.,/-])(?P<a>\d{1,2})(?:/(?P<b>\d{1,2})(?:-\d{1,2}/\d{1,2})?|\.(?P<c>\d{1,2})\.)"
    r"(?![\d/%]|\.\d|\s?(?:mg|ml|mmhg|tab|pain|points?)\b)"
)
_ALONE = re.compile(rf"(?<!\w)(?i:{alternation('before_months')}[\s-](?P<id>{_MONTH}))\b(?!\s?\d)")
_BIRTH = r"(?:dob|d\.o\.b\.?|born|geb|né|née|nato|nata|nacido)"
_COMPACT = re.compile(rf"(?i)\b{_BIRTH}\W{{1,3}}(?P<id>{_CENTURY}[01]\d[0-3]\d)\b")
_SHORT_SIGN = re.compile(r"\d\.\d{1,2}\.(?!\d)")
_COMPACT_SIGN = re.compile(rf"{_CENTURY}[01]\d[0-3]\d")
_WRITE_LOWER = frozenset(("fr", "it", "es"))
_SHORT_OR_WORD = frozenset(("mars", "marzo", "mayo", "agosto"))


def _day_and_month(first: str, second: str) -> bool:
    a, b = int(first), int(second)
    return (1 <= a <= 31 and 1 <= b <= 12) or (1 <= a <= 12 and 1 <= b <= 31)


class Dates:
    """Numeric dates, dates with the name of a month, and parts of dates that tell more than the year."""

    name = "dates"
    kinds: tuple[TextKind, ...] = ("date",)

    def find(self, note: Note) -> list[Span]:
        """Dates in the note."""
        text, found = note.folded, []
        for start, _ in note.digits:
            match = _NUMERIC.match(text, start)
            if match is not None and (match["a"] is None or _day_and_month(match["a"], match["b"])):
                found.append(Span(*match.span(), "date", 0.95, "date in digits"))
        if "/" in text or note.language == "de" or _SHORT_SIGN.search(text):
            found += _short(note)
        if _COMPACT_SIGN.search(text):
            found += [Span(*match.span("id"), "date", 0.9, "date of birth") for match in _COMPACT.finditer(text)]
        for low, high in note.windows(DATE_WORD, 45, 35):
            found += [
                Span(*_ended(text, match), "date", 0.95, "date with month")
                for match in _NAMED.finditer(text, low, high)
            ]
            found += _alone(note, low, high)
        return found


def _short(note: Note) -> list[Span]:
    """`3/14` and `20.2.`: at the start of digits, where a word before them announces a date."""
    found, text = [], note.folded
    for start, _ in note.digits:
        match = _SHORT.match(text, start)
        if match is None or not _day_and_month(match["a"], match["b"] or match["c"]):
            continue
        if (match["c"] and note.language == "de") or _BEFORE_SHORT.search(text, max(0, start - 25), start):
            found.append(Span(*match.span(), "date", 0.75, "day and month"))
    return found


def _alone(note: Note, low: int, high: int) -> list[Span]:
    """A month without a day; in lower case only in the languages that write it so, and as a whole name."""
    lower = note.language in _WRITE_LOWER
    return [
        Span(*match.span("id"), "date", 0.7, "month")
        for match in _ALONE.finditer(note.folded, low, high)
        if match["id"][0].isupper() or (lower and len(match["id"]) > 3 and match["id"] not in _SHORT_OR_WORD)
    ]


def _ended(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Without the dot that ends a sentence after a whole word."""
    start, end = match.span()
    if text[end - 1] == "." and not (end < len(text) and text[end : end + 2].strip()[:1].islower()):
        end -= 1
    return start, end


RECOGNISER = Dates()
