"""What a header alone does not prove: columns whose values are of one's own, whatever their header says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from shoal.detection.roles import RECORDS_THAT_TELL, propose_role
from shoal.kinds import DECIDED, ColumnView, Finding, find_kinds
from shoal.kinds.header import read_header
from shoal.standards.hipaa.clauses import CLAUSE_OF_KIND, Treatment
from shoal.table import Array, Column
from shoal.table.fold import fold

BY_HEADER = "Only its header says what it holds: you have looked at its values, and they identify nobody."
MIXED = "Some of its values are of another kind: you have looked at them, and they identify nobody."
OWN = "Only its header says what it holds, and nearly every record has a value of its own."
AGES = "Its numbers may be ages: those over 89 were put together."
ZIPS = "Its numbers may be ZIP codes: three digits were kept."
# Headers that say nothing: x1, col_7, field, value.
_OPAQUE = frozenset(
    word
    for words in (
        ("x", "y", "z", "v", "w", "u", "a", "b", "c", "d", "e", "f", "g", "h", "q", "var", "variable", "col", "column"),
        ("field", "value", "val", "values", "item", "data", "info", "misc", "other", "attr", "attribute", "feature"),
        ("unnamed", "thing", "extra", "tmp", "temp", "text", "txt", "str", "num", "number", "no", "code", "entry"),
        ("content", "raw", "unknown", "answer", "response"),
    )
    for word in words
)
_NEARLY_OWN = 0.9
_LONG = 7
_SHORTEST = 6
_AMOUNT = r"^[$€£]?\s?-?\d{1,3}(?:[,.' ]\d{3})*(?:[.,]\d{1,2})?\s?(?:[$€£]|usd|eur)?$"
# Kinds whose values may well be short numbers.
_NUMBERED_KINDS = ("income", "procedure", "diagnosis", "medication")


def says_nothing(name: str) -> bool:
    """Whether a header names nothing.

    >>> says_nothing("col_7"), says_nothing("V12"), says_nothing("ward")
    (True, True, False)
    """
    tokens = read_header(name).tokens
    return all(token in _OPAQUE or token.isdecimal() for token in tokens)


def rests_on_header(column: Column, counts: Array, sure: list[Finding]) -> bool:
    """Whether no kind that was decided would be one without the header."""
    silent = find_kinds(ColumnView("", column.values, counts, int(counts.sum()) + column.nulls))
    decided = {finding.kind for finding in silent if finding.confidence >= DECIDED}
    return not decided & {finding.kind for finding in sure}


def by_own_values(column: Column, counts: Array) -> str | None:
    """Why a column that only its header explains must go: nearly everybody's own value, in a form that codes have."""
    known = int(counts.sum())
    if known < RECORDS_THAT_TELL or len(counts) < _NEARLY_OWN * known:
        return None
    if column.values.dtype.is_numeric():
        return "Nearly every record has a long number of its own, all of one length." if _fixed(column) else None
    texts = fold(column.values.cast(pl.String)).str.strip_chars()
    if float(texts.str.contains(f"(?i){_AMOUNT}").mean() or 0) >= _NEARLY_OWN:  # type: ignore[arg-type]
        return None
    # shorter ones are what lists of codes have: 99213, 250.10
    signs = texts.str.count_matches(r"[\p{L}\d]")
    if float((signs < _SHORTEST).mean() or 0) > 1 - _NEARLY_OWN:  # type: ignore[arg-type]
        return None
    if propose_role(column, counts, int(counts.sum()) + column.nulls, [])[0] == "identifier":
        return "Nearly every record has a text of its own."
    return None


def _fixed(column: Column) -> bool:
    """Whole numbers of seven digits or more, four fifths of them of one length."""
    values = column.values
    if values.dtype.is_float() and not bool((values == values.floor()).all()):
        return False
    lengths = values.cast(pl.Int64, strict=False).abs().cast(pl.String).str.len_bytes().drop_nulls().to_numpy()
    if not len(lengths):
        return False
    sizes, counts = np.unique(lengths, return_counts=True)
    return int(sizes[counts.argmax()]) >= _LONG and float(counts.max() / counts.sum()) >= 0.8


def looks_like_ages(column: Column, counts: Array) -> bool:
    """Many different whole numbers within a life, few of them over 89."""
    numbers = _whole(column)
    if numbers is None or len(counts) < RECORDS_THAT_TELL:
        return False
    old = counts[(numbers >= 90)].sum()
    within = bool(((numbers >= 0) & (numbers <= 115)).all())
    return within and 0 < old <= 0.25 * counts.sum() and bool((numbers < 60).any())


def looks_like_zips(column: Column, counts: Array) -> bool:
    """Many different numbers of five digits, or of four where a zero was lost."""
    if len(counts) < RECORDS_THAT_TELL / 2:
        return False
    if column.values.dtype == pl.String:
        texts = fold(column.values).str.strip_chars()
        return float(texts.str.contains(r"^\d{5}(?:-?\d{4})?$").mean() or 0) >= _NEARLY_OWN  # type: ignore[arg-type]
    numbers = _whole(column)
    if numbers is None:
        return False
    return bool(((numbers >= 501) & (numbers <= 99_950)).all()) and float((numbers >= 10_000).mean()) >= 0.7


def _whole(column: Column) -> Array | None:
    """The values as whole numbers; of texts those that nearly all are."""
    values = column.values
    if values.dtype == pl.String:
        values = fold(values).str.strip_chars().cast(pl.Float64, strict=False)
        if values.null_count() > 0.02 * len(values):
            return None
    if not values.dtype.is_numeric():
        return None
    numbers = values.cast(pl.Float64).fill_null(0.0).to_numpy()
    return numbers if bool((numbers == np.floor(numbers)).all()) else None


def doubted(kept: Treatment, column: Column, counts: Array, sure: list[Finding]) -> Treatment:
    """A column that is to stay, as it may: removed, kept in part, or with what a person must confirm."""
    by_header = bool(sure) and rests_on_header(column, counts, sure)
    if by_header:
        own = by_own_values(column, counts)
        if own is not None:
            reason = f"{own} Its header alone says '{sure[0].header}'."
            return Treatment(column.name, "R", "removed", None, "identifier", reason, recognised=False)
    numbered = by_header and sure[0].kind in _NUMBERED_KINDS
    if not sure or by_header:
        silent = says_nothing(column.name)
        if (silent or by_header) and looks_like_ages(column, counts):
            return Treatment(column.name, "C", "age", "age", "quasi-identifier", AGES, doubt=AGES)
        if (silent or (by_header and not numbered)) and looks_like_zips(column, counts):
            return Treatment(column.name, "B", "zip", "postal-code", "quasi-identifier", ZIPS, doubt=ZIPS)
    if by_header:
        nearly = len(counts) >= _NEARLY_OWN * int(counts.sum()) and len(counts) >= RECORDS_THAT_TELL
        return replace(kept, doubt=OWN if nearly else BY_HEADER)
    if sure and max(finding.share or 0.0 for finding in sure) < 1 and sure[0].kind not in CLAUSE_OF_KIND:
        return replace(kept, doubt=MIXED)
    return kept
