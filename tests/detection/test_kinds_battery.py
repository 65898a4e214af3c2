"""What every recogniser must stand: odd columns, any order of the values, and silence about the values."""

import datetime as dt
import random
import subprocess
import sys
from decimal import Decimal

import labelled_makers as m
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_columns import as_view, columns

from shoal.identifiers import RECOGNISERS, ROLE_OF_KIND, ColumnView, Finding, find_kinds
from shoal.identifiers.column import ColumnEvidence

ODD = {
    "empty": pl.Series([], dtype=pl.String),
    "empty numbers": pl.Series([], dtype=pl.Int64),
    "all null": pl.Series([None, None], dtype=pl.String),
    "null type": pl.Series([None, None]),
    "one value": pl.Series(["x"]),
    "blank": pl.Series(["", " ", "\t"]),
    "huge ints": pl.Series([2**63 - 1, -(2**63), 0]),
    "unsigned": pl.Series([2**64 - 1, 1], dtype=pl.UInt64),
    "huge texts of digits": pl.Series(["9" * 5_000, "1" * 400]),
    "floats": pl.Series([1e308, -1e308, float("nan"), float("inf"), 5e-324, 0.0]),
    "decimals": pl.Series([Decimal("1.50"), Decimal("2.00")]),
    "booleans": pl.Series([True, False, None]),
    "dates": pl.Series([dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "moments": pl.Series([dt.datetime(1970, 1, 1), dt.datetime(2030, 1, 1)]).dt.replace_time_zone("UTC"),
    "times": pl.Series([dt.time(1, 2, 3)]),
    "durations": pl.Series([dt.timedelta(days=3)]),
    "categories": pl.Series(["a", "b"], dtype=pl.Categorical),
    "lists": pl.Series([[1, 2], [3]]),
    "structs": pl.Series([{"a": 1}]),
    "bytes": pl.Series([b"\x00\xff"]),
    "scripts": pl.Series(["東京", "Ἀθῆναι", "القاهرة", "١٢٣٤٥٦٧٨٩", "\u200b\u202e", "é" * 50, "👩‍👩‍👧", "\x00"]),
    "long texts": pl.Series(["a" * 100_000, "a-" * 50_000, "1 " * 50_000, "A1" * 50_000, "@." * 50_000]),
    "near misses": pl.Series(["@", "a@", "://", "+", "()", "1.2.3.4.5", "::", "--", "0000-00-00", "99/99/9999"]),
}
HEADERS = (
    "", "email", "phone", "dob", "zip", "ssn", "nome", "age", "lat", "iban", "mac", "notes", "sex", "vin", "income",
    "id",
    "\x00", "x" * 5_000, "日付",
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_every_recogniser_stands_odd_columns(odd: str) -> None:
    for header in HEADERS:
        column = ColumnEvidence(as_view(header, ODD[odd]))
        for name, recognise in RECOGNISERS.items():
            for found in recognise(column):
                assert isinstance(found, Finding), name
                assert 0 <= found.confidence <= 1, name
                assert found.share is None or 0 <= found.share <= 1, name
                assert found.kind in ROLE_OF_KIND, name


@pytest.mark.parametrize(
    "odd", ["empty", "empty numbers", "all null", "null type", "lists", "structs", "bytes", "blank"]
)
def test_nothing_is_found_where_nothing_is(odd: str) -> None:
    assert all(find_kinds(as_view(header, ODD[odd])) == [] for header in HEADERS)


def shuffled(view: ColumnView, seed: int) -> ColumnView:
    order = list(range(len(view.values)))
    random.Random(seed).shuffle(order)
    return ColumnView(view.name, view.values.gather(order), view.counts[order], view.records)


def test_the_order_of_the_values_changes_nothing() -> None:
    for case in columns()[::4]:
        assert find_kinds(case.view) == find_kinds(shuffled(case.view, 3)), case.case


def test_the_order_changes_nothing_in_a_large_column() -> None:
    source = random.Random(5)
    view = as_view("contact", pl.Series([m.email()(source) for _ in range(30_000)]))
    assert find_kinds(view) == find_kinds(shuffled(view, 3))


def test_findings_are_sorted_and_one_per_kind() -> None:
    for case in columns()[::3]:
        found = find_kinds(case.view)
        assert [f.confidence for f in found] == sorted((f.confidence for f in found), reverse=True)
        assert len({f.kind for f in found}) == len(found)


SECRETS = st.one_of(
    # Qzx opens no word of ours, so that a word of a reason cannot be drawn as a value by chance.
    st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", max_size=20).map("Qzx".__add__),
    st.integers(10**11, 10**17).map(str),
    st.emails(),
    st.dates(dt.date(1900, 1, 1)).map(str),
    st.from_regex(r"\A\+39 3[0-9]{2} [0-9]{7}\Z"),
    st.ip_addresses().map(str).filter(lambda text: len(text) > 6),
    st.uuids().map(str),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(SECRETS, min_size=1, max_size=20, unique=True), st.sampled_from(HEADERS))
def test_no_value_of_the_data_is_told(values: list[str], header: str) -> None:
    view = as_view(header, pl.Series(values))
    told = repr(find_kinds(view)) + repr(view)
    assert not [value for value in values if value in told.replace(repr(header), "")]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.text(), st.none()), max_size=30), st.text(max_size=30))
def test_any_text_under_any_header_is_answered(values: list[str | None], header: str) -> None:
    view = as_view(header, pl.Series(values, dtype=pl.String))
    assert find_kinds(view) == find_kinds(view)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=64), max_size=30), st.sampled_from(HEADERS))
def test_any_numbers_are_answered(values: list[float], header: str) -> None:
    find_kinds(as_view(header, pl.Series(values, dtype=pl.Float64)))


PROGRAM = """
import random, sys
import numpy as np, polars as pl
from shoal.identifiers import ColumnView, find_kinds
assert "stdnum" not in sys.modules and "phonenumbers" not in sys.modules
source = random.Random(1)
values = pl.Series([f"{source.randrange(10**10):010d}" for _ in range(9_000)]).unique()
print(find_kinds(ColumnView("patient phone id", values, np.ones(len(values), dtype=np.int64), 9_000)))
"""


def test_the_import_is_light_and_answers_agree_between_processes() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    assert "Finding" in answers.pop()


def test_counts_may_be_of_any_whole_type() -> None:
    view = ColumnView("email", pl.Series(["a@b.org"]), np.array([3], dtype=np.uint32), 3)
    assert find_kinds(view)[0].kind == "email"
