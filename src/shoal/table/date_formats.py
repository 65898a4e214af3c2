"""How the dates of a column are written, as `strftime` formats: found from the column, or given."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table.dates import days_of

ISO = "%Y-%m-%d"
ISO_MOMENT = "%Y-%m-%d %H:%M:%S%.f"
_CLOCK = r"^(?<lead>[T ,]\s*)(?<h>\d{1,2}):(?<m>\d{2})(?<s>:\d{2})?(?<f>\.\d+)?(?<half>\s*[AaPp][Mm])?$"


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
        spelled = entry.replace("%^", "%")
        if has_clock((entry,)):
            dates = plain.str.to_datetime(spelled, strict=False, time_unit="us")
        else:
            dates = plain.str.to_date(spelled, strict=False).cast(found.dtype)
        if "%y" in entry and century_from is not None:
            # chrono's own century is a guess; 29 February may not be a day in the other
            years = century_from + (dates.dt.year() - century_from) % 100
            leap = (years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))
            dates = dates.set(((dates.dt.month() == 2) & (dates.dt.day() == 29) & ~leap).fill_null(False), None)
            dates = dates.to_frame("").select(pl.col("").dt.replace(year=years)).to_series()
        found = found.fill_null(dates)
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

    >>> inferred_formats(pl.Series(["03/14/2021", "12/01/2020"]), "seen")
    ('%m/%d/%Y',)
    """
    try:
        days = days_of(texts.str.strip_chars(), name)
    except InputError as error:
        raise InputError(error.what, _cure(name)) from None
    parts, places = days.written.parts, ("p", "q", "r")
    kinds = days.orders.view("U1").reshape(-1, 3)
    letter = "%^" if days.case == "upper" else "%"
    pad = pl.Series(np.where(days.padded, "%", "%-"))
    out = pl.Series([""]).new_from_index(0, len(texts))
    for place, (part, glue) in enumerate(zip(places, ("g", "h", None), strict=True)):
        here = pl.Series(kinds[:, place])
        year = pl.Series(["%Y"]).new_from_index(0, len(texts)).set(parts[part].str.len_bytes() == 2, "%y")
        text = year.set(here == "M", letter + ("B" if days.full_names else "b"))
        text = (pad + "d").zip_with(here == "d", (pad + "m").zip_with(here == "m", text))
        out = out + text + (_clock(parts["clock"]) if glue is None else parts[glue].fill_null(""))
    counts = out.value_counts(sort=True)
    formats = tuple(counts.sort(["count", ""], descending=[True, False])[""].to_list())
    if any("%y" in entry for entry in formats):
        raise InputError(f"Column '{name}' has years of two digits: of which century?", _cure(name, True))
    if read_dates(texts, formats).null_count():
        raise InputError(f"Column '{name}' has dates in a writing that cannot be written again.", _cure(name))
    return formats


def _clock(clocks: pl.Series) -> pl.Series:
    """The times of day behind dates as formats."""
    found = clocks.str.extract_groups(_CLOCK).struct.unnest()
    half = found["half"].is_not_null()
    hour = pl.Series(["%H"]).new_from_index(0, len(clocks)).set(half, "%-I")
    seconds = pl.Series([""]).new_from_index(0, len(clocks)).set(found["s"].is_not_null(), ":%S")
    seconds = seconds.set(found["f"].is_not_null(), ":%S%.f")
    behind = pl.Series([""]).new_from_index(0, len(clocks)).set(half, " %p")
    return (found["lead"] + hour + ":%M" + seconds + behind).fill_null(clocks.fill_null(""))


def _cure(name: str, century: bool = False) -> str:
    more = ", century_from: 1930" if century else ""
    year = "%y" if century else "%Y"
    return (
        f'Say in its type how dates are written: {name}: {{type: date, format: "%d/%m/{year}"{more}}}, '
        f'or "%m/%d/{year}". Name texts that are not dates under `missing`, or declare it text.'
    )
