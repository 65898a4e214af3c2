"""Text that is made to be slow, and text in odd writings: linear time, right offsets, nothing lost."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.text.base import Note, Span
from shoal.text.find import find_spans, settled_spans

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


@pytest.mark.parametrize("run", ["7" * 400, "7" * 100_000, "a1b2c3d4" * 60, "12345678_" * 60])
def test_a_long_run_of_digits_and_letters_is_one_find(run: str) -> None:
    spans = settled_spans([f"see {run} there"], [None])[0]
    assert spans[0].start == 4
    if "_" not in run:
        assert [(span.start, span.end) for span in spans] == [(4, 4 + len(run))]


def test_what_shows_piece_after_piece_settles_by_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_letter(texts: Sequence[str], *_: object) -> list[list[Span]]:
        places = [text.find("x") for text in texts]
        return [[Span(place, place + 1, "name", 1.0, "")] if place >= 0 else [] for place in places]

    monkeypatch.setattr("shoal.text.find._searched", one_letter)
    text = f"so {'x' * 90} ends"
    spans = settled_spans([text], [None])[0]
    assert "x" not in "".join(sign for n, sign in enumerate(text) if not any(s.start <= n < s.end for s in spans))
    assert max(span.end for span in spans) == 93


def test_a_note_that_never_settles_is_named_by_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.text.find.MOST_ROUNDS", 0)
    notes = ["fine", "fine", "Mail a.b@c.org"]
    with pytest.raises(shoal.ShoalError, match="row 3 of column 'note'") as error:
        shoal.scrub({"note": notes}, text="note")
    assert "a.b@c" not in str(error.value)


def test_accents_that_are_signs_of_their_own_go_with_their_name() -> None:
    name = unicodedata.normalize("NFD", "José Núñez")
    notes = {"name": [name], "note": [f"{name} came. {unicodedata.normalize('NFD', 'José')} left."]}
    made = shoal.scrub(notes, text="note", known="name").frame["note"][0]
    assert made.isascii()
    assert made.endswith("[NAME] came. [NAME] left.")


def test_half_a_sign_is_refused_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"id": "1", "text": "fine"}\n{"id": "2", "text": "\\ud800 Quindlen"}\n')
    pandas = pytest.importorskip("pandas")
    for source in (
        {"text": ["a \ud800 Quindlen"]},
        pandas.DataFrame({"text": ["a \ud800 Quindlen"]}, dtype=object),
        path,
    ):
        with pytest.raises(shoal.InputError, match="half of a sign") as error:
            shoal.scrub(source, text="text")
        assert "Quindlen" not in str(error.value)
    path.write_text('{"id": "1", "text": "\\ud83d\\ude00 and \\\\ud800"}\n')
    assert shoal.scrub(path, text="text").frame["text"][0] == "\U0001f600 and \\ud800"


@pytest.mark.parametrize("header", ["Rose Quindlen", "about quindlen, rose", "x 00123456"])
def test_a_known_value_does_not_leave_as_a_name_of_a_column(header: str) -> None:
    table = {"name": ["Rose Quindlen"], "mrn": ["00123456"], "note": ["fine"], header: [1], "quindlen notes": [2]}
    with pytest.raises(shoal.InputError, match="name of column 4") as error:
        shoal.scrub(table, text="note", known=["name", "mrn"])
    assert "uindlen" not in str(error.value)
    assert shoal.scrub(table, text="note", known=["name", "mrn"], keep=header).changed == 0
