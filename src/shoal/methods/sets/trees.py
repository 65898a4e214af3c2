"""The tree over items: given, or built from codes that say their groups, or from which items are bought together."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.models.item_sets import ItemSets
from shoal.policy import Policy
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.build import build_hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, stacked
from shoal.ranges.parsing import set_labels
from shoal.storage import Array
from shoal.storage.encode import encode

# ICD-10, ATC and codes like them: a letter and two digits at the start
_CODES = r"^[A-Z][0-9]{2}[A-Z0-9.]*$"
# of so many items it is worked out which are near each other, and so many stand in one label at most
_MOST_ITEMS, _LARGEST_SET = 2_000, 8


def tree_of_items(column: str, labels: pl.Series, sets: ItemSets, policy: Policy) -> Hierarchy | None:
    """The tree of a column of items; None where there are too many or too few to build one.

    >>> sets = ItemSets.of(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]), 2)
    >>> tree = tree_of_items("drug", pl.Series(["A01", "A02", "B01", "B02"]), sets, Policy())
    >>> tree.source, tree.levels[1].to_list()
    ('codes cut from the right', ['A0*', 'A0*', 'B0*', 'B0*'])
    >>> tree_of_items("drug", pl.Series(["p", "q", "r", "s"]), sets, Policy()).levels[1].to_list()
    ['[p, q]', '[p, q]', '[r, s]', '[r, s]']
    """
    given = given_hierarchies(policy.hierarchies, [column]).get(column)
    if given is not None:
        known = given.levels[0]
        return given.with_leaves(labels.filter(~labels.is_in(known.implode())).to_list())
    if len(labels) and labels.str.contains(_CODES).mean() >= 0.9:  # type: ignore[operator]
        return _by_prefix(column, labels)
    if policy.separator and policy.separator in "[, ]":
        return None  # a set would not be told from its items
    return _by_co_occurrence(column, labels, sets) if 3 < len(labels) <= _MOST_ITEMS else None


def _by_prefix(column: str, labels: pl.Series) -> Hierarchy:
    tree = build_hierarchy(encode(labels.alias(column)), "prefix")
    shorter = [tree.levels[0]]
    for number, level in enumerate(tree.levels[1:], 1):
        # masked to the length of each code elsewhere; among items a prefix is a prefix, and of one item the item
        alone = (np.bincount(tree.node_codes(number)) == 1)[tree.node_codes(number)] & (level != "*").to_numpy()
        shorter.append(tree.levels[0].zip_with(pl.Series(alone), level.str.replace(r"\*+$", "*")))
    return Hierarchy(column, tuple(shorter), tree.source)


def _by_co_occurrence(column: str, labels: pl.Series, sets: ItemSets) -> Hierarchy:
    """Items that occur with the same others stand beside each other, and are joined two by two, four by four, …"""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.sparse import csr_array

    ones = np.ones(len(sets.items))
    persons = csr_array((ones, (sets.owner, sets.code[sets.items])), (sets.persons, len(labels)))
    together = (persons.T @ persons).toarray()
    near = together / np.maximum(np.sqrt((together**2).sum(axis=1, keepdims=True)), 1e-12)
    order = leaves_list(linkage(near, "average"))
    place = np.empty(len(labels), np.int64)
    place[order] = np.arange(len(labels))

    def step(size: int) -> tuple[Array, pl.Series]:
        group = place // size
        texts = labels.to_list()
        names = [sorted(texts[one] for one in order[first : first + size]) for first in range(0, len(order), size)]
        written = [set_labels(pl.Series(own)).to_list() for own in names]
        return group, pl.Series([own[0] if len(own) == 1 else "[" + ", ".join(own) + "]" for own in written])

    sizes = [2**power for power in range(1, 4) if 2**power <= _LARGEST_SET]
    return stacked(column, labels, map(step, sizes), "items that occur together")


def released_rows(tree: Hierarchy, shown: set[str]) -> list[list[str]]:
    """The rows of a tree below nodes that are shown: what a reader needs to know what they hold."""
    needed = np.zeros(tree.leaves, bool)
    for level in range(1, tree.height - 1):
        labels = tree.levels[level]
        needed |= (labels.is_in(list(shown)) & (labels != tree.levels[0])).to_numpy()
    rows = zip(*(level.filter(pl.Series(needed)).to_list() for level in tree.levels), strict=True)
    return [list(row) for row in rows]
