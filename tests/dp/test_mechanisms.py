"""Noise against theory: scales by hand, distributions by tests of fixed size, privacy by formulas of others."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dp.mechanisms import (
    BudgetPart,
    IntegerNoise,
    NoisyChoice,
    _threshold_noise,
    choice_for,
    epsilon_of,
    noise_for,
    rho_within,
    threshold_for,
)
from shoal.dp.terms import float_below, half_square, minus, plus, share
from shoal.errors import InputError
from shoal.policy.amounts import decimal_of, written

# Every statistical test here errs with probability at most ALPHA if the code is right.
ALPHA = 1e-9
DRAWS = 20_000
NO_DELTA = Decimal(0)


def basic(epsilon: str, delta: str = "0") -> BudgetPart:
    return BudgetPart(Decimal(epsilon), None, Decimal(delta))


def zcdp(rho: str, delta: str = "0") -> BudgetPart:
    return BudgetPart(None, Decimal(rho), Decimal(delta))


def farthest(draws: np.ndarray, distribution: Callable[[np.ndarray], np.ndarray]) -> float:
    """Kolmogorov's distance between draws of whole numbers and P[X <= x]."""
    values, counts = np.unique(draws, return_counts=True)
    seen = np.cumsum(counts) / len(draws)
    before = np.concatenate([[0], seen[:-1]])
    return float(max(np.abs(seen - distribution(values)).max(), np.abs(before - distribution(values - 1)).max()))


# Massart's bound (1990): P[distance > this] <= ALPHA, whatever the distribution
LIMIT = math.sqrt(math.log(2 / ALPHA) / (2 * DRAWS))


def laplace(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    def distribution(x: np.ndarray) -> np.ndarray:
        tail = np.exp(-(np.abs(x) + (x >= 0)) / scale) / (1 + math.exp(-1 / scale))
        return np.where(x >= 0, 1 - tail, np.exp(-np.abs(x) / scale) / (1 + math.exp(-1 / scale)))

    return distribution


def gauss(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    reach = int(scale * 12) + 2
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-(support.astype(float) ** 2) / (2 * scale**2))
    cumulated = np.cumsum(weights / weights.sum())
    return lambda x: np.interp(np.clip(x, -reach, reach), support, cumulated)


@pytest.mark.parametrize(
    ("mechanism", "scale", "theory"),
    [("laplace", 0.7, laplace), ("laplace", 50.0, laplace), ("laplace", 3e9, laplace), ("gaussian", 2.5, gauss),
     ("gaussian", 300.0, gauss)],
)  # fmt: skip
def test_noise_has_the_distribution_of_its_scale(mechanism: str, scale: float, theory: Callable) -> None:
    draws = IntegerNoise(mechanism, scale, 1).add(np.zeros(DRAWS, np.int64))  # type: ignore[arg-type]
    assert farthest(draws, theory(scale)) < LIMIT
    # and the test would notice a wrong scale
    assert farthest(draws, theory(scale * 1.4)) > LIMIT
    assert farthest(draws, theory(scale / 1.4)) > LIMIT


def test_noise_is_added_to_each_number() -> None:
    noise = IntegerNoise("laplace", 0.001, 1)
    assert noise.add(np.array([5, -(2**40), 0])).tolist() == [5, -(2**40), 0]
    assert noise.add(np.zeros(0, np.int64)).tolist() == []


def test_scales_by_hand() -> None:
    assert noise_for("laplace", basic("0.5"), 5, 5).scale == 10
    assert noise_for("laplace", basic("0.1"), 1, 1).scale == pytest.approx(10, rel=1e-12)
    assert noise_for("gaussian", zcdp("0.005"), 5, 5).scale == pytest.approx(50, rel=1e-12)
    assert noise_for("laplace", zcdp("0.005"), 5, 5).scale == pytest.approx(50, rel=1e-12)
    assert choice_for(basic("0.1"), 3).scale == pytest.approx(60, rel=1e-12)
    assert choice_for(zcdp("0.005"), 3) == NoisyChoice(pytest.approx(30, rel=1e-12), True)


@given(st.decimals("0.001", "20", places=4), st.integers(1, 10**9))
@settings(max_examples=40)
def test_scales_cost_what_was_paid_and_hardly_less(epsilon: Decimal, sensitivity: int) -> None:
    part = BudgetPart(epsilon, None, NO_DELTA)
    made = noise_for("laplace", part, sensitivity, sensitivity)
    # by the theorem, in exact arithmetic
    assert Decimal(sensitivity) / Decimal(made.scale) <= epsilon
    assert made.scale <= float(sensitivity / epsilon) * (1 + 1e-12)
    chosen = choice_for(part, sensitivity)
    assert 2 * Decimal(sensitivity) / Decimal(chosen.scale) <= epsilon
    rho = half_square(epsilon)
    made = noise_for("gaussian", BudgetPart(None, rho, NO_DELTA), sensitivity, sensitivity)
    assert (Decimal(sensitivity) / Decimal(made.scale)) ** 2 / 2 <= rho
    assert Decimal(BudgetPart(None, rho, NO_DELTA).pure) ** 2 / 2 <= rho


def analytic_delta(scale: float, epsilon: float) -> float:
    """The exact delta of continuous Gaussian noise on a sensitivity of 1 (Balle and Wang 2018, Theorem 8)."""

    def phi(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return phi(1 / (2 * scale) - epsilon * scale) - math.exp(epsilon) * phi(-1 / (2 * scale) - epsilon * scale)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-7"), ("1", "1e-5"), ("3", "1e-9")])
def test_gaussian_noise_keeps_epsilon_and_delta_by_the_exact_formula(epsilon: str, delta: str) -> None:
    scale = noise_for("gaussian", basic(epsilon, delta), 1, 1).scale
    assert analytic_delta(scale, float(epsilon)) <= float(delta)
    # by a quarter less noise it would not: the conversion of zCDP is not tight, but near
    assert analytic_delta(scale * 0.75, float(epsilon)) > float(delta)
    classic = math.sqrt(2 * math.log(1.25 / float(delta))) / float(epsilon)  # Dwork and Roth, epsilon < 1
    if float(epsilon) < 1:
        assert scale <= classic


@pytest.mark.parametrize(("rho", "delta"), [("0.005", "1e-7"), ("0.1", "1e-6"), ("2", "1e-9")])
def test_zcdp_converts_no_worse_than_the_classic_formula(rho: str, delta: str) -> None:
    classic = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))  # Bun and Steinke, Proposition 1.3
    assert float(rho) < epsilon_of(Decimal(rho), Decimal(delta)) <= classic
    # never below what the Gaussian mechanism really costs
    scale = 1 / math.sqrt(2 * float(rho))
    assert analytic_delta(scale, epsilon_of(Decimal(rho), Decimal(delta))) <= float(delta)
    assert epsilon_of(rho_within(Decimal(1), Decimal(delta)), Decimal(delta)) <= 1
    assert epsilon_of(Decimal(0), Decimal(delta)) == 0


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("part", [basic("0.5", "1e-6"), zcdp("0.125", "1e-6")])
def test_a_threshold_hides_what_one_person_brings(mechanism: str, part: BudgetPart) -> None:
    made = threshold_for(mechanism, part, 3, 3, 3, 3)  # type: ignore[arg-type]
    distribution = (laplace if mechanism == "laplace" else gauss)(made.noise.scale)
    # a person's m keys, each with m rows at most, are shown (at the threshold or above) with a chance of at most delta
    shown = 1 - float(distribution(np.array([made.threshold - 1 - 3]))[0])
    assert 3 * shown <= 1e-6 * 1.0001
    assert _threshold_noise(mechanism, 0.001, 10)({1: 10, 2: 9}) == {1: 10}  # type: ignore[arg-type]
    # the bound is met nearly: a threshold lower by a scale would be too low
    lower = 1 - float(distribution(np.array([made.threshold - 1 - 3 - int(made.noise.scale) - 2]))[0])
    limit = 1e-6 if part.rho is not None or mechanism == "laplace" else 5e-7
    assert 3 * lower > limit
    found = made.release({1: 10**6, 2: 1, 3: 2 * 10**6})
    assert set(found) == {1, 3}
    assert made.release({}) == {}


def test_a_choice_prefers_low_scores_by_the_exponential_law() -> None:
    choice = choice_for(basic("1"), 1)
    drawn = np.array([choice.lowest(np.array([0, 2])) for _ in range(4000)])
    # permute-and-flip: the worse of two is taken if it comes first and its coin falls: exp(-epsilon gap / 2) / 2
    expected = math.exp(-1) / 2
    assert abs(drawn.mean() - expected) < math.sqrt(math.log(2 / ALPHA) / (2 * 4000))
    assert choice.error(100) == pytest.approx(2 * math.log(100 / 0.05))


@pytest.mark.parametrize("scale", [0.2, 1.0, 7.3, 50.0, 12345.6])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_error_is_the_smallest_that_is_rarely_passed(scale: float, alpha: float) -> None:
    error = int(IntegerNoise("laplace", scale, 1).error(alpha))
    passed = [2 * (1 - float(laplace(scale)(np.array([limit]))[0])) for limit in (error, error - 1)]
    assert passed[0] <= alpha + 1e-12
    assert error == 0 or passed[1] > alpha - 1e-12
    if scale < 1000:
        error = int(IntegerNoise("gaussian", scale, 1).error(alpha))
        assert 2 * (1 - float(gauss(scale)(np.array([error]))[0])) <= alpha + 1e-9


def test_too_little_budget_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="noise past all counting"):
        noise_for("laplace", basic("1e-20"), 2**30, 2**30)
    with pytest.raises(InputError, match="noise past all counting"):
        threshold_for("laplace", basic("1e-15", "1e-9"), 5, 5, 5, 5)


@given(st.lists(st.decimals("0.000001", "1000", places=6), min_size=1, max_size=50))
def test_decimals_add_up_exactly(amounts: list[Decimal]) -> None:
    total = Decimal(0)
    for amount in amounts:
        total = plus(total, amount)
    assert total == sum(int(amount * 10**6) for amount in amounts) / Decimal(10**6)
    for amount in amounts:
        total = minus(total, amount)
    assert total == 0
    for amount in amounts:
        assert Decimal(written(amount)) == amount
        assert float_below(amount) <= amount
        assert share(amount, 3) * 3 <= amount


def test_ten_tenths_are_one() -> None:
    total = Decimal(0)
    for _ in range(10):
        total = plus(total, decimal_of(0.1, "x"))
    assert total == 1
    assert half_square(Decimal("1e-30")) > 0
    for bad in ("", "x", "nan", "inf", "-inf", "1e400", "0." + "1" * 40):
        with pytest.raises(InputError):
            decimal_of(bad, "--epsilon")
