"""Microaggregation: the published algorithm to the record, the published sums of squares, optima by brute force."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import shoal
from shoal.errors import InputError
from shoal.methods.microaggregate import microaggregate, sum_of_squares
from shoal.methods.microaggregate import published_mdav as mdav
from shoal.methods.partition.coordinates import coordinates_apart
from shoal.methods.partition.groups import improved, peeled
from shoal.methods.sorted_clusters import closeness_bound
from shoal.models.distances import ordered_distance
from shoal.ranges.boxed import Boxed
from shoal.storage import Array, Column
from shoal.storage.reading import read


def columns_of(points: Array) -> list[Column]:
    table = read({f"c{j}": points[:, j] for j in range(points.shape[1])})
    return table.select(table.names)


def normal(rows: int, columns: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(rows, columns))


def share(columns: list[Column], boxed: Boxed) -> float:
    within, whole = sum_of_squares(coordinates_apart(columns), boxed.box_of_row)
    return within / whole


# SPEC 6: the distance weighted by 1 / variance
PUBLISHED = [
    ("Tarragona", 3, 16.9326),
    ("Tarragona", 5, 22.4619),
    ("Tarragona", 10, 33.1929),
    ("CASCrefmicrodata", 3, 5.6922),
    ("CASCrefmicrodata", 5, 9.0884),
    ("CASCrefmicrodata", 10, 14.1559),
]


@pytest.mark.parametrize(("name", "k", "percent"), PUBLISHED)
def test_mdav_agrees_with_the_published_sums_of_squares(data: Path, name: str, k: int, percent: float) -> None:
    table = shoal.read(data / "sdcmicro" / f"{name}.csv")
    columns = table.select(table.names)
    boxed = microaggregate(columns, k, mdav=True)
    assert round(100 * share(columns, boxed), 4) == percent
    assert np.bincount(boxed.box_of_row).min() >= k
    # the fast way loses no more
    assert 100 * share(columns, microaggregate(columns, k)) <= percent


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 2)), min_size=2, max_size=60),
    k=st.integers(2, 5),
    scale=st.sampled_from([1.0, 0.1, 1 / 3]),
)
def test_mdav_is_the_plain_algorithm_also_where_records_tie(rows: list[tuple[int, int]], k: int, scale: float) -> None:
    if len(rows) < k:
        return
    points = np.array(rows, float) * scale
    assert mdav(points, k)[0].tolist() == brute.mdav(points, k)


@pytest.mark.parametrize(("rows", "columns", "k"), [(300, 5, 3), (301, 1, 2), (150, 8, 10), (31, 2, 10), (29, 2, 10)])
def test_mdav_is_the_plain_algorithm_on_numbers(rows: int, columns: int, k: int) -> None:
    points = normal(rows, columns, rows)
    group, groups = mdav(points, k)
    assert group.tolist() == brute.mdav(points, k)
    assert groups == group.max() + 1


def test_the_fast_way_has_no_larger_sum_of_squares_than_mdav() -> None:
    for seed, k in ((1, 3), (2, 5)):
        columns = columns_of(normal(4000, 5, seed))
        published = share(columns, microaggregate(columns, k, mdav=True))
        for effort in ("fast", "default", "best"):
            found = microaggregate(columns, k, effort)  # type: ignore[arg-type]
            assert np.bincount(found.box_of_row).min() >= k
            assert share(columns, found) < published


def test_exchanges_never_raise_the_sum_of_squares() -> None:
    points = normal(1500, 4)
    groups = peeled(points.astype(np.float32), 3, 1 << 20, 2)
    shares = []
    for number in range(4):
        shares.append(sum_of_squares(points, groups.group_of_each_row()[0])[0])
        groups = improved(groups, 3, number, squares=True)
    assert all(two <= one * (1 + 1e-9) for one, two in pairwise(shares))
    assert shares[-1] < shares[0]


@given(values=st.lists(st.integers(0, 20), min_size=3, max_size=9), k=st.integers(2, 3))
@settings(max_examples=40)
def test_one_column_is_grouped_optimally(values: list[int], k: int) -> None:
    points = np.array(values, float)[:, None]
    columns = columns_of(points)
    found = sum_of_squares(points, microaggregate(columns, k).box_of_row)[0]
    best = min(
        sum(float(((points[group] - points[group].mean()) ** 2).sum()) for group in groups)
        for groups in brute.all_partitions(list(range(len(values))), k)
    )
    assert found == pytest.approx(best, abs=1e-9)


def test_the_sum_of_squares_by_hand() -> None:
    """Groups {1, 3} and {8, 8}: 1 + 1 + 0 + 0 within; around the mean 5: 16 + 4 + 9 + 9."""
    assert sum_of_squares(np.array([[1.0], [3.0], [8.0], [8.0]]), np.array([0, 0, 1, 1])) == (2.0, 38.0)


# means


def test_means_keep_the_mean_of_every_column() -> None:
    frame = pl.DataFrame({"income": normal(500, 1)[:, 0] * 1000, "age": np.arange(500) % 70})
    result = shoal.anonymize(frame, quasi_identifiers=["income", "age"], k=5, method="microaggregate")
    assert result.verdict == "holds"
    for name in frame.columns:
        assert result.frame[name].mean() == pytest.approx(frame[name].mean())
        assert result.columns[name].nature == "representative"
    assert result.findings.k >= 5
    assert result.findings.sse_ratio is not None
    assert 0 < result.findings.sse_ratio < 0.2
    assert result.findings.change is not None
    assert result.findings.change.means["income"] == pytest.approx(0, abs=1e-12)


def test_a_category_becomes_the_most_frequent_and_a_date_a_date() -> None:
    days = pl.Series(["2020-01-01", "2020-01-03", "2020-01-02", "2021-06-01", "2021-06-03", "2021-06-02"]).str.to_date()
    jobs = ["clerk", "monk", "clerk", "poet", None, "poet"]
    frame = pl.DataFrame({"day": days, "job": jobs, "age": [30, 31, None, 60, 61, 62]})
    result = shoal.anonymize(frame, quasi_identifiers=frame.columns, k=3, method="microaggregate")
    assert result.frame["job"].to_list() == ["clerk"] * 3 + ["poet"] * 3
    assert result.frame["day"].cast(pl.String).to_list() == ["2020-01-02"] * 3 + ["2021-06-02"] * 3
    assert result.frame["age"].to_list() == [30.5] * 3 + [61.0] * 3


def test_ranges_instead_of_means_are_truthful(tmp_path: Path) -> None:
    visits = shoal.sample_data("discharges", 800, 1)
    names = ["age_yrs", "los", "patzip"]
    visits = visits.select(names)
    result = shoal.anonymize(visits, quasi_identifiers=names, k=4, method="microaggregate", interval="bracket")
    shoal.release(result, tmp_path / "safe.parquet")
    assert shoal.verify(tmp_path / "safe.parquet", original=visits).verdict == "holds"
    assert {result.columns[name].nature for name in names} == {"truthful"}


def test_all_categories_are_equally_far_apart() -> None:
    points = coordinates_apart(read({"job": ["a", "b", "c", None, "a"]}).select(["job"]))
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    assert np.unique(apart.round(9)).size == 2
    assert points.var(axis=0).sum() == pytest.approx(1)


# strata and t-closeness


def test_no_group_crosses_a_stratum() -> None:
    random = np.random.default_rng(3)
    table = read({"x": random.normal(size=300), "y": random.normal(size=300), "region": random.integers(0, 4, 300)})
    for mdav_too in (False, True):
        boxed = microaggregate(table.select(["x", "y"]), 5, strata=table.select(["region"]), mdav=mdav_too)
        assert np.bincount(boxed.box_of_row).min() >= 5
        region = table["region"].codes
        for box in range(boxed.boxes):
            assert len(np.unique(region[boxed.box_of_row == box])) == 1
    with pytest.raises(InputError, match="strata have fewer than k"):
        microaggregate(table.select(["x"]), 200, strata=table.select(["region"]))


def test_a_refused_group_is_merged_within_its_stratum() -> None:
    random = np.random.default_rng(3)
    table = read({"x": random.normal(size=200), "y": random.normal(size=200), "region": random.integers(0, 2, 200)})

    def bad(group_of_row: Array, count: int) -> Array:
        return np.bincount(group_of_row[group_of_row >= 0], minlength=count) < 12

    boxed = microaggregate(table.select(["x", "y"]), 3, strata=table.select(["region"]), fails_policy=bad)
    assert np.bincount(boxed.box_of_row).min() >= 12
    for box in range(boxed.boxes):
        assert len(np.unique(table["region"].codes[boxed.box_of_row == box])) == 1


def test_t_closeness_first_takes_one_record_of_every_stretch() -> None:
    random = np.random.default_rng(4)
    charge = read({"charge": random.permutation(600)})["charge"]
    columns = columns_of(random.normal(size=(600, 3)))
    boxed = microaggregate(columns, 6, confidential=charge, t=1.0)
    stretch = charge.codes // 100
    for box in range(boxed.boxes):
        assert sorted(stretch[boxed.box_of_row == box].tolist()) == list(range(6))
    farthest = ordered_distance(boxed.box_of_row, boxed.boxes, charge).max()
    assert farthest <= closeness_bound(600, 6) + 1e-12


@given(rows=st.integers(8, 90), k=st.integers(2, 4), t=st.sampled_from([0.05, 0.2, 1.0]), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_t_closeness_first_keeps_k_and_every_record(rows: int, k: int, t: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    charge = read({"charge": random.integers(0, 30, rows)})["charge"]
    boxed = microaggregate(columns_of(random.normal(size=(rows, 2))), k, confidential=charge, t=t)
    assert np.bincount(boxed.box_of_row).min() >= k
    assert len(boxed.box_of_row) == rows


def test_t_closeness_first_loses_less_than_sorted_clusters_at_the_same_t() -> None:
    visits = shoal.sample_data("discharges", 3000, 2).select(["age_yrs", "los", "patzip", "charge"])
    asked: dict[str, Any] = {
        "quasi_identifiers": ["age_yrs", "los", "patzip"],
        "sensitive": "charge",
        "k": 3,
        "t": 0.15,
    }
    ours = shoal.anonymize(visits, **asked, method="microaggregate", interval="bracket")
    published = shoal.anonymize(visits, **asked, method="sorted-clusters")
    assert ours.verdict == "holds"
    assert ours.findings.information_loss is not None
    assert published.findings.information_loss is not None
    assert ours.findings.information_loss < 0.6 * published.findings.information_loss


def test_refusals_say_what_to_do() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "region": [1, 1, 2, 2], "charge": [1, 2, 3, 4]})
    with pytest.raises(InputError, match="and in `strata`"):
        shoal.anonymize(frame, quasi_identifiers=["x"], k=2, method="microaggregate", strata=["x"])
    with pytest.raises(InputError, match="nowhere"):
        shoal.anonymize(frame, quasi_identifiers=["x"], k=2, method="microaggregate", strata="nowhere")
    with pytest.raises(InputError, match="more than the 4 records"):
        shoal.anonymize(frame, quasi_identifiers=["x"], k=9, method="microaggregate")
