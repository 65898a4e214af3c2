"""The bars of free text on both halves of the corpus."""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from shoal.text.base import Span
from shoal.text.find import find_spans

ROOT = Path(__file__).parents[2]


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"text_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return module(ROOT / "benchmarks" / "text.py")


@pytest.mark.parametrize("half", ["held_out", "tuned"])
def test_rules_alone_pass_the_bars(benchmark: ModuleType, half: str) -> None:
    notes = benchmark.corpus(half)
    figures = benchmark.figures(benchmark.evaluate(notes, find_spans([note["text"] for note in notes]))[""])
    assert figures["full_recall"] >= 0.93
    assert figures["over_scrubbing"] <= 0.02
    assert figures["precision"] >= 0.95
    assert figures["kept"] >= 0.97


@pytest.mark.parametrize("half", ["held_out", "tuned"])
def test_known_values_raise_what_rules_find(benchmark: ModuleType, half: str) -> None:
    """The table knows every second name, date, number and address; rules must find the others."""
    notes = benchmark.corpus(half)
    rules = benchmark.figures(benchmark.evaluate(notes, find_spans([note["text"] for note in notes]))[""])
    known = benchmark.figures(benchmark.evaluate(notes, benchmark.found_with_known(notes))[""])
    assert known["full_recall"] >= 0.93
    assert known["full_recall"] >= rules["full_recall"]
    assert known["over_scrubbing"] <= 0.04
    assert known["kept"] >= 0.97


@pytest.mark.parametrize("language", ["en", "de", "fr", "it", "es"])
def test_every_language_passes_on_the_held_out_half(benchmark: ModuleType, language: str) -> None:
    notes = [note for note in benchmark.corpus("held_out") if note["language"] == language]
    figures = benchmark.figures(benchmark.evaluate(notes, find_spans([note["text"] for note in notes]))[""])
    assert figures["full_recall"] >= 0.88
    assert figures["over_scrubbing"] <= 0.04


def test_the_notes_of_a_stranger_pass_since_rules_were_improved_with_them(benchmark: ModuleType) -> None:
    notes = benchmark.corpus("stranger")
    assert len(notes) == 60
    figures = benchmark.figures(benchmark.evaluate(notes, find_spans([note["text"] for note in notes]))[""])
    assert figures["full_recall"] >= 0.97
    assert figures["over_scrubbing"] <= 0.01
    assert figures["kept"] >= 0.97


def test_the_corpus_is_large_and_its_halves_share_no_note(benchmark: ModuleType) -> None:
    held_out, tuned = benchmark.corpus("held_out"), benchmark.corpus("tuned")
    assert len(held_out) >= 200
    assert len(held_out) + len(tuned) >= 400
    assert not {note["text"] for note in held_out} & {note["text"] for note in tuned}
    assert {note["language"] for note in held_out} == {"en", "de", "fr", "it", "es"}


@pytest.mark.parametrize("half", ["held_out", "tuned"])
def test_the_corpus_is_what_its_sources_say(half: str) -> None:
    folder = ROOT / "tests" / "text" / "corpus"
    written = [json.loads(line) for line in (folder / f"{half}.jsonl").read_text().splitlines()]
    assert module(folder / "build.py").build(half) == written


@pytest.mark.parametrize(("part", "each"), [("second", 6), ("third", 5)])
def test_a_marked_corpus_marks_whole_words_and_names_what_the_table_knows(
    benchmark: ModuleType, part: str, each: int
) -> None:
    """As many notes for each language and domain; marks do not overlap and neither begin nor end with a blank."""
    notes = benchmark.corpus(part)
    assert set(Counter((note["language"], note["domain"]) for note in notes).values()) == {each}
    assert len(notes) == len({note["text"] for note in notes}) == 20 * each
    kinds = {kind for half in ("tuned", "held_out") for note in benchmark.corpus(half) for _, _, kind in note["spans"]}
    for note in notes:
        marks = sorted(tuple(mark[:2]) for mark in note["spans"] + note["keep"])
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(marks))
        assert all(note["text"][start:end].strip() == note["text"][start:end] != "" for start, end in marks)
        assert {kind for _, _, kind in note["spans"]} | {kind for _, kind in note["known"]} <= kinds
        assert note["known"]
        assert len(note["keep"]) == len(note["keep_kinds"])


def test_what_was_kept_is_told_by_kind(benchmark: ModuleType) -> None:
    note = {"text": "Graves 5 mg", "language": "en", "source": "hand", "spans": [], "keep": [[0, 6], [7, 11]]}
    note["keep_kinds"] = ["eponym", "dose"]
    table = benchmark.table(benchmark.evaluate([note], [[Span(7, 11, "name", 1, "")]]))
    assert table.endswith("countries kept: 1.000; dose 0 of 1; eponym 1 of 1")


def test_figures_by_hand(benchmark: ModuleType) -> None:
    """Two identifiers, one covered whole and one in part; one of six other words covered; one of two terms kept."""
    text = "Ann Lee and Bo Roe saw Graves in Ohio today"
    note = {"text": text, "language": "en", "source": "hand", "spans": [[0, 7, "name"], [12, 18, "name"]]}
    note["keep"] = [[23, 29], [33, 37]]
    spans = [Span(0, 7, "name", 1, ""), Span(12, 14, "name", 1, ""), Span(23, 29, "name", 1, "")]
    figures = benchmark.figures(benchmark.evaluate([note], [spans])[""])
    assert figures == {
        "recall": 1.0,
        "full_recall": 0.5,
        "precision": 2 / 3,
        "over_scrubbing": pytest.approx(1 / 6),
        "kept": 0.5,
    }
