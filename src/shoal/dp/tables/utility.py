"""How far a released table is from the original: for its owner only, because nothing of it is paid for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.dp.tables.counting import Records, packed
from shoal.dp.tables.model import Clique
from shoal.dp.tables.synthesis import system_randomness

# marginals of each size that are compared; of more a part, drawn at random
_MOST = 500
_DENSE = 4_000_000


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
    if len(cliques) > _MOST:
        chosen = system_randomness().choice(len(cliques), _MOST, replace=False)
        cliques = [cliques[place] for place in sorted(chosen)]
    return cliques
