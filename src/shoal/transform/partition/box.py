"""A box in plain arrays, its low and its high corner: widened by records, and how far they are from its corners.

Written with comparisons that the processor can take many of at once, which `min` and `max` are not.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled, compiled_loosely
from shoal.table import Array


@compiled
def start(low: Array, high: Array, row: Array) -> None:
    """The box of one record."""
    for j in range(len(row)):
        low[j] = row[j]
        high[j] = row[j]


@compiled
def widen(low: Array, high: Array, row: Array) -> None:
    """Let a box hold one more record."""
    for j in range(len(row)):
        x = row[j]
        low[j] = x if x < low[j] else low[j]
        high[j] = x if x > high[j] else high[j]


@compiled
def join(low: Array, high: Array, low_a: Array, high_a: Array, low_b: Array, high_b: Array) -> bool:
    """The box around two boxes; whether it differs from what it was."""
    differs = 0
    for j in range(len(low)):
        a = low_b[j] if low_b[j] < low_a[j] else low_a[j]
        b = high_b[j] if high_b[j] > high_a[j] else high_a[j]
        differs += (a != low[j]) | (b != high[j])
        low[j] = a
        high[j] = b
    return differs > 0


@compiled_loosely
def far_corner(row: Array, low: Array, high: Array) -> Number:
    """The distance of a record to the farthest corner of a box; 0 in columns where the box is less than a point."""
    total = np.float32(0)
    for j in range(len(row)):
        up, down = high[j] - row[j], row[j] - low[j]
        side = up if up > down else down
        side = side if side > 0 else np.float32(0)
        total += side * side
    return np.sqrt(total)


@compiled_loosely
def gap(low_a: Array, high_a: Array, low_b: Array, high_b: Array) -> Number:
    """The distance between two boxes."""
    total = np.float32(0)
    for j in range(len(low_a)):
        one, two = low_b[j] - high_a[j], low_a[j] - high_b[j]
        side = one if one > two else two
        side = side if side > 0 else np.float32(0)
        total += side * side
    return np.sqrt(total)


@compiled_loosely
def growth(row: Array, low: Array, high: Array, members: int) -> Number:
    """What a group's box of so many members would cost more, at most, with one more record."""
    before = after = np.float32(0)
    for j in range(len(row)):
        side = high[j] - low[j]
        before += side * side
        a = row[j] if row[j] < low[j] else low[j]
        b = row[j] if row[j] > high[j] else high[j]
        after += (b - a) * (b - a)
    return (members + 1) * np.sqrt(after) - members * np.sqrt(before)
