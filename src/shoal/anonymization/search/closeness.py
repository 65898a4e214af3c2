"""k-anonymity with t-closeness, the usual pair, in one pass over the classes of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal.compiled import compiled
from shoal.models import KAnonymity, Model, TCloseness
from shoal.models.base import TOLERANCE
from shoal.models.closest_part import Tree, most_kept
from shoal.table import Array

# entries of a dense (class, sensitive code) table
_DENSE = 1 << 22


class ClosenessLoop:
    """Judges classes by k and t, and says how much of each a finer node can keep."""

    def __init__(self, k: int, model: TCloseness, tree: Tree) -> None:
        self.name, self.k, self.t, self.tree = model.sensitive, k, model.t, tree
        self.labels = tree.nodes.shape[1]
        self._work = tree.scratch()

    @classmethod
    def of(cls, models: Sequence[Model], sensitive: Mapping[str, Any]) -> ClosenessLoop | None:
        """The loop, if these are its models: k-anonymity and one closeness with nothing missing and no order."""
        sizes = [model.k for model in models if isinstance(model, KAnonymity)]
        others = [model for model in models if isinstance(model, TCloseness)]
        if len(others) != 1 or len(sizes) + 1 != len(models):
            return None
        whole = sensitive[others[0].sensitive].whole
        way = others[0].way(whole)
        if way == "ordered" or whole.unknown_members or whole.members is not None:
            return None
        tree = Tree(whole, way == "hierarchical")
        return cls(max(sizes, default=1), others[0], tree) if tree.height else None

    def fits(self, classes: int) -> bool:
        """Whether a table of all classes and values is small enough."""
        return bool(classes * self.labels <= _DENSE)

    def judge(self, place: Array, sizes: Array, entries: Any) -> tuple[Array, Array]:
        """Which classes are bad, and how many members of each can be kept at most below."""
        bad, kept = np.zeros(len(sizes), np.bool_), np.zeros(len(sizes), np.int64)
        tree = self.tree
        _judge(
            *(place, sizes, entries.of_tuple, entries.code, entries.count, self.k, self.t, TOLERANCE),
            *(tree.nodes[0], tree.shares, tree.first, tree.parent, self._work, bad, kept),
        )
        return bad, kept


@compiled
def _judge(
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
    work: Array,
    bad: Array,
    kept: Array,
) -> None:
    height = len(first) - 2
    number = np.full(len(sizes), -1, np.int64)
    enough = 0
    for c in range(len(sizes)):
        if sizes[c] >= k:
            number[c] = enough
            enough += 1
    members = np.zeros((enough, first[1]), np.int64)
    for e in range(len(entry_tuple)):
        at = number[place[entry_tuple[e]]]
        if at >= 0:
            members[at, leaf[entry_code[e]]] += entry_count[e]
    inner = np.zeros(len(shares))
    for c in range(len(sizes)):
        if number[c] < 0:
            bad[c] = True
            continue
        own = members[number[c]]
        inner[first[1] :] = 0.0
        far = 0.0
        for node in range(first[1]):
            if own[node] > 0:
                share = own[node] / sizes[c]
                inner[parent[node]] += share
                far += max(share - shares[node], 0.0)
        for node in range(first[1], first[height]):
            inner[parent[node]] += inner[node]
            far += max(inner[node] - shares[node], 0.0)
        if far / height <= t + tolerance:
            kept[c] = sizes[c]
            continue
        bad[c] = True
        most = most_kept(own, sizes[c], t, shares, first, parent, work)
        kept[c] = most if most >= k else 0
