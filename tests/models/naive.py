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
    # the combination of quasi-identifiers that each row shows, where there are persons
    shown: Sequence[Any] = ()

    def weight(self, row: int) -> int:
        return 1 if self.weights is None else self.weights[row]

    def size(self, rows: Sequence[int]) -> int:
        if self.persons is not None:
            return len({self.persons[row] for row in rows})
        return sum(self.weight(row) for row in rows)

    @property
    def records(self) -> int:
        return self.size(range(self.rows))

    def members(self, rows: Sequence[int]) -> dict[Any, list[int]]:
        """The rows of each member: of a person, or of a record (a row stands for as many as its weight)."""
        found: dict[Any, list[int]] = {}
        for row in rows:
            found.setdefault(row if self.persons is None else self.persons[row], []).append(row)
        return found

    def cells(self, rows: Sequence[int]) -> list[list[int]]:
        """Where sensitive values are judged: the class; with persons also each combination that its rows show."""
        if self.persons is None:
            return [list(rows)]
        return [
            list(rows),
            *([row for row in rows if self.shown[row] == at] for at in {self.shown[row] for row in rows}),
        ]

    def values(self, rows: Sequence[int], name: str) -> Values:
        """Who has which value, among the members with a known one."""
        known = unknown = 0
        having: Counter[Any] = Counter()
        for own in self.members(rows).values():
            weight = self.weight(own[0])
            there = {self.columns[name][row] for row in own} - {None}
            known, unknown = known + weight * bool(there), unknown + weight * (not there)
            for value in there:
                having[value] += weight
        return Values(dict(having), known, unknown)

    def whole(self, name: str) -> Values:
        return self.values(range(self.rows), name)


@dataclass(frozen=True)
class Values:
    """`having[v]` members have the value v; `known` have any, `unknown` have none."""

    having: dict[Any, int]
    known: int
    unknown: int

    @property
    def of_members(self) -> dict[Any, Fraction]:
        """The share of members who have a value; a missing value is in no denominator."""
        return {value: Fraction(count, self.known) for value, count in self.having.items()}

    @property
    def shares(self) -> dict[Any, Fraction]:
        """Those shares made to sum up to 1."""
        return {value: Fraction(count, sum(self.having.values())) for value, count in self.having.items()}

    @property
    def disclosed(self) -> bool:
        """Whether there is a value that everybody has."""
        return any(count == self.known for count in self.having.values())

    @property
    def missing(self) -> Fraction:
        return Fraction(self.unknown, self.known + self.unknown)


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
            return least_people(size, Fraction(case.records, model.population_size), model.population_size) >= model.k
        case "delta-presence":
            people = case.people[model.population][key]
            return people > 0 and decimal(model.low) <= Fraction(size, people) <= decimal(model.high)
        case "xy-anonymity":
            if case.persons is not None:
                assert not model.x
                return all(
                    len({case.columns[model.y][row] for row in cell} - {None}) >= model.k for cell in case.cells(rows)
                )
            return len(linked(case, key, model.x, model.y)) >= model.k
    if model.model == "alpha-k-anonymity" and size < model.k:
        return False
    whole = case.whole(model.sensitive)
    return all(cell_keeps(model, case, case.values(cell, model.sensitive), whole) for cell in case.cells(rows))


def cell_keeps(model: Any, case: Case, here: Values, whole: Values) -> bool:
    """Whether the values of a cell keep a model."""
    q, p = here.of_members, whole.of_members
    match model.model:
        case "l-diversity":
            return not here.disclosed and len(here.having) >= model.l
        case "entropy-l-diversity":
            if here.disclosed or not here.known:
                return False
            return math.exp(-sum(float(x) * math.log(x) for x in here.shares.values())) >= model.l * (1 - NEAR)
        case "recursive-l-diversity":
            if here.disclosed or not here.known:
                return False
            r = sorted(here.having.values(), reverse=True)
            return r[0] < decimal(model.c) * sum(r[model.l - 1 :])
        case "alpha-k-anonymity":
            return max(q.values(), default=Fraction(0)) <= decimal(model.alpha)
        case "beta-likeness":
            return all((q[v] - p[v]) / p[v] <= decimal(model.beta) for v in q)
        case "enhanced-beta-likeness":
            limits = {v: min(model.beta, -math.log(share)) for v, share in p.items()}
            return all(float((q[v] - p[v]) / p[v]) <= limits[v] + NEAR for v in q)
        case "delta-disclosure":
            if model.absent == "breaks" and set(q) != set(p):
                return False
            return all(abs(math.log(q[v] / p[v])) < model.delta for v in q)
        case "t-closeness":
            return distance(case, here, whole, model) <= decimal(model.t)
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
    return {case.columns[y][row] for rows in same for row in rows} - {None}


def least_people(size: int, share: Fraction, population: int) -> int:
    """The first F from `size` on whose N / F groups show `size` or more of their people more than 1 / 20 times."""
    people = size
    while True:
        fewer = sum(math.comb(people, shown) * share**shown * (1 - share) ** (people - shown) for shown in range(size))
        if Fraction(population, people) * (1 - fewer) > Fraction(1, 20):
            return people
        people += 1


def distance(case: Case, values_here: Values, values_whole: Values, model: Any) -> Fraction:
    """The earth mover's distance of a cell from the whole table, by the formulas of Li et al., of the known values;
    and the difference of the shares of members without one."""
    missing = abs(values_here.missing - values_whole.missing)
    return missing + (known_distance(case, values_here, values_whole, model) if values_here.known else 0)


def known_distance(case: Case, values_here: Values, values_whole: Values, model: Any) -> Fraction:
    values = case.columns[model.sensitive]
    here, whole = values_here.shares, values_whole.shares
    tree = case.trees.get(model.sensitive)
    way = model.distance
    if way == "auto":
        numbers = all(isinstance(value, (int, float)) for value in values if value is not None)
        way = "hierarchical" if tree else "ordered" if numbers else "equal"
    if way == "equal":
        return sum((abs(here.get(v, Fraction(0)) - p) for v, p in whole.items()), Fraction(0)) / 2
    if way == "ordered":
        order = sorted(whole)
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
