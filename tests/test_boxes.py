"""Eq 1 and matching against looking at every point."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute
import shoal
from shoal.ranges import boxed
from shoal.ranges import coverage as boxes
from shoal.ranges.coverage import fit, match
from shoal.ranges.parsing import as_ranges, as_texts, forms_in
from shoal.storage.reading import read


def text(low: int, high: int) -> str:
    return str(low) if low == high else f"[{low};{high}]"


def uniques(columns: dict[str, list[Any]], null_is_star: bool = False) -> list[bool]:
    table = read(columns)
    found = fit([as_ranges(column, "auto", null_is_star) for column in table.columns.values()])
    assert not found.undecided.any()
    return list(map(bool, found.unique[found.box_of_row]))


intervals = st.tuples(st.integers(0, 6), st.integers(0, 3)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[intervals] * width), min_size=1, max_size=9)))
def test_intervals(rows: list[tuple[tuple[int, int], ...]]) -> None:
    columns = {f"c{index}": [text(*row[index]) for row in rows] for index in range(len(rows[0]))}
    expected = brute.unique_boxes([[set(range(low, high + 1)) for low, high in row] for row in rows])
    assert uniques(columns) == expected


letters = st.sets(st.sampled_from("abcde"), min_size=1, max_size=3)


@given(st.lists(st.tuples(letters, letters), min_size=1, max_size=8))
def test_sets_are_never_stretched_over_what_lies_between(rows: list[tuple[set[str], set[str]]]) -> None:
    written = [["[" + ", ".join(sorted(side)) + "]" if len(side) > 1 else min(side) for side in row] for row in rows]
    columns = {f"c{index}": [row[index] for row in written] for index in range(2)}
    assert uniques(columns) == brute.unique_boxes(rows)


@given(
    st.lists(st.tuples(st.sampled_from(["*", "1", "2", "4"]), st.sampled_from(["*", "7", "8"])), min_size=1, max_size=8)
)
def test_star_is_the_whole_range_observed_or_not(rows: list[tuple[str, str]]) -> None:
    sides = []
    for index in range(2):
        known = [int(row[index]) for row in rows if row[index] != "*"]
        domain = set(range(min(known), max(known) + 1)) if known else {0}
        sides.append([domain if row[index] == "*" else {int(row[index])} for row in rows])
    expected = brute.unique_boxes(list(zip(*sides, strict=True)))
    assert uniques({"a": [row[0] for row in rows], "b": [row[1] for row in rows]}) == expected


def test_star_over_observed_values_only() -> None:
    table = read({"a": ["1", "3", "*"], "b": ["0", "0", "0"]})
    for domain, expected in (("range", [False, False, True]), ("observed", [False, False, False])):
        found = fit([as_ranges(column, "auto", False, domain) for column in table.columns.values()])  # type: ignore[arg-type]
        assert found.unique[found.box_of_row].tolist() == expected


def test_real_numbers_have_values_between_them() -> None:
    assert uniques({"x": ["[1.0;2.0]", "1.0", "2.0"]}) == [True, False, False]
    assert uniques({"x": ["[1.0;2.0]", "[1.0;1.5]", "[1.5;2.0]"]}) == [False, False, False]
    assert uniques({"x": ["[1;2]", "1", "2"]}) == [False, False, False]


def test_prefixes_of_numbers_and_of_letters() -> None:
    assert uniques({"zip": ["937**", "93701", "10001"]}) == [True, False, True]
    assert uniques({"post": ["SW1**", "SW1AA", "SW", "SW1"]}) == [True, False, True, True]
    assert uniques({"zip": ["937**", "93***", "93701"]}) == [False, True, False]


def test_dates_are_ranges_of_days() -> None:
    assert uniques({"day": ["[2020-01-31;2020-02-01]", "2020-01-31", "2020-02-01"]}) == [False, False, False]
    assert uniques({"day": ["[2020-01-30;2020-02-01]", "2020-01-30", "2020-02-01"]}) == [True, False, False]


def test_codes_with_leading_zeros_are_not_numbers() -> None:
    """`05` and `5` are two codes; read as numbers they would cover each other."""
    assert uniques({"code": ["05", "5", "[7;8]"]}) == [True, True, True]
    assert uniques({"code": ["05", "5", "*"]}) == [False, False, False]


def test_texts_that_mean_one_range_cover_each_other_and_are_two_classes() -> None:
    """Two texts are two classes, always; ranges serve coverage only (SPEC 4b)."""
    ranges = as_ranges(read({"a": ["5", "[5;5]", "[4;6]", "[4-6]"]})["a"], "auto", False)
    assert len(set(ranges.codes.tolist())) == 4
    assert uniques({"a": ["5", "[5;5]", "7"]}) == [False, False, True]


def test_forms_are_found_and_raw_text_is_left_alone() -> None:
    def forms(values: list[str], mode: Any = "auto") -> tuple[str, ...]:
        return forms_in(read({"x": values})["x"], mode)

    assert forms(["[1;2]", "937**", "[a, b]", "*"]) == ("interval", "prefix", "set", "star")
    assert forms(["20-29", "555-1234", "61XXX", "plain [text]", "C**plus"]) == ()
    assert forms(["20-29"], "yes") == ("interval",)
    assert forms(["61XXX"], "yes") == ("prefix",)
    assert forms(["[1;2]", "*"], "no") == ()


def test_an_interval_that_ends_before_it_starts_is_text() -> None:
    assert forms_in(read({"x": ["[9;2]"]})["x"], "auto") == ()


@given(
    st.lists(
        st.tuples(*[st.sampled_from([None, 1, 2])] * 3).filter(lambda row: any(value is not None for value in row)),
        min_size=1,
        max_size=10,
    )
)
def test_wildcards_match_whatever_they_meet(rows: list[tuple[int | None, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.Int64), orient="row")
    table = read(frame)
    found = match(table.select(["a", "b", "c"]))
    by_row = sorted(np.repeat(found.matches, found.records).tolist())
    assert by_row == sorted(brute.matches(rows))


def test_past_the_work_cap_a_record_is_undecided_and_counts_as_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two overlapping ranges cover the third together: only the exact test can tell."""
    frame = pl.DataFrame({"a": ["[0;6]", "[0;3]", "[3;6]"], "b": ["1", "1", "1"]})
    decided = shoal.risk(frame, quasi_identifiers=["a", "b"])
    assert (decided.uniques, decided.undecided) == (0, 0)
    for cap in ("MOST_CELLS_PER_RECORD", "MOST_OVERLAP_TESTS"):
        with monkeypatch.context() as patch:
            patch.setattr(boxes, cap, 0)
            capped = shoal.risk(frame, quasi_identifiers=["a", "b"])
            assert capped.undecided >= 1
            assert capped.uniques >= capped.undecided


@pytest.mark.parametrize("cap", ["MOST_LOOKUPS", "MOST_LEVEL_CELLS"])
@given(rows=st.lists(st.tuples(intervals, intervals), min_size=1, max_size=9))
def test_without_look_ups_the_answer_is_the_same(cap: str, rows: list[tuple[tuple[int, int], ...]]) -> None:
    columns = {f"c{index}": [text(*row[index]) for row in rows] for index in range(2)}
    expected = uniques(columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes, cap, 0)
        assert uniques(columns) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["[10;19]", "[10;19]", "100", "90+", "90+"], 1),
        (["20", "29", "[20;29]", "unknown", "unknown"], 1),
        (["93700", "93799", "937**", "unknown", "unknown"], 1),
        (["100", "199", "1**", "05", "05", "5", "5"], 1),
        (["1**", "1**", "15", "05", "05", "5", "5"], 1),
        (["[01/01/2020;31/12/2020]", "15/06/2020", "15/06/2021"], 3),
        (["[5;10]", "[5;10]", "90+", "90+"], 0),
        (["2020-01-05", "[2020-01-01;2020-12-31]", "later", "later"], 1),
    ],
)
def test_words_among_numbers_lie_neither_below_nor_above_them(values: list[str], expected: int) -> None:
    assert sum(uniques({"x": values})) == expected


def test_a_range_covered_by_a_thousand_points() -> None:
    assert sum(uniques({"x": ["[0;999]", *map(str, range(1000))]})) == 0
    assert sum(uniques({"x": ["[0;999]", *map(str, range(999))]})) == 1


def test_golden_cases_of_eq_1(golden: Any) -> None:
    for case in golden["eq1_cases"]:
        width = len(case["boxes"][0])
        columns = {f"c{index}": [text(*box[index]) for box in case["boxes"]] for index in range(width)}
        assert uniques(columns) == case["unique"], case["name"]


@pytest.mark.parametrize("rule", ["R1", "R2"])
def test_golden_masking_of_table_s3(golden: Any, rule: str) -> None:
    case = golden["masking_tableS3"][rule]
    columns = {f"c{index}": [text(*box[index]) for box in case["boxes"]] for index in range(7)}
    assert uniques(columns) == case["unique"]


def test_a_chain_of_masks_at_scale_agrees_with_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The look-ups by pattern and the subtraction of boxes are two ways to the same answer."""
    rng = np.random.default_rng(5)
    ages, zips, level = rng.integers(0, 30, 400), rng.integers(93000, 95000, 400), rng.integers(0, 3, 400)
    frame = {
        "age": [
            str(age) if step == 0 else text(age // 10 * 10, age // 10 * 10 + 9)
            for age, step in zip(ages.tolist(), level, strict=True)
        ],
        "zip": [
            f"{code // 100}**" if step == 2 else str(code) for code, step in zip(zips.tolist(), level, strict=True)
        ],
    }
    fast = uniques(frame)
    nothing = lambda self, found: (np.zeros(len(found), bool), np.ones(len(found), bool))  # noqa: E731
    monkeypatch.setattr(boxes._Boxes, "inside_another", nothing)
    monkeypatch.setattr(boxes._Boxes, "covered_at_witnesses", lambda self, found: np.ones(len(found), bool))
    assert uniques(frame) == fast
    assert 0 < sum(fast) < 400


@pytest.mark.parametrize("values", [5, 300, 70_000])
def test_ends_of_clusters_by_a_loop(values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop finds what numpy finds, also where values are missing."""
    draw = np.random.default_rng(2)
    drawn = [None if value == 0 else int(value) for value in draw.integers(0, values, 80_000)]
    columns = read({"age": [*range(values), *drawn]}).select(["age"])
    rows = values + 80_000
    order, starts = draw.permutation(rows), np.append(0, np.unique(draw.integers(1, rows, 20_000)))
    expected = boxed.box_clusters(columns, order, starts).sides["age"]
    monkeypatch.setattr(boxed, "_MANY", 1)
    found = boxed.box_clusters(columns, order, starts).sides["age"]
    assert (found.low == expected.low).all()
    assert (found.high == expected.high).all()
    assert (found.missing == expected.missing).all()
    assert found.low.dtype == expected.low.dtype


def test_a_null_read_as_a_wildcard_is_the_star_that_stands_there() -> None:
    column = read({"a": ["*", "x", "y", None]})["a"]
    assert len(set(as_texts(column, False, True).codes[[0, 3]].tolist())) == 1
    assert len(set(as_texts(column, False, False).codes.tolist())) == 4


def test_a_column_of_stars_alone_is_one_atom() -> None:
    ranges = as_ranges(read({"a": ["*", "*"]})["a"], "auto", False)
    assert (ranges.atoms, ranges.low.tolist(), ranges.high.tolist(), ranges.star.tolist()) == (1, [0], [0], [True] * 2)
