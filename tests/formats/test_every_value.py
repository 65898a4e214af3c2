"""Values that a format has no type for are read back as they were, or refused with a way out."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.releases.write import Refused
from shoal.storage.formats.cells import exact_as_floats
from shoal.storage.reading import Options, read
from shoal.storage.writing import OutputFormat

POLICY = {"models": [{"model": "k-anonymity", "k": 2}]}
EXTENSIONS = ["csv", "tsv", "jsonl", "avro", "parquet", "feather", "xlsx", "sav", "dta", "xpt"]
AT = datetime(2020, 1, 31, 12, 30, 15, 123_456, tzinfo=UTC)
VALUES = {
    "decimals": pl.Series([Decimal("1.10"), Decimal("1.1000001"), None, Decimal(-7)], dtype=pl.Decimal(20, 7)),
    "one_long_decimal": pl.Series([Decimal("12345678901234567890.12")] * 4, dtype=pl.Decimal(38, 2)),
    "long_decimals": pl.Series([Decimal(10**20) + n for n in (0, 1, 2, 3)], dtype=pl.Decimal(38, 2)),
    "large_whole_numbers": pl.Series([2**60, 2**60 + 1, -(2**60), None]),
    "unsigned": pl.Series([2**64 - 1, 2**64 - 2, 1, None], dtype=pl.UInt64),
    "moments_with_a_zone": pl.Series([AT, AT, None, AT]).dt.convert_time_zone("Europe/Rome"),
    "milliseconds_with_a_zone": pl.Series([AT, None, AT, AT]).dt.cast_time_unit("ms"),
    "microseconds": pl.Series([AT, None, AT, AT]).dt.replace_time_zone(None),
    "nothing": pl.Series([None, None, None, None]),
}


def released(values: pl.Series | dict[str, pl.Series], path: Path, **how: object) -> None:
    columns = {"x": values} if isinstance(values, pl.Series) else values
    frame = pl.DataFrame({"sex": ["f", "m"] * 2, **columns})
    policy = {**POLICY, "columns": {**dict.fromkeys(columns, "other"), "sex": "quasi-identifier"}}
    shoal.release(shoal.anonymize(frame, policy=policy), path, force=True, **how)  # type: ignore[arg-type]
    found = shoal.verify(path, original=frame)
    assert found.holds, found.reasons()


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_value_is_read_back(tmp_path: Path, extension: str) -> None:
    if extension in ("sav", "dta", "xpt"):
        pytest.importorskip("pyreadstat", reason="the extra `survey` is not installed")
    elif extension == "xlsx":
        pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    released(VALUES, tmp_path / f"safe.{extension}")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=4, max_value=10**12), min_size=1))
def test_decimals_that_are_floats_are_the_same_numbers(numbers: list[Decimal]) -> None:
    series = pl.Series(numbers, dtype=pl.Decimal(38, 4))
    if exact_as_floats(series):
        again = series.cast(pl.String).cast(pl.Float64)
        assert [Decimal(repr(number)) for number in again] == numbers


def test_money_in_a_workbook_is_a_number(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    released(pl.Series([Decimal("12.50"), Decimal("0.05")] * 2, dtype=pl.Decimal(10, 2)), tmp_path / "safe.xlsx")
    assert read(tmp_path / "safe.xlsx")["x"].values.to_list() == [0.05, 12.5]


def test_decimals_with_a_comma(tmp_path: Path) -> None:
    values = pl.Series([Decimal("12.50"), Decimal("0.05")] * 2, dtype=pl.Decimal(10, 2))
    released(values, tmp_path / "safe.csv", output=OutputFormat(decimal_comma=True))
    assert "m;0,05" in (tmp_path / "safe.csv").read_text()


@pytest.mark.parametrize("extension", ["sav", "xpt"])
def test_texts_that_are_cut_are_refused_before(tmp_path: Path, extension: str) -> None:
    pytest.importorskip("pyreadstat", reason="the extra `survey` is not installed")
    with pytest.raises(InputError, match="'x' has texts that end in a blank") as error:
        released(pl.Series(["ab ", "ab"] * 2), tmp_path / f"safe.{extension}")
    assert ".parquet" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_length_of_time_is_not_of_avro(tmp_path: Path) -> None:
    from shoal.storage.writing import write_frame

    frame = pl.DataFrame({"stay": pl.Series([1], dtype=pl.Duration("us"))})
    with pytest.raises(InputError, match="'stay' has a type that Avro"):
        write_frame(frame, tmp_path / "a.avro")


def test_what_a_file_does_not_give_back_has_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.releases import original

    monkeypatch.setattr(original, "equal_columns", lambda *columns: False)
    with pytest.raises(Refused, match=r"column x: it was changed.*write \.parquet"):
        released(pl.Series([1, 2, 3, 4]), tmp_path / "safe.csv")


@pytest.mark.parametrize("role", ["sensitive", "other", "quasi-identifier"])
@pytest.mark.parametrize("type_of", [pl.Int64, pl.Float64, pl.String])
@pytest.mark.parametrize("said", [{"missing": ["99"]}, {"decimal": ".", "missing": ["99"]}, {"map": {"99": None}}])
def test_numbers_with_codes_for_missing_are_released(
    tmp_path: Path, said: dict[str, object], type_of: type[pl.DataType], role: str
) -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 2, 2] * 2, "x": [1, 2, 99, 3, 2, 1] * 2}).cast({"x": type_of})
    policy = {
        "columns": {"a": "quasi-identifier", "x": role},
        "types": {"x": {"type": "number", **said}},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    for path in (tmp_path / "safe.csv", tmp_path / "safe.parquet"):
        shoal.release(shoal.anonymize(frame, policy=policy), path, force=True)
        found = shoal.verify(path, original=frame)
        assert found.holds, found.reasons()
    shown = read(tmp_path / "safe.csv", options=Options(types=policy["types"]))["x"]
    assert (shown.nulls, shown.values.to_list()) == (2, [1, 2, 3])
