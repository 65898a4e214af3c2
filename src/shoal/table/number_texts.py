"""Numbers as people write them, with thousands apart or a decimal comma: read without guessing, and written back."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.table.texts import texts_of

_GAPS = " '’\u00a0\u202f"


def plain_numbers(texts: pl.Series, decimal: str, thousands: str | None) -> pl.Series:
    """Texts as numbers are written plainly (`-1234.5`); null where a text is not a number in this writing.

    >>> plain_numbers(pl.Series(["1.234,50", "7", "1,2.3"]), ",", ".").to_list()
    ['1234.5', '7', None]
    """
    point, gap = re.escape(decimal), None if thousands is None else re.escape(thousands)
    whole = r"[0-9]+" if gap is None else rf"(?:[0-9]+|[0-9]{{1,3}}(?:{gap}[0-9]{{3}})+)"
    shape = rf"^[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)$"
    plain = texts.str.strip_chars()
    found = plain if thousands is None else plain.str.replace_all(thousands, "", literal=True)
    found = found.str.replace(decimal, ".", literal=True).str.strip_prefix("+")
    # one number has one plain text
    found = found.str.replace(r"^(-?)0+([0-9])", "${1}${2}").str.replace(r"^(-?)\.", "${1}0.")
    found = found.str.replace(r"(\.[0-9]*?)0+$", "${1}").str.strip_suffix(".")
    found = found.str.replace(r"^-0$", "0")
    return found.set(~plain.str.contains(shape).fill_null(False), None)


def spelled_numbers(texts: pl.Series, decimal: str, thousands: str | None, places: int | None) -> pl.Series:
    """Plain numbers as they were written; null where a text is not a plain number.

    >>> spelled_numbers(pl.Series(["1234567.5", "-7", "[1;2]"]), ",", ".", 2).to_list()
    ['1.234.567,50', '-7,00', None]
    """
    texts = without_exponent(texts)
    parts = texts.str.extract_groups(r"^(?<sign>-?)(?<whole>[0-9]+)(?:\.(?<part>[0-9]+))?$").struct.unnest()
    whole, part = parts["whole"], parts["part"].fill_null("")
    if thousands is not None:
        turned = whole.str.reverse().str.replace_all(r"([0-9]{3})", "${1}" + thousands).str.reverse()
        whole = turned.str.strip_prefix(thousands)
    # 5.0 is 5 unless the column has digits there
    part = part.str.strip_chars_end("0").str.pad_end(places or 0, "0")
    behind = (decimal + part).zip_with(part.str.len_chars() > 0, part)
    return (parts["sign"] + whole + behind).set(parts["whole"].is_null(), None)


def without_exponent(texts: pl.Series) -> pl.Series:
    """Numbers such as `1e-8` with all their digits; other texts as they are.

    >>> without_exponent(pl.Series(["1e-8", "2.5e3", "x"])).to_list()
    ['0.00000001', '2500', 'x']
    """
    short = texts.str.contains(r"^-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]{1,3}$").fill_null(False)
    if not short.any():
        return texts
    whole = {text: f"{Decimal(text):f}" for text in texts.filter(short).unique().to_list()}
    return texts.replace(whole)


def exact_numbers(plain: pl.Series) -> pl.Series:
    """Plain numbers as integers if all are, else as floats; null where a float is another number than the text.

    >>> exact_numbers(pl.Series(["0.1", "9007199254740993.5"])).to_list()
    [0.1, None]
    """
    if not plain.str.contains(".", literal=True).any():
        whole = plain.cast(pl.Int64, strict=False)
        if whole.null_count() == plain.null_count():
            return whole
    numbers = plain.cast(pl.Float64, strict=False)
    exact = without_exponent(texts_of(numbers)) == plain
    return numbers.set(~exact.fill_null(False), None)


def inferred_writing(texts: pl.Series, name: str) -> dict[str, Any]:
    """The signs by which all texts of a column are numbers; a column that can be read in two ways is an error.

    >>> inferred_writing(pl.Series(["1.234,50", "7,00"]), "income")
    {'decimal': ',', 'thousands': '.', 'places': 2}
    """
    ways = [(".", None), (",", None), (".", ","), (",", ".")]
    ways += [(decimal, gap) for gap in _GAPS for decimal in ".," if texts.str.contains(gap, literal=True).any()]
    read = {way: found for way in ways if not (found := plain_numbers(texts, *way)).null_count()}
    meanings = [found for number, found in enumerate(read.values()) if number == 0 or not _same(found, read)]
    if not read:
        raise InputError(
            f"Column '{name}' is declared as a number, and some of its values are not.",
            "Name those under `missing` or `map` in its type, or declare it nominal or text.",
        )
    if len(meanings) > 1:
        raise InputError(
            f"Column '{name}' has numbers such as 1.234 or 1,234: is that a thousand or a little more than one?",
            f'Say it in its type: {name}: {{type: number, decimal: ",", thousands: "."}} or the other way round.',
        )
    decimal, thousands = next(iter(read))
    return {"decimal": decimal, "thousands": thousands, "places": places_of(texts, decimal)}


def _same(found: pl.Series, read: dict[tuple[str, str | None], pl.Series]) -> bool:
    return found.equals(next(iter(read.values())))


def places_of(texts: pl.Series, decimal: str) -> int | None:
    """The digits behind the decimal sign, where all numbers have as many and at least one.

    >>> places_of(pl.Series(["7,50", "8,25"]), ",")
    2
    """
    behind = texts.str.extract(re.escape(decimal) + r"([0-9]*)\s*$", 1).fill_null("").str.len_chars().unique()
    return int(behind[0]) if len(behind) == 1 and behind[0] else None
