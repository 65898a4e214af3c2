"""Short dictionaries of texts, which are gone through in Python, come out as polars would have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.detection import column_types
from shoal.detection.column_types import propose_text_type
from shoal.policy.judgement.shown_classes import _is_star
from shoal.ranges.forms import escape
from shoal.ranges.hierarchy.fit import _look_up
from shoal.ranges.hierarchy.tree import codes_of
from shoal.ranges.parsing import sets_in
from shoal.releases.distinct import star_mask
from shoal.storage import texts
from shoal.storage.reading import csv, read
from shoal.storage.reading.csv import are_whole
from shoal.storage.texts import has_missing_words, typed_dictionary
from shoal.storage.unite import rank

ODD = [
    *("*", "", "NA", "none", "-", "-7", "12", "007", "1.0", "1", ".5", "2020-02-30", "2020-02-03", "x", "X", "12X"),
    *("[1;2]", "[a, b]", "{a, b}", "937**", "\\x", "\\", "é", "e\u0301", "\U0001f41f", "\uffff", "\x00", " a", "a "),
]
WORDS = st.sampled_from(ODD)
TEXTS = st.lists(st.none() | WORDS | st.text(max_size=3), max_size=12)


def both_ways(work: Callable[[], Any]) -> tuple[Any, Any]:
    with pytest.MonkeyPatch.context() as patch:
        few = work()
        patch.setattr(texts, "_FEW", -1)
        return few, work()


def plain(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(plain(each) for each in found)
    return (found.name, found.dtype, found.to_list()) if isinstance(found, pl.Series) else (found.dtype, found.tolist())


@given(TEXTS, TEXTS)
def test_few_texts_are_as_many(one: list[str | None], two: list[str | None]) -> None:
    texts, wanted = pl.Series("name", one, pl.String), pl.Series(two, dtype=pl.String)
    for work in (
        lambda: rank(texts),
        lambda: typed_dictionary(texts),
        lambda: typed_dictionary(texts, frozenset(["x", "12"])),
        lambda: codes_of(texts.drop_nulls()),
        lambda: escape(texts),
        lambda: _look_up(texts, wanted),
    ):
        few, many = both_ways(work)
        assert plain(few) == plain(many)
    few, many = both_ways(lambda: has_missing_words(texts))
    assert few == many


@pytest.mark.parametrize("shape", [shape for shape, _ in texts._SHAPES])
@given(st.data())
def test_texts_of_other_types_start_with_these_signs(shape: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(shape) | WORDS)
    if pl.Series([text]).str.contains(shape).all():
        assert text[0] in texts._FIRST_SIGNS


@given(st.lists(st.none() | WORDS, min_size=1, max_size=8))
def test_numbers_are_known_by_all_of_them(texts: list[str | None]) -> None:
    known = pl.Series(texts, dtype=pl.String).drop_nulls()
    expected = len(known) > 0 and known.str.contains(csv._WHOLE).all()
    assert are_whole(pl.Series(texts, dtype=pl.String)) == expected


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_texts_whose_first_is_without_digits_are_neither_dates_nor_numbers(texts: list[str]) -> None:
    if texts[0].isascii() and not any(sign.isdigit() for sign in texts[0]):
        series = pl.Series(texts)
        assert column_types._dates("a", series) is None
        assert column_types._numbers("a", series) is None


@given(st.lists(st.none() | WORDS, min_size=1, max_size=12))
def test_columns_of_few_texts_are_as_those_of_many(texts: list[str | None]) -> None:
    column = read({"a": texts})["a"]
    for work in (lambda: star_mask(column).tolist(), lambda: _is_star(column).tolist()):
        few, many = both_ways(work)
        assert few == many
    if column.values.dtype == pl.String:
        few, many = both_ways(lambda: (sets_in(column).rows(), propose_text_type(column, column.frequencies(), None)))
        assert few == many
