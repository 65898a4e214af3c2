"""Numbers and importances of any size: coordinates are finite, groups are whole, and nothing is warned of."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.methods.microaggregate import microaggregate
from shoal.methods.partition import Effort, partition
from shoal.methods.partition.coordinates import coordinates, coordinates_apart
from shoal.methods.partition.groups import Groups
from shoal.methods.partition.peel import peel
from shoal.methods.sorted_clusters import sorted_clusters
from shoal.ranges.boxed import Boxed, box_clusters, spread
from shoal.storage import Array, Column
from shoal.storage.reading import read
from shoal.utility.loss import change_of, information_loss

EFFORTS: list[Effort] = ["fast", "default", "best"]
LARGEST = float(np.finfo(np.float64).max)
WILD = st.one_of(
    st.sampled_from([1e308, -1e308, LARGEST, -LARGEST, 0.0, -0.0, 1.0, 5e-324, 1e-310, 1e154, 1e39, 1e19, None]),
    st.floats(allow_nan=True, allow_infinity=False),
)
IMPORTANCE = st.sampled_from([0.0, 5e-324, 1e-300, 1e-20, 1.0, 3.0, 1e13, 1e20, 1e38, 1e39, 1e300, LARGEST])


@pytest.fixture(autouse=True)
def nothing_warned() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Column], dict[str, float]]:
    rows, width = draw(st.integers(3, 40)), draw(st.integers(1, 4))
    kinds = [
        st.lists(WILD, min_size=rows, max_size=rows).map(lambda found: pl.Series(found, dtype=pl.Float64)),
        st.lists(st.integers(0, 9), min_size=rows, max_size=rows).map(pl.Series),
        st.lists(st.sampled_from([True, False, None]), min_size=rows, max_size=rows).map(
            lambda found: pl.Series(found, dtype=pl.Boolean)
        ),
        st.sampled_from([True, 1e308, 7]).map(lambda value: pl.Series([value] * rows)),
    ]
    frame = pl.DataFrame({f"q{i}": draw(st.one_of(kinds)) for i in range(width)})
    importance = draw(st.dictionaries(st.sampled_from(frame.columns), IMPORTANCE))
    return read(frame).select(frame.columns), importance


def is_whole(boxed: Boxed, rows: int, k: int) -> None:
    assert len(boxed.box_of_row) == rows
    counts = np.bincount(boxed.box_of_row, minlength=boxed.boxes)
    assert counts.sum() == rows
    assert counts[counts > 0].min() >= k


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 5))
def test_every_effort_groups_numbers_of_any_size(table: tuple[list[Column], dict[str, float]], k: int) -> None:
    columns, importance = table
    rows = len(columns[0].codes)
    k = min(k, rows)
    for points in (coordinates(columns, importance), coordinates_apart(columns, importance)):
        assert np.isfinite(points).all()
        assert float(np.abs(points.astype(float)).max()) <= 2.0**40
    for effort in EFFORTS:
        for boxed in (
            partition(columns, k, effort, importance=importance),
            microaggregate(columns, k, effort, importance=importance),
        ):
            is_whole(boxed, rows, k)
            lost = information_loss(columns, boxed)
            assert np.isfinite([lost.total, *lost.by_column.values()]).all()
    is_whole(partition(columns, k, cuts="strict", importance=importance), rows, k)
    is_whole(microaggregate(columns, k, mdav=True, importance=importance), rows, k)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([1e308, -1e308, LARGEST, 0.0, 5e-324, 3.5]), min_size=4, max_size=30))
def test_sorted_clusters_and_changes_of_numbers_of_any_size(values: list[float]) -> None:
    columns = read(pl.DataFrame({"x": values, "y": range(len(values))})).select(["x", "y"])
    boxed = sorted_clusters(columns, 2)
    is_whole(boxed, len(values), 2)
    change = change_of(columns, boxed)
    assert change is not None
    assert all(found is None or np.isfinite(found) for found in [*change.means.values(), *change.spreads.values()])


@pytest.mark.parametrize("weight", [1e13, 1e38, 1e39, 1e300])
@pytest.mark.parametrize("method", ["mondrian", "microaggregate"])
def test_a_huge_importance_keeps_records_together_that_are_alike_there(weight: float, method: str) -> None:
    random = np.random.default_rng(5)
    frame = pl.DataFrame({"age": random.integers(18, 90, 300), "zip": np.repeat(np.arange(30), 10)})
    frame = frame.sample(fraction=1.0, shuffle=True, seed=1)
    columns = read(frame).select(["age", "zip"])
    group = (
        partition(columns, 5, importance={"zip": weight})
        if method == "mondrian"
        else microaggregate(columns, 5, "best", importance={"zip": weight})
    )
    side = group.sides["zip"]
    assert (side.low == side.high).all()
    # the other column still tells those apart: less is lost in it than by groups of the first alone
    boxed = partition(columns[1:], 5)
    order = np.argsort(boxed.box_of_row, kind="stable")
    alone = box_clusters(columns, order, np.flatnonzero(np.diff(boxed.box_of_row[order], prepend=-1)))
    assert information_loss(columns[:1], group).total < 0.8 * information_loss(columns[:1], alone).total


def test_numbers_of_opposite_ends_lie_as_far_apart_as_small_ones() -> None:
    # by hand: 0, 1, -1 have the spread 1, whatever their unit
    small, large = (
        coordinates(read(pl.DataFrame({"c": [True] * 3, "income": [0.0, unit, -unit]})).select(["c", "income"]))
        for unit in (1.0, 1e308)
    )
    assert large == pytest.approx(small, rel=1e-6)
    assert small.tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    frame = pl.DataFrame({"c": [True] * 3, "income": [0.0, 1e308, -1e308]})
    released = shoal.anonymize(frame, k=3, method="mondrian", quasi_identifiers=["c", "income"])
    assert released.polars["income"].to_list() == ["[-1e+308;1e+308]"] * 3


def test_the_spread_of_numbers_of_any_size() -> None:
    def of(values: list[float]) -> float:
        return spread(read({"x": values})["x"])

    assert of([1e308, -1e308, 0.0]) == pytest.approx(1e308)
    assert of([3e-310, 1e-310, 2e-310]) == pytest.approx(1e-310)
    assert of([LARGEST, -LARGEST]) == LARGEST  # the root of two times that is more than any number


def wild_points() -> Array:
    return np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, 4.0], [np.nan, 6.0]], np.float32)


def test_points_that_are_nowhere_are_refused_before_any_loop() -> None:
    with pytest.raises(InputError, match="cannot be compared by distance"):
        Groups.of(wild_points())
    with pytest.raises(InputError, match="no distance from the others"):
        peel(wild_points(), 3, 6, np.empty(4, np.int32), 0)
