"""How an identifier is written, once: it may be all of a cell, stand inside one, or stand in a note."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import polars as pl

from shoal.storage import Array

# Python's patterns have no \p{L}; these are the letters of the scripts in use, for use within brackets.
_CAPITALS = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0410-\u042f"
_LETTERS = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u052f\u0590-\u06ff\u0900-\u097f"
    "\u1e00-\u1eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
)


def in_python(pattern: str) -> str:
    r"""A pattern in which `\p{L}` stands for letters and `\p{Lu}` for capitals, within brackets only."""
    return pattern.replace(r"\p{Lu}", _CAPITALS).replace(r"\p{L}", _LETTERS)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    r"""A pattern with `\p{L}` and `\p{Lu}`, compiled by Python.

    >>> bool(compiled(r"^[\p{Lu}][\p{L}]+$").match("Élodie"))
    True
    """
    return re.compile(in_python(pattern))


def in_rust(pattern: str) -> str:
    r"""A pattern with ASCII digits, blanks, words and boundaries: folded texts have no others, and it compiles faster.

    Large limits, which keep Python from trying all lengths, only make it long here.

    >>> in_rust(r"\b[^\d.]\d{1,64}")
    '(?-u:\\b)[^0-9.][0-9]+'
    """
    within, out = False, []
    unlimited = re.sub(r"\{([01]),(?:[3-9]\d|\d{3,})\}", lambda limits: "*" if limits[1] == "0" else "+", pattern)
    for part in re.findall(r"\\.|.", unlimited):
        if part in ("[", "]"):
            within = part == "["
        classes = {"\\d": "0-9", "\\w": "0-9A-Za-z_", "\\s": " "}
        if part in classes:
            out.append(classes[part] if within or part == "\\s" else f"[{classes[part]}]")
        elif part == "\\W":
            out.append("[^0-9A-Za-z_]")
        else:
            out.append("(?-u:\\b)" if part == "\\b" and not within else part)
    return "".join(out)


@dataclass(frozen=True)
class Form:
    r"""What an identifier looks like, without anchors, groups or looks around it, so that every engine can read it.

    No letter or digit stands before or behind it, and none of the signs `apart` before it or, with a letter or digit,
    behind it: `10.2.3.4` does not end within `10.2.3.4.5`, but at the full stop of a sentence. `lead` and `tail` may
    stand around it where it is all of a cell. `check` tells it from what only looks like it; `luhn`: part of the check
    is that its digits end in a Luhn digit, which is tried of many texts at once.

    >>> date = Form(r"\d{4}-\d\d-\d\d", apart="-")
    >>> bool(compiled(date.cell).match("2012-03-04")), bool(compiled(date.note).search("on 2012-03-04-5"))
    (True, False)
    >>> date.inside(pl.Series(["on 2012-03-04.", "12012-03-04"])).tolist()
    [True, False]
    """

    core: str
    apart: str = ""
    lead: str = ""
    tail: str = ""
    check: Callable[[str], bool] | None = None
    luhn: bool = False
    ignore_case: bool = False

    @property
    def _flags(self) -> str:
        return "(?i)" if self.ignore_case else ""

    @property
    def _beside(self) -> str:
        return "".join(map(re.escape, self.apart))

    @property
    def cell(self) -> str:
        """The pattern of a whole cell."""
        return rf"{self._flags}^{self.lead}(?:{self.core}){self.tail}$"

    @property
    def note(self) -> str:
        """The pattern within a note."""
        behind = rf"(?!\w|[{self._beside}]\w)" if self.apart else r"(?!\w)"
        return in_python(rf"{self._flags}(?<![\w{self._beside}])(?:{self.core}){behind}")

    @cached_property
    def _inside(self) -> str:
        """The pattern inside a cell; the form is its group."""
        ends = rf"[^\w{self._beside}]|[{self._beside}](?:\W|$)|$" if self.apart else r"\W|$"
        return in_rust(rf"{self._flags}(?:^|[^\w{self._beside}])({self.core})(?:{ends})")

    def inside(self, texts: pl.Series) -> Array:
        """Which of some folded texts hold it."""
        hits: Array = texts.str.contains(self._inside).fill_null(False).to_numpy().copy()
        if self.check is None or not hits.any():
            return hits
        where = np.flatnonzero(hits)
        parts = pl.DataFrame({"text": where, "part": texts.gather(where).str.extract_all(self._inside)}).explode("part")
        if self.luhn:
            parts = parts.filter(pl.Series(luhn(parts["part"].str.replace_all(r"\D", ""))))
        searched = compiled(self.note)
        passed = [self._passes(searched, part) for part in parts["part"].to_list()]
        hits[:] = False
        hits[parts["text"].to_numpy()[passed]] = True
        return hits

    def _passes(self, searched: re.Pattern[str], part: str) -> bool:
        match = searched.search(part)
        return match is not None and self.check is not None and self.check(match[0])


def luhn(digits: pl.Series) -> Array:
    """Whether texts of digits end in the Luhn check digit of the others (ISO/IEC 7812).

    >>> luhn(pl.Series(["4111111111111111", "4111111111111112"])).tolist()
    [True, False]
    """
    lengths = digits.str.len_bytes().to_numpy()
    good = np.zeros(len(digits), bool)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        signs = np.array(digits.gather(rows).to_list(), dtype=f"S{length}").view(np.uint8).reshape(-1, length) - 48
        doubled = signs[:, ::-1].astype(np.int64)
        doubled[:, 1::2] *= 2
        good[rows] = (np.where(doubled > 9, doubled - 9, doubled).sum(axis=1) % 10) == 0
    return good
