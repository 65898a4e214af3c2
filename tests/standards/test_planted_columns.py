"""Every planted identifier goes, or the column is named for a person to confirm; harmless columns stay."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

import shoal
from standards.planted import ROWS, Planted, harmless, planted

# Columns are looked at together, as many as have different headers, and never more than these.
MOST = 25


def batches(columns: list[tuple[str, list[Any]]]) -> list[list[int]]:
    """The places of columns that can stand in one table: their headers differ."""
    found: list[list[int]] = []
    for place, (header, _) in enumerate(columns):
        for batch in found:
            if len(batch) < MOST and header not in {columns[other][0] for other in batch}:
                batch.append(place)
                break
        else:
            found.append([place])
    return found


def after(columns: list[tuple[str, list[Any]]]) -> list[tuple[list[str] | None, bool]]:
    """What is left of each column (None: it is removed), and whether a person is asked about it."""
    out: list[tuple[list[str] | None, bool]] = [(None, False)] * len(columns)
    for batch in batches(columns):
        series = [pl.Series(columns[place][0], columns[place][1], strict=False) for place in batch]
        beside = pl.Series("stays", ["a", "b", "c"] * (ROWS // 3))
        result = shoal.safe_harbor(pl.DataFrame([*series, beside]), year_of_data=2013, date_order="dmy")
        asked = {word.strip(",:") for text in result.to_confirm for word in _names(text)}
        for place in batch:
            header = columns[place][0]
            left = [str(value) for value in result.frame[header].to_list()] if header in result.frame.columns else None
            out[place] = (left, header in asked)
    return out


def _names(text: str) -> list[str]:
    """The names of columns that a sentence lists, at its start or behind "what is in"."""
    listed = text.split("what is in ")[1].split(":")[0] if "what is in " in text else text.split(":")[0]
    return [name for part in listed.split(" and ") for name in part.split(", ")]


@pytest.fixture(scope="module")
def found() -> list[tuple[Planted, int, bool]]:
    columns = list(planted())
    left = after([(column.header, column.cells) for column in columns])
    return [
        (column, 0 if cells is None else sum(cell in column.secret for cell in cells), named)
        for column, (cells, named) in zip(columns, left, strict=True)
    ]


def test_there_are_enough_of_them() -> None:
    columns = list(planted())
    assert len(columns) >= 300
    assert {column.clause for column in columns} == set("ABCDEFGHIJKLMNOPQR")
    assert sum(len(column.secret) for column in columns) > 25_000
    assert len(list(harmless())) == 24


def test_none_leaves_silently_and_few_must_be_confirmed(found: list[tuple[Planted, int, bool]]) -> None:
    silent = [(c.clause, c.writing, c.header, c.how) for c, cells, named in found if cells and not named]
    assert silent == []
    confirmed = Counter((c.clause, c.writing, c.how) for c, cells, named in found if cells)
    assert sum(confirmed.values()) <= 20, confirmed


def test_a_header_that_says_it_is_enough(found: list[tuple[Planted, int, bool]]) -> None:
    assert [(c.clause, c.writing) for c, cells, _ in found if cells and c.how == "says it"] == []


def test_harmless_columns_stay() -> None:
    columns = list(harmless())
    lost = []
    for (header, cells), (left, _) in zip(columns, after(columns), strict=True):
        kept = 0 if left is None else sum(str(cell) == value for cell, value in zip(cells, left, strict=True))
        if kept < 0.95 * len(cells):
            lost.append(header)
    assert len(lost) <= 2, lost
