"""Codes that no rule knows, in tables that look like coded answers about people."""

from __future__ import annotations

from typing import Any

import shoal
from shoal.detection.profile import AGES, BIRTHS, CODES
from shoal.identifiers.sources import listed

ROWS = range(300)


def answers() -> dict[str, list[Any]]:
    """A table of codes whose headers say nothing."""
    codes = {f"V40{number}": [row * number % (number + 2) for row in ROWS] for number in range(1, 9)}
    return {
        "K": [100_003 + 17 * row for row in ROWS],
        **codes,
        "V5001": [row * 7 % 96 for row in ROWS],
        "V5002": [1925 + row * 11 % 80 for row in ROWS],
        "V5003": [round(3 + row * 1.37, 2) for row in ROWS],
        "V5004": [0 if row % 3 else row * row * 13 for row in ROWS],
    }


def roles(table: dict[str, list[Any]]) -> dict[str, tuple[str, float, str]]:
    return {column.name: (column.role, column.confidence, column.reasons[0]) for column in shoal.profile(table).columns}


def test_unknown_codes_are_guessed_and_asked_about() -> None:
    found = roles(answers())
    assert found["V403"] == ("quasi-identifier", 0.4, CODES)
    assert found["K"][0] == "identifier"


def test_ages_and_years_of_birth_are_seen_by_how_they_spread() -> None:
    found = roles(answers())
    assert found["V5001"] == ("quasi-identifier", 0.5, AGES)
    assert found["V5002"][0] == "quasi-identifier"
    assert found["V5002"][2] == BIRTHS or found["V5002"][1] >= 0.5


def test_measured_figures_are_not_called_quasi_identifiers() -> None:
    found = roles(answers())
    assert found["V5003"][0] == "other"
    assert found["V5004"][2] != CODES


def test_a_table_of_other_things_is_left_alone() -> None:
    few = {name: values for name, values in answers().items() if name in ("K", "V401", "V402", "V5003")}
    assert roles(few)["V402"][0] == "other"
    unnumbered = {name: values for name, values in answers().items() if name != "K"}
    assert roles(unnumbered)["V403"][0] == "other"


def test_a_heap_of_one_number_is_not_ages() -> None:
    table = answers()
    table["V5001"] = [100 if row % 4 == 0 else row % 100 for row in ROWS]
    assert roles(table)["V5001"][2] != AGES


def test_headers_of_other_languages_with_accents_and_waves() -> None:
    names = ["löpnr", "ålder", "kön", "sex_w2", "w1_age", "utbildning", "wojew", "stan_cyw", "inkomst", "hgage"]
    found = {name: entry.kind for name, entry in listed(names).items()}
    assert found["ålder"] == found["w1_age"] == found["hgage"] == "age"
    assert found["kön"] == found["sex_w2"] == "sex"
    assert found["utbildning"] == "education"
    assert found["wojew"] == "geography"
    assert found["stan_cyw"] == "marital-status"
    assert found["inkomst"] == "income"
