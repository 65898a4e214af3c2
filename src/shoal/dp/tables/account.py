"""The budget of one release in zCDP: every step with its scale, its sensitivity and what OpenDP's privacy map says.

A step gets a part of rho; the scale of its noise comes from `mechanisms.py`, where OpenDP's map has the last word. The
parts add up exactly (decimal numbers), and rho and delta become the epsilon by OpenDP's conversion. Whoever has the
manifest can repeat all of it: `check_steps`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, Literal, get_args

import numpy as np

from shoal.dp.mechanisms import (
    BudgetPart,
    choice_for,
    choice_rho,
    epsilon_of,
    gaussian_rho,
    noise_for,
    rho_within,
    threshold_delta,
    threshold_for,
)
from shoal.dp.terms import Price, checked_delta, checked_epsilon, minus, plus, share
from shoal.errors import InputError
from shoal.policy.amounts import written
from shoal.storage import Array

_DOWN = Context(prec=18, rounding=ROUND_FLOOR)
# fractions are binary numbers: their sum may pass 1 in its last digit
_ROUNDING = Decimal("0.999999999999")
MechanismWord = Literal["discrete Gaussian", "noisy max", "Gaussian threshold"]
MOST_EPSILON = 100
# the mean of the absolute value of noise, for each standard deviation
MEAN_NOISE = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class BudgetStep:
    """One measurement or choice: what for, by which mechanism, at which scale, for which largest change by a person."""

    step: str
    columns: tuple[str, ...]
    mechanism: MechanismWord
    scale: float
    sensitivity: float
    rho: str
    delta: str = "0"
    threshold: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As the manifest has it."""
        said = {
            "step": self.step, "columns": list(self.columns), "mechanism": self.mechanism, "scale": self.scale,
            "sensitivity": self.sensitivity, "rho": self.rho, "delta": self.delta,
        }  # fmt: skip
        return said if self.threshold is None else said | {"threshold": self.threshold}


class Account:
    """What may be spent, and what was.

    >>> account = Account("1", "1e-9", rows_per_person=1)
    >>> _ = account.counts("one column", ("sex",), np.array([10, 20]), account.part(0.5))
    >>> account.left < account.rho, len(account.steps), account.check_steps() is None
    (True, 1, True)
    """

    def __init__(
        self, epsilon: Any, delta: Any, rows_per_person: int = 1, buys: bool = False, change: float | None = None
    ) -> None:
        self.epsilon, self.delta = checked_epsilon(epsilon), checked_delta(delta)
        if self.delta == 0:
            raise InputError("A release needs a delta above 0: its budget is counted in zCDP.", "Take 1e-9, say.")
        if self.epsilon > MOST_EPSILON:
            raise InputError("An epsilon above 100 promises nothing.", "Take one below 10.")
        # thresholds of bought domains fail with a chance of their own
        self.threshold_delta = share(self.delta, 2) if buys else Decimal(0)
        self.rho = rho_within(self.epsilon, minus(self.delta, self.threshold_delta))
        self.rows = rows_per_person
        self.change = float(rows_per_person) if change is None else change
        self.steps: list[BudgetStep] = []
        self.left = self._whole = self.rho

    def price(self, accounting: str) -> Price:
        """All of it, as a ledger counts it: in zCDP the rho and what thresholds may fail by, else epsilon and delta."""
        return Price(self.rho, self.threshold_delta) if accounting == "zcdp" else Price(self.epsilon, self.delta)

    def part(self, fraction: float) -> Decimal:
        """A part of the whole rho, rounded down."""
        return _DOWN.multiply(_DOWN.multiply(self._whole, Decimal(fraction)), _ROUNDING)

    def begin(self) -> None:
        """From here on parts are of what is left: domains and bins are bought."""
        self._whole = self.left

    def counts(self, step: str, columns: Sequence[str], exact: Array, rho: Decimal, change: float = 0.0) -> Array:
        """Exact counts with noise, for which a person's rows change them by at most `change` in Euclidean distance."""
        most = change or self.change
        noise = noise_for("gaussian", BudgetPart(None, rho, Decimal(0)), most, most)
        self._spend(BudgetStep(step, tuple(columns), "discrete Gaussian", noise.scale, most, written(rho)))
        return noise.add(exact.ravel()).reshape(exact.shape)

    def sigma(self, rho: Decimal, change: float = 0.0) -> float:
        """The scale that `counts` would have."""
        most = change or self.change
        return noise_for("gaussian", BudgetPart(None, rho, Decimal(0)), most, most).scale

    def highest(self, step: str, scores: Sequence[int], rho: Decimal) -> int:
        """The place of the highest whole score, nearly; a person's rows change each by at most `rows`."""
        choice = choice_for(BudgetPart(None, rho, Decimal(0)), self.rows)
        self._spend(BudgetStep(step, (), "noisy max", choice.scale, self.rows, written(rho)))
        return choice.lowest(-np.array(scores, np.int64))

    def keys(self, step: str, column: str, counts: Mapping[int, int], rho: Decimal, delta: Decimal) -> dict[int, int]:
        """The keys of a private list whose noisy count passes the threshold."""
        noisy = threshold_for("gaussian", BudgetPart(None, rho, delta), self.rows, self.rows, self.rows, self.rows)
        self._spend(
            BudgetStep(
                step,
                (column,),
                "Gaussian threshold",
                noisy.noise.scale,
                self.rows,
                written(rho),
                written(delta),
                noisy.threshold,
            )
        )
        return noisy.release(counts)

    def _spend(self, step: BudgetStep) -> None:
        self.left = minus(self.left, Decimal(step.rho))
        if self.left < 0:
            raise RuntimeError("more rho was planned than there is")
        self.steps.append(step)

    def check_steps(self) -> str | None:
        """Why the steps do not keep the promise; None where they do."""
        return check_steps([one.to_dict() for one in self.steps], written(self.epsilon), written(self.delta))


def check_steps(steps: Sequence[Mapping[str, Any]], epsilon: str, delta: str, rows: int = 1) -> str | None:
    """Whether steps, as a manifest tells them, come to no more than epsilon and delta by OpenDP's privacy maps, where a
    person has so many rows."""
    if checked_epsilon(epsilon) > MOST_EPSILON or checked_delta(delta) == 0:
        return "such an epsilon and delta promise nothing"
    rho, spent = Decimal(0), Decimal(0)
    for one in steps:
        scale, most, part = float(one["scale"]), float(one["sensitivity"]), Decimal(one["rho"])
        if not (0 < scale < math.inf and part > 0) or one["mechanism"] not in get_args(MechanismWord):
            return f"the step '{one['step']}' has no noise"
        if not most >= rows:
            return f"the step '{one['step']}' has less noise than the rows of a person need"
        if one["step"] == "domain" and one["mechanism"] != "Gaussian threshold":
            return "the step 'domain' has no threshold"
        if one["mechanism"] == "noisy max":
            cost = choice_rho(scale, int(most))
        else:
            cost = gaussian_rho(scale, most)
            if one["mechanism"] == "Gaussian threshold":
                if threshold_delta(scale, int(one["threshold"]), int(most)) > Decimal(one["delta"]):
                    return f"the threshold of the step '{one['step']}' is too low for its delta"
                spent = plus(spent, Decimal(one["delta"]))
        if cost > float(part) * (1 + 1e-12):
            return f"the step '{one['step']}' costs more than it says"
        rho = plus(rho, part)
    left = minus(Decimal(delta), spent)
    if left <= 0 or epsilon_of(rho, left) > float(Decimal(epsilon)) * (1 + 1e-9):
        return "the steps add up to more than epsilon and delta"
    return None
