"""A tree of categories that have no order: those are near that go with the same values of the other columns.

Each category is a point, the roots of its shares in the other columns (Hellinger's distance), drawn towards the whole
table's where it is rare. Clusters are joined by Ward's rule, which costs frequent categories more than rare ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.hierarchy.categories import category_steps, set_label
from shoal.hierarchy.steps import leaf_texts, stacked
from shoal.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR
from shoal.table import Array, Column

# with more categories than this their frequency decides
MOST_CATEGORIES = 500
# the other columns are looked at in so many groups of values
_GROUPS = 32
# frequency decides between joins that cost the same but for rounding
_ALIKE = 1e-9


def cooccurrence_tree(column: Column, others: Sequence[Column]) -> Hierarchy:
    """A tree over a column's categories, built from what they go with in the other columns; linear in rows.

    Each level has half as many nodes as the one below. Without other columns, and for more than 500 categories, the
    rarest are joined first. It depends on the records, not on their order; where two joins cost the same, the rarer
    categories are joined.

    >>> from shoal.reading import read
    >>> rows = {"school": ["BSc", "12th", "MSc", "11th"] * 3, "pay": [80, 20, 90, 21] * 3}
    >>> table = read(rows)
    >>> cooccurrence_tree(table["school"], [table["pay"]]).labels(1)
    ['{11th, 12th}', '{BSc, MSc}']
    """
    count = len(column.values)
    records = column.frequencies()
    others = [other for other in others if other.name != column.name and len(other.values) > 1]
    if count > MOST_CATEGORIES or not others:
        return _by_frequency(column, records)
    points = _points(column, records, others)
    order, levels = _joined(points, records)
    texts = leaf_texts(column)
    steps = []
    for number, groups in enumerate(levels):
        labels, taken = [], set(texts)
        for group in range(int(groups.max()) + 1):
            members = texts.filter(pl.Series(groups == group))
            label = members[0] if len(members) == 1 else set_label(members)
            label = f"{{{STAR}}}" if label == STAR else label  # above the leaves it means everything
            if label.startswith("other (") and len(members) > 1:
                label = f"group {number + 1}.{group + 1} ({len(members):,} values)"
            while len(members) > 1 and label in taken:
                label += "'"
            taken.add(label)
            labels.append(label)
        steps.append((groups[order], pl.Series(labels, dtype=pl.String)))
    return stacked(column.name, texts.gather(order), steps, "categories near by what they go with")


def _by_frequency(column: Column, records: Array) -> Hierarchy:
    order = np.argsort(-records, kind="stable")
    steps = [(codes[order], labels) for codes, labels in category_steps(column, 4 if len(records) > _GROUPS else 2)]
    return stacked(column.name, leaf_texts(column).gather(order), steps, "categories, the rarest joined")


def _points(column: Column, records: Array, others: Sequence[Column]) -> Array:
    """A row per category: the roots of its shares in each group of values of each other column."""
    count, tables = len(records), []
    for other in others:
        group, groups = _grouped(other)
        cells = column.codes.astype(np.int64) * groups + group[other.codes]
        counted = np.bincount(cells, column.records, minlength=(count + 1) * groups)
        table = counted[: count * groups].reshape(count, groups)
        whole = table.sum(axis=0) / max(table.sum(), 1)
        tables.append(np.sqrt((table + whole) / (records + 1)[:, None]))
    return np.asarray(np.concatenate(tables, axis=1) / np.sqrt(len(others)))


def _grouped(column: Column) -> tuple[Array, int]:
    """The group of each code: numbers and dates by rank, categories by frequency (the rarest together), null apart."""
    count = len(column.values)
    records = column.frequencies()
    if column.values.dtype.is_numeric() or column.values.dtype.is_temporal():
        before = np.cumsum(records) - records / 2
        group = (before * _GROUPS / max(records.sum(), 1)).astype(np.int64)
    else:
        group = np.empty(count, np.int64)
        group[np.argsort(-records, kind="stable")] = np.minimum(np.arange(count), _GROUPS - 1)
    return np.append(group, _GROUPS), _GROUPS + 1


def _joined(points: Array, records: Array) -> tuple[Array, list[Array]]:
    """The categories in the order of the tree, and per level the cluster of each, numbered in that order."""
    count = len(points)
    apart = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2) if count <= 64 else _apart(points)
    middle, weight = points.copy(), np.maximum(records, 1).astype(float)
    cost = apart * (weight[:, None] * weight / (weight[:, None] + weight))
    total = weight.sum()
    cost += _ALIKE * (weight[:, None] + weight) / total
    np.fill_diagonal(cost, np.inf)
    chains = {place: [place] for place in range(count)}
    wanted, cuts = -(-count // 2), []
    while len(chains) > 1:
        one, two = sorted(divmod(int(cost.argmin()), count))
        chains[one] = _chained(chains[one], chains.pop(two), apart)
        both = weight[one] + weight[two]
        middle[one] = (middle[one] * weight[one] + middle[two] * weight[two]) / both
        weight[one] = both
        cost[two, :] = cost[:, two] = np.inf
        new = ((middle - middle[one]) ** 2).sum(axis=1) * weight * both / (weight + both)
        new += _ALIKE * (weight + both) / total
        left = np.isfinite(cost[one])
        cost[one] = cost[:, one] = np.where(left, new, np.inf)
        if len(chains) == wanted > 1:
            cuts.append([list(chain) for chain in chains.values()])
            wanted = -(-wanted // 2)
    order = np.array(next(iter(chains.values())), np.int64)
    if records[order[-1]] > records[order[0]]:
        order = order[::-1]
    return order, [_numbered(clusters, order) for clusters in cuts]


def _apart(points: Array) -> Array:
    squares = (points**2).sum(axis=1)
    return np.asarray(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0))


def _chained(one: list[int], two: list[int], apart: Array) -> list[int]:
    """Two chains end to end, turned so that the ends that meet are nearest."""
    turned = [(a, b) for a in (one, one[::-1]) for b in (two, two[::-1])]
    first, last = min(turned, key=lambda pair: apart[pair[0][-1], pair[1][0]])
    return first + last


def _numbered(clusters: list[list[int]], order: Array) -> Array:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    found = np.empty(len(order), np.int64)
    for number, members in enumerate(sorted(clusters, key=lambda members: int(place[members].min()))):
        found[members] = number
    return found
