"""Boxes in plain arrays: box b spans low[b] .. high[b]; widened by records, and how far records are from its corners.

Everything is named by its number: to hand over a row of an array would cost the compiled code more than the arithmetic.
Comparisons are written out, because the processor takes many of those at once, unlike `min` and `max`.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled_inside
from shoal.table import Array


@compiled_inside
def start(low: Array, high: Array, b: Number, rows: Array, i: Number) -> None:
    """The box of one record."""
    for j in range(rows.shape[1]):
        low[b, j] = rows[i, j]
        high[b, j] = rows[i, j]


@compiled_inside
def start_empty(low: Array, high: Array, b: Number) -> None:
    """A box that is nowhere."""
    for j in range(low.shape[1]):
        low[b, j] = np.inf
        high[b, j] = -np.inf


@compiled_inside
def widen(low: Array, high: Array, b: Number, rows: Array, i: Number) -> None:
    """Let a box hold one more record."""
    for j in range(rows.shape[1]):
        x = rows[i, j]
        low[b, j] = x if x < low[b, j] else low[b, j]
        high[b, j] = x if x > high[b, j] else high[b, j]


@compiled_inside
def widened(low: Array, high: Array, b: Number, rows: Array, i: Number, to: Number) -> None:
    """The box `to` is b with one more record."""
    for j in range(rows.shape[1]):
        x = rows[i, j]
        low[to, j] = x if x < low[b, j] else low[b, j]
        high[to, j] = x if x > high[b, j] else high[b, j]


@compiled_inside
def join(low: Array, high: Array, b: Number, one: Number, two: Number) -> bool:
    """The box around two boxes; whether it differs from what it was."""
    differs = 0
    for j in range(low.shape[1]):
        bottom = low[two, j] if low[two, j] < low[one, j] else low[one, j]
        top = high[two, j] if high[two, j] > high[one, j] else high[one, j]
        differs += (bottom != low[b, j]) | (top != high[b, j])
        low[b, j] = bottom
        high[b, j] = top
    return differs > 0


@compiled_inside
def far_corner(rows: Array, i: Number, low: Array, high: Array, b: Number) -> Number:
    """The distance of a record to the farthest corner of a box that holds it, in double precision."""
    total = 0.0
    for j in range(rows.shape[1]):
        side = float(max(high[b, j] - rows[i, j], rows[i, j] - low[b, j]))
        total += side * side
    return np.sqrt(total)


@compiled_inside
def gap(low: Array, high: Array, one: Number, two: Number) -> Number:
    """The distance between two boxes."""
    total = np.float32(0)
    for j in range(low.shape[1]):
        under, over = low[two, j] - high[one, j], low[one, j] - high[two, j]
        side = under if under > over else over
        side = side if side > 0 else np.float32(0)
        total += side * side
    return np.sqrt(total)


@compiled_inside
def growth(rows: Array, i: Number, low: Array, high: Array, b: Number, members: Number) -> Number:
    """What a group's box of so many members would cost more, at most, with one more record."""
    before = after = np.float32(0)
    for j in range(rows.shape[1]):
        x, bottom, top = rows[i, j], low[b, j], high[b, j]
        before += (top - bottom) * (top - bottom)
        bottom = x if x < bottom else bottom
        top = x if x > top else top
        after += (top - bottom) * (top - bottom)
    return (members + 1) * np.sqrt(after) - members * np.sqrt(before)
