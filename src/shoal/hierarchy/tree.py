"""The tree of a column: its leaves, and level by level what each leaf becomes, up to `*`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.hierarchy.problems import HierarchyError, codes_of, find_problems
from shoal.ranges.parsing import STAR
from shoal.table import Array
from shoal.writing import write_whole

# of trees with so few leaves the texts are kept as lists
_SMALL = 10_000


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """How a column gets coarser: `levels[0]` are the leaves, `levels[-1]` is `*` everywhere, each level joins the last.

    Nodes of a level are numbered, and leaves placed, in the order of a depth-first walk: every node is one range of
    places.

    >>> levels = ["Lyon", "Rome", "Nice"], ["FR", "IT", "FR"], ["*", "*", "*"]
    >>> tree = Hierarchy("town", tuple(map(pl.Series, levels)))
    >>> tree.height, tree.leaves, tree.labels(1), tree.node_codes(1).tolist()
    (3, 3, ['FR', 'IT'], [0, 1, 0])
    """

    column: str
    levels: tuple[pl.Series, ...] = field(repr=False)
    source: str = "given"
    # labels are cells of values, not as a column with a declared type is written
    in_values: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not a tree."""
        uneven = len({len(level) for level in self.levels}) != 1
        if uneven or any(level.dtype != pl.String or level.null_count() for level in self.levels):
            raise HierarchyError([(f"column '{self.column}'", "its levels are not texts for the same leaves")])
        problems = find_problems(self.levels, self._codes, np.arange(1, len(self.levels[0]) + 1))
        if len(self.levels) < 2 or not (self.levels[-1] == STAR).all():
            problems.append(f"the last level is not `{STAR}`")
        if problems:
            raise HierarchyError([(f"column '{self.column}'", problem) for problem in problems])

    @property
    def height(self) -> int:
        """How many levels there are, leaves and `*` included."""
        return len(self.levels)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.levels[0])

    @cached_property
    def _codes(self) -> list[Array]:
        return [codes_of(level) for level in self.levels]

    @cached_property
    def _walk(self) -> tuple[Array, list[Array]]:
        """The leaves in depth-first order, and per level the node of each leaf, numbered in that order."""
        order = np.lexsort(self._codes[:-1]) if self.leaves else np.zeros(0, np.int64)
        nodes = []
        for of_leaf in self._codes:
            walked = of_leaf[order]
            new = np.append(True, walked[1:] != walked[:-1])[: len(walked)]
            numbered = np.empty(len(walked), np.int32)
            numbered[order] = np.cumsum(new) - 1
            nodes.append(numbered)
        return order, nodes

    @property
    def leaf_order(self) -> Array:
        """The leaves (their numbers in `levels[0]`) in the order of the depth-first walk."""
        return self._walk[0]

    def node_codes(self, level: int) -> Array:
        """The node of each leaf at a level, numbered from 0 in the order of the walk."""
        return self._walk[1][level]

    def nodes(self, level: int) -> int:
        """How many nodes a level has."""
        return int(self.node_codes(level).max(initial=-1)) + 1

    @property
    def sizes(self) -> list[int]:
        """How many nodes each level has."""
        return [self.nodes(level) for level in range(self.height)]

    @cached_property
    def _texts(self) -> list[list[str]]:
        """The levels of a small tree as lists: without one call of polars per level and question."""
        return [level.to_list() for level in self.levels]

    def labels(self, level: int) -> list[str]:
        """The label of each node of a level."""
        leaves = self._walk[0][self._own_places(level)[0]]
        if self.leaves <= _SMALL:
            texts = self._texts[level]
            return [texts[leaf] for leaf in leaves.tolist()]
        found: list[str] = self.levels[level].gather(leaves).to_list()
        return found

    def _own_places(self, level: int) -> tuple[Array, Array]:
        order, nodes = self._walk
        low = np.searchsorted(nodes[level][order], np.arange(self.nodes(level)))
        return low, np.append(low[1:], self.leaves)[: len(low)] - 1

    def leaf_ranges(self, level: int) -> tuple[Array, Array]:
        """The first and last place of each node's leaves in the walk; `*` is every leaf, wherever it stands.

        >>> levels = ["a", "b", "c"], ["p", "q", "p"], ["*", "*", "*"]
        >>> low, high = Hierarchy("x", tuple(map(pl.Series, levels))).leaf_ranges(1)
        >>> low.tolist(), high.tolist()
        ([0, 2], [1, 2])
        """
        low, high = self._own_places(level)
        if level:
            star = np.array([label == STAR for label in self.labels(level)], bool)
            low, high = np.where(star, 0, low), np.where(star, self.leaves - 1, high)
        return low, high

    def shares(self, level: int) -> Array:
        """For each leaf, the share of all leaves under its node: share(v) = leaves under v / leaves (ARX's loss).

        `*` below the top is everything, as a suppressed value is: its share is 1.
        """
        low, high = self.leaf_ranges(level)
        of_node = (high - low + 1) / max(self.leaves, 1)
        return np.asarray(of_node[self.node_codes(level)])

    def with_leaves(self, texts: Sequence[str] | pl.Series) -> Hierarchy:
        """The same tree with more leaves, directly below `*`.

        >>> tree = Hierarchy("x", (pl.Series(["a", "b"]), pl.Series(["p", "p"]), pl.Series(["*", "*"])))
        >>> [level.to_list() for level in tree.with_leaves(["c"]).levels]
        [['a', 'b', 'c'], ['p', 'p', '*'], ['*', '*', '*']]
        """
        more = pl.Series(texts, dtype=pl.String)
        if more.is_empty():
            return self
        leaves = pl.concat([self.levels[0], more.alias(self.levels[0].name)])
        levels = (leaves, *(level.extend_constant(STAR, len(more)) for level in self.levels[1:]))
        return Hierarchy(self.column, levels, self.source, self.in_values)

    def to_csv(self, path: str | Path) -> None:
        """Write it as `leaf;level1;…;*`, a row per leaf, without header; whole or not at all."""
        rows = pl.DataFrame([level.alias(str(number)) for number, level in enumerate(self.levels)])
        write_whole(Path(path), lambda draft: rows.write_csv(draft, separator=";", include_header=False))

    def to_yaml(self, path: str | Path) -> None:
        """Write it as nested YAML, nodes as keys; whole or not at all."""
        import yaml

        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        text = yaml.dump(
            self._nested(), Dumper=dumper, allow_unicode=True, default_flow_style=None, sort_keys=False, width=116
        )
        write_whole(Path(path), lambda draft: draft.write_text(text, encoding="utf-8"))

    def _nested(self) -> Any:
        """Mappings down to lists of leaves. A leaf that repeats itself upward is written once."""
        texts = [level.gather(self.leaf_order).to_list() for level in self.levels[:-1]]
        sizes = [np.bincount(self.node_codes(level)) for level in range(self.height)]
        depths = np.full(self.leaves, self.height - 1)
        alone = np.ones(self.leaves, bool)
        for level in range(1, self.height - 1):
            nodes = self.node_codes(level)[self.leaf_order]
            same = [above == leaf for above, leaf in zip(texts[level], texts[0], strict=True)]
            alone &= (sizes[level][nodes] == 1) & np.array(same, bool)
            depths -= alone
        # but not if that would lose a level
        if self.leaves and depths.max() < self.height - 1:
            depths[:] = self.height - 1
        # a root `*` of its own keeps a lone `*` below it apart
        named_root = self.height > 2 and set(texts[-1]) == {STAR}
        root: dict[str, Any] = {}
        for place in range(self.leaves):
            depth = int(depths[place])
            at = root
            for level in range(self.height - 2, self.height - 1 - depth, -1):
                at = at.setdefault(texts[level][place], {})
            at[texts[0][place]] = None
        return {STAR: _lists(root)} if named_root else _lists(root)


def _lists(node: dict[str, Any]) -> Any:
    """A mapping whose values are all leaves as a list; mixed children as a list of leaves and single nodes."""
    if not any(node.values()):
        return list(node)
    if all(node.values()):
        return {label: _lists(below) for label, below in node.items()}
    return [label if below is None else {label: _lists(below)} for label, below in node.items()]
