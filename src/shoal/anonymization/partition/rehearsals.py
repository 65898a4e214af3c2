"""The loops of the partition run on a few records, so that they can be compiled side by side before their first use."""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.exchange_boxes import exchange_boxes
from shoal.anonymization.partition.exchange_squares import exchange_squares
from shoal.anonymization.partition.groups import Groups, loss, peeled
from shoal.anonymization.partition.local_search import improve_blocks, middles
from shoal.anonymization.partition.peel import peel_loop
from shoal.compiled import Rehearsal

_K, _GROUPS = 3, 8


def _few() -> Groups:
    rows = np.random.default_rng(0).random((_K * _GROUPS + 1, 2), np.float32)
    groups = Groups.of(rows)
    groups.first[_K:-1:_K] = True
    return groups


def group_few() -> None:
    """Cut, and group from the outside in."""
    peeled(_few().rows, _K, 1 << 16, 2 * _K)


def _improve(squares: bool) -> None:
    groups = _few()
    starts, rows = groups.starts, groups.rows
    count = len(starts)
    middle, lengths, costly = np.empty((count, 2), np.float32), np.empty(count, np.int64), np.empty(count, bool)
    middles(rows, starts, len(rows), middle, lengths, costly)
    numbers, blocks = np.arange(count, dtype=groups.order.dtype), np.array([0, count])
    new = rows.copy(), groups.order.copy(), np.zeros(len(rows), bool)
    improve_blocks(rows, groups.order, starts, lengths, numbers, blocks, _K, squares, *new, 0)


def exchange_few() -> None:
    """Exchange records for less information loss, and measure it."""
    _improve(squares=False)
    loss(_few())


def exchange_few_squares() -> None:
    """Exchange records for a smaller sum of squares."""
    _improve(squares=True)


GROUP = Rehearsal(__name__, "group_few", peel_loop)
EXCHANGE = Rehearsal(__name__, "exchange_few", exchange_boxes)
EXCHANGE_SQUARES = Rehearsal(__name__, "exchange_few_squares", exchange_squares)
