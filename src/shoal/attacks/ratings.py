"""Ratings as an attacker sees them: who rated what, how and when; and what is known of a few persons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.attacks.unicity import drawn, owner_of, rows_among
from shoal.errors import InputError
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded
from shoal.table.dates import as_texts, days_of, is_epoch

_MICROSECONDS = 86_400_000_000
_SECONDS = 86_400
# how often an item of chance is drawn again because the target rated it
_ROUNDS = 20


class Ratings(NamedTuple):
    """Who rated what: codes row by row, with the number and the day that each code stands for (NaN: missing)."""

    owner: Coded
    item: Coded
    value: Coded
    day: Coded
    numbers: Array
    days: Array

    @classmethod
    def of(cls, table: Table, person: str, item: str, value: str | None, date: str | None) -> Ratings:
        """The ratings of a table."""
        nothing, unknown = Coded(np.zeros(table.rows, np.uint8), 1), np.array([np.nan])
        return cls(
            owner_of(table, person),
            _coded(table[item]),
            nothing if value is None else _coded(table[value]),
            nothing if date is None else _coded(table[date]),
            unknown if value is None else _numbers(table[value]),
            unknown if date is None else _days(table[date]),
        )


def _coded(column: Column) -> Coded:
    return Coded(column.codes, column.cardinality)


def _numbers(column: Column) -> Array:
    if not column.values.dtype.is_numeric():
        raise InputError(f"Column '{column.name}' does not hold numbers.", "Name the column of the ratings' values.")
    return np.append(column.values.cast(pl.Float64).to_numpy(), np.nan)[: column.cardinality]


def _days(column: Column) -> Array:
    """Numbers are days, or seconds since 1970 where all look like it."""
    values = column.values
    if values.dtype.is_temporal():
        found = values.cast(pl.Datetime("us")).to_physical().to_numpy() / _MICROSECONDS
    elif values.dtype.is_numeric():
        found = values.cast(pl.Float64).to_numpy() / (_SECONDS if is_epoch(values).all() else 1)
    else:
        found = days_of(as_texts(values), column.name).days.astype(float)
    return np.append(found, np.nan)[: column.cardinality]


class Facts(NamedTuple):
    """What is known, a line per target: items (-1: none), numbers and days (NaN: not known); wrong ones stand last."""

    items: Array
    numbers: Array
    days: Array


def facts_of(ratings: Ratings, target: Array, right: int, wrong: int, days: int, seed: int) -> tuple[Facts, Array]:
    """Ratings of each target drawn at random, the last `wrong` of them made wrong; and how many each target has in all.

    Dates are moved by up to so many days. A wrong rating has another value than the right one and a date of chance;
    where neither is known, it is of an item that the target did not rate.
    """
    rows = rows_among(ratings.owner, target)
    who = np.searchsorted(target, ratings.owner.codes[rows].astype(np.int64))
    columns = [who, *(codes.codes[rows].astype(np.int64) for codes in (ratings.item, ratings.value, ratings.day))]
    own = np.unique(np.stack(columns, axis=1), axis=0)
    own = own[np.append(True, (own[1:, :2] != own[:-1, :2]).any(axis=1))]  # one rating of each item
    count = np.bincount(own[:, 0], minlength=len(target))
    order, rank = drawn(own[:, 0], count, seed)
    order, rank = order[rank < right + wrong], rank[rank < right + wrong]
    place = own[order, 0], rank
    draw = np.random.default_rng([seed, 2])
    items, value = np.full((2, len(target), right + wrong), -1, np.int64)
    dates = np.full(items.shape, np.nan)
    items[place], value[place] = own[order, 1], own[order, 2]
    dates[place] = ratings.days[own[order, 3]] + draw.integers(-days, days + 1, len(order))
    numbers = np.where(value < 0, np.nan, ratings.numbers[value])
    if wrong:
        shape = len(target), wrong
        numbers[:, right:] = _other_number(ratings.numbers, value[:, right:], draw)
        dates[:, right:] = draw.choice(_there(ratings.days), shape)
        if np.isnan(ratings.numbers).all() and np.isnan(ratings.days).all():
            items[:, right:] = _not_rated(ratings.item, own, shape, draw)
    return Facts(items, numbers, dates), count


def _other_number(numbers: Array, value: Array, draw: np.random.Generator) -> Array:
    """A number of chance that is not the one of `value`; missing numbers stay missing."""
    there = len(_there(numbers))
    if there < 2:
        return np.full(value.shape, np.nan)
    moved = (value + draw.integers(1, there, value.shape)) % there
    return np.where(value < 0, np.nan, numbers[moved])


def _there(values: Array) -> Array:
    found = values[~np.isnan(values)]
    return found if len(found) else values


def _not_rated(item: Coded, own: Array, shape: tuple[int, int], draw: np.random.Generator) -> Array:
    """Items that each target did not rate; where it rated nearly all, one of those may stay."""
    support = np.cumsum(np.bincount(item.codes, minlength=item.cardinality))
    taken = own[:, 0] * item.cardinality + own[:, 1]
    line = np.arange(shape[0])[:, None] * item.cardinality
    found = np.searchsorted(support, draw.integers(0, support[-1], shape), side="right")
    for _ in range(_ROUNDS):
        again = np.isin(line + found, taken)
        if not again.any():
            break
        found[again] = np.searchsorted(support, draw.integers(0, support[-1], int(again.sum())), side="right")
    return found
