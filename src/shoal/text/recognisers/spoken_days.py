"""Days as people say them: `Friday the 9th`, `lundi 4`, `18 p.v.`, `dix-sept mars`, `New Year's Eve`, `3.IV.2012`."""

import re

from shoal.text.base import Note
from shoal.text.recognisers.pattern import ANY_LENGTH, Pattern, Patterns, either, one_of, run
from shoal.text.terms import alternation, by_key, rule
from shoal.text.words import DATE_WORD, trigger, trigger_part

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
# what a number behind a weekday may count instead: `lundi 2 comprimés`, `Tuesday 9 am`
_NOT_COUNTED = rf"(?![\d%°€$]|[:./,-]\d|\s?(?:{alternation('counted_things')})(?!\w)|\s?h\d)"
_BEHIND_THE = (
    r"(?=[.,;:)!?\n]|$|\s(?:and|at|in|to|but|for|with|by|from|she|he|they|we|I|when|after|before"
    r"|of (?:this|last|next|the) month)\b)"
)
_ENDS_DAY = r"(?=\s?[.;)](?!\d)|$|\s(?:au soir|au matin|du mois|us|cte\.|p\.v\.))"
_YEAR = r"(?:,?\s(?:de\s|del\s)?(?:19|20)\d{2}(?!\w))"
_YEAR_IN_WORDS = (
    rf"(?:,?\s(?:de\s|del\s)?{alternation('years_in_words')}(?:[\s-]{alternation('parts_of_years')}){{0,4}}(?!\w))"
)
_MONTH = alternation("months_in_words")


_ORDINAL_EN = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fi"
    r"fteenth"
    r"|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty[- ](?:first|second|third|fourth|fifth|sixth|seventh"
    r"|eighth|ninth)|thirtieth|thirty[- ]first)"
)
# which of the weekdays of a month: `the 3rd Tuesday of May`, `ersten Dienstag im März`
_NTH = (
    r"(?:(?:the\s)?(?:first|second|third|fourth|fifth|last|1st|2nd|3rd|4th)|(?:erste|zweite|dritte|vierte|letzte)[n"
    r"rms]?|[1-4]\."
    r"|(?:premier|deuxième|second|troisième|quatrième|dernier|1er|2e|3e|4e)|(?:primo|secondo|terzo|quarto|ultimo|1°"
    r"|2°|3°)"
    r"|(?:primer|segundo|tercer|cuarto|último|1º|2º|3º))"
)


_NUMERALS = [
    word for phrase in by_key("rules")["days_in_words"] for word in re.findall(r"[a-zß-ÿ]+", phrase.replace("?", ""))
]
_IN_WORDS = trigger_part((word for word in _NUMERALS if len(word) > 3), (word for word in _NUMERALS if len(word) == 3))
_WEEKDAYS = trigger((*rule("long_weekdays"), "advent", *(day.strip("?").strip(".\\") for day in rule("weekdays"))))
_PARTS = trigger(word for phrase in rule("parts_of_a_month") for word in re.findall(r"[a-zß-ÿ]+", phrase))


_ORDINAL = either(
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


RECOGNISER = Patterns(
    "spoken days",
    Pattern(
        rf"(?i)(?<![\w-]){alternation('named_days')}(?:\sweekend)?{_YEAR}?(?![\w-])", 0.9, "day with a name", "date",
        near=trigger(rule("words_of_named_days")), anchored=True, words_before=4,
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
        rf"(?:{_DAY}(?:st|nd|rd|th|er|º|°|\.)(?!\w)|{_DAY}(?!\w)){_NOT_COUNTED}",
        0.85, "weekday and day", "date", words=_WEEKDAYS, digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w){_NTH}\s(?:advent|{alternation('long_weekdays')}\s(?:in|of|im|des?|di|del|du mois de|del mes "
        rf"de)\s"
        rf"{_MONTH}(?!\w){_YEAR}?)",
        0.9, "n-th weekday of a month", "date", words=_WEEKDAYS,
    ),
    Pattern(
        rf"(?i)(?<!\w){_MONTH}\s(?:the\s)?{_ORDINAL_EN}(?![\w-]){_YEAR}?", 0.9, "month and day in words", "date",
        near=DATE_WORD, anchored=True, languages=("en",),
    ),
    Pattern(
        r"(?<![\w-])(?!(?:The|This|That|Every|Each|One|All|Same|Next|Last|Another|New|Rest|Work|School|Sick|Snow|Of"
        r"f|Good|Late|Per|Day)\s)"
        r"(?!\w+day\s)(?:[A-Z][\w'’.]{2,20}\s){1,2}(?:Day|Eve|Night)"
        r"(?!\s(?:\d|[A-Z]|[Cc]are|program|hospital|surgery|case|unit|school|center|shift|nurse|staff|sweats))"
        rf"{_YEAR}?(?!\w)", 0.75, "day with a name", "date", parts=(" day", " eve", " night"), languages=("en",),
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:the\s)?(?:{_ORDINAL_EN}|{_DAY}(?:st|"
        rf"nd|rd|th))\sof\s(?:the|this|next|last)\smonth(?!\w"
        rf")", 0.85, "day of a month",
        "date", parts=(" month",), languages=("en",),
    ),
    Pattern(
        rf"(?i)(?<!\w){alternation('weekdays')},?\s(?:(?:the\s)?{_DAY}(?:st|nd|rd|th)(?!\w)|{_DAY}\.?(?=,?\s(?:(?:and|und|et|e|"
        rf"y|&)\s)?{alternation('weekdays')}\s{_DAY}(?!\d)))",
        0.88, "weekday and day", "date", words=_WEEKDAYS, digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:on|back|again|now|due|next|visit|review|recall|hearing|by|until|till|since|from|before|after|around|due|seen|last|left|came|called|discharged|"
        rf"admitted|died|for|to|is|was|and|through|(?:yesterday|today|tomorrow),?)\s(?P<id>the\s{_DAY}(?:st|nd|rd|th)){_BEHIND_THE}",
        0.8, "day of a month", "date", asks=_ORDINAL, digits=True,
    ),
    Pattern(
        rf"(?i)(?<![\w.,/-]){_DAY}\.?\s?(?:{alternation('this_month')})(?!\w)",
        0.88, "day of this month or the next", "date", words=trigger(rule("words_of_this_month")), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:am|zum|bis|vom|ab|seit\sdem|ab\sdem|bis\szum)\s(?P<id>{_DAY}\.)"
        r"(?=\s(?!tag|woche|stelle|platz|mal|stock|og|schritt|quartal|monat|lebens)[a-zäöü]|\s?[,;)]|$)",
        0.75, "day of a month", "date", languages=("de",), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:le|au|du)\s(?P<id>{_DAY}){_ENDS_DAY}(?:\s(?:au soir|au matin|du mois))?",
        0.72, "day of a month", "date", languages=("fr",), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:el|il|al|dal|del)\s(?P<id>{_DAY}){_ENDS_DAY}",
        0.72, "day of a month", "date", languages=("it", "es"), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:pasado|próximo)\s(?:día\s)?(?P<id>(?:día\s)?{_DAY})(?![\w%]|[.,:/-]\d)",
        0.78, "day of a month", "date", words=trigger(("pasado", "próximo")), digits=True,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:el\sdía|il\sgiorno|al\sgiorno|del\sgiorno|del\sdía)\s(?P<id>{_DAY})(?![\w%]|[.,:/-]\d"
        r"|\s(?:de\singreso|di\sricovero|post|de\stratamiento|di\sterapia|de\sciclo))",
        0.78, "day of a month", "date", words=trigger(("día", "giorno")), digits=True,
    ),
    Pattern(
        rf"(?i)(?<![\w-]){alternation('days_in_words')}\s(?:of\s|de\s|del\s|di\s)?{_MONTH}(?!\w)(?:{_YEAR}|"
        rf"{_YEAR_IN_WORDS})?",
        0.9, "day in words and month", "date", near=DATE_WORD, reach=(40, 60), words=_IN_WORDS,
    ),
    Pattern(
        rf"(?i)(?<!\w){_DAY}(?:er|º|°|\.)?\s(?:de\s|di\s)?{_MONTH}{_YEAR_IN_WORDS}",
        0.9, "year in words", "date", near=DATE_WORD, reach=(40, 60), digits=True, gate=_has_thousand,
    ),
    Pattern(
        rf"(?i)(?<!\w){alternation('parts_of_a_month')}\s(?:de\s|di\s|des\s|du\smois\sde\s)?{_MONTH}(?!\w){_YEAR}?",
        0.85, "part of a month", "date", near=DATE_WORD, reach=(40, 30), words=_PARTS,
    ),
)  # fmt: skip
