"""The tagger that ships: what it is made of, and that a note is judged by itself alone."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from shoal.text.base import Note, Span
from shoal.text.block import Block
from shoal.text.recognisers.tagger import LABELS, RECOGNISER, ROWS, Tokens, Weights, signs_of, weights

NOTES = [
    "Pt drives a truck for Oakhurst Haulage and lives at 12 Quarry Bend, Tilbrook.",
    "wife berenike quorn called, wants results by friday",
    "Die Patientin Wiebke Tantow arbeitet bei Hagemeyer in Norderbrarup.",
    "",
    "BP 132/84, no complaints. Foley catheter in place.",
    "Rose\u0301 et l\u2019\u00e9cole ﷺ ½",
]


def tagged(notes: list[str]) -> list[list[Span]]:
    found: list[list[Span]] = [[] for _ in notes]
    RECOGNISER.find_in(Block([Note(text) for text in notes]), found)
    return found


def test_a_note_is_judged_without_its_neighbours() -> None:
    assert tagged(NOTES) == [tagged([note])[0] for note in NOTES]
    assert tagged(NOTES[::-1])[::-1] == tagged(NOTES)


def test_it_finds_a_name_that_no_list_holds_and_leaves_findings_alone() -> None:
    found = tagged(NOTES)
    assert any(span.kind == "name" and "quorn" in NOTES[1][span.start : span.end] for span in found[1])
    assert found[4] == []


def test_the_file_is_small_and_has_a_margin_for_each_label() -> None:
    path = files("shoal.text").joinpath("lists", "tagger.npz")
    assert len(path.read_bytes()) < 10_000_000
    with path.open("rb") as file:
        arrays = np.load(file)
        assert arrays["table"].shape == (ROWS, len(LABELS))
        assert arrays["table"].dtype == np.int8
        assert arrays["margins"].shape == (len(LABELS),)


def test_four_weights_in_one_number_add_up_as_they_do_apart() -> None:
    draw = np.random.default_rng(3)
    table = draw.integers(-127, 128, (ROWS, len(LABELS)), dtype=np.int8)
    signs = draw.integers(0, ROWS, (50, 46), dtype=np.int32)
    apart = table[signs].sum(axis=1, dtype=np.int32)
    together = Weights.of(table, np.zeros(len(LABELS), np.int32)).scores(signs)
    assert (together - 128 * signs.shape[1] == apart).all()


SEEN = [85230, 38276, 50445, 16311, 33874, 2049]


def test_signs_are_the_same_on_every_system() -> None:
    """What was learned is looked up by these numbers: they may not change without training again."""
    signs = signs_of(Tokens.of(Block([Note("Seen by Rose Quindlen on 3 May.")])))
    assert signs.shape == (5, 46)
    assert signs[1, :6].tolist() == SEEN


@pytest.mark.parametrize("text", ["", " ", "\n", "...", "\u0301", "1", "a"])
def test_hardly_any_text_is_no_trouble(text: str) -> None:
    assert all(0 <= span.start < span.end <= len(text) for span in tagged([text])[0])


def test_weights_are_read_once() -> None:
    assert weights() is weights()
