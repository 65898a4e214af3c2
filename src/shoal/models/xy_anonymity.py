"""(X, Y)-anonymity: every combination of X that occurs is linked to at least k different values of Y."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from shoal.errors import InputError
from shoal.models.base import Evidence, Histories, Model
from shoal.models.evidence import cells_of
from shoal.storage import Array
from shoal.storage.classes import Coded, CountTable, class_of_each_person, class_of_each_row, pack


def _as_names(given: Any) -> Any:
    """One column may stand by itself."""
    return (given,) if isinstance(given, str) else given


class XYAnonymity(Model):
    """At least k distinct values of y for each combination of the columns x (Wang and Fung).

    With a person column as y it is k-anonymity of persons where a person has many rows. Without x the classes of all
    quasi-identifiers are taken. Where members are persons, x is the whole history of a person in these columns: k
    values of y for persons of equal history, as a whole and at each of its combinations. A missing y is not a value.
    Cost: the sparse counts, regrouped where x is not all quasi-identifiers.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"patient": ["a", "a", "b", "c"]})
    >>> rows = evidence_of_rows(np.array([0, 0, 1, 1]), table.columns)
    >>> XYAnonymity(k=2, y="patient").judge(rows).worst
    {'distinct': 1, 'size': 2, 'failing_classes': 1}
    """

    figure: ClassVar[str] = "distinct"
    bound: ClassVar[str] = "k"

    model: Literal["xy-anonymity"] = "xy-anonymity"
    k: Annotated[int, Field(ge=2, le=2**53, strict=True)]
    y: str
    x: Annotated[tuple[str, ...], BeforeValidator(_as_names)] = ()

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
            return spread.worst(spread.values, at_most=False)
        keys = evidence.keys if evidence.histories is None else evidence.histories.keys
        missing = [name for name in self.x if name not in keys]
        if missing:
            raise InputError.missing_columns(missing, keys, "The list of quasi-identifiers")
        if evidence.histories is not None:
            return self._by_history(evidence.histories, spread.whole.missing)
        groups, count = class_of_each_row(pack([column for name in self.x for column in _apart(evidence, name)]))
        pairs = {"group": Coded(groups[spread.cells], count), "y": Coded(spread.codes, len(spread.whole.counts))}
        known = Coded(spread.is_value.astype(np.int64), 2)
        distinct = CountTable.of({"known": known, **pairs}).tuples
        of_group = distinct["group"].codes[distinct["known"].codes == 1]
        return np.bincount(of_group, minlength=count)[groups]

    def _by_history(self, histories: Histories, missing: bool) -> Array:
        """Persons of equal history in x: the fewest values of y, of them all and at each combination."""
        shown, count = class_of_each_row(pack([histories.keys[name] for name in self.x]))
        of_person, groups = class_of_each_person(shown, count, histories.person)
        of_record = of_person[histories.person.codes]
        y = histories.keys[self.y]
        cells, first_cell = cells_of(of_record, groups, shown, count)
        both = {"cell": Coded(cells.codes, cells.cardinality), "y": Coded(np.tile(y.codes, 2), y.cardinality)}
        pairs = CountTable.of(both).tuples
        known = pairs["y"].codes < y.cardinality - missing
        distinct = np.bincount(pairs["cell"].codes[known], minlength=cells.cardinality)
        fewest = np.minimum.reduceat(distinct, first_cell)
        found = np.zeros(int(histories.class_of_record.max()) + 1, np.int64)
        found[histories.class_of_record] = fewest[of_record]
        return found


def _apart(evidence: Evidence, name: str) -> list[Coded]:
    """What tells classes apart in a column: `*` is never the one value that happens to be left to see."""
    codes = evidence.keys[name]
    found = [Coded(codes, int(codes.max()) + 1)]
    return [*found, Coded(evidence.stars[name].astype(np.int64), 2)] if name in evidence.stars else found
