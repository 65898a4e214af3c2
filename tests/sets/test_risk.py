"""Who is alone by a few items: `risk`, `attack unicity` and a publication."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from sets.plain import least_support, subsets, support
from shoal.errors import InputError


@settings(max_examples=30)
@given(seed=st.integers(0, 10**9), known=st.integers(1, 3))
def test_every_combination_is_counted(seed: int, known: int) -> None:
    rng = Random(seed)
    own = {who: {item for item in "abcde" if rng.random() < 0.5} | {"z"} for who in range(9)}
    cells = pl.DataFrame({"items": ["|".join(sorted(items, key=lambda _: rng.random())) for items in own.values()]})
    rows = pl.DataFrame(
        [(who, item) for who, items in own.items() for item in items], schema=["who", "item"], orient="row"
    )
    by_cell = shoal.risk(cells, items_in={"items": "|"}, known=[known])
    by_row = shoal.risk(rows, person="who", items="item", known=[known])
    assert by_cell.known == by_row.known
    assert by_cell.uniques == by_row.uniques
    assert by_cell.known is not None
    found = by_cell.known[0]
    parts = {part for items in own.values() for part in combinations(sorted(items), known)}
    alone = {part for part in parts if len(support(own, part)) == 1}
    assert (found.combinations, found.uniques) == (len(parts), len(alone))
    assert found.k == least_support(own, known)
    assert found.persons_exposed == sum(bool(alone & subsets(items, known)) for items in own.values())


def test_a_policy_of_sets_is_judged_by_risk() -> None:
    policy = {
        "columns": {"items": {"role": "items", "separator": "|"}},
        "models": [{"model": "km-anonymity", "m": 2, "k": 2}],
    }
    held = shoal.risk(pl.DataFrame({"items": ["a|b", "b|a", "a"]}), policy=policy)
    assert [verdict.holds for verdict in held.models] == [True]
    broken = shoal.risk(pl.DataFrame({"items": ["a|b", "b|c", "a"]}), policy=policy)
    assert [verdict.worst["support"] for verdict in broken.models] == [1]
    assert held.uniques == 1  # whole sets: {a, b} twice, {a} once


@pytest.mark.parametrize("known", [[0], [11], []])
def test_numbers_of_items_that_nobody_asks_for(known: list[int]) -> None:
    if not known:
        assert shoal.risk({"items": ["a"]}, items_in={"items": "|"}, known=known).known is not None
        return
    with pytest.raises(InputError, match="1 to 10"):
        shoal.risk({"items": ["a"]}, items_in={"items": "|"}, known=known)


def test_unicity_of_cells() -> None:
    cells = {"items": ["a|b", "a|b", "a|c"]}
    found = shoal.attack_unicity(cells, items_in={"items": "|"}, points=[2])
    assert found.points[0].uniqueness == pytest.approx(1 / 3)


def test_a_publication_of_baskets(tmp_path: Path) -> None:
    rng = Random(0)
    rows = [(f"c{who}", item) for who in range(40) for item in "abcdef" if rng.random() < 0.5]
    frame = pl.DataFrame(rows, schema=["customer", "item"], orient="row")
    policy = {
        "person": "customer",
        "columns": {"item": "items", "customer": {"role": "other", "treat": {"method": "pseudonym"}}},
        "models": [{"model": "km-anonymity", "m": 2, "k": 4}],
        "context": {"recipient": "partner", "purpose": "research"},
    }
    made = shoal.publish(frame, policy=policy, output=tmp_path / "out")
    assert {step.name: step.verdict for step in made.steps}["verify"] == "holds"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What a few items give away" in page
    with pytest.raises(InputError, match="attack unicity"):
        shoal.attack(tmp_path / "out", original=frame)


def test_whose_items_they_are_leaves_as_a_pseudonym_or_not_at_all() -> None:
    frame = pl.DataFrame({"customer": ["anna", "anna", "bert", "bert"], "item": ["a", "b", "a", "b"]})
    policy: dict[str, Any] = {"person": "customer", "columns": {"item": "items"},
                              "models": [{"model": "km-anonymity", "m": 2, "k": 2}]}  # fmt: skip
    made = shoal.anonymize(frame, policy)
    assert made.frame["customer"].n_unique() == 2
    assert not made.frame["customer"].is_in(["anna", "bert"]).any()
    named = policy | {"columns": {"item": "items", "customer": "identifier"}}
    assert shoal.risk(frame, policy=named).persons == 2
    with pytest.raises(InputError, match="becomes a pseudonym"):
        shoal.anonymize(frame, named)
