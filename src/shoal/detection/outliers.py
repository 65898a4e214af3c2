"""Identifiers in few cells of a column: those that a pattern knows, and cells of another form among codes.

Among `A1`, `B7` and `C3` the one cell `501510691` is not a code of the list. Rare values of a rare form are looked
at, and only where nearly all other records hold codes or words that come again.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.identifiers.inside import inside
from shoal.identifiers.lists import ALL_NAMES
from shoal.storage import Array
from shoal.storage.folding import fold

_FEW = 0.2
_LEAST_RECORDS = 20
# sums end in noughts
_ROUND = 100
# a day, a month by whatever name, a year
_DATED = r"^\d{1,2}\.? \p{L}{3,}\.?,? (?:1[89]|20|21)\d{2}$"
# what is written in digits may be a code of a list (of drugs: 50090-0876): few codes, each in so many records
_NUMBERS_OF_LISTS = frozenset({"postal-code", "phone", "account-number"})
_LISTED, _LIST = 5, 0.1
_NAME_WORD = r"[\p{Lu}][\p{L}'’.-]*"
_NAME = rf"^{_NAME_WORD}(?:,? {_NAME_WORD}){{1,3}}$"


def inside_cells(values: pl.Series, counts: Array) -> dict[str, Array]:
    """Which distinct texts hold an identifier, by kind; numbers that are codes of a list are none.

    >>> sorted(inside_cells(pl.Series(["call 617-555-0172", "stable"]), np.array([1, 8])))
    ['phone']
    """
    kinds = inside(values) if values.dtype == pl.String else {}
    if not kinds or not set(kinds) <= _NUMBERS_OF_LISTS:
        return kinds
    hits = np.logical_or.reduce(list(kinds.values()))
    listed = counts[hits].min() >= _LISTED and hits.sum() <= _LIST * counts.sum()
    return {} if listed else kinds


def outliers(values: pl.Series, counts: Array) -> dict[str, Array]:
    """Which distinct values stand out, by clause: (A) words written as names are, (R) numbers and codes.

    >>> found = outliers(pl.Series(["A1", "B7", "501510691", "Jon Bird"]), np.array([60, 50, 1, 1]))
    >>> {clause: hits.tolist() for clause, hits in found.items()}
    {'A': [False, False, False, True], 'R': [False, False, True, False]}
    """
    total = int(counts.sum())
    if total < _LEAST_RECORDS:
        return {}
    if values.dtype.is_numeric():
        hits_by_clause = {"R": _numbers(values, counts)}
    elif values.dtype == pl.String:
        texts = fold(values).str.strip_chars()
        hits_by_clause = {"A": _names(texts, counts), "R": _codes(texts, counts)}
    else:
        return {}
    hits_by_clause = {clause: hits & (counts <= 2) for clause, hits in hits_by_clause.items()}
    return {
        clause: hits for clause, hits in hits_by_clause.items() if hits.any() and counts[hits].sum() <= _FEW * total
    }


def _rare_forms(texts: pl.Series, counts: Array) -> Array:
    """Values whose form (runs of digits and letters as one sign each) few records have."""
    forms = texts.str.replace_all(r"\p{L}+", "a").str.replace_all(r"\d+", "9").str.replace_all(r"\s+", " ")
    frame = pl.DataFrame({"form": forms, "count": counts.astype(np.int64)})
    shares = frame.select(pl.col("count").sum().over("form") / pl.col("count").sum()).to_series().to_numpy()
    return np.asarray(shares <= _FEW)


def _codes(texts: pl.Series, counts: Array) -> Array:
    """Long numbers and codes of a rare form, or far longer than the others."""
    length = texts.str.len_chars().to_numpy()
    digits = texts.str.count_matches(r"\d").to_numpy()
    letters = texts.str.count_matches(r"\p{L}").to_numpy()
    blanks = texts.str.count_matches(" ").to_numpy()
    order = np.argsort(length, kind="stable")
    usual = int(length[order][np.searchsorted(np.cumsum(counts[order]), 0.8 * counts.sum())])
    odd = _rare_forms(texts, counts) | (length >= usual + 4)
    coded = (digits + letters >= 6) & (digits >= 3) & ((blanks <= 1) | (letters <= 4))
    plain_number = (digits >= 5) & (letters == 0)
    dated = texts.str.contains(_DATED).fill_null(False).to_numpy()
    longer = plain_number & (digits == length) & (length >= usual + 2) & _come_again(counts)
    return np.asarray(odd & (coded | plain_number | dated) | longer)


def _come_again(counts: Array) -> bool:
    """Whether nearly all records hold a code that others hold too."""
    return bool(counts[counts > 2].sum() >= (1 - _FEW) * counts.sum())


def _names(texts: pl.Series, counts: Array) -> Array:
    """Words written as names are, where the other records hold none; one word only if it is a frequent name."""
    written = texts.str.contains(_NAME).fill_null(False).to_numpy()
    one = texts.str.contains(r"^[\p{Lu}][\p{L}'’-]+$").fill_null(False).to_numpy()
    if one.any():
        known = texts.str.to_lowercase().is_in(sorted(ALL_NAMES)).fill_null(False).to_numpy()
        written |= one & known
    if not _come_again(counts) or (written & (counts > 2)).any():
        return np.zeros(len(texts), bool)
    return written


def _numbers(values: pl.Series, counts: Array) -> Array:
    """Whole numbers with at least five digits and three more than nearly all others have; two more than codes have."""
    listed = _come_again(counts)
    whole = np.ones(len(values), bool) if not values.dtype.is_float() else (values == values.floor()).to_numpy()
    if not listed and not whole.all():
        return np.zeros(len(values), bool)
    numbers = np.abs(values.cast(pl.Float64).fill_null(0.0).to_numpy())
    digits = np.floor(np.log10(np.maximum(numbers, 1))) + 1
    order = np.argsort(digits, kind="stable")
    usual = float(digits[order][np.searchsorted(np.cumsum(counts[order]), 0.8 * counts.sum())])
    between = counts[(digits > usual) & (digits < usual + 3)].sum()
    # amounts of a long tail: many records have one digit less, as of numbers drawn from one length a tenth at most has
    held = np.bincount(digits.astype(np.int64), counts)
    whole &= held[digits.astype(np.int64) - 1] < held[digits.astype(np.int64)] / 4
    far = whole & (digits >= usual + 3) & (digits >= 5)
    if listed:
        return np.asarray(far | whole & (digits >= max(usual + 2, 5)) & (numbers % _ROUND != 0))
    return far if between <= 0.01 * counts.sum() else np.zeros(len(values), bool)
