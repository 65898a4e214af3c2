"""A few points of a person, drawn at random: is there anybody else who has them all?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.engine import engine_of
from shoal.errors import InputError, Message
from shoal.exposure.results import KnownItems
from shoal.models.item_sets import ItemSets
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.results.sections import Verdict
from shoal.storage import Array, Table
from shoal.storage.classes import Coded
from shoal.storage.reading import Options

# persons of whom it is tried whether a few of their items tell them from all others
TARGETS = 10_000
# up to so many different points a table of flags is smaller than a search
_FLAGS = 1 << 28


def targets_of(owner: Coded, targets: int, seed: int) -> Array:
    """So many persons drawn at random, all of them where there are fewer; in order."""
    draw = np.random.default_rng(seed)
    return np.sort(draw.choice(owner.cardinality, min(targets, owner.cardinality), replace=False))


def alone_with(owner: Coded, point: Coded, target: Array, asked: list[int], seed: int) -> tuple[Array, int]:
    """Whether each target is the only person with its first so many points, and how many targets have fewer points.

    The points of a target are drawn without replacement from its different ones; with more points the same are known
    and others beside them. An index of persons by point is made for known points only: one pass over the rows.
    """
    from shoal.kernels.attacks import others_with_all

    known = known_points(owner, point, target, asked[-1], seed)
    needed = np.unique(known.codes[known.codes >= 0])
    ranks = np.where(known.codes >= 0, np.searchsorted(needed, known.codes), -1)
    rows = rows_among(point, needed)
    persons = owner.cardinality
    index = np.searchsorted(needed, point.codes[rows].astype(np.int64)) * persons + owner.codes[rows]
    index.sort()
    starts = np.searchsorted(index, np.arange(len(needed) + 1) * persons)
    others = others_with_all(index, starts, persons, target.astype(np.int64), ranks, np.array(asked))
    return ~others, int((known.different < asked[-1]).sum())


class Known(NamedTuple):
    """Points that an attacker knows: one line per target, padded with -1, and how many the target has in all."""

    codes: Array
    different: Array


def known_points(owner: Coded, point: Coded, target: Array, most: int, seed: int) -> Known:
    """Up to `most` different points of each target, in a random order that does not depend on the order of rows.

    >>> owner, point = Coded(np.array([0, 0, 1]), 2), Coded(np.array([5, 5, 6]), 7)
    >>> known_points(owner, point, np.array([0, 1]), 2, seed=0).codes.tolist()
    [[5, -1], [6, -1]]
    """
    rows = rows_among(owner, target)
    mine = np.searchsorted(target, owner.codes[rows].astype(np.int64))
    pairs = np.unique(np.stack([mine, point.codes[rows].astype(np.int64)], axis=1), axis=0)
    count = np.bincount(pairs[:, 0], minlength=len(target))
    order, rank = drawn(pairs[:, 0], count, seed)
    kept = rank < most
    codes = np.full((len(target), most), -1, np.int64)
    codes[pairs[order, 0][kept], rank[kept]] = pairs[order, 1][kept]
    return Known(codes, count)


def drawn(group: Array, count: Array, seed: int) -> tuple[Array, Array]:
    """The members of each group in a random order: positions group by group, and the number of each in its group.

    >>> drawn(np.array([0, 0, 1]), np.array([2, 1]), seed=0)[1].tolist()
    [0, 1, 0]
    """
    order = np.lexsort((np.random.default_rng([seed, 1]).random(len(group)), group))
    return order, np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)


def rows_among(column: Coded, wanted: Array) -> Array:
    """The rows whose code is among those wanted, which are sorted.

    >>> rows_among(Coded(np.array([3, 1, 3, 0]), 4), np.array([0, 3])).tolist()
    [0, 2, 3]
    """
    if column.cardinality <= _FLAGS:
        flags = np.zeros(column.cardinality, bool)
        flags[wanted] = True
        return np.flatnonzero(flags[column.codes])
    places = np.searchsorted(wanted, column.codes)
    return np.flatnonzero(wanted[np.minimum(places, len(wanted) - 1)] == column.codes)


def alone_shares(sets: ItemSets, sizes: Sequence[int]) -> list[float]:
    """The share of persons whom so many of their items, drawn at random, tell from all others.

    >>> sets = ItemSets.of(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), 2)
    >>> alone_shares(sets, [2])
    [1.0]
    """
    having = np.flatnonzero(sets.lengths)
    if not len(having):
        return [0.0] * len(sizes)
    rank = np.cumsum(sets.lengths > 0) - 1
    owner = Coded(rank[sets.owner], len(having))
    target = targets_of(owner, TARGETS, 0)
    alone, _ = alone_with(owner, Coded(sets.items, len(sets.code)), target, list(sizes), 0)
    # who has no item is not found by one
    return [float(one) * len(having) / sets.persons for one in alone.mean(axis=0)]


def known_items(
    source: Any, policy: Policy, known: Sequence[int], options: Options | None
) -> tuple[list[KnownItems], list[Verdict], Table]:
    """What each number of known items gives away, within the classes of the policy's quasi-identifiers; the verdicts of
    its models about sets; and the table."""
    sizes = sorted(set(known))
    if not sizes or sizes[0] < 1 or sizes[-1] > 10:
        raise InputError("The numbers of known items are 1 to 10.", Message("Use 1,2,3, for example ({known})."))
    names = policy.quasi_identifiers
    needed = [*names, *policy.set_columns, *policy.sensitive, *filter(None, [policy.person])]
    table = engine_of(source, options).rows(source, list(dict.fromkeys(needed)), options)
    asked = policy.model_copy(update={"models": [model for model in policy.models if model.of_sets]})
    evidence, _ = evidence_of(table, names, asked)
    sets = evidence.items or evidence.events
    if sets is None:
        raise InputError("No column of items is named.", Message("Name it in {items} or {items_in}, or in a policy."))
    alone = alone_shares(sets, sizes)
    least = np.bincount(sets.group, minlength=sets.groups)
    found, fewest = [], int(least[least > 0].min())
    for size in range(1, sizes[-1] + 1):
        counts, exposed = sets.supports(size), np.zeros(sets.persons, bool)
        fewest = min(fewest, int(np.flatnonzero(counts).min(initial=fewest)))
        for part in sets.subsets(size):
            exposed[part.person[part.shared == 1]] = True
        if size in sizes:
            figures = int(counts.sum()), int(counts[1]), fewest, int(exposed.sum())
            found.append(KnownItems(size, *figures, alone[sizes.index(size)]))
    return found, [model.judge(evidence) for model in asked.models], table
