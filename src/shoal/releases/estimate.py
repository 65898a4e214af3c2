"""What an analyst can count from an anatomised release: records by exact columns and by the sensitive one, together.

Of a group of n records a meet the exact conditions, and c values the sensitive one. Which are whose is not told, so
that the records that meet both are as many as red balls among a drawn from n with c red ones (hypergeometric):

    estimate = Σ a c / n,    variance = Σ a c (n - a) (n - c) / (n² (n - 1))

and certainly Σ max(0, a + c - n) to Σ min(a, c). The interval holds 95% of all ways in which the values of a group may
be whose. Where the value depends on the conditions, estimates are drawn towards independence: a mate in the group says
nothing about the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.errors import InputError, Message
from shoal.methods.anatomy import COUNT, GROUP, QUASI_IDENTIFIERS, SENSITIVE
from shoal.policy.conditions import ColumnCondition, parse_condition
from shoal.releases.table_set import TableSet
from shoal.results import Figure, Figures, Headline, Result, Section
from shoal.storage import Array, Table
from shoal.storage.reading import read
from shoal.verbs.asking import EstimateRequest
from shoal.verbs.base import takes

_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, repr=False)
class GroupEstimate(Result):
    """How many records meet some conditions: the estimate, its 95% interval, and the bounds that are certain."""

    name: ClassVar[str] = "estimate"

    where: list[str]
    records: int
    estimate: float
    standard_error: float
    low: float
    high: float
    least: int
    most: int

    def summary(self) -> str:
        """The estimate with its interval, and what is certain."""
        return (
            f"About {self.estimate:,.1f} of {self.records:,} records "
            f"(95% interval {self.low:,.1f} to {self.high:,.1f}; certainly {self.least:,} to {self.most:,})."
        )

    def sections(self) -> list[Section]:
        """The same, with its standard error."""
        error = Figure("standard error", f"{self.standard_error:,.2f}")
        return [Headline(self.summary()), Figures([Figure("where", " and ".join(self.where)), error])]


@takes(EstimateRequest)
def estimate(source: Any, request: EstimateRequest) -> GroupEstimate:
    """Count records of an anatomised release that meet conditions (each on one column; all of them must hold).

    >>> estimate("nothing", where=["age>40"])
    Traceback (most recent call last):
    shoal.errors.InputError: nothing is no release by anatomy. Name the folder that the method anatomy wrote.
    """
    release = TableSet.find(source)
    if release is None or release.manifest.kind != "anatomy":
        raise InputError(f"{source} is no release by anatomy.", "Name the folder that the method anatomy wrote.")
    if not request.where:
        raise InputError("Nothing is asked for.", Message("Give a condition: {where='age>40'}."))
    exact, apart = (read(release.source_of(name)) for name in (QUASI_IDENTIFIERS, SENSITIVE))
    conditions = [parse_condition(text) for text in request.where]
    sensitive = release.manifest.policy.sensitive
    about = [one for one in conditions if one.column in sensitive]
    others = [one for one in conditions if one.column not in sensitive]
    exact.select([one.column for one in others])
    counts = apart[COUNT].decode().to_numpy()
    groups = int(max(exact[GROUP].decode().max(), apart[GROUP].decode().max())) + 1  # type: ignore[arg-type,type-var]
    of_row, of_cell = (table[GROUP].decode().to_numpy() for table in (exact, apart))
    n = np.bincount(of_row, minlength=groups).astype(np.float64)
    a = np.bincount(of_row[_meets(others, exact)], minlength=groups)
    met = _meets(about, apart)
    c = np.bincount(of_cell[met], counts[met], minlength=groups)
    return _estimated(list(request.where), n, a, c)


def _meets(conditions: Sequence[ColumnCondition], table: Table) -> Array:
    met = np.ones(table.rows, bool)
    for condition in conditions:
        met &= condition.meets(table[condition.column])
    return met


def _estimated(where: list[str], n: Array, a: Array, c: Array) -> GroupEstimate:
    filled = n > 0
    n, a, c = n[filled], a[filled], c[filled]
    found = float((a * c / n).sum())
    error = float(np.sqrt((a * c * (n - a) * (n - c) / (n**2 * np.maximum(n - 1, 1))).sum()))
    least, most = int(np.maximum(0, a + c - n).sum()), int(np.minimum(a, c).sum())
    low, high = max(found - _NORMAL_95 * error, least), min(found + _NORMAL_95 * error, most)
    return GroupEstimate(where, int(n.sum()), found, error, low, high, least, most)
