"""What released cells stand for, as numbers: a range its middle, a set or node shares over its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.forms import ColumnForm
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.parsing import STAR, ends_of, forms_in, sets_in, unescape
from shoal.storage import Array, Column
from shoal.utility.cost import in_days

How = Literal["midpoint", "shares", "sample"]
# as a table of labels by members
_CELLS = 1 << 26
_LEADING_ZERO = r"^0[0-9]"
_ORDERED = ("integer", "number", "date", "datetime")


@dataclass(frozen=True)
class Ends:
    """An ordered column: the low and high end of each of its codes (NaN: missing), and which codes are `*`.

    `day`: ends count days since 1970. `whole`: values are whole numbers.
    """

    low: Array
    high: Array
    star: Array
    day: bool
    whole: bool

    def middles(self, records: Array) -> Array:
        """The middle of each code's range; `*` is the mean of all that is known."""
        known = ~self.star & ~np.isnan(self.low)
        middle = np.where(known, (self.low + self.high) / 2, np.nan)
        total = records[known].sum()
        mean = (middle[known] * records[known]).sum() / total if total else np.nan
        return np.asarray(np.where(self.star, mean, middle))


@dataclass(frozen=True)
class Members:
    """A column of categories: by entry e code `codes[e]` may stand for `labels[members[e]]`; `*` has no entry."""

    labels: list[str]
    codes: Array
    members: Array
    star: Array

    def distribution(self, records: Array) -> Array:
        """The share of every member in the column, where a set counts for each of its members alike.

        Going on from there until it is self-consistent (Turnbull 1976) would be wrong here: which values stand alone in
        a release is no accident, and all mass would move to members that do so once.
        """
        counts = records[self.codes].astype(float)
        even = np.full(len(self.labels), 1.0)
        shares = np.bincount(self.members, counts * self.within(even), minlength=len(self.labels))
        return np.asarray(shares / max(shares.sum(), 1e-300))

    def within(self, shares: Array) -> Array:
        """The share of each entry among those of its code."""
        weights = shares[self.members]
        total = np.bincount(self.codes, weights, minlength=len(self.star))[self.codes]
        alike = 1 / np.bincount(self.codes, minlength=len(self.star))[self.codes]
        return np.divide(weights, total, out=alike, where=total > 0)

    def matrix(self, records: Array, by_frequency: bool) -> Array:
        """By code the share of every member; `*` is the column's distribution, a missing value nothing."""
        if len(self.star) * len(self.labels) > _CELLS:
            raise InputError("A column has too many categories to be decoded.", "Name fewer columns in `columns`.")
        column = self.distribution(records)
        even = np.full(len(self.labels), 1.0)
        shares = np.zeros((len(self.star), len(self.labels)))
        np.add.at(shares, (self.codes, self.members), self.within(column if by_frequency else even))
        shares[self.star] = column
        return shares


def decoded(column: Column, form: ColumnForm | None = None, tree: Hierarchy | None = None) -> Ends | Members:
    """What each code of a released column stands for, by its declared form or, without one, by how it is written.

    Texts are ordered where some are ranges and all are numbers or dates; digits with a leading zero are codes.

    >>> from shoal.storage.reading import read
    >>> decoded(read({"age": ["[20;29]", "31", "*"]})["age"]).middles(np.array([1, 1, 1])).tolist()
    [27.75, 31.0, 24.5]
    >>> decoded(read({"job": ["[clerk, monk]", "poet"]})["job"]).labels
    ['clerk', 'monk', 'poet']
    """
    return _ends(column, form, tree) or _members(column, form, tree)


def _ends(column: Column, form: ColumnForm | None, tree: Hierarchy | None) -> Ends | None:
    dtype = column.values.dtype
    star = _star(column, form)
    if dtype.is_temporal():
        values = _with_null(in_days(column.values.to_physical().cast(pl.Float64).to_numpy(), dtype), column)
        return Ends(values, values, star, True, dtype == pl.Date)
    if dtype.is_numeric():
        values = _with_null(column.values.cast(pl.Float64).to_numpy(), column)
        return Ends(values, values, star, False, dtype.is_integer())
    if dtype != pl.String or (form is not None and form.type not in _ORDERED):
        return None
    if form is None and (not forms_in(column, "auto") or column.values.str.contains(_LEADING_ZERO).any()):
        return None
    low, high = ends_of(column)
    if tree is not None:
        low, high = _by_tree(column, tree, low, high)
    star_or_null = star | (np.arange(len(low)) >= len(column.values))
    if not (np.isfinite(low) & np.isfinite(high))[~star_or_null].all() or (form is None and star_or_null.all()):
        return None
    texts = column.values.filter(~star[: len(column.values)])
    day = bool(texts.str.contains(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").all())
    clock = day and bool(texts.str.contains(":").any())
    if clock:
        low, high = (in_days(end, pl.Datetime("us")) for end in (low, high))
    ends = np.concatenate([low[~star_or_null], high[~star_or_null]])
    whole = not clock and bool((ends == np.floor(ends)).all())
    return Ends(np.where(star, np.nan, low), np.where(star, np.nan, high), star, day, whole)


def _by_tree(column: Column, tree: Hierarchy, low: Array, high: Array) -> tuple[Array, Array]:
    """The ends of nodes that do not read as ranges: those of the leaves below."""
    leaves = ends_of(Column(column.name, np.zeros(0, np.uint8), tree.levels[0], 0, pl.String()))
    low, high = low.copy(), high.copy()
    for code, label in enumerate(column.values.to_list()):
        if np.isnan(low[code]):
            named = ((level == label).fill_null(False).to_numpy() for level in tree.levels)
            under = next((nodes for nodes in named if nodes.any()), None)  # of equal names the lowest
            if under is not None:
                low[code], high[code] = leaves[0][under].min(), leaves[1][under].max()
    return low, high


def _members(column: Column, form: ColumnForm | None, tree: Hierarchy | None) -> Members:
    star = _star(column, form)
    texts = column.values.cast(pl.String)
    frame = pl.DataFrame(
        {"code": pl.Series(np.arange(len(texts), dtype=np.int64)), "label": unescape(texts).alias("label")}
    )
    parts = []
    known = ~star[: len(texts)]
    if texts.dtype == pl.String and column.values.dtype == pl.String and (form is None or form.generalizes):
        sets = sets_in(column).select(pl.col("set").cast(pl.Int64).alias("code"), "label")
        parts.append(sets)
        known &= ~np.isin(np.arange(len(texts)), sets["code"].to_numpy())
    plain = frame.filter(pl.Series(known))
    if tree is not None:
        leaves = pl.concat(
            [
                pl.DataFrame({"label": level, "leaf": tree.levels[0]}).filter(pl.col("label") != STAR)
                for level in reversed(tree.levels)
            ]
        ).unique()
        # a leaf is itself, even where a node has its name
        plain = (
            plain.join(leaves, on="label", how="left")
            .with_columns(
                pl.when(pl.col("label").is_in(tree.levels[0].implode()))
                .then("label")
                .otherwise(pl.coalesce("leaf", "label"))
                .alias("label")
            )
            .select("code", "label")
            .unique()
        )
    entries = pl.concat([*parts, plain.select("code", "label")])
    labels = entries["label"].unique().sort()
    place = pl.DataFrame({"label": labels, "member": np.arange(len(labels))})
    entries = entries.join(place, on="label", how="left").sort("code", "member")
    return Members(labels.to_list(), entries["code"].to_numpy(), entries["member"].to_numpy(), star)


def _star(column: Column, form: ColumnForm | None) -> Array:
    found = np.zeros(column.cardinality, bool)
    if column.values.dtype == pl.String and (form is None or form.generalizes):
        found[: len(column.values)] = (column.values == STAR).to_numpy()
    return found


def _with_null(values: Array, column: Column) -> Array:
    return np.append(values, np.nan) if column.nulls else np.asarray(values)
