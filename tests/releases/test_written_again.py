"""What is released holds when it is verified, and what is not changed is not said to be."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal

MODELS = [{"model": "k-anonymity", "k": 2}]


def verdict(frame: pl.DataFrame, path: Path, roles: dict[str, str], **policy: Any) -> str:
    result = shoal.anonymize(frame, {"columns": roles, "models": MODELS, **policy}, method="mondrian")
    shoal.release(result, path)
    return shoal.verify(path, original=frame).verdict


@pytest.mark.parametrize("new", [[20.0, 21.0, 34.0, 35.0], [20.0, 21.0, 34.5, 34.0, 35.0], [20.5, 20.0, 21.0]])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_plan_of_integers_takes_decimals(tmp_path: Path, new: list[float], ending: str) -> None:
    old = pl.DataFrame({"age": [20, 21, 30, 31, 34, 35]})
    policy = {"columns": {"age": "quasi-identifier"}, "models": MODELS}
    plan = shoal.anonymize(old, policy, method="mondrian", plan=True).plan
    data, path = pl.DataFrame({"age": new}), tmp_path / f"safe{ending}"
    shoal.release(shoal.apply_plan(data, plan=plan, unseen="suppress"), path)
    assert shoal.verify(path, original=data).verdict == "holds"


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([datetime(2021, 1, 1, 10, 0, second) for second in range(4)], pl.Datetime("ns")),
        ([Decimal("1.50"), Decimal("1.51"), Decimal("2.50"), Decimal("9.00")], pl.Decimal(4, 2)),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_decimals_and_nanoseconds(tmp_path: Path, values: list[Any], dtype: pl.DataType, ending: str) -> None:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    assert verdict(frame, tmp_path / f"safe{ending}", {"x": "quasi-identifier"}) == "holds"


def test_a_file_that_verify_would_refuse_is_not_written(tmp_path: Path) -> None:
    values = pl.Series([Decimal("1.50"), Decimal("1.51"), Decimal("2.50"), Decimal("99999999999999999.99")])
    with pytest.raises(shoal.errors.ShoalError, match="not written as its form says"):
        verdict(pl.DataFrame({"x": values}), tmp_path / "safe.csv", {"x": "quasi-identifier"})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "code",
    [
        ["1", "2", "3", "4"],
        ["1", "1.0", "3", "3"],
        ["NA", "?", "3", "4"],
        ["1.50", "2.5", "3", "4"],
        ["1", "", "3", "4"],
    ],
)
def test_texts_of_digits_are_texts(tmp_path: Path, code: list[str]) -> None:
    frame = pl.DataFrame({"x": ["a", "a", "b", "b"], "code": code})
    path, roles = tmp_path / "safe.csv", {"x": "quasi-identifier", "code": "other"}
    assert verdict(frame, path, roles) == "holds"
    changed = frame.with_columns(code=pl.Series([*code[:3], "5"]))
    checks = {check.name: check.holds for check in shoal.verify(path, original=changed).checks}
    assert not checks["column code"]


def test_two_texts_of_one_number_are_not_one_class(tmp_path: Path) -> None:
    frame = pl.DataFrame({"code": ["1", "1.0", "3", "3"] * 2})
    path = tmp_path / "safe.csv"
    with pytest.raises(shoal.errors.ShoalError):
        verdict(frame, path, {"code": "quasi-identifier"})


@pytest.mark.parametrize("role", ["quasi-identifier", "other"])
def test_a_column_without_values(tmp_path: Path, role: str) -> None:
    frame = pl.DataFrame({"x": pl.Series([None] * 4, dtype=pl.Int64), "y": ["a"] * 4})
    roles = {"x": role, "y": "quasi-identifier"}
    assert verdict(frame, tmp_path / "safe.csv", roles) == "holds"
    words = pl.DataFrame({"x": ["NA", "?", "NA", "?"], "y": ["a"] * 4})
    assert verdict(words, tmp_path / "words.csv", roles, types={"x": "number"}) == "holds"
