"""Dates as people write them: read without guessing, and written back as they were.

`03/04/2012` may be in March or in April: its year is sure, its day is not. Days are read only where the column itself,
or the person who asks, says which number is the month; two-digit years only where somebody says the century.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from shoal.errors import InputError, Message, check_choice
from shoal.storage import Array
from shoal.storage.folding import plain_dates
from shoal.storage.months import MONTH_NAMES, MONTHS_BY_LANGUAGE, SHORT_MONTHS_BY_LANGUAGE, month_words, plain
from shoal.vocabulary import DateOrder

_CENTURY = r"(?:1[89]|20|21)\d{2}"
_CLOCK = (
    r"(?P<clock>[T ,]\s*\d{1,2}(?::?\d{2}){0,2}(?:[.,]\d{1,9})?\s*(?:[AaPp]\.?[Mm]\.?)?"
    r"\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_COMPACT_CLOCK = r"(?P<clock>[T ]?\d{4}(?:\d{2})?Z?)?"
_ORDINAL = r"(?:\.|st|nd|rd|th)?"
_OF = r"(?:de )?"

# Whole dates. In each pattern the parts p, q and r stand in their order with what is written between them.
_WHOLE: tuple[tuple[str, str], ...] = (
    ("ymd", rf"^(?P<p>\d{{4}})(?P<g>[-/.])(?P<q>\d{{1,2}})(?P<h>[-/.])(?P<r>\d{{1,2}}){_CLOCK}$"),
    ("??y", rf"^(?P<p>\d{{1,2}})(?P<g>[-/. ])(?P<q>\d{{1,2}})(?P<h>[-/. ])(?P<r>\d{{4}}){_CLOCK}$"),
    ("???", rf"^(?P<p>\d{{1,2}})(?P<g>[-/.])(?P<q>\d{{1,2}})(?P<h>[-/.])(?P<r>\d{{2}}){_CLOCK}$"),
    ("dMy", rf"^(?P<p>\d{{1,2}})(?P<g>{_ORDINAL}[ -]*{_OF})(?P<q>{MONTH_NAMES})(?P<h>\.?[, -]*{_OF})(?P<r>\d{{4}})"
            rf"{_CLOCK}$"),
    ("dMy", rf"^(?P<p>\d{{1,2}})(?P<g>[ -]*)(?P<q>{MONTH_NAMES})(?P<h>\.?[, -]+)(?P<r>\d{{2}}){_CLOCK}$"),
    ("Mdy", rf"^(?P<p>{MONTH_NAMES})(?P<g>\.?[ -]+)(?P<q>\d{{1,2}})(?P<h>{_ORDINAL}[, -]+)(?P<r>\d{{4}}){_CLOCK}$"),
    ("ymd", rf"^(?P<p>{_CENTURY})(?P<g>)(?P<q>0[1-9]|1[0-2])(?P<h>)(?P<r>0[1-9]|[12]\d|3[01]){_COMPACT_CLOCK}$"),
    ("??y", rf"^(?P<p>\d{{2}})(?P<g>)(?P<q>\d{{2}})(?P<h>)(?P<r>{_CENTURY})(?P<clock>)$"),
)  # fmt: skip
# Less than a day: the year is all that is taken from them.
_PARTIAL = (
    rf"^(?P<y>{_CENTURY})$",
    rf"^(?P<y>{_CENTURY})[-/. ]?(?:0?[1-9]|1[0-2]|[Qq][1-4]|[Ww]\d{{1,2}}|{MONTH_NAMES}\.?)$",
    rf"^(?P<y>{_CENTURY})-\d{{3}}$",
    rf"^(?:(?:0?[1-9]|1[0-2])[-/. ]|[Qq][1-4][-/. ]?|{MONTH_NAMES}[-/., ]*)(?P<y>{_CENTURY})$",
    rf"^\d{{1,2}}\.?[ -]*(?:de )?{MONTH_NAMES}[., -]*(?:de )?(?P<y>{_CENTURY}){_CLOCK}$",
    rf"^{MONTH_NAMES}\.?\s+\d{{1,2}},?\s+\d{{1,2}}:\d{{2}}(?::\d{{2}})?\s+(?:[A-Z]{{3,4}}\s+)?(?P<y>{_CENTURY})$",
)
# "Sunday, " before a date
_WEEKDAY = r"^(?i:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?i:day)?[.,]*\s+"

# Dates written as numbers: since 1970, YYYYMMDD, days as spreadsheets count them.

NumericDate = Literal["seconds", "milliseconds", "microseconds", "nanoseconds", "compact", "serial-days"]
_DAY_SECONDS = 86_400
# From 2000 to 2034, in seconds: random numbers as long seldom all fall between.
EPOCH_SECONDS = (946_684_800, 2_051_222_400)
NUMBER_UNITS: dict[NumericDate, int] = {
    "seconds": _DAY_SECONDS,
    "milliseconds": _DAY_SECONDS * 10**3,
    "microseconds": _DAY_SECONDS * 10**6,
    "nanoseconds": _DAY_SECONDS * 10**9,
    "serial-days": 1,
}
# Day 0 of a spreadsheet is 30 December 1899, so many days before 1970.
SERIAL_START = 25_569
SERIAL_LIMITS = (10_000, 60_000)
_COMPACT = (18_000_101, 21_991_231)


class Written(NamedTuple):
    """Whole dates among texts: three parts with what stands between, a clock behind; `form` -1: there is none."""

    form: Array
    parts: pl.DataFrame  # p, g, q, h, r, clock


def whole_dates(texts: pl.Series) -> Written:
    """The texts that are whole dates, taken apart.

    >>> whole_dates(pl.Series(["2012-03-04 10:15", "soon"])).form.tolist()
    [0, -1]
    """
    form = np.full(len(texts), -1, np.int8)
    names = ["p", "g", "q", "h", "r", "clock"]
    parts = pl.DataFrame({name: pl.Series([None], dtype=pl.String).new_from_index(0, len(texts)) for name in names})
    for number, (_, pattern) in enumerate(_WHOLE):
        left = np.flatnonzero(form < 0)
        if len(left) == 0:
            break
        found = texts.gather(left).str.extract_groups(pattern).struct.unnest()
        hit = found["p"].is_not_null().to_numpy()
        if not hit.any():
            continue
        form[left[hit]] = number
        at = pl.Series(left[hit])
        for name in names:
            parts.replace_column(names.index(name), parts[name].clone().scatter(at, found[name].filter(hit)))
    return Written(form, parts)


def as_texts(values: pl.Series) -> pl.Series:
    """Values as the texts that a date may be written in; numbers get back the zero that `03042012` lost.

    >>> as_texts(pl.Series([3042012.0, 20120304.0])).to_list()
    ['03042012', '20120304']
    """
    if values.dtype.is_numeric():
        texts = values.cast(pl.Int64, strict=False).cast(pl.String)
        return texts.zip_with((texts.str.len_bytes() != 7).fill_null(True), "0" + texts)
    return plain_dates(values.cast(pl.String)).str.replace(_WEEKDAY, "")


def are_dates(texts: pl.Series) -> Array:
    """Which texts are dates, whole or in part; a year alone is none.

    >>> are_dates(pl.Series(["Sunday, March 4, 2012", "2012Q1", "2012", "soon"])).tolist()
    [True, True, False, False]
    """
    texts = as_texts(texts)
    found = whole_dates(texts).form >= 0
    for pattern in _PARTIAL[1:]:
        found |= texts.str.contains(pattern).fill_null(False).to_numpy()
    return found


def is_epoch(values: pl.Series) -> Array:
    """Which numbers are seconds or milliseconds since 1970, of the years 2000 to 2034."""
    if not values.dtype.is_numeric():
        return np.zeros(len(values), bool)
    numbers = values.cast(pl.Float64).to_numpy()
    low, high = EPOCH_SECONDS
    return ((numbers >= low) & (numbers < high)) | ((numbers >= low * 1000) & (numbers < high * 1000))


def numeric_date(values: pl.Series) -> NumericDate | None:
    """How all of a column's numbers can be read as dates, or None; a serial day is only ever a guess.

    >>> numeric_date(pl.Series([1330819200, 1336262400])), numeric_date(pl.Series([20120304, 20120506]))
    ('seconds', 'compact')
    """
    known = values.drop_nulls()
    if not values.dtype.is_numeric() or not len(known):
        return None
    if values.dtype.is_float():
        known = known.filter(known.is_finite())
    numbers = known.cast(pl.Float64).to_numpy()
    if not len(numbers):
        return None
    for unit in ("seconds", "milliseconds", "microseconds", "nanoseconds"):
        scale = NUMBER_UNITS[unit] / _DAY_SECONDS
        if ((numbers >= EPOCH_SECONDS[0] * scale) & (numbers < EPOCH_SECONDS[1] * scale)).all():
            return unit
    if (numbers == np.floor(numbers)).all() and compact_days(known).is_not_null().all():
        return "compact"
    low, high = SERIAL_LIMITS
    return "serial-days" if ((numbers >= low) & (numbers <= high)).all() else None


def compact_days(values: pl.Series) -> pl.Series:
    """The days that numbers such as 20120304 mean; null where the calendar has none.

    >>> compact_days(pl.Series([20120304, 20121399])).to_list()
    [datetime.date(2012, 3, 4), None]
    """
    whole = values.cast(pl.Int64, strict=False)
    whole = whole.zip_with(((whole >= _COMPACT[0]) & (whole <= _COMPACT[1])).fill_null(False), whole * 0)
    return whole.cast(pl.String).str.strptime(pl.Date, "%Y%m%d", strict=False)


def days_of_numbers(values: pl.Series, how: NumericDate) -> Array:
    """Days since 1970 of numbers that are dates (fractions of a day dropped); -10^9 where there is none."""
    if how == "compact":
        days = compact_days(values).to_physical().cast(pl.Int64)
    else:
        shift = SERIAL_START if how == "serial-days" else 0
        days = (values.cast(pl.Float64) / NUMBER_UNITS[how]).floor().fill_nan(None).cast(pl.Int64, strict=False) - shift
    return np.asarray(days.fill_null(-(10**9)).to_numpy())


def years_of(values: pl.Series, name: str, order: DateOrder | None = None, century_from: int | None = None) -> Array:
    """The year of each value, -1 where none can be read; only what is sure, or what `order` and `century_from` decide.

    >>> years_of(pl.Series(["2012-03-04", "3/4/2012", "4 Mar 2012", "2012-03", "soon"]), "admitted").tolist()
    [2012, 2012, 2012, 2012, -1]
    """
    if values.dtype in (pl.Date, pl.Datetime):
        return np.asarray(values.dt.year().cast(pl.Int64).fill_null(-1).to_numpy())
    texts = as_texts(values)
    written = whole_dates(texts)
    years = np.full(len(texts), -1, np.int64)
    for number, (parts, _) in enumerate(_WHOLE):
        rows = np.flatnonzero(written.form == number)
        if len(rows):
            part = "p" if parts[0] == "y" else "r"
            found = written.parts.select(part).to_series().gather(rows)
            if parts == "???":
                found = _short_years(written.parts[rows], name, order)
            years[rows] = _full_years(found, name, century_from)
    for pattern in _PARTIAL:
        rows = np.flatnonzero(years < 0)
        found = texts.gather(rows).str.extract(pattern, 1).cast(pl.Int64, strict=False).fill_null(-1)
        years[rows] = found.to_numpy()
    epoch = is_epoch(values)
    if epoch.any():
        seconds = values.filter(epoch).cast(pl.Int64).to_numpy()
        seconds = np.where(seconds >= EPOCH_SECONDS[0] * 1000, seconds // 1000, seconds)
        years[epoch] = pl.Series(seconds * 1000).cast(pl.Datetime("ms")).dt.year().to_numpy()
    return years


def _short_years(parts: pl.DataFrame, name: str, order: DateOrder | None) -> pl.Series:
    """The two digits of the year: last by day-month or month-day, first by year-month-day."""
    if order is None:
        first, last = (int(parts[part].cast(pl.Int64).max() or 0) for part in ("p", "r"))  # type: ignore[arg-type]
        if (first > 31) == (last > 31):
            raise _ambiguous(name, "dates such as 01/02/03: which number is the year")
        order = "ymd" if first > 31 else "dmy"
    return parts["p" if order == "ymd" else "r"]


def _full_years(years: pl.Series, name: str, century_from: int | None) -> Array:
    """Four digits as they are, two by the century that somebody decided."""
    found = years.cast(pl.Int64).to_numpy()
    short = (years.str.len_bytes() == 2).to_numpy()
    if short.any():
        if century_from is None:
            raise InputError(
                f"Column '{name}' has years of two digits: of which century?",
                Message(
                    "Say the first year that they can mean, for example {century_from=1930} (30 is 1930, 29 is 2029)."
                ),
            )
        found = np.where(short, century_from + (found - century_from) % 100, found)
    return np.asarray(found)


def _ambiguous(name: str, what: str) -> InputError:
    return InputError(f"Column '{name}' has {what}?", Message("Say it with `{date_order}` dmy, mdy or ymd."))


class Days(NamedTuple):
    """Days since 1970 of texts that are whole dates, with what is needed to write other days in the same way."""

    days: Array
    written: Written
    orders: Array  # per text: the order of its parts, such as dmy; `M` is a month's name
    padded: Array  # per text: numbers of one digit have a zero in front
    months: tuple[str, ...]  # the names of months as the texts write them


def days_of(texts: pl.Series, name: str, order: DateOrder | None = None, century_from: int | None = None) -> Days:
    """Whole dates as days; what is not one, and what can be read in two ways, is an error.

    >>> days_of(pl.Series(["1970-01-02", "1970-01-31"]), "admitted").days.tolist()
    [1, 30]
    """
    check_choice("date order", order or "dmy", get_args(DateOrder))
    written = whole_dates(texts)
    unreadable = int((written.form < 0).sum())
    if unreadable:
        raise InputError(
            f"Column '{name}' has {unreadable:,} different values that are no whole dates.",
            Message("Fix them, leave the column out, or say {unreadable='blank'}, which empties those cells."),
        )
    orders = np.array([parts for parts, _ in _WHOLE], dtype="U3")[written.form]
    separators = written.parts["g"].fill_null("").to_numpy().astype("U1")
    for loose in ("??y", "???"):
        for separator in np.unique(separators[orders == loose]).tolist():
            rows = np.flatnonzero((orders == loose) & (separators == separator))
            orders[rows] = _decided_order(written.parts[rows], name, loose, order)
    numbers = {part: _part(written.parts, orders, part, name, century_from) for part in "dmy"}
    found = pl.DataFrame(numbers).select(pl.date("y", "m", "d")).to_series() if _possible(numbers, name) else None
    assert found is not None
    names = written.parts["q"].zip_with(pl.Series(np.char.startswith(orders, "d")), written.parts["p"])
    written_names = names.filter(pl.Series(np.char.count(orders, "M") > 0)).unique().to_list()
    short = pl.DataFrame({part: written.parts[part].str.contains(r"^\d$") for part in ("p", "q", "r")})
    # by the way of writing: where any date of it shows a number of one digit, none gets a zero
    unpadded = written.form[short.select(pl.any_horizontal(pl.all())).to_series().to_numpy()]
    return Days(
        found.to_physical().cast(pl.Int64).to_numpy(),
        written,
        orders,
        ~np.isin(written.form, unpadded),
        _months_as(written_names, name),
    )


def _months_as(words: list[str], name: str) -> tuple[str, ...]:
    """The names of all months in the language, the length and the case of some.

    >>> _months_as(["MÄRZ", "DEZEMBER"], "seen")[:3], _months_as(["Mar", "Aug"], "seen")[11]
    (('JANUAR', 'FEBRUAR', 'MÄRZ'), 'Dec')
    """
    known = month_words()
    spoken = [{language for language, _, _ in known.get(word.lower(), ())} for word in words]
    languages = [language for language in MONTHS_BY_LANGUAGE if all(language in some for some in spoken)]
    if not languages:
        raise InputError(f"Column '{name}' names months in several languages.", "Write them in one of them.")
    short = SHORT_MONTHS_BY_LANGUAGE[languages[0]]
    is_short = {plain(word) for word in words} <= set(plain(short).split()) and bool(words)
    names = (short if is_short else MONTHS_BY_LANGUAGE[languages[0]]).split()
    case = str.upper if words and all(map(str.isupper, words)) else str.title
    case = str.lower if words and all(map(str.islower, words)) else case
    return tuple(map(case, names))


def _decided_order(parts: pl.DataFrame, name: str, loose: str, order: DateOrder | None) -> str:
    """Which number is the day: as decided, or as a number above 12 proves for all dates written so."""
    if order == "ymd" and loose != "???":
        raise InputError(f"Column '{name}' has dates whose year is last.", Message("Use `{date_order}` dmy or mdy."))
    if order is not None:
        return order
    first, second, third = (int(parts[part].cast(pl.Int64).max() or 0) for part in ("p", "q", "r"))  # type: ignore[arg-type]
    if loose == "???" and (first > 31) == (third > 31):
        raise _ambiguous(name, "dates such as 01/02/03: which number is the year")
    if loose == "???" and first > 31:
        return "ymd"
    if (first > 12) == (second > 12):
        what = "dates such as 13/02 and 02/13 in one column" if first > 12 else "dates such as 03/04/2012"
        raise _ambiguous(name, f"{what}: which number is the month")
    return "dmy" if first > 12 else "mdy"


def _part(parts: pl.DataFrame, orders: Array, part: str, name: str, century_from: int | None) -> Array:
    """Days, months or years as numbers."""
    place = np.char.find(np.char.lower(orders), part)
    texts = parts["p"].zip_with(pl.Series(place == 0), parts["q"].zip_with(pl.Series(place == 1), parts["r"]))
    if part == "y":
        return _full_years(texts, name, century_from)
    numbers = {word: readings[0][1] for word, readings in month_words().items()}
    months = texts.str.to_lowercase().replace_strict(numbers, default=None, return_dtype=pl.Int64)
    return texts.cast(pl.Int64, strict=False).fill_null(months).fill_null(0).to_numpy()


def _possible(numbers: dict[str, Array], name: str) -> bool:
    """Whether all days exist in the calendar."""
    valid = (numbers["m"] >= 1) & (numbers["m"] <= 12) & (numbers["d"] >= 1) & (numbers["y"] >= 1)
    if valid.all():
        first = pl.DataFrame(numbers).select(pl.date("y", "m", 1)).to_series()
        valid = numbers["d"] <= first.dt.month_end().dt.day().to_numpy()
    if not valid.all():
        raise InputError(
            f"Column '{name}' has {int((~valid).sum()):,} different dates that no calendar has.",
            Message("Fix them, or say another `{date_order}`."),
        )
    return True


def write_days(days: Array, which: Array, like: Days) -> pl.Series:
    """New days, each in the way in which the text number `which` was written.

    >>> like = days_of(pl.Series(["13/4/2012 10:15"]), "admitted")
    >>> write_days(like.days + 2, np.array([0]), like).to_list()
    ['15/4/2012 10:15']
    """
    dates = pl.Series(days).cast(pl.Int32).cast(pl.Date)
    years, months, numbers = dates.dt.year(), dates.dt.month(), dates.dt.day()
    pad = pl.Series(like.padded[which])
    kinds = like.orders.view("U1").reshape(-1, 3)[which]
    parts = like.written.parts[which]
    four = years.cast(pl.String).str.zfill(4)
    two = (years % 100).cast(pl.String).str.zfill(2)
    written = {
        "d": _number(numbers, pad),
        "m": _number(months, pad),
        "M": pl.Series(like.months).gather((months - 1).cast(pl.UInt32)),
    }
    out = pl.Series([""]).new_from_index(0, len(days))
    for place, (part, glue) in enumerate((("p", "g"), ("q", "h"), ("r", "clock"))):
        here = pl.Series(kinds[:, place])
        year = two.zip_with(parts[part].str.len_bytes() == 2, four)
        text = year
        for kind, texts in written.items():
            text = texts.zip_with(here == kind, text)
        # "th" of the old day would tell something of it
        out = out + text + parts[glue].fill_null("").str.replace(r"^(?:st|nd|rd|th)", "")
    return out


def _number(numbers: pl.Series, pad: pl.Series) -> pl.Series:
    plain = numbers.cast(pl.String)
    return plain.str.zfill(2).zip_with(pad, plain)


# How the dates of a column are written, as `strftime` formats: found from the column, or given.


ISO = "%Y-%m-%d"
ISO_MOMENT = "%Y-%m-%d %H:%M:%S%.f"
_CLOCK_FORMAT = (
    r"^(?<lead>[T ,]?\s*)(?<h>\d{1,2})(?<colon>:?)(?<m>\d{2})(?<s>:?\d{2})?(?<f>\.\d+)?(?<half>\s*[AaPp][Mm])?"
    r"(?<zone>\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$"
)


def has_clock(formats: tuple[str, ...]) -> bool:
    """Whether dates are written with a time of day.

    >>> has_clock(("%d.%m.%Y %H:%M",)), has_clock(("%d.%m.%Y",))
    (True, False)
    """
    return any(sign in entry for entry in formats for sign in ("%H", "%I", "%-H", "%-I", "%M"))


def read_dates(texts: pl.Series, formats: tuple[str, ...], century_from: int | None = None) -> pl.Series:
    """Texts as dates or moments by the first format that fits; null where none does.

    >>> read_dates(pl.Series(["03/14/2021", "soon"]), ("%m/%d/%Y",)).to_list()
    [datetime.date(2021, 3, 14), None]
    """
    clock = has_clock(formats)
    plain = texts.str.strip_chars()
    found = pl.Series([None], dtype=pl.Datetime("us") if clock else pl.Date).new_from_index(0, len(texts))
    for entry in formats:
        left = found.is_null().arg_true()
        texts_left = plain.gather(left)
        spelled = entry.replace("%^", "%")
        if has_clock((entry,)):
            dates = texts_left.str.to_datetime(spelled, strict=False, time_unit="us")
        else:
            dates = texts_left.str.to_date(spelled, strict=False).cast(found.dtype)
        if "%y" in entry and century_from is not None:
            # chrono's own century is a guess; 29 February may not be a day in the other
            years = century_from + (dates.dt.year() - century_from) % 100
            leap = (years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))
            dates = dates.set(((dates.dt.month() == 2) & (dates.dt.day() == 29) & ~leap).fill_null(False), None)
            dates = dates.to_frame("").select(pl.col("").dt.replace(year=years)).to_series()
        found = found.scatter(left, dates)
    return found


def write_dates(dates: pl.Series, format: str) -> pl.Series:
    """Dates as texts; `%^b` is a month's name in capitals.

    >>> from datetime import date
    >>> write_dates(pl.Series([date(2021, 3, 4)]), "%-d %^b %Y").to_list()
    ['4 MAR 2021']
    """
    texts = dates.dt.strftime(format.replace("%^", "%"))
    return texts.str.to_uppercase() if "%^" in format else texts


def inferred_formats(texts: pl.Series, name: str) -> tuple[str, ...]:
    """The formats in which the dates of a column are written, the most frequent first; a doubt is an error.

    A time zone is written as it stands, and moments are those of its clock; of several zones none is chosen.

    >>> inferred_formats(pl.Series(["03/14/2021", "12/01/2020"]), "seen")
    ('%m/%d/%Y',)
    >>> inferred_formats(pl.Series(["2021-03-14T10:15:00Z", "2021-03-15T08:00:00Z"]), "seen")
    ('%Y-%m-%dT%H:%M:%SZ',)
    """
    try:
        days = days_of(texts.str.strip_chars(), name)
    except InputError as error:
        raise InputError(error.what, _cure(name)) from None
    parts, places = days.written.parts, ("p", "q", "r")
    kinds = days.orders.view("U1").reshape(-1, 3)
    letter = ("%^" if days.months[0].isupper() else "%") + ("B" if len(days.months[0]) > 4 else "b")
    pad = pl.Series(np.where(days.padded, "%", "%-"))
    out = pl.Series([""]).new_from_index(0, len(texts))
    for place, (part, glue) in enumerate(zip(places, ("g", "h", None), strict=True)):
        here = pl.Series(kinds[:, place])
        year = pl.Series(["%Y"]).new_from_index(0, len(texts)).set(parts[part].str.len_bytes() == 2, "%y")
        text = year.set(here == "M", letter)
        text = (pad + "d").zip_with(here == "d", (pad + "m").zip_with(here == "m", text))
        out = out + text + (_clock(parts["clock"], name) if glue is None else parts[glue].fill_null(""))
    counts = out.value_counts(sort=True)
    formats = tuple(counts.sort(["count", ""], descending=[True, False])[""].to_list())
    if any("%y" in entry for entry in formats):
        raise InputError(f"Column '{name}' has years of two digits: of which century?", _cure(name, True))
    if read_dates(texts, formats).null_count():
        raise InputError(f"Column '{name}' has dates in a writing that cannot be written again.", _cure(name))
    return formats


def _clock(clocks: pl.Series, name: str) -> pl.Series:
    """The times of day behind dates as formats; none is made of a time that could not be read by it."""
    found = clocks.str.extract_groups(_CLOCK_FORMAT).struct.unnest()
    if (found["h"].is_null() & (clocks.fill_null("") != "")).any():
        raise InputError(f"Column '{name}' has dates in a writing that cannot be written again.", _cure(name))
    if found["zone"].str.strip_chars().filter(found["h"].is_not_null()).n_unique() > 1:
        raise InputError(
            f"Column '{name}' has times of several time zones: which of them counts its days?",
            f"Write them in one zone, or declare the column: {name}: {{type: text}}.",
        )
    half = found["half"].is_not_null()
    hour = pl.Series(["%H"]).new_from_index(0, len(clocks)).set(half, "%-I")
    colon = found["colon"]
    nothing = pl.Series([""]).new_from_index(0, len(clocks))
    seconds = nothing.zip_with(found["s"].is_null(), colon + "%S")
    fractions = nothing.set(found["f"].is_not_null(), "%.f")
    behind = nothing.set(half, " %p") + found["zone"].fill_null("")
    return (found["lead"] + hour + colon + "%M" + seconds + fractions + behind).fill_null("")


def _cure(name: str, century: bool = False) -> str:
    more = ", century_from: 1930" if century else ""
    year = "%y" if century else "%Y"
    return (
        f'Say in its type how dates are written: {name}: {{type: date, format: "%d/%m/{year}"{more}}}, '
        f'or "%m/%d/{year}". Name texts that are not dates under `missing`, or declare it text.'
    )
