"""How well identifiers are found in free text: recall, full recall, precision and over-scrubbing on the corpus.

Full recall: the share of identifiers of which every character is covered. Recall: of which any character is covered.
Precision: the share of found spans that overlap an identifier. Over-scrubbing: the share of words outside
identifiers that are covered. Kept: the share of eponyms, states and countries of which no character is covered.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from shoal.text.base import Span
from shoal.text.find import find_spans
from shoal.text.known import known_sets
from shoal.text.known_values import KnownValue
from shoal.text.settle import settled_spans

CORPUS = Path(__file__).parents[1] / "tests" / "text" / "corpus"
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
    for start, end in note["keep"]:
        count("", keep=1, kept=not any(covered[start:end]))


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
    for key in sorted(counts, key=lambda key: (key != "", key.startswith(("language", "source")), key)):
        rates = figures(counts[key])
        cells = [f"{rates[name]:.3f}" if name in rates else "" for name in ("recall", "full_recall", "precision")]
        over = f"{rates['over_scrubbing']:.3f}" if "over_scrubbing" in rates else ""
        lines.append(f"| {key or 'all'} | {counts[key]['identifiers']} | {' | '.join(cells)} | {over} |")
    kept = figures(counts[""]).get("kept")
    return "\n".join(lines) + f"\n\neponyms, states and countries kept: {kept:.3f}"


def found_with_known(notes: Sequence[dict[str, Any]], share: int = 2) -> list[list[Span]]:
    """The spans of each note if the table knows the values of every `share`-th identifier in it, in written order.

    The known values of a note are what a table would have of its person: texts of gold spans whose kind a column can
    have. The other identifiers (doctors, relatives, places) must be found by rules.
    """
    persons = [
        {KnownValue(note["text"][start:end], kind) for start, end, kind in _columns(note)[::share]} for note in notes
    ]
    texts = [note["text"] for note in notes]
    return settled_spans(texts, known_sets(persons, texts))


def _columns(note: dict[str, Any]) -> list[tuple[int, int, Any]]:
    """The identifiers that columns of a table hold: names, dates, numbers and addresses of the person."""
    return [span for span in note["spans"] if span[2] in ("name", "date", "phone", "record_number", "address", "email")]


def main() -> None:
    """Prints the figures of the tuned half, of the held-out half, or of both, without and with known values."""
    for half in sys.argv[1:] or ["tuned", "held_out"]:
        notes = corpus(half)
        print(f"\n{half}: {len(notes)} notes, by rules and lists\n")
        print(table(evaluate(notes, find_spans([note["text"] for note in notes]))))
        print(f"\n{half}: with every second value of columns known\n")
        print(table(evaluate(notes, found_with_known(notes))))


if __name__ == "__main__":
    main()
