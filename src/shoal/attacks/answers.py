"""Answers to counting questions as an attacker holds them: who was asked about, and how many of those it was."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.policy.conditions import as_polars, column_type, parse_where
from shoal.reading import Options, read
from shoal.table import Array, Table
from shoal.table.texts import texts_of

MOST_PERSONS = 5_000


class Answers(NamedTuple):
    """`asked[q, i]`: whether person i is among those of question q; the counts; the truth, where it is known."""

    asked: Array
    counts: Array
    truth: Array | None


def read_answers(
    source: Any, answer: str, people: Any, person: str | None, truth: str | None, options: Options | None = None
) -> Answers:
    """Answers from a table with a row per question.

    Either it has a column per person with 1 for those whom the question is about; or a column `where` with conditions
    on the columns of `people`, which has a row per person. `truth` is the column of `people` that holds 0 or 1.

    >>> found = read_answers({"ann": [1, 1], "bob": [1, 0], "answer": [1, 0]}, "answer", None, None, None)
    >>> found.asked.astype(int).tolist(), found.counts.tolist()
    ([[1, 1], [1, 0]], [1.0, 0.0])
    """
    table = read(source, None, options)
    counts = _numbers(table, answer)
    public = None if people is None else read(people, None, options)
    if truth is not None and public is None:
        raise InputError(
            "The truth is a column of the table of people, and there is none.", "Give people.", settings=["people"]
        )
    if "where" in table.columns:
        if public is None:
            raise InputError(
                "Questions are conditions on people, and people are not given.", "Give people.", settings=["people"]
            )
        asked = _by_condition(table, public)
        order = np.arange(public.rows)
    else:
        names = [name for name in table.names if name != answer]
        asked = np.stack([_numbers(table, name) for name in names], axis=1) if names else np.zeros((0, 0))
        if not np.isin(asked, (0, 1)).all() or not asked.size:
            cure = "Give a column per person with 1 for those asked about and 0 for others; or a column `where`."
            raise InputError("The questions cannot be read.", cure)
        order = np.arange(len(names)) if public is None else _order(names, public, person)
    if asked.shape[1] > MOST_PERSONS:
        cure = "A table is reconstructed part by part: ask about fewer."
        raise InputError(f"{asked.shape[1]:,} persons are more than {MOST_PERSONS:,}.", cure)
    real = None if truth is None or public is None else _bits(public, truth)[order]
    return Answers(asked.astype(bool), counts, real)


def _numbers(table: Table, name: str) -> Array:
    column = table[name]
    if not column.values.dtype.is_numeric() or column.nulls:
        raise InputError(f"Column '{name}' does not hold a number in every row.", "Fill it with counts, or 0 and 1.")
    return np.asarray(column.values.cast(pl.Float64).to_numpy()[column.codes])


def _bits(table: Table, name: str) -> Array:
    values = table[name].decode()
    bits = values.cast(pl.Float64).to_numpy() if values.dtype.is_numeric() or values.dtype == pl.Boolean else None
    if bits is None or not np.isin(bits, (0, 1)).all():
        raise InputError(f"Column '{name}' holds other values than 0 and 1.", "Write 1 for persons who have the trait.")
    return np.asarray(bits)


def _by_condition(table: Table, people: Table) -> Array:
    """One line per question; conditions are computed by the engine, all of them in one pass over the people."""
    types = {name: column_type(column.values.dtype) for name, column in people.columns.items()}
    if table["where"].nulls:
        raise InputError("A question has no condition.", "Fill the column `where`.")
    texts = table["where"].values.cast(pl.String).to_list()
    wanted = [as_polars(parse_where(text, types)).alias(str(number)) for number, text in enumerate(texts)]
    found = people.to_polars().select(wanted).select(pl.all().fill_null(False)).to_numpy()
    return np.asarray(found.T[table["where"].codes])


def _order(names: list[str], people: Table, person: str | None) -> Array:
    """The row of each person who is named at the head of a column."""
    if person is None:
        raise InputError(
            "Which column of the people names them is not said.", "Name it in person.", settings=["person"]
        )
    named = texts_of(people[person].values).gather(people[person].codes).to_list()
    row = {name: number for number, name in enumerate(named)}
    if len(row) < len(named) or not set(names) <= set(row):
        cure = f"Column '{person}' must hold the names of the columns of the answers, each once."
        raise InputError("The people of the answers are not those of the table of people.", cure)
    return np.array([row[name] for name in names])
