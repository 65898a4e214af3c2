"""Dates inside a text, in five languages: read in every way that they can mean, and written again as they were.

`03/04/2012` may be in March or in April: it has two readings. Whoever looks for a known date takes any of them; whoever
moves a date needs one, and leaves a date alone that has two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import date
from functools import cache

from shoal.dataclasses import dataclass
from shoal.table.dates import MONTHS_BY_LANGUAGE, SHORT_MONTHS_BY_LANGUAGE
from shoal.vocabulary import DateOrder

_ALSO = {"sept": ("en", 9), "jän": ("de", 1), "jänner": ("de", 1), "mrz": ("de", 3), "marz": ("de", 3)}
_CENTURY = range(1800, 2200)


@cache
def month_words() -> dict[str, list[tuple[str, int, bool]]]:
    """Each month's name in small letters, accents kept and dropped: its languages, its number, whether it is whole."""
    found: dict[str, list[tuple[str, int, bool]]] = {}
    for whole, names in ((True, MONTHS_BY_LANGUAGE), (False, SHORT_MONTHS_BY_LANGUAGE)):
        for language, text in names.items():
            for number, word in enumerate(text.split(), 1):
                for spelled in {word.lower(), plain(word)}:
                    entries = found.setdefault(spelled, [])
                    if all((known, month) != (language, number) for known, month, _ in entries):
                        entries.append((language, number, whole))
    for word, (language, number) in _ALSO.items():
        found.setdefault(word, []).append((language, number, False))
    return found


def plain(text: str) -> str:
    """Small letters without accents.

    >>> plain("Février")
    'fevrier'
    """
    return text.lower().translate(_ACCENTS)


_ACCENTS = str.maketrans("äáàâãéèêëíìîïóòôöõúùûüñç", "aaaaaeeeeiiiiooooouuuunc")


@cache
def _patterns() -> re.Pattern[str]:
    """All written forms in one pattern; every alternative starts with a digit or a month's name."""
    month = "|".join(sorted(map(re.escape, month_words()), key=len, reverse=True))
    day, year = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:(?:1[89]|20|21)\d{2}|['\u2019]\d{2}|\d{2})"
    return re.compile(
        rf"(?<![\w./-])(?P<iy>(?:1[89]|20|21)\d{{2}})(?P<ig>[-/._])(?P<im>\d{{1,2}})(?P<ih>[-/._])(?P<id>\d{{1,2}})(?!\d|[-/._]\d)"
        rf"|(?<![\w./-])(?P<np>\d{{1,2}})(?P<ng>\.\ ?|[-/ ])(?P<nq>\d{{1,2}})(?P<nh>\.\ ?|[-/ ])"
        rf"(?P<ny>(?:1[89]|20|21)\d{{2}}|\d{{2}})(?!\d|[-/._]\d)"
        rf"|(?<![\w./-])(?P<c>(?:1[89]|20|21)\d{{2}}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
        rf"|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|[12]\d|3[01])(?:1[89]|20|21)\d{{2}})(?!\w)"
        rf"|(?<![\w./-])(?P<wd>{day})(?P<wo>st|nd|rd|th|er|re|º|°|ª|\.)?(?P<wg>(?:\ ?(?:of|de|del|d')\ |[\ -]){{0,3}})"
        rf"(?P<wm>{month})(?!\w)(?P<wh>\.?(?:\ (?:de|del|of)\ |[\ ,-]){{0,3}})(?P<wy>{year})?(?!\d)"
        rf"|(?<!\w)(?P<mm>{month})(?P<mg>\.?[\ -]+)(?P<md>{day})(?P<mo>st|nd|rd|th)?(?!\w)"
        rf"(?:(?P<mh>,?[\ ]+|,)(?P<my>(?:1[89]|20|21)\d{{2}}|['\u2019]\d{{2}}))?(?!\d)"
        rf"|(?<!\w)(?P<ym>{month})(?P<yg>\.?,?\ (?:de\ |del\ |of\ )?|[-/])(?P<yy>(?:1[89]|20|21)\d{{2}})(?!\d)",
        re.IGNORECASE,
    )


# year, month and day; a year or a day that is not written is None
Reading = tuple[int | None, int, int | None]


@dataclass(frozen=True)
class WrittenDate:
    """A date in a text from `start` to `end`: what it can mean, and what is needed to write another in its way."""

    start: int
    end: int
    match: re.Match[str]
    readings: tuple[Reading, ...]

    def means(self, days: Collection[date]) -> bool:
        """Whether it can mean one of these days; a year of two digits, or none, fits any century or year."""
        return any(_fits(reading, day) for reading in self.readings for day in days)


def _fits(reading: Reading, day: date) -> bool:
    year, month, number = reading
    if (month, number) != (day.month, day.day):
        return False
    return year is None or year == day.year or (year < 100 and year == day.year % 100)


def dates_in(text: str, start: int = 0, end: int | None = None) -> Iterator[WrittenDate]:
    """The dates of a text, or of a stretch of it, from left to right.

    >>> [found.readings for found in dates_in("seen 3/4/2012, born on 3. März 1954")]
    [((2012, 4, 3), (2012, 3, 4)), ((1954, 3, 3),)]
    """
    for match in _patterns().finditer(text, start, len(text) if end is None else end):
        readings = _readings(match)
        if readings:
            last = match.start("wh") if match["wm"] and not match["wy"] else match.end()
            yield WrittenDate(match.start(), last, match, readings)


def _readings(match: re.Match[str]) -> tuple[Reading, ...]:
    if match["iy"]:
        found = [(int(match["iy"]), int(match["im"]), int(match["id"]))]
    elif match["np"]:
        if match["ng"].strip() != match["nh"].strip():
            return ()
        first, second, year = (int(match[name]) for name in ("np", "nq", "ny"))
        found = [(year, second, first), (year, first, second)]
        if len(match["ny"]) == 2:
            found.append((first, second, year))  # 54-03-17
    elif match["c"]:
        signs = match["c"]
        found = [(int(signs[:4]), int(signs[4:6]), int(signs[6:]))] if int(signs[:4]) in _CENTURY else []
        if not found or int(signs[4:6]) > 12:
            year = int(signs[4:])
            found += [(year, int(signs[2:4]), int(signs[:2])), (year, int(signs[:2]), int(signs[2:4]))]
    elif match["ym"]:
        return tuple(dict.fromkeys((int(match["yy"]), month, None) for _, month, _ in months_of(match["ym"])))
    else:
        name, number, written = ("wm", "wd", "wy") if match["wm"] else ("mm", "md", "my")
        year = int(match[written].lstrip("'\u2019")) if match[written] else None  # type: ignore[assignment]
        found = [(year, month, int(match[number])) for _, month, _ in months_of(match[name])]
    return tuple(dict.fromkeys(reading for reading in found if _exists(*reading)))


def months_of(word: str) -> list[tuple[str, int, bool]]:
    """What a month's name can be: language, number, whether it is whole."""
    words = month_words()
    return words.get(word.lower()) or words[plain(word)]


def _exists(year: int | None, month: int, day: int) -> bool:
    try:
        date(2000 if year is None else 2000 + year if year < 100 else year, month, day)
    except ValueError:
        return False
    return True


def order_of(texts: Iterator[str] | list[str]) -> DateOrder | None:
    """Which number is the month, as a number above 12 proves in one of the texts; None where they disagree.

    >>> order_of(["13/02/2012", "02/03/2012"]), order_of(["3/4/2012"])
    ('dmy', None)
    """
    proven: set[DateOrder] = set()
    for text in texts:
        for found in dates_in(text):
            match = found.match
            if match["np"] and len(match["ny"]) == 4:
                first, second = int(match["np"]), int(match["nq"])
                if (first > 12) != (second > 12):
                    proven.add("dmy" if first > 12 else "mdy")
    return proven.pop() if len(proven) == 1 else None
