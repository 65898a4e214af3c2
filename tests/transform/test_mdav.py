"""MDAV on tables large enough for many sectors: to the record what whole arrays give, whatever the table looks like."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods.microaggregate import published_mdav as mdav
from shoal.methods.microaggregate import sectors_of
from shoal.storage import Array


def plain(points: Array, k: int) -> Array:
    """MDAV with whole arrays, of equally far records the first; means of exact sums."""
    group, groups = np.full(len(points), -1), 0
    left = np.arange(len(points))

    def squares(centre: Array) -> Array:
        total = np.zeros(len(left))
        for j, column in enumerate(points[left].T):
            total += (column - centre[j]) ** 2
        return total

    while len(left) >= 2 * k:
        centre = np.array([fsum(column) / len(left) for column in points[left].T])
        for _ in range(2 if len(left) >= 3 * k else 1):
            centre = points[left[squares(centre).argmax()]]
            one = np.flatnonzero((points[left] == centre).all(axis=1))[0]
            far = squares(centre)
            far[one] = -1
            nearest = np.argsort(far, kind="stable")[:k]
            group[left[nearest]] = groups
            groups += 1
            left = np.delete(left, nearest)
    group[left] = groups
    return group


def tables(rows: int, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {
        "a ball": rng.normal(size=(rows, 5)),
        "a corner with long tails": np.exp(1.5 * rng.normal(size=(rows, 4))),
        "clusters": 0.05 * rng.normal(size=(rows, 3)) + 3 * rng.integers(0, 3, (rows, 3)),
        "a grid with ties": rng.integers(0, 5, (rows, 3)) / 3,
        "a fine grid": rng.integers(0, 40, (rows, 2)).astype(float),
        "a line": np.stack([rng.normal(size=rows), np.zeros(rows)], axis=1),
        "one column": rng.exponential(size=(rows, 1)),
        "far from zero": 1e6 + rng.normal(size=(rows, 3)),
        "many columns": rng.normal(size=(rows, 12)),
        "a few records far away": np.concatenate([rng.random((rows - 9, 3)), 500 + rng.random((9, 3))]),
        "all the same": np.full((rows, 2), 0.1),
        "tiny numbers": 1e-170 * rng.normal(size=(rows, 2)),
    }


@pytest.mark.parametrize("kind", tables(20, 0))
@pytest.mark.parametrize(("rows", "k"), [(1200, 3), (1003, 7)])
def test_mdav_is_the_plain_algorithm_whatever_the_table_looks_like(kind: str, rows: int, k: int) -> None:
    points = tables(rows, rows)[kind]
    group, groups = mdav(points, k)
    assert group.tolist() == plain(points, k).tolist()
    assert groups == group.max() + 1


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(100, 500),
    columns=st.integers(1, 4),
    k=st.integers(2, 6),
    values=st.integers(1, 30),
    skew=st.sampled_from([1, 3]),
)
def test_mdav_is_the_plain_algorithm_with_ties(
    seed: int, rows: int, columns: int, k: int, values: int, skew: int
) -> None:
    points = (np.random.default_rng(seed).integers(0, values, (rows, columns)) / 7) ** skew
    assert mdav(points, k)[0].tolist() == plain(points, k).tolist()


def test_sectors_hold_each_record_that_is_left_once_the_farthest_from_the_anchor_first() -> None:
    points = tables(3000, 1)["a ball"]
    left = np.flatnonzero(points[:, 0] > -1)
    sectors = sectors_of(points, left, points[left].mean(axis=0))
    assert len(sectors.at) > 30
    assert sorted(sectors.names.tolist()) == left.tolist()
    assert (sectors.names[sectors.where[left]] == left).all()
    offsets = points[sectors.names] - sectors.anchor
    assert np.allclose(sectors.offsets, offsets, rtol=1e-6)
    lengths = np.linalg.norm(offsets, axis=1)
    assert np.allclose(sectors.away, lengths, rtol=1e-6)
    for sector, (start, stop) in enumerate(zip(sectors.at, sectors.stops, strict=True)):
        assert (np.diff(sectors.away[start:stop]) <= 0).all()
        cosines = offsets[start:stop] @ sectors.axes[:, sector] / lengths[start:stop]
        assert cosines.min() >= sectors.cosines[sector]
        assert cosines.min() < sectors.cosines[sector] + 1e-5
