"""Identifiers hidden among other values: cells of a column that is no identifier itself, but hold one.

A sentence such as `moved on 3/4/2012` in a column of remarks, one e-mail address among a thousand answers. Patterns
that seldom match anything else are run over every distinct text; such cells are emptied.
"""

from __future__ import annotations

import polars as pl

from shoal.table import Array

_CENTURY = r"(?:1[89]|20|21)\d{2}"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
# whole names and their short forms; words that only start like a month are none
_NAME = (
    r"(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar|braio|rero)?|f[eé]v(?:rier)?|mar(?:ch|zo|s)?|m[aä]rz|maart|apr(?:il|ile)?"
    r"|avril|abril|may|mayo|mai|mei|maggio|june?|juni|junio|juin|giugno|july?|juli|julio|juillet|luglio|aug(?:ust|ustus)?"
    r"|ao[uû]t|agosto|sept?(?:ember|embre|iembre)?|settembre|okt(?:ober)?|oct(?:ober|obre|ubre)?|ottobre"
    r"|nov(?:ember|embre|iembre)?|dec(?:ember)?|dez(?:ember)?|d[eé]cembre|dicembre|diciembre|gennaio|enero)"
)
_END = r"\b\.?"

_STREET = r"(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct)"
_NUMBERED = r"(?:mrn|ssn|medical record|record no|patient (?:id|no)|acct|account|member id|policy no)"
_VERY_OLD = r"(?:9\d|1[0-2]\d)"
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

# clause and pattern; a text that matches any of them does not leave
PATTERNS: tuple[tuple[str, str], ...] = (
    ("B", r"\b[A-Z]{2},? \d{5}(?:-\d{4})?\b|\b\d{5}-\d{4}\b"),
    ("B", rf"(?i)\b\d{{1,6}}\s+(?:[\p{{L}}.'-]+\s+){{1,4}}{_STREET}\b"),
    ("C", rf"\b\d{{4}}[-/.]{_MONTH}[-/.]{_DAY}(?:\b|T)"),
    ("C", r"(?:^|[^\d./-])\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?:[^\d./-]|\.?$)"),
    ("C", rf"(?i)\b{_DAY}(?:\.|st|nd|rd|th)?[ -]+(?:de |of )?{_NAME}{_END}"),
    ("C", rf"(?i)\b{_NAME}{_END}[ ,-]*(?:the )?{_DAY}(?:st|nd|rd|th)?\b"),
    ("C", rf"(?i)\b{_NAME}{_END}[ ,'-]*(?:de |of )?(?:{_CENTURY}|\d{{2}})\b"),
    ("C", rf"(?i)\b\d{{1,2}}{_NAME}(?:{_CENTURY}|\d{{2}})\b"),
    ("C", rf"(?i)\b(?:{_CENTURY}[ -]?Q[1-4]|Q[1-4][ /-]?{_CENTURY})\b"),
    ("C", rf"^{_CENTURY}[-/.](?:0[1-9]|1[0-2])$|^(?:0[1-9]|1[0-2])[-/.]{_CENTURY}$"),
    ("C", rf"^{_CENTURY}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[T ]?\d{{4,6}}Z?)?$"),
    ("C", rf"(?i)\b(?:aged?|age:)\s*{_VERY_OLD}\b|\b{_VERY_OLD}[ -]?(?:years?[ -]old|yrs?[ -]old|y/?o\b)"),
    ("D", r"(?:^|[^\d-])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?:[^\d-]|$)"),
    ("D", r"(?:^|\s)\+\d{2,3}[ .-]?\d[\d .-]{6,}\d\b"),
    ("F", r"[\p{L}\d._%+-]+\s?@\s?[\p{L}\d-]+(?:\.[\p{L}\d-]+)+"),
    ("G", r"(?:^|[^\d-])\d{3}[- ]\d{2}[- ]\d{4}(?:[^\d-]|$)"),
    ("H", rf"(?i)\b{_NUMBERED}\b\W{{0,3}}(?:number|no)?\W{{0,3}}\w{{0,4}}-?\d{{4,}}"),
    ("J", r"\b[A-Z]{2}\d{2}[ ]?(?:[A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4}\b|\b(?:\d{4}[ -]){3}\d{1,7}\b"),
    ("L", r"\b[A-HJ-NPR-Z\d]*(?:\d[A-HJ-NPR-Z]|[A-HJ-NPR-Z]\d)[A-HJ-NPR-Z\d]*\b"),
    ("M", r"(?i)\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b"),
    ("N", r"(?i)\b(?:https?|ftp)://\S+|\bwww\.[\p{L}\d-]+\.\S+"),
    ("O", rf"(?:^|[^\d.])(?:{_BYTE}\.){{3}}{_BYTE}(?:[^\d.]|$)"),
    ("O", r"(?i)\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b"),
    ("R", r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{32,128}\b"),
)
# A vehicle number has 17 signs; the pattern alone does not count them.
_SEVENTEEN = r"\b[A-HJ-NPR-Z\d]{17}\b"


def hidden(texts: pl.Series) -> dict[str, Array]:
    """Which distinct texts hold an identifier, by clause.

    >>> {clause: found.tolist() for clause, found in hidden(pl.Series(["seen 3/4/2012", "a@b.org", "stable"])).items()}
    {'C': [True, False, False], 'F': [False, True, False]}
    """
    found: dict[str, Array] = {}
    for clause, pattern in PATTERNS:
        hits = texts.str.contains(pattern).fill_null(False)
        if clause == "L" and hits.any():
            hits &= texts.str.contains(_SEVENTEEN).fill_null(False)
        if hits.any():
            found[clause] = found.get(clause, False) | hits.to_numpy()
    return found
