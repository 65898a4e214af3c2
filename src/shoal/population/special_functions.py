"""The digamma and trigamma functions on arrays."""

from __future__ import annotations

from math import lgamma

import numpy as np

from shoal.table import Array

_SHIFT = 8


def digamma(x: Array | float) -> Array:
    """psi(x) for x > 0: shifted past 8 by psi(x) = psi(x+1) - 1/x, then Stirling's series.

    >>> digamma(np.array([1.0, 0.5])).round(10).tolist()
    [-0.5772156649, -1.963510026]
    """
    x = np.asarray(x, float)
    below = np.zeros(x.shape)
    for step in range(_SHIFT):
        below += 1 / (x + step)
    y = x + _SHIFT
    inverse = 1 / (y * y)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132))))
    return np.asarray(np.log(y) - 0.5 / y - series - below)


def trigamma(x: Array | float) -> Array:
    """psi'(x) for x > 0, in the same way.

    >>> trigamma(np.array([1.0])).round(10).tolist()
    [1.6449340668]
    """
    x = np.asarray(x, float)
    below = np.zeros(x.shape)
    for step in range(_SHIFT):
        below += 1 / (x + step) ** 2
    y = x + _SHIFT
    inverse = 1 / (y * y)
    series = inverse * (1 / 6 - inverse * (1 / 30 - inverse * (1 / 42 - inverse * (1 / 30 - inverse * 5 / 66))))
    return np.asarray(1 / y + 0.5 * inverse + series / y + below)


def log_gamma(x: Array | float) -> Array:
    """ln Gamma(x), element by element.

    >>> log_gamma(np.array([5.0])).round(6).tolist()
    [3.178054]
    """
    return np.asarray(np.vectorize(lgamma, otypes=[float])(np.asarray(x, float)))
