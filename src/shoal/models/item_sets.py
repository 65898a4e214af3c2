"""Sets of items, one for each person: how many persons share whatever few of them somebody may know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from shoal.storage import Array

# subsets that are looked at together, and cells of a table of counts that stands in for sorting
_AT_ONCE, _DENSE = 1 << 22, 1 << 26


class Subsets(NamedTuple):
    """Subsets of one size, one entry for each person who has one: the places of its members among all occurrences,
    whose it is, and its number, where equal subsets have equal ones; `support[number]` persons have it."""

    members: Array
    person: Array
    number: Array
    support: Array

    @property
    def shared(self) -> Array:
        """How many persons have the subset, entry by entry."""
        return self.support[self.number]


@dataclass(frozen=True, eq=False)
class ItemSets:
    """The different items of each person: those of person p are `items[starts[p]:starts[p + 1]]`, the rarest first.

    Persons are looked for within their `group`, of which there are `groups`: an item of two groups is two items, whose
    own number is `code[item]`. `source` is where each occurrence stood in what was given. `values` are pairs of a
    person and a sensitive value that the person has, of which `sensitive` are possible.

    >>> sets = ItemSets.of(np.array([0, 0, 1, 1, 1]), np.array([3, 4, 4, 3, 3]), 2)
    >>> sets.starts.tolist(), sets.least_support(2).tolist()
    ([0, 2, 4], [2])
    """

    starts: Array
    items: Array
    code: Array
    group: Array
    groups: int
    source: Array
    values: tuple[Array, Array] | None = None
    sensitive: int = 0

    @classmethod
    def of(cls, person: Array, item: Array, persons: int, group: Array | None = None) -> ItemSets:
        """Sets from pairs of a person and an item; `group[p]` is where person p is looked for."""
        within = np.zeros(persons, np.int64) if group is None else group
        groups, codes = int(within.max(initial=0)) + 1, int(item.max(initial=0)) + 1
        person, item = person.astype(np.int64), item.astype(np.int64)
        _, first = np.unique(person * codes + item, return_index=True)
        person, item = person[first], item[first]
        own, number, counts = np.unique(within[person] * codes + item, return_inverse=True, return_counts=True)
        rank = np.empty(len(own), np.int64)
        rank[order := np.argsort(counts, kind="stable")] = np.arange(len(own))
        items = rank[number.ravel()]
        along = np.lexsort((items, person))
        starts = np.searchsorted(person[along], np.arange(persons + 1))
        return cls(starts, items[along], own[order] % codes, within, groups, first[along])

    @property
    def persons(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def lengths(self) -> Array:
        """How many items each person has."""
        return np.diff(self.starts)

    @cached_property
    def owner(self) -> Array:
        """Whose each occurrence is."""
        return np.repeat(np.arange(self.persons), self.lengths)

    def kept(self, keep: Array) -> ItemSets:
        """The same with some of the occurrences only."""
        starts = np.append(0, np.cumsum(keep))[self.starts]
        return replace(self, starts=starts, items=self.items[keep], source=self.source[keep])

    def subsets(self, size: int) -> Iterator[Subsets]:
        """All subsets of a size, in blocks: equal ones are always in one block, which has one range of rarest items."""
        after = self.starts[self.owner + 1] - np.arange(len(self.items)) - 1  # items of the same person behind each
        ways = np.array([comb(rest, size - 1) for rest in range(int(self.lengths.max(initial=0)) + 1)], np.int64)[after]
        order = np.argsort(self.items, kind="stable")
        order = order[ways[order] > 0]
        if not len(order):
            return
        total, rarest = np.cumsum(ways[order]), self.items[order]
        cells = float(len(self.code)) ** size
        dense = cells <= min(_DENSE, 8 * int(total[-1]) + 1024)
        whole = total[-1] <= _AT_ONCE
        support = self._dense_support(size, order, after) if dense and not whole else None
        block = total // (total[-1] + 1 if whole else _AT_ONCE)
        block = block if dense else block[np.searchsorted(rarest, rarest)]  # a rarest item stays in one block
        for part in np.split(order, np.flatnonzero(np.diff(block)) + 1):
            members = self._members(part, after[part], size)
            number = self._keys(members) if dense else self._numbers(members)
            counts = np.bincount(number) if support is None else support
            yield Subsets(members, self.owner[members[:, 0]], number, counts)

    def _dense_support(self, size: int, order: Array, after: Array) -> Array:
        support = np.zeros(len(self.code) ** size, np.int32)
        for part in np.array_split(order, max(len(order) * 8 // _AT_ONCE, 1)):
            support += np.bincount(self._keys(self._members(part, after[part], size)), minlength=len(support)).astype(
                np.int32
            )
        return support

    def _members(self, first: Array, after: Array, size: int) -> Array:
        """The places of the members of all subsets whose rarest item stands at `first`."""
        if size == 1:
            return first[:, None]
        if size == 2:
            inner = np.arange(int(after.sum())) - np.repeat(np.cumsum(after) - after, after)
            lead = np.repeat(first, after)
            return np.stack([lead, lead + 1 + inner], axis=1)
        found = []
        for rest in np.unique(after).tolist():
            at, behind = first[after == rest], _choices(rest, size - 1)
            both = np.empty((len(at), len(behind), size), np.int64)
            both[:, :, 0] = at[:, None]
            both[:, :, 1:] = at[:, None, None] + 1 + behind
            found.append(both.reshape(-1, size))
        return np.concatenate(found)

    def _keys(self, members: Array) -> Array:
        key = self.items[members[:, 0]]
        for place in range(1, members.shape[1]):
            key = key * len(self.code) + self.items[members[:, place]]
        return key

    def _numbers(self, members: Array) -> Array:
        """Equal subsets get equal numbers, whatever fits into 64 bits."""
        number, count = self.items[members[:, 0]], len(self.code)
        for place in range(1, members.shape[1]):
            if count * len(self.code) >= 2**62:
                found, number = np.unique(number, return_inverse=True)
                count = len(found)
            number = number * len(self.code) + self.items[members[:, place]]
            count *= len(self.code)
        return np.unique(number, return_inverse=True)[1].ravel()

    def least_support(self, most: int) -> Array:
        """For each group the fewest persons who share a subset of up to `most` items that occurs there; where no item
        occurs, and for who knows none, its persons."""
        least = np.bincount(self.group, minlength=self.groups)
        for size in range(1, most + 1):
            for found in self.subsets(size):
                _lower(least, self.group[found.person], found.shared)
            if self.groups == 1 and least[0] <= 1:
                break
        return least

    def highest_share(self, most: int) -> Array:
        """For each group the greatest share of those who share up to `most` items who have one sensitive value."""
        highest = np.zeros(self.groups)
        for size in range(1, most + 1):
            for found in self.subsets(size):
                entry, both, persons = self._with_values(found)
                share = persons[both] / found.support[found.number[entry]]
                np.maximum.at(highest, self.group[found.person[entry]], share)
        return highest

    def excess(self, found: Subsets, most: float, first: Array) -> Array:
        """The entries that must go so that no sensitive value is had by more than a share of those of its subset: of s
        persons with it among n, (s - most n) / (1 - most); those whose turn is `first` before others."""
        entry, both, persons = self._with_values(found)
        of_entry, with_value = found.shared[entry], persons[both]
        gone = np.ceil((with_value - most * of_entry) / max(1 - most, 1e-12) - 1e-9) if most < 1 else 0 * of_entry
        order = np.lexsort((~first[entry], both))
        rank = np.empty(len(both), np.int64)
        rank[order] = np.arange(len(both)) - np.repeat(np.cumsum(persons) - persons, persons)
        excess = np.zeros(len(found.number), bool)
        excess[entry[rank < gone]] = True
        return excess

    def _with_values(self, found: Subsets) -> tuple[Array, Array, Array]:
        """Each entry once for each sensitive value of its person, the number of subset and value, and how many persons
        have both."""
        nothing = np.zeros(0, np.int64)
        whose, value = (nothing, nothing) if self.values is None else self.values
        order = np.argsort(whose, kind="stable")
        first = np.searchsorted(whose[order], np.arange(self.persons + 1))
        many = np.diff(first)[found.person]
        entry = np.repeat(np.arange(len(many)), many)
        place = first[found.person][entry] + np.arange(len(entry)) - np.repeat(np.cumsum(many) - many, many)
        pairs = found.number[entry] * max(self.sensitive, 1) + value[order][place]
        _, both, persons = np.unique(pairs, return_inverse=True, return_counts=True)
        return entry, both.ravel(), persons

    def supports(self, size: int) -> Array:
        """How many different subsets of a size are shared by so many persons, by that number; only what occurs."""
        counts = np.zeros(self.persons + 1)
        for found in self.subsets(size):
            counts += np.bincount(found.shared, minlength=self.persons + 1)
        return np.rint(counts / np.maximum(np.arange(self.persons + 1), 1)).astype(np.int64)


def _lower(least: Array, group: Array, figures: Array) -> None:
    if len(least) == 1:
        least[0] = min(int(least[0]), int(figures.min(initial=least[0])))
    else:
        np.minimum.at(least, group, figures)


def _choices(of: int, size: int) -> Array:
    if size == 2:
        return np.stack(np.triu_indices(of, 1), axis=1)
    return np.array(list(combinations(range(of), size)), np.int64).reshape(-1, size)
