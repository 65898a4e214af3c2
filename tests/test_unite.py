"""Values of several files in one dictionary: none is taken for another, and no change of one is certified."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.releases.original import equal_columns
from shoal.storage.encode import encode
from shoal.storage.unite import unite

UNITS = ("ms", "us", "ns")


def units_per_second(unit: str) -> int:
    return {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]


@pytest.mark.parametrize("kind", [pl.Datetime, pl.Duration])
@given(
    st.lists(st.tuples(st.sampled_from(UNITS), st.integers(-(10**12), 10**12)), min_size=1, max_size=12),
)
def test_moments_and_spans_of_different_units_are_equal_where_they_are(
    kind: type, drawn: list[tuple[str, int]]
) -> None:
    series = [pl.Series([number]).cast(kind(unit)) for unit, number in drawn]
    exact = [number * 10**9 // units_per_second(unit) for unit, number in drawn]
    values, codes = unite(series)
    assert len(values) == len(set(exact))
    assert [sorted(set(exact)).index(number) for number in exact] == codes.tolist()


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1), st.lists(st.floats(-1e18, 1e18), min_size=1))
def test_integers_and_floats_are_equal_where_they_are(integers: list[int], floats: list[float]) -> None:
    floats = [number + 0.0 for number in floats]
    values, codes = unite([pl.Series(integers, dtype=pl.Int64), pl.Series(floats, dtype=pl.Float64)])
    ours, together = codes.tolist(), [*integers, *floats]
    if values.dtype == pl.String:  # no type of numbers holds them all: none may be taken for another
        pairs = [(a, b) for a in range(len(together)) for b in range(len(together)) if ours[a] == ours[b]]
        assert all(together[a] == together[b] for a, b in pairs)
    else:
        assert len(values) == len(set(together))


def test_files_with_other_units_keep_their_uniques(tmp_path: Path) -> None:
    fine = pl.Series("at", [1_000_000_000 + n for n in range(5)]).cast(pl.Datetime("ns"))
    coarse = pl.Series("at", [1_000_000] * 5).cast(pl.Datetime("us"))
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for path, series in zip(paths, (fine, coarse), strict=True):
        series.to_frame().write_parquet(path)
    found = shoal.risk(paths, quasi_identifiers=["at"])
    assert (found.classes, found.uniques, found.k) == (5, 4, 1)


def test_whole_numbers_past_floats_are_not_the_float_beside_them(tmp_path: Path) -> None:
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    pl.DataFrame({"a": [2**53 + 1]}).write_parquet(paths[0])
    pl.DataFrame({"a": [2.0**53]}).write_parquet(paths[1])
    assert shoal.risk(paths, quasi_identifiers=["a"]).uniques == 2


def changed(values: list[int], dtype: pl.DataType, other: list[int]) -> bool:
    one, two = (pl.Series("a", numbers).cast(dtype) for numbers in (values, other))
    return equal_columns(encode(one), encode(two))


def test_a_fraction_of_a_second_is_a_change() -> None:
    assert changed([0, 5], pl.Time(), [0, 5])
    assert not changed([0, 5], pl.Time(), [0, 6])
    assert not changed([0, 999_999_999], pl.Time(), [0, 0])
    assert not changed([1000, 2000], pl.Datetime("ns"), [1000, 2001])
    assert changed([1000, 2001], pl.Datetime("ns"), [1000, 2001])


def test_moments_are_the_same_in_other_units_and_not_without_their_zone() -> None:
    moments = pl.Series("a", [datetime(2020, 1, 1, 12), None, datetime(2021, 5, 5)])
    fine = encode(moments.cast(pl.Datetime("ns")))
    assert equal_columns(fine, encode(moments))
    assert equal_columns(encode(moments), fine)
    assert not equal_columns(encode(moments.dt.replace_time_zone("UTC")), encode(moments))
    zoned = moments.dt.replace_time_zone("Europe/Rome")
    assert equal_columns(encode(zoned.dt.convert_time_zone("UTC")), encode(zoned))
    assert not equal_columns(encode(moments.head(2)), encode(moments))


def test_nanoseconds_as_text_are_held_against_all_their_digits() -> None:
    whole = pl.Series("a", [1_000, 2_000]).cast(pl.Datetime("ns"))
    fine = pl.Series("a", [1_000, 2_001]).cast(pl.Datetime("ns"))
    texts = encode(whole.cast(pl.Datetime("us")).cast(pl.String))
    assert equal_columns(texts, encode(whole))
    assert not equal_columns(texts, encode(fine))


def test_spans_of_two_units_are_counted(tmp_path: Path) -> None:
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    pl.DataFrame({"a": pl.Series([1]).cast(pl.Duration("ms"))}).write_parquet(paths[0])
    pl.DataFrame({"a": pl.Series([1000]).cast(pl.Duration("us"))}).write_parquet(paths[1])
    assert shoal.risk(paths, quasi_identifiers=["a"]).k == 2
