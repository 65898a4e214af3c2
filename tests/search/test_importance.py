"""Only ratios of `importance` count: weights of any size give the optimum of ordinary ones, with finite scores."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from search import brute
from search.test_optimum import CLASS_QUALITIES, COLUMN_QUALITIES, LIMITS, made, search
from shoal.errors import InputError
from shoal.methods.base import relative_importance
from shoal.methods.search import optimum as searching
from shoal.releases.write import release
from shoal.storage.writing import write_json

SCALES = st.floats(-300, 300).map(lambda exponent: 10.0**exponent)
NAMES = ["a", "b", "c"]


def weighed(problem: brute.Problem, rng: Random, unequal: bool) -> brute.Problem:
    """The same with a weight for every column."""
    weights = {name: rng.choice([0.01, 0.5, 1.0, 3.0, 40.0]) if unequal else 1.0 for name in problem.names}
    return replace(problem, column_weights=weights)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**9),
    scale=SCALES,
    quality=st.sampled_from([*COLUMN_QUALITIES, *CLASS_QUALITIES]),
    suppression=st.sampled_from(LIMITS),
    unequal=st.booleans(),
    listed=st.sampled_from([0, 1 << 18]),
)
def test_the_size_of_weights_does_not_change_the_optimum(
    seed: int, scale: float, quality: str, suppression: float, unequal: bool, listed: int
) -> None:
    problem = weighed(made(seed, ["k-anonymity"], quality, suppression), Random(seed), unequal)
    times = {name: weight * scale for name, weight in problem.column_weights.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_LISTED", listed)
        found = search(replace(problem, column_weights=times)).optimum
    wanted = brute.best(problem)
    assert found.optimal
    assert found.lower_bound == found.score
    if wanted is None:
        assert found.best is None
        return
    assert found.best is not None
    assert found.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-9)
    looked = brute.look(problem, found.best.levels)
    assert looked is not None
    assert looked.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-9)


@given(weights=st.lists(st.floats(1.0, 9e5), min_size=1, max_size=30), scale=SCALES)
def test_weights_keep_their_ratios_and_get_a_safe_size(weights: list[float], scale: float) -> None:
    given = {f"q{place}": weight * scale for place, weight in enumerate(weights)}
    found = relative_importance(given, list(given))
    factors = {found[name] / given[name] for name in given}
    assert len(factors) == 1
    assert math.frexp(factors.pop())[0] == 0.5
    together = math.fsum(found.values())
    assert 1 / 64 <= max(found.values()) <= 64
    assert together <= 512
    assert found == given or 32 < together <= 64


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [64.0, 1.0, 1e-4], [1 / 64, 1 / 64, 1e-6], [64.0] * 3])
def test_ordinary_weights_stay_as_they_are(weights: list[float]) -> None:
    given = dict(zip(NAMES, weights, strict=True))
    assert relative_importance(given, NAMES) == given


def test_a_column_that_is_not_named_has_1() -> None:
    assert relative_importance({"a": 2}, NAMES) == {"a": 2.0, "b": 1.0, "c": 1.0}
    assert relative_importance({"a": 1024}, NAMES) == {"a": 32.0, "b": 1 / 32, "c": 1 / 32}
    many = relative_importance({}, [str(number) for number in range(1024)])
    assert set(many.values()) == {1 / 16}


@pytest.mark.parametrize("method", ["lattice", "mondrian", "microaggregate", "suppress", None])
@pytest.mark.parametrize("importance", [{"age": 1e300}, {"age": 1.1e6}, {"age": 1e-7}, {"age": 5e-324, "pay": 1e308}])
def test_absurd_ratios_are_refused(method: str | None, importance: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"`importance`.*'age'") as refused:
        shoal.anonymize(people(), quasi_identifiers=["age", "pay"], k=3, method=method, importance=importance)
    assert "differ less" in str(refused.value)


@pytest.mark.parametrize("method", ["lattice", "mondrian", "microaggregate", "suppress"])
@pytest.mark.parametrize("exponent", [-1000, -120, 120, 126, 1000])
def test_powers_of_two_change_nothing(method: str, exponent: int) -> None:
    wanted = changed(method, {"age": 3.0, "pay": 1.0})
    found = changed(method, {"age": math.ldexp(3.0, exponent), "pay": math.ldexp(1.0, exponent)})
    assert found.polars.equals(wanted.polars)
    assert found.findings.loss == wanted.findings.loss


def test_a_manifest_has_the_weights_as_given_and_finite_numbers(tmp_path: Path) -> None:
    result = changed("lattice", {"age": 1e300, "pay": 2e300})
    release(result, tmp_path / "out.csv", force=True)
    for path in tmp_path.glob("*.json"):
        json.loads(path.read_text(), parse_constant=pytest.fail)
    found = json.loads((tmp_path / "out.manifest.json").read_text())
    assert found["parameters"]["importance"] == {"age": 1e300, "pay": 2e300}


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_what_is_not_a_number_is_never_written_as_json(tmp_path: Path, number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"score": number}, 0o600)
    assert not list(tmp_path.iterdir())


def people() -> pl.DataFrame:
    """Numbers of different spread."""
    rng = Random(5)
    return pl.DataFrame(
        {"age": [rng.randint(18, 60) for _ in range(120)], "pay": [rng.randint(20, 40) * 100 for _ in range(120)]}
    )


def changed(method: str, importance: dict[str, float]) -> Any:
    return shoal.anonymize(people(), quasi_identifiers=["age", "pay"], k=3, method=method, importance=importance)
