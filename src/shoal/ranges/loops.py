"""Loops over all rows of a large table that lie in boxes."""

from __future__ import annotations

import numpy as np

from shoal.compiled import at_hand, compiled
from shoal.table import Array

_CODES = (np.uint8, np.uint16, np.uint32)


@compiled
def ends_of_clusters(codes: Array, order: Array, starts: Array, low: Array, high: Array) -> None:
    """The lowest and highest code of each cluster: rows in `order`, a new cluster at each of `starts`."""
    for cluster in range(len(starts)):
        start = starts[cluster]
        end = starts[cluster + 1] if cluster + 1 < len(starts) else len(order)
        least = most = codes[order[start]]
        for place in range(start + 1, end):
            code = codes[order[place]]
            least, most = min(least, code), max(most, code)
        low[cluster], high[cluster] = least, most


def ends_by_loop(codes: Array, order: Array, starts: Array) -> tuple[Array, Array] | None:
    """The same; None where the loop is not at hand, or arrays are of other types than it is compiled for."""
    rows = all(one.dtype == np.int64 for one in (order, starts))
    plain = all(type(one) is np.ndarray and one.flags.carray for one in (codes, order, starts))
    if not rows or not plain or codes.dtype not in _CODES or not at_hand(ends_of_clusters):
        return None
    low, high = np.empty(len(starts), codes.dtype), np.empty(len(starts), codes.dtype)
    ends_of_clusters(codes, order, starts, low, high)
    return low, high


def rehearse() -> None:
    """Run every loop for codes of each type, so that all are compiled."""
    for kind in _CODES:
        ends = np.empty(1, kind), np.empty(1, kind)
        ends_of_clusters(np.array([3, 1], kind), np.arange(2), np.zeros(1, np.int64), *ends)
