"""What is declared a number or a date is the number or the date that stands there, to its last digit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal

COMMA = {"type": "number", "decimal": ","}
RANGES = {"[3.337,60;3.400,00]", "[12,50;13,00]"}
MOMENT = {"type": "date", "format": "%Y-%m-%d %H:%M:%S%.f"}


def made(texts: list[str], declared: object, method: str = "mondrian") -> shoal.Anonymized:
    people = pl.DataFrame({"x": texts})
    policy = {"columns": {"x": "quasi-identifier"}, "types": {"x": declared}} if declared else {}
    return shoal.anonymize(people, policy, k=2, method=method)


@pytest.mark.parametrize(
    ("texts", "declared"),
    [
        (["9.007.199.254.740.993", "9.007.199.254.740.992", "1", "1,5"], COMMA | {"thousands": "."}),
        (["18446744073709551616", "18446744073709551617", "1", "2"], COMMA),
        (["18446744073709551616", "18446744073709551617", "1", "2"], "number"),
        (["0,12345678901234567", "0,12345678901234568", "1,5", "1,5"], COMMA),
        (["2021-01-01 10:00:00.123456789"] * 2 + ["2021-01-01 10:00:00.123456999"] * 2, MOMENT),
    ],
)
def test_digits_that_would_be_lost_are_refused(texts: list[str], declared: object) -> None:
    with pytest.raises(shoal.InputError, match=r"more digits|finer than microseconds"):
        made(texts, declared)


def test_moments_with_nanoseconds_stay_texts_where_nothing_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("x\n2021-01-01 10:00:00.123456789\n2021-01-01 10:00:00.5\n2021-01-01 10:00:00.500000000\n")
    from shoal.storage.reading import read

    assert read(path)["x"].values.dtype == pl.String
    path.write_text("x\n2021-01-01 10:00:00.123456\n2021-01-01 10:00:00.5\n")
    assert read(path)["x"].values.dtype == pl.Datetime("us")


@pytest.mark.parametrize(
    ("texts", "declared", "shown"),
    [
        (["0,00000001", "0,00000001", "1,5", "1,5"], COMMA, {"0,00000001", "1,5"}),
        (["0,00000001", "0,00000002", "1,5", "1,6"], COMMA, {"[0,00000001;0,00000002]", "[1,5;1,6]"}),
        (["3.337,60", "3.337,60", "12,50", "12,50"], COMMA | {"thousands": "."}, {"3.337,60", "12,50"}),
        (["3.337,60", "3.400,00", "12,50", "13,00"], COMMA, None),
        (["3.337,60", "3.400,00", "12,50", "13,00"], COMMA | {"thousands": "."}, RANGES),
        (["3.337,60", "3.400,00", "12,50", "13,00"], {"type": "number", "thousands": "."}, RANGES),
    ],
)
def test_numbers_are_written_as_they_were(
    tmp_path: Path, texts: list[str], declared: object, shown: set[str] | None
) -> None:
    if shown is None:
        with pytest.raises(shoal.InputError):
            made(texts, declared)
        return
    result, path = made(texts, declared), tmp_path / "safe.csv"
    shoal.release(result, path)
    assert set(result.frame["x"]) == shown
    policy = {
        "columns": {"x": "quasi-identifier"},
        "types": {"x": declared},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    for given in (None, policy):
        assert shoal.verify(path, given, original=pl.DataFrame({"x": texts})).verdict == "holds"
