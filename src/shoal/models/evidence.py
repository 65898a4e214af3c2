"""From the rows of a table to what models look at."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.models.base import Evidence, Spread, Whole
from shoal.table import Array, Column
from shoal.table.classes import Coded, first_row_of_each_class, sensitive_counts


def whole_of(column: Column, weights: Array | None = None, tree: tuple[Array, ...] = ()) -> Whole:
    """A sensitive column in the whole table.

    >>> from shoal.reading import read
    >>> whole_of(read({"x": ["b", "a", "b"]})["x"]).counts.tolist()
    [1, 2]
    """
    counts = np.bincount(column.codes, weights, minlength=column.cardinality)
    return Whole(counts, column.dtype.is_numeric() or column.dtype.is_temporal(), tuple(tree))


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
    sizes: Array | None = None,
) -> Evidence:
    """Evidence from the class of each row (-1: in no class) and the columns that models ask for.

    `sizes`: the members of each class where they are persons, not rows.

    >>> from shoal.reading import read
    >>> evidence_of_rows(np.array([0, 1, 1, -1]), read({"x": [1, 1, 2, 3]}).columns).sizes.tolist()
    [1, 2]
    """
    kept = class_of_row >= 0
    count = int(class_of_row.max(initial=-1)) + 1
    if sizes is None:
        counted = None if weights is None else weights[kept]
        sizes = np.bincount(class_of_row[kept], counted, minlength=count).astype(np.int64)
    spreads = {
        name: spread_of(class_of_row, count, column, weights, (trees or {}).get(name, ()))
        for name, column in sensitive.items()
        if count
    }
    first = np.zeros(0, np.int64)
    if keys and count:
        rows = np.flatnonzero(kept)
        first = rows[first_row_of_each_class(class_of_row[rows], count)]
    return Evidence(
        sizes,
        records=len(class_of_row) if weights is None else int(weights.sum()),
        spreads=spreads,
        populations=populations or {},
        keys={name: codes[first] for name, codes in (keys or {}).items()},
        stars={name: star[first] for name, star in (stars or {}).items()} if keys else {},
    )
