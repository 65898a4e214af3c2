"""Small tables whose release a person wrote down before: what a steward would publish, cell by cell."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import shoal

ORDER = ["primary", "secondary", "bachelor", "master", "doctorate"]

GOLDEN: dict[str, tuple[Any, list[Any], str, dict[str, Any], list[str]]] = {
    # name: declared as, the column, method, its options, the release
    "US dates": (
        "date",
        ["03/14/2021", "03/20/2021", "11/02/2021", "12/24/2021"],
        "mondrian",
        {},
        ["[03/14/2021;03/20/2021]"] * 2 + ["[11/02/2021;12/24/2021]"] * 2,
    ),
    "German dates, months": (
        "date",
        ["14.03.2021", "20.03.2021", "02.11.2021", "24.11.2021"],
        "lattice",
        {},
        ["[01.03.2021;31.03.2021]"] * 2 + ["[01.11.2021;30.11.2021]"] * 2,
    ),
    "dates in words, their mean": (
        "date",
        ["14 Mar 2021", "16 Mar 2021", "02 Nov 2021", "06 Nov 2021"],
        "microaggregate",
        {},
        ["15 Mar 2021"] * 2 + ["04 Nov 2021"] * 2,
    ),
    "day first, said": (
        {"type": "date", "format": "%d/%m/%Y"},
        ["03/04/2021", "05/04/2021", "01/12/2021", "09/12/2021"],
        "sorted-clusters",
        {},
        ["[03/04/2021;05/04/2021]"] * 2 + ["[01/12/2021;09/12/2021]"] * 2,
    ),
    "decimal commas": (
        "number",
        ["1.234,50", "1.199,00", "12,75", "9,20"],
        "mondrian",
        {},
        ["[1.199,00;1.234,50]"] * 2 + ["[9,20;12,75]"] * 2,
    ),
    "thousands": (
        {"type": "number", "thousands": ","},
        ["1,200", "1,250", "98,000", "99,500"],
        "sorted-clusters",
        {},
        ["[1,200;1,250]"] * 2 + ["[98,000;99,500]"] * 2,
    ),
    "an order": (
        {"type": "ordered", "order": ORDER},
        ["secondary", "primary", "doctorate", "master"],
        "mondrian",
        {},
        ["[primary;secondary]"] * 2 + ["[master;doctorate]"] * 2,
    ),
    "an order, its middle": (
        {"type": "ordered", "order": ORDER},
        ["primary", "bachelor", "doctorate", "doctorate"],
        "microaggregate",
        {},
        ["secondary"] * 2 + ["doctorate"] * 2,
    ),
    "bands": (
        "band",
        ["20-29", "30-39", "40-49", "90+"],
        "mondrian",
        {},
        ["20-39"] * 2 + ["40+"] * 2,
    ),
    "bands below": (
        "band",
        ["under 5", "5-9", "10-14", "15 and over"],
        "sorted-clusters",
        {},
        ["under 10"] * 2 + ["10 and over"] * 2,
    ),
    "half-open bands": (
        "band",
        ["[20, 30)", "[30, 40)", "[40, 50)", "[50, 60)"],
        "coarsen",
        {"resolution": 2},
        ["[20, 40)"] * 2 + ["[40, 60)"] * 2,
    ),
    "roof codes": ("nominal", [9, 9, 9, 1, 4, 4], "mondrian", {"largest_set": 5}, ["9"] * 3 + ["[1, 4]"] * 3),
    "sexes mapped": (
        {"type": "nominal", "map": {"F": "female", "M": "male"}},
        ["F", "female", "M", "male"],
        "mondrian",
        {},
        ["female"] * 2 + ["male"] * 2,
    ),
    "postal codes": (
        {"type": "code", "digits": 5},
        [501, 544, 10001, 10002],
        "mondrian",
        {},
        ["005**"] * 2 + ["1000*"] * 2,
    ),
    "yes or no": ("boolean", [0, 1, 1, 0, 0, 1], "lattice", {}, ["0", "1", "1", "0", "0", "1"]),
    "a text": ("text", ["a b", "a b", "c d", "e f"], "mondrian", {}, ["a b"] * 2 + ["*"] * 2),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_release_is_what_a_person_wrote_down(name: str) -> None:
    kind, column, method, options, expected = GOLDEN[name]
    rules = {"columns": {"x": "quasi-identifier"}, "types": {"x": kind}}
    k = {} if method == "coarsen" else {"k": 2}
    result = shoal.anonymize(pl.DataFrame({"x": column}), rules, method=method, **k, **options)
    assert result.frame["x"].cast(pl.String).to_list() == expected


def test_a_table_of_many_types_at_once() -> None:
    people = pl.DataFrame(
        {
            "born": ["14.03.1980", "20.03.1980", "02.11.1990", "24.12.1990"],
            "income": ["1.234,50", "1.199,00", "3.312,75", "3.409,20"],
            "school": ["primary", "secondary", "master", "doctorate"],
            "roof": [1, 1, 9, 9],
            "ill": ["flu", "cold", "flu", "cold"],
        }
    )
    rules = {
        "columns": {**dict.fromkeys(["born", "income", "school", "roof"], "quasi-identifier"), "ill": "sensitive"},
        "types": {
            "born": "date",
            "income": "number",
            "school": {"type": "ordered", "order": ORDER},
            "roof": "nominal",
        },
    }
    result = shoal.anonymize(people, rules, k=2, method="mondrian")
    assert result.frame.rows()[0] == ("[14.03.1980;20.03.1980]", "[1.199,00;1.234,50]", "[primary;secondary]", 1, "flu")
    assert result.frame.rows()[3] == (
        "[02.11.1990;24.12.1990]",
        "[3.312,75;3.409,20]",
        "[master;doctorate]",
        9,
        "cold",
    )
    sentences = {entry.column: entry.sentence for entry in result.findings.cost}
    assert sentences["school"] == "school: values within 1 step on average"
    assert sentences["roof"] == "roof unchanged"
