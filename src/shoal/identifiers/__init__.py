"""What identifies people: the kind of data in a column, from its header and its values together.

`find_kinds` asks every recogniser (one small file each) and answers with findings that carry their reasons and no
value of the data. How sure a finding is: `shoal.identifiers.base`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from shoal.identifiers.base import (
    DECIDED,
    NOTED,
    QUASI_IDENTIFIER,
    ROLE_OF_KIND,
    SENSITIVE,
    ColumnRecogniser,
    ColumnView,
    Finding,
)

if TYPE_CHECKING:
    RECOGNISERS: dict[str, ColumnRecogniser]

__all__ = ["DECIDED", "RECOGNISERS", "ROLE_OF_KIND", "ColumnRecogniser", "ColumnView", "Finding", "find_kinds"]


@cache
def recognisers() -> dict[str, ColumnRecogniser]:
    """All recognisers by their names; their modules are imported when they are first asked for."""
    from shoal.identifiers import catalogue, dates, labels, vocabularies

    return {
        "age": dates.ages, "coded": labels.by_source, "date_of_birth": dates.birth_dates,
        "event_date": dates.event_dates, "demographics": vocabularies.demographics,
        "free_text": vocabularies.free_text, "labels": labels.by_label, "geography": vocabularies.geography,
        "names": vocabularies.names, "sensitive": vocabularies.sensitive, "sex": vocabularies.sex,
        **catalogue.RECOGNISERS,
    }  # fmt: skip


def __getattr__(name: str) -> Any:
    if name != "RECOGNISERS":
        raise AttributeError(f"module 'shoal.identifiers' has no attribute {name!r}")
    return recognisers()


def find_kinds(view: ColumnView, only: Sequence[str] = ()) -> list[Finding]:
    """The kinds of data that a column seems to hold, best first, at most one finding per kind.

    A confidence of `DECIDED` (0.5) or more is a decision, less is a hint; formula in `shoal.identifiers.base`. Only the
    recognisers of some names are asked where nothing else matters.

    >>> import numpy as np, polars as pl
    >>> values = pl.Series(["ada@example.org", "alan@example.org", "grace@example.com"])
    >>> best = find_kinds(ColumnView("id", values, np.array([1, 1, 1]), 3))[0]
    >>> best.kind, best.confidence
    ('email', 0.98)
    >>> print(best.reason)
    100% of the records with a value have the form of an e-mail address; the header does not speak of it.
    """
    best: dict[str, Finding] = {}
    for found in [*_findings(view, only), *_of_value_labels(view, only)]:
        known = best.get(found.kind)
        if known is None or (-found.confidence, found.rule) < (-known.confidence, known.rule):
            best[found.kind] = found
    kept = (found for found in best.values() if found.confidence >= NOTED)
    return sorted(kept, key=lambda found: (-found.confidence, found.kind))


def _findings(view: ColumnView, only: Sequence[str]) -> Iterator[Finding]:
    """What each recogniser answers."""
    from shoal.identifiers.column import ColumnEvidence

    column = ColumnEvidence(view)
    for name in only or recognisers():
        yield from recognisers()[name](column)


def _of_value_labels(view: ColumnView, only: Sequence[str]) -> Iterator[Finding]:
    """What is found where each code is replaced by its label; only traits, as labels are of everybody."""
    if not view.value_labels:
        return
    from shoal.identifiers.labels import with_labels

    labelled = with_labels(view)
    if labelled is None:
        return
    for found in _findings(labelled, only):
        if ROLE_OF_KIND[found.kind] in (QUASI_IDENTIFIER, SENSITIVE):
            yield replace(found, reason=f"By the labels of its codes: {found.reason}")
