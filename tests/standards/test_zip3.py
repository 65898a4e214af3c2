"""ZIP prefixes against the counts of the Census."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.methods.hipaa.zip3 import read_populations, shipped, to_prefixes

# 18 listed prefixes with 20,000 people or fewer, Census 2010
TOO_FEW = [
    "036",
    "059",
    "102",
    "202",
    "203",
    "204",
    "205",
    "369",
    "556",
    "692",
    "753",
    "772",
    "821",
    "823",
    "878",
    "879",
    "884",
    "893",
]


def test_the_shipped_counts_are_the_census_of_2010() -> None:
    counts = shipped()
    assert counts.vintage == "Census 2010"
    assert len(counts.people) == 891
    assert sum(counts.people.values()) == 308_739_931
    assert len(counts.kept) == 873
    assert sorted(counts.people.keys() - counts.kept) == TOO_FEW


def test_the_shipped_counts_are_the_reference(data: Path) -> None:
    lines = (data / "reference" / "zip3_population_2010.csv").read_text().split()
    assert {prefix: int(people) for prefix, people in (line.split(",") for line in lines[1:])} == shipped().people


def test_every_prefix_of_three_digits_is_kept_or_000() -> None:
    prefixes = [f"{number:03d}" for number in range(1000)]
    found = to_prefixes(pl.Series([prefix + "01" for prefix in prefixes])).prefixes.to_list()
    people = shipped().people
    for prefix, released in zip(prefixes, found, strict=True):
        assert released == (prefix if people.get(prefix, 0) > 20_000 else "000")


@pytest.mark.parametrize(
    ("written", "prefix"),
    [
        ("10001", "100"), ("10001-1234", "100"), ("100011234", "100"), ("10001 1234", "100"), (" 10001 ", "100"),
        ("2139", "021"), ("2139-1234", "021"), ("21391234", "021"), ("10001.0", "100"), ("100**", "100"),
        ("100XX", "100"),
        ("1000*", "100"), ("03601", "000"), ("00601", "000"), ("601", "000"), ("K1A 0B1", "000"), ("", "000"),
        ("unknown", "000"), ("1000112345", "000"), ("12", "000"), ("１０００１", "100"),
    ],
)  # fmt: skip
def test_ways_of_writing(written: str, prefix: str) -> None:
    assert to_prefixes(pl.Series(["10001", written])).prefixes.to_list() == ["100", prefix]


@given(st.lists(st.one_of(st.integers(0, 10**9), st.text(max_size=12)), min_size=1, max_size=20))
def test_nothing_but_kept_prefixes_ever_leaves(values: list[object]) -> None:
    found = to_prefixes(pl.Series([str(value) for value in values])).prefixes
    assert set(found.to_list()) <= shipped().kept | {"000"}


def test_counts_of_another_census(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("# source: somebody\n# vintage: Census 2030\nzip3,population\n036,50000\n100,20000\n")
    result = shoal.safe_harbor(pl.DataFrame({"zip": ["03601", "10001", "94110"] * 10}), zip_populations=path)
    assert result.frame["zip"].to_list() == ["036", "000", "000"] * 10
    released = shoal.release(result, tmp_path / "safe.csv")
    assert '"vintage": "Census 2030"' in released.manifest.read_text()
    assert shoal.verify(released.output).verdict == "holds"


@pytest.mark.parametrize(
    "text",
    ["zip3,population\n036,1\n", "# source: a\n# vintage: b\nzip3,population\n36,1\n",
     "# source: a\n# vintage: b\nx,y\n",
     "# source: a\n# vintage: b\nzip3,population\n036,1\n036,2\n"],
)  # fmt: skip
def test_counts_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(text)
    with pytest.raises(shoal.InputError):
        read_populations(path)
