"""What was replaced in the text columns of a release, as its owner and as the public may know it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import polars as pl

from shoal.dataclasses import dataclass
from shoal.scrubbing.scrubbed_column import ScrubbedColumn
from shoal.vocabulary import LEAST_SHOWN
from shoal.wording import counted, in_words

RULES_MISS = (
    "rules and lists cannot find a name without a sign that it is one (no title, no capital, in no list), nor what "
    "tells who somebody is by its meaning (a rare job, a well-known accident)"
)


def shown_counts(counts: Mapping[str, int]) -> dict[str, int | str]:
    """Counts as the public may see them: those of 1 to 10 are not told.

    >>> shown_counts({"name": 120, "ip": 2})
    {'name': 120, 'ip': '1-10'}
    """
    return {kind: f"1-{LEAST_SHOWN - 1}" if 0 < count < LEAST_SHOWN else count for kind, count in counts.items()}


@dataclass(frozen=True, repr=False)
class ScrubbedText:
    """The text columns of a release: what was replaced, by kind; the values of `known` and `person` were looked for.

    `known_from`: values of a file beside the table were looked for too, so the table alone does not say what is gone.
    """

    replace: str
    known: list[str]
    person: str | None
    engine: str
    columns: list[ScrubbedColumn] = field(default_factory=list)
    known_from: bool = False

    @property
    def names(self) -> list[str]:
        """The columns of text."""
        return [column.name for column in self.columns]

    def series(self, name: str) -> pl.Series:
        """A column with its identifiers replaced."""
        return next(column for column in self.columns if column.name == name).series()

    def in_public(self) -> dict[str, Any]:
        """What a manifest says: counts of 1 to 10 are not told."""
        return {
            "text": self.names,
            "known": self.known,
            "person": self.person,
            "known_from": self.known_from,
            "replace": self.replace,
            "engine": self.engine,
            "cannot_find": RULES_MISS,
            "columns": {column.name: _in_public(column) for column in self.columns},
        }

    def notes(self) -> list[str]:
        """One sentence per column for the owner of the data."""
        found = []
        for column in self.columns:
            counts = column.counts()
            kinds = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.most_common()]
            said = f": {in_words(kinds, 30)}" if kinds else ""
            found.append(
                f"{column.name}: {column.changed:,} of {counted(column.notes, 'note')} changed, "
                f"{counted(counts.total(), 'identifier')} replaced{said}"
            )
        return [*found, RULES_MISS] if found else []


def _in_public(column: ScrubbedColumn) -> dict[str, Any]:
    counts = shown_counts({"notes": column.notes, "changed": column.changed, "known_found": column.known_found()})
    return {
        **counts,
        "spans": shown_counts(_sorted(column.counts())),
        "records": shown_counts(_sorted(column.records())),
    }


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
