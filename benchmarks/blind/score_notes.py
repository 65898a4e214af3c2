"""How well identifiers are found in notes that were written without sight of the rules. Prints aggregate figures only.

`python benchmarks/blind/score_notes.py notes_tuning.jsonl`. A line is `{text, spans: [{start, end, kind}], eponyms:
[{start, end}], known: {names, other}}`. Full recall is the share of identifiers whose letters and digits are all
covered; exact is the share that is found with the same start, end and kind. Words lost is the share of words outside
identifiers of which a character is covered, eponyms lost the share of eponyms that are touched. All notes of a file are
one corpus. `--tagger` adds the tagger of shoal; `--presidio` scores Presidio, where it and a model of spaCy are
installed, beside us.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from shoal.text import find
from shoal.text.base import Span
from shoal.text.known import known_sets
from shoal.text.known_values import KnownValue
from shoal.text.model import TextModel, as_model, engine_name

# which of our kinds say the same as a kind of the notes; numbers are told apart by their labels only
_NUMBERS = frozenset((
    "record_number", "other_number", "national_id", "health_plan_number", "account_number", "licence_number",
    "vehicle_number", "device_number", "username", "ip",
))  # fmt: skip
SAME = {
    "record": _NUMBERS, "id": _NUMBERS, "address": {"address", "place", "postal_code"}, "employer": {"organisation"},
    "age90": {"age_over_89"}, "phone": {"phone", "fax"},
}  # fmt: skip
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
Note = dict[str, Any]
Marks = Sequence[tuple[int, int, str]]


def notes_of(path: Path) -> list[Note]:
    """The notes of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def marks_of(note: Note) -> list[tuple[int, int, str]]:
    """The identifiers of a note: start, end, kind."""
    return [(mark["start"], mark["end"], mark["kind"].lower()) for mark in note["spans"]]


def score(notes: Sequence[Note], found: Iterable[Marks]) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Counts over all notes, and of identifiers by kind."""
    total: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for note, spans in zip(notes, found, strict=True):
        text = note["text"]
        covered, gold = bytearray(len(text)), bytearray(len(text))
        for start, end, _ in spans:
            covered[start:end] = b"\1" * (end - start)
        exact = set(spans)
        for start, end, kind in marks_of(note):
            gold[start:end] = b"\1" * (end - start)
            signs = [place for place in range(start, end) if text[place].isalnum()]
            counts = {
                "identifiers": 1,
                "full": all(covered[place] for place in signs),
                "some": any(covered[place] for place in signs),
                "exact": any((start, end, one) in exact for one in SAME.get(kind, {kind})),
            }
            kinds[kind].update({name: int(value) for name, value in counts.items()})
        for match in _WORD.finditer(text):
            if not any(gold[match.start() : match.end()]):
                total.update(words=1, lost=int(any(covered[match.start() : match.end()])))
        for eponym in note.get("eponyms", ()):
            total.update(eponyms=1, eponyms_lost=int(any(covered[eponym["start"] : eponym["end"]])))
    for counts_of_kind in kinds.values():
        total.update(counts_of_kind)
    return total, kinds


def ours(notes: Sequence[Note], model: TextModel | None, known: bool = False) -> list[Marks]:
    """What rules and lists find, and a model if there is one, with what the table knows of the person or without."""
    texts = [note["text"] for note in notes]
    if not known:
        return [_as_marks(spans) for spans in find.find_spans(texts, model=model)]
    persons = [
        {KnownValue(name, "name") for name in note["known"]["names"]}
        | {KnownValue(value) for value in note["known"]["other"]}
        for note in notes
    ]
    return [_as_marks(spans) for spans in find.settled_spans(texts, known_sets(persons, texts), model)]


def _as_marks(spans: Sequence[Span]) -> Marks:
    """Spans as marks; a note that is withheld whole counts as one in which nothing was found."""
    if find.is_withheld(spans):
        return []
    return [(span.start, span.end, span.kind) for span in spans]


def presidio(notes: Sequence[Note]) -> list[Marks]:
    """What Presidio finds with its default model."""
    from presidio_analyzer import AnalyzerEngine

    engine = AnalyzerEngine()
    answers = [engine.analyze(text=note["text"], language="en") for note in notes]
    return [[(answer.start, answer.end, answer.entity_type.lower()) for answer in some] for some in answers]


def table(title: str, notes: Sequence[Note], found: Iterable[Marks]) -> str:
    """The figures of one way of finding as a table in Markdown."""
    total, kinds = score(notes, found)
    lines = [
        f"{title}: {len(notes)} notes",
        "",
        "| kind | identifiers | full recall | recall | exact |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, counts in [("all", total), *sorted(kinds.items(), key=lambda item: -item[1]["identifiers"])]:
        shares = " | ".join(
            f"{counts[share] / max(1, counts['identifiers']):.3f}" for share in ("full", "some", "exact")
        )
        lines.append(f"| {name} | {counts['identifiers']} | {shares} |")
    lost, eponyms = total["lost"] / max(1, total["words"]), total["eponyms_lost"] / max(1, total["eponyms"])
    return "\n".join(
        [*lines, "", f"words lost {lost:.4f} of {total['words']}; eponyms lost {eponyms:.3f} of {total['eponyms']}", ""]
    )


def main() -> None:
    """Prints the figures of each file, without and with known values."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--tagger", action="store_true", help="with the tagger of shoal beside the rules")
    options.add_argument("--presidio", action="store_true")
    given = options.parse_args()
    model = as_model("tagger") if given.tagger else None
    for path in given.files:
        notes = notes_of(path)
        print(table(f"{path.stem}, {engine_name(model)}", notes, ours(notes, model)))
        print(table(f"{path.stem}, with known values", notes, ours(notes, model, known=True)))
        if given.presidio:
            english = [note for note in notes if note["language"] == "en"]
            print(table(f"{path.stem}, English notes, ours", english, ours(english, model)))
            print(table(f"{path.stem}, English notes, Presidio", english, presidio(english)))


if __name__ == "__main__":
    main()
