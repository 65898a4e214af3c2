"""Country packs: national identifiers and postal codes of `countries.ini`; to add a country, write its sections there.

What no form and check digit tells has a function here: social security numbers of the United States.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from shoal.identifiers.base import ColumnRecogniser, Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import sections_of, words
from shoal.identifiers.shape import Identifier, stdnum


class Country(NamedTuple):
    """A country pack; `code` is the ISO 3166 code."""

    code: str
    national_ids: tuple[ColumnRecogniser, ...] = ()
    postal_codes: tuple[ColumnRecogniser, ...] = ()


_FILE = "countries.ini"
_SSN_WORDS = words(sections_of(_FILE)["us-ssn"]["words"])
_WRITTEN = r"^\d{3}-\d{2}-\d{4}$|^\d{3} \d{2} \d{4}$"
_DIGITS = r"^\d{9}$"
# Areas 000, 666 and 900 to 999, group 00 and serial 0000 are never given out (Social Security Administration, 2011).
_ALLOWED = (
    r"^(00[1-9]|0[1-9]\d|[1-57-8]\d{2}|6[0-57-9]\d|66[0-57-9])[- ]?(0[1-9]|[1-9]\d)[- ]?"
    r"(000[1-9]|00[1-9]\d|0[1-9]\d{2}|[1-9]\d{3})$"
)
_ALLOWED_BY_CHANCE = 0.89


def ssn(column: ColumnEvidence) -> Iterator[Finding]:
    """Written 3-2-4, or nine digits under a header that says so; forbidden numbers speak against it."""
    written = column.matches(_WRITTEN)
    nine = written | column.matches(_DIGITS, 9)
    share = column.share(nine)
    if share < 0.1:
        return
    strength, word = _SSN_WORDS.heard(column.header)
    allowed = column.share(nine & column.matches(_ALLOWED, 9)) / share
    above = max(0.0, (allowed - _ALLOWED_BY_CHANCE) / (1 - _ALLOWED_BY_CHANCE))
    if column.share(written) / share >= 0.5:
        sure = confidence(share * (0.6 + 0.4 * above), 0.85, strength)
    else:
        sure = confidence(share * (0.4 + 0.6 * above), 0.05, strength)
    clause = "have the form of a US social security number" + (
        " and none lies in a forbidden range" if allowed == 1 else ", some of them in forbidden ranges"
    )
    yield finding("national-id", "us-ssn", clause, share=share, word=word, sure=sure)


_BY_FUNCTION: dict[str, ColumnRecogniser] = {"us-ssn": ssn}


def _identifier(rule: str, about: Mapping[str, str]) -> ColumnRecogniser:
    """The recogniser of a section."""
    if rule in _BY_FUNCTION:
        return _BY_FUNCTION[rule]
    check = stdnum(about["check"]) if "check" in about else None
    chance, form_alone = (float(Fraction(about.get(name, "0"))) for name in ("chance", "form_alone"))
    known = (about["kind"], rule, about["noun"], about["form"], words(about["words"]), float(about["alone"]))
    return Identifier(*known, check, chance, form_alone, int(about.get("width", "0")))


def _countries() -> Iterator[Country]:
    """The packs in the order of the file."""
    sections = {rule: about for rule, about in sections_of(_FILE).items() if "country" in about}
    for code in dict.fromkeys(about["country"] for about in sections.values()):
        own = [
            (about["kind"], _identifier(rule, about)) for rule, about in sections.items() if about["country"] == code
        ]
        ids, codes = (tuple(one for kind, one in own if kind == wanted) for wanted in ("national-id", "postal-code"))
        yield Country(code, ids, codes)


COUNTRIES = tuple(_countries())
