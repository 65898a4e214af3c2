"""Algorithms S2, S3 and S4 and their measures, against the golden values of Sánchez et al."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.methods.coarsen import coarsen, intervals
from shoal.methods.sorted_clusters import by_distance, close_clusters, closeness_bound, cut, sorted_clusters
from shoal.models import distances
from shoal.models.distances import Labels, ordered_distance
from shoal.policy.judgement.shown_classes import attribute_disclosure
from shoal.ranges.boxed import Boxed, distance_to_zero, numbers, spread
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS
from shoal.storage import Column
from shoal.storage.reading import read
from shoal.utility.loss import information_loss


def columns_of(rows: list[list[int]]) -> list[Column]:
    frame = pl.DataFrame(rows, schema={f"c{index}": pl.Int64 for index in range(len(rows[0]))}, orient="row")
    return read(frame).select(frame.columns)


def boxes_of(boxed: Boxed) -> list[list[list[int]]]:
    """Per row, per column, [low, high]."""
    ends = [(side.scale[side.low], side.scale[side.high]) for side in boxed.sides.values()]
    return [[[int(low[box]), int(high[box])] for low, high in ends] for box in boxed.box_of_row.tolist()]


def clusters_of(boxed: Boxed) -> list[set[int]]:
    return [set(np.flatnonzero(boxed.box_of_row == box).tolist()) for box in range(boxed.boxes)]


@pytest.mark.parametrize("group", ["s2_tableS2", "s2_random", "s2_ties"])
def test_golden_s2(golden: Any, group: str) -> None:
    for case in golden[group]:
        columns = columns_of(case["X"])
        boxed = sorted_clusters(columns, case["k"])
        assert [spread(column) for column in columns] == pytest.approx(case["sigma"], rel=1e-12)
        assert distance_to_zero(columns).tolist() == pytest.approx(case["dist"], rel=1e-12)
        assert clusters_of(boxed) == [set(cluster) for cluster in case["clusters"]]
        assert boxes_of(boxed) == case["boxes"]
        assert information_loss(columns, boxed).total == pytest.approx(case["il"], rel=1e-12)
        if "adr_num" in case:
            meets = np.array(case["conf"]) > case["z"]
            found = attribute_disclosure(*boxed.class_of_each_row(), meets)
            assert (found.disclosed, found.records) == (case["adr_num"], case["adr_den"])


def test_golden_table_s6(golden: Any) -> None:
    """The table's first group must read [35-52] in age, not [42-52] as printed."""
    case = golden["tableS6"]
    boxed = sorted_clusters(columns_of(case["X"]), 3)
    assert sorted(map(sorted, clusters_of(boxed))) == sorted(map(sorted, case["clusters"]))
    assert {tuple(map(tuple, box)) for box in boxes_of(boxed)} == {tuple(map(tuple, box)) for box in case["boxes"]}


def test_golden_intervals_of_s3(golden: Any) -> None:
    for resolution, expected in golden["s3_age"].items():
        low, high = intervals(np.arange(86), int(resolution))
        assert np.stack([low, high], axis=1).tolist() == expected
    gappy = golden["s3_gappy"]
    values = np.unique(gappy["values"])
    for mode in ("range", "labels"):
        for resolution, expected in gappy[mode].items():
            low, high = intervals(values, int(resolution), mode)  # type: ignore[arg-type]
            assert np.stack([low, high], axis=1).tolist() == expected


def test_golden_sizes_of_s4(golden: Any) -> None:
    for case in golden["s4_sizes"]:
        found = cut(case["n"], case["k"])
        assert (found.size, found.clusters, found.rest) == (case["K"], case["q"], case["rem"])
    for case in golden["eq6_7"]:
        assert closeness_bound(case["n"], case["k"]) == pytest.approx(float(Fraction(case["t"])), abs=1e-15)
    for case in golden["tableS9"]:
        assert closeness_bound(3_985_166, case["k"]) == pytest.approx(case["t"], rel=1e-12)


def test_golden_clusters_for_a_given_t(golden: Any) -> None:
    for case in (case for case in golden["eq8"] if case["t"] > 0):
        least = max(case["k"], math.ceil(case["kprime"] - 1e-9))
        assert least == case["size"]
        found = cut(case["n"], case["k"], case["t"])
        assert found.clusters == case["n"] // case["size"]


def test_golden_correlation_of_the_papers_correlations(golden: Any) -> None:
    from shoal.utility.loss import compared

    case = golden["corr_S4_S5"]
    assert compared(np.array(case["S4"]), np.array(case["S5"]))[1] == pytest.approx(case["corr"], rel=1e-12)
    assert round(case["corr"], 3) == case["paper"]


def test_golden_s4(golden: Any) -> None:
    for case in golden["s4_cases"]:
        columns = columns_of(case["X"])
        confidential = read({"conf": case["conf"]})["conf"]
        boxed = close_clusters(columns, confidential, case["k"])
        assert clusters_of(boxed) == [set(cluster) for cluster in case["clusters"]]
        assert boxes_of(boxed) == case["boxes"]
        assert information_loss(columns, boxed).total == pytest.approx(case["il"], rel=1e-12)
        for labels in ("values", "ranks"):
            found = ordered_distance(boxed.box_of_row, boxed.boxes, confidential, labels)  # type: ignore[arg-type]
            assert found.tolist() == pytest.approx([float(Fraction(text)) for text in case[f"emd_{labels}"]], abs=1e-14)


@pytest.mark.parametrize("rows", [1000, 100_000])
def test_golden_discharges(golden: Any, rows: int) -> None:
    known = golden["spd_like"][str(rows)]
    table = shoal.read(shoal.sample_data("discharges", rows))
    columns, charge = table.select(QUASI_IDENTIFIERS), table["charge"]
    meets = (numbers(charge) > 100_000)[charge.codes]
    for k, expected in known["s2"].items():
        boxed = sorted_clusters(columns, int(k))
        _check(boxed, columns, meets, expected)
        assert boxed.boxes == expected["clusters"]
    for k, expected in known["s4"].items():
        boxed = close_clusters(columns, charge, int(k))
        _check(boxed, columns, meets, expected)
        for labels in ("ranks", "values"):
            found = ordered_distance(*boxed.class_of_each_row(), charge, labels)  # type: ignore[arg-type]
            assert found.max() == pytest.approx(expected[f"emd_max_{labels}"], rel=1e-9)
    for name, expected in known["s3"].items():
        mode, resolution = name.split("_")
        boxed = coarsen(columns, int(resolution), mode)  # type: ignore[arg-type]
        _check(boxed, columns, meets, expected)
        classes, count = boxed.class_of_each_row()
        assert int((np.bincount(classes, minlength=count) == 1).sum()) == expected["uniques"]


def _check(boxed: Boxed, columns: list[Column], meets: Any, expected: dict[str, Any]) -> None:
    classes, count = boxed.class_of_each_row()
    assert count == expected["classes"]
    assert information_loss(columns, boxed).total == pytest.approx(expected["il"], rel=1e-9)
    assert attribute_disclosure(classes, count, meets).disclosed == expected["adr_records"]


tables = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=4, max_size=25)


@given(tables, st.integers(2, 4), st.sampled_from(["s2", "top", "middle"]))
def test_every_cluster_has_k_rows_and_every_box_holds_its_rows(rows: list[list[int]], k: int, way: Any) -> None:
    columns = columns_of(rows)
    confidential = read({"conf": [(7 * row[0] + row[1]) % 5 for row in rows]})["conf"]
    boxed = sorted_clusters(columns, k) if way == "s2" else close_clusters(columns, confidential, k, remainder=way)
    assert np.bincount(boxed.box_of_row).min() >= k
    assert sorted(np.bincount(boxed.box_of_row, minlength=boxed.boxes))[0] > 0
    for row, box in zip(rows, boxes_of(boxed), strict=True):
        assert all(low <= value <= high for value, (low, high) in zip(row, box, strict=True))


@given(tables, st.integers(1, 12), st.sampled_from(["range", "labels"]))
def test_every_interval_holds_its_values_and_intervals_are_disjoint(rows: list[list[int]], r: int, mode: Any) -> None:
    boxed = coarsen(columns_of(rows), r, mode)
    for row, box in zip(rows, boxes_of(boxed), strict=True):
        assert all(low <= value <= high for value, (low, high) in zip(row, box, strict=True))
    for side in boxed.sides.values():
        ends = sorted(set(zip(side.scale[side.low], side.scale[side.high], strict=True)))
        assert all(one[1] < two[0] for one, two in pairwise(ends))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=20))
def test_ordered_distance_by_its_definition(rows: list[tuple[int, int]]) -> None:
    groups = sorted({group for group, _ in rows})
    values = sorted({value for _, value in rows})
    classes = np.array([groups.index(group) for group, _ in rows])
    column = read({"v": [value for _, value in rows]})["v"]
    found = ordered_distance(classes, len(groups), column)
    for number, group in enumerate(groups):
        members = [value for other, value in rows if other == group]
        total = sum(
            abs(sum(m <= v for m in members) / len(members) - sum(o <= v for _, o in rows) / len(rows)) for v in values
        )
        assert found[number] == pytest.approx(total / (len(values) - 1) if len(values) > 1 else 0, abs=1e-12)


def test_the_published_bound_is_no_guarantee() -> None:
    """n=5, k=2: the measured distance is .25, the bound .1875."""
    columns = columns_of([[9], [1], [9], [1], [5]])
    confidential = read({"conf": [0, 1, 2, 3, 4]})["conf"]
    boxed = close_clusters(columns, confidential, 2)
    assert ordered_distance(boxed.box_of_row, boxed.boxes, confidential, "ranks").max() == pytest.approx(0.25)
    assert closeness_bound(5, 2) == 0.1875


def test_golden_loss_with_a_whole_domain(golden: Any) -> None:
    case = golden["il_case"]
    columns = columns_of(case["X"])
    from shoal.ranges.boxed import Side

    ends = np.array(case["boxes"])
    sides = {}
    for index, column in enumerate(columns):
        scale = np.unique(ends[:, index].astype(float))
        low, high = (np.searchsorted(scale, ends[:, index, side]) for side in (0, 1))
        sides[column.name] = Side(scale, low, high)
    assert information_loss(columns, Boxed(np.arange(3), sides)).total == pytest.approx(case["il"], rel=1e-12)


def test_what_cannot_be_clustered_is_refused() -> None:
    columns = columns_of([[1], [2], [3]])
    for k in (1, 4):
        with pytest.raises(InputError):
            sorted_clusters(columns, k)
    with pytest.raises(InputError, match="not above 0"):
        cut(10, 2, 1.5)
    with pytest.raises(InputError, match="holds text"):
        sorted_clusters(read({"a": ["x", "y"]}).select(["a"]), 2)
    with pytest.raises(InputError, match="missing values"):
        sorted_clusters(read({"a": [1, None]}).select(["a"]), 2)
    with pytest.raises(InputError, match="fractions"):
        coarsen(read({"a": [1.5, 2.5]}).select(["a"]), 2)


def test_nobody_meets_the_condition() -> None:
    assert attribute_disclosure(np.array([0, 0]), 1, np.zeros(2, bool)).share is None


@pytest.mark.parametrize("entries", [1, 3, 64])
def test_ordered_distances_do_not_depend_on_how_many_classes_are_taken_at_once(
    monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    rng = np.random.default_rng(1)
    classes = np.concatenate([np.arange(40), rng.integers(0, 40, 260), np.full(150, 7)])
    column = read({"x": rng.integers(0, 30, len(classes))})["x"]
    whole = {labels: ordered_distance(classes, 40, column, labels) for labels in get_args(Labels)}
    monkeypatch.setattr(distances, "_ENTRIES", entries)
    for labels, found in whole.items():
        assert ordered_distance(classes, 40, column, labels).tolist() == found.tolist()


def test_sorted_clusters_of_a_known_order_are_the_same() -> None:
    columns = columns_of(np.random.default_rng(2).integers(0, 9, (50, 3)).tolist())
    order = by_distance(columns)
    assert (np.diff(distance_to_zero(columns)[order]) >= 0).all()
    assert clusters_of(sorted_clusters(columns, 4, order=order)) == clusters_of(sorted_clusters(columns, 4))
