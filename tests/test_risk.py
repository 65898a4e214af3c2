"""Identity risk: hand-checked tables, the traps of other tools, the course's examples, laws."""

from __future__ import annotations

import math
import random
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute
import shoal
from shoal.errors import InputError
from shoal.exposure import NAMED, find_threshold
from shoal.reproduction.course_printed import handout


def test_a_table_checked_by_hand() -> None:
    """Classes: (1,a) x3, (1,b) x1, (2,a) x2."""
    frame = pl.DataFrame({"x": [1, 1, 1, 1, 2, 2], "y": ["a", "a", "a", "b", "a", "a"]})
    found = shoal.risk(frame, quasi_identifiers=["x", "y"], threshold=0.4)
    assert (found.records, found.classes, found.uniques, found.k, found.removed_rows) == (6, 3, 1, 1, 0)
    assert found.uniqueness == 1 / 6
    assert [(entry.size, entry.classes, entry.records) for entry in found.histogram] == [
        (1, 1, 1),
        (2, 1, 2),
        (3, 1, 3),
    ]
    assert found.prosecutor.highest == 1
    assert found.prosecutor.average == found.marketer.average == 3 / 6
    assert found.prosecutor.share_over_threshold == 3 / 6
    assert found.journalist is None
    assert found.persons is None
    assert found.knowledge is None


def test_counts_stand_for_records() -> None:
    table = pl.DataFrame({"x": ["a", "b", "a", "c"], "n": [1, 1, 4, 0]})
    found = shoal.risk(table, quasi_identifiers=["x"], count="n")
    rows = shoal.risk(pl.DataFrame({"x": ["a"] * 5 + ["b"]}), quasi_identifiers=["x"])
    assert (found.records, found.classes, found.uniques, found.histogram) == (
        rows.records,
        rows.classes,
        rows.uniques,
        rows.histogram,
    )


def test_persons_are_counted_by_their_whole_history() -> None:
    """Anna and Carl have the visits {1, 2}; Bea has {1, 1}: one class of two persons and one of one."""
    visits = pl.DataFrame({"who": ["anna", "bea", "carl", "anna", "bea", "carl"], "ward": [1, 1, 2, 2, 1, 1]})
    found = shoal.risk(visits, quasi_identifiers=["ward"], person="who")
    assert (found.records, found.persons, found.classes, found.uniques, found.k) == (6, 3, 2, 1, 1)
    assert found.uniqueness == 1 / 3
    assert shoal.risk(visits, quasi_identifiers=["ward"]).k == 2


def test_a_journalist_looks_in_the_population() -> None:
    """In the population: a x4, b x2, c x1. The sample holds a x2, b x1, and d, whom the population misses."""
    sample = pl.DataFrame({"x": ["a", "a", "b", "d"]})
    people = pl.DataFrame({"x": ["a", "b", "c"], "n": [4, 2, 1]})
    found = shoal.risk(sample, quasi_identifiers=["x"], population=people, population_count="n", threshold=0.4)
    assert found.journalist is not None
    assert found.population_table is not None
    assert found.journalist.highest == 1
    assert found.journalist.average == pytest.approx((2 / 4 + 1 / 2 + 1 / 1) / 4)
    assert found.journalist.share_over_threshold == 2 / 4
    assert (found.population_table.records, found.population_table.classes_not_found) == (7, 1)
    assert found.prosecutor.average == pytest.approx(3 / 4)
    assert found.marketer == found.journalist


def test_a_population_of_another_type_is_refused() -> None:
    with pytest.raises(InputError, match="fractions in one table"):
        shoal.risk(pl.DataFrame({"x": [1.5]}), quasi_identifiers=["x"], population=pl.DataFrame({"x": ["1.5"]}))


def test_codes_are_compared_as_text_where_one_file_keeps_their_zeros() -> None:
    """A CSV of ZIP codes without leading zeros reads as integers, one with them as text."""
    sample, people = pl.DataFrame({"zip": [93701, 93702]}), pl.DataFrame({"zip": ["93701", "93701", "93702", "00501"]})
    found = shoal.risk(sample, quasi_identifiers=["zip"], population=people)
    assert found.population_table is not None
    assert found.journalist is not None
    assert (found.population_table.classes_not_found, found.journalist.average) == (0, 0.75)


def test_a_population_with_nulls_counts_null_as_a_value() -> None:
    sample, people = pl.DataFrame({"x": [None, 1]}), pl.DataFrame({"x": [None, None, 1, 2]})
    found = shoal.risk(sample, quasi_identifiers=["x"], population=people).journalist
    assert found is not None
    assert found.average == pytest.approx((1 / 2 + 1) / 2)


def test_every_combination_of_knowledge() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 2]})
    found = shoal.risk(frame, knowledge={"first": ["a"], "rest": ["b", "c"]})
    assert found.quasi_identifiers == ["a", "b", "c"]
    assert [(entry.groups, entry.uniques) for entry in found.knowledge or []] == [
        (["first"], 0),
        (["rest"], 2),
        (["first", "rest"], 4),
    ]


def test_named_thresholds() -> None:
    assert {name: threshold.value for name, threshold in NAMED.items()} == {
        "ema": 0.09,
        "health-canada": 0.09,
        "public": 0.05,
        "trusted": 0.33,
        "cms": 1 / 11,
    }
    smallest = {name: math.ceil(1 / threshold.value - 1e-12) for name, threshold in NAMED.items()}
    for name, size in smallest.items():
        for records, over in ((size - 1, True), (size, False)):
            assert (
                shoal.risk(pl.DataFrame({"a": [1] * records}), quasi_identifiers=["a"], threshold=name).over_threshold
                is over
            )
    assert smallest == {"ema": 12, "health-canada": 12, "public": 20, "trusted": 4, "cms": 11}


@pytest.mark.parametrize("given_value", ["0", "1.01", "nan", "-1", "eema", ""])
def test_a_threshold_is_a_share_or_a_name(given_value: str) -> None:
    with pytest.raises(InputError, match="Threshold"):
        find_threshold(given_value)


# traps of today's tools (SPEC 5)


def test_a_missing_quasi_identifier_never_drops_a_row() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 1, None]})
    value = shoal.risk(frame, quasi_identifiers=["a"])
    assert (value.k, value.records, value.uniques, value.null_rule) == (1, 5, 1, "value")
    wildcard = shoal.risk(frame, quasi_identifiers=["a"], null_rule="wildcard")
    assert (wildcard.k, wildcard.records, wildcard.suppressed_rows, wildcard.uniques) == (4, 5, 1, 0)
    dropped = shoal.risk(frame, quasi_identifiers=["a"], null_rule="drop")
    assert (dropped.k, dropped.records, dropped.removed_rows) == (4, 4, 1)


def test_row_labels_are_not_positions() -> None:
    frame = pd.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "x", "y", "y"]})
    expected = shoal.risk(frame, quasi_identifiers=["a", "b"]).to_dict()
    for labels in ([3, 1, 0, 2], [7, 7, 7, 7], list("wxyz")):
        assert shoal.risk(frame.set_axis(labels), quasi_identifiers=["a", "b"]).to_dict() == expected


def test_strict_and_wildcard_readings_stand_apart() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 2], "b": ["x", "x", None, "y", "y"]})
    found = shoal.risk(frame, quasi_identifiers=["a", "b"], null_rule="wildcard")
    assert (found.k, found.uniques) == (2, 0)
    assert (found.readings["strict"].k, found.readings["strict"].uniques) == (1, 1)
    # read as the whole range, (1, *) holds the point (1, y) that no other record covers
    assert found.readings["fitting"].uniques == 1


def test_rows_suppressed_everywhere_cover_nobody() -> None:
    frame = pl.DataFrame({"a": ["1", "2", "2", "*"], "b": ["x", "y", "y", "*"]})
    found = shoal.risk(frame, quasi_identifiers=["a", "b"])
    assert (found.records, found.suppressed_rows, found.uniques, found.k) == (4, 1, 1, 1)
    assert found.prosecutor.average == pytest.approx(2 / 3)
    everything = shoal.risk(pl.DataFrame({"a": ["*", "*"]}), quasi_identifiers=["a"])
    assert (everything.suppressed_rows, everything.uniques, everything.classes) == (2, 0, 0)


def test_generalised_text_is_read_as_ranges_or_raw() -> None:
    frame = pl.DataFrame({"age": ["[20;29]", "25", "25", "61"]})
    ranges, raw = (
        shoal.risk(frame, quasi_identifiers=["age"]),
        shoal.risk(frame, quasi_identifiers=["age"], generalized="no"),
    )
    assert ranges.generalized == {"age": ("interval",)}
    assert (ranges.uniques, raw.uniques, raw.generalized) == (2, 2, {})
    covered = pl.DataFrame({"age": ["[20;29]", "25", "61", "61"]})
    assert shoal.risk(covered, quasi_identifiers=["age"]).uniques == 1
    assert shoal.risk(covered, quasi_identifiers=["age"], generalized="no").uniques == 2


def test_persons_whose_rows_are_all_suppressed_stand_in_no_class() -> None:
    """Person 1 is suppressed; 2 has a box and a suppressed row, 3 the same box only: they differ."""
    rows = [(1, "*", "*"), (1, "*", "*"), (2, "[1;2]", "x"), (2, "*", "*"), (3, "[1;2]", "x")]
    frame = pl.DataFrame(rows, schema=["p", "a", "b"], orient="row")
    found = shoal.risk(frame, quasi_identifiers=["a", "b"], person="p", knowledge={"k": ["a"], "l": ["b"]})
    assert (found.persons, found.classes, found.uniques, found.suppressed_rows) == (3, 2, 2, 3)
    assert found.uniqueness == pytest.approx(2 / 3)
    assert (found.knowledge or [])[-1].uniqueness == found.uniqueness


def test_where_everything_is_suppressed_nothing_is_certified() -> None:
    policy = shoal.Policy(models=[{"model": "k-anonymity", "k": 2}])  # type: ignore[list-item]
    found = shoal.risk(pl.DataFrame({"a": ["*", "*"]}), quasi_identifiers=["a"], policy=policy)
    assert not found.models[0].holds
    assert "no class to measure" in found.summary()


@pytest.mark.parametrize(
    "arguments",
    [
        {"null_rule": "foo"},
        {"generalized": "maybe"},
        {"generalized": "auto", "domain": "zz"},  # type: ignore[arg-type]
        {"threshold": [1]},
        {"knowledge": ["a"]},
    ],
)
def test_unknown_words_are_refused_in_python_too(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        shoal.risk(pl.DataFrame({"a": [1]}), quasi_identifiers=["a"], **arguments)


def test_one_name_is_one_column() -> None:
    assert shoal.risk(pl.DataFrame({"age": [1, 2]}), quasi_identifiers="age").quasi_identifiers == ["age"]
    assert shoal.risk(pd.DataFrame({0: [1, 2]}), quasi_identifiers=[0]).quasi_identifiers == ["0"]  # type: ignore[list-item]


def test_persons_with_generalised_records() -> None:
    frame = pl.DataFrame({"who": [1, 1, 2, 2, 3], "age": ["[20;29]", "30", "30", "[20;29]", "*"]})
    found = shoal.risk(frame, quasi_identifiers=["age"], person="who")
    assert (found.persons, found.suppressed_rows, found.k, found.uniques) == (3, 1, 2, 0)


# the course's worked examples, from its hand-outs, which tests/papers/test_print.py compares with the slides


def test_the_five_record_table_is_not_2_anonymous_until_a_record_goes() -> None:
    known = ["sex", "age", "zip"]
    for mode in ("auto", "yes", "no"):
        assert shoal.risk(handout("five-records.csv"), quasi_identifiers=known, generalized=mode).k == 1  # type: ignore[arg-type]
        assert shoal.risk(handout("four-records.csv"), quasi_identifiers=known, generalized=mode).k == 2  # type: ignore[arg-type]


def test_five_records_alike_are_5_anonymous_and_nine_are_2_anonymous() -> None:
    assert shoal.risk(handout("two-diverse.csv"), quasi_identifiers=["sex", "age", "zip"]).k == 5
    nine = shoal.risk(handout("nine-records.csv"), quasi_identifiers=["sex", "age"], sensitive="diagnosis")
    assert (nine.k, nine.classes, nine.sensitive[0].l_distinct) == (2, 4, 1)


# bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "No quasi-identifiers"),
        ({"quasi_identifiers": ["aa"]}, "no column 'aa'"),
        ({"quasi_identifiers": ["a"], "count": "negative"}, "negative numbers"),
        ({"quasi_identifiers": ["a"], "count": "empty"}, "is empty in 1 rows"),
        ({"quasi_identifiers": ["a"], "count": "half"}, "no counts"),
        ({"quasi_identifiers": ["a"], "count": "text"}, "does not hold numbers"),
        ({"quasi_identifiers": ["a"], "count": "zero"}, "zero in every row"),
        ({"quasi_identifiers": ["a"], "count": "a"}, "counted and compared"),
        ({"quasi_identifiers": ["a"], "person": "empty"}, "whose records"),
        ({"quasi_identifiers": ["a"], "person": "text", "count": "zero"}, "exclude each other"),
        ({"quasi_identifiers": ["empty"], "person": "text", "null_rule": "wildcard"}, "no meaning for persons"),
        ({"quasi_identifiers": ["none"], "null_rule": "drop"}, "nothing is left"),
        ({"knowledge": {"g": []}, "quasi_identifiers": ["a"]}, "has no columns"),
        ({"knowledge": {str(index): ["a"] for index in range(13)}}, "too many combinations"),
        ({"quasi_identifiers": ["a"], "population": None, "population_count": "n"}, "no population"),
        (
            {"quasi_identifiers": ["empty"], "null_rule": "wildcard", "population": pl.DataFrame({"empty": [1]})},
            "equal values",
        ),
    ],
)
def test_bad_input_is_refused_with_a_cure(arguments: dict[str, Any], message: str) -> None:
    frame = pl.DataFrame(
        {
            "a": [1, 2],
            "negative": [1, -1],
            "empty": [1, None],
            "half": [1.5, 1],
            "text": ["x", "y"],
            "zero": [0, 0],
            "none": pl.Series([None, None], dtype=pl.Int64),
        }
    )
    with pytest.raises(InputError, match=message) as error:
        shoal.risk(frame, **arguments)
    assert error.value.cure


# laws

table = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 3))] * width), min_size=1, max_size=30)
)


def frame_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={f"c{index}": pl.Int64 for index in range(len(rows[0]))}, orient="row")


@given(table)
def test_classes_are_those_of_plain_counting(rows: list[tuple[Any, ...]]) -> None:
    found = shoal.risk(frame_of(rows), quasi_identifiers=[f"c{index}" for index in range(len(rows[0]))])
    sizes = brute.class_sizes(rows)
    assert (found.classes, found.k, found.uniques) == (len(sizes), min(sizes), sizes.count(1))
    assert sum(entry.records for entry in found.histogram) == len(rows)
    assert found.prosecutor.average == pytest.approx(len(sizes) / len(rows))


@given(table, st.randoms(use_true_random=False), st.sampled_from(["value", "wildcard", "drop"]))
def test_row_and_column_order_and_type_change_nothing(
    rows: list[tuple[Any, ...]], rnd: random.Random, rule: Any
) -> None:
    frame = frame_of(rows)
    names = frame.columns
    try:
        expected = shoal.risk(frame, quasi_identifiers=names, null_rule=rule).to_dict()
    except InputError:  # drop leaves nothing
        return
    shuffled = rows.copy()
    rnd.shuffle(shuffled)
    variants = [
        frame_of(shuffled),
        frame.cast(pl.Int8),
        frame.cast(pl.Float32),
        frame.to_pandas(),
        frame.to_arrow(),
        frame.lazy(),
    ]
    for variant in variants:
        assert shoal.risk(variant, quasi_identifiers=names, null_rule=rule).to_dict() == expected
    # as text the values are leaves, not numbers: the fitting reading knows no value between them
    text = shoal.risk(frame.cast(pl.String), quasi_identifiers=names, null_rule=rule).to_dict()
    assert {**text, "readings": expected["readings"]} == expected
    turned = shoal.risk(frame, quasi_identifiers=names[::-1], null_rule=rule).to_dict()
    assert {**turned, "quasi_identifiers": names, "missing": expected["missing"]} == expected


@given(table)
def test_one_more_column_never_lowers_uniques_nor_raises_k(rows: list[tuple[Any, ...]]) -> None:
    frame = frame_of(rows)
    found = [shoal.risk(frame, quasi_identifiers=frame.columns[:width]) for width in range(1, frame.width + 1)]
    for fewer, more in pairwise(found):
        assert fewer.uniques <= more.uniques
        assert fewer.k >= more.k
        assert fewer.classes <= more.classes


@given(table, st.integers(1, 4))
def test_coarser_never_lowers_k(rows: list[tuple[Any, ...]], width: int) -> None:
    frame = frame_of(rows)
    coarse = frame.select(pl.all() // width)
    assert shoal.risk(coarse, quasi_identifiers=frame.columns).k >= shoal.risk(frame, quasi_identifiers=frame.columns).k


@given(table)
def test_wildcards_only_ever_match_more(rows: list[tuple[Any, ...]]) -> None:
    frame = frame_of(rows)
    strict, wildcard = (
        shoal.risk(frame, quasi_identifiers=frame.columns),
        shoal.risk(frame, quasi_identifiers=frame.columns, null_rule="wildcard"),
    )
    known = [row for row in rows if any(value is not None for value in row)]
    sizes = brute.matches(known)
    assert wildcard.suppressed_rows == len(rows) - len(known)
    if known:
        assert wildcard.k == min(sizes)
        assert wildcard.uniques == sizes.count(1) <= strict.uniques
        assert wildcard.k >= strict.k or not known


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=12))
def test_counts_and_repeated_rows_are_the_same_table(rows: list[tuple[int, int, int]]) -> None:
    counted = pl.DataFrame(rows, schema=["a", "b", "n"], orient="row")
    repeated = pl.DataFrame([row[:2] for row in rows for _ in range(row[2])], schema=["a", "b"], orient="row")
    assert (
        shoal.risk(counted, quasi_identifiers=["a", "b"], count="n").to_dict()
        == shoal.risk(repeated, quasi_identifiers=["a", "b"]).to_dict()
    )


@given(table.map(lambda rows: [tuple(v or 0 for v in row) for row in rows]))
def test_pycanon_counts_the_same_k(rows: list[tuple[int, ...]]) -> None:
    """An independent program, on tables without nulls (with nulls it drops rows)."""
    from pycanon import anonymity

    frame = frame_of(rows).to_pandas().assign(sensitive=0)
    names = [name for name in frame.columns if name != "sensitive"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its use of pandas, not ours
        expected = anonymity.k_anonymity(frame, names)
    assert shoal.risk(frame, quasi_identifiers=names).k == expected


# real data


def test_adult(data: Path) -> None:
    names = [
        "sex",
        "age",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    ]
    found = shoal.risk(data / "adult" / "adult.csv", quasi_identifiers=names)
    assert (found.records, found.classes, found.uniques) == (30_162, 19_502, 15_512)


def test_sdcmicro_testdata(data: Path) -> None:
    names = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    found = shoal.risk(data / "sdcmicro" / "testdata.csv", quasi_identifiers=names)
    assert (found.records, found.classes) == (4580, 412)
    for k, below in ((2, 157), (3, 281), (5, 458)):
        assert sum(entry.records for entry in found.histogram if entry.size < k) == below


def test_valle_d_aosta_as_a_table_of_counts(data: Path) -> None:
    counts = data / "italy" / "valle_aosta_qid_counts.parquet"
    names = ["anno_nascita", "comune_residenza", "sesso"]
    found = shoal.risk(counts, quasi_identifiers=names, count="n", null_rule="drop")
    assert (found.records, found.removed_rows, found.uniques, found.classes) == (87_464, 178, 1684, 9174)


@pytest.mark.parametrize("rows", [1000, 100_000])
def test_golden_knowledge_of_the_discharge_table(golden: Any, rows: int) -> None:
    from shoal.reproduction.sample.discharges import CENSUS, SPATIAL, TEMPORAL

    frame = shoal.sample_data("discharges", rows, seed=0)
    found = shoal.risk(frame, knowledge={"C": CENSUS, "S": SPATIAL, "T": TEMPORAL})
    assert {"".join(entry.groups): entry.uniques for entry in found.knowledge or []} == golden["spd_like"][str(rows)][
        "eq1"
    ]
    assert found.uniques == golden["spd_like"][str(rows)]["eq1"]["CST"]
