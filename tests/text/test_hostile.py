"""Text that is made to be slow, and text in odd writings: linear time, right offsets, nothing lost."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.text.base import Note
from shoal.text.find import find_spans

HOSTILE = [
    "a", "A", "1", " ", ".", "Mr. ", "Dr. Prof. ", "1.", "1 ", "1-", "(", "+", "a@", "a.", "@a", ":", "0:", "é", "a-",
    "A. ", "de ", "Ann ", "Ann, ", "Ann and ", "1 Elm ", "via di ", "calle ", "March ", "on 1/", "MRN ", "MRN: 1", "\n",
    "'", "l'", "Street ", "St. ", "Hospital ", "Xx, MD ", ", M.D.", "http://",
    "www.", "A1", "0" * 30 + " ", "ß", "\u0308",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=ascii)
def test_hostile_text_ends(piece: str) -> None:
    """A pattern or rule that is not linear would not come back from this."""
    text = piece * (30_000 // len(piece))
    for span in find_spans([text])[0]:
        assert 0 <= span.start < span.end <= len(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "1", " ", ".", "Mr. ", "1.", "A. ", "Ann and "], ids=ascii)
def test_ten_megabytes_end(piece: str) -> None:
    text = piece * (10_000_000 // len(piece))
    assert all(span.end <= len(text) for span in find_spans([text])[0])


@given(st.text(max_size=200))
def test_spans_lie_in_the_text_in_order_and_apart(text: str) -> None:
    spans = find_spans([text])[0]
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))
    assert all(0 < span.score <= 1 and span.reason for span in spans)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("SSN 219\u201109\u20119999 given", "219\u201109\u20119999"),
        ("call (312)\u00a0555\u20110101 now", "(312)\u00a0555\u20110101"),
        ("on ２０１２－０３－０４ again", "２０１２－０３－０４"),
        ("seen by Dr. Mu\u0308ller today", "Mu\u0308ller"),
        ("ﬁrst seen by Dr. Patel", "Patel"),
        ("mail a\u200bb@mail.example.org", "a\u200bb@mail.example.org"),
    ],
)
def test_offsets_are_those_of_the_original(text: str, identifier: str) -> None:
    assert [text[span.start : span.end] for span in find_spans([text])[0]] == [identifier]


@given(st.text(max_size=60))
def test_a_note_leads_back_to_its_text(text: str) -> None:
    note = Note(text)
    assert note.original(0, len(note.folded))[0] == 0 or not note.folded
    if unicodedata.is_normalized("NFC", text) and text.isascii():
        assert note.folded == text
