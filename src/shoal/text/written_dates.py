"""Dates inside a text, in five languages: read in every way that they can mean, and written again as they were.

`03/04/2012` may be in March or in April: it has two readings. Whoever looks for a known date takes any of them; whoever
moves a date needs one, and leaves a date alone that has two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from shoal.storage.months import MONTHS_BY_LANGUAGE, SHORT_MONTHS_BY_LANGUAGE, month_words, months_of, plain
from shoal.vocabulary import DateOrder

_CENTURY = range(1800, 2200)


@cache
def _patterns() -> re.Pattern[str]:
    """All written forms in one pattern; every alternative starts with a digit or a month's name."""
    month = "|".join(sorted(map(re.escape, month_words()), key=len, reverse=True))
    day, year = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:(?:1[89]|20|21)\d{2}|['\u2019]\d{2}|\d{2})"
    return re.compile(
        rf"(?<![\w./-])(?P<iy>(?:1[89]|20|21)\d{{2}})(?P<ig>[-/._])(?P<im>\d{{1,2}})(?P<ih>[-/._])(?P<id>\d{{1,2}})(?!"
        rf"\d|[-/._]\d)|(?<![\w./-])(?P<np>\d{{1,2}})(?P<ng>\.\ ?|[-/ ])(?P<nq>\d{{1,2}})(?P<nh>\.\ ?"
        rf"|[-/ ])(?P<ny>(?:1[89]|20|21)\d{{2}}|\d{{2}})(?!\d|[-/._]\d)|(?<![\w./-])(?P<c>(?:1[89]|20"
        rf"|21)\d{{2}}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|[12]\d|3[01])(?:1[89]"
        rf"|20|21)\d{{2}})(?!\w)|(?<![\w./-])(?P<wd>{day})(?P<wo>st|nd|rd|th|er|re|º|°|ª|\.)?(?P<wg>(?:\ ?(?:of|de|del"
        rf"|d')\ |[\ -]){{0,3}})(?P<wm>{month})(?!\w)(?P<wh>\.?(?:\ (?:de|del|of)\ "
        rf"|[\ ,-]){{0,3}})(?P<wy>{year})?(?!\d)|(?<!\w)(?P<mm>{month})(?P<mg>\.?[\ -]+)(?P<md>{day})(?P<mo>st|nd|rd"
        rf"|th)?(?!\w)(?:(?P<mh>,?[\ ]+|,)(?P<my>(?:1[89]|20|21)\d{{2}}|['\u2019]\d{{2}}))?(?!\d)"
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


# Dates of a text moved by a number of days, and written as they were: order, signs, zeros, case and language.


_WEEKDAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
}
_BESIDE = re.compile(
    rf"(?i),? ?\(?(?:{'|'.join(sorted({form for days in _WEEKDAYS.values() for form in days.split()}))})(?!\w)"
)
_ORDINALS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}


def moved(text: str, days: int, order: DateOrder | None, century_from: int, language: str = "en") -> str | None:
    """All dates of a text moved by a number of days, each written as it was; None where one cannot be read for sure.

    A year of two digits is of the 100 years from `century_from` on; where no year is written, one of 365 days is
    counted. A date whose month and day could be exchanged needs `order`.

    >>> moved("Sunday, 4 March 2012", 30, None, 1930)
    'Tuesday, 3 April 2012'
    >>> moved("3. März 1954", -3, None, 1930, "de"), moved("3/4/2012", 1, None, 1930), moved("3/4/2012", 1, "dmy", 1930)
    ('28. Februar 1954', None, '4/4/2012')
    """
    parts: list[str] = []
    last, day = 0, None
    for found in dates_in(text):
        reading = _sure(found, order)
        day = None if reading is None else _moved_day(reading, days, century_from)
        if reading is None or day is None:
            return None
        parts += [text[last : found.start], _written(found.match, reading, day, language)]
        last = found.end
    if day is None:
        return None
    rest = "".join(parts[::2]) + text[last:]
    if re.search(r"\d", re.sub(_CLOCK, "", rest)) or _names_a_month(rest):
        return None
    out = "".join(parts) + text[last:]
    return _with_weekday(out, day, language)


def end_with_weekday(text: str, end: int) -> int:
    """Where a date ends that a weekday stands behind: left as it is, it would tell the shift but for whole weeks.

    >>> end_with_weekday("5 May 2019 (Sunday) at home", 10)
    18
    """
    beside = _BESIDE.match(text, end)
    return end if beside is None else beside.end()


_CLOCK = (
    r"(?i)(?:^|[T ,]|\bat |\bum |\bà |\balle |\ba las )\d{1,2}(?:[:.h]\d{2}){1,2}(?:[.,]\d+)?"
    r"\s?(?:[ap]\.?m\.?|Uhr|h|Z)?"
)


def _names_a_month(text: str) -> bool:
    """Whether what stays names a month of its own (`3 March or April 2012`)."""
    return any(plain(word) in month_words() for word in re.findall(r"[^\W\d_]{3,}", text))


def _moved_day(reading: Reading, days: int, century_from: int) -> date | None:
    """The day that a reading means, the middle of a month where none is written, moved; None past the calendar."""
    year, month, day = reading
    full = 2001 if year is None else century_from + (year - century_from) % 100 if year < 100 else year
    try:
        return date(full, month, 15 if day is None else day) + timedelta(days)
    except (ValueError, OverflowError):
        return None


def _sure(found: WrittenDate, order: DateOrder | None) -> Reading | None:
    """The one reading of a written date, or the one that an order of day, month and year leaves."""
    readings, match = found.readings, found.match
    if match["np"] and order is not None and len(readings) > 1:
        first, second, year = (int(match[name]) for name in ("np", "nq", "ny"))
        wanted = {"dmy": (year, second, first), "mdy": (year, first, second), "ymd": (first, second, year)}[order]
        readings = tuple(reading for reading in readings if reading == wanted)
    return readings[0] if len(readings) == 1 else None


def _written(match: re.Match[str], reading: Reading, day: date, language: str) -> str:
    """Another day in the way in which a date was written: order, signs between, zeros, case and language kept."""
    if match["iy"]:
        month, number = _numbers([day.month, day.day], [match["im"], match["id"]])
        return f"{day.year}{match['ig']}{month}{match['ih']}{number}"
    if match["np"]:
        return _numeric(match, reading, day)
    if match["c"]:
        ends = (4, 6) if int(match["c"][:4]) == reading[0] else (2, 4)
        pattern = _order([match["c"][: ends[0]], match["c"][ends[0] : ends[1]], match["c"][ends[1] :]], reading)
        texts = {"y": str(day.year), "m": f"{day.month:02d}", "d": f"{day.day:02d}"}
        return "".join(texts[letter] for letter in pattern)
    if match["ym"]:
        return f"{_month(match['ym'], day, language)}{match['yg']}{day.year}"
    if match["wm"]:
        ordinal = match["wo"] or ""
        if ordinal.lower() in ("st", "nd", "rd", "th"):
            ordinal = _ORDINALS.get(day.day, "th")
        elif ordinal.lower() in ("er", "re"):
            ordinal = "er" if day.day == 1 else ""
        number = f"{day.day:02d}" if match["wd"].startswith("0") else str(day.day)
        head = f"{number}{ordinal}{match['wg']}{_month(match['wm'], day, language)}"
        return head + (f"{match['wh']}{_year(match['wy'], day)}" if match["wy"] else "")
    ordinal = _ORDINALS.get(day.day, "th") if match["mo"] else ""
    number = f"{day.day:02d}" if match["md"].startswith("0") else str(day.day)
    head = f"{_month(match['mm'], day, language)}{match['mg']}{number}{ordinal}"
    return head + (f"{match['mh']}{_year(match['my'], day)}" if match["my"] else "")


def _order(parts: list[str], reading: Reading) -> str:
    """Which of three numbers is the day, the month and the year in a reading."""
    year, month, day = reading
    numbers = [int(part) for part in parts]
    for order, wanted in (("dmy", [day, month, year]), ("mdy", [month, day, year]), ("ymd", [year, month, day])):
        if numbers == wanted:
            return order
    raise AssertionError("a reading has the numbers that are written")


def _numeric(match: re.Match[str], reading: Reading, day: date) -> str:
    parts = [match[name] for name in ("np", "nq", "ny")]
    order = _order(parts, reading)
    short = [part for part, letter in zip(parts, order, strict=True) if letter != "y"]
    month, number = _numbers([day.month, day.day], short)
    texts = {"m": month, "d": number}
    out = []
    for part, letter in zip(parts, order, strict=True):
        year = f"{day.year % 100:02d}" if len(part) == 2 else str(day.year)
        out.append(year if letter == "y" else texts[letter])
    return f"{out[0]}{match['ng']}{out[1]}{match['nh']}{out[2]}"


def _numbers(numbers: list[int], like: list[str]) -> list[str]:
    """Numbers of two digits, unless one of those that they replace has one."""
    return [str(number) if any(len(text) == 1 for text in like) else f"{number:02d}" for number in numbers]


def _year(like: str, day: date) -> str:
    short = like.lstrip("'\u2019")
    return like[: len(like) - len(short)] + (f"{day.year % 100:02d}" if len(short) == 2 else str(day.year))


def _month(like: str, day: date, language: str) -> str:
    """The name of a month in the language, the length and the case of another."""
    entries = months_of(like)
    chosen, _, whole = next((entry for entry in entries if entry[0] == language), entries[0])
    name = (MONTHS_BY_LANGUAGE if whole else SHORT_MONTHS_BY_LANGUAGE)[chosen].split()[day.month - 1]
    return cased(name, like)


def cased(word: str, like: str) -> str:
    """A word in the case of another: capitals, first capital, small letters.

    >>> cased("april", "MARCH"), cased("april", "March"), cased("April", "mars")
    ('APRIL', 'April', 'april')
    """
    if len(like) > 1 and like.isupper():
        return word.upper()
    if like[:1].isupper():
        return word[:1].upper() + word[1:]
    return word.lower() if like.islower() else word


def _with_weekday(text: str, day: date, language: str) -> str:
    """The name of a weekday that stands with a date is that of the new day."""
    for chosen in dict.fromkeys((language, *_WEEKDAYS)):
        names = _WEEKDAYS.get(chosen, "").split()
        for name in names:
            shorts = {name, plain(name), name[:3], name[:2]} if chosen in ("en", "de") else {name, plain(name)}
            for word in sorted(shorts, key=len, reverse=True):
                found = re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", text)
                if found:
                    new = names[day.weekday()][: len(word) if len(word) < 4 else None]
                    return text[: found.start()] + cased(new, found[0]) + text[found.end() :]
    return text
