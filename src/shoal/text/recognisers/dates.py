"""Dates in every written form of five languages. A year alone stays: HIPAA permits years, and so does shoal."""

from __future__ import annotations

import re

from shoal.storage import Array
from shoal.storage.months import WHOLE_MONTH_NAMES
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.terms import alternation, months, rule
from shoal.text.words import DATE_WORD

_CENTURY = r"(?:1[89]|20|21)\d{2}"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_ORDINAL = r"(?:\.|st|nd|rd|th|er|re|º|°|ª|o|a)?"
_OF = r"(?:de\s+|del\s+|of\s+)?"
# around the name of a month: a day before it, a day or a year behind it, a weekday before all
_DAY_BEFORE = re.compile(
    rf"(?i)(?<![\d.,/:-])(?:{_DAY}{_ORDINAL}\s?(?:[-–/]|to|bis|bis zum|au|al|and|und|et|e|y)\s?)?"
    rf"{_DAY}{_ORDINAL}(?:\s+of|\s+de|\s+del)?[\s-]{{0,2}}$"
)
_YEAR_BEFORE = re.compile(rf"(?<!\d){_CENTURY}[\s-]$")
_YEAR = re.compile(
    rf"(?i)\.?(?:,?[\s-]{{1,2}}{_OF}{_CENTURY}\b|\s'?\d{{2}}\b(?!\s?[:%]|[.,]\d)|-?\d{{2}}\b|{_CENTURY}\b)|\."
)
_UNIT = r"(?!\s?(?:mg|ml|mcg|µg|g|kg|%|mmol|units?|tabs?|tablets?|hours?|h|days?|weeks?|mm|cm)\b|[.,:]?\d)"
_DAYS = rf"{_DAY}(?:st|nd|rd|th)?\b(?:\s?-\s?{_DAY}\b)?"
_BEHIND = re.compile(
    rf"(?i)\.?,?\s{{1,2}}(?:the\s+)?{_DAYS}{_UNIT}(?:,?\s+{_CENTURY}\b|,?\s'\d{{2}}\b|,?\s[4-9]\d\b{_UNIT})?"
    rf"|\.?,?[\s/-]{{1,2}}{_OF}(?:{_CENTURY}\b|'\d{{2}}\b)"
)
_WEEKDAY = re.compile(rf"(?i)\b{alternation('weekdays')},?\s+(?:the\s+|den\s+|dem\s+|le\s+|el\s+|il\s+)?$")
_QUARTER = re.compile(rf"(?i)q[1-4][\s/-]?{_CENTURY}\b")
_QUARTER_OF = re.compile(rf"(?i)(?<!\d){_CENTURY}[\s-]?(?:q[1-4]|w\d{{2}})\b")
# `02/2020`: a month and a year
_MONTH_YEAR = re.compile(r"(?<![\w./,-])(?:0?[1-9]|1[0-2])/(?:19|20)\d{2}(?![\w/-]|[.,]\d)")
_MONTH = re.compile(rf"(?i)(?:{WHOLE_MONTH_NAMES}|jänner|jän|sett|juil|janv|déc|févr)")
_NUMERIC = re.compile(
    rf"(?<![\d./-]){_CENTURY}([-/.]){_DAY}\1{_DAY}(?:T\d{{2}}:?\d{{2}}(?::?\d{{2}})?Z?)?(?!\d|[-/.]\d)"
    rf"|(?<![\d./-])(?P<a>\d{{1,2}})([-/.])\s?(?P<b>\d{{1,2}})\3\s?(?:{_CENTURY}|\d{{2}})(?!\d|/\d|\.\d|\s?[%]"
    rf"|-(?!\d{{1,2}}([-/.])\d{{1,2}}\5\d)\d)"
    rf"|(?<![\d./-])(?P<c>\d{{1,2}}) (?P<d>\d{{1,2}}) {_CENTURY}(?!\d)"
)
_SECOND = re.compile(rf"\s?[-–]\s?\d{{1,2}}([-/.])\d{{1,2}}\1(?:{_CENTURY}|\d{{2}})(?!\d)")
# `3/14` and `20.2.` are dates only after such words; elsewhere they are scores, doses and ratios
_BEFORE_SHORT = re.compile(rf"(?i)\b{alternation('before_short_dates')}\s?:?\s$")
# a participle (`redeemed 3/9`) or another day before it (`20.11. and`); scores and strengths are graded
_PARTICIPLE = re.compile(
    r"(?i)\d[./]\d{1,2}\.?,?\s(?:and|und|et|e|y|&|or|oder|bis|to)\s$|(?<![\w'’])(?!scored|rated|graded|measured|improved"
    r"|increased|decreased|reduced|dropped|remained|stayed|noted|recorded|limited|preserved|need\b|red\b|bed\b)"
    r"(?:[a-z]{3,}ed|done|given|sent|taken|seen|written|paid|held|begun|gone|left|met)\s$"
)
_SHORT = re.compile(
    r"(?<![\d.,/-])(?P<a>\d{1,2})(?:/(?P<b>\d{1,2})(?:-\d{1,2}/\d{1,2})?|\.(?P<c>\d{1,2})\.)"
    r"(?![\d/%]|\.\d|\s?(?:mg|ml|mmhg|tabs?|tablets?|pain|points?|tsp|cups?|dose|of)\b)"
)
# of 3/14 one number can be a day only, so it is a date anywhere but in a few ratios; so is a span such as 30/4-2/5
_SURE_SHORT = re.compile(
    r"(?<![\w.,/:+-])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:\s?[-–]\s?(?P<c>\d{1,2})/(?P<d>\d{1,2}))?(?![\w/%+-]|[.,]\d"
    r"|\s?(?:mg|ml|mmhg|tabs?|tablets?|pain|points?|vision|hours?|h|days?|times|weeks?|months?|de|di|of|dei|der)\b)"
)
_RATIO = re.compile(
    r"(?i)(?:score|pain|scale|acuity|visus|vision|strength|grade|dolor|dolore|douleur|schmerz\w*|nrs|vas|evn|gcs|so"
    r"fa|mmse|moca|apgar|bp|ta|rr|pa|o[dsu]|va|ratio|tensi[oó]n|tensione|pressione|presión|blutdruck|pression|from|"
    r"su|sur|von|auf)\W{0,3}$"
)
# the French write 13/8 for a blood pressure
_MOST_PRESSURE, _LEAST_PRESSURE = 22, 4
_NEVER_DAYS = frozenset(((24, 7), (20, 10), (20, 12)))
_ALONE = re.compile(rf"(?i)(?<!\w){alternation('before_months')}[\s-]$")
_BIRTH = r"(?:dob|d\.o\.b\.?|born|geb|né|née|nato|nata|nacido)"
_BORN = re.compile(rf"(?i)\b{_BIRTH}\W{{1,3}}$")
_COMPACT = re.compile(rf"{_CENTURY}[01]\d[0-3]\d\b")
_COMPACT_LENGTH = 8
_SEPARATORS = frozenset("-/. ")
_SHORT_SEPARATORS = frozenset("/.")
_WRITE_LOWER = frozenset(("fr", "it", "es"))
# months that are names or other words too: only behind a word that announces a month
_AMBIGUOUS = frozenset(
    ("mars", "mayo", "april", "june", "may", "march", "august", "mai", "juli", "juni", "abril", "julio")
)
_PADDED = re.compile(r"\d{1,2}\.(?:0[1-9]|1[0-2])\.(?!\d)")
_LINE_START = re.compile(r"(?:^|\n)[ \t\-*•·]{0,4}$")
_ENTRY = re.compile(r"\s?[:–-]\s|\s(?=[A-Za-zÀ-ÿ])")


def _day_and_month(first: str, second: str) -> bool:
    a, b = int(first), int(second)
    return (1 <= a <= 31 and 1 <= b <= 12) or (1 <= a <= 12 and 1 <= b <= 31)


class DatesRecogniser(NoteByNote):
    """Numeric dates, dates with the name of a month, and parts of dates that tell more than the year."""

    name = "dates"
    kinds: tuple[TextKind, ...] = ("date",)

    def worth(self, block: Block) -> Array:
        """Notes with digits or the name of a month."""
        return block.has_digits | block.marked(DATE_WORD)

    def find(self, note: Note) -> list[Span]:
        """Dates in the note."""
        text, found = note.folded, []
        for start, end in note.digits:
            if end - start > 4 or text[end : end + 1] not in _SEPARATORS:
                continue
            match = _NUMERIC.match(text, start)
            if match is not None and (match["a"] is None or _day_and_month(match["a"], match["b"])):
                weekday = _WEEKDAY.search(text, max(0, start - 22), start)
                first = weekday.start() if weekday else start
                second = _SECOND.match(text, match.end())
                end = match.end() if second is None else second.end()
                found.append(Span(first, end, "date", 0.95, "date in digits"))
            elif match is None and (match := _MONTH_YEAR.match(text, start)) is not None:
                found.append(Span(*match.span(), "date", 0.8, "month and year in digits"))
        found += _short(note)
        if _COMPACT_LENGTH in note.run_lengths:
            found += _compact(note)
        for number in note.marked(DATE_WORD):
            span = _around(note, number)
            if span is not None:
                found.append(span)
        return found


def _around(note: Note, number: int) -> Span | None:
    """A date around the name of a month or of a season."""
    text, word, (start, end) = note.folded, note.words[number], note.pieces[number]
    if word.lower() in ("q", "w"):
        match = _QUARTER.match(text, start) or _QUARTER_OF.search(text, max(0, start - 5), end + 2)
        return None if match is None else Span(*match.span(), "date", 0.85, "quarter or week")
    if word[:4].lower() in ("mid-", "mitt") or word[:3].lower() == "mi-":
        behind = _BEHIND.match(text, end)
        return Span(start, end if behind is None else behind.end(), "date", 0.85, "middle of a month")
    season = word.lower() in rule("seasons") and not _MONTH.fullmatch(word)
    before = None if season else _DAY_BEFORE.search(text, max(0, start - 22), start)
    if before is not None:
        behind = _YEAR.match(text, end)
        first = before.start()
        weekday = _WEEKDAY.search(text, max(0, first - 22), first)
        end = _ended(text, end if behind is None else behind.end())
        return Span(weekday.start() if weekday else first, end, "date", 0.95, "date with a month")
    behind = _BEHIND.match(text, end)
    if behind is not None and not (season and not re.search(_CENTURY, behind[0])):
        weekday = _WEEKDAY.search(text, max(0, start - 22), start)
        return Span(weekday.start() if weekday else start, behind.end(), "date", 0.93, "date with a month")
    if (before := _YEAR_BEFORE.search(text, max(0, start - 5), start)) is not None and not season:
        return Span(before.start(), end, "date", 0.9, "year and month")
    return None if season else _alone(note, word, start, end)


def _alone(note: Note, word: str, start: int, end: int) -> Span | None:
    """A month without a day; in lower case only in the languages that write it so, and as a whole name."""
    lower = note.language in _WRITE_LOWER and (len(word) > 3 or (word == "mai" and note.language == "fr"))
    if (word[0].isupper() or lower) and _ALONE.search(note.folded, max(0, start - 16), start) is not None:
        return Span(start, end, "date", 0.7, "month")
    plain = word.lower() not in _AMBIGUOUS and len(word) > 4 and word.lower() in months()
    if plain and (lower or (word[0].isupper() and not (word.isupper() and note.language == "en"))):
        return Span(start, end, "date", 0.7, "month")
    return None


def _short(note: Note) -> list[Span]:
    """`3/14` and `20.2.`: at the start of digits, where a word before them announces a date."""
    found, text = [], note.folded
    for start, end in note.digits:
        if end - start > 2 or text[end : end + 1] not in _SHORT_SEPARATORS:
            continue
        match = _SHORT.match(text, start)
        if match is None or not _day_and_month(match["a"], match["b"] or match["c"]):
            continue
        weekday = _WEEKDAY.search(text, max(0, start - 22), start)
        if weekday is not None:
            found.append(Span(weekday.start(), match.end(), "date", 0.85, "weekday, day and month"))
        elif (
            (match["c"] and (note.language == "de" or (note.language != "en" and _PADDED.match(text, start))))
            or _BEFORE_SHORT.search(text, max(0, start - 25), start)
            or (_PARTICIPLE.search(text, max(0, start - 25), start) and (match["b"] or match["c"]) not in ("5", "10"))
            or (_LINE_START.search(text, max(0, start - 6), start) and _ENTRY.match(text, match.end()))
            or _is_surely_short(note, start)
        ):
            found.append(Span(*match.span(), "date", 0.75, "day and month"))
    return found


def _is_surely_short(note: Note, start: int) -> bool:
    """Whether day and month stand here in digits, though no word announces them."""
    text = note.folded
    match = _SURE_SHORT.match(text, start)
    if match is None or _RATIO.search(text, max(0, start - 14), start):
        return False
    first, second = int(match["a"]), int(match["b"])
    if match["c"]:
        return second != int(match["d"]) and _day_and_month(match["c"], match["d"])
    pressure = note.language == "fr" and first <= _MOST_PRESSURE and second >= _LEAST_PRESSURE
    return max(first, second) > 12 and (first, second) not in _NEVER_DAYS and not pressure


def _compact(note: Note) -> list[Span]:
    """`DOB 19540317`."""
    text = note.folded
    return [
        Span(start, end, "date", 0.9, "date of birth")
        for start, end in note.digits
        if end - start == _COMPACT_LENGTH
        and _COMPACT.match(text, start)
        and _BORN.search(text, max(0, start - 12), start)
    ]


def _ended(text: str, end: int) -> int:
    """Without the dot that ends a sentence after a whole word."""
    if text[end - 1] == "." and not (end < len(text) and text[end : end + 2].strip()[:1].islower()):
        return end - 1
    return end


RECOGNISER = DatesRecogniser()
