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


@pytest.mark.parametrize("age", ["50-55", "[50, 55]", "[50;55]", "[50-55]"])
@pytest.mark.parametrize("zip_code", ["61XXX", "61***"])
def test_ranges_as_others_write_them(age: str, zip_code: str) -> None:
    release = {"age": [age, age, "[60;65]"], "zip": [zip_code, zip_code, "62***"]}
    people = {"age": [50, 53, 56], "zip": [61820, 61999, 61820]}
    found = shoal.attack_link(release, identified=people, generalized="yes")
    assert (found.unmatched, found.candidates.smallest, found.expected_correct) == (1, 2, 1.0)


def test_two_numbers_in_brackets_are_a_set_unless_we_are_told() -> None:
    release = {"age": ["[40, 49]", "[40, 49]", "[30, 39]"]}
    sets = shoal.attack_link(release, identified={"age": [40, 47]})
    ranges = shoal.attack_link(release, identified={"age": [40, 47]}, generalized="yes")
    assert (sets.expected_correct, ranges.expected_correct) == (0.5, 0.5 + 0.5)
    table = {"age": ["[40, 49]", "[40, 49]", "47"]}
    assert shoal.risk(table, quasi_identifiers=["age"]).uniques == 1
    assert shoal.risk(table, quasi_identifiers=["age"], generalized="yes").uniques == 0
