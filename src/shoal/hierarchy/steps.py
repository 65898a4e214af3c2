"""One step of a hierarchy that is built: the node of each value, and the label of each node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR
from shoal.table import Array, Column
from shoal.table.texts import texts_of

Step: TypeAlias = tuple[Array, pl.Series]


def stacked(column: str, leaves: pl.Series, steps: Iterable[Step], source: str, least: int = 2) -> Hierarchy:
    """Levels from steps, finest first, each joining nodes of the one before; a level that joins nothing is left out.

    Above the first level it goes on while `least` nodes are left.

    >>> steps = [(np.array([0, 0, 1]), pl.Series(["x", "y"])), (np.array([0, 0, 0]), pl.Series(["all"]))]
    >>> [level.to_list() for level in stacked("c", pl.Series(["a", "b", "c"]), steps, "by hand").levels]
    [['a', 'b', 'c'], ['x', 'x', 'y'], ['*', '*', '*']]
    """
    levels, nodes = [leaves.alias("")], len(leaves)
    for codes, labels in steps:
        if len(labels) < (2 if len(levels) == 1 else least):
            break
        if len(labels) < nodes:
            levels.append(labels.gather(codes).alias(""))
            nodes = len(labels)
    top = pl.Series([STAR], dtype=pl.String).new_from_index(0, len(leaves))
    return Hierarchy(column, (*levels, top), source)


def leaf_texts(column: Column) -> pl.Series:
    """The values of a column as the texts of leaves; spans of time and bytes have none."""
    if column.values.dtype in (pl.Duration, pl.Binary):
        raise InputError(
            f"Column '{column.name}' holds spans of time or bytes, which have no hierarchy.",
            "Turn them into numbers or text first.",
        )
    return texts_of(column.values)


def spans(texts: pl.Series, nodes: Array) -> Step:
    """Neighbouring values joined: `nodes` rises along them, labels are `[first;last]`; a value alone stays itself.

    >>> codes, labels = spans(pl.Series(["1", "2", "9"]), np.array([0, 0, 3]))
    >>> codes.tolist(), labels.to_list()
    ([0, 0, 1], ['[1;2]', '9'])
    """
    new = np.append(True, nodes[1:] != nodes[:-1])[: len(nodes)]
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(nodes))[: len(first)] - 1
    low, high = texts.gather(first), texts.gather(last)
    return np.cumsum(new) - 1, low.zip_with(pl.Series(first == last), "[" + low + ";" + high + "]")
