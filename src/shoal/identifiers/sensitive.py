"""What people would not have told: health, income, religion, opinion, orientation, offences, biometrics."""

from collections.abc import Iterator
from dataclasses import replace

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words, words_of
from shoal.identifiers.shape import Identifier, Vocabulary, values_of

_ANY_CATEGORY = r"^[\p{L}\d<>=\[(][^@]{0,200}$"
_AMOUNT = (
    r"(?i)^[<>≤≥=~]{0,2}\s?[$€£]?\s?-?\d[\d.,' ]*\s?(k|m|mln|eur|usd|€|\$|£)?"
    r"(\s?[-\u2013]\s?[$€£]?\d[\d.,' ]*\s?k?)?\+?$"
)
_PICTURE = r"(?i)^\S+\.(jpe?g|png|gif|tiff?|bmp|webp|heic|dcm)(\?\S*)?$|^(data:image/|/9j/|iVBOR)\S*$"
_LEVEL = r"|^(low|medium|middle|high|very high|very low|basso|medio|alto|niedrig|mittel|hoch|faible|moyen|élevé|bajo)$"

_ICD = Identifier(
    kind="diagnosis",
    rule="icd-10",
    noun="an ICD-10 code",
    form=r"^[A-TV-Z]\d[\dAB](\.?[\dA-Z]{1,4})?$",
    words=words_of("icd-10", flags=True),
    alone=0.3,
)
# With its dot the code looks like little else.
_ICD_DOTTED = replace(_ICD, rule="icd-10-dotted", form=r"^[A-TV-Z]\d[\dAB]\.[\dA-Z]{1,4}$", alone=0.55)
_DIAGNOSIS = Vocabulary(
    kind="diagnosis",
    rule="category",
    noun="a diagnosis or state of health",
    words=_ICD.words,
    values=values_of("diagnosis"),
    alone=0.8,
    form=_ANY_CATEGORY,
    least_known=3,
)


_OPINION = Vocabulary(
    kind="opinion",
    rule="scale",
    noun="an opinion",
    words=words("opinion, attitude, meinung, opinione, opinion sur", flags=True),
    values=values_of("opinion"),
    alone=0.65,
    form=_ANY_CATEGORY,
    least_known=3,
)


def _by_header(kind: str, noun: str, form: str) -> Vocabulary:
    """A kind that its header names; the values must have a possible form."""
    # An income is itself a measure, the other kinds are not.
    book = words_of(kind, flags=True, measures=kind == "income")
    return Vocabulary(kind, "by-header", noun, book, values_of(kind), 0.0, form)


_RULES = (
    _by_header("income", "income", _AMOUNT + _LEVEL),
    _by_header("medication", "medication", _ANY_CATEGORY),
    _by_header("procedure", "a medical procedure", _ANY_CATEGORY),
    _by_header("religion", "religion", _ANY_CATEGORY),
    _by_header("political-opinion", "political opinion", _ANY_CATEGORY),
    _by_header("sexual-orientation", "sexual orientation", _ANY_CATEGORY),
    _by_header("criminal-record", "a criminal record", _ANY_CATEGORY),
    _by_header("biometric", "biometric data", r"."),
    _by_header("photograph", "a picture", _PICTURE),
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Health by its code and its words, then each kind that its header names."""
    yield from _ICD_DOTTED(column)
    yield from _ICD(column)
    yield from _DIAGNOSIS(column)
    yield from _OPINION(column)
    for rule in _RULES:
        yield from rule(column)
