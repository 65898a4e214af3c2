"""k-anonymity with t-closeness, the usual pair, in one pass over the classes of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal.compiled import compiled
from shoal.models import KAnonymity, Model, TCloseness
from shoal.models.base import TOLERANCE
from shoal.models.closest_part import Tree, least_within, most_kept
from shoal.table import Array

# entries of a dense (class, sensitive code) table
_DENSE = 1 << 22
# values times the square of members up to which the fewest members are asked for that can be within t
_ASKED = 1 << 20


class ClosenessLoop:
    """Judges classes by k and t, and says how much of each a finer node can keep."""

    def __init__(self, k: int, model: TCloseness, tree: Tree, members: int) -> None:
        self.name, self.k, self.t, self.tree = model.sensitive, k, model.t, tree
        self.labels = tree.nodes.shape[1]
        # narrow counts: tables of classes and values stay in the cache
        self.counts: type = np.int32 if members < 1 << 31 else np.int64
        self._work = tree.scratch()

    @classmethod
    def of(cls, models: Sequence[Model], sensitive: Mapping[str, Any]) -> ClosenessLoop | None:
        """The loop, if these are its models: k-anonymity and one closeness with nothing missing and no order.

        Classes that are too small to be within t, whatever their values are, count as those below k: no finer node
        keeps them.
        """
        sizes = [model.k for model in models if isinstance(model, KAnonymity)]
        others = [model for model in models if isinstance(model, TCloseness)]
        if len(others) != 1 or len(sizes) + 1 != len(models):
            return None
        whole = sensitive[others[0].sensitive].whole
        way = others[0].way(whole)
        if way == "ordered" or whole.unknown_members or whole.members is not None:
            return None
        tree = Tree(whole, way == "hierarchical")
        if not tree.height:
            return None
        least = least_within(others[0].t + TOLERANCE, tree, int((_ASKED / len(tree.shares)) ** 0.5))
        return cls(max([*sizes, least]), others[0], tree, int(whole.counts.sum()))

    def fits(self, classes: int) -> bool:
        """Whether a table of all classes and values is small enough."""
        return bool(classes * self.labels <= _DENSE)

    @property
    def leaves(self) -> int:
        """The values at the bottom of the tree."""
        return int(self.tree.first[1])

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The tree as loops take it."""
        tree = self.tree
        return tree.nodes[0], tree.shares, tree.first, tree.parent

    def judge(self, place: Array, sizes: Array, entries: Any) -> tuple[Array, Array]:
        """Which classes are bad, and how many members of each can be kept at most below."""
        bad, number = np.zeros(len(sizes), np.bool_), np.zeros(len(sizes), np.int32)
        spread: Array = np.zeros((int(np.count_nonzero(sizes >= self.k)) + 1) * self.leaves, self.counts)
        of_tuple, code, count = entries.narrow
        counted = (place, sizes, of_tuple, code, count)
        count_and_judge(*counted, self.k, self.t, TOLERANCE, *self.arrays, number, spread, bad)
        kept = np.zeros(len(sizes), np.int64)
        most_kept_of_all(sizes, number, spread, bad, self.k, self.t, *self.arrays[1:], self._work, kept)
        return bad, kept


@compiled
def count_and_judge(
    place: Array,
    sizes: Array,
    entry_tuple: Array,
    entry_code: Array,
    entry_count: Array,
    k: int,
    t: float,
    tolerance: float,
    leaf: Array,
    shares: Array,
    first: Array,
    parent: Array,
    number: Array,
    spread: Array,
    bad: Array,
) -> None:
    """Which classes have less than k members, or values too far from those of all.

    The values of the classes with k members and more are counted in `spread`, from `number` on.
    """
    height, leaves = len(first) - 2, first[1]
    enough = 0
    for c in range(len(sizes)):
        enough += sizes[c] >= k
    # the values of all others go to one row behind
    spread[: (enough + 1) * leaves] = 0
    last = enough * leaves
    enough = 0
    for c in range(len(sizes)):
        bad[c] = sizes[c] < k
        number[c] = last
        if not bad[c]:
            number[c] = enough * leaves
            enough += 1
    for e in range(len(entry_tuple)):
        spread[number[place[entry_tuple[e]]] + leaf[entry_code[e]]] += entry_count[e]
    inner = np.zeros(len(shares))
    for c in range(len(sizes)):
        if bad[c]:
            continue
        own = spread[number[c] : number[c] + leaves]
        allowed = (t + tolerance) * height * sizes[c]
        far = 0.0
        for node in range(leaves):
            far += max(own[node] - sizes[c] * shares[node], 0.0)
        # what is too far already only gets farther
        if far <= allowed:
            inner[leaves:] = 0.0
            for node in range(leaves):
                inner[parent[node]] += own[node]
            for node in range(leaves, first[height]):
                inner[parent[node]] += inner[node]
                far += max(inner[node] - sizes[c] * shares[node], 0.0)
        bad[c] = far > allowed


@compiled
def most_kept_of_all(
    sizes: Array,
    number: Array,
    spread: Array,
    bad: Array,
    k: int,
    t: float,
    shares: Array,
    first: Array,
    parent: Array,
    work: Array,
    kept: Array,
) -> None:
    """How many members of each class finer ones can keep at most, by what `count_and_judge` has found."""
    leaves = first[1]
    for c in range(len(sizes)):
        kept[c] = 0
        if not bad[c]:
            kept[c] = sizes[c]
        elif sizes[c] >= k:
            own = spread[number[c] : number[c] + leaves]
            kept[c] = most_kept(own, sizes[c], k, t, shares, first, parent, work)
