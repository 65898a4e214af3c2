"""The tree of a column: its leaves, and level by level what each leaf becomes, up to `*`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.parsing import STAR
from shoal.storage import Array
from shoal.storage.texts import few_texts
from shoal.storage.writing import write_text, write_whole
from shoal.wording import counted

# What is wrong with a hierarchy: not a tree, leaves given twice, levels that cross. All of it at once, by row.


# a file with one fault in every row needs no more lines to be understood
MOST_PROBLEMS = 20


class HierarchyError(InputError):
    """All problems of one or several hierarchies at once; a label is never shown, its row is."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = list(problems)
        lines = [f"  {where}: {text}" for where, text in self.problems[:MOST_PROBLEMS]]
        if (more := len(self.problems) - MOST_PROBLEMS) > 0:
            lines.append(f"  and {counted(more, 'more problem')}")
        super().__init__(
            f"The hierarchies have {counted(len(self.problems), 'problem')}:\n" + "\n".join(lines),
            "Give each leaf one row and each node one parent: leaf;level1;…;*.",
        )


def codes_of(labels: pl.Series) -> Array:
    """Texts as numbers, in the order in which they first come.

    >>> codes_of(pl.Series(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """
    few = few_texts(labels)
    if few is not None and None not in few:
        places: dict[str | None, int] = {}
        return np.array([places.setdefault(label, len(places)) for label in few], np.int32)
    seen = labels.unique(maintain_order=True)
    if len(seen) == len(labels):
        return np.arange(len(labels), dtype=np.int32)
    return labels.cast(pl.Enum(seen)).to_physical().cast(pl.Int32).to_numpy()


def find_problems(levels: Sequence[pl.Series], codes: Sequence[Array], rows: Array, word: str = "row") -> list[str]:
    """Why these levels are not a tree; `rows` are the numbers under which a person finds each leaf.

    >>> levels = [pl.Series(["a", "b", "c"]), pl.Series(["x", "x", "y"]), pl.Series(["p", "q", "q"])]
    >>> find_problems(levels, [codes_of(level) for level in levels], np.array([1, 2, 3]))
    ['levels 1 and 2 cross: a node of level 1 has two parents (rows 1 and 2)']
    """
    problems = [
        f"the leaf of {word} {rows[again]} is given in {word} {rows[first]} already"
        for first, again in (_pairs(codes[0], np.arange(len(rows))) if codes[0].max(initial=-1) + 1 < len(rows) else [])
    ]
    for number, (level, above) in enumerate(pairwise(levels)):
        if number:  # a leaf has one row, and so one parent
            stars = ((level == STAR) & (above != STAR)).to_numpy()
            problems += [f"`{STAR}` of level {number} stands below another label ({word} {row})" for row in rows[stars]]
            problems += _two_parents(codes, number, rows, word)
    return problems


def _two_parents(codes: Sequence[Array], number: int, rows: Array, word: str) -> list[str]:
    level, above = codes[number], codes[number + 1]
    pairs = _pairs(level, above)
    if pairs and word == "row" and not _pairs(above, level):
        first, again = pairs[0]
        return [
            f"level {number + 1} is finer than level {number} (rows {rows[first]} and {rows[again]}): exchange them"
        ]
    return [
        f"levels {number} and {number + 1} cross: a node of level {number} has two parents "
        f"({word}s {rows[first]} and {rows[again]})"
        for first, again in pairs
    ]


def _pairs(nodes: Array, parents: Array) -> list[tuple[int, int]]:
    """For each node with several parents: its first place, and for each further parent the first place of that."""
    if len(nodes) == 0:
        return []
    both = nodes.astype(np.int64) * (int(parents.max()) + 1) + parents
    _, firsts = np.unique(both, return_index=True)
    firsts = np.sort(firsts)
    _, first_of_node, which = np.unique(nodes[firsts], return_index=True, return_inverse=True)
    home = firsts[first_of_node][which]
    other = home != firsts
    return list(zip(home[other].tolist(), firsts[other].tolist(), strict=True))


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
        write_text(Path(path), text)

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
