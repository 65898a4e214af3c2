"""What is made for a block of notes at once is what each note makes by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.text import block
from shoal.text.base import Note
from shoal.text.block import notes_of
from shoal.text.find import LANGUAGES, find_spans
from shoal.text.words import widest_sign

CORPUS = Path(__file__).parent / "corpus"
HALVES = ("tuned", "held_out", "stranger", "second")
MADE = ("words", "pieces", "signs", "digits", "any_signs", "notable", "in_lower_case", "language", "lower_names")
SIGNS = st.text(st.sampled_from("aAdlLSé1９½. -'’\n\u0308ß漢𝔸_,[]"), max_size=40)


def corpus() -> list[str]:
    return [json.loads(line)["text"] for half in HALVES for line in (CORPUS / f"{half}.jsonl").open()]


def assert_as_alone(texts: list[str]) -> None:
    for text, note in zip(texts, notes_of(texts, LANGUAGES), strict=True):
        alone = Note(text, LANGUAGES)
        for name in MADE:
            assert getattr(note, name) == getattr(alone, name), name


def test_notes_of_the_corpus() -> None:
    texts = corpus()
    assert_as_alone([*texts, "", *(text.upper() for text in texts), *(text.lower() for text in texts)])


@given(st.lists(SIGNS, max_size=5))
def test_odd_notes(texts: list[str]) -> None:
    assert_as_alone(texts)


def test_the_size_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = corpus()[::3]
    whole = find_spans(texts)
    monkeypatch.setattr(block, "_MOST_NOTES", 7)
    assert find_spans(texts) == whole
    monkeypatch.setattr(block, "_MOST_CHARACTERS", 1)
    assert find_spans(texts) == whole


def test_signs_fit_into_the_arrays_of_a_block() -> None:
    """More than 64 bits are right as well, but notes are then looked at one by one: share a trigger."""
    assert widest_sign() <= 64
