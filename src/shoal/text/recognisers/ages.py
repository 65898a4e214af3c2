"""Ages over 89, and years of birth that tell one."""

from shoal.text.base import Note
from shoal.text.recognisers.pattern import Pattern, Patterns

_OLD = r"(?:9\d|1[01]\d)"
_UNITS = (
    r"(?:[\s-]{0,2}(?:years?|yrs?\.?)[\s-]{0,2}(?:of age|old)\b|[\s-]?y\.?/?\s?o\.?(?!\w)|[\s-]yrs?\b|[\s-]years?\b"
    r"|[\s-]?[Jj]ährige?[rnms]?\b|\s?[Jj]ahre(?: alt)?\b|\s?ans\b|\s?anni\b|\s?años\b)"
)
_AGED = r"(?:aged?|age:|age of|âgée? de|di anni|anni|im alter von|alter:?|edad de|edad:?|età:?|turned|turning)"
_BORN = r"(?:born|geboren|geb\.|née?|nato|nata|nacid[oa])\s(?:in|im jahr|en|nel)?\s?"

_SEX = r"(?:M|W|m|f|F(?! ?[.,;)]))"


def _is_old(note: Note) -> bool:
    """Whether a number from 90 to 119 is there."""
    return any(1 < end - start < 4 and 90 <= int(note.folded[start:end]) < 120 for start, end in note.digits)


def _is_near(note: Note) -> bool:
    """Whether such a number, a year of the last century or the word is there."""
    years = any(end - start == 4 and note.folded.startswith("19", start) for start, end in note.digits)
    return _is_old(note) or years or "nineties" in note.folded


RECOGNISER = Patterns(
    "ages",
    Pattern(rf"(?<![\d./,-]){_OLD}{_UNITS}", 0.93, "age over 89", "age_over_89"),
    Pattern(rf"(?i)\b{_AGED}\s?(?P<id>{_OLD})(?!\d|[.,/]\d|%)", 0.9, "age over 89", "age_over_89"),
    Pattern(rf"(?<![\d./,-])(?P<id>(?:9\d|10\d)){_SEX}(?!\w)", 0.7, "age and sex", "age_over_89"),
    Pattern(r"(?i)\bin (?:his|her|their) (?P<id>nineties)", 0.8, "age over 89", "age_over_89", "nineties"),
    Pattern(r"(?i)\bin (?:his|her|their) (?P<id>90['’]?s)", 0.8, "age over 89", "age_over_89"),
    Pattern(
        rf"(?i)\b{_BORN}(?P<id>19(?:[0-2]\d|3[0-5]))\b(?![-/.]\d)",
        0.75,
        "year of a birth long ago",
        "age_over_89",
    ),
    gate=_is_near,
)
