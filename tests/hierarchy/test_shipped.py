"""Trees that come with shoal."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.ranges.hierarchy import build_hierarchy
from shoal.ranges.shipped import _LISTS, Shipped, _rows, folded, place, recognised
from shoal.storage import Column
from shoal.storage.reading import read


def column(*values: str, name: str = "c") -> Column:
    return read({name: list(values)})[name]


def nodes(kind: Shipped, text: str) -> tuple[str, ...] | None:
    return place(column(text), kind).nodes[0]


@pytest.mark.parametrize(
    ("kind", "text", "above"),
    [
        ("countries", "El-Salvador", ("Central America", "Americas")),
        ("countries", "DEU", ("Western Europe", "Europe")),
        ("countries", "Türkiye", ("Western Asia", "Asia")),
        ("countries", "Atlantis", None),
        ("us-states", "ca", ("Pacific", "West")),
        ("us-states", "New York", ("Middle Atlantic", "Northeast")),
        ("us-states", "6", ("Pacific", "West")),
        ("icd-10", "I21.4", ("I21.-", "I20-I25", "IX Diseases of the circulatory system")),
        ("icd-10", "E119", ("E11.-", "E10-E14", "IV Endocrine, nutritional and metabolic diseases")),
        ("nace", "C", ("C Manufacturing", "Industry")),
        ("nace", "62.01", ("J Information and communication", "Information and communication")),
        ("nace", "34", None),
        ("isced", "HS-grad", ("3 Upper secondary education", "Upper secondary and post-secondary non-tertiary")),
    ],
)
def test_a_value_stands_below_its_nodes(kind: Shipped, text: str, above: tuple[str, ...] | None) -> None:
    assert nodes(kind, text) == above


def test_a_category_outside_all_blocks_stands_in_its_chapter() -> None:
    chapter = "XIII Diseases of the musculoskeletal system and connective tissue"
    assert nodes("icd-10", "M26") == ("M26.-", chapter, chapter)


def test_numbers_of_the_lists() -> None:
    """Counted by the sources: 22 chapters, 21 sections, 50 states with DC and five areas, 9 levels."""
    icd, _ = _rows("icd10.csv")
    assert len({row[3] for row in icd}) == 22
    assert len(_rows("nace.csv")[0]) == 21
    assert len(_rows("us_states.csv")[0]) == 56
    assert len({row[3] for row in _rows("us_states.csv")[0]}) == 10
    assert len(_rows("isced.csv")[0]) == 9
    countries, _ = _rows("countries.csv")
    assert len(countries) == 251
    assert (
        len({row[3] for row in countries}) == 5 + 4 + 5 + 4 + 4 + 1
    )  # Africa, Americas, Asia, Europe, Oceania, Antarctica
    assert len({row[0] for row in countries}) == len({row[1] for row in countries}) == 251


def test_every_list_names_its_source() -> None:
    for kind in get_args(Shipped):
        assert any(sign.isdigit() for sign in _LISTS[kind]()[1])


def test_names_of_countries_are_told_apart() -> None:
    seen: dict[str, tuple[str, ...]] = {}
    for two, three, names, *above in _rows("countries.csv")[0]:
        for name in (two, three, *names.split("|")):
            assert seen.setdefault(folded(name), tuple(above)) == tuple(above), name


def test_two_letters_are_states_unless_the_header_says_country() -> None:
    codes = ["CA", "DE", "IN", "MA"]
    for name, kind in (("state", "us-states"), ("country", "countries"), ("x", "us-states")):
        found = recognised(column(*codes, name=name))
        assert found is not None
        assert found.kind == kind
    found = recognised(column("FR", "IT", "DE", "ES"))
    assert found is not None
    assert found.kind == "countries"


def test_words_and_numbers_are_not_taken_for_a_list() -> None:
    assert recognised(column("red", "green", "blue")) is None
    assert recognised(column("01", "02", "04")) is None
    assert recognised(column("France", "Italy")) is None


def test_what_is_not_in_the_list_stands_below_the_top() -> None:
    tree = build_hierarchy(column("France", "Monaco", "Italy", "Chad", "Ghana", "Utopia"), "countries")
    assert tree.labels(tree.height - 1) == ["*"]
    rows = list(zip(*(level.to_list() for level in tree.levels), strict=True))
    assert ("Utopia", "*", "*", "*") in rows
    assert ("Chad", "Middle Africa", "Africa", "*") in rows
    assert tree.source.endswith("; 1 values are not in it")


def test_adult_gets_regions_and_levels_of_education(data: Path) -> None:
    table = read(data / "adult" / "adult.csv")
    country, education = build_hierarchy(table["native-country"]), build_hierarchy(table["education"])
    assert "M49" in country.source
    assert "ISCED" in education.source
    row = next(row for row in zip(*country.levels, strict=True) if row[0] == "Honduras")
    assert row == ("Honduras", "Central America", "Americas", "*")


@given(st.text(max_size=12))
def test_any_text_is_placed_or_not_known(text: str) -> None:
    for kind in get_args(Shipped):
        found = nodes(kind, text or "x")
        assert found is None or all(found)
