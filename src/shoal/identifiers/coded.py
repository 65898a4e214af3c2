"""Columns that a published source names: the header is a variable of a survey, census or register."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.letters import squeeze
from shoal.wording import counted

_MOST_SEXES = 12
_MOST_GROUPS = 150
# kinds of which there are few values: nearly as many as records are numbers of the records
_FEW_CODES = frozenset(("education", "household", "language", "marital-status", "relationship", "religion"))
_MOST_CODES, _OWN = 100, 0.9
# what a survey notes of itself has few values: many texts under such a header are something of people
_OF_THE_SURVEY = frozenset(("survey-design", "survey-process"))
# codes of a trait are whole numbers or words
_TRAITS = _FEW_CODES | {"ethnicity", "nationality", "occupation", "sex"}
# headers of weights of bodies, if numbers are such, and how far those go
_WEIGHED = re.compile(r"(body|birth)?(weight|wt|gewicht|peso|poids)(g|gr|gm|grams?|kg|lbs?|oz)?")
_HEAVIEST, _TIMES = 7_000.0, 3.0
# no code of a survey is longer
_CODE = r"^[^\n]{0,80}$"


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """What the source says, as far as the values do not contradict it."""
    said = column.listed
    if said is None or column.filled == 0:
        return
    share = fit(column, said.kind)
    clause = f"fit the variable of this name in {said.title}"
    sure = confidence(share, 0.0, said.strength)
    # replicates of a weight and items of a list: names that differ by a number
    rule = "source-series" if said.by_pattern and column.name[-1:].isdigit() else "source"
    found = finding(said.kind, rule, clause, share=share, word=None, sure=sure)
    others = f"{counted(said.matched, 'column')} of this table {'is' if said.matched == 1 else 'are'} named as there"
    yield replace(found, reason=f"{found.reason.partition(';')[0]}; {others}.")


def fit(column: ColumnEvidence, kind: str) -> float:
    """The share of the records with a value that may be of this kind, where a code book says that it is."""
    if kind == "unique-code":
        return min(1.0, column.distinct_share / 0.02)
    if kind in _FEW_CODES and column.distinct > _MOST_CODES and column.distinct_share > _OWN:
        return 0.0
    if kind in _TRAITS and column.numbers is not None and not column.whole:
        return 0.0
    if kind in _OF_THE_SURVEY and column.numbers is None and column.distinct > _MOST_CODES:
        return 0.0
    if kind == "survey-weight":
        return 0.0 if column.numbers is None or is_weighed(column.name, column.numbers) else 1.0
    if kind == "sex" and column.distinct > _MOST_SEXES:
        return 0.0
    if kind == "age" and column.numbers is None:
        return 0.0 if column.distinct > _MOST_GROUPS else column.share(column.matches(r"\d"))
    return column.share(column.matches(_CODE))


def is_weighed(name: str, numbers: ArrayLike) -> bool:
    """Whether a column of weights holds those of bodies: nobody has many times the weight of others, in kilograms,
    pounds or, of babies and birds, in grams.

    >>> is_weighed("weight", [2100, 3300, 4900]), is_weighed("weight", [800, 1200, 9000])
    (True, False)
    """
    known = np.asarray(numbers, dtype=np.float64)
    known = known[~np.isnan(known)]
    return bool(
        _WEIGHED.fullmatch(squeeze(name)) and len(known) and known.max() <= min(_HEAVIEST, _TIMES * np.median(known))
    )
