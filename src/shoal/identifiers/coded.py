"""Columns that a published source names: the header is a variable of a survey, census or register."""

from collections.abc import Iterator
from dataclasses import replace

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence

_MOST_SEXES = 12
_MOST_GROUPS = 150
# kinds of which there are few values: nearly as many as records are numbers of the records
_FEW_CODES = frozenset(("education", "household", "language", "marital-status", "relationship", "religion"))
_MOST_CODES, _OWN = 100, 0.9
# codes of a trait are whole numbers or words
_TRAITS = _FEW_CODES | {"ethnicity", "nationality", "occupation", "sex"}
# no code of a survey is longer
_CODE = r"^[^\n]{0,80}$"


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """What the source says, as far as the values do not contradict it."""
    said = column.listed
    if said is None or column.filled == 0:
        return
    share = fit(column, said.kind)
    clause = f"can be codes or figures of the variable of this name in {said.title}"
    sure = confidence(share, 0.0, said.strength)
    # replicates of a weight and items of a list: names that differ by a number
    rule = "source-series" if said.by_pattern and column.name[-1:].isdigit() else "source"
    found = finding(said.kind, rule, clause, share=share, word=None, sure=sure)
    others = f"{said.matched} columns of this table have names of that source"
    yield replace(found, reason=f"{found.reason.partition(';')[0]}; {others}.")


def fit(column: ColumnEvidence, kind: str) -> float:
    """The share of the records with a value that may be of this kind, where a code book says that it is."""
    if kind == "unique-code":
        return min(1.0, column.distinct_share / 0.02)
    if kind in _FEW_CODES and column.distinct > _MOST_CODES and column.distinct_share > _OWN:
        return 0.0
    if kind in _TRAITS and column.numbers is not None and not column.whole:
        return 0.0
    if kind == "survey-weight":
        return 0.0 if column.numbers is None else 1.0
    if kind == "sex" and column.distinct > _MOST_SEXES:
        return 0.0
    if kind == "age" and column.numbers is None:
        return 0.0 if column.distinct > _MOST_GROUPS else column.share(column.matches(r"\d"))
    return column.share(column.matches(_CODE))
