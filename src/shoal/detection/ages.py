"""Ages over 89 to one group, `90+`, in whatever unit or group they are written."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.identifiers.dates import DAYS, MONTHS
from shoal.identifiers.header import read_header, words
from shoal.storage import Array
from shoal.storage.folding import fold

OLD = "90+"
LIMIT = 90
# Nobody is older: such numbers are codes for something else, and are emptied.
_OLDEST = 125
_WEEKS = words("weeks, week, settimane, wochen, semaines, semanas, weken")
_NUMBER = r"^(\d{1,3})(?:[.,]\d+)?\s*(?i:(?:y|yr|yrs|year|years|y/?o|anni|jahre|ans|anos|años|jaar)\b.*)?$"
_PARTS = (
    (r"(?i)^(\d{1,5})\s*(?:d|days?|giorni|tage|jours|dias)\b.*$", 365.0),
    (r"(?i)^(\d{1,4})\s*(?:w|wks?|weeks?)\b.*$", 52.0),
    (r"(?i)^(\d{1,4})\s*(?:m|mos?|months?|mesi|monate|mois|meses)\b.*$", 12.0),
    (r"(?i)^(\d{1,6})\s*(?:h|hrs?|hours?)\b.*$", 8760.0),
)
_RANGE = r"^[\[(]?\s*(\d{1,3})\s*(?:-|\u2013|\u2014|to|a|bis|;|,|/)\s*(\d{1,3})\s*[\])]?(?:\s*\p{L}+)?$"
_GROUP_END = r"\s*(\d{1,3})(?:\s*\p{L}+)?$"
_UNDER = r"(?i)^(?:<|≤|<=|less than|under|up to|younger than|unter|bis|meno di|fino a|moins de|menos de)" + _GROUP_END
_OVER = r"(?i)^(?:>|≥|>=|over|older than|greater than|more than|über|ab|oltre|plus de|más de|mayor de)" + _GROUP_END
_AND_OVER = r"(?i)^(\d{1,3})\s*(?:\+|and over|and older|or older|and above)$"


def per_year(name: str) -> float:
    """How many units of the column make a year, by its header.

    >>> per_year("age_months"), per_year("age")
    (12.0, 1.0)
    """
    header = read_header(name)
    for book, units in ((DAYS, 365.0), (_WEEKS, 52.0), (MONTHS, 12.0)):
        if book.heard(header)[0]:
            return units
    return 1.0


def top_coded(values: pl.Series, name: str) -> tuple[pl.Series, Array]:
    """The released text of each distinct age, and which of them are over 89; what cannot be read becomes null.

    >>> released, old = top_coded(pl.Series(["89", "90", "85-94", "95 years", "old"]), "age")
    >>> released.to_list(), old.tolist()
    (['89', '90+', '85+', '90+', None], [False, True, False, True, False])
    """
    if values.dtype.is_numeric():
        numbers = values.cast(pl.Float64).to_numpy() / per_year(name)
        old = (numbers >= LIMIT) & (numbers <= _OLDEST)
        texts = _numbers_as_text(values)
        released = texts.zip_with(pl.Series((numbers >= 0) & (numbers <= _OLDEST)), _nothing(len(texts)))
        return _old(released, old), old
    written = values.cast(pl.String).str.strip_chars()
    texts = fold(written).str.strip_chars()
    single = texts.str.extract(_NUMBER, 1).cast(pl.Int64)
    low, high = (texts.str.extract(_RANGE, group).cast(pl.Int64) for group in (1, 2))
    under = texts.str.extract(_UNDER, 1).cast(pl.Int64)
    over = texts.str.extract(_OVER, 1).cast(pl.Int64).fill_null(texts.str.extract(_AND_OVER, 1).cast(pl.Int64))
    per = per_year(name)
    least = single.fill_null(low).fill_null(over).cast(pl.Float64) / per
    for pattern, units in _PARTS:
        least = least.fill_null(texts.str.extract(pattern, 1).cast(pl.Float64) / units)
    # over 89 is 90 and older
    very_old = (least >= LIMIT).fill_null(False) | (texts.str.contains(_OVER) & (over == LIMIT - 1)).fill_null(False)
    crosses = (high.cast(pl.Float64) / per >= LIMIT).fill_null(False) & ~very_old
    readable = least.is_not_null() | under.is_not_null()
    readable &= ~(least > _OLDEST).fill_null(False)
    # under 95 years: the age may be over 89, so the group says nothing that may stay
    readable &= ~(under.cast(pl.Float64) / per > LIMIT).fill_null(False)
    released = written.zip_with(~crosses, low.cast(pl.String) + "+").zip_with(readable, _nothing(len(texts)))
    over_89 = (very_old & readable).to_numpy()
    return _old(released, over_89), over_89


def _nothing(count: int) -> pl.Series:
    return pl.Series([None], dtype=pl.String).new_from_index(0, count)


def _old(texts: pl.Series, old: Array) -> pl.Series:
    return texts.zip_with(pl.Series(~old), pl.Series([OLD]).new_from_index(0, len(texts)))


def _numbers_as_text(values: pl.Series) -> pl.Series:
    """Whole numbers without decimals."""
    if values.dtype.is_float() and bool((values == values.floor()).all()):
        return values.cast(pl.Int64).cast(pl.String)
    return values.cast(pl.String)


def still_old(values: pl.Series, name: str) -> int:
    """How many distinct values tell an age over 89 other than as the one group.

    >>> still_old(pl.Series(["34", "90+"]), "age"), still_old(pl.Series([34, 91]), "age")
    (0, 1)
    """
    others = values if values.dtype.is_numeric() else values.filter(values.cast(pl.String) != OLD)
    released, old = top_coded(others, name)
    return int(np.count_nonzero(old)) + int(released.null_count())
