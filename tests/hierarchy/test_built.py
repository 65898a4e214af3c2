"""Hierarchies that are built: nested, truthful, compact; the automatic choice."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.ranges.hierarchy import Hierarchy, build_hierarchy, fit
from shoal.ranges.hierarchy.numbers import round_width, whole_units
from shoal.ranges.parsing import as_ranges, ends_of
from shoal.storage import Column
from shoal.storage.reading import read


def column(values: Any, dtype: Any = None, name: str = "c") -> Column:
    return read(pl.DataFrame({name: pl.Series(values, dtype=dtype)}))[name]


def nodes(hierarchy: Hierarchy) -> list[int]:
    return [hierarchy.nodes(level) for level in range(hierarchy.height)]


def check(hierarchy: Hierarchy, of: Column) -> None:
    """Every level joins nodes of the one below, the top is one node, every value has its leaf."""
    counts = nodes(hierarchy)
    assert counts[0] == len(of.values)
    assert counts[:-1] == sorted(set(counts[:-1]), reverse=True)
    assert counts[-2] > 1 or len(counts) == 2
    for level in range(1, hierarchy.height):
        pairs = set(zip(hierarchy.node_codes(level - 1).tolist(), hierarchy.node_codes(level).tolist(), strict=True))
        assert len(pairs) == counts[level - 1]
    assert hierarchy.labels(hierarchy.height - 1) == (["*"] if len(of.values) else [])
    assert fit(hierarchy, of).missing == 0


def check_ranges(hierarchy: Hierarchy) -> None:
    """Each label holds its leaves, and no two labels of a level meet."""
    leaf, _ = ends_of(column(hierarchy.levels[0].to_list(), pl.String))
    texts = sorted(hierarchy.levels[0].to_list())
    number = dict(zip(texts, leaf.tolist(), strict=True))
    for level in range(1, hierarchy.height - 1):
        labels = sorted(set(hierarchy.levels[level].to_list()))
        low, high = ends_of(column(labels, pl.String))
        ends = dict(zip(labels, zip(low.tolist(), high.tolist(), strict=True), strict=True))
        for text, label in zip(hierarchy.levels[0], hierarchy.levels[level], strict=True):
            assert ends[label][0] <= number[text] <= ends[label][1]
        order = sorted(ends.values())
        assert all(before[1] < after[0] for before, after in pairwise(order))


whole = st.integers(-(2**40), 2**40) | st.integers(-30, 120)
decimals = st.integers(-10_000, 10_000).map(lambda number: number / 100)
floats = st.floats(allow_nan=False, allow_infinity=False, width=64).filter(lambda x: x == 0 or 1e-200 < abs(x) < 1e200)


@given(
    st.lists(whole, min_size=1, max_size=40) | st.lists(decimals, min_size=1, max_size=40),
    st.sampled_from(["equal-width", "powers", "equal-frequency", "auto"]),
    st.sampled_from([2, 3, 10]),
)
def test_intervals_hold_their_numbers(values: list[Any], kind: Any, factor: int) -> None:
    of = column(values)
    built = build_hierarchy(of, kind, factor=factor)
    check(built, of)
    if built.source != "codes cut from the right":
        check_ranges(built)


@given(st.lists(whole, min_size=1, max_size=40), st.sampled_from([0.25, 1, 3, 5, 70]))
def test_intervals_of_a_given_width(values: list[int], width: float) -> None:
    of = column(values)
    built = build_hierarchy(of, width=width)
    check(built, of)
    check_ranges(built)


@given(
    st.lists(floats, min_size=1, max_size=30) | st.lists(st.floats(-100, 100), min_size=1, max_size=30),
    st.sampled_from([("equal-width", {}), ("equal-width", {"width": 2.5}), ("equal-frequency", {})]),
)
def test_floats_without_a_common_unit_take_observed_ends(values: list[float], how: tuple[Any, Any]) -> None:
    of = column([*values, 1 / 3], pl.Float64)
    built = build_hierarchy(of, how[0], **how[1])
    check(built, of)
    for level in range(1, built.height - 1):
        for value, label in zip(of.values, built.levels[level], strict=True):
            if label.startswith("["):
                low, high = map(float, label[1:-1].split(";"))
                assert low <= value <= high
            else:
                assert float(label) == value


def test_ages_in_steps_that_people_choose() -> None:
    built = build_hierarchy(column(list(range(17, 91))))
    assert [built.labels(level)[0] for level in range(built.height)] == [
        "17", "[15;19]", "[10;19]", "[0;19]", "[0;39]", "*",
    ]  # fmt: skip
    assert built.source == "intervals of equal width"
    assert nodes(built) == [74, 16, 9, 5, 3, 1]


def test_powers_drop_a_digit_at_each_level() -> None:
    built = build_hierarchy(column([1, 12, 123, 1234, 1239]), "powers")
    assert built.levels[1].to_list() == ["[0;9]", "[10;19]", "[120;129]", "[1230;1239]", "[1230;1239]"]
    assert built.levels[2].to_list()[:2] == ["[0;99]", "[0;99]"]


def test_decimals_do_not_meet() -> None:
    built = build_hierarchy(column([20.0, 24.9, 25.0, 61.5]), width=5)
    assert built.levels[1].to_list() == ["[20.0;24.9]", "[20.0;24.9]", "[25.0;29.9]", "[60.0;64.9]"]
    assert build_hierarchy(column([1, 2, 3, 9]), width=2.5).levels[1].to_list()[0] == "[0.0;2.4]"


def test_half_of_the_records_in_one_interval_asks_for_equal_frequency() -> None:
    pay = column([*range(100, 200), 10_000_000])
    built = build_hierarchy(pay)
    assert built.source.startswith("intervals of equal frequency")
    assert max(np.bincount(built.node_codes(1))) <= 3


def test_units_and_widths() -> None:
    assert whole_units(pl.Series([0.1, 0.25])) is not None
    assert whole_units(pl.Series([1 / 3])) is None
    assert whole_units(pl.Series([2**63 + 5], dtype=pl.UInt64)) is None
    assert whole_units(pl.Series([Decimal("1.50")])) is not None
    for span in (1, 9, 10, 320, 321, 10**12):
        width = round_width(span)
        assert span <= width * 64
        assert str(width).rstrip("0") in ("1", "2", "5")


@given(st.lists(st.dates(date(1000, 1, 1), date(2999, 12, 31)), min_size=1, max_size=40))
def test_dates_lie_in_their_ranges(values: list[date]) -> None:
    of = column(values)
    built = build_hierarchy(of)
    check(built, of)
    check_ranges(built)
    for level in range(1, built.height - 1):
        assert as_ranges(column(built.levels[level].to_list()), "auto", False).forms == ("interval",)


@given(st.lists(st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=30))
def test_moments_start_with_their_day(values: list[datetime]) -> None:
    of = column(values, pl.Datetime("us"))
    built = build_hierarchy(of)
    check(built, of)
    check_ranges(built)


def test_days_months_quarters_years_decades() -> None:
    days = [
        date(1999, 12, 31),
        date(2020, 1, 1),
        date(2020, 1, 31),
        date(2020, 3, 1),
        date(2020, 5, 5),
        date(2021, 1, 1),
    ]
    built = build_hierarchy(column(days))
    assert [level[1] for level in built.levels] == [
        "2020-01-01",
        "[2020-01-01;2020-01-31]",
        "[2020-01-01;2020-03-31]",
        "[2020-01-01;2020-12-31]",
        "[2020-01-01;2029-12-31]",
        "*",
    ]
    assert built.source == "day, month, quarter, year, decade"


def test_zip_codes_keep_their_length() -> None:
    built = build_hierarchy(column(["93701", "93702", "93750", "00501"], name="zip"))
    assert [level[1] for level in built.levels] == ["93701", "9370*", "937**", "*"]
    assert "postal codes" in built.source


def test_numbers_as_codes_get_their_zeros_back() -> None:
    built = build_hierarchy(column([501, 93701, 93702], name="zip"), "prefix")
    assert built.levels[0].to_list() == ["501", "93701", "93702"]
    assert built.levels[1].to_list() == ["0050*", "9370*", "9370*"]
    low, high = ends_of(column(["0050*"]))
    assert (low[0], high[0]) == (500, 509)


def test_icd_codes_join_in_categories_blocks_and_chapters() -> None:
    codes = ["E11", "E11.65", "E11.69", "E11.9", "E13.1", "I10", "I21.4"]
    built = build_hierarchy(column(codes, name="diagnosis"))
    assert "ICD" in built.source
    endocrine = "IV Endocrine, nutritional and metabolic diseases"
    circulatory = "IX Diseases of the circulatory system"
    assert [level.to_list() for level in built.levels[1:-1]] == [
        ["E11.-", "E11.-", "E11.-", "E11.-", "E13.-", "I10.-", "I21.-"],
        ["E10-E14", "E10-E14", "E10-E14", "E10-E14", "E10-E14", "I10-I15", "I20-I25"],
        [endocrine] * 5 + [circulatory] * 2,
    ]


@given(st.lists(st.text("AB1.- ", max_size=6), min_size=1, max_size=20), st.integers(1, 3))
def test_prefixes_hold_their_codes(values: list[str], cut: int) -> None:
    of = column(values, pl.String)
    built = build_hierarchy(of, "prefix", cut=cut)
    check(built, of)
    for level in range(1, built.height - 1):
        for code, label in zip(built.levels[0], built.levels[level], strict=True):
            stem = label.partition("*")[0].rstrip(".- ")
            assert code.startswith(stem)
            assert "*" in label or label == code


@given(st.lists(st.text(max_size=4) | st.sampled_from(["{a, b}", "other (3 values)"]), min_size=1, max_size=40))
def test_rare_categories_are_joined(values: list[str]) -> None:
    of = column(values, pl.String)
    built = build_hierarchy(of, "categories")
    check(built, of)
    records = np.bincount(of.codes)
    for level in range(1, built.height - 1):
        sizes = np.bincount(built.node_codes(level))
        assert np.count_nonzero(sizes > 1) == 1
        joined = sizes[built.node_codes(level)] > 1
        assert records[~joined].min() >= records[joined].max()


def test_labels_of_sets_read_back_as_sets() -> None:
    of = column(["a"] * 5 + ["b"] * 4 + ["c", "d"])
    built = build_hierarchy(of, "categories")
    assert built.levels[1].to_list() == ["a", "b", "{c, d}", "{c, d}"]
    assert as_ranges(column(["{c, d}", "a", "b", "c", "d"]), "auto", False).forms == ("set",)
    many = build_hierarchy(column([f"town {i}" for i in range(40)]))
    assert many.levels[1].to_list()[-1] == "other (30 values)"
    commas = build_hierarchy(column(["x", "x", "x, y", "a;b"]), "categories")
    assert commas.levels[1].to_list() == ["other (2 values)", "x", "other (2 values)"]


def test_other_types() -> None:
    yes = column([True, False, None])
    assert [level.to_list() for level in build_hierarchy(yes).levels] == [["false", "true"], ["*", "*"]]
    for values in ([time(8, i) for i in range(9)], [Decimal(i) for i in range(9)]):
        check(build_hierarchy(column(values)), column(values))
    with pytest.raises(InputError, match="infinite numbers"):
        build_hierarchy(column([-math.inf, 0.1234567891, 2.5, math.inf]))
    huge = column([2**63 + 5, 7, 2**64 - 1], pl.UInt64)
    check(build_hierarchy(huge), huge)
    one = column([5, 5])
    assert nodes(build_hierarchy(one)) == [1, 1]
    with pytest.raises(InputError, match="spans of time"):
        build_hierarchy(column([timedelta(1)]))


def test_codes_without_an_order_are_categories() -> None:
    sex = column([1, 2, 1, 2, 9], name="sex")
    built = build_hierarchy(sex)
    assert built.source == "categories, the rarest joined, for its numbers stand for sex"
    codes = build_hierarchy(column([f"K{i:03}" for i in range(50)], name="ward"))
    assert codes.source == "codes cut from the right, for it looks like codes"


@pytest.mark.parametrize(
    ("values", "kind", "options", "message"),
    [
        (["a", "b"], "equal-width", {}, "does not hold numbers"),
        (["a", "b"], "equal-frequency", {}, "no order of values"),
        (["a", "b"], "dates", {}, "does not hold dates"),
        ([-1, 2], "prefix", {}, "not codes"),
        ([1.5, 2.0], "prefix", {}, "not codes"),
        (["93***", "93701"], "prefix", {}, "masked already"),
        ([1, 2], "nonsense", {}, "not known"),
        ([1, 2], "prefix", {"width": 5}, "takes no width"),
        ([1, 2], "equal-width", {"width": 0}, "makes no intervals"),
        ([1, 2], "equal-width", {"width": math.nan}, "makes no intervals"),
        ([1, 2], "equal-width", {"width": 1e-30}, "does not suit"),
        ([1, 2], "equal-width", {"width": 1e30}, "does not suit"),
        ([1, 2], "equal-width", {"factor": 1}, "factor is 1"),
    ],
)
def test_what_cannot_be_built_is_refused(values: list[Any], kind: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_hierarchy(column(values), kind, **options)
