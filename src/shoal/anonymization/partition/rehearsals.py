"""The loops of the partition run on a few records, so that they can be compiled side by side before their first use."""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.exchange_boxes import exchange_boxes
from shoal.anonymization.partition.exchange_squares import exchange_squares
from shoal.anonymization.partition.groups import Groups, improved, loss, peeled
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


def exchange_few() -> None:
    """Exchange records for less information loss, and measure it."""
    improved(_few(), _K, 0)
    loss(_few())


def exchange_few_squares() -> None:
    """Exchange records for a smaller sum of squares."""
    improved(_few(), _K, 0, squares=True)


GROUP = Rehearsal(__name__, "group_few", peel_loop)
EXCHANGE = Rehearsal(__name__, "exchange_few", exchange_boxes)
EXCHANGE_SQUARES = Rehearsal(__name__, "exchange_few_squares", exchange_squares)
