"""Code for AVX2, code for any processor, and Python: the same groups, trees and neighbours to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernels.uncompiled import uncompiled
from shoal.kernels import exchange, groups, peeling
from shoal.methods.partition.groups import in_eights
from shoal.methods.partition.peel import outermost_first, tree_of, wide_tree


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    for module in (exchange, groups, peeling):
        module.take_avx2(True)


def _agree(module: Any, name: str, *arguments: Any) -> Any:
    """What a kernel gives back and leaves in its arrays is the same in each of the three ways."""
    found = []
    for wanted in (True, False, None):
        own = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        if wanted is None:
            module = uncompiled(module.__name__.rpartition(".")[2])
        else:
            assert wanted or not module.take_avx2(wanted)
            module.take_avx2(wanted)
        with np.errstate(all="ignore"):
            result = getattr(module, name)(*own)
        found.append((result, own))
    (expected, arrays), *others = found
    for result, own in others:
        assert result == expected
        for one, two in zip(own, arrays, strict=True):
            assert not isinstance(one, np.ndarray) or one.tobytes() == two.tobytes()
    return expected, arrays


def _records(size: int, columns: int, *, whole: bool) -> Any:
    draw = np.random.default_rng(columns)
    rows = draw.integers(-2, 3, (size, columns)) if whole else draw.normal(size=(size, columns))
    return rows.astype(np.float32)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 9])
def test_trees_and_what_is_found_in_them(columns: int, whole: bool) -> None:
    rows = _records(700, columns, whole=whole)
    outermost, made = outermost_first(rows.copy()), wide_tree(rows.copy())
    _agree(peeling, "inwards", rows, np.empty(700), np.empty(columns))
    ordered = rows.copy()
    tree = tree_of(ordered, 6)
    empty = [np.full_like(made.leaves, 1e18), np.full_like(made.low, 1e18), np.full_like(made.high, -1e18)]
    empty += [made.levels, np.zeros_like(made.slots), np.full_like(made.names, -1)]
    _, filled = _agree(peeling, "lay_out", ordered, tree.names, tree.starts[len(made.leaves) - 1 :], *empty)
    assert filled[3].tobytes() == made.leaves.tobytes()
    for k, wanted in ((2, 1), (5, 10), (9, 36)):
        groups, _ = _agree(peeling, "peel_loop", *made, outermost, k, wanted, np.full(700, -1, np.int32), 3)
        assert groups == 3 + 700 // k
    slots = np.flatnonzero(made.names >= 0)
    numbers = np.zeros(len(made.names), np.int32)
    numbers[slots] = np.arange(700)
    for share in (1.0, 0.4):
        found = np.zeros((700, 7), np.int32)
        arrays = (made.leaves, made.low, made.high, made.levels, made.names, slots, numbers, np.arange(0, 700, 5))
        _agree(peeling, "look_up", *arrays, share, found)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 9])
def test_groups_within_blocks(columns: int, whole: bool) -> None:
    """Blocks of fewer records than a lane, of as many, and of one more than two; some have a group already."""
    rows, edges = _records(150, columns, whole=whole), np.array([0, 5, 13, 30, 150])
    group, number = np.full(150, -1, np.int32), np.zeros(4, np.int64)
    group[13:18], number[2] = 0, 1
    for k in (2, 3, 5):
        _, arrays = _agree(groups, "greedy_blocks", rows, edges, k, group, number)
        for block, (start, stop) in enumerate(pairwise(edges)):
            sizes = np.bincount(arrays[3][start:stop])
            assert len(sizes) == arrays[4][block]
            assert sizes.min() >= k


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 17])
def test_exchanges(columns: int, whole: bool) -> None:
    """Groups of up to nine take two blocks of eight; of whole numbers many are alike."""
    k, count = 5, 7
    rows = _records(count * k + 12, columns, whole=whole)
    sizes = np.full(count, k)
    sizes[:4] += 3
    members = (np.cumsum(sizes) - sizes)[:, None] + np.arange(2 * k - 1)
    far = ((rows[members[:, 0]][:, None] - rows[members[:, 0]]) ** 2).sum(axis=2)
    near = np.argsort(far, axis=1, kind="stable")[:, 1:6].astype(np.int32)
    made = 0
    for both_ways, long_from in ((True, np.inf), (False, 0.0), (False, 3.0 * columns**0.5)):
        arguments = (in_eights(rows, np.arange(len(rows))), columns, members, sizes, np.arange(count), near)
        exchanges, changed = _agree(exchange, "exchange_boxes", *arguments, k, 2, both_ways, long_from)
        assert np.sort(np.concatenate([m[:n] for m, n in zip(changed[2], changed[3], strict=True)])).tolist() == list(
            range(len(rows))
        )
        made += exchanges
    assert made > 0
