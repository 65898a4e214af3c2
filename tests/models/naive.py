"""Every privacy model by the letter of its definition, slow and plain, in exact fractions where there are any.

Nothing here is shared with the fast code: a class is a list of row numbers, a distribution is a dictionary.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Key = tuple[Any, ...]
NEAR = 1e-9


def decimal(number: float) -> Fraction:
    """A parameter as the person who wrote it meant it: 0.3 is three tenths."""
    return Fraction(str(number))


@dataclass(frozen=True)
class Case:
    """A table cut into classes: the rows of each class by its labels; other rows are suppressed."""

    classes: Mapping[Key, Sequence[int]]
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    weights: Sequence[int] | None = None
    rows: int = 0
    # value -> its node at every level, the leaf first, `*` last
    trees: Mapping[str, Mapping[Any, Sequence[str]]] = field(default_factory=dict)
    # people of each population in the cell of each class
    people: Mapping[str, Mapping[Key, int]] = field(default_factory=dict)
    names: Sequence[str] = ()
    # whose row each is: then members of a class are persons
    persons: Sequence[Any] | None = None

    def weight(self, row: int) -> int:
        return 1 if self.weights is None else self.weights[row]

    def size(self, rows: Sequence[int]) -> int:
        if self.persons is not None:
            return len({self.persons[row] for row in rows})
        return sum(self.weight(row) for row in rows)

    @property
    def records(self) -> int:
        return self.size(range(self.rows))

    def counts(self, rows: Sequence[int], name: str) -> dict[Any, int]:
        found: Counter[Any] = Counter()
        for row in rows:
            found[self.columns[name][row]] += self.weight(row)
        return found

    def shares(self, rows: Sequence[int], name: str) -> dict[Any, Fraction]:
        counts = self.counts(rows, name)
        total = sum(counts.values())
        return {value: Fraction(count, total) for value, count in counts.items()}

    def whole(self, name: str) -> dict[Any, Fraction]:
        return self.shares(range(self.rows), name)


def keeps(model: Any, case: Case, key: Key) -> bool:
    """Whether a class keeps a model; the other classes of the case are those that are released beside it."""
    rows = case.classes[key]
    size = case.size(rows)
    match model.model:
        case "k-anonymity" | "k-matching":
            return size >= model.k
        case "highest-risk":
            return Fraction(1, size) <= decimal(model.threshold)
        case "k-map":
            if model.population is not None:
                return case.people[model.population][key] >= model.k
            risk = expected_risk(size, Fraction(case.records, model.population_size))
            return risk <= 1 / model.k * (1 + NEAR)
        case "delta-presence":
            people = case.people[model.population][key]
            return people > 0 and decimal(model.low) <= Fraction(size, people) <= decimal(model.high)
        case "xy-anonymity":
            return len(linked(case, key, model.x, model.y)) >= model.k
    counts = case.counts(rows, model.sensitive)
    here, whole = case.shares(rows, model.sensitive), case.whole(model.sensitive)
    match model.model:
        case "l-diversity":
            return len(counts) >= model.l
        case "entropy-l-diversity":
            return math.exp(-sum(float(q) * math.log(q) for q in here.values())) >= model.l * (1 - NEAR)
        case "recursive-l-diversity":
            r = sorted(counts.values(), reverse=True)
            return r[0] < decimal(model.c) * sum(r[model.l - 1 :])
        case "alpha-k-anonymity":
            return size >= model.k and max(here.values()) <= decimal(model.alpha)
        case "beta-likeness":
            return all((q - whole[v]) / whole[v] <= decimal(model.beta) for v, q in here.items())
        case "enhanced-beta-likeness":
            limits = {v: min(model.beta, -math.log(p)) for v, p in whole.items()}
            return all(float((q - whole[v]) / whole[v]) <= limits[v] + NEAR for v, q in here.items())
        case "delta-disclosure":
            if model.absent == "breaks" and set(here) != set(whole):
                return False
            return all(abs(math.log(q / whole[v])) < model.delta for v, q in here.items())
        case "t-closeness":
            return distance(case, rows, model) <= decimal(model.t)
    raise AssertionError(f"no definition of {model.model}")


def keeps_whole(model: Any, case: Case, classes: Sequence[Key]) -> bool:
    """Whether what is released keeps a model about the table as a whole."""
    assert model.model == "average-risk"
    records = sum(case.size(case.classes[key]) for key in classes)
    return Fraction(len(classes), records) <= decimal(model.threshold)


def linked(case: Case, key: Key, x: Sequence[str], y: str) -> set[Any]:
    """The values of y in all classes that agree with this one in x (all columns, if none is named)."""
    places = [case.names.index(name) for name in x]
    same = [
        rows
        for other, rows in case.classes.items()
        if (all(other[place] == key[place] for place in places) if x else other == key)
    ]
    return {case.columns[y][row] for rows in same for row in rows}


def expected_risk(size: int, share: Fraction) -> float:
    """E[1/F] with F - f negative binomial: the sum over F of 1/F C(F-1, f-1) p^f (1-p)^(F-f)."""
    p = float(share)
    if p == 1:
        return 1 / size
    total, people, chance = 0.0, size, p**size
    while people < 200 or chance > 1e-18:
        total += chance / people
        people += 1
        chance *= (1 - p) * (people - 1) / (people - size)
    return total


def distance(case: Case, rows: Sequence[int], model: Any) -> Fraction:
    """The earth mover's distance of a class from the whole table, by the formulas of Li et al."""
    values = case.columns[model.sensitive]
    here, whole = case.shares(rows, model.sensitive), case.whole(model.sensitive)
    tree = case.trees.get(model.sensitive)
    way = model.distance
    if way == "auto":
        numbers = all(isinstance(value, (int, float)) for value in values if value is not None)
        way = "hierarchical" if tree else "ordered" if numbers else "equal"
    if way == "equal":
        return sum((abs(here.get(v, Fraction(0)) - p) for v, p in whole.items()), Fraction(0)) / 2
    if way == "ordered":
        order = sorted(whole, key=lambda v: (v is None, v if v is not None else 0))
        gap = total = Fraction(0)
        for value in order:
            gap += here.get(value, Fraction(0)) - whole[value]
            total += abs(gap)
        return total / (len(order) - 1) if len(order) > 1 else Fraction(0)
    assert tree is not None
    return hierarchical(here, whole, tree)


def hierarchical(
    here: Mapping[Any, Fraction], whole: Mapping[Any, Fraction], tree: Mapping[Any, Sequence[str]]
) -> Fraction:
    """Each inner node of height h evens out what its children have too much and too little, at h / height a share."""
    height = len(next(iter(tree.values()))) - 1
    total = Fraction(0)
    for level in range(1, height + 1):
        for node in {tree[value][level] for value in whole}:
            extra: dict[str, Fraction] = {}
            for value in whole:
                if tree[value][level] == node:
                    child = tree[value][level - 1]
                    extra[child] = extra.get(child, Fraction(0)) + here.get(value, Fraction(0)) - whole[value]
            much = sum((amount for amount in extra.values() if amount > 0), Fraction(0))
            little = -sum((amount for amount in extra.values() if amount < 0), Fraction(0))
            total += Fraction(level, height) * min(much, little)
    return total
