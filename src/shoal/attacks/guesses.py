"""What the candidates of a target say about a sensitive column: each value with the records that have it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl

from shoal.attacks.linking.link import Linkage
from shoal.attacks.subject import Subject
from shoal.dataclasses import dataclass
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, CountTable

# numbers with more distinct values are guessed by their median, and right within a share of the value
_MOST_CATEGORIES = 20
NEAR = 0.05


@dataclass(frozen=True)
class Believed:
    """Of some targets: entry e says that `records[e]` candidates of target `target[e]` have the value `value[e]`.

    Values are codes of the released column; `truth` are the targets' own, -1 where the release does not have it and -2
    where it is missing. `shares`: how frequent each value is in the whole release.
    """

    target: Array
    value: Array
    records: Array
    truth: Array
    shares: Array
    numbers: Array | None
    true_numbers: Array | None

    @property
    def targets(self) -> int:
        return len(self.truth)

    @cached_property
    def total(self) -> Array:
        """The candidates of each target whose value is known."""
        return np.bincount(self.target, self.records, minlength=self.targets)

    @cached_property
    def distinct(self) -> Array:
        """How many different values the candidates of each target have."""
        return np.bincount(self.target, minlength=self.targets)

    def best(self, score: Array) -> Array:
        """The probability of being right who takes of each target the value with the greatest score, ties shared."""
        top = np.full(self.targets, -np.inf)
        np.maximum.at(top, self.target, score)
        chosen = score >= top[self.target] - 1e-12
        ties = np.bincount(self.target[chosen], minlength=self.targets)
        right = np.bincount(self.target[chosen & (self.value == self.truth[self.target])], minlength=self.targets)
        found = np.divide(right, ties, out=np.zeros(self.targets), where=ties > 0)
        return np.where(ties > 0, found, self.without_candidates())

    def without_candidates(self) -> Array:
        """Who fits no record is guessed to have the most frequent value."""
        if not len(self.shares):
            return np.zeros(self.targets)
        modes = np.flatnonzero(self.shares == self.shares.max())
        return np.isin(self.truth, modes) / len(modes)

    def median_is_near(self) -> Array:
        """Whether the median of the candidates' numbers is near the target's own."""
        assert self.numbers is not None
        assert self.true_numbers is not None
        order = np.lexsort((self.value, self.target))
        target, records = self.target[order], self.records[order]
        before = np.cumsum(records) - records
        first = np.flatnonzero(np.diff(target, prepend=-1))
        start = np.zeros(self.targets)
        start[target[first]] = before[first]
        within = before - start[target] + records
        reached = np.flatnonzero(within * 2 >= self.total[target])
        middle = np.full(self.targets, np.nan)
        middle[target[reached][::-1]] = self.numbers[self.value[order][reached]][::-1]  # the first that reaches half
        overall = self.numbers[np.searchsorted(np.cumsum(self.shares), 0.5 - 1e-12)] if len(self.shares) else np.nan
        return near(np.where(np.isnan(middle), overall, middle), self.true_numbers)


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
    cells = pl.DataFrame(
        {key: one.codes.astype(np.int64) for key, one in boxes.tuples.items()} | {"records": boxes.counts}
    )
    starts, listed = linked.pairs
    pairs = pl.DataFrame({"point": np.repeat(np.arange(len(starts) - 1), np.diff(starts)), "box": listed})
    by_point = pairs.join(cells, on="box").group_by("point", "value").agg(pl.col("records").sum())
    targets = pl.DataFrame({"point": linked.point_of_row, "target": np.arange(people.rows)})
    entries = targets.join(by_point, on="point").sort("target", "value")
    counts = np.bincount(column.codes[known], minlength=len(column.values))[: len(column.values)]
    numbers = column.values.cast(pl.Float64).to_numpy() if is_number(column) else None
    return Believed(
        entries["target"].to_numpy(),
        entries["value"].to_numpy(),
        entries["records"].to_numpy().astype(np.float64),
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
