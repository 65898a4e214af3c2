"""k-anonymity with t-closeness, the usual pair, in one pass over the classes of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal.kernels.closeness import Closeness, judge_classes, most_kept
from shoal.models import KAnonymity, Model, TCloseness
from shoal.models.base import TOLERANCE
from shoal.models.distances import DistanceTree, least_within
from shoal.storage import Array

# entries of a dense (class, sensitive code) table
_DENSE = 1 << 22
# values times the square of members up to which the fewest members are asked for that can be within t
_ASKED = 1 << 20


class ClosenessLoop:
    """Judges classes by k and t, and says how much of each a finer node can keep."""

    def __init__(self, k: int, model: TCloseness, tree: DistanceTree, members: int) -> None:
        self.name, self.k, self._labels = model.sensitive, k, tree.nodes.shape[1]
        self._most, self._leaves = members // k, int(tree.first[1])
        self._limits = (tree.for_loops(), k, model.t, TOLERANCE)
        self._make_room(1)

    def _make_room(self, classes: int) -> None:
        """Space for the values of so many classes."""
        self._room = classes
        values = (min(classes, self._most) + 1) * self._leaves
        self._own = Closeness(*self._limits, np.empty(classes, np.int32), np.empty(values, np.int32))

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
        members = int(whole.counts.sum())
        # counted in 32 bits, so that tables of classes and values stay in the cache
        if way == "ordered" or whole.unknown_members or whole.members is not None or members >= 1 << 31:
            return None
        tree = DistanceTree(whole, way == "hierarchical")
        if not tree.height:
            return None
        least = least_within(others[0].t + TOLERANCE, tree, int((_ASKED / len(tree.shares)) ** 0.5))
        return cls(max([*sizes, least]), others[0], tree, members)

    def fits(self, classes: int) -> bool:
        """Whether a table of all classes and values is small enough."""
        return bool(classes * self._labels <= _DENSE)

    def judge(self, place: Array, sizes: Array, entries: Any, bad: Array) -> tuple[int, int]:
        """Mark the classes that are bad: how many members they have, and how many classes are good."""
        if len(sizes) > self._room:
            self._make_room(len(sizes))
        of_tuple, codes, counts = entries.narrow
        suppressed, good = judge_classes(self._own, place, sizes, of_tuple, codes, counts, bad)
        return suppressed, good

    def most_kept(self, sizes: Array, bad: Array) -> Array:
        """How many members of each of the classes that were judged last can be kept at most below."""
        most = np.empty(len(sizes), np.int64)
        most_kept(self._own, sizes, bad, most)
        return most
