"""Numbers of any size in a unit in which their differences and squares are numbers too.

The unit is a power of two, so that nothing is rounded but what is far smaller than the largest. Numbers of ordinary
size keep theirs.
"""

from __future__ import annotations

import numpy as np

from shoal.table import Array

# of numbers between 2^-400 and 2^400 the sum of any number of squares is exact enough
_ORDINARY = 400


def exponent_of(values: Array) -> int:
    """The unit of some numbers, as a power of two: 0 for those of ordinary size.

    >>> exponent_of(np.array([3.0, -1e100])), exponent_of(np.array([1e308, -1e308])), exponent_of(np.array([5e-324]))
    (0, 1024, -1073)
    """
    largest = float(np.abs(values).max(initial=0.0))
    exponent = int(np.frexp(largest)[1])
    return 0 if largest == 0.0 or abs(exponent) <= _ORDINARY else exponent


def in_unit(values: Array, exponent: int) -> Array:
    """Numbers in units of 2^exponent.

    >>> in_unit(np.array([1.0, 4.0]), 1).tolist()
    [0.5, 2.0]
    """
    return values if exponent == 0 else np.asarray(np.ldexp(values, -exponent))


def out_of_unit(values: Array, exponent: int) -> Array:
    """The numbers again; what is larger than any number is the largest.

    >>> out_of_unit(np.array([0.5, 2.0]), 1024).tolist()
    [8.98846567431158e+307, 1.7976931348623157e+308]
    """
    if exponent == 0:
        return values
    most = np.ldexp(np.finfo(np.float64).max, -exponent) if exponent > 0 else np.inf
    return np.asarray(np.ldexp(np.clip(values, -most, most), exponent))


def middles(scale: Array, low: Array, high: Array) -> Array:
    """The middle of each range scale[low] .. scale[high].

    >>> middles(np.array([1e308, 1.5e308]), np.array([0]), np.array([1])).tolist()
    [1.25e+308]
    """
    exponent = exponent_of(scale)
    scale = in_unit(scale, exponent)
    return out_of_unit((scale[low] + scale[high]) / 2, exponent)


def widths(low: Array, high: Array) -> Array:
    """high - low; of ends that are farther apart than any number is large, the largest number.

    >>> widths(np.array([1.0, -1e308]), np.array([3.0, 1e308])).tolist()
    [2.0, 1.7976931348623157e+308]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = high - low
    if not np.isinf(found).any():
        return np.asarray(found)
    return np.where(np.isinf(found) & np.isfinite(low) & np.isfinite(high), np.finfo(np.float64).max, found)


def mean_of(values: Array, counts: Array) -> float:
    """The mean of numbers that are not negative, each of which counts so many times.

    >>> mean_of(np.array([1.0, 4.0]), np.array([2, 1])), mean_of(np.array([1.5e308]), np.array([9]))
    (2.0, 1.5e+308)
    """
    exponent = exponent_of(values) if np.isfinite(values).all() else 0
    mean = float((in_unit(values, exponent) * counts).sum()) / int(counts.sum())
    return float(out_of_unit(np.asarray(mean), exponent))
