"""From the rows of a table to what models look at."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.models.base import Evidence, Histories
from shoal.models.cells import spread_of_persons, whole_of_persons
from shoal.models.spread import Spread, Whole
from shoal.table import Array, Column
from shoal.table.classes import Coded, first_row_of_each_class, sensitive_counts


def whole_of(column: Column, weights: Array | None = None, tree: tuple[Array, ...] = ()) -> Whole:
    """A sensitive column in the whole table.

    >>> from shoal.reading import read
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

    >>> from shoal.reading import read
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

    >>> from shoal.reading import read
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

    >>> from shoal.reading import read
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
