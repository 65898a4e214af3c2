"""A released file as others read it: texts as they are spelled, and nothing beside the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.policy.judgement.shown_classes import Check
from shoal.storage import Table
from shoal.storage.encode import encode
from shoal.storage.reading.beside import held_beside


def as_the_file_spells(table: Table, names: Sequence[str]) -> Table:
    """Columns of a text file in which a value is spelled in two ways: their texts are values then, for no manifest says
    that the file was written from one. An empty cell alone is missing.

    >>> from shoal.storage.encode import ColumnEncoder
    >>> ages = ColumnEncoder("age", from_text_file=True)
    >>> ages.add(pl.Series(["1.0", "1.00", "2.0"]))
    >>> as_the_file_spells(Table({"age": ages.finish()}, 3), ["age"])["age"].values.to_list()
    ['1.0', '1.00', '2.0']
    """
    spelled = {}
    for name in names:
        column = table.columns.get(name)
        if column is None or column.written is None or column.written[1].dtype != pl.String:
            continue
        codes, texts = column.written
        cells = texts.replace("", None).gather(codes).alias(name)
        if cells.drop_nulls().n_unique() > len(column.values):
            spelled[name] = encode(cells)
    return replace(table, columns={**table.columns, **spelled}) if spelled else table


def beside_the_table(data: Path, table: Table) -> list[Check]:
    """Whether a file holds nothing but the table that was judged."""
    found = held_beside(data, table)
    return [Check("file", False, f"beside its table it holds {', '.join(found)}")] if found else []
