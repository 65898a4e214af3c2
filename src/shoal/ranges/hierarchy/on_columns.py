"""The tree of every category column as partitions use it: given, of a list that ships, of codes, or built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from shoal.ranges.boxed import has_order
from shoal.ranges.forms import ColumnTree, escape
from shoal.ranges.hierarchy.build import build_hierarchy, kind_of
from shoal.ranges.hierarchy.fit import fit, fit_all, leaf_of_each_value
from shoal.ranges.hierarchy.given import leaf_texts, stacked
from shoal.ranges.hierarchy.numbers import category_steps, set_label
from shoal.ranges.hierarchy.outside import leaves_outside
from shoal.ranges.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column

# A tree of categories that have no order: those are near that go with the same values of the other columns.
#
# Each category is a point, the roots of its shares in the other columns (Hellinger's distance), drawn towards the whole
# table's where it is rare. Clusters are joined by Ward's rule, which costs frequent categories more than rare ones.


# with more categories than this their frequency decides
MOST_CATEGORIES = 500
# the other columns are looked at in so many groups of values
_GROUPS = 32
# frequency decides between joins that cost the same but for rounding
_ALIKE = 1e-9


# of a column, and of groups of the values of others, how often each code goes with each group
PairCounts: TypeAlias = "Callable[[Column, Sequence[tuple[Column, Array, int]]], list[Array]]"


def cooccurrence_tree(column: Column, others: Sequence[Column], pairs: PairCounts | None = None) -> Hierarchy:
    """A tree over a column's categories, built from what they go with in the other columns; linear in rows.

    Each level has half as many nodes as the one below. Without other columns, and for more than 500 categories, the
    rarest are joined first. It depends on the records, not on their order; where two joins cost the same, the rarer
    categories are joined.

    >>> from shoal.storage.reading import read
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
    points = _points(column, records, others, pairs or _pairs_of_rows)
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


def _pairs_of_rows(column: Column, others: Sequence[tuple[Column, Array, int]]) -> list[Array]:
    """The counts of columns whose rows are the same."""
    return [
        np.bincount(
            column.codes.astype(np.int64) * groups + group[other.codes],
            column.records,
            minlength=(len(column.values) + 1) * groups,
        )
        for other, group, groups in others
    ]


def _points(column: Column, records: Array, others: Sequence[Column], pairs: PairCounts) -> Array:
    """A row per category: the roots of its shares in each group of values of each other column."""
    count, tables = len(records), []
    grouped = [(other, *_grouped(other)) for other in others]
    for (_, _, groups), counted in zip(grouped, pairs(column, grouped), strict=True):
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


CategoryLabels = Literal["node", "set"]
# nodes of these are words that people know; clusters of categories are not
_READABLE = ("countries", "us-states", "icd-10", "nace", "isced", "prefix", "dates")


@dataclass(frozen=True)
class ColumnLabelling:
    """How a column is laid out and labelled: its tree, whether its nodes or sets (or ranges) are released, and why."""

    tree: Hierarchy = field(repr=False)
    on_column: ColumnTree = field(repr=False)
    labels: Literal["node", "set", "range"]
    source: str

    @property
    def leaf_numbers(self) -> Array | None:
        """The leaves of a tree over numbers whose ranges are released, in order; None where one is not a number."""
        if self.labels != "range":
            return None
        found = np.sort(self.tree.levels[0].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy())
        return None if np.isnan(found).any() else found


def labellings(
    columns: Sequence[Column],
    given: Mapping[str, Hierarchy],
    category_labels: CategoryLabels | None = None,
    complete: bool = False,
    pairs: PairCounts | None = None,
) -> dict[str, ColumnLabelling]:
    """The labelling of every column of categories, and of numbers and dates that have a given tree.

    Without `category_labels` the nodes of given and shipped trees, and of codes cut from the right, are released, of
    other columns sets. Numbers and dates keep ranges where sets are asked for, and where a label of the tree is a range
    that does not hold its leaf.

    >>> from shoal.storage.reading import read
    >>> table = read({"land": ["FR", "IT", "DE"], "job": ["monk", "poet", "monk"]})
    >>> {name: one.labels for name, one in labellings(table.select(["land", "job"]), {}).items()}
    {'land': 'node', 'job': 'set'}
    """
    fit_all(given, [column for column in columns if column.name in given], complete)
    found = {}
    for column in columns:
        if not len(column.values):
            continue
        if column.name in given:
            found[column.name] = _given(column, given[column.name], category_labels)
        elif not has_order(column) and column.values.dtype in (pl.String, pl.Boolean):
            found[column.name] = _built(column, columns, category_labels, pairs)
    return found


def _given(column: Column, tree: Hierarchy, wanted: CategoryLabels | None) -> ColumnLabelling:
    ordered = has_order(column)
    if ordered and (wanted == "set" or leaves_outside(tree).any()):
        why = "given; ranges were asked for" if wanted == "set" else "given, but its labels do not hold their leaves"
        return ColumnLabelling(tree, on_column(tree, column), "range", why)
    labels: CategoryLabels = wanted or "node"
    tree = unambiguous(tree, column)
    return ColumnLabelling(tree, on_column(tree, column), labels, "given")


def _built(
    column: Column, columns: Sequence[Column], wanted: CategoryLabels | None, pairs: PairCounts | None
) -> ColumnLabelling:
    flat = column.declared is not None and column.declared.word in ("text", "boolean")
    readable = flat or kind_of(column) in _READABLE
    tree = build_hierarchy(column) if readable else cooccurrence_tree(column, columns, pairs)
    tree = unambiguous(tree, column)
    return ColumnLabelling(tree, on_column(tree, column), wanted or ("node" if readable else "set"), tree.source)


def on_column(tree: Hierarchy, column: Column) -> ColumnTree:
    """A tree laid out over the values of a column.

    >>> from shoal.storage.reading import read
    >>> levels = ["Lyon", "Rome", "Nice"], ["FR", "IT", "FR"], ["*", "*", "*"]
    >>> tree = Hierarchy("town", tuple(map(pl.Series, levels)))
    >>> on_column(tree, read({"town": ["Rome", "Nice", "Lyon"]})["town"]).place.tolist()
    [0, 1, 2]
    """
    fitted, count = fit(tree, column), len(column.values)
    # along the walk: the nodes of all levels, the highest first
    order = np.lexsort([codes[:count] for codes in fitted.codes])
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    leaves = [np.rint(shares * fitted.leaves).astype(np.int64) for shares in fitted.shares]
    labels = [[label if label is not None else "" for label in level] for level in fitted.labels]
    nodes = [codes[:count][order].astype(np.int64) for codes in fitted.codes]
    return ColumnTree(place, nodes, labels, leaves, fitted.leaves)


def unambiguous(tree: Hierarchy, column: Column) -> Hierarchy:
    """The tree with one meaning per label: a node that shares its text with another node or a value is renamed.

    >>> from shoal.storage.reading import read
    >>> levels = ["poet", "other", "monk"], ["other", "other", "church"], ["*", "*", "*"]
    >>> tree = Hierarchy("job", tuple(map(pl.Series, levels)))
    >>> unambiguous(tree, read({"job": ["poet"]})["job"]).labels(1)
    ['other (2 values)', 'church']
    """
    texts = leaf_texts(column)
    leaf, places = leaf_of_each_value(tree.levels[0], column.values, texts), np.argsort(tree.leaf_order)
    meaning = {text: (int(place), int(place)) for text, place in zip(tree.levels[0], places, strict=True)}
    for text, shown, own in zip(texts, escape(texts), leaf.tolist(), strict=True):
        at = int(places[own]) if own >= 0 else -1
        meaning[text] = meaning[shown] = (at, at)
    levels, renamed = [tree.levels[0]], False
    for level in range(1, tree.height):
        low, high = tree.leaf_ranges(level)
        labels = tree.labels(level)
        for node, span in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            label = labels[node]
            while label != STAR and meaning.setdefault(label, span) != span:
                more = f" ({span[1] - span[0] + 1:,} values)"
                label = label + "'" if label.endswith((more, "'")) else label + more
            renamed |= label != labels[node]
            labels[node] = label
        levels.append(pl.Series(labels, dtype=pl.String).gather(tree.node_codes(level)))
    return Hierarchy(tree.column, tuple(levels), tree.source, tree.in_values) if renamed else tree
