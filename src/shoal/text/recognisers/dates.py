"""Dates in every written form of five languages, also as people say them: `Friday the 9th`, `dix-sept mars`.

A year alone stays: HIPAA permits years, and so does shoal.
"""

from __future__ import annotations

import re

from shoal.storage import Array
from shoal.storage.months import WHOLE_MONTH_NAMES
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.recognisers.pattern import ANY_LENGTH, Pattern, Patterns, either, one_of, run
from shoal.text.terms import alternation, by_key, months, rule
from shoal.text.words import DATE_WORD, trigger, trigger_part

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
    rf"|-(?!\d{{1,2}}([-/.])\d{{1,2}}\5\d)\d)|(?<![\d./-])(?P<c>\d{{1,2}}) (?P<d>\d{{1,2}}) {_CENTURY}(?!\d)"
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
    hurried = note.in_lower_case and word.lower() not in _AMBIGUOUS
    if (word[0].isupper() or lower or hurried) and _ALONE.search(note.folded, max(0, start - 16), start) is not None:
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


DATES = DatesRecogniser()


# Days as people say them.

_A_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
# what a number behind a weekday may count instead: `lundi 2 comprimés`, `Tuesday 9 am`
_NOT_COUNTED = rf"(?![\d%°€$]|[:./,-]\d|\s?(?:{alternation('counted_things')})(?!\w)|\s?h\d)"
_BEHIND_THE = (
    r"(?=[.,;:)!?\n]|$|\s(?:and|at|in|to|but|for|with|by|from|she|he|they|we|I|when|after|before"
    r"|of (?:this|last|next|the) month)\b)"
)
_ENDS_DAY = r"(?=\s?[.;)](?!\d)|$|\s(?:au soir|au matin|du mois|us|cte\.|p\.v\.))"
_YEAR_BEHIND = r"(?:,?\s(?:de\s|del\s)?(?:19|20)\d{2}(?!\w))"
_YEAR_IN_WORDS = (
    rf"(?:,?\s(?:de\s|del\s)?{alternation('years_in_words')}(?:[\s-]{alternation('parts_of_years')}){{0,4}}(?!\w))"
)
_MONTH_IN_WORDS = alternation("months_in_words")


_ORDINAL_EN = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth"
    r"|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty[- ](?:first|second|third|fourth|fifth"
    r"|sixth|seventh|eighth|ninth)|thirtieth|thirty[- ]first)"
)
# which of the weekdays of a month: `the 3rd Tuesday of May`, `ersten Dienstag im März`
_NTH = (
    r"(?:(?:the\s)?(?:first|second|third|fourth|fifth|last|1st|2nd|3rd|4th)|(?:erste|zweite|dritte|vierte"
    r"|letzte)[nrms]?|[1-4]\.|(?:premier|deuxième|second|troisième|quatrième|dernier|1er|2e|3e|4e)|(?:primo|secondo"
    r"|terzo|quarto|ultimo|1°|2°|3°)|(?:primer|segundo|tercer|cuarto|último|1º|2º|3º))"
)


_NUMERALS = [
    word for phrase in by_key("rules")["days_in_words"] for word in re.findall(r"[a-zß-ÿ]+", phrase.replace("?", ""))
]
_IN_WORDS = trigger_part((word for word in _NUMERALS if len(word) > 3), (word for word in _NUMERALS if len(word) == 3))
_WEEKDAYS = trigger((*rule("long_weekdays"), "advent", *(day.strip("?").strip(".\\") for day in rule("weekdays"))))
_PARTS = trigger(word for phrase in rule("parts_of_a_month") for word in re.findall(r"[a-zß-ÿ]+", phrase))


_ORDINAL_RUN = either(
    *(
        run(1, ANY_LENGTH, behind=one_of(first + first.upper()), second_behind=one_of(second + second.upper()))
        for first, second in ("st", "nd", "rd", "th")
    )
)


def _has_thousand(note: Note) -> bool:
    lower = note.lower
    return any(
        part in lower for part in ("thousand", "twenty", "nineteen", "tausend", "hundert", "mille", "mil ", "mila")
    )


SPOKEN_DAYS = Patterns(
    "spoken days",
    Pattern(
        rf"(?i)(?<![\w-]){alternation('named_days')}(?:\s(?:weekend|sunday|monday|week))?{_YEAR_BEHIND}?(?![\w-])",
        0.9, "day with a name", "date", near=trigger(rule("words_of_named_days")), anchored=True, words_before=4,
    ),
    Pattern(
        r"(?<![\w./-])(?:0?[1-9]|[12]\d|3[01])([./-]|\. ?| )"
        r"(?:(?:xi{0,2}|i?x|iv|vi{0,3}|i{1,3})\1(?:19|20)\d{2}(?!\w)|(?:XI{0,2}|IX|IV|VI{0,3}|I{1,3})"
        r"(?:(?:\1|\. ?)(?:(?:19|20)\d{2}|\d{2})(?!\w)|(?<=[./-]XI)(?=[\s,;)])|(?<=[./-]I)\.(?!\w)))",
        0.93, "date with a Roman month", "date",
        asks=run(1, ANY_LENGTH, behind=one_of("./- "), second_behind=one_of("IVXivx")), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w){alternation('long_weekdays')},?\s(?:(?:the|dem|den|le|il|el|día)\s)?"
        rf"(?:{_A_DAY}(?:st|nd|rd|th|er|º|°|\.)(?!\w)|{_A_DAY}(?!\w)){_NOT_COUNTED}",
        0.85, "weekday and day", "date", words=_WEEKDAYS, digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w){_NTH}\s(?:advent|{alternation('long_weekdays')}\s(?:in|of|im|des?|di|del|du mois de"
        rf"|del mes de)\s{_MONTH_IN_WORDS}(?!\w){_YEAR_BEHIND}?)",
        0.9, "n-th weekday of a month", "date", words=_WEEKDAYS,
    ),
    Pattern(
        rf"(?i)(?<!\w){_MONTH_IN_WORDS}\s(?:the\s)?{_ORDINAL_EN}(?![\w-]){_YEAR_BEHIND}?",
        0.9, "month and day in words", "date", near=DATE_WORD, anchored=True, languages=("en",),
    ),
    Pattern(
        r"(?<![\w-])(?!(?:The|This|That|Every|Each|One|All|Same|Next|Last|Another|New|Rest|Work|School|Sick|Snow|Off"
        r"|Good|Late|Per|Day)\s)(?!\w+day\s)(?:[A-Z][\w'’.]{2,20}\s){1,2}(?:Day|Eve|Night)(?!\s(?:\d|[A-Z]|[Cc]are"
        r"|program|hospital|surgery|case|unit|school|center|shift|nurse|staff|sweats))"
        rf"{_YEAR_BEHIND}?(?!\w)", 0.75, "day with a name", "date", parts=(" day", " eve", " night"), languages=("en",),
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:the\s)?(?:{_ORDINAL_EN}|{_A_DAY}(?:st|nd|rd|th))\sof\s(?:the|this|next|last)\smonth(?!\w)",
        0.85, "day of a month",
        "date", parts=(" month",), languages=("en",),
    ),
    Pattern(
        rf"(?i)(?<!\w){alternation('weekdays')},?\s(?:(?:the\s)?{_A_DAY}(?:st|nd|rd|th)(?!\w)|{_A_DAY}\.?(?=,?\s(?:(?:and|und|et|e|"
        rf"y|&)\s)?{alternation('weekdays')}\s{_A_DAY}(?!\d)))",
        0.88, "weekday and day", "date", words=_WEEKDAYS, digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:on|back|again|now|due|next|visit|review|recall|hearing|by|until|till|since|from|before|after|around|due|seen|last|left|came|called|discharged|"
        rf"admitted|died|for|to|is|was|and|through|(?:yesterday|today|tomorrow),?)\s(?P<id>the\s{_A_DAY}(?:st|nd|rd|th)){_BEHIND_THE}",
        0.8, "day of a month", "date", asks=_ORDINAL_RUN, digits=True,
    ),
    Pattern(
        rf"(?<=[a-z,;:]\s)the\s{_A_DAY}(?:st|nd|rd|th)(?=\s?[.;!?)]|$)",
        0.7, "day of a month", "date", asks=_ORDINAL_RUN, digits=True, parts=("the ",), languages=("en",),
    ),
    Pattern(
        rf"(?i)(?<![\w.,/-]){_A_DAY}\.?\s?(?:{alternation('this_month')})(?!\w)",
        0.88, "day of this month or the next", "date", words=trigger(rule("words_of_this_month")), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:am|zum|bis|vom|ab|seit\sdem|ab\sdem|bis\szum)\s(?P<id>{_A_DAY}\.)"
        r"(?=\s(?!tag|woche|stelle|platz|mal|stock|og|schritt|quartal|monat|lebens)[a-zäöü]|\s?[,;)]|$)",
        0.75, "day of a month", "date", languages=("de",), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:le|au|du)\s(?P<id>{_A_DAY}){_ENDS_DAY}(?:\s(?:au soir|au matin|du mois))?",
        0.72, "day of a month", "date", languages=("fr",), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:el|il|al|dal|del)\s(?P<id>{_A_DAY}){_ENDS_DAY}",
        0.72, "day of a month", "date", languages=("it", "es"), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:pasado|próximo)\s(?:día\s)?(?P<id>(?:día\s)?{_A_DAY})(?![\w%]|[.,:/-]\d)",
        0.78, "day of a month", "date", words=trigger(("pasado", "próximo")), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:el\sdía|il\sgiorno|al\sgiorno|del\sgiorno|del\sdía)\s(?P<id>{_A_DAY})(?![\w%]|[.,:/-]\d"
        r"|\s(?:de\singreso|di\sricovero|post|de\stratamiento|di\sterapia|de\sciclo))",
        0.78, "day of a month", "date", words=trigger(("día", "giorno")), digits=True,
    ),
    Pattern(
        rf"(?i)(?<![\w-]){alternation('days_in_words')}\s(?:of\s|de\s|del\s|di\s)?{_MONTH_IN_WORDS}(?!\w)(?:{_YEAR_BEHIND}|"
        rf"{_YEAR_IN_WORDS})?",
        0.9, "day in words and month", "date", near=DATE_WORD, reach=(40, 60), words=_IN_WORDS,
    ),
    Pattern(
        rf"(?i)(?<!\w){_A_DAY}(?:er|º|°|\.)?\s(?:de\s|di\s)?{_MONTH_IN_WORDS}{_YEAR_IN_WORDS}",
        0.9, "year in words", "date", near=DATE_WORD, reach=(40, 60), digits=True, gate=_has_thousand,
    ),
    Pattern(
        rf"(?i)(?<!\w){alternation('parts_of_a_month')}\s(?:de\s|di\s|des\s|du\smois\sde\s)?{_MONTH_IN_WORDS}(?!\w){_YEAR_BEHIND}?",
        0.85, "part of a month", "date", near=DATE_WORD, reach=(40, 30), words=_PARTS,
    ),
)  # fmt: skip
