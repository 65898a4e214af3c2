"""Records as points: each column in units of its spread, so that the distances of Eq 2 are plain distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.errors import InputError, Message
from shoal.ranges.boxed import has_order, places_and_spread
from shoal.ranges.forms import ColumnTree
from shoal.storage import Array, Column

# with more categories than this, they lie by their order instead of all apart
MOST_APART = 32
# coordinates lie between these: the square of a distance of many columns is a number in single precision
_LARGEST, _LEAST = 2.0**40, 2.0**-20


def coordinates(
    columns: Sequence[Column],
    importance: Mapping[str, float] | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> Array:
    """A matrix with a row per record, (value - mean) / spread times the column's weight, in single precision.

    Numbers and dates lie by their value, columns with a tree along its walk: from end to end as far as numbers lie
    apart on average. Other categories lie by their order. A missing value lies a whole range behind the largest: it
    mixes with others only where nothing else is left, for such a group is released as `*`.

    >>> from shoal.storage.reading import read
    >>> coordinates(read({"age": [30, 34, None]}).select(["age"])).astype(float).round(3).tolist()
    [[-0.707], [0.707], [2.121]]
    """
    return gathered(coordinate_tables(columns, importance, trees), columns)


def coordinate_tables(
    columns: Sequence[Column],
    importance: Mapping[str, float] | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> list[Array]:
    """Where each code of every column lies."""
    lines = _lines(columns, trees or {})
    return _tables(columns, importance, lambda column: _along(column, lines), np.dtype(np.float32))


def coordinates_apart(
    columns: Sequence[Column],
    importance: Mapping[str, float] | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> Array:
    """The same in double precision, with all categories of a column equally far from each other (up to 32 of them).

    Each category is a coordinate of its own, 1 or 0, scaled so that all together vary as much as one column of numbers.
    With a tree each of its nodes is one: two categories are the farther apart the higher the node that holds both.

    >>> from shoal.storage.reading import read
    >>> coordinates_apart(read({"sex": ["f", "m"]}).select(["sex"])).round(3).tolist()
    [[1.414, 0.0], [0.0, 1.414]]
    """
    trees = trees or {}
    lines = _lines(columns, trees)
    tables = _tables(columns, importance, lambda column: _apart(column, lines, trees), np.dtype(np.float64))
    return gathered(tables, columns)


def _tables(
    columns: Sequence[Column],
    importance: Mapping[str, float] | None,
    places_of: Callable[[Column], Array],
    dtype: np.dtype[Any],
) -> list[Array]:
    importance = dict(importance or {})
    _check_importance(importance, columns)
    places = [places_of(column) for column in columns]
    weights = _weights(places, [float(importance.get(column.name, 1.0)) for column in columns])
    tables = [(place * weight).astype(dtype) for place, weight in zip(places, weights, strict=True)]
    for column, table in zip(columns, tables, strict=True):
        check_points(table, f"Column '{column.name}' has")
    return tables


def gathered(tables: Sequence[Array], columns: Sequence[Column]) -> Array:
    """A matrix with a row per record, from where the codes of each column lie."""
    rows = np.empty((len(columns[0].codes), sum(table.shape[1] for table in tables)), tables[0].dtype)
    at = 0
    for column, table in zip(columns, tables, strict=True):
        for j in range(table.shape[1]):
            rows[:, at + j] = table[:, j][column.codes]
        at += table.shape[1]
    return rows


def _weights(places: Sequence[Array], weights: Sequence[float]) -> list[float]:
    """Weights by which all coordinates are of a size that can be squared; those of ordinary size stay as they are.

    Only what one column weighs against another matters, so all are divided by the same power of two. Columns that are
    lost beside the heaviest still tell records apart that are alike in that one.
    """
    sizes = [float(np.abs(place).max(initial=0.0)) for place in places]
    heights = [
        int(np.frexp(size)[1]) + int(np.frexp(weight)[1]) if size > 0 and weight > 0 else None
        for size, weight in zip(sizes, weights, strict=True)
    ]
    known = [height for height in heights if height is not None]
    top, most, least = max(known, default=0), int(np.log2(_LARGEST)), int(np.log2(_LEAST))
    if least <= top <= most:
        return list(weights)
    down = top - most if top > most else top
    column_weights = []
    for weight, height in zip(weights, heights, strict=True):
        up = 0 if height is None else max(0, least - (height - down))
        column_weights.append(float(np.ldexp(weight, up - down)) if height is not None else 0.0)
    return column_weights


def check_points(rows: Array, what: str = "Some columns have") -> None:
    """Refuse points that are nowhere: compiled loops take for granted that every distance is a number.

    >>> check_points(np.array([[1.0, float("nan")]]))
    Traceback (most recent call last):
    shoal.errors.InputError: Some columns have values that cannot be compared by distance. Leave them out of the ...
    """
    if rows.size and not (np.isfinite(rows.min()) and np.isfinite(rows.max())):
        raise InputError(
            f"{what} values that cannot be compared by distance.",
            Message("Leave them out of the quasi-identifiers, or lower their `{importance}`."),
        )


def _lines(columns: Sequence[Column], trees: Mapping[str, ColumnTree]) -> dict[str, Array]:
    """The places of columns with a tree, as far from end to end as the other numbers and dates are on average."""
    if not trees:
        return {}
    ranges = []
    for column in columns:
        if column.name not in trees and has_order(column):
            values, sigma, _ = places_and_spread(column)
            if sigma > 0:
                ranges.append((values[-1] - values[0]) / sigma)
    width = float(np.mean(ranges)) if ranges else 1.0
    return {name: tree.line() * width for name, tree in trees.items()}


def _along(column: Column, lines: Mapping[str, Array]) -> Array:
    """Where each code lies on one line."""
    if column.name in lines:
        found = lines[column.name]
        top, range_ = found.max(initial=0.0), found.max(initial=0.0) - found.min(initial=0.0)
    else:
        found, sigma, _ = places_and_spread(column)
        found = (found - found.mean()) / sigma if sigma > 0 else np.zeros(len(found))
        top, range_ = (found[-1], found[-1] - found[0]) if len(found) else (0.0, 0.0)
    if column.nulls:
        behind = top + max(range_, 1.0) if len(found) else 0.0
        found = np.append(found, behind)
    return found[:, None]


def _apart(column: Column, lines: Mapping[str, Array], trees: Mapping[str, ColumnTree]) -> Array:
    """Where each code lies, categories apart."""
    tree = trees.get(column.name)
    if (has_order(column) and tree is None) or column.cardinality > MOST_APART:
        return _along(column, lines)
    counts = np.bincount(column.codes, column.records, minlength=column.cardinality)
    shares = counts / counts.sum()
    if tree is None:
        nodes = np.eye(column.cardinality)
        varies = 1.0 - float((shares**2).sum())
    else:
        nodes = _indicators(column, tree)
        varies = float((shares @ nodes**2 - (shares @ nodes) ** 2).sum())
    return nodes / (np.sqrt(varies) if varies > 0 else 1.0)


def _indicators(column: Column, tree: ColumnTree) -> Array:
    """Which node of each level a code is under; null is under none but its own."""
    tables = [np.eye(int(nodes.max()) + 1)[nodes[tree.place]] for nodes in tree.nodes[:-1]]
    found = np.concatenate(tables, axis=1)
    if column.nulls:
        found = np.pad(found, ((0, 1), (0, 1)))
        found[-1, -1] = np.sqrt(len(tables))
    return found


def _check_importance(importance: dict[str, float], columns: Sequence[Column]) -> None:
    names = [column.name for column in columns]
    unknown = [name for name in importance if name not in names]
    if unknown:
        raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers")
    wrong = [name for name, weight in importance.items() if not (weight >= 0 and np.isfinite(weight))]
    if wrong:
        raise InputError(
            f"The importance of '{wrong[0]}' is not a number from 0 on.", "Use 1 for as much as the others."
        )
