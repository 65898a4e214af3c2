"""Text folded for recognisers: one way of writing digits, dashes and blanks, whatever keyboard wrote them.

Full-width and Arabic digits, en dashes, no-break blanks and zero-width signs would hide a number from every pattern.
What is recognised is the folded text; what stays in a release is the original.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

import polars as pl

_PLAIN = r"^[\x20-\x7e]*$"
# signs without width, direction marks, soft hyphens, variation selectors
_INVISIBLE = r"[\p{Cf}\x{FE00}-\x{FE0F}\x{034F}\x{115F}\x{1160}\x{3164}]"
_DASHES = r"[\p{Pd}\x{2212}\x{2043}\x{02D7}\x{30FC}]"
_BLANKS = r"[\s\p{Z}\x{2800}]"
_SLASHES = r"[\x{2044}\x{2215}\x{29F8}]"
_DOTS = r"[\x{3002}\x{FF61}\x{2024}\x{00B7}\x{30FB}]"


def fold(texts: pl.Series) -> pl.Series:
    """Texts in NFKC with ASCII digits, plain dashes, slashes, dots and blanks, without invisible signs.

    >>> fold(pl.Series(["２０１２－０３－０４", "\u0662\u0660", "501\u201351\u20130691", "7\u200b7\u00a0a"])).to_list()
    ['2012-03-04', '20', '501-51-0691', '77 a']
    """
    if texts.dtype != pl.String:
        return texts
    odd = ~texts.str.contains(_PLAIN).fill_null(True)
    if not odd.any():
        return texts
    places = odd.arg_true()
    folded = (
        texts.gather(places)
        .str.normalize("NFKC")
        .str.replace_all(_INVISIBLE, "")
        .str.replace_all(_DASHES, "-")
        .str.replace_all(_SLASHES, "/")
        .str.replace_all(_DOTS, ".")
        .str.replace_all(_BLANKS, " ")
    )
    if folded.str.contains(r"[\p{Nd}--[0-9]]").any():
        signs, digits = _digits()
        folded = folded.str.replace_many(signs, digits)
    return texts.clone().scatter(places, folded)


@cache
def _digits() -> tuple[list[str], list[str]]:
    """All decimal digits of Unicode but the ASCII ones, and what they stand for."""
    signs = [chr(code) for code in range(128, sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Nd"]
    return signs, [str(unicodedata.decimal(sign)) for sign in signs]


_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_PARTED = r"^(\d{4})\s*([-_/.])\s*(\d{1,2})\s*[-_/.]\s*(\d{1,2})(?:$|([T ].*)$)"
_PARTED_LAST = r"^(\d{1,2})\s*([-_/.])\s*(\d{1,2})\s*[-_/.]\s*(\d{4})(?:$|([T ].*)$)"
_CJK = r"^(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일号]?"
_WEEK_DAY = r"^(\d{4})-?[Ww](\d{2})-?[1-7]$"


def plain_dates(texts: pl.Series) -> pl.Series:
    """Folded texts, odd writings of dates turned into common ones; anything else as it is.

    >>> plain_dates(pl.Series(["2012年10月10日", "2011 - 06 - 09", "2009_06_24", "23-VIII-2011"])).to_list()
    ['2012-10-10', '2011-06-09', '2009-06-24', '2011-08-23']
    """
    texts = fold(texts).str.strip_chars()
    if texts.str.contains(r"[ _年년]").any():
        texts = texts.str.replace(_CJK, "${1}-${2}-${3}")
        texts = texts.str.replace(_PARTED, "${1}${2}${3}${2}${4}${5}").str.replace(
            _PARTED_LAST, "${1}${2}${3}${2}${4}${5}"
        )
        texts = texts.str.replace(r"^(\d{4})_(\d{1,2})_(\d{1,2})", "${1}-${2}-${3}")
        texts = texts.str.replace(r"^(\d{1,2})_(\d{1,2})_(\d{4})", "${1}-${2}-${3}")
    roman = r"(?i)^(\d{1,2})[-./ ]+(?:[IVX]{1,4})[-./ ]+(\d{4})"
    if texts.str.contains(roman).any():
        for number, word in enumerate(_ROMAN, 1):
            month = rf"(?i)^(\d{{1,2}})[-./ ]+{word}[-./ ]+(\d{{4}})"
            texts = texts.str.replace(month, f"${{2}}-{number:02d}-${{1}}")
    return texts.str.replace(_WEEK_DAY, "${1}-W${2}")
