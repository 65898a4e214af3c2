"""One cut of a tree of items: which nodes stand for the items below them, at the least loss, proven or with its gap.

A node is closed if one node at or above it stands for all of its items. Each subset of nodes that too few persons share
asks that the parent of one of them is closed, whatever else is; the cheapest closed nodes that keep all of these are
the optimum, as soon as what they give breaks nothing more (an integer program whose conditions are found as they are
broken). With `price`, a condition may be left to leaving items out, at a price for each occurrence that has to go.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.ranges.hierarchy import Hierarchy
from shoal.storage import Array

# conditions that an integer program takes, and how many more in a round; beyond, they are met one after the other
_MOST_CONDITIONS, _AT_ONCE = 20_000, 4_000


@dataclass(frozen=True, eq=False)
class ItemTree:
    """A tree over items: `leaf` is the leaf of each item, `weights` how often each item occurs.

    Nodes of all levels are numbered one after the other, leaves first.
    """

    tree: Hierarchy
    leaf: Array
    weights: Array

    @cached_property
    def first(self) -> Array:
        """The number of the first node of each level."""
        return np.append(0, np.cumsum(self.tree.sizes))

    @cached_property
    def path(self) -> Array:
        """For each level the node of each item."""
        codes = [self.tree.node_codes(level)[self.leaf] for level in range(self.tree.height)]
        return np.stack(codes) + self.first[:-1, None]

    @cached_property
    def parent(self) -> Array:
        """The parent of each node; of the top itself."""
        above = np.arange(self.first[-1])
        for level in range(self.tree.height - 1):
            codes = [self.tree.node_codes(one) + self.first[one] for one in (level, level + 1)]
            above[codes[0]] = codes[1]
        return above

    @cached_property
    def width(self) -> Array:
        """What it loses to show a node for an item: 0 for the item itself, 1 for everything."""
        leaves = [np.bincount(self.tree.node_codes(level)) for level in range(self.tree.height)]
        return (np.concatenate(leaves) - 1) / max(self.tree.leaves - 1, 1)

    @cached_property
    def price(self) -> Array:
        """What it costs to close each node where those below are closed, in occurrences."""
        cost = np.zeros(len(self.width))
        for nodes in self.path:
            cost += np.bincount(nodes, self.weights, minlength=len(cost)) * self.width
        own = cost.copy()
        inner = np.arange(len(cost)) != self.parent
        np.subtract.at(own, self.parent[inner], cost[inner])
        return np.maximum(own, 0.0)

    def cut(self, closed: Array) -> Array:
        """The node that stands for each item: the highest closed one above it."""
        level = closed[self.path[1:]].sum(axis=0)
        return np.asarray(self.path[level, np.arange(len(self.leaf))])

    def loss(self, node: Array) -> Array:
        """What each item loses by its node."""
        return np.asarray(self.width[node])

    def labels(self, node: Array) -> list[str]:
        """The label of each node."""
        names = [name for level in range(self.tree.height) for name in self.tree.labels(level)]
        return [names[one] for one in node.tolist()]


class ItemCut(NamedTuple):
    """The node of each item; what no cut can be below, and whether this one is the least."""

    node: Array
    lower_bound: float
    optimal: bool


# from the node of each item to the subsets of nodes that are broken (padded with -1), and how many persons have each
Broken = Callable[[Array], tuple[Array, Array]]


def best_cut(items: ItemTree, broken: Broken, seconds: float, price: float | None = None) -> ItemCut:
    """The cheapest cut that breaks nothing; or with a `price` for each occurrence of what is broken, the cheapest."""
    stop, inner = time.perf_counter() + seconds, np.arange(items.first[1], items.first[-1])
    closed = np.zeros(len(items.parent), bool)
    conditions: dict[tuple[int, ...], float] = {}
    bound, proven = 0.0, True
    while True:
        node = items.cut(closed)
        subsets, persons = broken(node)
        above = np.where(subsets >= 0, items.parent[subsets], -1)
        rows, which = np.unique(np.sort(above, axis=1), axis=0, return_inverse=True)
        weights = np.bincount(which.ravel(), persons, minlength=len(rows))
        fresh = {tuple(sorted({*row} - {-1})): weight for row, weight in zip(rows.tolist(), weights, strict=True)}
        news = {key: weight for key, weight in fresh.items() if key not in conditions and not closed[list(key)].all()}
        if not news:
            return ItemCut(node, bound, proven and price is None)
        heaviest = sorted(news, key=lambda key: -news[key])[:_AT_ONCE]
        conditions |= {key: news[key] for key in heaviest}
        late = time.perf_counter() > stop or len(conditions) > _MOST_CONDITIONS
        if not late:
            solved = _solved(items, inner, conditions, max(stop - time.perf_counter(), 0.1), price)
            if solved is not None:
                closed, bound, done = solved
                proven &= done
                continue
        if price is not None:
            return ItemCut(node, bound, False)
        proven = False
        _close(items, closed, list(news))


def _solved(
    items: ItemTree, inner: Array, conditions: dict[tuple[int, ...], float], seconds: float, price: float | None
) -> tuple[Array, float, bool] | None:
    """The cheapest closed nodes that keep all conditions, what no others cost less than, and whether that is proven."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    nodes, count = len(inner), len(conditions)
    place = np.full(len(items.parent), -1)
    place[inner] = np.arange(nodes)
    low = np.flatnonzero(items.parent[inner] != inner)
    # a node is closed where the one above it is
    rows = [np.arange(len(low))] * 2
    columns, entries = [low, place[items.parent[inner[low]]]], [np.ones(len(low)), -np.ones(len(low))]
    sizes = np.array([len(key) for key in conditions])
    rows.append(len(low) + np.repeat(np.arange(count), sizes))
    columns.append(place[[node for key in conditions for node in key]])
    entries.append(np.ones(int(sizes.sum())))
    slack = 0 if price is None else count
    if slack:
        rows.append(len(low) + np.arange(count))
        columns.append(nodes + np.arange(count))
        entries.append(np.ones(count))
    matrix = coo_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), (len(low) + count, nodes + slack)
    )
    cost = np.concatenate([items.price[inner], (price or 0.0) * np.array([*conditions.values()])[:slack]])
    least = np.append(np.zeros(len(low)), np.ones(count))
    found = milp(
        cost / max(items.weights.sum(), 1),
        integrality=np.append(np.ones(nodes), np.zeros(slack)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), least, np.inf),
        options={"time_limit": seconds, "mip_rel_gap": 0.0 if price is None else 0.005},
    )
    if found.x is None:
        return None
    closed = np.zeros(len(items.parent), bool)
    closed[inner] = found.x[:nodes] > 0.5
    return closed, float(found.mip_dual_bound or 0.0), found.status == 0


def _close(items: ItemTree, closed: Array, conditions: list[tuple[int, ...]]) -> None:
    """Meet each condition by its cheapest node, with all below it: the way for more items than a program takes."""
    for key in conditions:
        if not closed[list(key)].any():
            closed[min(key, key=lambda node: items.price[node])] = True
    for level in range(items.tree.height - 1, 0, -1):  # what is below a closed node is closed
        nodes = np.arange(items.first[level - 1], items.first[level])
        closed[nodes] |= closed[items.parent[nodes]] & (level > 1)
