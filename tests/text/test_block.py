"""What is made for a block of notes at once is what each note makes by itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.text import block
from shoal.text.base import Note
from shoal.text.block import Block, notes_in_blocks
from shoal.text.find import LANGUAGES, find_spans
from shoal.text.recognisers import pattern
from shoal.text.words import CAPITAL, LOWER, widest_sign

CORPUS = Path(__file__).parent / "corpus"
HALVES = ("tuned", "held_out", "stranger", "second")
MADE = ("words", "pieces", "signs", "digits", "any_signs", "notable", "in_lower_case", "language", "lower_names")
SIGNS = st.text(st.sampled_from("aAdlLSé1９½. -'’\n\u0308ß漢𝔸_,[]"), max_size=40)


def corpus() -> list[str]:
    return [json.loads(line)["text"] for half in HALVES for line in (CORPUS / f"{half}.jsonl").open()]


def assert_as_alone(texts: list[str]) -> None:
    notes = [note for some in notes_in_blocks(texts, LANGUAGES) for note in Block(some).notes]
    for text, note in zip(texts, notes, strict=True):
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


@given(st.lists(SIGNS, min_size=1, max_size=5), st.sampled_from(["a", "l", "1", "'", "s", "-", "aa", ", "]))
def test_what_is_asked_of_all_notes_is_what_each_would_say(texts: list[str], part: str) -> None:
    some = Block([Note(text, LANGUAGES) for text in texts])
    assert some.holding(part).tolist() == [part in note.lower for note in some.notes]
    for asked in (np.ones(len(some), bool), np.arange(len(some)) == 0):
        there = some.holding_one_of((part, "d"), asked)[asked].tolist()
        asked_notes = [note for note, ask in zip(some.notes, asked.tolist(), strict=True) if ask]
        assert there == [part in note.lower or "d" in note.lower for note in asked_notes]
    dashes = pattern.sign(pattern.any_of(pattern.LOWER, pattern.DIGIT), "-", pattern.other_than(pattern.CAPITAL))(
        some
    ).tolist()
    assert dashes == [re.search("[a-z0-9]-([^A-Z]|$)", note.folded) is not None for note in some.notes]
    assert pattern.count(",", 2)(some).tolist() == [note.folded.count(",") > 1 for note in some.notes]
    chains = [max((digits for _, _, digits in note.chains), default=0) for note in some.notes]
    assert pattern.digits_together(3)(some).tolist() == [most > 2 for most in chains]
    assert some.has_digits.tolist() == [bool(note.digits) for note in some.notes]
    assert some.marked(CAPITAL | LOWER).tolist() == [bool(note.any_signs & (CAPITAL | LOWER)) for note in some.notes]
    short = some.run_ends - some.run_starts < 5
    by_note = dict(some.by_note(short))
    assert by_note == {
        number: starts
        for number, note in enumerate(some.notes)
        if (starts := [start for start, end in note.digits if end - start < 5])
    }
    assert some.with_run(short).tolist() == [number in by_note for number in range(len(some))]
    values = [int(n.folded[a:b]) if b - a < 5 else -1 for n in some.notes for a, b in n.digits]
    assert some.run_values.tolist() == values
    before = [ord(n.folded[a - 1]) if a else 10 for n in some.notes for a, b in n.digits]
    assert [code or 10 for code in some.beside_runs(-1).tolist()] == before


def test_signs_fit_into_the_arrays_of_a_block() -> None:
    """More than 64 bits do not: share a trigger."""
    assert widest_sign() <= 64
