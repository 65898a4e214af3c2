"""Partitioning: laws that every grouping keeps, brute force on small tables, the nearest-neighbour bound."""

from __future__ import annotations

import importlib
import os
from itertools import combinations
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
from shoal.methods.partition import Effort, grouped, partition
from shoal.methods.partition.coordinates import coordinates
from shoal.methods.partition.groups import Groups, NearMiddles, blocked, improved, loss, peeled
from shoal.methods.sorted_clusters import sorted_clusters
from shoal.models.distances import ordered_distance
from shoal.ranges.boxed import Boxed
from shoal.ranges.parsing import set_labels, set_members
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS
from shoal.storage import Array, Column
from shoal.storage.classes import class_of_each_row, pack
from shoal.storage.reading import read
from shoal.utility.loss import information_loss

EFFORTS: list[Effort] = ["fast", "default", "best"]
numbers = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(-50, 50)), min_size=6, max_size=60)


def nearest_neighbour_bound(columns: list[Column], k: int, **how: int) -> Any:
    """What no grouping can go below, as the benchmarks measure it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        return importlib.import_module("least_possible").nearest_neighbour_bound(columns, k, **how)


def columns_of(rows: Any) -> list[Column]:
    table = read(pl.DataFrame(rows, schema=[f"c{j}" for j in range(len(rows[0]))], orient="row"))
    return table.select(table.names)


def random_columns(seed: int, rows: int, columns: int = 4) -> list[Column]:
    return columns_of(np.random.default_rng(seed).integers(0, 40, (rows, columns)).tolist())


def sizes_of(boxed: Boxed) -> Array:
    return np.bincount(boxed.box_of_row)


def plain_loss(points: Array, groups: list[list[int]]) -> float:
    """Eqs 3-4 record by record."""
    total = 0.0
    for group in groups:
        members = points[group]
        low, high = members.min(axis=0), members.max(axis=0)
        for record in members:
            total += float(np.sqrt((np.maximum(high - record, record - low) ** 2).sum()))
    return total / points.size


# the guarantee


@pytest.mark.parametrize("effort", EFFORTS)
@given(rows=numbers, k=st.integers(2, 5))
@settings(max_examples=25)
def test_every_group_has_k_and_every_box_its_rows(effort: Effort, rows: list[tuple[int, ...]], k: int) -> None:
    columns = columns_of(rows)
    boxed = partition(columns, k, effort)
    assert sizes_of(boxed).min() >= k
    assert len(boxed.box_of_row) == len(rows)
    for column, values in zip(columns, zip(*rows, strict=True), strict=True):
        side = boxed.sides[column.name]
        low, high = side.scale[side.low][boxed.box_of_row], side.scale[side.high][boxed.box_of_row]
        assert (low <= values).all()
        assert (values <= high).all()
        for box in range(boxed.boxes):  # the smallest box
            members = np.array(values)[boxed.box_of_row == box]
            assert (side.scale[side.low[box]], side.scale[side.high[box]]) == (members.min(), members.max())


@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
@given(rows=numbers, k=st.integers(2, 5))
@settings(max_examples=25)
def test_mondrian_keeps_k(cuts: Any, rows: list[tuple[int, ...]], k: int) -> None:
    assert sizes_of(partition(columns_of(rows), k, cuts=cuts)).min() >= k


@given(rows=numbers, k=st.integers(2, 4))
@settings(max_examples=25)
def test_strict_regions_are_disjoint(rows: list[tuple[int, ...]], k: int) -> None:
    boxed = partition(columns_of(rows), k, cuts="strict")
    for one, two in combinations(range(boxed.boxes), 2):
        sides = boxed.sides.values()
        assert any(side.high[one] < side.low[two] or side.high[two] < side.low[one] for side in sides)


def test_mondrian_by_hand() -> None:
    """The median of the widest column: age spans more spreads than the other, 8 records become 4 + 4, then 2 + 2."""
    ages, visits = [20, 21, 30, 31, 60, 61, 90, 91], [1, 1, 2, 2, 1, 1, 2, 2]
    boxed = partition(read({"age": ages, "visits": visits}).select(["age", "visits"]), 2, cuts="strict")
    assert sorted(map(tuple, (np.flatnonzero(boxed.box_of_row == box).tolist() for box in range(boxed.boxes)))) == [
        (0, 1), (2, 3), (4, 5), (6, 7),
    ]  # fmt: skip


def test_relaxed_halves_are_even() -> None:
    rows = [[value] for value in [5] * 30 + list(range(6, 40))]
    assert sizes_of(partition(columns_of(rows), 4, cuts="relaxed")).max() <= 7 + 30
    distinct = [[value] for value in range(64)]
    assert sizes_of(partition(columns_of(distinct), 4, cuts="relaxed")).tolist() == [4] * 16


@given(rows=numbers, k=st.integers(2, 4))
@settings(max_examples=25)
def test_identical_records_that_k_share_stay_together_at_fast(rows: list[tuple[int, ...]], k: int) -> None:
    columns = columns_of(rows)
    boxed = partition(columns, k, "fast")
    alike, count = class_of_each_row(pack(columns))
    for number in np.flatnonzero(np.bincount(alike, minlength=count) >= k):
        assert len(np.unique(boxed.box_of_row[alike == number])) == 1


@pytest.mark.parametrize("effort", EFFORTS)
def test_the_order_of_rows_changes_no_guarantee(effort: Effort) -> None:
    columns = random_columns(3, 3000)
    shuffled = [column.take(np.random.default_rng(0).permutation(3000)) for column in columns]
    losses = []
    for some in (columns, shuffled):
        boxed = partition(some, 5, effort)
        assert sizes_of(boxed).min() >= 5
        losses.append(information_loss(some, boxed).total)
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


@pytest.mark.parametrize("effort", EFFORTS)
def test_the_same_seed_gives_the_same_groups_whatever_the_threads(
    effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = random_columns(1, 20_000)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setitem(os.environ, "SHOAL_THREADS", threads)
        found.append(partition(columns, 3, effort, seed=7).box_of_row)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


# how little is lost


@pytest.mark.parametrize(("size", "columns"), [(2, 2), (5, 1), (33, 3), (700, 9), (5000, 4)])
def test_near_middles_are_as_near_as_those_of_brute_force(size: int, columns: int) -> None:
    generator = np.random.default_rng(size)
    points = (generator.integers(0, 12, (size, columns)) / 8).astype(np.float32)  # many ties, sums without rounding
    laid = points.copy()
    middles = NearMiddles(laid)
    assert (laid == points[middles.order]).all()
    asked = generator.permutation(size)[:100]
    exact, found = middles.of(asked, 8, share=1), middles.of(asked, 8, share=0.4)
    for name in asked:
        apart = ((laid - laid[name]) ** 2).sum(axis=1)
        others = np.delete(apart, name)
        for near in (exact[name], found[name]):
            assert len({name, *near}) == len(near) + 1 == min(8, size - 1) + 1
        assert apart[exact[name]].tolist() == np.sort(others)[:8].tolist()
        # nothing is missed that is much nearer than the last
        assert (np.diff(apart[found[name]]) >= 0).all()
        last = apart[found[name][-1]]
        assert np.count_nonzero(apart[found[name]] < 0.4 * last) == np.count_nonzero(others < 0.4 * last)


def test_local_search_never_raises_the_loss() -> None:
    for seed, k in ((0, 2), (1, 3), (2, 7)):
        groups = blocked(coordinates(random_columns(seed, 2000)), k, 256)
        before = loss(groups)
        for number in range(4):
            groups = improved(groups, k, number)
            after = loss(groups)
            assert after <= before * (1 + 1e-12)  # the sum is taken in another order
            before = after
        assert sorted(groups.order.tolist()) == list(range(2000))
        assert np.diff(groups.starts, append=2000).min() >= k


@pytest.mark.parametrize(
    ("effort", "mean", "worst"), [("fast", 1.12, 2.6), ("default", 1.02, 1.6), ("best", 1.002, 1.1)]
)
def test_near_the_optimum_by_brute_force(effort: Effort, mean: float, worst: float) -> None:
    """Never below the optimum of all partitions, and above it by no more than the stated factors."""
    random = np.random.default_rng(5)
    ratios = []
    for trial in range(60):
        rows, k, width = int(random.integers(4, 10)), int(random.integers(2, 4)), int(random.integers(1, 4))
        values = random.integers(0, 8 if trial % 2 else 1000, (rows, width))
        spreads = values.std(axis=0, ddof=1)
        points = values / np.where(spreads > 0, spreads, np.inf)
        optimum = min(plain_loss(points, groups) for groups in brute.all_partitions(list(range(rows)), k))
        columns = columns_of(values.tolist())
        found = information_loss(columns, partition(columns, k, effort)).total
        assert found >= optimum - 1e-9
        ratios.append(found / optimum if optimum > 1e-12 else 1.0 + found)
    assert np.mean(ratios) <= mean
    assert max(ratios) <= worst


def test_more_effort_loses_less_and_none_less_than_the_bound(golden: Any, data: Path) -> None:
    table = shoal.read(data / "golden" / "spd_like_1000.csv")
    columns = table.select(QUASI_IDENTIFIERS)
    for k in (2, 5, 10):
        losses = [information_loss(columns, partition(columns, k, effort)).total for effort in EFFORTS]
        published = information_loss(columns, sorted_clusters(columns, k)).total
        assert losses == sorted(losses, reverse=True)
        assert losses[1] < published / 2
        assert losses[-1] > nearest_neighbour_bound(columns, k).loss


def test_the_bound_by_hand_and_by_brute_force() -> None:
    columns = random_columns(9, 300, 3)
    points = coordinates(columns).astype(float)
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    for k in (2, 4):
        plain = np.sort(apart, axis=1)[:, k - 1].mean() / 3
        assert nearest_neighbour_bound(columns, k).loss == pytest.approx(plain, rel=1e-5)
        sampled = nearest_neighbour_bound(columns, k, sample=200, seed=1)
        assert (sampled.sampled, abs(sampled.loss - plain) < 3 * sampled.margin) == (200, True)


def test_the_loss_of_groups_is_that_of_the_release() -> None:
    columns = random_columns(4, 500)
    boxed = partition(columns, 3)
    groups = grouped(coordinates(columns), 3, "default", "best", 0, None)
    assert loss(groups) == pytest.approx(information_loss(columns, boxed).total, rel=1e-5)
    assert loss(Groups.of(coordinates(columns))) > loss(groups)


def test_a_weight_makes_a_column_matter() -> None:
    columns = random_columns(6, 2000)
    even, first = partition(columns, 5), partition(columns, 5, importance={"c0": 5.0})
    losses = [information_loss(columns, boxed).by_column["c0"] for boxed in (even, first)]
    assert losses[1] < losses[0] / 2
    with pytest.raises(InputError, match="0 on"):
        partition(columns, 5, importance={"c0": -1.0})
    with pytest.raises(InputError, match="c9"):
        partition(columns, 5, importance={"c9": 1.0})


def test_peeled_groups_hold_k_in_segments_too() -> None:
    groups = peeled(coordinates(random_columns(2, 5000)), 4, 512, 8)
    assert np.diff(groups.starts, append=5000).min() >= 4


# models


def test_any_model_may_refuse_groups() -> None:
    columns = random_columns(8, 2000)
    charge = read({"charge": np.random.default_rng(2).integers(0, 500, 2000)})["charge"]

    def bad(group_of_row: Array, count: int) -> Array:
        groups = np.where(group_of_row >= 0, group_of_row, count)
        return ordered_distance(groups, count + 1, charge)[:count] > 0.12

    for cuts in ("best", "strict"):
        boxed = partition(columns, 5, "fast", cuts=cuts, fails_policy=bad)  # type: ignore[arg-type]
        assert not bad(boxed.box_of_row, boxed.boxes).any()
        assert sizes_of(boxed).min() >= 5
    assert boxed.boxes > 5
    for cuts in ("best", "strict"):
        with pytest.raises(InputError, match="all records together"):
            partition(columns, 5, cuts=cuts, fails_policy=lambda groups, count: np.ones(count, bool))  # type: ignore[arg-type]


def test_t_closeness_through_the_front_door(tmp_path: Path) -> None:
    visits = shoal.sample_data("discharges", 1500, 3).select([*QUASI_IDENTIFIERS[:4], "charge"])
    result = shoal.anonymize(
        visits, quasi_identifiers=QUASI_IDENTIFIERS[:4], sensitive="charge", k=5, t=0.2, method="mondrian"
    )
    assert result.verdict == "holds"
    assert result.findings.closeness is not None
    assert result.findings.closeness["values"] <= 0.2
    shoal.release(result, tmp_path / "safe.csv")
    assert shoal.verify(tmp_path / "safe.csv", original=visits).verdict == "holds"


# texts and missing values

cells = {
    "age": st.one_of(st.none(), st.integers(20, 25)),
    "job": st.one_of(st.none(), st.sampled_from(["clerk", "smith, old", 'a "b"', "[x; y]", "5", "monk"])),
    "born": st.dates().map(lambda day: day.replace(year=1960 + day.year % 4)),
    "ill": st.booleans(),
    "weight": st.one_of(st.none(), st.floats(40, 90).map(lambda number: round(number, 1))),
}


@given(rows=st.lists(st.fixed_dictionaries(cells), min_size=4, max_size=30), k=st.integers(2, 4))
@settings(max_examples=25)
def test_any_table_is_released_truthfully(rows: list[dict[str, Any]], k: int, tmp_path_factory: Any) -> None:
    frame = pl.DataFrame(
        rows, schema={"age": pl.Int64, "job": pl.String, "born": pl.Date, "ill": pl.Boolean, "weight": pl.Float64}
    )
    result = shoal.anonymize(frame, quasi_identifiers=frame.columns, k=min(k, len(rows)), method="mondrian")
    path = tmp_path_factory.mktemp("any") / "safe.parquet"
    if result.findings.suppressed_rows == len(rows):
        return
    shoal.release(result, path)
    assert shoal.verify(path, original=frame).verdict == "holds"
    for name in frame.columns:  # what is shown holds what was there, read plainly
        for shown, was in zip(result.frame[name].to_list(), frame[name].to_list(), strict=True):
            assert _holds(shown, was), (name, shown, was)


def _holds(shown: Any, was: Any) -> bool:
    if shown == "*" or shown == was or str(shown) == ("true" if was is True else "false" if was is False else str(was)):
        return True
    if was is None or not isinstance(shown, str):
        return False
    if ";" in shown and '"' not in shown:
        low, high = shown[1:-1].split(";")
        return low <= str(was) <= high if "-" in low[1:] else float(low) <= float(was) <= float(high)
    return str(was).lower() in [member.lower() for member in set_members(shown)]


@given(labels=st.lists(st.text(alphabet=' ab,;"[]{}*5-', max_size=4), min_size=2, max_size=5, unique=True))
def test_sets_of_any_labels_are_read_again(labels: list[str]) -> None:
    text = "[" + ", ".join(set_labels(pl.Series(labels))) + "]"
    assert set_members(text) == labels


def test_a_group_with_some_missing_is_a_star_and_with_all_is_missing() -> None:
    frame = pl.DataFrame({"age": [30, 31, None, None, None, 60, 61], "sex": ["f", "f", "m", "m", "m", None, "f"]})
    result = shoal.anonymize(frame, quasi_identifiers=["age", "sex"], k=2, method="mondrian")
    assert result.frame["age"].to_list() == ["[30;31]", "[30;31]", None, None, None, "[60;61]", "[60;61]"]
    assert result.frame["sex"].to_list() == ["f", "f", "m", "m", "m", "*", "*"]
    assert result.findings.suppressed_cells == 2
    assert result.findings.information_loss_by_column["age"] == pytest.approx(4 / 7 / frame["age"].std())  # type: ignore[operator]


def test_categories_are_never_stretched_over_what_lies_between() -> None:
    frame = pl.DataFrame({"race": ["asian", "white", "black", "black"], "age": [30, 31, 70, 70]})
    result = shoal.anonymize(frame, quasi_identifiers=["race", "age"], k=2, method="mondrian", importance={"age": 9.0})
    assert result.frame["race"].to_list() == ["[asian, white]", "[asian, white]", "black", "black"]


def test_refusals_say_what_to_do() -> None:
    frame = pl.DataFrame({"age": [30, 31, None, 60], "x": [1.0, 2.0, 3.0, float("inf")]})
    with pytest.raises(InputError, match="more than the 4 records"):
        shoal.anonymize(frame, quasi_identifiers=["age"], k=5, method="mondrian")
    with pytest.raises(InputError, match="infinite"):
        shoal.anonymize(frame, quasi_identifiers=["x"], k=2, method="mondrian")
    with pytest.raises(InputError, match="effort"):
        shoal.anonymize(frame, quasi_identifiers=["age"], k=2, method="mondrian", effort="least")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="only `\\*` holds both"):
        shoal.anonymize(frame, quasi_identifiers=["age"], k=2, method="mondrian", interval="columns")


@pytest.mark.parametrize("effort", ["default", "best"])
def test_a_k_of_thousands_ends(effort: Effort) -> None:
    """Exchanges between groups of k take k squared for each record: such groups stay as they were made."""
    points = np.random.default_rng(0).normal(size=(4000, 3)).astype(np.float32)
    groups = grouped(points, 1500, effort, "best", 0, None)
    assert np.diff([*groups.starts, 4000]).min() >= 1500
    assert sorted(groups.order.tolist()) == list(range(4000))


def test_the_best_effort_never_loses_more_than_the_default() -> None:
    for seed, (size, k) in enumerate([(221, 10), (230, 10), (366, 5), (90, 7), (150, 4), (500, 20)] * 3):
        columns = random_columns(seed, size)[:3]
        losses = [information_loss(columns, partition(columns, k, effort)).total for effort in ("default", "best")]
        assert losses[1] <= losses[0] * (1 + 1e-6)
