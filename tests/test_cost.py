"""The cost in words: by hand, against the released texts, for every method."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.methods import METHODS
from shoal.ranges.boxed import box_clusters
from shoal.ranges.columns import ReleasedColumns, released_columns
from shoal.ranges.forms import ColumnForm
from shoal.storage.reading import read
from shoal.utility.cost import ColumnCost, cost_of_boxes, cost_of_labels

LABEL = ColumnForm(kind="label")


def cost(data: Any, k: int = 2, **options: Any) -> dict[str, ColumnCost]:
    names = list(data)
    result = shoal.anonymize(pl.DataFrame(data), quasi_identifiers=names, k=k, **options)
    assert result.to_dict()["cost"] == [
        {name: getattr(entry, name) for name in ColumnCost.__dataclass_fields__} for entry in result.findings.cost
    ]
    return {entry.column: entry for entry in result.findings.cost}


def test_ages_in_ranges_by_hand() -> None:
    # [30;34] twice (4 wide), [40;50] twice (10 wide), 60 twice
    found = cost({"age": [30, 34, 40, 50, 60, 60]}, method="mondrian")["age"]
    assert (found.unchanged, found.within, found.members, found.unknown) == (1 / 3, 7.0, None, 0.0)
    assert found.sentence == "33.3% of ages unchanged, the others within 7 years on average"


def test_categories_in_sets_by_hand() -> None:
    column = read({"education": ["a", "b", "c", "c", None]})["education"]
    # {a, b, c} once each, c alone, then a missing value by itself
    boxed = box_clusters([column], np.array([0, 1, 2, 3, 4]), np.array([0, 3, 4]))
    found = cost_of_boxes([column], boxed)[0]
    assert (found.unchanged, found.within, found.members, found.unknown) == (0.4, None, 3.0, 0.0)
    assert found.sentence == "education exact in 40.0%, one of 3 in 60.0%"
    # with the missing one in the set the whole box is `*`
    mixed = cost_of_boxes([column], box_clusters([column], np.array([0, 4, 1, 2, 3]), np.array([0, 2, 3])))[0]
    assert (mixed.unchanged, mixed.members, mixed.unknown) == (0.6, None, 0.4)
    assert mixed.sentence == "education exact in 60.0%, unknown in 40.0%"


def test_dates_are_told_in_days_whatever_their_type() -> None:
    days = [date(2020, 1, 1), date(2020, 1, 8), date(2021, 1, 1), date(2021, 1, 8)]
    for values in (pl.Series(days), pl.Series(days).cast(pl.Datetime("ns")), pl.Series(days).cast(pl.Datetime("ms"))):
        found = cost({"admitted": values}, method="mondrian")["admitted"]
        assert found.within == 7.0
        assert found.sentence == "admitted: values within 7 days on average"


def test_long_spans_are_told_in_months_and_years() -> None:
    for last, told in (
        (date(1950, 2, 28), "58 days"),
        (date(1950, 3, 2), "2 months"),
        (date(1951, 12, 31), "24 months"),
        (date(1952, 1, 2), "2 years"),
        (date(1958, 8, 8), "8.6 years"),
        (date(1999, 12, 31), "50 years"),
    ):
        found = cost({"born": [date(1950, 1, 1), last]}, method="mondrian")["born"]
        assert found.within == (last - date(1950, 1, 1)).days
        assert found.sentence == f"born: values within {told} on average"
    money = cost({"charge": [0, 3650]}, method="mondrian")["charge"]
    assert money.sentence == "charge: values within 3,650 on average"


def test_units_only_where_the_kind_says_so() -> None:
    found = cost({"charge": [10, 14, 90, 94], "birth year": [1950, 1952, 1990, 1992]}, method="mondrian")
    assert found["charge"].sentence == "charge: values within 4 on average"
    assert found["birth year"].sentence == "birth year: values within 2 years on average"


def test_local_suppression_leaves_values_or_nothing() -> None:
    found = cost({"sex": ["f", "f", "m"], "age": [30, 30, 30]}, method="suppress", reading="strict")
    assert found["sex"].sentence == "sex exact in 66.7%, unknown in 33.3%"
    assert found["sex"].members is None


def test_a_node_stands_for_the_values_of_the_table_below_it() -> None:
    tree = [
        ["a", "ab", "*"],
        ["b", "ab", "*"],
        ["c", "cde", "*"],
        ["d", "cde", "*"],
        ["e", "cde", "*"],  # not in the table
    ]
    data = {"job": ["a", "b", "c", "d", "d"]}
    found = cost(data, method="lattice", hierarchies={"job": tree})["job"]
    assert (found.unchanged, found.members, found.unknown) == (0.0, 2.0, 0.0)
    assert found.sentence == "job one of 2 in 100%"


def test_labels_of_ordered_columns_are_read_or_measured() -> None:
    column = read({"age": [20, 24, 41, 60]})["age"]
    texts = pl.Series("age", ["20-29", "20-29", "older", "older"])
    shown = ReleasedColumns([texts], "truthful", np.ones(4, bool), LABEL)
    # the first says 9, the second was given for 41 and 60
    assert cost_of_labels([column], {"age": shown})[0].within == (9 + 9 + 19 + 19) / 4
    years = read({"seen": [date(2012, 1, 1), date(2012, 12, 31)]})["seen"]
    shown = ReleasedColumns([pl.Series("seen", ["2012", "2012"])], "truthful", np.ones(2, bool), LABEL)
    assert cost_of_labels([years], {"seen": shown})[0].within == 365.0


def test_counts_weigh_the_records() -> None:
    table = pl.DataFrame({"sex": ["f", "m"], "n": [9, 1]})
    policy = shoal.Policy(columns={"sex": "quasi-identifier"}, count="n", models=[{"model": "k-anonymity", "k": 2}])
    found = shoal.anonymize(table, policy, method="lattice", suppression=0.1).findings.cost[0]
    assert (found.unchanged, found.unknown) == (0.9, 0.1)


def test_means_say_what_they_are_the_mean_of() -> None:
    found = cost({"age": [30, 34, 51, 55]}, method="microaggregate")["age"]
    assert found.within == 4.0
    assert found.sentence == "every age a mean of values within 4 years on average"


OPTIONS: dict[str, dict[str, Any]] = {"coarsen": {"resolution": 2}, "recode": {"generalize": {"age": "runs:2"}}}


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"mask", "anatomy"}))
def test_every_method_has_a_cost_of_every_column(method: str) -> None:
    data = {"age": [30, 31, 40, 41, 50, 51], "charge": [1, 1, 2, 2, 3, 9]}
    found = cost(data, method=method, **OPTIONS.get(method, {}))
    assert list(found) == ["age", "charge"]
    for entry in found.values():
        assert 0 <= entry.unchanged <= 1
        assert 0 <= entry.unknown <= 1
        assert entry.sentence
    options = OPTIONS.get(method, {})
    result = shoal.anonymize(pl.DataFrame(data), quasi_identifiers=list(data), k=2, method=method, **options)
    assert "what it cost" in str([getattr(section, "heads", ()) for section in result.sections()])


def test_masking_steps_have_a_cost() -> None:
    policy = shoal.Policy(columns={"age": "quasi-identifier"}, masking=[{"column": "age", "groups": [0, 40]}])
    found = shoal.anonymize(pl.DataFrame({"age": [30, 31, 50, 50]}), policy, method="mask").findings.cost[0]
    assert found.unchanged == 0.5


values = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("abcd") | st.none(), st.integers(0, 3)), min_size=2, max_size=30
)


@given(values)
@settings(max_examples=60, deadline=None)
def test_boxes_and_the_texts_written_for_them_cost_the_same(rows: list[tuple[int, str | None, int]]) -> None:
    rows = sorted(rows, key=lambda row: row[2])
    numbers, words, group = zip(*rows, strict=True)
    columns = read({"n": list(numbers), "c": pl.Series(words, dtype=pl.String)}).select(["n", "c"])
    starts = np.flatnonzero(np.append(True, np.diff(group) != 0))
    boxed = box_clusters(columns, np.arange(len(rows)), starts)
    released = {column.name: released_columns(column, boxed) for column in columns}
    by_box, by_text = cost_of_boxes(columns, boxed), cost_of_labels(columns, released)
    for one, other in zip(by_box, by_text, strict=True):
        assert one.sentence == other.sentence
        assert (one.unchanged, one.unknown) == pytest.approx((other.unchanged, other.unknown))
        assert (one.within or 0, one.members or 0) == pytest.approx((other.within or 0, other.members or 0))
    # by hand, from the groups
    for place, entry in enumerate(by_box):
        same = sum(len({row[place] for row in rows if row[2] == mine[2]}) == 1 for mine in rows)
        assert entry.unchanged == pytest.approx(same / len(rows))
