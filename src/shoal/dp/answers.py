"""A plan and the rows of the desk -> the answer and how far it may be off.

The error of a mean or a variance is computed from what was released (noisy counts and sums), never from the exact
numbers. Clamping an answer (a count is not negative, a mean lies within its bounds) comes after the noise and is
free.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal.dp.aggregates import Selected, select
from shoal.dp.mechanisms import IntegerNoise
from shoal.dp.plans import ALPHA, QueryPlan, SquareSums, Sums
from shoal.storage import Array

# a preview states the error of a mean for tables of these sizes: how many rows there are is private
ROWS_IN_PREVIEW = (100, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class NoisyAnswer:
    """What leaves: a number or a list of {key, answer}, and how far it may be off (95% confidence)."""

    answer: Any
    error_95: float | None
    notes: list[str] = field(default_factory=list)


def answer(plan: QueryPlan, frame: pl.DataFrame) -> NoisyAnswer:
    """Draw the answer. Nothing here can fail on a value of the data."""
    query = plan.query
    chosen = select(frame, query)
    counts = np.zeros(0, np.int64)
    if plan.keys is not None:
        chosen, counts = _released_keys(plan, chosen)
    elif plan.counts is not None:
        counts = plan.counts.add(chosen.persons() if query.kind == "persons" else chosen.counts())
    if query.kind == "bounds":
        return _estimated_bounds(chosen, counts, plan.count_noise)
    if plan.choices:
        return _quantiles(plan, chosen)
    values, errors = _numbers(plan, chosen, counts)
    return _outcome(plan, chosen.keys, values, errors)


def errors_by_rows(plan: QueryPlan) -> dict[str, float]:
    """The largest error of a mean or variance, were there so many rows: public, for a preview."""
    if plan.sums is None or plan.query.kind == "sum":
        return {}
    found = {}
    for rows in ROWS_IN_PREVIEW:
        counts = np.array([rows])
        farthest = counts * plan.sums.steps.reach
        if plan.squares is None:
            errors = _mean(plan.count_noise, plan.sums, counts, farthest)[1]
        else:
            errors = _variance(plan.count_noise, plan.sums, plan.squares, counts, farthest, farthest)[1]
        found[str(rows)] = float(errors[0])
    return found


def _released_keys(plan: QueryPlan, chosen: Selected) -> tuple[Selected, Array]:
    """The groups whose noisy count passes the threshold, in the order of their keys, and those counts."""
    assert plan.keys is not None
    exact = chosen.persons() if plan.query.kind == "persons" else chosen.counts()
    found = plan.keys.release(dict(enumerate(exact.tolist())))
    cells = sorted(found)
    counts = np.array([found[cell] for cell in cells], np.int64)
    if plan.sums is None and not plan.choices:  # the rows are not needed any more
        return Selected([chosen.keys[cell] for cell in cells], chosen.frame.clear()), counts
    return chosen.keep(cells), counts


def _numbers(plan: QueryPlan, chosen: Selected, counts: Array) -> tuple[Array, Array]:
    """Each cell's answer and its error."""
    if plan.sums is None:
        return np.maximum(counts, 0), np.full(len(counts), plan.count_noise.error(ALPHA))
    sums = plan.sums.noise.add(chosen.sums(plan.sums.steps))
    if plan.query.kind == "sum":
        return _clamped(plan.sums, sums), np.full(len(sums), plan.sums.noise.error(ALPHA) * plan.sums.steps.size)
    if plan.squares is None:
        return _mean(plan.count_noise, plan.sums, counts, sums)
    squares = plan.squares.noise.add(chosen.sums_of_squares(plan.sums.steps, plan.squares.squares))
    return _variance(plan.count_noise, plan.sums, plan.squares, counts, sums, squares)


def _clamped(of: Sums, sums: Array) -> Array:
    """A sum of values of one sign has that sign."""
    if of.steps.low >= 0:
        sums = np.maximum(sums, 0)
    if of.steps.high <= 0:
        sums = np.minimum(sums, 0)
    return sums if of.steps.whole else sums * of.steps.size


def _ratio(sums: Array, counts: Array, reach: float, of_sums: float, of_counts: float) -> tuple[Array, Array]:
    """A noisy sum over a noisy count, and how far it may be off the exact ratio r, |r| <= reach.

    Ŝ/N̂ − S/N = (Ŝ − S)/N̂ + r (N − N̂)/N̂, so that the error is at most (of_sums + |r| of_counts) / N̂; of |r| we know
    that it is at most reach, and at most (|Ŝ| + of_sums) / (N̂ − of_counts).
    """
    n = np.maximum(counts, 1).astype(float)
    sums = sums.astype(float)
    known = (np.abs(sums) + of_sums) / np.maximum(n - of_counts, 1e-9)
    errors = (of_sums + np.minimum(known, reach) * of_counts) / n
    return np.clip(sums / n, -reach, reach), np.minimum(errors, 2 * reach)


def _mean(of_counts: IntegerNoise, of: Sums, counts: Array, sums: Array) -> tuple[Array, Array]:
    """offset + sum of shifted values / count, within the bounds; each of the two noises passes its error in 2.5%."""
    steps = of.steps
    ratios, errors = _ratio(sums, counts, steps.reach, of.noise.error(ALPHA / 2), of_counts.error(ALPHA / 2))
    means = np.clip(ratios, steps.low, steps.high) * steps.size + steps.offset
    return means, np.minimum(errors, steps.high - steps.low) * steps.size


def _variance(
    of_counts: IntegerNoise, of: Sums, of_squares: SquareSums, counts: Array, sums: Array, squares: Array
) -> tuple[Array, Array]:
    """Mean of squares − square of mean (divided by n, not n − 1), within 0 and the most that the bounds allow."""
    steps, noisy_counts = of.steps, of_counts.error(ALPHA / 3)
    means, of_means = _ratio(sums, counts, steps.reach, of.noise.error(ALPHA / 3), noisy_counts)
    reach, off = of_squares.squares.reach, of_squares.noise.error(ALPHA / 3)
    found, of_found = _ratio(squares, counts, reach, off, noisy_counts)
    unit = 2.0**of_squares.squares.shift
    most = ((steps.high - steps.low) / 2) ** 2
    variances = np.clip((found + of_squares.squares.middle) * unit - means**2, 0, most)
    # |m̂² − m²| <= e (2 |m̂| + e) for an error of at most e in the mean
    errors = of_found * unit + of_means * (2 * np.abs(means) + of_means)
    return variances * steps.size**2, np.minimum(errors, most) * steps.size**2


def _quantiles(plan: QueryPlan, chosen: Selected) -> NoisyAnswer:
    """A choice for each cell and quantile among the public candidates."""
    query, candidates = plan.query, np.array(plan.query.candidates)
    found = [
        [
            _plain(candidates[choice.lowest(score)], query.type == "integer")
            for choice, score in zip(plan.choices, scores, strict=True)
        ]
        for scores in chosen.scores(candidates, plan.ratios)
    ]
    error = plan.expected_error()
    if not query.by and len(query.q) == 1:
        return NoisyAnswer(found[0][0], error)
    entries = []
    for key, row in zip(chosen.keys, found, strict=True):
        for q, value in zip(query.q, row, strict=True):
            named = ([key] if query.by else []) + ([float(q)] if len(query.q) > 1 else [])
            entries.append({"key": named[0] if len(named) == 1 else named, "answer": value})
    return NoisyAnswer(entries, error)


def _plain(number: float, whole: bool) -> int | float:
    return int(number) if whole and float(number).is_integer() else float(number)


def _outcome(plan: QueryPlan, keys: list[Any], values: Array, errors: Array) -> NoisyAnswer:
    whole = plan.sums is None or (plan.query.kind == "sum" and plan.sums.steps.whole)
    numbers = [int(value) if whole else float(value) for value in values]
    off = [_plain(error, whole) for error in errors]
    if not plan.query.by and not plan.query.bins:
        return NoisyAnswer(numbers[0], off[0])
    entries: list[dict[str, Any]] = [{"key": key, "answer": number} for key, number in zip(keys, numbers, strict=True)]
    if plan.query.kind in ("mean", "variance"):
        entries = [{**entry, "error_95": error} for entry, error in zip(entries, off, strict=True)]
    # without a single released group there is nothing to be off
    return NoisyAnswer(entries, max(off, default=None))


def _estimated_bounds(chosen: Selected, counts: Array, noise: IntegerNoise) -> NoisyAnswer:
    """From the lowest to the highest power of two whose noisy count no empty bin would reach (95%)."""
    least = noise.error(ALPHA / len(counts))
    full = [place for place, count in enumerate(counts) if count > least]
    if not full:
        return NoisyAnswer(None, None, [f"No range holds clearly more than {least:,.0f} rows: no bounds can be told."])
    low, high = chosen.keys[full[0]][0], chosen.keys[full[-1]][1]
    return NoisyAnswer(
        [{"key": "low", "answer": low}, {"key": "high", "answer": high}],
        None,
        ["Ranges that hold only a few rows are not seen: their values would be moved to the bounds."],
    )
