"""(X, Y)-anonymity: every combination of X that occurs is linked to at least k different values of Y."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from shoal.errors import InputError
from shoal.models.base import Evidence, Model
from shoal.table import Array
from shoal.table.classes import Coded, CountTable, class_of_each_row, pack


def _as_names(given: Any) -> Any:
    """One column may stand by itself."""
    return (given,) if isinstance(given, str) else given


class XYAnonymity(Model):
    """At least k distinct values of y for each combination of the columns x (Wang and Fung).

    With a person column as y it is k-anonymity of persons where a person has many rows. Without x the classes of all
    quasi-identifiers are taken. Cost: the sparse counts, regrouped where x is not all quasi-identifiers.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.reading import read
    >>> table = read({"patient": ["a", "a", "b", "c"]})
    >>> rows = evidence_of_rows(np.array([0, 0, 1, 1]), table.columns)
    >>> XYAnonymity(k=2, y="patient").judge(rows).worst
    {'distinct': 1, 'size': 2, 'classes_below': 1}
    """

    figure: ClassVar[str] = "distinct"

    model: Literal["xy-anonymity"] = "xy-anonymity"
    k: Annotated[int, Field(ge=2, strict=True)]
    y: str
    x: Annotated[tuple[str, ...], BeforeValidator(_as_names)] = ()

    @property
    def limit(self) -> float:
        """k"""
        return self.k

    @property
    def needs(self) -> tuple[str, ...]:
        """The column y."""
        return (self.y,)

    @property
    def needs_keys(self) -> bool:
        """Where x is not all quasi-identifiers."""
        return bool(self.x)

    def measure(self, evidence: Evidence) -> Array:
        """Distinct values of y where the class has the same x."""
        spread = evidence.spread(self.y, self.model)
        if not self.x:
            return spread.values
        missing = [name for name in self.x if name not in evidence.keys]
        if missing:
            raise InputError.missing_columns(missing, evidence.keys, "The list of quasi-identifiers")
        columns = [evidence.keys[name] for name in self.x]
        groups, count = class_of_each_row(pack([Coded(codes, int(codes.max()) + 1) for codes in columns]))
        pairs = {"group": Coded(groups[spread.classes], count), "y": Coded(spread.codes, len(spread.whole.counts))}
        distinct = np.bincount(CountTable.of(pairs).tuples["group"].codes, minlength=count)
        return np.asarray(distinct[groups])
