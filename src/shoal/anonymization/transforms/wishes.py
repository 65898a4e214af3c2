"""What is typed for a recoding (`sex=*`, `year=runs:4`, `town=provinces.csv`), and the columns it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from shoal.anonymization.transforms.election import elect, every_combination
from shoal.anonymization.transforms.labels import Chunks, Constant, Labelling, Runs, tree_levels
from shoal.anonymization.transforms.recode import Recoding, Strategy, recode
from shoal.errors import InputError, check_choice
from shoal.ranges.columns import Nature, ReleasedColumns
from shoal.reading import read
from shoal.table import Column
from shoal.table.rows import Rows

Where = Literal["all", "uniques", "below-k"]


def labellings(wish: str) -> list[tuple[str, Any]]:
    """The ways to label a column that a wish stands for, finest first; a file has one per level.

    >>> labellings("runs:4")[0][1].size
    4
    """
    kind, colon, number = wish.partition(":")
    if wish == "*":
        return [("*", Constant("*"))]
    if colon and kind in ("runs", "chunks") and number.isdigit() and int(number):
        return [(wish, Runs(int(number)) if kind == "runs" else Chunks(int(number)))]
    if not Path(wish).is_file():
        raise InputError(
            f"'{wish}' is no way to generalise a column.",
            "Name a file (value, label, …), or write *, runs:4 or chunks:4.",
        )
    levels = tree_levels(read(wish).to_polars().cast(pl.String))
    return [(f"level {number}", level) for number, level in enumerate(levels, 1)]


def recoded_columns(
    columns: Sequence[Column], generalize: Mapping[str, str], where: Where, search: bool, k: int
) -> tuple[dict[str, ReleasedColumns], dict[str, Any], list[dict[str, Any]] | None]:
    """Recode columns as wished; with `search`, try every combination and take the best.

    A search without wishes tries `*` on every column, and runs and chunks of 4 on those with an order.
    """
    check_choice("where", where, get_args(Where))
    if not generalize and not search:
        raise InputError("Nothing is to be recoded.", "Say how with --generalize column=file.csv, or --search.")
    unknown = [name for name in generalize if name not in {column.name for column in columns}]
    if unknown:
        raise InputError.missing_columns(unknown, [column.name for column in columns], "The list of quasi-identifiers")
    below = {"all": None, "uniques": 2, "below-k": k}[where]
    wishes = dict(generalize) or {column.name: "" for column in columns}
    steps = {
        f"{name}={text}": Recoding(name, labelling, below)
        for name, wish in wishes.items()
        for text, labelling in (_all_ways(columns, name) if wish == "" else labellings(wish))
    }
    rows = Rows(columns)
    parameters: dict[str, Any] = {"generalize": dict(generalize), "where": where}
    if not search:
        first = {step.column: step for step in reversed(steps.values())}
        strategy = Strategy([first[name] for name in wishes])
        return _released(columns, recode(rows, strategy).columns, strategy), parameters, None
    strategies = {"original": Strategy([]), **every_combination(steps)}
    found = elect(rows, strategies)
    shown = [
        {"strategy": name, "uniques": f.uniques, "modified_rows": f.modified_rows, "classes": f.classes, "k": f.k}
        for name, f in found.figures.items()
    ]
    parameters["elected"] = found.best
    return _released(columns, found.recoded.columns, strategies[found.best]), parameters, shown


def _all_ways(columns: Sequence[Column], name: str) -> list[tuple[str, Labelling]]:
    column = next(column for column in columns if column.name == name)
    ways: list[tuple[str, Labelling]] = [("*", Constant("*"))]
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        ways = [("runs:4", Runs(4)), ("chunks:4", Chunks(4)), *ways]
    return ways


def _released(before: Sequence[Column], after: Sequence[Column], strategy: Strategy) -> dict[str, ReleasedColumns]:
    found = {}
    labels = {step.column: step.labelling for step in strategy.steps}
    for old, new in zip(before, after, strict=True):
        if new is old:
            found[old.name] = ReleasedColumns([old.decode()], "unchanged", np.zeros(len(old.codes), bool))
            continue
        texts = [column.decode().cast(pl.String) for column in (old, new)]
        nature: Nature = "representative" if isinstance(labels.get(old.name), Chunks) else "truthful"
        found[old.name] = ReleasedColumns([new.decode()], nature, texts[0].ne_missing(texts[1]).to_numpy())
    return found
