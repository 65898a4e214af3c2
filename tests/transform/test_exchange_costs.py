"""What groups cost, eight columns at once: machine code does what its Python says, and costs are those of the boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shoal.anonymization.partition.exchange_costs import (
    EIGHT,
    LEAST,
    WHOLE,
    WITHOUT,
    cost_joined,
    cost_replaced,
    exchanged,
    far_whole,
    far_with_one_out,
    far_without,
    hold,
    in_eights,
    keep_least_far,
    laid_out,
    near_core,
    renew,
    square_far,
    square_far_without,
    sum_of_far,
    widened,
)
from shoal.compiled import compiled


@compiled
def _square_far(xs: Any, i: int, ends: Any, g: int, low: int, high: int) -> Any:
    return square_far(xs, i, ends, g, low, high)


@compiled
def _square_far_without(xs: Any, i: int, ends: Any, g: int, out: int) -> Any:
    return square_far_without(xs, i, ends, g, out)


@compiled
def _widened(xs: Any, new: int, ends: Any, g: int, to: int) -> None:
    widened(xs, new, ends, g, to)


@compiled
def _exchanged(xs: Any, out: int, new: int, ends: Any, g: int, to: int) -> None:
    exchanged(xs, out, new, ends, g, to)


@compiled
def _hold(xs: Any, i: int, ends: Any, g: int) -> None:
    hold(xs, i, ends, g)


@compiled
def _near_core(laid: Any, g: int, block: int, ends: Any, of: int, bound: Any) -> int:
    return near_core(laid, g, block, ends, of, bound)


@compiled
def _sum_of_far(laid: Any, g: int, block: int, ends: Any, of: int, counted: int) -> Any:
    return sum_of_far(laid, g, block, ends, of, counted)


@compiled
def _keep_least_far(laid: Any, g: int, block: int, ends: Any, of: int, least: Any) -> None:
    keep_least_far(laid, g, block, ends, of, least)


@compiled
def _far_with_one_out(
    laid: Any, g: int, block: int, xs: Any, i: int, ends: Any, costs: Any, limit: Any, far: Any
) -> int:
    return far_with_one_out(laid, g, block, xs, i, ends, costs, limit, far)


@compiled
def _renew(xs: Any, members: Any, laid: Any, sizes: Any, ends: Any, costs: Any, far: Any, g: int) -> None:
    renew(xs, members, laid, sizes, ends, costs, far, g)


@compiled
def _cost_joined(xs: Any, laid: Any, sizes: Any, ends: Any, g: int, i: int, limit: Any) -> Any:
    return cost_joined(xs, laid, sizes, ends, g, i, far_whole(xs, i, ends, g), limit)


@compiled
def _cost_replaced(
    xs: Any, members: Any, laid: Any, sizes: Any, ends: Any, g: int, without: int, i: int, limit: Any
) -> Any:
    far = far_without(xs, i, ends, g, members[g, without])
    return cost_replaced(xs, members, laid, sizes, ends, g, without, i, far, limit)


def _records(columns: int, *, whole: bool = False) -> Any:
    rng = np.random.default_rng(columns)
    rows = rng.integers(0, 4, (40, columns)) if whole else rng.normal(size=(40, columns))
    return rows.astype(np.float32)


def _both(function: Any, machine: Any, *arguments: Any) -> None:
    """Python and machine code give back the same, and leave the same in their arrays."""
    found = []
    for run in (function, machine):
        own = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        found.append([run(*own), *(one.tobytes() for one in own if isinstance(one, np.ndarray))])
    assert found[0] == found[1]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 17])
def test_what_is_written_by_hand_does_what_its_python_says(columns: int, whole: bool) -> None:
    rows = _records(columns, whole=whole)
    xs = in_eights(rows, np.arange(40))
    rng = np.random.default_rng(0)
    laid, ends, costs, (far, _) = laid_out(5, 12, columns)
    ends[:] = np.sort(rng.normal(size=ends.shape), axis=1)[:, [0, 3, 1, 2]]
    costs[:] = rng.random(costs.shape)
    laid[:] = rows[rng.integers(0, 40, (5, 2, 8))].transpose(0, 1, 3, 2)
    far[:] = 1
    ends[3] = np.array([np.inf, -np.inf, np.inf, -np.inf], np.float32)[:, None]
    some = np.float32(1.5 * columns**0.5)
    for number in range(25):
        i, out, g, block = number, 39 - number, number % 5, number % 2
        _both(hold, _hold, xs, i, ends, g)
        _both(widened, _widened, xs, i, ends, g, 5)
        _both(exchanged, _exchanged, xs, out, i, ends, g, 5)
        if g != 3:
            _both(square_far, _square_far, xs, i, ends, g, 0, 1)
            _both(square_far, _square_far, xs, i, ends, g, 2, 3)
            _both(square_far_without, _square_far_without, xs, i, ends, g, out)
            _both(near_core, _near_core, laid, number % 4, block, ends, g, some)
            _both(sum_of_far, _sum_of_far, laid, number % 4, block, ends, g, 37 * number % 256)
            _both(keep_least_far, _keep_least_far, laid, number % 4, block, ends, g, far * some)
            _both(far_with_one_out, _far_with_one_out, laid, g, block, xs, i, ends, costs, some, far)


def _cost(rows: Any) -> float:
    low, high = rows.min(axis=0), rows.max(axis=0)
    return float(np.sqrt((np.maximum(high - rows, rows - low).astype(float) ** 2).sum(axis=1)).sum())


@pytest.mark.parametrize("columns", [1, 3, 8, 9, 20])
def test_costs_are_the_distances_to_the_farthest_corners(columns: int) -> None:
    """Also of groups of more than eight, which take two blocks."""
    rows = np.random.default_rng(columns).normal(size=(60, columns)).astype(np.float32)
    xs = in_eights(rows, np.arange(60))
    members = np.arange(55).reshape(5, 11)
    sizes = np.array([3, 4, 11, 8, 1])
    laid, ends, costs, (far, _) = laid_out(5, 11, columns)
    for g, size in enumerate(sizes):
        _renew(xs, members, laid, sizes, ends, costs, far, g)
        own = members[g, :size].tolist()
        without = [_cost(rows[[i for i in own if i != out]]) if size > 1 else 0 for out in own]
        assert costs[g, WHOLE] == pytest.approx(_cost(rows[own]), rel=1e-5, abs=1e-6)
        assert costs[g, WITHOUT : WITHOUT + size] == pytest.approx(np.array(without), rel=1e-5, abs=1e-6)
        assert costs[g, LEAST] == costs[g, WITHOUT : WITHOUT + size].min()
        if size == 1:
            continue
        most = np.float32(np.inf)
        joined = _cost(rows[[*own, 55]])
        assert _cost_joined(xs, laid, sizes, ends, g, 55, most) == pytest.approx(joined, rel=1e-5)
        assert _cost_joined(xs, laid, sizes, ends, g, 55, np.float32(0.9 * joined)) == np.inf
        for at, out in enumerate(own):
            new = _cost(rows[[*(i for i in own if i != out), 56]])
            assert _cost_replaced(xs, members, laid, sizes, ends, g, at, 56, most) == pytest.approx(new, rel=1e-5)
            assert _cost_replaced(xs, members, laid, sizes, ends, g, at, 56, np.float32(0.9 * new)) == np.inf


def test_the_columns_that_fill_up_are_zeros() -> None:
    found = in_eights(_records(9), np.array([5, 1]))
    assert found.shape == (2, 16)
    assert (found[:, :9] == _records(9)[[5, 1]]).all()
    assert not found[:, 9:].any()


def test_the_costs_of_groups_without_a_member_lie_where_machine_code_looks_for_them() -> None:
    from shoal.compiled import vectors

    assert (vectors._WITHOUT, vectors.EIGHT) == (WITHOUT, EIGHT)
