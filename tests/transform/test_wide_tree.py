"""The tree laid out for vectors: nothing nearer is missed, and boxes are tight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shoal
from kernels.uncompiled import uncompiled
from shoal.methods.partition.peel import outermost_first, peel, wide_tree

AWAY = np.float32(1e18)


def test_a_box_that_is_tight_does_not_change_again() -> None:
    made = wide_tree(np.random.default_rng(0).random((300, 3), np.float32))
    tree = uncompiled("peeling")._Tree(made.leaves, made.low, made.high, made.levels, made.names, 1)
    assert not any(tree.tighten_leaf(leaf) for leaf in range(len(made.leaves)))
    assert not any(tree.tighten_node(0, node) for node in range(made.levels[1]))
    lowest = int(made.leaves[0, 0].argmin())
    made.leaves[0, :, lowest] = AWAY
    assert tree.tighten_leaf(0)
    assert not tree.tighten_leaf(0)
    assert made.low[0, 0, 0] == made.leaves[0, 0].min()


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
