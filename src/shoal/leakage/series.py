"""Series in x of classes, each at several frequencies: what the law for several persons multiplies.

A class of k contributes sum over m of (x^m / m!) T_m with the tails T_m = sum over h >= m of C(k, h) leaks^(h-m)
stays^(k-h). They are built up person by person (small classes), from their first terms (where few of a class leak), or
from the whole by taking away the first terms (where many do), so that no digits are lost.
"""

from __future__ import annotations

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array


@dataclass(frozen=True)
class Tails:
    """The series of classes, up to x^targets: the coefficient of x^m is T_m scale^m / m! at each frequency.

    `whole` = leaks + stays, which is 1 where both were divided by it; `p` is the share that leaks.

    >>> one = np.ones(1)
    >>> Tails(2, 1.0, 0.5, one / 2, one / 2, np.log(one / 2), one).of(np.array([2]))[0, :, 0].real.tolist()
    [1.0, 1.5, 0.5]
    """

    targets: int
    scale: float
    p: float
    leaks: Array
    stays: Array
    log_stays: Array
    whole: Array

    def of(self, sizes: Array) -> Array:
        """Series by size: an array of sizes x powers of x x frequencies."""
        found = np.zeros((len(sizes), self.targets + 1, len(self.leaks)), complex)
        small = sizes <= 2 * self.targets + 2
        few = ~small & (sizes * self.p < self.targets + 1)
        many = ~small & ~few
        if small.any():
            found[small] = self._built_up(sizes[small])
        if few.any():
            found[few] = self._from_first_terms(sizes[few])
        if many.any():
            found[many] = self._from_whole(sizes[many])
        return found

    def _built_up(self, sizes: Array) -> Array:
        """One person more in the class: T_m(k+1) = stays T_m(k) + T_(m-1)(k)."""
        row = np.zeros((self.targets + 1, len(self.leaks)), complex)
        row[0] = 1
        steps = (self.scale / np.arange(1, self.targets + 1))[:, None]
        found = np.empty((len(sizes), *row.shape), complex)
        for size in range(1, int(sizes[-1]) + 1):
            row[1:] = self.stays * row[1:] + steps * row[:-1]
            row[0] *= self.whole
            found[sizes == size] = row
        return found

    def _first_terms(self, sizes: Array) -> Array:
        """C(k, m) stays^(k-m) scale^m / m!, the first term of each tail."""
        found = np.zeros((len(sizes), self.targets + 1, len(self.leaks)), complex)
        if self.p == 1:  # nobody stays
            return found
        found[:, 0] = np.exp(sizes[:, None] * self.log_stays)
        for m in range(self.targets):
            factor = (sizes - m) * (self.scale / (m + 1) ** 2)
            found[:, m + 1] = found[:, m] * factor[:, None] / self.stays
        return found

    def _from_first_terms(self, sizes: Array) -> Array:
        """T_n summed from its terms, which fall fast; then T_(m-1) = its first term + leaks T_m."""
        found = self._first_terms(sizes)
        term = found[:, -1].copy()
        odds = self.leaks / self.stays
        for h in range(self.targets, int(sizes[-1])):
            term *= (np.maximum(sizes - h, 0) / (h + 1))[:, None] * odds
            found[:, -1] += term
            if (np.abs(term) <= 1e-20 * np.abs(found[:, -1])).all():
                break
        for m in range(self.targets, 0, -1):
            found[:, m - 1] += self.leaks * found[:, m] * (m / self.scale)
        found[:, 0] = self._all(sizes)
        return found

    def _from_whole(self, sizes: Array) -> Array:
        """T_0 is the whole; T_m = (T_(m-1) - its first term) / leaks."""
        found, first = np.empty((len(sizes), self.targets + 1, len(self.leaks)), complex), self._first_terms(sizes)
        found[:, 0] = self._all(sizes)
        for m in range(1, self.targets + 1):
            found[:, m] = (found[:, m - 1] - first[:, m - 1]) * (self.scale / m) / self.leaks
        return found

    def _all(self, sizes: Array) -> Array:
        """(leaks + stays)^k."""
        return np.where(self.whole == 1, 1, self.whole ** sizes[:, None])


def multiply(one: Array, other: Array) -> Array:
    """Products of series in x, cut after x^n: axis 1 holds the coefficients.

    >>> series = np.array([[[1], [2], [0]]], complex)  # 1 + 2x
    >>> multiply(series, series)[0, :, 0].real.tolist()
    [1.0, 4.0, 4.0]
    """
    found = np.empty(np.broadcast_shapes(one.shape, other.shape), complex)
    for m in range(one.shape[1]):
        found[:, m] = np.einsum("smf,smf->sf", one[:, : m + 1], other[:, m::-1])
    return found


def power(series: Array, exponents: Array) -> Array:
    """Each series to its power, by repeated squaring; `series` is used up.

    >>> power(np.array([[[1], [1], [0]]], complex), np.array([5]))[0, :, 0].real.tolist()
    [1.0, 5.0, 10.0]
    """
    found = np.zeros_like(series)
    found[:, 0] = 1
    left = exponents.copy()
    while left.any():
        odd = left % 2 == 1
        found[odd] = multiply(found[odd], series[odd])
        left //= 2
        go_on = left > 0
        series[go_on] = multiply(series[go_on], series[go_on])
    return found
