"""Released cells as features: a range its middle or its share of the cells between cuts, a set shares of its members.

The columns are learned from the release of the fitted table and stay the same for new data.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.table import Array
from shoal.utility.decoding import Ends, Members

Encode = Literal["label", "midpoint", "onehot"]
# more features of one column than a learner is helped by
_MOST_FEATURES = 1_000


class Encoding(Protocol):
    """How one released column becomes features."""

    @property
    def endings(self) -> list[str]:
        """What is put behind the column's name, for each feature."""

    def features(self, meaning: Ends | Members, codes: Array) -> Array:
        """The features of each row."""


@dataclass(frozen=True)
class Middle:
    """A range is its middle, `*` the mean of the fitted release, a missing value stays missing."""

    mean: float

    @property
    def endings(self) -> list[str]:
        """One feature, under the column's own name."""
        return [""]

    def features(self, meaning: Ends | Members, codes: Array) -> Array:
        """The middle of each row's range."""
        ends = _as_ends(meaning)
        return np.where(ends.star, self.mean, (ends.low + ends.high) / 2)[codes][:, None]


@dataclass(frozen=True)
class CellShares:
    """A range is spread evenly over the cells that it covers, `*` is as the fitted release; a missing value is nowhere.

    A cell goes from one low end of a released range to the next. Cuts lie where records are dense, so even shares are
    nearer to how the records are spread than shares by width.
    """

    low: Array
    spread: Array
    day: bool

    @property
    def endings(self) -> list[str]:
        """The first value of each cell; of dates the days since 1970."""
        return [f">={low:.12g}" for low in self.low]

    def features(self, meaning: Ends | Members, codes: Array) -> Array:
        """The share of each cell in each row's range."""
        ends = _as_ends(meaning)
        shares = _cell_shares(ends, self.low)
        shares[ends.star] = self.spread
        return shares[codes]


@dataclass(frozen=True)
class MemberShares:
    """A category is 1 in its feature, a set or a node equal shares over its members, `*` is as the fitted release."""

    labels: list[str]
    spread: Array

    @property
    def endings(self) -> list[str]:
        """The categories of the fitted release."""
        return [f"={label}" for label in self.labels]

    def features(self, meaning: Ends | Members, codes: Array) -> Array:
        """The share of each category in each row's set; a category that was never seen has none."""
        if isinstance(meaning, Ends):
            raise InputError("A column of categories holds numbers now.", "Give data of the same types.")
        place = {label: number for number, label in enumerate(self.labels)}
        where = np.array([place.get(label, -1) for label in meaning.labels], np.int64)
        shares = np.zeros((len(meaning.star), len(self.labels) + 1))
        np.add.at(shares, (meaning.codes, where[meaning.members]), meaning.within(np.ones(len(meaning.labels))))
        shares = shares[:, :-1]
        shares[meaning.star] = self.spread
        return np.asarray(shares[codes])


def learned(name: str, meaning: Ends | Members, records: Array, cells: bool) -> Encoding:
    """How a column of the fitted release is encoded; `cells` asks for shares of cells instead of middles.

    >>> from shoal.reading import read
    >>> from shoal.utility.decoding import decoded
    >>> column = read({"age": ["[20;29]", "[20;39]", "[30;39]", "*"]})["age"]
    >>> meaning = decoded(column)
    >>> encoding = learned("age", meaning, np.ones(4), cells=True)
    >>> encoding.endings, encoding.features(meaning, column.codes).tolist()
    (['>=20', '>=30'], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.5, 0.5]])
    """
    if isinstance(meaning, Members):
        _check_width(name, len(meaning.labels))
        return MemberShares(meaning.labels, meaning.distribution(records))
    if not cells:
        return Middle(_mean(meaning, records))
    low = np.unique(meaning.low[~np.isnan(meaning.low)])
    low = low if len(low) else np.zeros(1)
    _check_width(name, len(low))
    total = records @ _cell_shares(meaning, low)
    spread = total / total.sum() if total.sum() else np.full(len(low), 1 / len(low))
    return CellShares(low, spread, meaning.day)


def _mean(ends: Ends, records: Array) -> float:
    """The mean of the middles of all records whose value is known."""
    known = ~np.isnan(ends.low)
    total = records[known].sum()
    return float((records[known] * (ends.low + ends.high)[known]).sum() / 2 / total) if total else 0.0


def _cell_shares(ends: Ends, low: Array) -> Array:
    """By code the share of every cell; a missing value and `*` have none. What lies below all cells is in the first."""
    shares = np.zeros((len(ends.low), len(low)))
    known = np.flatnonzero(~np.isnan(ends.low) & ~ends.star)
    first = np.maximum(np.searchsorted(low, ends.low[known], side="right") - 1, 0)
    last = np.maximum(np.searchsorted(low, ends.high[known], side="right") - 1, first)
    cell = np.arange(len(low))
    inside = (cell >= first[:, None]) & (cell <= last[:, None])
    shares[known] = inside / inside.sum(axis=1, keepdims=True)
    return shares


def _as_ends(meaning: Ends | Members) -> Ends:
    """The ends of an ordered column; one that is `*` throughout has no other reading."""
    if isinstance(meaning, Ends):
        return meaning
    if meaning.labels:
        raise InputError("A column of numbers holds texts now.", "Give data of the same types.")
    unknown = np.full(len(meaning.star), np.nan)
    return Ends(unknown, unknown, meaning.star, False, False)


def _check_width(name: str, width: int) -> None:
    if width > _MOST_FEATURES:
        raise InputError(
            f"Column '{name}' would become {width:,} features.",
            "Decide it as identifier, which removes it, or set encode='midpoint' or 'label'.",
        )
