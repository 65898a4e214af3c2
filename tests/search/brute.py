"""The best node by looking at every node of the lattice, and random problems small enough for that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random
from typing import Any

import polars as pl

from models.naive import Case, Key, keeps, keeps_whole

# of the columns beside them, which may be missing throughout
_TYPES = {"s": pl.String, "v": pl.Int64}

Tree = list[list[str]]  # a row per leaf: leaf, level 1, ..., `*`


@dataclass(frozen=True)
class Problem:
    """A table, its trees, the models that it must keep and how to search."""

    rows: list[tuple[str | None, ...]]
    trees: list[Tree]
    models: list[Any]
    beside: dict[str, list[Any]] = field(default_factory=dict)
    weights: list[int] | None = None
    suppression: float = 0.0
    quality: str = "loss"
    column_weights: dict[str, float] = field(default_factory=dict)
    levels: dict[str, tuple[int, int]] = field(default_factory=dict)
    population: list[tuple[str | None, ...]] = field(default_factory=list)
    population_name: str = ""
    sensitive_trees: dict[str, Tree] = field(default_factory=dict)
    persons: list[str] | None = None

    @property
    def names(self) -> list[str]:
        return [f"q{place}" for place in range(len(self.trees))]

    @property
    def frame(self) -> pl.DataFrame:
        own = {name: [row[place] for row in self.rows] for place, name in enumerate(self.names)}
        frame = pl.DataFrame(
            {**own, **self.beside}, schema_overrides={**dict.fromkeys(self.names, pl.String), **_TYPES}
        )
        if self.persons is not None:
            frame = frame.with_columns(person=pl.Series(self.persons))
        return frame if self.weights is None else frame.with_columns(n=pl.Series(self.weights))

    @property
    def people(self) -> pl.DataFrame:
        own = {name: [row[place] for row in self.population] for place, name in enumerate(self.names)}
        return pl.DataFrame(own, schema=dict.fromkeys(self.names, pl.String))

    @property
    def hierarchies(self) -> dict[str, Tree]:
        return {**dict(zip(self.names, self.trees, strict=True)), **self.sensitive_trees}

    @property
    def records(self) -> int:
        return sum(self.weights) if self.weights else len(self.rows)

    @property
    def limit(self) -> int:
        members = self.records if self.persons is None else len(set(self.persons))
        return int(self.suppression * members + 1e-9)

    @property
    def nodes(self) -> list[tuple[int, ...]]:
        spans = []
        for name, tree in zip(self.names, self.trees, strict=True):
            low, high = self.levels.get(name, (0, len(tree[0]) - 1))
            spans.append(range(low, high + 1))
        return list(product(*spans))

    def policy(self) -> dict[str, Any]:
        roles = dict.fromkeys(self.names, "quasi-identifier")
        found = {"columns": roles, "models": [model.model_dump() for model in self.models]}
        if self.persons is not None:
            return {**found, "person": "person"}
        return found if self.weights is None else {**found, "count": "n"}


@dataclass(frozen=True)
class Node:
    """What a node is worth."""

    levels: tuple[int, ...]
    score: float
    suppressed: int
    kept: dict[Key, list[int]]


def label(tree: Tree, level: int, value: str | None) -> str | None:
    """What a value becomes at a level; null is null until everything is `*`."""
    if value is None:
        return "*" if level == len(tree[0]) - 1 else None
    return next(row[level] for row in tree if row[0] == value)


def classes_at(problem: Problem, levels: Sequence[int]) -> dict[Key, list[int]]:
    """The rows of each class; rows that are `*` throughout are in none. With persons, all rows of a person together."""
    found: dict[Key, list[int]] = {}
    keys = [tuple(label(*args) for args in zip(problem.trees, levels, row, strict=True)) for row in problem.rows]
    if problem.persons is None:
        for number, key in enumerate(keys):
            if any(part != "*" for part in key):
                found.setdefault(key, []).append(number)
        return found
    for person in dict.fromkeys(problem.persons):
        own = [number for number, whose in enumerate(problem.persons) if whose == person]
        if any(part != "*" for number in own for part in keys[number]):
            found.setdefault(tuple(sorted((keys[number] for number in own), key=repr)), []).extend(own)
    return found


def case_of(problem: Problem, levels: Sequence[int], classes: Mapping[Key, list[int]]) -> Case:
    """The classes of a node with what models look at."""
    trees = {name: {row[0]: row for row in tree} for name, tree in problem.sensitive_trees.items()}
    cells = [
        tuple(label(*args) for args in zip(problem.trees, levels, person, strict=True)) for person in problem.population
    ]
    people = {problem.population_name: {key: cells.count(key) for key in classes}}
    shown = [tuple(label(*args) for args in zip(problem.trees, levels, row, strict=True)) for row in problem.rows]
    return Case(
        classes,
        problem.beside,
        problem.weights,
        len(problem.rows),
        trees,
        people,
        problem.names,
        problem.persons,
        shown,
    )


def look(problem: Problem, levels: tuple[int, ...]) -> Node | None:
    """A node: classes that break a model are suppressed, again and again until what is left keeps them all."""
    case = case_of(problem, levels, classes_at(problem, levels))
    judged = [model for model in problem.models if model.model != "average-risk"]
    while True:
        good = {key: rows for key, rows in case.classes.items() if all(keeps(model, case, key) for model in judged)}
        if len(good) == len(case.classes):
            break
        case = replace(case, classes=good)
    suppressed = case.records - sum(case.size(rows) for rows in good.values())
    whole = [model for model in problem.models if model.model == "average-risk"]
    if not good or suppressed > problem.limit or not all(keeps_whole(model, case, list(good)) for model in whole):
        return None
    return Node(levels, score(problem, case, levels, dict(good), suppressed), suppressed, dict(good))


def score(problem: Problem, case: Case, levels: Sequence[int], kept: dict[Key, list[int]], suppressed: int) -> float:
    """The quality of a node from its definition."""
    total = problem.records
    if problem.quality == "discernibility":
        members = case.records
        return (sum(case.size(rows) ** 2 for rows in kept.values()) + suppressed * members) / members**2
    if problem.quality == "average-class-size":
        return 1 / (len(kept) + (suppressed > 0))
    inside = {row for rows in kept.values() for row in rows}
    parts = []
    for place, (tree, level) in enumerate(zip(problem.trees, levels, strict=True)):
        column = [row[place] for row in problem.rows]
        weights = [case.weight(number) for number in range(len(column))]
        wholly = {value: sum(w for v, w in zip(column, weights, strict=True) if v == value) for value in set(column)}
        costs = {value: _cost(problem.quality, tree, level, value, wholly) for value in wholly}
        lost = {value: math.log2(total / wholly[value]) if problem.quality == "entropy" else 1.0 for value in wholly}
        spent = sum(
            w * (costs[v] if number in inside else lost[v])
            for number, (v, w) in enumerate(zip(column, weights, strict=True))
        )
        if problem.quality == "loss":
            leaves = len(tree) + (None in wholly)
            x = 0.0 if leaves == 1 else max((spent - total / leaves) / (total - total / leaves), 0.0)
        elif problem.quality == "precision":
            x = spent / total
        else:
            most = sum(wholly[v] * lost[v] for v in wholly)
            x = spent / most if most > 0 else 0.0
        parts.append(x)
    importance = [problem.column_weights.get(name, 1.0) for name in problem.names]
    if problem.quality == "loss":
        return math.prod((1 + x) ** w for x, w in zip(parts, importance, strict=True)) ** (1 / sum(importance)) - 1
    return sum(x * w for x, w in zip(parts, importance, strict=True)) / sum(importance)


def _cost(quality: str, tree: Tree, level: int, value: str | None, wholly: Mapping[str | None, int]) -> float:
    shown = label(tree, level, value)
    if quality == "precision":
        return level / (len(tree[0]) - 1)
    if quality == "entropy":
        return math.log2(sum(w for v, w in wholly.items() if label(tree, level, v) == shown) / wholly[value])
    if shown == "*" and level > 0:
        return 1.0
    under = 1 if shown is None else sum(row[level] == shown for row in tree)
    return under / (len(tree) + (None in wholly))


def best(problem: Problem) -> Node | None:
    """The best of all nodes: least score, then fewest suppressed, then the least levels."""
    found = [node for node in (look(problem, levels) for levels in problem.nodes) if node is not None]
    if not found:
        return None
    least = min(node.score for node in found)
    near = [node for node in found if node.score <= least + 1e-9 * max(1.0, least)]
    return min(near, key=lambda node: (node.suppressed, node.levels))


# random problems


def random_tree(rng: Random, name: str, leaves: int, uneven: bool, stars: bool = True) -> Tree:
    """A nested tree of 2 to 4 levels; uneven: leaves that stay as they are for a while, or are `*` early."""
    tree = [[f"{name}{number}"] for number in range(leaves)]
    for level in range(1, rng.choice([1, 2, 2, 3])):
        below = sorted({row[-1] for row in tree})
        parents = {node: f"{name}.{level}.{rng.randrange(max(1, len(below) // rng.choice([1, 2])))}" for node in below}
        for node in below:
            if uneven and (draw := rng.random()) < 0.4:
                parents[node] = "*" if stars and draw < 0.15 else node
        if "*" in below:
            parents["*"] = "*"
        for row in tree:
            row.append(parents[row[-1]])
    rng.shuffle(tree)
    return [[*row, "*"] for row in tree]


def random_problem(
    rng: Random,
    models: Sequence[Any],
    *,
    quality: str = "loss",
    suppression: float = 0.0,
    columns: int | None = None,
    uneven: bool = True,
    stars: bool = True,
    population_name: str = "",
) -> Problem:
    """A table of 5 to 60 rows with 2 to 4 columns, sometimes with nulls, weights and limits to levels."""
    columns = columns or rng.choice([2, 2, 3, 4])
    trees = [random_tree(rng, "abcd"[place], rng.randint(2, 6), uneven, stars) for place in range(columns)]
    while math.prod(len(tree[0]) for tree in trees) > 60:
        trees.pop()
    nulls = rng.choice([0, 0, 0.1])

    def row() -> tuple[str | None, ...]:
        return tuple(None if rng.random() < nulls else tree[int(len(tree) * rng.random() ** 1.5)][0] for tree in trees)

    rows = [row() for _ in range(rng.randint(5, 60))]
    labels = rng.randint(2, 5)
    beside: dict[str, list[Any]] = {
        "s": [f"s{min(rng.randrange(labels), rng.randrange(labels))}" for _ in rows],
        "v": [min(rng.randrange(labels), rng.randrange(labels)) * 10 for _ in rows],
        "who": [f"p{rng.randrange(max(2, len(rows) // 2))}" for _ in rows],
    }
    unknown = rng.choice([0, 0, 0.2])
    for name in ("s", "v"):
        beside[name] = [None if rng.random() < unknown else value for value in beside[name]]
    tree = random_tree(rng, "s", labels, False)
    levels = {}
    for place, found in enumerate(trees):
        if rng.random() < 0.15:
            low, high = sorted(rng.choices(range(len(found[0])), k=2))
            levels[f"q{place}"] = (low, high)
    people = []
    if population_name:
        people = rows + [row() for _ in range(rng.randint(0, 3 * len(rows)))]
    return Problem(
        rows,
        trees,
        list(models),
        beside,
        [rng.randint(1, 4) for _ in rows] if rng.random() < 0.2 else None,
        suppression,
        quality,
        {"q0": 2.5} if rng.random() < 0.2 else {},
        levels,
        people,
        population_name,
        {"s": tree} if any(getattr(model, "distance", "") == "hierarchical" for model in models) else {},
    )
