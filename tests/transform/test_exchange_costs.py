"""What groups cost: the distances of their members to the farthest corners of their boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernels.uncompiled import uncompiled
from shoal.methods.partition.groups import in_eights

WHOLE, LEAST, WITHOUT = range(3)


def _cost(rows: Any) -> float:
    low, high = rows.min(axis=0), rows.max(axis=0)
    return float(np.sqrt((np.maximum(high - rows, rows - low).astype(float) ** 2).sum(axis=1)).sum())


@pytest.mark.parametrize("columns", [1, 3, 8, 9, 20])
def test_costs_are_the_distances_to_the_farthest_corners(columns: int) -> None:
    """Also of groups of more than eight, which take two blocks."""
    rows = np.random.default_rng(columns).normal(size=(60, columns)).astype(np.float32)
    members, sizes = np.arange(55).reshape(5, 11), np.array([3, 4, 11, 8, 1])
    near = np.zeros((5, 1), np.int32)
    groups = uncompiled("exchange")._Groups(
        in_eights(rows, np.arange(60)), columns, members, sizes, near, 2, float("inf")
    )
    for g, size in enumerate(sizes):
        groups.renew(g)
        own = members[g, :size].tolist()
        without = [_cost(rows[[i for i in own if i != out]]) if size > 1 else 0 for out in own]
        costs = groups.costs[g]
        assert costs[WHOLE] == pytest.approx(_cost(rows[own]), rel=1e-5, abs=1e-6)
        assert costs[WITHOUT : WITHOUT + size] == pytest.approx(np.array(without), rel=1e-5, abs=1e-6)
        assert costs[LEAST] == costs[WITHOUT : WITHOUT + size].min()
        if size == 1:
            continue
        most = np.float32(np.inf)
        joined, far = _cost(rows[[*own, 55]]), groups.far_whole(55, g)
        assert groups.cost_joined(g, 55, far, most) == pytest.approx(joined, rel=1e-5)
        assert groups.cost_joined(g, 55, far, np.float32(0.9 * joined)) == np.inf
        for at, out in enumerate(own):
            new, far = _cost(rows[[*(i for i in own if i != out), 56]]), groups.far_without(56, g, out)
            assert groups.cost_replaced(g, at, 56, far, most) == pytest.approx(new, rel=1e-5)
            assert groups.cost_replaced(g, at, 56, far, np.float32(0.9 * new)) == np.inf


def test_the_columns_that_fill_up_are_zeros() -> None:
    rows = np.random.default_rng(9).normal(size=(40, 9)).astype(np.float32)
    found = in_eights(rows, np.array([5, 1]))
    assert found.shape == (2, 16)
    assert (found[:, :9] == rows[[5, 1]]).all()
    assert not found[:, 9:].any()
