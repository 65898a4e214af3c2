"""Headers that speak of a topic in five languages, and columns whose values say more than their header."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.detection.profile import profile

NAMES = [
    f"{first} {last}" for first in ("Saskia", "Ines", "Wanda", "Tariq", "Ulla") for last in ("Novak", "Jansen", "Xu")
]


def role(header: str, values: list[object]) -> str:
    """The role that is proposed for a column between a sex and an age."""
    many = (values * 60)[:60]
    table = pl.DataFrame({"sex": ["F", "M"] * 30, "age": list(range(20, 80)), header: many})
    return next(column.role for column in profile(table).columns if column.name == header)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("hba1c", [6.1, 7.4, 5.2]),
        ("viral_load", [20, 4000, 75]),
        ("evento_adverso", ["cefalea", "ninguno"]),
        ("Nebenwirkung", ["Kopfschmerz", "keine"]),
        ("bes_dsa", ["no", "DSA"]),
        ("wheelchair", [0, 1]),
        ("isee_fascia", ["A", "B", "C"]),
        ("days_past_due", [0, 31, 90]),
        ("Steuerklasse", ["I", "III", "V"]),
        ("penalty_points", [0, 3, 6]),
        ("loan_amnt", [1200, 5000, 700]),
        ("union_dues", [0, 12, 14]),
    ],
)
def test_a_topic_of_the_header_makes_it_sensitive(header: str, values: list[object]) -> None:
    assert role(header, values) == "sensitive"


@pytest.mark.parametrize("header", ["debtor", "Mieter", "locataire", "imputato", "patient_initials"])
def test_names_under_a_word_for_a_person_are_never_called_other(header: str) -> None:
    assert role(header, list(NAMES)) == "identifier"


def test_many_texts_are_nothing_that_a_survey_notes_of_itself() -> None:
    """`imputato` beside other short headers of offices was taken for a flag of imputed values."""
    count = 300
    table = pl.DataFrame(
        {
            "imputato": [f"{NAMES[i % 15]} {chr(97 + i % 26)}{i}" for i in range(count)],
            "sesso": ["M", "F"] * 150,
            "anno_nascita": [1950 + i % 50 for i in range(count)],
            "reddito": [i * 7 for i in range(count)],
        }
    )
    found = next(column for column in shoal.profile(table).columns if column.name == "imputato")
    assert found.kind not in ("survey-process", "survey-design")
    assert found.role == "identifier"
