"""The cells of each column: made of what was public, never of the data; values to cells and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl

from shoal.dp.types import convert
from shoal.errors import InputError, Message, quoted
from shoal.policy import Policy
from shoal.policy.domains import MOST_CELLS, DomainSection
from shoal.ranges.hierarchy.given import given_hierarchies
from shoal.storage import Array, Column
from shoal.storage.table import smallest_unsigned

Kind = Literal["values", "numbers", "dates"]
Source = Literal["policy", "hierarchy", "code book", "bought", "bins bought"]
# numbers without a width: so many values or fewer have a cell each, of more the bins are bought
MOST_SINGLE = 256
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Domain:
    """The cells of one column: its values, or bins between `edges` (the last edge is beyond the last value), and one
    more for missing values, the last.

    >>> ages = Domain.of("age", DomainSection(min=0, max=120, width=50))
    >>> ages.size, ages.edges, ages.labels()
    (4, (0, 50, 100, 121), ['[0;49]', '[50;99]', '[100;120]', None])
    """

    name: str
    kind: Kind
    source: Source = "policy"
    values: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()
    whole: bool = True
    missing: bool = True

    @classmethod
    def of(cls, name: str, section: DomainSection) -> Domain:
        """As the policy says."""
        if section.values is not None:
            return cls(name, "values", values=section.values, missing=section.missing)
        low, high = section.min, section.max
        if isinstance(low, date) and isinstance(high, date):
            days = _days(low, high, "day" if section.width is None else str(section.width))
            return cls(name, "dates", edges=days, missing=section.missing)
        assert isinstance(low, (int, float))
        assert isinstance(high, (int, float))
        end = high + 1 if section.whole else high
        if section.width is not None:
            assert not isinstance(section.width, str)
            bins = math.ceil((end - low) / section.width * (1 - 1e-12))
            edges = [low + section.width * place for place in range(bins)]
        else:
            edges = list(range(low, end)) if section.whole and end - low <= MOST_SINGLE else [low]  # type: ignore[arg-type]
        return cls(name, "numbers", edges=(*edges, end), whole=section.whole, missing=section.missing)

    @property
    def cells(self) -> int:
        """How many there are, but for missing values."""
        return len(self.values) if self.kind == "values" else len(self.edges) - 1

    @property
    def size(self) -> int:
        """How many there are."""
        return self.cells + self.missing

    @property
    def ordered(self) -> bool:
        """Whether neighbouring cells are alike."""
        return self.kind != "values"

    @property
    def unbinned(self) -> bool:
        """Whether bins are still to be chosen between its bounds."""
        return self.kind != "values" and self.cells == 1 and self.edges[1] - self.edges[0] > 1

    def with_edges(self, edges: Sequence[float]) -> Domain:
        """With bins that were bought."""
        return replace(self, edges=tuple(edges), source="bins bought")

    def codes(self, column: Column) -> tuple[Array, int]:
        """The cell of each row, each value read by itself, and how many rows had to be moved into the domain.

        Numbers and dates beyond the bounds go to the outermost bin, other values to the missing ones. Where nothing may
        be missing, such rows have no cell: the number past the last one.
        """
        values = column.values
        none = self.cells  # the cell of missing values, or that of no cell at all
        if self.kind == "values":
            texts = self._compared(values)
            known = {_text(value): place for place, value in enumerate(self.values)}
            cells = texts.replace_strict(known, default=None, return_dtype=pl.Int64) if len(known) else texts
            strange = cells.is_null() & texts.is_not_null()
            found = cells.fill_null(none).to_numpy()
        else:
            numbers = convert(values, "number" if self.kind == "numbers" else "date")
            if self.kind == "dates":
                numbers = numbers.to_physical()
            plain = numbers.cast(pl.Float64).to_numpy()
            place = np.clip(np.searchsorted(self.edges, plain, side="right") - 1, 0, self.cells - 1)
            last = self.edges[-1] - (1 if self.whole else 0)
            strange = numbers.is_null() & values.is_not_null()
            strange |= pl.Series((plain < self.edges[0]) | (plain > last)) & numbers.is_not_null()
            found = np.where(numbers.is_null().to_numpy(), none, place)
        lookup = np.append(found, none).astype(smallest_unsigned(none + 1))
        rows = np.append(strange.to_numpy(), False)
        counts = np.bincount(column.codes, minlength=len(rows)) if rows.any() else np.zeros(len(rows), int)
        return lookup[column.codes], int(counts[rows].sum())

    def series(self, codes: Array, randomness: np.random.Generator) -> pl.Series:
        """A value for each cell: its own, or one drawn uniformly from its bin; null for missing ones."""
        gone = codes >= self.cells
        inside = np.where(gone, 0, codes)
        if self.kind == "values":
            values = pl.Series(self.name, self.as_column())
            made = values.gather(inside)
        else:
            edges = np.array(self.edges, dtype=np.float64)
            drawn = edges[inside] + randomness.random(len(codes)) * (edges[inside + 1] - edges[inside])
            if self.whole:
                # the draw is below the upper edge, but for rounding
                drawn = np.minimum(np.floor(drawn), edges[inside + 1] - 1)
                made = pl.Series(self.name, drawn.astype(np.int64))
                made = made.cast(pl.Int32).cast(pl.Date) if self.kind == "dates" else made
            else:
                digits = max(0, 2 - math.floor(math.log10(float(np.diff(edges).min()))))
                drawn = np.clip(np.round(drawn, digits), edges[inside], edges[inside + 1])
                made = pl.Series(self.name, drawn)
        return made.set(pl.Series(gone), None) if gone.any() else made

    def as_column(self) -> list[Any]:
        """The values as one type: those that are of several become texts."""
        kinds = {type(value) for value in self.values}
        if kinds == {int, float}:
            return [float(value) for value in self.values]
        return list(self.values) if len(kinds) == 1 else [_text(value) for value in self.values]

    def labels(self) -> list[Any]:
        """What stands for each cell in a table of counts."""
        more = [None] if self.missing else []
        if self.kind == "values":
            return [*self.as_column(), *more]
        if self.kind == "dates":
            days = [(_date(low), _date(high - 1)) for low, high in pairwise(self.edges)]
            return [low if low == high else f"[{low};{high}]" for low, high in days] + more
        if self.whole:
            ends = [(int(low), int(high) - 1) for low, high in pairwise(self.edges)]
            named = [f"{low}" if low == high else f"[{low};{high}]" for low, high in ends]
            return [*named, *more]
        named = [f"[{low:.12g};{high:.12g})" for low, high in pairwise(self.edges)]
        return [*named[:-1], named[-1][:-1] + "]", *more]

    def place_of(self, value: Any) -> list[int]:
        """The cells that a value of a structural zero stands in."""
        if self.kind == "values":
            return [place for place, own in enumerate(self.values) if _text(own) == _text(value)]
        number = (value - _EPOCH).days if isinstance(value, date) else value
        place = int(np.searchsorted(self.edges, number, side="right")) - 1
        return [place] if 0 <= place < self.cells else []

    def _compared(self, values: pl.Series) -> pl.Series:
        """Values as they are compared with those of the domain: among numbers 1.0 is 1, among truths True is true."""
        texts, kinds = convert(values, "text"), {type(value) for value in self.values}
        if kinds <= {int, float}:
            return texts.str.replace(r"^([+-]?[0-9]+)\.0*$", "$1")
        return texts.str.to_lowercase() if kinds == {bool} else texts

    def holds(self, values: pl.Series) -> bool:
        """Whether all values of a released column lie in the domain."""
        present = values.drop_nulls()
        if len(present) < len(values) and not self.missing:
            return False
        if self.kind == "values":
            known = {_text(value) for value in self.values}
            return bool(self._compared(present.unique()).is_in(sorted(known)).all())
        numbers = convert(present, "number" if self.kind == "numbers" else "date")
        if numbers.null_count():
            return False
        plain = numbers.to_physical().cast(pl.Float64)
        within = ((plain >= self.edges[0]) & (plain <= self.edges[-1] - (1 if self.whole else 0))).all()
        return bool(within and (not self.whole or (plain == plain.floor()).all()))

    def to_dict(self) -> dict[str, Any]:
        """For the manifest: what was public of the column."""
        said: dict[str, Any] = {"source": self.source, "cells": self.size, "missing": self.missing}
        if self.kind == "values":
            return said | {"values": [one.isoformat() if isinstance(one, date) else one for one in self.values]}
        ends = [self.edges[0], self.edges[-1] - (1 if self.whole else 0)]
        named = [_date(end) for end in ends] if self.kind == "dates" else ends
        return said | {"kind": self.kind, "whole": self.whole, "min": named[0], "max": named[1]}

    @classmethod
    def from_dict(cls, name: str, said: Mapping[str, Any]) -> Domain:
        """As far as a manifest tells it: values, or bounds."""
        if "values" in said:
            return cls(name, "values", values=tuple(said["values"]), missing=bool(said["missing"]))
        whole, low, high = bool(said["whole"]), said["min"], said["max"]
        if said["kind"] == "dates":
            low, high = ((date.fromisoformat(one) - _EPOCH).days for one in (low, high))
        edges = (low, high + 1 if whole else high)
        return cls(name, said["kind"], edges=edges, whole=whole, missing=bool(said["missing"]))


def _text(value: Any) -> str:
    """A value as it is compared: 1.0 and 1, true and True are one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)


def _date(days: float) -> str:
    return (_EPOCH + timedelta(days=int(days))).isoformat()


def _days(low: date, high: date, width: str) -> tuple[float, ...]:
    """Where bins of the calendar start, and the day after the last, as days since 1970."""
    words = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}
    starts = pl.date_range(low, high, interval="1d", eager=True).dt.truncate(words[width]).unique().sort()
    days = starts.to_physical().to_list()
    first, last = (low - _EPOCH).days, (high - _EPOCH).days + 1
    if len(days) > MOST_CELLS:
        raise InputError("A domain of dates has too many days.", "Give it a width, such as month.")
    return (first, *(day for day in days if day > first), last)


def released_columns(policy: Policy, present: Iterable[str]) -> list[str]:
    """The columns of a table that a release would have: all but identifiers, text and the person."""
    gone = {*policy.with_role("identifier"), *policy.with_role("text"), policy.person}
    return [name for name in present if name not in gone]


def public_domains(
    policy: Policy, columns: Sequence[str], bought: Iterable[str], codebook: Any = None
) -> dict[str, Domain]:
    """The domain of each column from the policy, a hierarchy or a code book; those that are bought are left out."""
    found = {name: Domain.of(name, section) for name, section in policy.domains.items() if name in columns}
    bought = set(bought)
    if both := sorted(bought & set(found)):
        raise InputError(
            Message("Column {} has a domain in the policy, and it would be bought too.", quoted(both)),
            Message("Leave it out of `{domain_from_data}`: what is public costs nothing."),
        )
    left = [name for name in columns if name not in found and name not in bought]
    trees = given_hierarchies(policy.hierarchies, left) if policy.hierarchies and left else {}
    for name, tree in trees.items():
        found[name] = Domain(name, "values", "hierarchy", tuple(tree.levels[0].to_list()))
    if codebook is not None:
        from shoal.detection.codebooks import read_codebook

        book = read_codebook(codebook)
        for name in left:
            if name not in found and name in book and book[name].values:
                found[name] = Domain(name, "values", "code book", tuple(str(code) for code in book[name].values))
    missing = [name for name in left if name not in found]
    if missing:
        raise InputError(
            f"The domain of {'column' if len(missing) == 1 else 'columns'} {quoted(missing)} is not public.",
            Message(
                "Say it in the policy under `domains`, from public knowledge; or leave the column out (role "
                "identifier); or buy it with a part of the budget (`{domain_from_data}`)."
            ),
        )
    return {name: found[name] for name in columns if name in found}
