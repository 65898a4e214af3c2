"""Linkage that counts persons, and that reads released texts as they stand."""

from __future__ import annotations

import pytest

import shoal
from shoal.errors import InputError

RELEASE = {"who": [1, 1, 2, 3], "age": ["[20;29]", "[20;29]", "31", "31"]}
PEOPLE = {"age": [25, 31]}


def test_rows_of_one_person_are_one_candidate() -> None:
    rows = shoal.attack_link({"age": RELEASE["age"]}, identified=PEOPLE)
    persons = shoal.attack_link(RELEASE, identified=PEOPLE, person="who")
    assert (rows.unique_matches, rows.expected_correct) == (0, 1.0)
    assert (persons.unique_matches, persons.expected_correct, persons.columns) == (1, 1.5, ["age"])
    with pytest.raises(InputError, match="The release"):
        shoal.attack_link(RELEASE, identified=PEOPLE, person="nobody")


def test_texts_as_they_stand() -> None:
    found = {
        how: shoal.attack_link({"age": RELEASE["age"]}, identified={"age": ["25", "31"]}, generalized=how).unmatched  # type: ignore[arg-type]
        for how in ("auto", "no")
    }
    assert found == {"auto": 0, "no": 1}
    with pytest.raises(InputError, match="generalized"):
        shoal.attack_link(RELEASE, identified=PEOPLE, generalized="maybe")  # type: ignore[arg-type]
