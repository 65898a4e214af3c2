"""Round edges for bins of numbers and dates, and what the bins are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from shoal.table import Array

_BINS = 9
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


def edges_of(low: float, high: float, *, whole: bool, days: bool) -> Array:
    """About eight round edges from low to high; one at least.

    >>> edges_of(18, 93, whole=True, days=False).tolist()
    [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    >>> labels_of(edges_of(19000, 20100, whole=True, days=True), True, True)[:2]
    ['before 2022-07', '2022-07 to 2022-12']
    """
    if days:
        return _months(low, high)
    step = _round_step((high - low) / _BINS)
    step = max(step, 1.0) if whole else step
    edges = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    edges = edges[edges > low] if (edges > low).any() else edges
    return edges if len(edges) else np.array([np.ceil(high / step) * step])


def _round_step(size: float) -> float:
    """The next larger of 1, 2, 5, 10, and so on."""
    if size <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= size * (1 - 1e-9)))


def _months(low: float, high: float) -> Array:
    first, last = (int(np.datetime64(int(day), "D").astype("datetime64[M]").astype(int)) for day in (low, high))
    step = next((size for size in _MONTHS if (last - first) / size <= _BINS), _MONTHS[-1])
    months = np.arange((first // step + 1) * step, last + 1, step)
    months = months if len(months) else np.array([last])
    edges: Array = months.astype("datetime64[M]").astype("datetime64[D]").astype(float)
    return edges


def labels_of(edges: Array, whole: bool, days: bool) -> Sequence[str]:
    """The names of the bins between edges: the first and the last are open.

    >>> labels_of(np.array([20.0, 30.0]), True, False), labels_of(np.array([0.5]), False, False)
    (['under 20', '20–29', '30 and more'], ['under 0.5', '0.5 and more'])
    """
    names = [_name(edge, days) for edge in edges]
    between = [_between(first, last, whole, days) for first, last in pairwise(edges)]
    if days:
        return [f"before {names[0]}", *between, f"from {names[-1]}"]
    return [f"under {names[0]}", *between, f"{names[-1]} and more"]


def number_name(numbers: Iterable[float]) -> list[str]:
    """Numbers as they are written: with commas from a hundred thousand, so that years and codes have none.

    >>> number_name([0.5, 1980, 250000])
    ['0.5', '1980', '250,000']
    """
    return [f"{number:,.10g}" if abs(number) >= 100_000 else f"{number:.10g}" for number in numbers]


def _name(edge: float, days: bool) -> str:
    return str(np.datetime64(int(edge), "D"))[:7] if days else number_name([edge])[0]


def _between(first: float, last: float, whole: bool, days: bool) -> str:
    if not whole:
        return f"{_name(first, days)} to under {_name(last, days)}"
    start, end = _name(first, days), _name(last - 1, days)
    if start == end:
        return start
    return f"{start} to {end}" if days else f"{start}–{end}"
