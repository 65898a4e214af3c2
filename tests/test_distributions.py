"""Columns before and after, and pairs of columns: by hand, by property, against another library's figure."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.storage.reading import read
from shoal.utility.analysis import features_of
from shoal.utility.distributions import Distribution, associations_of, distribution_of
from shoal.vocabulary import LEAST_SHOWN


def distribution(old: list[object], new: list[object], persons: list[int] | None = None) -> Distribution | None:
    before, after = read(pl.DataFrame({"x": old}))["x"], read(pl.DataFrame({"x": new}))["x"]
    return distribution_of(before, after, None, None if persons is None else np.array(persons))


def test_a_range_is_spread_over_what_it_covers() -> None:
    """By hand: 20 people in each of four decades; the release has two ranges over two decades each."""
    ages = [age for decade in (20, 30, 40, 50) for age in range(decade, decade + 10) for _ in range(2)]
    shown = ["[20;39]" if age < 40 else "[40;59]" for age in ages]
    found = distribution(list(ages), list(shown))
    assert found is not None
    assert found.bars[0].label.startswith("under ")
    assert found.bars[-1].label.endswith(" and more")
    assert all(bar.before == pytest.approx(bar.after, abs=0.002) for bar in found.bars)
    skewed = distribution([20] * 300 + [39] * 300, ["[20;39]"] * 600)  # 19 of its 20 years lie below 39
    assert skewed is not None
    assert [(bar.label, bar.before, bar.after) for bar in skewed.bars] == [("20", 0.5, 0.95), ("39", 0.5, 0.05)]


def test_few_whole_numbers_are_called_by_themselves_unless_they_are_rare() -> None:
    found = distribution([1] * 20 + [2] * 30 + [7], ["1"] * 20 + ["2"] * 30 + ["7"])
    assert found is not None
    assert [bar.label for bar in found.bars] == ["1", "2 and more"]
    assert [bar.before for bar in found.bars] == [0.392, 0.608]


def test_rare_dates_are_no_edges() -> None:
    days: list[object] = [date(2020 + i % 4, 1 + i % 12, 1) for i in range(200)]
    found = distribution([*days, date(1899, 3, 14)], [*days, date(1899, 3, 14)])
    assert found is not None
    assert found.kind == "date"
    assert not [bar.label for bar in found.bars if "1899" in bar.label]


def test_records_of_one_person_are_one() -> None:
    """Twenty records of one person do not make a value frequent."""
    values: list[object] = ["common"] * 30 + ["hers"] * 20
    persons = [*range(30), *[99] * 20]
    assert distribution(values, values, persons) is None
    assert distribution(values, values) is not None


def test_one_value_or_none_has_no_distribution() -> None:
    assert distribution([1] * 50, [1] * 50) is None
    assert distribution([None] * 20, [None] * 20) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=120), st.integers(1, 40))
def test_no_bar_is_about_few_and_shares_are_whole(values: list[int], times: int) -> None:
    column: list[object] = [value for value in values for _ in range(times)]
    found = distribution(column, [f"[{value};{value + 5}]" for value in column])
    if found is None:
        return
    least = LEAST_SHOWN / len(column) - 0.0006
    assert all(share == 0 or share >= least for bar in found.bars for share in (bar.before, bar.after))
    assert sum(bar.before for bar in found.bars) == pytest.approx(1, abs=0.01)
    assert sum(bar.after for bar in found.bars) == pytest.approx(1, abs=0.01)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=200))
def test_no_named_category_is_of_few(values: list[str]) -> None:
    found = distribution(list(values), list(values))
    if found is None:
        return
    for bar in found.bars:
        count = values.count(bar.label) if bar.label != "all others" else round(bar.before * len(values))
        assert count >= LEAST_SHOWN


def test_pairs_of_columns_against_known_figures() -> None:
    """Pearson and Cramér's V as numpy and scipy compute them; the release that keeps all keeps them."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 50, 300)
    table = read(
        pl.DataFrame({
            "a": numbers, "b": numbers + rng.integers(0, 30, 300), "c": rng.choice(list("xyz"), 300),
            "d": rng.choice(list("pq"), 300),
        })
    )  # fmt: skip
    found = {(one.first, one.second): one for one in associations_of([features_of(table[n], table[n]) for n in "abcd"])}
    frame = {name: table[name].values.gather(table[name].codes).to_numpy() for name in "abcd"}
    assert found["a", "b"].before == pytest.approx(np.corrcoef(frame["a"], frame["b"])[0, 1], abs=6e-4)
    assert all(one.before == one.after for one in found.values())
    from scipy.stats import contingency

    counts = (
        pl.DataFrame({"c": frame["c"], "d": frame["d"]}).group_by("c", "d").len().pivot(on="d", index="c").drop("c")
    )
    wanted = contingency.association(counts.to_numpy(), method="cramer")
    assert found["c", "d"].before == pytest.approx(wanted, abs=6e-4)
    assert {one.measure for one in found.values()} == {"r", "eta", "V"}
