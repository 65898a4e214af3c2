"""A hierarchy on a column: the node of each of the column's codes, level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.errors import Message, NotCovered
from shoal.ranges.hierarchy.given import leaf_texts
from shoal.ranges.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column
from shoal.storage.texts import few_texts

# whole numbers up to here are told apart as floats
_EXACT = 2**53


@dataclass(frozen=True)
class Fitted:
    """A hierarchy linked to a column: `codes[level][code]` is the node of a value, null included.

    Nodes that no value of the column reaches are left out; the others are numbered densely in the order of the walk.
    Null is a leaf of its own, without a label until `*`, unless the hierarchy has an empty leaf for it. `leaves` counts
    it, and so do `shares` (leaves under a node / leaves).
    """

    hierarchy: Hierarchy
    column: str
    codes: list[Array] = field(repr=False)
    labels: list[list[str | None]] = field(repr=False)
    shares: list[Array] = field(repr=False)
    ranges: list[tuple[Array, Array]] = field(repr=False)
    leaves: int
    values: int
    missing: int

    @property
    def height(self) -> int:
        return len(self.codes)

    def leaf_ranges(self, level: int) -> tuple[Array, Array]:
        """The first and last place of each node's leaves in the walk; null has the place after the last leaf."""
        return self.ranges[level]


def fit(hierarchy: Hierarchy, column: Column) -> Fitted:
    """Link a hierarchy to a column; values without a leaf are counted in `missing` and stand directly below `*`.

    Numbers match by value (`17.0` is 17), dates and datetimes by the point in time, texts as they are written; blanks
    around a text are overlooked where that leaves no doubt.

    >>> from shoal.storage.reading import read
    >>> age = read({"age": [17, 18, None]})["age"]
    >>> levels = ["17.0", "18", "19"], ["minor", "adult", "adult"], ["*", "*", "*"]
    >>> found = fit(Hierarchy("age", tuple(map(pl.Series, levels))), age)
    >>> found.labels[1], found.codes[1].tolist(), found.shares[1].tolist(), found.missing
    (['minor', 'adult', None], [0, 1, 2], [0.25, 0.5, 0.25], 0)
    """
    texts = leaf_texts(column)
    leaf = leaf_of_each_value(hierarchy.levels[0], column.values, texts)
    lacking = leaf < 0
    missing = int(np.count_nonzero(lacking))
    if missing:
        leaf[lacking] = np.arange(hierarchy.leaves, hierarchy.leaves + missing)
        hierarchy = hierarchy.with_leaves(texts.filter(lacking))
    null_leaf = None
    if column.nulls:
        empty = int(_look_up(hierarchy.levels[0], pl.Series([""]))[0])
        null_leaf = hierarchy.leaves if empty < 0 or empty in leaf else empty
        leaf = np.append(leaf, null_leaf)
    return _on_leaves(hierarchy, column, leaf, null_leaf, missing)


def fit_all(hierarchies: Mapping[str, Hierarchy], columns: Iterable[Column], complete: bool = False) -> list[Fitted]:
    """Every column with its hierarchy; unless `complete`, values without a leaf are one error for all columns at once.

    >>> from shoal.storage.reading import read
    >>> tree = Hierarchy("sex", (pl.Series(["f"]), pl.Series(["*"])))
    >>> fit_all({"sex": tree}, read({"sex": ["f", "m"]}).select(["sex"]), complete=True)[0].labels
    [['f', 'm'], ['*']]
    """
    fitted = [fit(hierarchies[column.name], column) for column in columns]
    lacking = [f"'{found.column}' {found.missing:,} of {found.values:,}" for found in fitted if found.missing]
    if lacking and not complete:
        raise NotCovered(
            f"Values without a leaf in the hierarchy of their column: {', '.join(lacking)}.",
            Message("Add rows for them, or put them directly below * with {complete_hierarchies}."),
        )
    return fitted


def _on_leaves(hierarchy: Hierarchy, column: Column, leaf: Array, null_leaf: int | None, missing: int) -> Fitted:
    """The nodes of the leaves that occur; a null that has no leaf stands behind the last one."""
    null_is_new = null_leaf == hierarchy.leaves
    leaves = hierarchy.leaves + null_is_new
    fitted = Fitted(hierarchy, column.name, [], [], [], [], leaves, len(column.values), missing)
    for level in range(hierarchy.height):
        nodes, (low, high) = hierarchy.node_codes(level), hierarchy.leaf_ranges(level)
        labels: list[str | None] = [*hierarchy.labels(level)]
        if null_is_new:
            nodes = np.append(nodes, len(labels))
            low, high = np.append(low, leaves - 1), np.append(high, leaves - 1)
            labels.append(None)
        elif null_leaf is not None and level == 0:
            labels[nodes[null_leaf]] = None
        if level == hierarchy.height - 1:  # `*` holds null too
            nodes, labels, low, high = np.zeros(leaves, np.int32), [STAR], np.zeros(1, np.int64), np.array([leaves - 1])
        elif level:
            high = np.where([label == STAR for label in labels], leaves - 1, high)
        used, dense = np.unique(nodes[leaf], return_inverse=True)
        fitted.codes.append(dense.astype(np.int32))
        fitted.labels.append([labels[node] for node in used])
        fitted.shares.append((high - low + 1)[used] / max(leaves, 1))
        fitted.ranges.append((low[used], high[used]))
    return fitted


# which leaf a value is


def leaf_of_each_value(leaves: pl.Series, values: pl.Series, texts: pl.Series) -> Array:
    """The leaf of each value, -1 where there is none: as written, then as meant; no leaf is for two values."""
    found = _look_up(leaves, texts)
    if (found >= 0).all():
        return found
    for keys, wanted in _meanings(leaves, values, texts):
        if (found >= 0).all():
            break
        meant = _look_up(keys, wanted)
        claims = np.bincount(np.concatenate([found, meant[found < 0]]) + 1, minlength=len(leaves) + 1)[1:]
        meant[np.isin(meant, np.flatnonzero(claims > 1))] = -1
        found = np.where(found < 0, meant, found)
    return found


def _look_up(keys: pl.Series, wanted: pl.Series) -> Array:
    """The place of each wanted key; -1 where it is not there, or there twice.

    >>> _look_up(pl.Series(["a", "b", "b", None]), pl.Series(["b", "a", None, "c"])).tolist()
    [-1, 0, -1, -1]
    """
    few, asked_for = few_texts(keys), few_texts(wanted)
    if few is not None and asked_for is not None:
        places: dict[str | None, int] = {}
        for place, key in enumerate(few):
            places[key] = -1 if key in places or key is None else place
        return np.array([places.get(text, -1) for text in asked_for], np.int64)
    known = pl.DataFrame({"key": keys, "place": np.arange(len(keys))}).drop_nulls()
    known = known.filter(pl.col("key").is_unique())
    asked = pl.DataFrame({"key": wanted.cast(keys.dtype)})
    joined = asked.join(known, on="key", how="left", maintain_order="left")["place"]
    return joined.fill_null(-1).to_numpy().astype(np.int64)


def _meanings(leaves: pl.Series, values: pl.Series, texts: pl.Series) -> list[tuple[pl.Series, pl.Series]]:
    """Leaves and values as the same type, in the order in which they are compared."""
    bare = leaves.str.strip_chars()
    dtype = values.dtype
    if dtype == pl.Boolean:
        return [(bare.str.to_lowercase(), texts)]
    if dtype.is_numeric():
        floats = [side.cast(pl.Float64, strict=False) for side in (bare, values)]
        exact = [side.set((side.abs() >= _EXACT).fill_null(False), None) + 0.0 for side in floats]
        return [(bare, texts), (exact[0], exact[1])]
    if dtype == pl.Date:
        return [(bare.str.to_date("%Y-%m-%d", strict=False), values)]
    if isinstance(dtype, pl.Datetime):
        return [(_datetimes(bare), values.dt.replace_time_zone(None).cast(pl.Datetime("us")))]
    return [(bare, texts.str.strip_chars())]


def _datetimes(texts: pl.Series) -> pl.Series:
    """`2020-01-31`, `2020-01-31 12:00` and `2020-01-31T12:00:00.5` as points in time."""
    plain = texts.str.replace("T", " ", literal=True)
    moments = plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")
    moments = moments.fill_null(plain.str.to_datetime("%Y-%m-%d %H:%M", strict=False, time_unit="us"))
    return moments.fill_null(plain.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")))
