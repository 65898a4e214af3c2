"""From the rows of a table to what models look at."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.models.base import Evidence, Histories
from shoal.models.spread import Spread, Whole
from shoal.storage import Array, Column
from shoal.storage.classes import Coded, CountTable, class_of_each_row, first_row_of_each_class, pack, sensitive_counts

# Where members of classes are persons: the cells in which sensitive values are judged, and the persons in each.
#
# The cells of a class are the class as a whole and each combination of quasi-identifiers of its persons.


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


def whole_of(column: Column, weights: Array | None = None, tree: tuple[Array, ...] = ()) -> Whole:
    """A sensitive column in the whole table.

    >>> from shoal.storage.reading import read
    >>> whole_of(read({"x": ["b", "a", "b"]})["x"]).counts.tolist()
    [1, 2]
    """
    counts = np.bincount(column.codes, weights, minlength=column.cardinality)
    return Whole(counts, _is_ordered(column), tuple(tree), column.nulls > 0)


def _is_ordered(column: Column) -> bool:
    return column.dtype.is_numeric() or column.dtype.is_temporal()


def spread_of(
    class_of_row: Array,
    classes: int,
    column: Column,
    weights: Array | None = None,
    tree: tuple[Array, ...] = (),
) -> Spread:
    """A sensitive column over the classes; rows in no class (-1) still belong to the whole table.

    >>> from shoal.storage.reading import read
    >>> spread = spread_of(np.array([0, 0, -1]), 1, read({"x": [5, 7, 5]})["x"])
    >>> spread.codes.tolist(), spread.counts.tolist(), spread.whole.counts.tolist()
    ([0, 1], [1, 1], [2, 1])
    """
    whole = whole_of(column, weights, tree)
    kept = class_of_row >= 0
    codes, rows, counts = column.codes, class_of_row, weights
    if not kept.all():
        codes, rows, counts = codes[kept], rows[kept], None if weights is None else weights[kept]
    found = sensitive_counts(rows, max(classes, 1), Coded(codes, column.cardinality), counts)
    return Spread(found.classes.astype(np.int64), found.codes.astype(np.int64), found.counts, whole)


def evidence_of_rows(
    class_of_row: Array,
    sensitive: Mapping[str, Column],
    *,
    keys: Mapping[str, Array] | None = None,
    stars: Mapping[str, Array] | None = None,
    weights: Array | None = None,
    trees: Mapping[str, tuple[Array, ...]] | None = None,
    populations: Mapping[str, Array] | None = None,
) -> Evidence:
    """Evidence from the class of each row (-1: in no class) and the columns that models ask for.

    >>> from shoal.storage.reading import read
    >>> evidence_of_rows(np.array([0, 1, 1, -1]), read({"x": [1, 1, 2, 3]}).columns).sizes.tolist()
    [1, 2]
    """
    kept = class_of_row >= 0
    count = int(class_of_row.max(initial=-1)) + 1
    everywhere = bool(kept.all())
    counted = weights if weights is None or everywhere else weights[kept]
    classes = class_of_row if everywhere else class_of_row[kept]
    sizes = np.bincount(classes, counted, minlength=count).astype(np.int64)
    spreads = {
        name: spread_of(class_of_row, count, column, weights, (trees or {}).get(name, ()))
        for name, column in sensitive.items()
        if count
    }
    first = np.zeros(0, np.int64)
    if keys and count:
        first = first_row_of_each_class(classes, count)
        first = first if everywhere else np.flatnonzero(kept)[first]
    return Evidence(
        sizes,
        records=len(class_of_row) if weights is None else int(weights.sum()),
        spreads=spreads,
        populations=populations or {},
        keys={name: codes[first] for name, codes in (keys or {}).items()},
        stars={name: star[first] for name, star in (stars or {}).items()} if keys else {},
    )


def evidence_of_persons(
    class_of_person: Array,
    person: Coded,
    shown: Coded,
    sensitive: Mapping[str, Column],
    *,
    keys: Mapping[str, Coded] | None = None,
    trees: Mapping[str, tuple[Array, ...]] | None = None,
    populations: Mapping[str, Array] | None = None,
) -> Evidence:
    """Evidence from the class of each person (-1: in no class), whose record each row is and what it shows.

    `shown`: the combination of quasi-identifiers of each row; `keys`: the codes of each of them, `*` by itself.

    >>> from shoal.storage.reading import read
    >>> person, shown = Coded(np.array([0, 0, 1, 1]), 2), Coded(np.array([0, 1, 0, 1]), 2)
    >>> illness = read({"illness": ["flu", "cold", "cold", "flu"]}).columns
    >>> evidence = evidence_of_persons(np.array([0, 0]), person, shown, illness)
    >>> evidence.sizes.tolist(), evidence.spreads["illness"].distinct.tolist()
    ([2], [1, 2, 2])
    """
    count = int(class_of_person.max(initial=-1)) + 1
    kept = np.flatnonzero(class_of_person[person.codes] >= 0)
    whose = Coded(person.codes[kept], person.cardinality)
    of_record, one_each = class_of_person[whose.codes], np.ones(person.cardinality, np.int64)
    spreads = {}
    for name, column in sensitive.items() if count else ():
        tree = (trees or {}).get(name, ())
        code = Coded(column.codes, column.cardinality)
        whole = whole_of_persons(person, code, one_each, _is_ordered(column), column.nulls > 0, tree)
        at = Coded(shown.codes[kept], shown.cardinality)
        spreads[name] = spread_of_persons(of_record, count, at, whose, column.codes[kept], one_each, whole)
    looked_at = {name: Coded(column.codes, column.cardinality) for name, column in sensitive.items()} | dict(keys or {})
    histories = Histories(
        of_record, whose, {name: Coded(column.codes[kept], column.cardinality) for name, column in looked_at.items()}
    )
    return Evidence(
        np.bincount(class_of_person[class_of_person >= 0], minlength=count),
        records=len(class_of_person),
        spreads=spreads,
        populations=populations or {},
        histories=histories,
    )
