"""Ages over 89, and years of birth that tell one."""

from __future__ import annotations

import re

from shoal.text.base import Note, Span
from shoal.text.kinds import TextKind

_UNITS = re.compile(
    r"(?:[\s-]{0,2}(?:years?|yrs?\.?)[\s-]{0,2}(?:of age|old)\b|[\s-]?y\.?/?\s?o\.?(?!\w)|[\s-]yrs?\b|[\s-]years?\b"
    r"|[\s-]?[Jj]ährige?[rnms]?\b|\s?[Jj]ahre(?: alt)?\b|\s?ans\b|\s?anni\b|\s?años\b)"
)
_AGED = re.compile(
    r"(?i)\b(?:aged?|age:|age of|âgée? de|di anni|anni|im alter von|alter:?|edad de|edad:?|età:?|turned|turning)\s?$"
)
_BORN = re.compile(r"(?i)\b(?:born|geboren|geb\.|née?|nato|nata|nacid[oa])\s(?:in|im jahr|en|nel)?\s?$")
_NINETIES = re.compile(r"(?i)\bin (?:his|her|their) (?P<id>nineties|90['’]?s)")
_SEX = re.compile(r"(?:M|W|m|f|F(?! ?[.,;)]))(?!\w)")
_DECADE = ("nineties", "90s", "90's", "90’s")
_PART_OF_MORE = frozenset("./,-0123456789")
# whoever was born before is over 89 wherever notes are written
_LAST_YEAR = 1935


class Ages:
    """Ages from 90; those below are no identifiers."""

    name = "ages"
    kinds: tuple[TextKind, ...] = ("age_over_89",)

    def find(self, note: Note) -> list[Span]:
        """Ages over 89 in the note."""
        text, found = note.folded, []
        for start, end in note.digits:
            if end - start == 4 and "1900" <= text[start:end] <= str(_LAST_YEAR):
                if text[end : end + 1] not in ("-", "/", ".") and _BORN.search(text, max(0, start - 24), start):
                    found.append(Span(start, end, "age_over_89", 0.75, "year of a birth long ago"))
            elif 1 < end - start < 4 and 90 <= int(text[start:end]) < 120:
                found += _at(text, start, end)
        if "nineties" in text or ("90" in text and any(part in note.lower for part in _DECADE)):
            found += [Span(*match.span("id"), "age_over_89", 0.8, "age over 89") for match in _NINETIES.finditer(text)]
        return found


def _at(text: str, start: int, end: int) -> list[Span]:
    """A number from 90 to 119 with a word for age before or behind it."""
    if start and text[start - 1] in _PART_OF_MORE:
        return []
    behind = _UNITS.match(text, end)
    if behind is not None:
        return [Span(start, behind.end(), "age_over_89", 0.93, "age over 89")]
    more = text[end : end + 1] in (".", ",", "/") and text[end + 1 : end + 2].isdigit()
    if not more and text[end : end + 1] != "%" and _AGED.search(text, max(0, start - 24), start):
        return [Span(start, end, "age_over_89", 0.9, "age over 89")]
    return [Span(start, end, "age_over_89", 0.7, "age and sex")] if _SEX.match(text, end) else []


RECOGNISER = Ages()
