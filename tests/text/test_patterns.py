"""What a pattern asks before it is tried costs no find: on the corpus it finds what it finds when it asks nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.text.base import Note
from shoal.text.block import Block, notes_in_blocks
from shoal.text.find import LANGUAGES
from shoal.text.recognisers import RECOGNISERS
from shoal.text.recognisers.pattern import Pattern, Patterns

CORPUS = Path(__file__).parent / "corpus"
# gates that are part of the rule (notes in lower case, as are languages), not of its speed
RULES = {"<lambda>"}


def plainly(pattern: Pattern, note: Note) -> set[tuple[int, int]]:
    """The finds of a pattern over all of the text, whatever it asks for."""
    matches = pattern.compiled.finditer(note.folded)
    return {match.span(pattern.group) for match in matches if not pattern.check or pattern.check(match[pattern.group])}


def gated(pattern: Pattern, note: Note) -> set[tuple[int, int]]:
    """The finds of a pattern in a note that is worth a look."""
    if not pattern.possible(note):
        return set()
    return {(span.start, span.end) for span in pattern.spans(note)}


@pytest.mark.parametrize(
    "recogniser", [entry for entry in RECOGNISERS if isinstance(entry, Patterns)], ids=lambda e: e.name
)
def test_triggers_lose_nothing(recogniser: Patterns) -> None:
    halves = ("tuned", "held_out", "stranger", "second")
    lines = [line for half in halves for line in (CORPUS / f"{half}.jsonl").open()]
    texts = [json.loads(line)["text"] for line in lines[::2]]
    blocks = [Block(notes) for notes in notes_in_blocks(texts, LANGUAGES)]
    for pattern in recogniser.patterns:
        asks = (
            pattern.words
            or pattern.parts
            or pattern.asks
            or pattern.at_digits
            or pattern.words_before
            or pattern.gate
            or pattern.sign
        )
        if asks and not pattern.languages and getattr(pattern.gate, "__name__", "") not in RULES:
            for block in blocks:
                for note, worth in zip(block.notes, pattern.worth(block).tolist(), strict=True):
                    assert (gated(pattern, note) if worth else set()) >= plainly(pattern, note), pattern.reason
