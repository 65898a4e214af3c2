"""Where members of classes are persons: the cells in which sensitive values are judged, and the persons in each.

The cells of a class are the class as a whole and each combination of quasi-identifiers of its persons.
"""

from __future__ import annotations

import numpy as np

from shoal.models.spread import Spread, Whole
from shoal.table import Array
from shoal.table.classes import Coded, CountTable, class_of_each_row, pack


def cells_of(class_of_record: Array, classes: int, shown: Array, combinations: int) -> tuple[Coded, Array]:
    """The cell of each record twice over, first in its class as a whole, then at its combination; and where the cells
    of each class start.

    >>> cells, first = cells_of(np.array([0, 0, 1]), 2, np.array([0, 1, 0]), 2)
    >>> cells.codes.tolist(), first.tolist()
    ([0, 0, 3, 1, 2, 4], [0, 3])
    """
    twice = np.tile(class_of_record, 2)
    place = np.concatenate([np.zeros(len(shown), np.int64), shown.astype(np.int64) + 1])
    cells, count = class_of_each_row(pack([Coded(twice, classes), Coded(place, combinations + 1)]))
    # the class as a whole is the first of its cells
    first = np.zeros(classes, np.int64)
    first[class_of_record] = cells[: len(shown)]
    return Coded(cells, count), first


def whole_of_persons(
    person: Coded, code: Coded, persons: Array, ordered: bool, missing: bool, tree: tuple[Array, ...] = ()
) -> Whole:
    """A sensitive column in the whole table, by the persons who have each value; `persons[p]` are alike as p.

    >>> person, code = Coded(np.array([0, 0, 1]), 2), Coded(np.array([0, 1, 0]), 2)
    >>> whole_of_persons(person, code, np.ones(2, np.int64), False, False).counts.tolist()
    [2, 1]
    """
    pairs = CountTable.of({"code": code, "person": person}).tuples
    codes, whose = pairs["code"].codes, pairs["person"].codes
    counts = np.bincount(codes, persons[whose], minlength=code.cardinality).astype(np.int64)
    has_value = np.zeros(person.cardinality, bool)
    has_value[whose[codes < code.cardinality - missing]] = True
    there = np.zeros(person.cardinality, bool)
    there[whose] = True
    known, unknown = int(persons[has_value].sum()), int(persons[there & ~has_value].sum())
    return Whole(counts, ordered, tuple(tree), missing, known, unknown)


def spread_of_persons(
    class_of_record: Array, classes: int, shown: Coded, person: Coded, code: Array, persons: Array, whole: Whole
) -> Spread:
    """A sensitive column over the cells of classes of persons; every record is in a class.

    >>> person, code = Coded(np.array([0, 0, 1, 1]), 2), Coded(np.array([0, 1, 1, 0]), 2)
    >>> whole = whole_of_persons(person, code, np.ones(2, np.int64), False, False)
    >>> shown = Coded(np.array([0, 1, 0, 1]), 2)
    >>> spread = spread_of_persons(np.zeros(4, int), 1, shown, person, code.codes, np.ones(2, np.int64), whole)
    >>> spread.cells.tolist(), spread.counts.tolist(), spread.disclosed.tolist()
    ([0, 0, 1, 1, 2, 2], [2, 2, 1, 1, 1, 1], [True, False, False])
    """
    cells, first_cell = cells_of(class_of_record, classes, shown.codes, shown.cardinality)
    twice = Coded(np.tile(code, 2), len(whole.counts)), Coded(np.tile(person.codes, 2), person.cardinality)
    found = CountTable.of({"cell": cells, "code": twice[0], "person": twice[1]}).tuples
    cell, codes, whose = (found[name].codes.astype(np.int64) for name in ("cell", "code", "person"))
    new = np.append(True, (cell[1:] != cell[:-1]) | (codes[1:] != codes[:-1]))
    starts = np.flatnonzero(new)
    counts = np.add.reduceat(persons[whose], starts).astype(np.int64)
    known = _persons_in(cell, whose, codes < whole.values, cells.cardinality, persons)
    everyone = _persons_in(cell, whose, np.ones(len(cell), bool), cells.cardinality, persons)
    return Spread(cell[starts], codes[starts], counts, whole, first_cell, known, everyone - known)


def _persons_in(cell: Array, person: Array, which: Array, cells: int, persons: Array) -> Array:
    """How many persons have one of some entries in each cell."""
    if not which.any():
        return np.zeros(cells, np.int64)
    pairs = {"cell": Coded(cell[which], cells), "person": Coded(person[which], len(persons))}
    found = CountTable.of(pairs).tuples
    return np.bincount(found["cell"].codes, persons[found["person"].codes], minlength=cells).astype(np.int64)
