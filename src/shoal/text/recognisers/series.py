"""Codes of a series: what has a shape that recurs in the corpus with varying digits (`shoal.text.shapes`)."""

from __future__ import annotations

import re

import numpy as np

from shoal.text.base import Span, TextKind
from shoal.text.block import Block
from shoal.text.recognisers.numbers import is_counted
from shoal.text.shapes import CODE, shape_of

_CODE = re.compile(rf"(?<![^\W_]){CODE}(?![^\W_])")
# an amount of money, a version or a law is of no series
_NOT_BEFORE = re.compile(r"(?i)(?:[€$£]|\b(?:eur|usd|chf|gbp|euros?|version|legge|ley|loi|law|art\\.?))\s?$")


class Series:
    """Codes whose neighbours in the corpus look alike."""

    name = "series"
    kinds: tuple[TextKind, ...] = ("record_number",)

    def find_in(self, block: Block, found: list[list[Span]]) -> None:
        """Adds the codes of a shape that recurs."""
        if not block.shapes:
            return
        for number in np.flatnonzero(block.has_digits).tolist():
            note = block.notes[number]
            text, last = note.folded, -1
            for place in note.code_starts:
                match = _CODE.search(text, place, place + 80) if place > last else None
                if match is None or shape_of(match[0]) not in block.shapes:
                    continue
                last = match.end()
                if not (is_counted(text, last) or _NOT_BEFORE.search(text, max(0, match.start() - 10), match.start())):
                    found[number].append(Span(*match.span(), "record_number", 0.66, "of a series in the corpus"))


RECOGNISER = Series()
