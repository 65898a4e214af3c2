"""Boxes of categories as nodes of a tree: one text per box, the lowest node that holds all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.ranges.boxed import ALL_MISSING, NONE_MISSING, SOME_MISSING, Boxed, Sets, Side, places
from shoal.ranges.parsing import STAR
from shoal.table import Array, Column
from shoal.table.texts import texts_of
from shoal.table.unite import exact_texts


@dataclass(frozen=True)
class ColumnTree:
    """A tree over the values of a column, laid out along its depth-first walk.

    `place[code]` is where a value lies among those of the column. `nodes[level][place]` is its node, `labels[level]`
    the nodes' texts, `leaves[level]` how many leaves of the tree lie under each, of `total` (a missing value is one).
    Nodes of a level are numbered along the walk, so that each is one range of places.
    """

    place: Array
    nodes: list[Array]
    labels: list[list[str]]
    leaves: list[Array]
    total: int

    def cover(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The level and the number of the lowest node that holds the places low .. high.

        >>> tree = ColumnTree(np.arange(3), [np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)], [], [], 3)
        >>> [found.tolist() for found in tree.cover(np.array([0, 0, 1]), np.array([0, 1, 2]))]
        [[0, 1, 2], [0, 0, 0]]
        """
        level, node = np.full(len(low), len(self.nodes) - 1), np.zeros(len(low), np.int64)
        for number in range(len(self.nodes) - 1, -1, -1):
            same = self.nodes[number][low] == self.nodes[number][high]
            level[same], node[same] = number, self.nodes[number][low][same]
        return level, node

    def number(self, level: Array, node: Array) -> Array:
        """The nodes of all levels numbered one after the other."""
        sizes = np.array([len(leaves) for leaves in self.leaves])
        return np.asarray((np.cumsum(sizes) - sizes)[level] + node)

    def line(self) -> Array:
        """Where each value lies between 0 and 1: neighbours are as far apart as the node that holds both is wide.

        >>> tree = ColumnTree(np.arange(3), [np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)], [],
        ...     [np.ones(3), np.array([2, 1]), np.array([3])], 3)
        >>> tree.line().tolist()
        [0.0, 0.4, 1.0]
        """
        at = np.arange(len(self.place))
        level, node = self.cover(at[:-1], at[1:])
        gaps = np.concatenate(self.leaves)[self.number(level, node)]
        steps = np.concatenate([[0.0], np.cumsum(gaps)])[: len(at)]
        return np.asarray((steps / steps[-1] if len(at) > 1 else steps)[self.place])


@dataclass(frozen=True)
class Nodes(Sets):
    """One column of boxes that are released as nodes: set s is written as texts[s] and holds leaves[s] of `total`."""

    texts: pl.Series = None  # type: ignore[assignment]
    leaves: Array = None  # type: ignore[assignment]
    total: int = 0


def as_nodes(column: Column, boxed: Boxed, tree: ColumnTree) -> Nodes:
    """The boxes of a column, each widened to the lowest node of the tree that holds its records.

    >>> from shoal.ranges.boxed import box_clusters
    >>> from shoal.reading import read
    >>> town = read({"town": ["Lyon", "Nice", "Rome"]})["town"]
    >>> tree = ColumnTree(np.arange(3), [np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)],
    ...     [["Lyon", "Nice", "Rome"], ["FR", "IT"], ["*"]], [np.ones(3), np.array([2, 1]), np.array([3])], 3)
    >>> as_nodes(town, box_clusters([town], np.arange(3), np.array([0, 2])), tree).texts.to_list()
    ['Rome', 'FR']
    """
    side = boxed.sides[column.name]
    place = np.append(tree.place, 0) if column.nulls else tree.place
    order = np.argsort(boxed.box_of_row, kind="stable")
    starts = np.searchsorted(boxed.box_of_row[order], np.arange(boxed.boxes))
    shown = place[column.codes][order]
    missing = np.zeros(boxed.boxes, np.int64) if side.missing is None else side.missing
    return nodes_over(column, tree, np.minimum.reduceat(shown, starts), np.maximum.reduceat(shown, starts), missing)


def nodes_over(column: Column, tree: ColumnTree, first: Array, last: Array, missing: Array) -> Nodes:
    """Boxes that span the places first .. last of a tree, each widened to the lowest node that holds them."""
    values, missing = len(column.values), missing.copy()
    level, node = tree.cover(first, last)
    star = np.array([label == STAR for labels in tree.labels for label in labels], bool)[tree.number(level, node)]
    missing[(level > 0) & star & (missing == NONE_MISSING)] = SOME_MISSING
    # what these hold is told by `missing` alone; a tree may have a leaf that only a missing value has
    level[missing == ALL_MISSING], node[missing == ALL_MISSING] = 0, tree.nodes[0][0]
    level[missing == SOME_MISSING], node[missing == SOME_MISSING] = len(tree.nodes) - 1, 0
    pairs, set_of_box = np.unique(np.stack([level, node]), axis=1, return_inverse=True)
    code_at = np.argsort(tree.place, kind="stable")
    members = [np.sort(code_at[tree.nodes[one] == other]) for one, other in pairs.T.tolist()]
    texts, own = [], texts_of(column.values).to_list()
    for (one, other), held in zip(pairs.T.tolist(), members, strict=True):
        texts.append(own[held[0]] if one == 0 else tree.labels[one][other])
    leaves = np.array([tree.leaves[one][other] for one, other in pairs.T.tolist()])
    low, high = (np.array([held[end] for held in members])[set_of_box.ravel()] for end in (0, -1))
    return Nodes(
        places(column), low, np.minimum(high, values - 1), missing if missing.any() else None, None,
        set_of_box.ravel(), np.concatenate([[0], np.cumsum([len(held) for held in members])]),
        np.concatenate(members), exact_texts(column.values),
        pl.Series(texts, dtype=pl.String), np.where(pairs[0] == 0, 1, leaves), tree.total,
    )  # fmt: skip


def with_short_sets(side: Side, most: int) -> Side:
    """The same boxes of categories, `*` instead of a set of more than `most` members.

    >>> from shoal.ranges.boxed import box_clusters
    >>> from shoal.reading import read
    >>> jobs = read({"job": ["clerk", "monk", "poet", "smith"]}).select(["job"])
    >>> side = box_clusters(jobs, np.arange(4), np.array([0, 3])).sides["job"]
    >>> with_short_sets(side, 2).starred.tolist()
    [True, False]
    """
    if not isinstance(side, Sets):
        return side
    long = (np.diff(side.starts) > most)[side.set_of_box]
    if not long.any():
        return side
    values, sets = len(side.scale), len(side.starts) - 1
    missing = np.zeros(len(long), np.int64) if side.missing is None else side.missing
    missing = np.where(long, SOME_MISSING, missing)
    starred = missing == SOME_MISSING
    return replace(
        side,
        low=np.where(starred, 0, side.low),
        high=np.where(starred, values - 1, side.high),
        missing=missing,
        set_of_box=np.where(starred, sets, side.set_of_box),
        starts=np.append(side.starts, side.starts[-1] + values),
        members=np.append(side.members, np.arange(values)),
    )
