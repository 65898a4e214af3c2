"""Sets of items by the letter of their definitions, slow and plain: nothing here is shared with the fast code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

Persons = Mapping[Any, set[Any]]


def subsets(items: set[Any], most: int) -> set[tuple[Any, ...]]:
    return {part for size in range(1, most + 1) for part in combinations(sorted(items), size)}


def support(persons: Persons, part: Sequence[Any]) -> list[Any]:
    return [person for person, items in persons.items() if set(part) <= items]


def least_support(persons: Persons, most: int) -> int:
    """Any up to `most` items that a person has: the fewest who have them; who knows none knows everybody."""
    found = [len(support(persons, part)) for items in persons.values() for part in subsets(items, most)]
    return min([len(persons), *found])


def highest_share(persons: Persons, values: Mapping[Any, set[Any]], most: int) -> float:
    """Of those who share up to `most` items the greatest share who have one value."""
    highest = 0.0
    for items in persons.values():
        for part in subsets(items, most):
            who = support(persons, part)
            counts = [sum(value in values[person] for person in who) for value in set().union(*values.values())]
            highest = max([highest, *(count / len(who) for count in counts)])
    return highest


def keeps(
    persons: Persons, most: int, least: int, share: float = 1.0, values: Mapping[Any, set[Any]] | None = None
) -> bool:
    told = values or {person: set() for person in persons}
    return least_support(persons, most) >= least and highest_share(persons, told, most) <= share + 1e-9
