"""On the real tables of the field, where they are present."""

import os
from pathlib import Path

import polars as pl
import pytest
from labelled_columns import as_view

from shoal.identifiers import DECIDED, find_kinds

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))


def kinds_of(path: str, separator: str) -> dict[str, str | None]:
    """The decided kind of each column of a table."""
    file = DATA / path
    if not file.exists():
        pytest.skip(f"{path} is not there: set SHOAL_DATA to the folder of the real tables")
    frame = pl.read_csv(file, separator=separator)
    found = {name: find_kinds(as_view(name, frame[name])) for name in frame.columns}
    return {name: best[0].kind if best and best[0].confidence >= DECIDED else None for name, best in found.items()}


def test_adult() -> None:
    assert kinds_of("adult/adult.csv", ";") == {
        "sex": "sex",
        "age": "age",
        "race": "ethnicity",
        "marital-status": "marital-status",
        "education": "education",
        "native-country": "geography",
        "workclass": "occupation",
        "occupation": "occupation",
        "salary-class": "income",
    }


def test_household_survey() -> None:
    kinds = kinds_of("sdcmicro/testdata.csv", ",")
    expected = {"sex": "sex", "age": "age", "income": "income", "savings": "income", "roof": None, "urbrur": None}
    assert {name: kinds[name] for name in expected} == expected
    assert kinds["expend"] is None
    assert kinds["sampling_weight"] is None


def test_business_figures_hold_no_people() -> None:
    kinds = kinds_of("sdcmicro/Tarragona.csv", ",")
    assert set(kinds.values()) <= {None, "income"}


def test_discharges() -> None:
    kinds = kinds_of("golden/spd_like_1000.csv", ",")
    assert kinds["patzip"] == "postal-code"
    assert kinds["patcnty"] == "geography"
    assert kinds["age_yrs"] == "age"
    assert kinds["charge"] is None
    assert "name" not in kinds.values()
