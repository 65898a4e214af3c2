"""The tree laid out for vectors: what is written by hand does what its Python says, and nothing nearer is missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shoal
from shoal.anonymization.partition.peel import outermost_first, peel, widths
from shoal.anonymization.partition.wide_tree import LANES, boxes_within, lowest_bit, tighten, wide_tree, within
from shoal.compiled import compiled
from shoal.compiled.stamp import of_module

AWAY = np.float32(1e18)


@compiled
def _within(leaves: Any, leaf: int, row: Any, bound: Any, lanes: Any) -> int:
    return within(leaves, leaf, row, bound, lanes)


@compiled
def _boxes_within(low: Any, high: Any, node: int, row: Any, bound: Any, lanes: Any) -> int:
    return boxes_within(low, high, node, row, bound, lanes)


@compiled
def _widths(near: Any, block: int, ends: Any, wide: Any) -> None:
    widths(near, block, ends, wide)


@compiled
def _tighten(leaves: Any, of: int, low: Any, high: Any, node: int, lane: int) -> bool:
    return tighten(leaves, leaves, of, low, high, node, lane)


@compiled
def _lowest_bit(bits: int) -> int:
    return lowest_bit(bits)


def _both(function: Any, machine: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """What Python and machine code give back, and what they leave in their arrays."""
    found = []
    for run in (function, machine):
        own = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        found.append([run(*own), *(one.tobytes() for one in own if isinstance(one, np.ndarray))])
    return found


@pytest.mark.parametrize("columns", [1, 2, 9])
def test_what_is_written_by_hand_does_what_its_python_says(columns: int) -> None:
    rng = np.random.default_rng(columns)
    leaves = rng.normal(size=(5, columns, LANES)).astype(np.float32)
    leaves[3, :, rng.random(LANES) < 0.4] = AWAY
    low, high = leaves - np.float32(0.3), leaves + rng.random(leaves.shape, np.float32)
    row, lanes = rng.normal(size=columns).astype(np.float32), np.empty(LANES, np.float32)
    for number in range(5):
        for bound in (np.float32(0.5 * columns), np.float32(1e35), np.float32(0)):
            python, machine = _both(within, _within, (leaves, number, row, bound, lanes))
            assert python == machine
            python, machine = _both(boxes_within, _boxes_within, (low, high, number, row, bound, lanes))
            assert python == machine
        python, machine = _both(widths, _widths, (leaves, number, np.sort(low[:2, :, 0], axis=0), np.empty(LANES)))
        assert python == machine
        for lane in (0, 15):
            own = (leaves, number, low, high, 4 - number, lane)
            python, machine = _both(lambda a, *rest: tighten(a, a, *rest), _tighten, own)
            assert python == machine
    assert [_lowest_bit(bits) for bits in (1, 6, 1 << 15)] == [lowest_bit(bits) for bits in (1, 6, 1 << 15)]


def test_a_box_that_is_tight_does_not_change_again() -> None:
    rows = np.random.default_rng(0).random((300, 3), np.float32)
    tree = wide_tree(rows)
    for leaf in range(len(tree.leaves)):
        assert not _tighten(tree.leaves, leaf, tree.low, tree.high, leaf // LANES, leaf % LANES)
    tree.leaves[0, :, tree.leaves[0, 0].argmin()] = AWAY
    assert _tighten(tree.leaves, 0, tree.low, tree.high, 0, 0)


def _peeled_slowly(rows: Any, k: int, wanted: int) -> Any:
    """The definition: the outermost record that is left, of its `wanted` nearest those that widen the box least."""
    group, groups = np.full(len(rows), -1), 0
    for name in outermost_first(rows.copy()):
        left = np.flatnonzero(group < 0)
        if group[name] >= 0 or len(left) < k:
            continue
        others = left[left != name]
        far = np.zeros(len(others), np.float32)
        for j in range(rows.shape[1]):
            far += (rows[others, j] - rows[name, j]) ** 2
        near = others[np.lexsort((others, far))][:wanted].tolist()
        members = [int(name)]
        while len(members) < k:
            wide = [np.ptp(rows[[*members, one]], axis=0).astype(np.float32) ** 2 for one in near]
            # where they are all needed, they come as they are
            best = 0 if wanted == k - 1 else int(np.argmin([one.sum(dtype=np.float64) for one in wide]))
            near[0], near[best] = near[best], near[0]
            members.append(near.pop(0))
        group[members], groups = groups, groups + 1
    return group


@pytest.mark.parametrize(
    ("size", "columns", "k", "wanted"),
    [(400, 3, 2, 1), (700, 2, 3, 6), (900, 9, 5, 10), (333, 4, 9, 36), (20, 2, 3, 6), (5, 1, 3, 2)],
)
def test_groups_are_those_of_the_definition(size: int, columns: int, k: int, wanted: int) -> None:
    """Whole numbers lie equally far again and again: ties go to the record that came first."""
    for spread in (3, 40):
        rows = np.random.default_rng(size).integers(0, spread, (size, columns)).astype(np.float32)
        group = np.empty(size, np.int32)
        assert peel(rows.copy(), k, wanted, group, 0) == size // k
        assert group.tolist() == _peeled_slowly(rows, k, wanted).tolist()


@pytest.mark.parametrize("weight", [1e12, 1e20, 1e30])
def test_a_weight_of_any_size_leaves_groups_of_k(weight: float) -> None:
    rng = np.random.default_rng(0)
    people = {"age": rng.integers(0, 90, 300), "income": rng.normal(size=300)}
    importance = {"income": weight, "age": weight / 1e6}
    released = shoal.anonymize(
        people, quasi_identifiers=["age", "income"], k=3, method="mondrian", importance=importance
    )
    assert released.findings.k >= 3


def test_a_module_is_stamped_without_loading_it() -> None:
    assert (
        of_module("shoal.compiled.vectors") == of_module("shoal.compiled.vectors") != of_module("shoal.compiled.loop")
    )
