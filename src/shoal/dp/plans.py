"""A query -> its plan: which noise each part gets, from public knowledge alone.

The plan knows the bounds, the rows per person and the budget, never the data; so the error that a preview states
gives nothing away. A query of several parts shares its budget evenly among them (sequential composition). Groups are
disjoint rows, so all groups together cost what one does (parallel composition, by the arguments in `aggregates.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.dp.aggregates import Squares, ValueSteps
from shoal.dp.mechanisms import (
    BudgetPart,
    IntegerNoise,
    NoisyChoice,
    NoisyThreshold,
    choice_for,
    noise_for,
    threshold_for,
)
from shoal.dp.queries import Query
from shoal.dp.terms import Terms

ALPHA = 0.05


@dataclass(frozen=True)
class Sums:
    """Sums of values within bounds, in steps, and their noise."""

    steps: ValueSteps
    noise: IntegerNoise


@dataclass(frozen=True)
class SquareSums:
    """Sums of squares, and their noise."""

    squares: Squares
    noise: IntegerNoise


@dataclass(frozen=True)
class QueryPlan:
    """The mechanisms of a query: noise for counts (with a threshold if the keys are private), for sums, choices."""

    query: Query
    rows_per_person: int
    counts: IntegerNoise | None = None
    keys: NoisyThreshold | None = None
    sums: Sums | None = None
    squares: SquareSums | None = None
    choices: tuple[NoisyChoice, ...] = ()

    @property
    def scale(self) -> float:
        """The scale of the noise of the answer itself, in its own unit (of the counts for a mean or variance)."""
        if self.query.kind == "sum" and self.sums is not None:
            return self.sums.noise.scale * self.sums.steps.size
        return self.choices[0].scale if self.choices else self.count_noise.scale

    @property
    def count_noise(self) -> IntegerNoise:
        """The noise of the counts, whether the keys are public or not."""
        noise = self.counts or (self.keys.noise if self.keys else None)
        assert noise is not None
        return noise

    def expected_error(self) -> float | None:
        """The error before asking, where it does not depend on the data; in rows for quantiles."""
        if self.choices:
            return self._rank_error()
        if self.query.kind == "sum" and self.sums is not None:
            return self.sums.noise.error(ALPHA) * self.sums.steps.size
        return None if self.query.kind in ("mean", "variance", "bounds") else self.count_noise.error(ALPHA)

    def _rank_error(self) -> float:
        """In rows: a score is a distance in ranks times the denominator of its quantile."""
        candidates = len(self.query.candidates)
        errors = [
            choice.error(candidates, ALPHA) / denominator
            for choice, (_, denominator) in zip(self.choices, self.ratios, strict=True)
        ]
        return math.ceil(max(errors))

    @property
    def ratios(self) -> list[tuple[int, int]]:
        """The quantiles asked for, as p/d."""
        return [Fraction(q).as_integer_ratio() for q in self.query.q]


def plan(query: Query, terms: Terms) -> QueryPlan:
    """The noise of each part of a query."""
    rows = terms.max_rows_per_person
    part = _part(query, terms)
    made: dict[str, Any] = {}
    l1, l2, most = _count_sensitivity(query, rows)
    if query.private_keys:
        made["keys"] = threshold_for(query.mechanism, part, rows, l1, l2, most)
    elif query.kind not in ("sum", "median", "quantile"):
        made["counts"] = noise_for(query.mechanism, part, l1, l2)
    if query.kind in ("sum", "mean", "variance"):
        steps = _steps(query)
        most_of_a_person = rows * steps.reach
        made["sums"] = Sums(steps, noise_for(query.mechanism, part, most_of_a_person, most_of_a_person))
        if query.kind == "variance":
            squares = Squares.of_steps(steps)
            most_of_a_person = rows * squares.reach
            noise = noise_for(query.mechanism, part, most_of_a_person, most_of_a_person)
            made["squares"] = SquareSums(squares, noise)
    found = QueryPlan(query, rows, **made)
    choices = tuple(choice_for(part, rows * max(p, d - p)) for p, d in found.ratios)
    return QueryPlan(query, rows, choices=choices, **made)


def _part(query: Query, terms: Terms) -> BudgetPart:
    """The budget of each part of a query."""
    price = query.price(terms)
    zcdp = terms.accounting == "zcdp"
    whole = BudgetPart(None, price.loss, price.delta) if zcdp else BudgetPart(price.loss, None, price.delta)
    parts = {"mean": 2, "variance": 3, "quantile": len(query.q)}.get(query.kind, 1)
    parts += query.private_keys and query.kind in ("sum", "median", "quantile")
    every_part_takes_delta = query.mechanism == "gaussian" and not zcdp and not query.q
    part = whole.split(parts)
    return part if every_part_takes_delta else part.with_delta(whole.delta)


def _count_sensitivity(query: Query, rows: int) -> tuple[float, float, int]:
    """L1, L2 and the most in one cell, of the counts that a query releases."""
    if query.kind != "persons":
        return rows, rows, rows
    cells = 1 if not query.by else rows if query.keys is None else min(rows, math.prod(map(len, query.keys)))
    return cells, math.nextafter(math.sqrt(cells), math.inf) if cells > 1 else 1, 1


def _steps(query: Query) -> ValueSteps:
    assert query.low is not None
    assert query.high is not None
    make = ValueSteps.from_zero if query.kind == "sum" else ValueSteps.around
    return make(query.low, query.high, query.type == "integer")
