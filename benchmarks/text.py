"""How well identifiers are found in free text: recall, full recall, precision and over-scrubbing on the corpus.

Full recall: the share of identifiers of which every character is covered. Recall: of which any character is covered.
Precision: the share of found spans that overlap an identifier. Over-scrubbing: the share of words outside
identifiers that are covered. Kept: the share of eponyms, states and countries of which no character is covered
(of `second` and `third` by kind: drugs, doses and plain numbers too).
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from shoal.text.base import Span
from shoal.text.find import find_spans, settled_spans
from shoal.text.known import known_sets
from shoal.text.known_values import KnownValue

CORPUS = Path(__file__).parents[1] / "tests" / "text" / "corpus"
_TITLES = {
    "second": "second (tuned on after its first score: full recall .838 without and .882 with known values)",
    "third": "third (never tuned on)",
}
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
Figures = dict[str, float]


def corpus(half: str) -> list[dict[str, Any]]:
    """The notes of a half of the corpus."""
    return [json.loads(line) for line in (CORPUS / f"{half}.jsonl").read_text().splitlines()]


def _covered(text: str, spans: Sequence[Span]) -> bytearray:
    covered = bytearray(len(text))
    for span in spans:
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    return covered


def _count(note: dict[str, Any], spans: Sequence[Span], count: Callable[..., None]) -> None:
    text = note["text"]
    covered = _covered(text, spans)
    gold = bytearray(len(text))
    for start, end, kind in note["spans"]:
        gold[start:end] = b"\1" * (end - start)
        letters = [place for place in range(start, end) if text[place].isalnum()]
        count(kind, identifiers=1, whole=all(covered[p] for p in letters), some=any(covered[p] for p in letters))
    for span in spans:
        count(span.kind, found=1, right=any(gold[span.start : span.end]))
    for match in _WORD.finditer(text):
        if not any(gold[match.start() : match.end()]):
            count("", words=1, scrubbed=any(covered[match.start() : match.end()]))
    for (start, end), kind in zip(note["keep"], note.get("keep_kinds") or repeat(""), strict=False):
        count(kind and f"keep {kind}", keep=1, kept=not any(covered[start:end]))


def figures(counts: Counter[str]) -> Figures:
    """Shares from counts."""
    pairs = {
        "recall": ("some", "identifiers"),
        "full_recall": ("whole", "identifiers"),
        "precision": ("right", "found"),
        "over_scrubbing": ("scrubbed", "words"),
        "kept": ("kept", "keep"),
    }
    return {name: counts[top] / counts[below] for name, (top, below) in pairs.items() if counts[below]}


def evaluate(notes: Sequence[dict[str, Any]], found: Iterable[Sequence[Span]]) -> dict[str, Counter[str]]:
    """Counts over all notes (``), by language (`language de`) and by kind."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for note, spans in zip(notes, found, strict=True):

        def count(kind: str, note: dict[str, Any] = note, **figures: int) -> None:
            for key in {"", kind, f"language {note['language']}", f"source {note['source']}"}:
                counts[key].update({name: int(value) for name, value in figures.items()})

        _count(note, spans, count)
    return counts


def table(counts: dict[str, Counter[str]]) -> str:
    """The figures as a table in Markdown."""
    lines = ["| | identifiers | recall | full recall | precision | over-scrubbing |", "|---|--:|--:|--:|--:|--:|"]
    keys = [key for key in counts if not key.startswith("keep ")]
    for key in sorted(keys, key=lambda key: (key != "", key.startswith(("language", "source")), key)):
        rates = figures(counts[key])
        cells = [f"{rates[name]:.3f}" if name in rates else "" for name in ("recall", "full_recall", "precision")]
        over = f"{rates['over_scrubbing']:.3f}" if "over_scrubbing" in rates else ""
        lines.append(f"| {key or 'all'} | {counts[key]['identifiers']} | {' | '.join(cells)} | {over} |")
    return "\n".join(lines) + f"\n\n{_kept(counts)}"


def _kept(counts: dict[str, Counter[str]]) -> str:
    """The share that stayed of what must stay: of eponyms, states and countries alone where the notes say the kinds."""
    kinds = {key.removeprefix("keep "): counts[key] for key in sorted(counts) if key.startswith("keep ")}
    named = sum((kinds.get(kind, Counter()) for kind in ("eponym", "state", "country")), Counter[str]())
    line = f"eponyms, states and countries kept: {figures(named or counts['']).get('kept'):.3f}"
    return line + "".join(f"; {kind} {of['kept']} of {of['keep']}" for kind, of in kinds.items())


def found_with_known(notes: Sequence[dict[str, Any]], share: int = 2) -> list[list[Span]]:
    """The spans of each note if the table knows the note's `known` values, in the table's own form.

    Of a note without them the table knows every `share`-th identifier, in written order, whose kind a column can have.
    The other identifiers (doctors, relatives, places) must be found by rules.
    """
    persons = [{KnownValue(value, kind) for value, kind in _known(note, share)} for note in notes]
    texts = [note["text"] for note in notes]
    return settled_spans(texts, known_sets(persons, texts))


def _known(note: dict[str, Any], share: int) -> list[tuple[str, str]]:
    if "known" in note:
        return [(value, kind) for value, kind in note["known"]]
    return [(note["text"][start:end], kind) for start, end, kind in _columns(note)[::share]]


def _columns(note: dict[str, Any]) -> list[tuple[int, int, Any]]:
    """The identifiers that columns of a table hold: names, dates, numbers and addresses of the person."""
    return [span for span in note["spans"] if span[2] in ("name", "date", "phone", "record_number", "address", "email")]


def main() -> None:
    """Prints the figures of the named parts of the corpus, without and with known values."""
    for half in sys.argv[1:] or ["tuned", "held_out", "second", "third"]:
        notes, title = corpus(half), _TITLES.get(half, half)
        print(f"\n{title}: {len(notes)} notes, by rules and lists\n")
        print(table(evaluate(notes, find_spans([note["text"] for note in notes]))))
        known = "the values of the table" if "known" in notes[0] else "every second value of columns"
        print(f"\n{title}: with {known} known\n")
        print(table(evaluate(notes, found_with_known(notes))))


if __name__ == "__main__":
    main()
