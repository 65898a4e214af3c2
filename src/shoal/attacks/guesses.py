"""What the candidates of a target say about a sensitive column: each value with the records that have it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from shoal.attacks.linking.link import Linkage
from shoal.attacks.subject import Subject
from shoal.dataclasses import dataclass
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, CountTable
from shoal.threads import in_threads, processors

# numbers with more distinct values are guessed by their median, and right within a share of the value
_MOST_CATEGORIES = 20
NEAR = 0.05
# so few are not worth a thread
_FEW_POINTS = 100


@dataclass(frozen=True)
class Believed:
    """What the candidates of some targets say about a sensitive column, target by target.

    Values are codes of the released column, which are in order; `truth` are the targets' own, -1 where the release does
    not have it and -2 where it is missing. `shares`: how frequent each value is in the whole release. `distinct`: how
    many different values the candidates have, `own`: how many of them have the target's; the probability that a value
    that most of them have is the target's (`frequent`), or the one most over-represented (`lifted`), ties shared.
    """

    truth: Array
    shares: Array
    numbers: Array | None
    true_numbers: Array | None
    distinct: Array
    own: Array
    frequent: Array
    lifted: Array
    median: Array
    least: Array
    greatest: Array

    @classmethod
    def of(
        cls,
        pairs: tuple[Array, Array],
        cells: tuple[Array, Array, Array],
        point_of_target: Array,
        truth: Array,
        shares: Array,
        numbers: Array | None = None,
        true_numbers: Array | None = None,
    ) -> Believed:
        """From the boxes of each point (`starts`, boxes) and the values of each box (`starts`, values, records)."""
        from shoal.attacks.kernels import believe

        points = len(pairs[0]) - 1
        members = np.argsort(point_of_target, kind="stable")
        targets = np.searchsorted(point_of_target[members], np.arange(points + 1)), members
        found = np.zeros((len(truth), 8))
        parts = 4 * processors() if points > _FEW_POINTS else 1
        cuts = np.linspace(0, points, parts + 1).astype(np.int64).tolist()
        in_threads(
            lambda part: believe(pairs, cells, targets, truth, shares, *part, found),
            list(pairwise(cuts)),
        )
        values = found[:, 5:].astype(np.int64).T
        return cls(truth, shares, numbers, true_numbers, *found[:, 1:5].T, *values)

    def right(self, probability: Array) -> Array:
        """The probability of being right: who fits no record is guessed to have the most frequent value."""
        if not len(self.shares):
            return np.zeros(len(self.truth))
        modes = np.flatnonzero(self.shares == self.shares.max())
        return np.where(self.distinct > 0, probability, np.isin(self.truth, modes) / len(modes))

    def median_is_near(self) -> Array:
        """Whether the median of the candidates' numbers is near the target's own; of no candidates, that of all."""
        assert self.numbers is not None
        assert self.true_numbers is not None
        overall = self.numbers[np.searchsorted(np.cumsum(self.shares), 0.5 - 1e-12)] if len(self.shares) else np.nan
        return near(np.where(self.distinct > 0, self.numbers[self.median], overall), self.true_numbers)


def near(guess: Array, truth: Array) -> Array:
    """Within a twentieth of the true value.

    >>> near(np.array([104.0, 106.0, np.nan]), np.array([100.0, 100.0, 100.0])).tolist()
    [1.0, 0.0, 0.0]
    """
    return np.asarray(np.abs(guess - truth) <= NEAR * np.abs(truth), np.float64)


def sensitive_of(subject: Subject) -> list[str]:
    """The sensitive columns that are released as values and that the original has too."""
    kinds = ("as-it-was", "recoded", "perturbed")
    return [
        name
        for name in subject.policy.sensitive
        if name in subject.table.columns
        and (name not in subject.released.forms or subject.released.forms[name].kind in kinds)
        and (subject.original is None or name in subject.original.columns)
    ]


def is_number(column: Column) -> bool:
    """Whether a sensitive column is guessed as a number, near enough, and not as a category."""
    return column.values.dtype.is_numeric() and len(column.values) > _MOST_CATEGORIES


def believed(subject: Subject, people: Table, name: str, linked: Linkage) -> Believed:
    """What the candidates of some people say about a sensitive column."""
    column = subject.table[name]
    known = ~column.is_null()
    boxes = CountTable.of(
        {
            "box": Coded(linked.boxes.box_of_row[known], len(linked.boxes.low)),
            "value": Coded(column.codes[known], max(column.cardinality, 1)),
        }
    )
    starts = np.searchsorted(boxes.tuples["box"].codes, np.arange(len(linked.boxes.low) + 1))
    counts = np.bincount(column.codes[known], minlength=len(column.values))[: len(column.values)]
    numbers = column.values.cast(pl.Float64).to_numpy() if is_number(column) else None
    return Believed.of(
        linked.pairs,
        (starts, boxes.tuples["value"].codes.astype(np.int64), boxes.counts.astype(np.int64)),
        linked.point_of_row.astype(np.int64),
        own_codes(people[name], column),
        counts / max(counts.sum(), 1),
        numbers,
        None if numbers is None else people[name].decode().cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy(),
    )


def own_codes(own: Column, released: Column) -> Array:
    """The own value of each person as a code of the released column; -1 where that does not have it, -2 missing."""
    theirs = pl.DataFrame({"value": released.values.cast(pl.String), "code": np.arange(len(released.values))})
    place = pl.DataFrame({"value": own.values.cast(pl.String)}).join(
        theirs, on="value", how="left", maintain_order="left"
    )["code"]
    codes = place.fill_null(-1).to_numpy().astype(np.int64)
    return np.asarray(np.append(codes, -2)[own.codes.astype(np.int64)])
