"""Whether a known value is left in a note, searched plainly: another way than that by which notes are scrubbed.

Note and value are folded and everything but letters and digits becomes a blank; then a whole value is looked for as it
stands, and so is each part of a name that is not a word. It knows no rule of names, so a fault in those rules shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.text.known_values import LEAST_DIGITS, LONG, TITLES, UNSPACED, KnownValue, folded, parts_of
from shoal.text.tags import MASK, TAG
from shoal.text.words import is_word

# where a value cannot go on: a tag, a mask, the end of a sentence, a wide gap
_END = "\n|\n"
_CUT = re.compile(r"(?<!\b\w)\.(?!\w)|[!?:;]|[\W_]{5,}")
_SIGNS = re.compile(r"[\W_]+")
_LEAST_PART = 4
_DIGITS = "0123456789"


class PlainSearch:
    """The values of one person as they are looked for; its repr shows nothing of them."""

    def __init__(self, values: Iterable[KnownValue], dates: bool = True) -> None:
        self._phrases: set[str] = set()
        self._words: set[str] = set()
        self._written: set[str] = set()
        self._bounded: set[str] = set()
        for value in values:
            kind = parts_of(value).kind
            if not parts_of(value).skipped and (dates or kind != "date"):
                self._add(value.text.strip(), kind)

    def __repr__(self) -> str:
        return f"PlainSearch({len(self._phrases) + len(self._words) + len(self._written)} values)"

    def _add(self, text: str, kind: str) -> None:
        local = text.split("@")[0]
        if "@" in text or UNSPACED.search(text):
            self._written.add(text.lower())
            self._bounded.update({local.lower()} if "@" in text and len(_SIGNS.sub("", local)) >= LONG else ())
            return
        words = _words(text)
        if any(map(str.isdigit, text)) and kind not in ("name", "address", "organisation", "place"):
            if len("".join(words)) >= LEAST_DIGITS:
                self._words.add("".join(words))
                self._bounded.add(text.lower())
            return
        if len(words) > 1:
            self._phrases.add(f" {' '.join(words)} ")
        if kind == "name":
            parts = [word for word in words if word.isalpha() and word not in TITLES]
            self._words.update(word for word in parts if len(word) >= _LEAST_PART and not is_word(word))

    def found_in(self, note: str) -> bool:
        """Whether one of the values is in a note.

        >>> looked_for = PlainSearch([KnownValue("Maria de la Cruz")])
        >>> looked_for.found_in("saw maria de la cruz"), looked_for.found_in("saw [NAME] at la cruz")
        (True, False)
        """
        cut = TAG.sub(_END, note).replace(MASK, _END)
        words = _words(_CUT.sub(_END, cut))
        if not self._words.isdisjoint((*words, *(word.strip(_DIGITS) for word in words))):
            return True
        plain, lower = f" {' '.join(words)} ", cut.lower()
        return (
            any(phrase in plain for phrase in self._phrases)
            or any(literal in lower for literal in self._written)
            or any(literal in lower and _stands_alone(literal, lower) for literal in self._bounded)
        )


def _stands_alone(literal: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(literal)}(?![^\W_])", text) is not None


def _words(text: str) -> list[str]:
    """The folded words of a text; `|` stands where a value cannot go on."""
    pieces = (_SIGNS.split(folded.__wrapped__(piece)) for piece in text.split(_END))
    return [word for piece in pieces for word in [*piece, "|"] if word][:-1]
