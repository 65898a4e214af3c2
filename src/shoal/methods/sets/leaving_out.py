"""Occurrences of items that must go, so that whatever few of the others somebody knows is shared by enough persons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal import progress
from shoal.models.item_sets import ItemSets, Subsets
from shoal.models.known_sets import AboutSets
from shoal.storage import Array

# rounds of bringing back what was left out: the first few bring back nearly all that can; of so many occurrences and
# more one way is tried, and fewer rounds
_ROUNDS, _MANY = 6, 1 << 20


@dataclass(frozen=True)
class AskedOfSets:
    """What one model asks of sets: of which occurrences (those of its sets, by `source`), and how it tells a breach."""

    sets: ItemSets
    model: AboutSets

    def breaches(self, keep: Array, size: int, new: Array | None = None) -> Array:
        """The subsets of a size, as places among all occurrences, that break the model where only `keep` are left; what
        is `new` is at fault before others."""
        left = self.sets.kept(keep[self.sets.source])
        fault = np.zeros(len(left.source), bool) if new is None else new[left.source]
        found = [left.source[part.members[self.broken(left, part, fault)]] for part in left.subsets(size)]
        return np.concatenate([np.zeros((0, size), np.int64), *found])

    def broken(self, left: ItemSets, part: Subsets, fault: Array) -> Array:
        """Which subsets too few persons share, or which tell a sensitive value too surely."""
        broken = part.shared < self.model.persons
        if self.model.most_share is not None:
            broken |= left.excess(part, self.model.most_share, np.asarray(fault[part.members].any(axis=1)))
        return broken


def to_leave_out(asked: Sequence[AskedOfSets], occurrences: int) -> Array:
    """Which occurrences stay: few go, and those come back that break nothing; of two ways the one that loses fewer.

    Subsets of one item first, then of two, and so on: what a smaller one breaks need not be counted in a larger one.
    What goes makes others rarer, so all is counted again until nothing breaks.

    >>> from shoal.models import KMAnonymity
    >>> sets = ItemSets.of(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2]), 3)
    >>> to_leave_out([AskedOfSets(sets, KMAnonymity(m=2, k=2))], 5).tolist()
    [True, True, True, True, False]
    """
    ways = [_left_out(asked, occurrences, rarest) for rarest in ((False,) if occurrences > _MANY else (False, True))]
    return max(ways, key=np.count_nonzero)


def _left_out(asked: Sequence[AskedOfSets], occurrences: int, rarest: bool) -> Array:
    keep = np.ones(occurrences, bool)
    owner = np.zeros(occurrences, np.int64)
    common = np.zeros(occurrences, np.int64)
    for one in asked:
        owner[one.sets.source] = one.sets.owner
        common[one.sets.source] = one.sets.items  # the rarest have the lowest numbers
    while not _settled(asked, keep, lambda broken: _drop(keep, broken, -common if rarest else common)):
        progress.report("leaving out items", int((~keep).sum()), occurrences)
    _bring_back(asked, keep, owner, common)
    return keep


def _settled(asked: Sequence[AskedOfSets], keep: Array, act: Callable[[Array], None], new: Array | None = None) -> bool:
    """Whether nothing breaks; what does is acted upon, size by size."""
    settled = True
    for one in asked:
        for size in range(1, one.model.known + 1):
            while len(broken := one.breaches(keep, size, new)):
                settled = False
                act(broken)
    return settled


def _drop(keep: Array, broken: Array, first: Array) -> None:
    """Leave out of each broken subset the member that most broken ones of its person have; of equals the first."""
    while len(broken):
        many = np.bincount(broken.ravel(), minlength=len(keep))
        weight = many[broken] + first[broken] / (np.abs(first).max() + 1)
        worst = broken[np.arange(len(broken)), weight.argmax(axis=1)]
        # those that are the worst of all their subsets: no other choice would be better for these
        gone = np.bincount(worst, minlength=len(keep)) == many
        gone &= many > 0
        keep[gone] = False
        broken = broken[~gone[broken].any(axis=1)]


def _bring_back(asked: Sequence[AskedOfSets], keep: Array, owner: Array, common: Array) -> None:
    """Occurrences come back, one of each person at a time and the most common first, as long as nothing breaks."""
    waiting = np.flatnonzero(~keep)
    for _ in range(_ROUNDS if len(keep) <= _MANY else 2):
        if not len(waiting):
            return
        waiting = waiting[np.lexsort((-common[waiting], owner[waiting]))]
        tried = waiting[np.append(True, owner[waiting[1:]] != owner[waiting[:-1]])]
        waiting = np.setdiff1d(waiting, tried)
        new = np.zeros(len(keep), bool)
        new[tried] = True
        keep[tried] = True

        def leave(broken: Array, new: Array = new) -> None:
            again = broken[new[broken]]
            keep[again if len(again) else new] = False

        while not _settled(asked, keep, leave, new):
            pass
