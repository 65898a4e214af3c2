"""Noise and choice by OpenDP: how large, so that a person's largest change costs no more than was paid; then drawn.

Everything that is released is a whole number (a count, or a sum in fixed steps), so that the discrete distributions of
OpenDP apply exactly and no floating-point rounding can give a person away. Each mechanism is made for a *sensitivity*
(what one person can change at most, argued in `aggregates.py`) and a `BudgetPart`. The scale comes from the theorem,
and OpenDP's own privacy map has the last word: while it says that the part is exceeded, the scale is raised.

| mechanism | theorem | scale |
|---|---|---|
| Laplace, discrete (Ghosh et al. 2012) | epsilon = sensitivity (L1) / scale | sensitivity / epsilon |
| Gauss, discrete (Canonne et al. 2020) | rho = (sensitivity (L2) / scale)² / 2 | sensitivity / √(2 rho) |
| choice of the best score (McKenna and Sheldon 2020) | epsilon = 2 sensitivity (L∞) / scale | 2 sensitivity / epsilon |
| keys above a threshold (Rogers 2023) | noise as above; delta from the threshold | lowest threshold that keeps delta |

A pure epsilon costs rho = epsilon²/2 of zCDP; rho and a delta give an epsilon by OpenDP's conversion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from shoal.dp.terms import float_below, share
from shoal.errors import InputError
from shoal.storage import Array
from shoal.vocabulary import Mechanism

MECHANISMS: tuple[Mechanism, ...] = ("laplace", "gaussian")
# past it, noise could leave 64 bits
LARGEST_SCALE = 2.0**55


@dataclass(frozen=True)
class BudgetPart:
    """What one mechanism may cost: an epsilon (basic accounting) or a rho (zCDP), and a delta.

    >>> BudgetPart(Decimal("0.3"), None, Decimal(0)).split(2)
    BudgetPart(epsilon=Decimal('0.15'), rho=None, delta=Decimal('0'))
    """

    epsilon: Decimal | None
    rho: Decimal | None
    delta: Decimal

    def split(self, parts: int) -> BudgetPart:
        """One of equal parts; together they cost no more than the whole."""
        return BudgetPart(
            None if self.epsilon is None else share(self.epsilon, parts),
            None if self.rho is None else share(self.rho, parts),
            share(self.delta, parts),
        )

    def with_delta(self, delta: Decimal) -> BudgetPart:
        """The same with another delta."""
        return BudgetPart(self.epsilon, self.rho, delta)

    @property
    def pure(self) -> float:
        """The epsilon of a mechanism that needs no delta: as given, or √(2 rho)."""
        if self.epsilon is not None:
            return float_below(self.epsilon)
        assert self.rho is not None
        root = math.sqrt(2 * float_below(self.rho))
        # the root is rounded; what it costs must not be more than rho
        while Fraction(root) ** 2 > 2 * Fraction(self.rho):
            root = math.nextafter(root, 0)
        return root


@dataclass(frozen=True)
class IntegerNoise:
    """Noise for whole numbers: its distribution, its scale, and for which sensitivity it was made."""

    mechanism: Mechanism
    scale: float
    sensitivity: float

    def add(self, exact: Array) -> Array:
        """Draw noise for each number; OpenDP's own secure randomness."""
        release = _vector_noise(self.mechanism, self.scale)
        return np.array(release([int(value) for value in exact]), np.int64)

    def error(self, alpha: float = 0.05) -> float:
        """The smallest whole number that noise passes with a probability of at most `alpha`.

        Laplace: P[|noise| >= a] = 2 exp(-a/scale) / (1 + exp(-1/scale)) for a >= 1. Gauss: by OpenDP.
        """
        if self.mechanism == "laplace":
            reached = self.scale * math.log(2 / (alpha * (1 + math.exp(-1 / self.scale))))
            return max(math.ceil(reached) - 1, 0)
        from opendp import accuracy

        if self.scale < 1000:
            reached = float(accuracy.discrete_gaussian_scale_to_accuracy(scale=self.scale, alpha=alpha))
            return max(math.ceil(reached) - 1, 0)
        return math.ceil(float(accuracy.gaussian_scale_to_accuracy(scale=self.scale, alpha=alpha)))


@dataclass(frozen=True)
class NoisyThreshold:
    """Noise for the counts of keys that are themselves private: only keys above the threshold are released."""

    noise: IntegerNoise
    threshold: int

    def release(self, counts: Mapping[int, int]) -> dict[int, int]:
        """The keys whose noisy count passes, with that count."""
        made = _threshold_noise(self.noise.mechanism, self.noise.scale, self.threshold)
        return {int(key): int(count) for key, count in made(dict(counts)).items()}


@dataclass(frozen=True)
class NoisyChoice:
    """Choice of the candidate with the lowest score, nearly."""

    scale: float
    zcdp: bool

    def lowest(self, scores: Array) -> int:
        """The position of the chosen candidate."""
        return int(_choice(self.scale, self.zcdp)([int(score) for score in scores]))

    def error(self, candidates: int, alpha: float = 0.05) -> float:
        """By how much the chosen score may pass the lowest, with probability 1 - alpha.

        P[score - lowest >= scale (ln candidates + t)] <= exp(-t): Dwork and Roth 2014, Theorem 3.11; choosing by
        permute-and-flip is never worse.
        """
        return self.scale * math.log(candidates / alpha)


def noise_for(mechanism: Mechanism, part: BudgetPart, l1: float, l2: float) -> IntegerNoise:
    """The least noise for counts or sums that one person changes by at most `l1` in all (Laplace) or `l2` (Gauss).

    >>> noise_for("laplace", BudgetPart(Decimal("0.5"), None, Decimal(0)), l1=5, l2=5).scale
    10.0
    """
    if mechanism == "laplace":
        epsilon = part.pure
        return IntegerNoise(mechanism, _raised(l1 / epsilon, lambda scale: _laplace_cost(scale, l1) <= epsilon), l1)
    if part.rho is not None:
        rho = float_below(part.rho)
        start = l2 / math.sqrt(2 * rho)
        return IntegerNoise(mechanism, _raised(start, lambda scale: gaussian_rho(scale, l2) <= rho), l2)
    assert part.epsilon is not None
    epsilon, delta = float_below(part.epsilon), float_below(part.delta)
    start = l2 * _gaussian_ratio(epsilon, delta)
    return IntegerNoise(mechanism, _raised(start, lambda scale: _gaussian_epsilon(scale, l2, delta) <= epsilon), l2)


def threshold_for(mechanism: Mechanism, part: BudgetPart, keys: int, l1: float, l2: float, most: int) -> NoisyThreshold:
    """Noise and threshold for private keys: one person touches at most `keys` keys, each by at most `most`.

    Half of a Gaussian's delta (basic accounting) goes to its noise, the rest to the threshold; Laplace needs none.
    """
    delta = part.delta
    if mechanism == "gaussian" and part.rho is None:
        delta = share(delta, 2)
    noise = noise_for(mechanism, part.with_delta(delta), l1, l2)
    limit = float_below(delta)
    distance = (keys, int(l1), most) if mechanism == "laplace" else (keys, float(l2), float(most))

    def keeps(threshold: int) -> bool:
        return bool(_threshold_noise(mechanism, noise.scale, threshold).map(distance)[1] <= limit)

    # deltas fall as thresholds rise: double until it holds, then halve the gap
    low, step = most, max(int(noise.scale), 1)
    while not keeps(low + step):
        step *= 2
        if low + step > LARGEST_SCALE:
            raise _too_noisy()
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    # OpenDP 0.16 shows a key whose noisy count equals the threshold, but its delta is the chance to be above (its issue
    # 2922): one more, and the delta is that of what is shown
    return NoisyThreshold(noise, high + 1)


def choice_for(part: BudgetPart, sensitivity: int) -> NoisyChoice:
    """The sharpest choice for scores that one person changes by at most `sensitivity` each."""
    zcdp = part.rho is not None
    if zcdp:
        assert part.rho is not None
        limit = float_below(part.rho)
        start = sensitivity / math.sqrt(2 * limit)  # (2 sensitivity / scale)² / 8 = rho
    else:
        limit = part.pure
        start = 2 * sensitivity / limit
    return NoisyChoice(_raised(start, lambda scale: _choice(scale, zcdp).map(sensitivity) <= limit), zcdp)


def choice_rho(scale: float, sensitivity: int) -> float:
    """What a choice costs under zCDP, by OpenDP's privacy map."""
    return float(_choice(scale, True).map(sensitivity))


def threshold_delta(scale: float, threshold: int, rows: int) -> Decimal:
    """The delta of a threshold (which is one above that of OpenDP, see `threshold_for`) under Gaussian noise."""
    made = _threshold_noise("gaussian", scale, threshold - 1)
    return Decimal(made.map((rows, float(rows), float(rows)))[1])


def epsilon_of(rho: Decimal, delta: Decimal) -> float:
    """The epsilon that a rho of zCDP comes to beside a delta, by OpenDP's conversion (at or above the truth).

    >>> 0.47 < epsilon_of(Decimal("0.005"), Decimal("1e-7")) < 0.49
    True
    """
    if rho == 0:
        return 0.0
    # noise of scale 1 / √(2 rho) on a sensitivity of 1 costs rho
    scale = 1 / math.sqrt(2 * float(rho))
    while Decimal(gaussian_rho(scale, 1.0)) < rho:
        scale = math.nextafter(scale, 0)
    return _gaussian_epsilon(scale, 1.0, float_below(delta))


def rho_within(epsilon: Decimal, delta: Decimal) -> Decimal:
    """The largest rho, to ten digits, whose epsilon beside `delta` is not above `epsilon`.

    >>> rho = rho_within(Decimal(1), Decimal("1e-6"))
    >>> epsilon_of(rho, Decimal("1e-6")) <= 1 < epsilon_of(rho * Decimal("1.001"), Decimal("1e-6"))
    True
    """
    low, high = 0.0, float(epsilon)  # epsilon >= rho always
    for _ in range(80):
        middle = (low + high) / 2
        if epsilon_of(Decimal(middle), delta) <= float_below(epsilon):
            low = middle
        else:
            high = middle
    rho = Decimal(f"{low:.12e}") * Decimal("0.9999999999")
    return Decimal(f"{rho:.10e}")


def _raised(scale: float, holds: Callable[[float], bool]) -> float:
    """The scale of the theorem, raised by last digits until OpenDP's privacy map agrees."""
    if not scale <= LARGEST_SCALE:
        raise _too_noisy()
    for step in range(60):
        if holds(scale):
            return scale
        scale *= 1 + 2.0 ** (step - 52)
    raise RuntimeError("the privacy map never held")  # never met: the theorem is off by rounding only


def _too_noisy() -> InputError:
    return InputError("So little budget would need noise past all counting.", "Give more epsilon, or narrower bounds.")


def _laplace_cost(scale: float, l1: float) -> float:
    return float(_vector_noise("laplace", scale).map(int(l1)))


def gaussian_rho(scale: float, l2: float) -> float:
    """What Gaussian noise costs, by OpenDP's privacy map."""
    return float(_vector_noise("gaussian", scale).map(float(l2)))


def _gaussian_epsilon(scale: float, l2: float, delta: float) -> float:
    from opendp import combinators, mod

    made: Any = combinators.make_zCDP_to_approxDP(_vector_noise("gaussian", scale))
    try:
        return float(made.map(float(l2)).epsilon(delta))
    except mod.OpenDPException:  # more than it can compute with
        return math.inf


@lru_cache(maxsize=64)
def _gaussian_ratio(epsilon: float, delta: float) -> float:
    """Scale per sensitivity of Gaussian noise that keeps (epsilon, delta), to a millionth.

    The classic conversion, epsilon = rho + 2 √(rho ln 1/delta), gives a start that is certainly large enough; epsilon
    falls nearly in proportion to the scale, so that a few corrections suffice.
    """
    root = math.sqrt(-math.log(delta))
    rho = (math.sqrt(root**2 + epsilon) - root) ** 2
    ratio = 1 / math.sqrt(2 * rho)
    for _ in range(100):
        found = _gaussian_epsilon(ratio, 1.0, delta)
        if (1 - 1e-6) * epsilon <= found <= epsilon:
            break
        ratio *= found / (epsilon * (1 - 5e-7))
    return ratio


def _opendp() -> Any:
    """OpenDP's parts, loaded when first used, without its prelude (which loads scikit-learn)."""
    from opendp import mod

    mod.enable_features("contrib")
    return mod


@lru_cache(maxsize=256)
def _vector_noise(mechanism: Mechanism, scale: float) -> Any:
    from opendp import domains, measurements, metrics

    _opendp()
    numbers = domains.vector_domain(domains.atom_domain(T="i64"))
    if mechanism == "laplace":
        return measurements.make_laplace(numbers, metrics.l1_distance(T="i64"), scale=scale)
    return measurements.make_gaussian(numbers, metrics.l2_distance(T="f64"), scale=scale)


@lru_cache(maxsize=256)
def _threshold_noise(mechanism: Mechanism, scale: float, threshold: int) -> Any:
    from opendp import domains, measurements, metrics

    _opendp()
    counts = domains.map_domain(domains.atom_domain(T="i64"), domains.atom_domain(T="i64"))
    if mechanism == "laplace":
        metric = metrics.l01inf_distance(metrics.absolute_distance(T="i64"))
        return measurements.make_laplace_threshold(counts, metric, scale=scale, threshold=threshold)
    metric = metrics.l02inf_distance(metrics.absolute_distance(T="f64"))
    return measurements.make_gaussian_threshold(counts, metric, scale=scale, threshold=threshold)


@lru_cache(maxsize=256)
def _choice(scale: float, zcdp: bool) -> Any:
    from opendp import domains, measurements, measures, metrics

    _opendp()
    scores = domains.vector_domain(domains.atom_domain(T="i64")), metrics.linf_distance(T="i64")
    measure = measures.zero_concentrated_divergence() if zcdp else measures.max_divergence()
    return measurements.make_noisy_max(*scores, measure, scale=scale, negate=True)
