"""The tree of every category column as partitions use it: given, of a list that ships, of codes, or built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.hierarchy.build import build_hierarchy, kind_of
from shoal.hierarchy.cooccurrence import cooccurrence_tree
from shoal.hierarchy.fit import fit, fit_all, leaf_of_each_value
from shoal.hierarchy.outside import leaves_outside
from shoal.hierarchy.steps import leaf_texts
from shoal.hierarchy.tree import Hierarchy
from shoal.ranges.boxed import has_order
from shoal.ranges.forms import escape
from shoal.ranges.nodes import ColumnTree
from shoal.ranges.parsing import STAR
from shoal.table import Array, Column

CategoryLabels = Literal["node", "set"]
# nodes of these are words that people know; clusters of categories are not
_READABLE = ("countries", "us-states", "icd-10", "nace", "isced", "prefix", "dates")


@dataclass(frozen=True)
class Labelling:
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
) -> dict[str, Labelling]:
    """The labelling of every column of categories, and of numbers and dates that have a given tree.

    Without `category_labels` the nodes of given and shipped trees, and of codes cut from the right, are released, of
    other columns sets. Numbers and dates keep ranges where sets are asked for, and where a label of the tree is a range
    that does not hold its leaf.

    >>> from shoal.reading import read
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
            found[column.name] = _built(column, columns, category_labels)
    return found


def _given(column: Column, tree: Hierarchy, wanted: CategoryLabels | None) -> Labelling:
    ordered = has_order(column)
    if ordered and (wanted == "set" or leaves_outside(tree).any()):
        why = "given; ranges were asked for" if wanted == "set" else "given, but its labels do not hold their leaves"
        return Labelling(tree, on_column(tree, column), "range", why)
    labels: CategoryLabels = wanted or "node"
    tree = unambiguous(tree, column)
    return Labelling(tree, on_column(tree, column), labels, "given")


def _built(column: Column, columns: Sequence[Column], wanted: CategoryLabels | None) -> Labelling:
    flat = column.declared is not None and column.declared.word in ("text", "boolean")
    readable = flat or kind_of(column) in _READABLE
    tree = build_hierarchy(column) if readable else cooccurrence_tree(column, columns)
    tree = unambiguous(tree, column)
    return Labelling(tree, on_column(tree, column), wanted or ("node" if readable else "set"), tree.source)


def on_column(tree: Hierarchy, column: Column) -> ColumnTree:
    """A tree laid out over the values of a column.

    >>> from shoal.reading import read
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

    >>> from shoal.reading import read
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
