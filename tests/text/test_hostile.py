"""Text that is made to be slow, and text in odd writings: linear time, right offsets, nothing lost."""

from __future__ import annotations

import importlib
import json
import random
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli import app
from shoal.text.base import Note, Span, TextRecogniser
from shoal.text.block import Block
from shoal.text.find import find_spans, is_withheld, settled_spans
from shoal.text.recognisers import RECOGNISERS
from shoal.text.terms import by_key

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


@pytest.mark.slow
@pytest.mark.parametrize("recogniser", RECOGNISERS, ids=lambda recogniser: recogniser.name)
@pytest.mark.parametrize(
    "word", ["Ann ", "ann ", "1 ", "3/4 ", "12 Elm, ", "AB-1234 ", "March ", "Mr. ", "\u0301"], ids=ascii
)
def test_ten_megabytes_of_one_word_end_in_each_recogniser(recogniser: TextRecogniser, word: str) -> None:
    """What is not linear would not come back from ten megabytes; a recogniser that fails raises here."""
    block = Block([Note(word * (10_000_000 // len(word)))], frozenset({"AA-0000"}))
    found: list[list[Span]] = [[]]
    recogniser.find_in(block, found)
    assert all(0 <= span.start < span.end <= len(block.notes[0].folded) for span in found[0])


_MUTATIONS = (
    "\u0149", "\u1e9e", "\ufb03", "\u0130", "'s", "\u2019s", "-", "\u200b", "\u202e", "\u0301", "\u05e9\u05dc",
    "\ufdfa", "½", "Ⅻ", "\u0661\u0662", "\n", "\t", " ", "[NAME]", "***", "@", ".", ",", "(", "/", "\\", "#",
    "\u2019", "\u01f0", "\U0001d7d9", "²",
)  # fmt: skip


def mutated(draw: random.Random, notes: Sequence[str]) -> str:
    """A note with signs put in, taken out, swapped or in another case, and pieces of other notes."""
    text = list(draw.choice(notes))
    for _ in range(draw.randint(1, 12)):
        place, way = draw.randrange(len(text) + 1), draw.random()
        if way < 0.4:
            text.insert(place, draw.choice(_MUTATIONS))
        elif way < 0.55:
            del text[place : place + draw.randint(1, 6)]
        elif way < 0.7 and place < len(text):
            text[place] = text[place].swapcase()
        elif way < 0.85 and place < len(text):
            other = draw.randrange(len(text))
            text[place], text[other] = text[other], text[place]
        else:
            text.insert(place, draw.choice(notes)[: draw.randint(1, 20)])
    return "".join(text)


def check_mutated(count: int, seed: int) -> None:
    corpus = Path(__file__).parent / "corpus"
    notes = [
        json.loads(line)["text"] for file in sorted(corpus.glob("*.jsonl")) for line in file.read_text().splitlines()
    ]
    draw = random.Random(seed)
    for _ in range(0, count, 500):
        some = [mutated(draw, notes) for _ in range(min(500, count))]
        for text, spans in zip(some, settled_spans(some, [None] * len(some)), strict=True):
            assert not is_withheld(spans)
            assert all(0 <= span.start < span.end <= len(text) for span in spans)
            assert all(first.end <= second.start for first, second in pairwise(spans))


def test_mutated_notes_are_searched_to_their_end() -> None:
    check_mutated(500, 1)


@pytest.mark.slow
def test_fifty_thousand_mutated_notes_are_searched_to_their_end() -> None:
    check_mutated(50_000, 2)


def test_a_sign_that_folds_to_several_goes_whole() -> None:
    """One sign stands for a whole phrase: a name found at its end begins inside it."""
    text = "Dr.\ufdfa FeatherstonEntreti came"
    assert all(span.start < span.end for span in find_spans([text])[0])
    note = Note("\ufdfa x")
    assert note.original(len(note.folded) - 3, len(note.folded) - 2) == (0, 1)


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


def test_a_note_that_never_settles_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.text.find.MOST_ROUNDS", 0)
    done = shoal.scrub({"note": ["fine", "fine", "Mail a.b@c.org"]}, text="note")
    assert done.frame["note"].to_list() == ["fine", "fine", "[WITHHELD]"]
    assert done.spans == {"withheld": 1}


@pytest.mark.parametrize("stage", ["block", "recogniser", "known", "tidying"])
@pytest.mark.parametrize("replace", ["tag", "mask", "surrogate"])
def test_a_note_that_breaks_a_recogniser_is_withheld_and_the_others_are_scrubbed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stage: str, replace: str
) -> None:
    """One recogniser, the arrays of a block, the search for known values, or what follows fails on one note."""
    places = {
        "block": "shoal.text.find.Block",
        "recogniser": "shoal.text.recognisers.names._grown",
        "known": "shoal.text.find.find_known",
        "tidying": "shoal.text.find.everywhere",
    }
    module, name = places[stage].rsplit(".", 1)
    right = getattr(importlib.import_module(module), name)

    def broken(first: Any, *rest: Any) -> Any:
        texts = [first] if isinstance(first, str) else [note.text for note in (first if stage == "block" else [first])]
        if any("Quindlen" in text for text in texts):
            raise KeyError("Quindlen")
        return right(first, *rest)

    monkeypatch.setattr(places[stage], broken)
    path = tmp_path / "visits.csv"
    path.write_text("name,note\nRose Brown,Mrs Brown is well\nZoe Xu,Dr. Quindlen is out\nAnn Lee,Mr Lee is in\n")
    key = ("--key-file", str(tmp_path / "secret.key")) if replace == "surrogate" else ()
    out = tmp_path / "clean.csv"
    command = ("scrub", str(path), "--text", "note", "--known", "name", "--replace", replace, *key, "-o", str(out))
    done = CliRunner().invoke(app, [*command])
    assert done.exit_code == 1
    assert "1 note withheld whole" in " ".join(done.output.split())
    assert "Quindlen" not in done.output
    first, second, third = out.read_text().splitlines()[1:]
    assert second == ("***" if replace == "mask" else "[WITHHELD]")
    assert not {"Brown", "Lee"} & {*first.split(), *third.split()}
    assert first.endswith("is well")
    assert third.endswith("is in")


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


def test_a_table_whose_text_cannot_be_searched_is_released_without_it_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(note: Note, seeds: Any) -> list[Span]:
        raise KeyError("Quindlen")

    monkeypatch.setattr("shoal.text.recognisers.names._grown", broken)
    source, policy, out = tmp_path / "visits.csv", tmp_path / "policy.yaml", tmp_path / "safe.csv"
    source.write_text("age,note\n" + "".join(f"{30 + n % 2},Dr. Quindlen was in on day {n}\n" for n in range(12)))
    policy.write_text("columns: {age: quasi-identifier, note: text}\nmodels: [{model: k-anonymity, k: 2}]\n")
    for command in (["anonymize", "--policy", str(policy)], ["safe-harbor", "--policy", str(policy)]):
        done = CliRunner().invoke(app, [command[0], str(source), *command[1:], "-o", str(out), "--force"])
        assert done.exit_code == 1, done.output
        assert "Quindlen" not in done.output + out.read_text()
        assert "withheld" in out.read_text().lower()


# Words of five languages in every dress: possessives, elisions, both apostrophes, hyphens, signs without width, marks,
# right-to-left, emoji, letters whose upper case is two.

_WORDS = sorted(
    {phrase for key in ("organisations", "labels", "rules") for some in by_key(key).values() for phrase in some}
)
_ODD = [
    "\u0149gela", "\u1e9e", "\ufb00", "\ufb03", "\u01f0ohn", "\u1e96asan", "\u0390", "\u0130brahim", "Straße", "\ufe70",
    "\u3164", "\u0345", "\ufdfa", "\u05e9\u05dc\u05d5\u05dd", "\u0639\u0645\u0631", "\u65e5\u672c", "\uae40", "\u216b",
    "\u0967\u0968/\u0969/\u0968\u0966\u0967\u0968", "\u00bd", "\U0001f469\u200d\u2695\ufe0f", "\u0301", "\u200b",
    "O'Dowd", "d\u2019Alessandro", "Dr.", "Frau", "Mme", "12/3/2012", "3. März", "[NAME]", "***", "L.T.", "p.weber",
]  # fmt: skip
_BEFORE = ["", "", "l'", "L\u2019", "d'", "St.-", "mid-", "(", "\u202e", "\u200f"]
_BEHIND = ["", "", "'s", "\u2019s", "'S", "'s-", "-", "'", "s'", "-Schule", "straße", "nummer", "\u0301", "\u200b", "."]


@st.composite
def dressed(draw: st.DrawFn) -> str:
    word = draw(st.one_of(st.sampled_from(_WORDS), st.sampled_from(_ODD), st.text(max_size=4)))
    case = draw(st.sampled_from([str, str.upper, str.title, str.lower]))
    return str(draw(st.sampled_from(_BEFORE)) + case(word) + draw(st.sampled_from(_BEHIND)))


@st.composite
def dressed_notes(draw: st.DrawFn) -> str:
    between = draw(st.sampled_from([" ", " ", " ", "", "-", "'", "\n"]))
    return between.join(draw(st.lists(dressed(), min_size=1, max_size=12)))


@settings(max_examples=300)
@given(st.lists(dressed_notes(), min_size=1, max_size=4))
def test_no_recogniser_fails_on_any_text(notes: list[str]) -> None:
    for note, spans in zip(notes, find_spans(notes), strict=True):
        assert not is_withheld(spans)
        assert all(0 <= span.start < span.end <= len(note) for span in spans)


@settings(max_examples=60)
@given(dressed_notes(), dressed_notes(), st.sampled_from(["tag", "mask", "surrogate"]))
def test_no_verb_fails_on_any_text(note: str, name: str, replace: Any) -> None:
    key = bytes(range(32)) if replace == "surrogate" else None
    done = shoal.scrub({"note": [note], "name": [name]}, text="note", known="name", replace=replace, key=key)
    assert "withheld" not in done.spans
    shoal.profile({"note": [note, name], "word": [*note.split(), "", ""][:2]})
    shoal.k_safety({"text": [note]}, entities={"a": [name, "x"], "b": ["x"]}, k=2)


@pytest.mark.parametrize(
    ("note", "left"),
    [
        ("He met the hospital's Buddhist volunteer.", "He met the hospital's Buddhist volunteer."),
        ("Visita a l'ÉCOLE'S gate near ÉCOLE'S- garden", "Visita a l'ÉCOLE'S gate near ÉCOLE'S- garden"),
        ("\u0149-slack and no more", None),
    ],
)
def test_a_possessive_starts_no_phrase_of_an_organisation(note: str, left: str | None) -> None:
    done = shoal.scrub({"note": [note]}, text="note")
    assert "withheld" not in done.spans
    assert left is None or done.frame["note"][0] == left
