"""The page of a release of several tables: one verdict, found afresh, and a page for each table."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import shoal
from app.conftest import Running


def test_one_verdict_and_a_page_for_each_table(app: Running, people: Path) -> None:
    tables = {"people": pl.DataFrame({"id": [1, 2, 3, 4], "age": [30, 31, 60, 61]}),
              "visits": pl.DataFrame({"who": [1, 2, 3, 4], "day": [1, 2, 3, 4]})}  # fmt: skip
    columns = {"people": {"key": "id", "columns": {"age": "quasi-identifier"}},
               "visits": {"references": {"who": "people"}, "columns": {"day": "quasi-identifier"}}}  # fmt: skip
    policy = {"relations": {"person": "people", "tables": columns}, "models": [{"model": "k-anonymity", "k": 2}]}
    safe = people.parent / "safe"
    assert shoal.publish(tables, policy, output=safe).verdict == "holds"
    browser = app.browser()
    page = browser.get("tables", params={"folder": str(safe)})
    assert page.status_code == 200
    assert "Holds: 4 records, smallest class 2." in page.text
    assert "day" in browser.get("tables", params={"folder": str(safe), "table": "visits"}).text
    (safe / "visits.csv").write_text((safe / "visits.csv").read_text().replace("[1;2]", "[1;3]"))
    assert "Does not hold" in browser.get("tables", params={"folder": str(safe)}).text
    for wrong in ({"folder": str(people.parent)}, {"folder": "/etc"}, {"folder": str(safe), "table": "nobody"}):
        assert browser.get("tables", params=wrong).status_code in (400, 404, 422)
    assert "several tables" in browser.get("").text
