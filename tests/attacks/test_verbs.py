"""What every attack on a table keeps: the seed decides, the order of rows does not, and no value gets out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.reproduction.sample.small import sparse_ratings, trips
from shoal.results import Result

Run = Callable[[Callable[[pl.DataFrame], pl.DataFrame], int], Result]
SECRET = "Zqxsecret"


def _named(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """A column as texts that must not get out; equally long, so that their order stays."""
    return table.with_columns(pl.format(SECRET + "{}", pl.col(column).cast(pl.String).str.zfill(9)).alias(column))


def unicity(change: Callable[[pl.DataFrame], pl.DataFrame], seed: int) -> Result:
    table = _named(_named(trips(20_000), "cell"), "user")
    return shoal.attack_unicity(change(table), person="user", columns=["cell", "hour"], targets=120, seed=seed)


def scoreboard(change: Callable[[pl.DataFrame], pl.DataFrame], seed: int) -> Result:
    table = _named(_named(sparse_ratings(150, 20, 40), "film"), "user")
    how: Any = {"person": "user", "item": "film", "value": "stars", "date": "day"}
    return shoal.attack_scoreboard(change(table), **how, targets=60, seed=seed, known=4)


def intersect(change: Callable[[pl.DataFrame], pl.DataFrame], seed: int) -> Result:
    draw = np.random.default_rng(1)
    table = pl.DataFrame({"who": range(80), "age": draw.integers(0, 9, 80), "ill": draw.integers(0, 4, 80)})
    table = _named(_named(table, "ill"), "who")
    other = table.with_columns(pl.Series("age", draw.integers(0, 9, 80)))
    return shoal.attack_intersect(
        change(table), second=change(other), person="who", quasi_identifiers="age", sensitive="ill"
    )


def membership(change: Callable[[pl.DataFrame], pl.DataFrame], seed: int) -> Result:
    draw = np.random.default_rng(2)
    shares = draw.uniform(0.1, 0.9, 40)
    names = [f"rs{number}" for number in range(40)]
    inside, outside = (pl.DataFrame(draw.binomial(2, shares, (n, 40)), schema=names) for n in (30, 150))
    pool = pl.DataFrame({"marker": names, "frequency": inside.to_numpy().mean(axis=0) / 2})
    return shoal.attack_membership(change(pool), candidates=change(inside), reference=change(outside), seed=seed)


def reconstruct(change: Callable[[pl.DataFrame], pl.DataFrame], seed: int) -> Result:
    draw = np.random.default_rng(3)
    asked, real = draw.random((40, 20)) < 0.5, draw.integers(0, 2, 20)
    names = [f"{SECRET}{number}" for number in range(20)]
    answers = pl.DataFrame(asked.astype(int), schema=names).with_columns(pl.Series("answer", asked @ real))
    people = pl.DataFrame({"who": names, "ill": real})
    return shoal.attack_reconstruct(change(answers), people=change(people), person="who", truth="ill")


VERBS: dict[str, Run] = {
    "unicity": unicity,
    "scoreboard": scoreboard,
    "intersect": intersect,
    "membership": membership,
    "reconstruct": reconstruct,
}


def same(table: pl.DataFrame) -> pl.DataFrame:
    return table


def shuffled(table: pl.DataFrame) -> pl.DataFrame:
    return table.sample(fraction=1, shuffle=True, seed=9)


def figures(found: Any) -> Any:
    """Numbers to compare, to nine digits."""
    if isinstance(found, dict):
        return {key: figures(value) for key, value in found.items()}
    if isinstance(found, list):
        return [figures(value) for value in found]
    return round(found, 9) if isinstance(found, float) else found


@pytest.mark.parametrize("name", VERBS)
def test_the_same_seed_says_the_same_whatever_the_order_of_rows(name: str) -> None:
    first = figures(VERBS[name](same, 7).to_dict())
    assert figures(VERBS[name](same, 7).to_dict()) == first
    assert figures(VERBS[name](shuffled, 7).to_dict()) == first


@pytest.mark.parametrize("name", ["unicity", "scoreboard"])
def test_another_seed_draws_other_targets(name: str) -> None:
    assert VERBS[name](same, 7).to_dict() != VERBS[name](same, 8).to_dict()


@pytest.mark.parametrize("name", VERBS)
def test_no_value_gets_out(name: str) -> None:
    found = VERBS[name](same, 1)
    said = json.dumps(found.to_dict()) + found.summary() + repr(found) + found._repr_html_()
    assert SECRET not in said


@pytest.mark.parametrize("name", VERBS)
def test_pandas_says_the_same_as_polars(name: str) -> None:
    assert figures(VERBS[name](lambda table: table.to_pandas(), 3).to_dict()) == figures(VERBS[name](same, 3).to_dict())  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("name", VERBS)
def test_the_interval_holds_the_rate(name: str) -> None:
    for one in VERBS[name](same, 1).to_dict().get("attacks", []):
        assert one["low"] - 1e-12 <= one["rate"] <= one["high"] + 1e-12
        assert 0 <= one["successes"] <= one["targets"]
