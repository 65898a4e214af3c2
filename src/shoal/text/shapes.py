"""Shapes of record numbers that recur in a corpus: what stands in many notes as `TR-20931`, `TR-11874`, `TR-50022`.

A code alone tells little; its neighbours in the same column tell that it is one of a series. A shape is a code with
each letter as `A` and each digit as `0`. Digits without a letter or sign are of a series only where as many of them
stand behind a word for a record somewhere in the column, again and again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import polars as pl

from shoal.text.terms import by_key

CODE = r"[A-Za-z]{0,6}[-/._]?\d[A-Za-z\d]*(?:[-/._][A-Za-z\d]+)*"
# so many notes and values must share a shape
_LEAST = 3
_LEAST_DIGITS = 4
_LONGEST = 24
# decimal numbers, spans of years, times and dates have shapes too
_NO_SERIES = re.compile(
    r"0+(?:\.0+)+|0{1,3}([-/])0{1,3}|0000([-/])0000|0000-00|00?([-/.])00?([-/.])0{2,4}|0+A{1,3}|A0\.0+|0+-A+"
)
_AT_ONCE = 20_000


def recurring_shapes(texts: Sequence[str | None]) -> frozenset[str]:
    """The shapes that recur in some texts with varying digits.

    >>> sorted(recurring_shapes(["see TR-20931", "TR-11874 is in", "for TR-50022", "12.30 and 4/10"]))
    ['AA-00000']
    """
    texts = list(dict.fromkeys(texts))
    pairs = [_codes(texts[first : first + _AT_ONCE], first) for first in range(0, len(texts), _AT_ONCE)]
    if not pairs:
        return frozenset()
    codes = pl.concat(pairs).unique()
    codes = codes.with_columns(shape=_shape(pl.col("code")))
    counted = codes.group_by("shape").agg(
        pl.col("code").n_unique().alias("values"),
        pl.col("text").n_unique().alias("texts"),
        pl.col("code").filter(pl.col("labelled")).n_unique().alias("labelled"),
    )
    kept = counted.filter((pl.col("values") >= _LEAST) & (pl.col("texts") >= _LEAST))
    rows = kept.select("shape", "labelled").iter_rows()
    return frozenset(
        shape
        for shape, labelled in rows
        if (labelled >= _LEAST if shape.strip("0") == "" else _NO_SERIES.fullmatch(shape) is None)
    )


def shape_of(code: str) -> str:
    """A code with its letters as `A` and its digits as `0`.

    >>> shape_of("TR-20931")
    'AA-00000'
    """
    return re.sub(r"[A-Za-z]", "A", re.sub(r"\d", "0", code))


def _shape(codes: pl.Expr) -> pl.Expr:
    return codes.str.replace_all(r"[0-9]", "0").str.replace_all(r"[A-Za-z]", "A")


def _codes(texts: Sequence[str | None], first: int) -> pl.DataFrame:
    """The codes of some texts: which text, the code, and whether a word for a record stands before it."""
    series = pl.Series("code", texts, dtype=pl.String)
    digits = pl.col("code").str.count_matches(r"[0-9]")
    found = []
    for labelled, pattern in ((False, rf"\b{CODE}\b"), (True, r"\b[A-Za-z°º]+[\s.:#°º]{1,3}[0-9]{5,8}\b")):
        frame = pl.DataFrame({"code": series.str.extract_all(pattern)}).with_row_index("text", first)
        frame = frame.explode("code", empty_as_null=True).drop_nulls()
        if labelled:
            word = pl.col("code").str.extract(r"^([A-Za-z°º]+)").str.to_lowercase()
            frame = frame.filter(word.is_in(_lasts())).with_columns(pl.col("code").str.extract(r"([0-9]+)$"))
        frame = frame.filter((digits >= _LEAST_DIGITS) & (pl.col("code").str.len_bytes() <= _LONGEST))
        found.append(frame.with_columns(labelled=pl.lit(labelled)))
    return pl.concat(found)


@cache
def _lasts() -> list[str]:
    """The last words of the labels of a record."""
    words = {label.split(" ")[-1] for label in by_key("labels")["record_number"]} | {"no", "nr", "id", "number", "n°"}
    return sorted(words)
