"""The role that a column seems to play, by the kind of its data or by how many of its values differ."""

from __future__ import annotations

from typing import cast

import polars as pl

from shoal.detection.named_by_header import is_amounts
from shoal.kinds import DECIDED, ROLE_OF_KIND, Finding
from shoal.table import Array, Column
from shoal.vocabulary import Role

# With fewer records, all values being different says nothing.
RECORDS_THAT_TELL = 20
# From this share of different values on, a column nearly tells records apart; from the other, codes may be persons'.
NEARLY_ALL = 0.95
MANY_CODES = 0.1
LONG_CODES = "Many different long codes: they may stand for persons."
# so many of the distinct values show whether a column is made of codes
_CODES_LOOKED_AT = 10_000


def propose_role(
    column: Column, counts: Array, records: int, kinds: list[Finding], measured: bool = False
) -> tuple[Role, float, list[str]]:
    """By the kind of data if one was recognised, else by whether all values differ; what is `measured` often does."""
    if kinds and kinds[0].confidence >= DECIDED:
        return cast(Role, ROLE_OF_KIND[kinds[0].kind]), kinds[0].confidence, [kinds[0].reason]
    hints = [kind.reason for kind in kinds[:1]]
    known = records - column.nulls
    if known >= RECORDS_THAT_TELL and not _has_fractions(column.dtype) and not measured:
        if len(counts) == known:
            return "identifier", 0.8, ["Every record has a value of its own.", *hints]
        if len(counts) >= NEARLY_ALL * known:
            return "identifier", 0.6, ["Almost every record has a value of its own.", *hints]
        if _looks_like_codes(column, known):
            return "identifier", 0.4, [LONG_CODES, *hints]
    if kinds:
        return cast(Role, ROLE_OF_KIND[kinds[0].kind]), kinds[0].confidence, hints
    return "other", 0.0, ["No rule recognised it: decide by what others may know of it."]


def _has_fractions(dtype: pl.DataType) -> bool:
    """Whether a type is of numbers with digits behind the decimal sign, which number nothing."""
    return dtype.is_float() or (isinstance(dtype, pl.Decimal) and dtype.scale > 0)


def is_measured(column: Column) -> bool:
    """Whether values are measured or counted: that all of them differ says nothing then."""
    if column.declared is not None:
        return column.declared.word in ("number", "date", "ordered", "band")
    return is_amounts(column)


def _looks_like_codes(column: Column, known: int) -> bool:
    """Many long words of letters and digits without spaces, as account and card numbers are."""
    if len(column.values) < max(RECORDS_THAT_TELL, MANY_CODES * known) or column.dtype.is_temporal():
        return False
    texts = column.values.gather_every(max(1, len(column.values) // _CODES_LOOKED_AT)).cast(pl.String)
    return float(texts.str.contains(r"^[\p{L}0-9_./-]{6,}$").mean() or 0) > 0.9 and bool(  # type: ignore[arg-type]
        texts.str.contains(r"[0-9]").any()
    )
