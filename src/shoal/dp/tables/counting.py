"""Exact counts over cells of columns, what is bought before anything else (domains and bins), and how far a
released table is from the original: the last for its owner only, because nothing of it is paid for."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from shoal.dp.ledger import BudgetTooSmall
from shoal.dp.tables.account import Account
from shoal.dp.tables.domains import Domain
from shoal.dp.tables.model import Clique
from shoal.dp.terms import share
from shoal.dp.types import convert
from shoal.errors import InputError
from shoal.storage import Array, Column
from shoal.storage.table import blocks_of, smallest_unsigned

# numbers whose bins are bought: so fine is the tree of counts, and so many bins come out of it at most
_LEVELS, MOST_BINS = 12, 32
_MOST_KEYS = 10_000
# marginals of each size that are compared; of more a part, drawn at random
_MOST_MARGINALS = 500
_DENSE = 4_000_000


@dataclass(frozen=True)
class Records:
    """The cell of each record in each column: what is counted, exactly and for nobody to see."""

    codes: tuple[Array, ...]
    sizes: tuple[int, ...]

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.codes[0])

    def counts(self, clique: Clique) -> Array:
        """How many records are in each combination of cells, one axis for each column."""
        shape = [self.sizes[axis] for axis in clique]
        found = np.zeros(math.prod(shape), np.int64)
        for block in blocks_of(self.rows):
            found += np.bincount(packed(self.codes, clique, self.sizes, block), minlength=len(found))
        return found.reshape(shape)

    def coarser(self, groups: Sequence[Array]) -> Records:
        """The same records with cells joined: `groups[column][cell]` is the number of the group."""
        sizes = tuple(int(group.max()) + 1 for group in groups)
        kinds = [group.astype(smallest_unsigned(size)) for group, size in zip(groups, sizes, strict=True)]
        return Records(tuple(group[own] for group, own in zip(kinds, self.codes, strict=True)), sizes)


def packed(codes: Sequence[Array], clique: Clique, sizes: Sequence[int], rows: slice = slice(None)) -> Array:
    """One number for the cells of several columns."""
    found = codes[clique[0]][rows].astype(np.int64)
    for axis in clique[1:]:
        found *= sizes[axis]
        found += codes[axis][rows]
    return found


def system_randomness() -> np.random.Generator:
    """Randomness of the system for drawing records; no seed drives it."""
    return np.random.default_rng(secrets.randbits(256))


def encoded(columns: Mapping[str, Column], domains: Mapping[str, Domain]) -> tuple[Records, dict[str, int], int]:
    """The records; how many values had to be moved into each domain; how many records were left out, because a value
    is missing where none may be."""
    codes, moved, held = list[Array](), dict[str, int](), np.ones(len(next(iter(columns.values())).codes), bool)
    for name, domain in domains.items():
        own, strange = domain.codes(columns[name])
        if strange:
            moved[name] = strange
        if not domain.missing:
            held &= own < domain.size
        codes.append(own)
    left_out = int(len(held) - held.sum())
    rows = tuple(own[held] for own in codes) if left_out else tuple(codes)
    return Records(rows, tuple(domain.size for domain in domains.values())), moved, left_out


def bought_domain(column: Column, account: Account, rho: Decimal, columns: int) -> Domain:
    """The values of a column whose noisy count of records passes a threshold; all others count as missing."""
    texts = convert(column.values, "text")
    counts = np.bincount(column.codes, minlength=len(texts) + 1)[: len(texts)]
    known = {place: int(count) for place, count in enumerate(counts) if count and texts[place] is not None}
    kept = account.keys("domain", column.name, known, rho, share(account.threshold_delta, columns))
    if not kept:
        raise BudgetTooSmall(
            f"The budget does not suffice to learn a single value of column '{column.name}'.",
            "Say its domain in the policy, or give more epsilon. Nothing was written.",
        )
    if len(kept) > _MOST_KEYS:
        raise InputError(f"Column '{column.name}' has too many values for a table.", "Give it bins in the policy.")
    return Domain(column.name, "values", "bought", tuple(sorted(texts[place] for place in kept)))


def bin_levels(domain: Domain) -> int:
    """How many levels the tree of counts has below its root, by which bins between its bounds are bought."""
    low, high = domain.edges
    return min(_LEVELS, math.ceil(math.log2(high - low))) if domain.whole else _LEVELS


def bought_bins(domain: Domain, column: Column, account: Account, rho: Decimal) -> Domain:
    """Bins of about equal counts, from a tree of noisy counts whose levels are made to agree (Hay et al. 2010)."""
    low, high = domain.edges
    leaves = 1 << bin_levels(domain)
    edges = low + (high - low) * np.arange(leaves + 1) / leaves
    edges = np.unique(np.round(edges)) if domain.whole else edges
    fine = replace(domain, edges=tuple(edges.tolist()), missing=True)
    leaf = fine.codes(column)[0]
    exact = np.zeros(leaves, np.int64)
    exact[: fine.cells] = np.bincount(leaf[leaf < fine.cells], minlength=fine.cells)
    tree = [exact]
    while len(tree[-1]) > 1:
        tree.append(tree[-1].reshape(-1, 2).sum(axis=1))
    # a person's row is in one node of each level
    change = account.rows * math.sqrt(len(tree))
    noisy = account.counts("bins", (domain.name,), np.concatenate(tree), rho, change)
    parts = np.split(noisy.astype(float), np.cumsum([len(level) for level in tree])[:-1])
    counts = np.maximum(_agreeing(parts), 0)[: fine.cells]
    reached = np.cumsum(counts) / max(counts.sum(), 1)
    cuts = np.searchsorted(reached, np.arange(1, MOST_BINS) / MOST_BINS) + 1
    chosen = sorted({0, fine.cells, *(int(cut) for cut in cuts if cut < fine.cells)})
    return domain.with_edges([fine.edges[place] for place in chosen])


def _agreeing(levels: Sequence[Array]) -> Array:
    """The leaves of a binary tree of noisy counts, the finest level first, by least squares."""
    up = [levels[0]]
    for height, own in enumerate(levels[1:], 2):
        below = up[-1].reshape(-1, 2).sum(axis=1)
        up.append(
            own * (2**height - 2 ** (height - 1)) / (2**height - 1) + below * (2 ** (height - 1) - 1) / (2**height - 1)
        )
    down = up[-1]
    for own in reversed(up[:-1]):
        pairs = own.reshape(-1, 2)
        down = (pairs + ((down - pairs.sum(axis=1)) / 2)[:, None]).ravel()
    return down


def l1_distance(first: Records, second: Records, clique: Clique) -> float:
    """The L1 distance of two marginals as shares, from 0 to 2.

    >>> codes = [np.array([0, 1, 1, 1])], [np.array([0, 0, 1, 1])]
    >>> l1_distance(*(Records(tuple(own), (2,)) for own in codes), (0,))
    0.5
    """
    cells = int(np.prod([first.sizes[axis] for axis in clique]))
    if cells <= _DENSE:
        shares = [one.counts(clique) / max(one.rows, 1) for one in (first, second)]
        return float(np.abs(shares[0] - shares[1]).sum())
    keys = [packed(one.codes, clique, one.sizes) for one in (first, second)]
    both, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    parts = (inverse[: first.rows], inverse[first.rows :])
    held = [np.bincount(part, minlength=len(both)) / max(len(part), 1) for part in parts]
    return float(np.abs(held[0] - held[1]).sum())


def marginal_errors(
    original: Records, released: Records, names: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """The distance of every pair, and the mean distance over all pairs and over all triples."""
    pairs = [
        {"columns": [names[axis] for axis in pair], "error": l1_distance(original, released, pair)}
        for pair in _some(len(names), 2)
    ]
    means = {"2": float(np.mean([one["error"] for one in pairs]))} if pairs else {}
    if triples := [l1_distance(original, released, one) for one in _some(len(names), 3)]:
        means["3"] = float(np.mean(triples))
    return pairs, means


def _some(columns: int, size: int) -> list[Clique]:
    cliques = list(itertools.combinations(range(columns), size))
    if len(cliques) > _MOST_MARGINALS:
        chosen = system_randomness().choice(len(cliques), _MOST_MARGINALS, replace=False)
        cliques = [cliques[place] for place in sorted(chosen)]
    return cliques
