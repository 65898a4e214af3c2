"""A publication of a table with rare values and odd names in it, made once."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from accepted import ACCEPTED

TAG = "<script>alert(1)</script>"
TYPST = '#panic("x") $x$ *bold* @label'
CJK = "職業"


def planted_table() -> pl.DataFrame:
    """Four hundred people; whatever starts with Qyx, the age of 1171 and the day in 1899 are of one person each."""
    count = 400
    first = date(2020, 1, 1)
    days = [first + timedelta(days=(i * 37) % 1400) for i in range(count)]
    return pl.DataFrame(
        {
            "age": [18 + (i * 7) % 70 for i in range(count - 1)] + [1171],
            "admitted": [*days[:-1], date(1899, 3, 14)],
            TAG: [*(["Ulm", "Bern", "Graz"] * count)[: count - 1], "Qyxtown"],
            CJK: [*(["cook", "nurse"] * count)[: count - 1], "Qyxjob"],
            "name": [f"Qyxname{i}" for i in range(count)],
            TYPST: [*(["flu", "cold", "cough", "rash"] * count)[: count - 1], "Qyxitis"],
        }
    )


PLANTED_POLICY: dict[str, Any] = {
    "columns": {
        "age": "quasi-identifier",
        "admitted": "quasi-identifier",
        TAG: "quasi-identifier",
        CJK: "quasi-identifier",
        "name": "identifier",
        TYPST: "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "attacks": ACCEPTED,
    "knowledge": {TAG: ["age", TAG], "work": [CJK]},
    "threshold": "0.25",
    "context": {"recipient": f"everybody {TAG}", "expires": "2031-05-17", "responsible": "the officer"},
}


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `release` and `release.private` lie."""
    folder = tmp_path_factory.mktemp("planted")
    planted_table().write_csv(folder / "people.csv")
    result = shoal.publish(folder / "people.csv", PLANTED_POLICY, output=folder / "release")
    assert result.verdict == "holds", result.refusal
    return folder


@pytest.fixture(scope="session")
def plain_findings(planted: Path) -> dict[str, Any]:
    """The same findings without letters that the PDF's typefaces lack."""
    import json

    text = (planted / "release.private" / "findings.json").read_text()
    found: dict[str, Any] = json.loads(text.replace(CJK, "job"))
    return found
