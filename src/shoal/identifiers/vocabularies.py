"""Kinds that are known by their words: sex, traits, places, what is sensitive, names of people, free text."""

from collections.abc import Iterator

import numpy as np

from shoal.identifiers.base import WEAK, Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence, Mask
from shoal.identifiers.header import words, words_of
from shoal.identifiers.lists import ALL_NAMES, CITIES, COUNTRIES, COUNTRY_CODES, REGIONS, STATE_CODES
from shoal.identifiers.shape import Identifier, Vocabulary, values_of, vocabulary

_SEX_WORDS = words_of("sex", flags=True)
# Under its header a code of a few signs will do.
_ONE_SIGN = r"(?i)^[a-z0-9]{1,2}$|^\d{1,4}$|^(true|false)$"
_SPELLED = Vocabulary("sex", "words", "sex or gender", _SEX_WORDS, values_of("sex"), 0.9, _ONE_SIGN)
_SEXES = vocabulary("m, f, w, h, x, d, u, o")
_LETTERS = Vocabulary("sex", "letters", "sex or gender", _SEX_WORDS, _SEXES, 0.75, r"^[\p{L}]{1,12}$")
_PAIRS = ({"m", "f"}, {"m", "w"}, {"h", "f"}, {"h", "m"}, {"m", "v"})
_MOST_SEXES = 12


def sex(column: ColumnEvidence) -> Iterator[Finding]:
    """Few values, all of them words, letters or codes for sex; letters alone need the right pair."""
    if column.distinct > _MOST_SEXES:
        return
    yield from _SPELLED(column)
    letters = set(column.plain)
    # One-letter codes are common: without the pair of a language they say nothing.
    if len(letters) <= 4 and any(pair <= letters for pair in _PAIRS):
        yield from _LETTERS(column)


# A trait is a category: words or short codes, no long numbers.
_CATEGORY = (
    r"^[\p{L}][\p{L}\d\s.'\u2019,()/&+<>=:\-]{0,80}$|^\d{1,4}$|^\d{1,2}(st|nd|rd|th)\b"
    r"|^\d[\d\-]{0,6}[\p{L}]|^(true|false)$"
)
_MOST_VALUES = 1_500

_FLAGGED = ("marital-status", "occupation")
# the noun of each kind, what a column of its words is worth without a header, and how many of them there must be
_TRAITS = tuple(
    Vocabulary(kind, "category", noun, words_of(kind, flags=kind in _FLAGGED), values_of(kind), worth, _CATEGORY, least)
    for kind, noun, worth, least in (
        ("ethnicity", "ethnicity", 0.0, 2),
        ("marital-status", "marital status", 0.8, 3),
        ("education", "education", 0.75, 4),
        ("occupation", "occupation", 0.75, 5),
        ("relationship", "place in the household", 0.7, 4),
        ("nationality", "nationality", 0.75, 5),
    )
)


def demographics(column: ColumnEvidence) -> Iterator[Finding]:
    """Each trait in turn; a column with thousands of values is no list of categories."""
    if column.distinct <= _MOST_VALUES and (column.numbers is None or column.whole):
        for rule in _TRAITS:
            yield from rule(column)


# Places are words without many digits, or short codes.
_PLACE = r"^[\p{L}][\p{L}\s.'\u2019,()/&\-]{1,60}$|^\d{1,11}$|^[\p{Lu}]{1,3}$"
_PLACE_OR_CODE = r"^[\p{L}][\p{L}\s.'\u2019,()/&\-]{1,60}$|^\d{1,11}$|^[A-Z]{1,3}[-.]?[A-Z0-9]{0,6}$"

_REGION_WORDS = words_of("region")
# from the largest to the smallest; a county is what must go where only the state may stay
_PLACES = tuple(
    Vocabulary("geography", *about)
    for about in (
        ("country", "a country", words_of("country"), COUNTRIES, 0.85, _PLACE),
        ("country-code", "a country", words_of("country"), COUNTRY_CODES, 0.0, _PLACE),
        ("region", "a region or state", _REGION_WORDS, REGIONS, 0.85, _PLACE_OR_CODE),
        ("us-state-code", "a state of the USA", _REGION_WORDS, STATE_CODES, 0.35, _PLACE_OR_CODE, 8),
        ("county", "a county or province", words_of("county"), REGIONS, 0.0, _PLACE_OR_CODE),
        ("municipality", "a municipality", words_of("municipality"), CITIES, 0.7, _PLACE, 5),
    )
)


def geography(column: ColumnEvidence) -> Iterator[Finding]:
    """Places by their names and codes."""
    if column.numbers is None or column.whole:
        for rule in _PLACES:
            yield from rule(column)


_ANY_CATEGORY = r"^[\p{L}\d<>=\[(][^@]{0,200}$"
_AMOUNT = (
    r"(?i)^[<>≤≥=~]{0,2}\s?[$€£]?\s?-?\d[\d.,' ]*\s?(k|m|mln|eur|usd|€|\$|£)?"
    r"(\s?[-\u2013]\s?[$€£]?\d[\d.,' ]*\s?k?)?\+?$"
)
_PICTURE = r"(?i)^\S+\.(jpe?g|png|gif|tiff?|bmp|webp|heic|dcm)(\?\S*)?$|^(data:image/|/9j/|iVBOR)\S*$"
_LEVEL = r"|^(low|medium|middle|high|very high|very low|basso|medio|alto|niedrig|mittel|hoch|faible|moyen|élevé|bajo)$"

_ICD_WORDS = words_of("icd-10", flags=True)
# with its dot the code looks like little else
_ICD = (
    Identifier("diagnosis", "icd-10-dotted", "an ICD-10 code", r"^[A-TV-Z]\d[\dAB]\.[\dA-Z]{1,4}$", _ICD_WORDS, 0.55),
    Identifier("diagnosis", "icd-10", "an ICD-10 code", r"^[A-TV-Z]\d[\dAB](\.?[\dA-Z]{1,4})?$", _ICD_WORDS, 0.3),
)
_STATES_OF_HEALTH, _OPINIONS = values_of("diagnosis"), values_of("opinion")
_OPINION_WORDS = words("opinion, attitude, meinung, opinione, opinion sur", flags=True)


def _by_header(kind: str, noun: str, form: str) -> Vocabulary:
    """A kind that its header names; the values must have a possible form."""
    # An income is itself a measure, the other kinds are not.
    book = words_of(kind, flags=True, measures=kind == "income")
    return Vocabulary(kind, "by-header", noun, book, values_of(kind), 0.0, form)


_SENSITIVE = (
    Vocabulary(
        "diagnosis", "category", "a diagnosis or state of health", _ICD_WORDS, _STATES_OF_HEALTH, 0.8, _ANY_CATEGORY, 3
    ),
    Vocabulary("opinion", "scale", "an opinion", _OPINION_WORDS, _OPINIONS, 0.65, _ANY_CATEGORY, 3),
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


def sensitive(column: ColumnEvidence) -> Iterator[Finding]:
    """Health by its code and its words, then each kind that its header names."""
    # lots and runs are written as these codes are
    for rule in (*(_ICD if _ICD_WORDS.block.isdisjoint(column.header.runs) else ()), *_SENSITIVE):
        yield from rule(column)


_NAME_WORDS = words_of("name")
# One to five words of letters, with the signs that names have; titles and initials included.
_NAME_FORM = r"^[\p{L}]['\u2019\p{L}.\-]*(,?\s+['\u2019\p{L}.\-]+){0,4}$"
_LOWER = r"^[a-z\u00df-\u00ff\s.'-]+$"
# a name with its initial, or with its title: hardly anything else is written so
_INITIALED = r"^(?:[\p{Lu}]\.[ -]?){1,3}[\p{Lu}][\p{L}'\u2019-]+$|^[\p{Lu}][\p{L}'\u2019-]+,? (?:[\p{Lu}]\.[ -]?){1,3}$"
_ENOUGH_KNOWN, _ENOUGH_INITIALED, _INITIALED_TELLS = 0.35, 0.9, 0.8


def names(column: ColumnEvidence) -> Iterator[Finding]:
    """Values of the form of names; how many are known, and how various they are, decides with the header."""
    if not column.is_text or column.filled == 0:
        return
    share = column.share(column.matches(_NAME_FORM))
    if share < 0.3:
        return
    strength, word = _NAME_WORDS.heard(column.header)
    known_values = _known(column)
    known = column.share(known_values)
    capitals = 1 - column.share(column.matches(_LOWER))
    # Some words are names too: a handful of them is no evidence.
    alone = 0.85 * min(1.0, known / _ENOUGH_KNOWN) * (0.6 + 0.4 * capitals) if int(known_values.sum()) >= 5 else 0.0
    if column.share(column.matches(_INITIALED)) >= _ENOUGH_INITIALED and column.distinct > 1:
        sure = confidence(share, _INITIALED_TELLS, strength)
        yield finding("name", "person", "have the form of initials and a surname", share=share, word=word, sure=sure)
        return
    if strength == WEAK and known < 0.05:
        strength *= 0.5
    clause = f"have the form of a name, {known:.0%} hold a frequent one"
    sure = confidence(share * _various(column), alone, strength)
    yield finding("name", "person", clause, share=share, word=word, sure=sure)


def _known(column: ColumnEvidence) -> Mask:
    """Which values hold a frequent name."""
    return np.fromiter((not ALL_NAMES.isdisjoint(value.split()) for value in column.plain), bool, len(column.plain))


def _various(column: ColumnEvidence) -> float:
    """Names are many: few values over many records are labels."""
    if column.filled < 20:
        return 1.0
    return min(1.0, max(column.distinct / 20, column.distinct_share / 0.25))


_TEXT_WORDS = words_of("free-text")
_MANY_WORDS = 6
_SOME_WORDS = 4


def free_text(column: ColumnEvidence) -> Iterator[Finding]:
    """Values of six words or more; of four under a header that says so."""
    if column.filled == 0 or not column.is_text:
        return
    strength, word = _TEXT_WORDS.heard(column.header)
    wanted = _SOME_WORDS if strength else _MANY_WORDS
    prose = np.fromiter((_is_prose(value, wanted) for value in column.text), bool, len(column.text))
    share = column.share(prose)
    # Short remarks ("ok") stand between the long ones; labels of many words come again and again.
    own = min(1.0, column.distinct_share / 0.3)
    fit = min(1.0, share / 0.6) * own
    clause = f"hold a text of {wanted} words or more"
    yield finding("free-text", "prose", clause, share=share, word=word, sure=confidence(fit, 0.8, strength))


def _is_prose(value: str, wanted: int) -> bool:
    """So many words, and letters for more than half of the signs."""
    return len(value.split()) >= wanted and sum(map(str.isalpha, value)) > 0.55 * len(value)
