"""Identifiers inside texts: patterns that seldom match anything else, by the kind of data that they are.

`moved on 3/4/2012` in a column of remarks, one e-mail address among a thousand answers. Texts are folded first
(`shoal.storage.rows`), so that no odd digit, dash or blank hides anything.
"""

from __future__ import annotations

import polars as pl

from shoal.identifiers import catalogue
from shoal.identifiers.form import Form, in_rust
from shoal.storage import Array
from shoal.storage.folding import fold
from shoal.storage.months import WHOLE_MONTH_NAMES

_CENTURY = r"(?:1[89]|20|21)\d{2}"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_END = r"\b\.?"
_ROMAN = r"(?:I{1,3}|I?V|VI{1,3}|I?X|XI{1,2})"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_GAP = r"\s?[-/._]\s?"

_STREET = r"(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct)"
# words that mean other things too: only where they are written as names are
_STREET_NAMED = (
    r"(?:Way|Place|Pl|Terrace|Ter|Circle|Cir|Close|Square|Sq|Crescent|Cres|Parkway|Pkwy|Highway|Hwy|Trail|Trl|Gardens"
    r"|Grove|Mews|Hill|Hills|Loop|Alley|Row|Path|Plaza|Cove|Ridge|Run|Point|Pass|Park|Walk|View|Turnpike|Crossing"
    r"|Extension|Fork|Forge|Glen|Green|Heights|Island|Isle|Junction|Key|Knoll|Lake|Landing|Manor|Meadow|Meadows|Mill"
    r"|Orchard|Oval|Port|Prairie|Ranch|Rapids|Rest|Shoal|Shore|Spring|Springs|Spur|Station|Stream|Summit|Trace|Track"
    r"|Tunnel|Union|Valley|Viaduct|Village|Ville|Vista|Bend|Bluff|Branch|Bridge|Brook|Burg|Bypass|Camp|Canyon|Cape"
    r"|Causeway|Center|Cliff|Club|Common|Corner|Course|Creek|Crest|Dale|Dam|Divide|Estate|Expressway|Falls|Ferry|Field"
    r"|Flat|Ford|Forest|Fort|Freeway|Garden|Gateway|Harbor|Haven|Hollow|Inlet|Lock|Lodge|Mall|Motorway|Mountain|Neck"
    r"|Overpass|Pike|Pine|Plain|Radial|Ramp|River|Skyway|Throughway|Trafficway|Underpass|Wall|Well|Wells)"
)
_NUMBERED = (
    r"(?:mrn?|mr no|med(?:ical)? rec(?:ord)?|record|chart|hosp(?:ital)?|ssn|soc(?:ial)? sec(?:urity)?|patient|pt|acct"
    r"|account|member|policy|subscriber|licen[cs]e|lic|dl|plate|serial|s/n|sn|device|dea|npi|medicare|medicaid|claim|case"
    r"|hicn|mbi|passport|badge|imei|id|ref|file|card)"
)
_NUMBER_WORD = r"(?:(?:number|num|no|nr|id)\b)?"
_VERY_OLD = r"(?:9\d|1[0-2]\d)"
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Rev|Herr|Frau|Mme|Mlle|Sra|Signor[ae]?|Señora?)"
_RELATIVE = r"(?i:name|patient|mother|father|wife|husband|spouse|daughter|son|contact)"
_PICTURE = r"(?:jpe?g|png|gif|tiff?|bmp|webp|heic|dcm)"

# kind and pattern
PATTERNS: tuple[tuple[str, str], ...] = (
    ("name", rf"\b{_TITLE}\.?\s+(?:[A-Z]\.?\s+)?[A-Z][\p{{L}}'’-]+"),
    ("name", rf"\b{_RELATIVE}\s?(?::|\bis\b)\s?[A-Z][\p{{L}}'-]+"),
    ("postal-code", r"\b[A-Z]{2},? \d{5}(?:-\d{4})?\b|\b\d{5}-\d{4}\b|(?i:\bzip\b\W{0,3}(?:code\W{0,2})?\d{5})"),
    ("street-address", rf"(?i)\b\d{{1,6}}\s+(?:[\p{{L}}.'-]+\s+){{1,4}}{_STREET}\b"),
    ("street-address", rf"\b\d{{1,6}}\s+(?:[A-Z][\p{{L}}.'-]*\s+){{1,4}}{_STREET_NAMED}\b"),
    ("street-address", r"(?i)\b(?:p\.?\s?o\.?\s?box|pob|post office box|postfach|casella postale|apartado)\W{0,2}\d+"),
    ("street-address", r"(?i)\b(?:apt|apartment|suite|ste)\.?\s?#?\s?\d+"),
    ("street-address", r"(?i)\p{L}(?:straße|strasse|str\.|weg|platz|gasse|straat|laan)\s\d+"),
    ("street-address", r"\b(?:Via|Viale|Piazza|Corso|Rue|Calle|Avenida|Rua)\s+(?:\p{L}+\s+){0,3}[A-Z]\p{L}+,?\s\d+"),
    ("street-address", r"(?i)\b\d{1,4},?\s(?:bis\s|ter\s)?(?:rue|avenue|boulevard|chemin|allée)\s\p{L}"),
    ("coordinates", r"[+-]?\d{1,3}\.\d{3,}°?\s?[NSEW]?[,; ]\s?[+-]?\d{1,3}\.\d{3,}|\d{1,3}°\s?\d{1,2}['′’]"),
    ("coordinates", r"(?i)\bpoint\s?\(\s?[+-]?\d"),
    ("date", rf"(?:^|[^\d])\d{{4}}{_GAP}{_MONTH}{_GAP}{_DAY}(?:[^\d]|$)"),
    ("date", r"(?:^|[^\d./-])\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?:[^\d./-]|\.?$)"),
    ("date", rf"(?:^|[^\d./-])\d{{1,2}}{_GAP}\d{{1,2}}{_GAP}{_CENTURY}(?:[^\d]|$)"),
    ("date", r"\d{4}\s?[年년]|\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일号]"),
    ("date", rf"(?:^|[^\d])\d{{1,2}}[-./ ]{_ROMAN}[-./ ]{_CENTURY}(?:[^\d]|$)"),
    ("date", rf"(?i)\b{_CENTURY}-?W\d{{2}}(?:-?[1-7])?\b|\b(?:week|wk)\W{{0,2}}\d{{1,2}}\W{{1,4}}(?:of )?{_CENTURY}\b"),
    ("date", rf"(?i)\b{_SEASON},?\s(?:of\s)?{_CENTURY}\b"),
    ("date", rf"(?i)\b{_DAY}(?:\.|st|nd|rd|th)?[ -]+(?:de |of )?{WHOLE_MONTH_NAMES}{_END}"),
    ("date", rf"(?i)\b{WHOLE_MONTH_NAMES}{_END}[ ,-]*(?:the )?{_DAY}(?:st|nd|rd|th)?\b"),
    ("date", rf"(?i)\b{WHOLE_MONTH_NAMES}{_END}[ ,'-]*(?:de |of )?(?:{_CENTURY}|\d{{2}})\b"),
    ("date", rf"(?i)\b{_CENTURY}[ ,'-]{WHOLE_MONTH_NAMES}\b"),
    ("date", rf"(?i)\b\d{{1,2}}{WHOLE_MONTH_NAMES}(?:{_CENTURY}|\d{{2}})\b"),
    ("date", rf"(?i)\b(?:{_CENTURY}[ -]?Q[1-4]|Q[1-4][ /-]?{_CENTURY})\b"),
    ("date", rf"^{_CENTURY}[-/.](?:0[1-9]|1[0-2])$|^(?:0[1-9]|1[0-2])[-/.]{_CENTURY}$"),
    ("date", rf"^{_CENTURY}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[T ]?\d{{4,6}}Z?)?$"),
    ("age", rf"(?i)\b(?:aged?|age:)\s*{_VERY_OLD}\b|\b{_VERY_OLD}[ -]?(?:y(?:ea)?rs?\b|y\.?/?o\b|y\.o\.|y$)"),
    ("phone", r"(?:^|\s)\+\d{1,3}[ .-]?\(?\d[\d ().-]{5,}\d\b"),
    ("phone", r"(?:^|[^\d])00[1-9]\d{0,2}[ ./-]\d[\d ./()-]{4,}\d\b"),
    ("phone", r"(?i)\b(?:tel|phone|ph|call|cell|mobile|fax|telefax)\b\W{0,3}(?:no|number)?\W{0,3}\d[\d ().-]{5,}\d"),
    ("phone", r"^[2-9]\d{2}-\d{4}$"),
    ("medical-record-number", rf"(?i)\b{_NUMBERED}\b\W{{0,3}}{_NUMBER_WORD}\W{{0,3}}[a-z]{{0,4}}-?\d{{4,}}"),
    ("photograph", rf"(?i)\b[\w-]+\.{_PICTURE}\b|data:image/|^(?:/9j/|iVBORw0)"),
)  # fmt: skip
# forms that seldom are anything else, wherever they stand
FORMS: tuple[tuple[str, Form], ...] = (
    ("email", catalogue.EMAIL),
    ("email", catalogue.EMAIL_AT),
    ("email", catalogue.EMAIL_IN_WORDS),
    ("url", catalogue.URL),
    ("url", catalogue.DOMAIN),
    ("username", catalogue.HANDLE),
    ("ip-address", catalogue.IPV4),
    ("ip-address", catalogue.IPV6),
    ("mac-address", catalogue.MAC),
    ("phone", catalogue.AMERICAN_PHONE),
    ("national-id", catalogue.SSN),
    ("national-id", catalogue.MASKED_SSN),
    ("iban", catalogue.IBAN),
    ("payment-card", catalogue.CARD),
    ("account-number", catalogue.CARD_GROUPS),
    ("vehicle-number", catalogue.VIN),
    ("device-number", catalogue.IMEI),
    ("uuid", catalogue.UUID),
    ("uuid", catalogue.DIGEST),
)
_SEARCHED = tuple((kind, in_rust(pattern)) for kind, pattern in PATTERNS)


def inside(texts: pl.Series, kinds: frozenset[str] | None = None) -> dict[str, Array]:
    """Which distinct texts hold an identifier, by kind; of the named kinds only, where some are named.

    >>> {kind: found.tolist() for kind, found in inside(pl.Series(["seen 3/4/2012", "a@b.org", "stable"])).items()}
    {'date': [True, False, False], 'email': [False, True, False]}
    """
    texts = fold(texts)
    found: dict[str, Array] = {}
    wanted = [(kind, pattern) for kind, pattern in _SEARCHED if kinds is None or kind in kinds]
    here = pl.col("texts")
    hits = pl.DataFrame({"texts": texts}).select(
        here.str.contains(pattern).fill_null(False).alias(str(number)) for number, (_, pattern) in enumerate(wanted)
    )
    for (kind, _), column in zip(wanted, hits.iter_columns(), strict=True):
        _add(found, kind, column.to_numpy())
    for kind, form in FORMS:
        if kinds is None or kind in kinds:
            _add(found, kind, form.inside(texts))
    if "url" in found and "email" in found:  # the domain of an address is no second finding
        found["url"] = found["url"] & ~found["email"]
    return {kind: hits for kind, hits in found.items() if hits.any()}


def _add(found: dict[str, Array], kind: str, hits: Array) -> None:
    if hits.any():
        found[kind] = found.get(kind, False) | hits
