"""Fill the masked cells of a column so that a known distribution comes out (Sánchez et al., Algorithm S1)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.parsing import STAR
from shoal.results import Files, Headline, Notes, Result, Section
from shoal.storage import Array, Column
from shoal.storage.reading import Options, read
from shoal.storage.writing import check_apart, check_target, write_frame
from shoal.wording import counted


@dataclass(frozen=True, repr=False)
class Regenerated(Result):
    """How many cells of a column were filled, how many are still masked, and where the table is."""

    name: ClassVar[str] = "regenerate"

    column: str
    filled: int
    still_masked: int
    output: str

    def summary(self) -> str:
        """What was filled."""
        return f"{counted(self.filled, 'cell')} of {self.column} filled, {self.still_masked:,} still masked."

    def sections(self) -> list[Section]:
        """What was filled, and where the table is."""
        return [
            Headline(self.summary()),
            Notes(["filled cells are synthetic: they carry no guarantee"]),
            Files({"table": self.output}),
        ]


def regenerate(
    source: Any,
    *,
    distribution: str | Path,
    output: str | Path,
    seed: int | None = None,
    force: bool = False,
    options: Options | None = None,
) -> Regenerated:
    """Fill the cells of a column that are `*` or missing, by a known distribution (Sánchez et al., Algorithm S1).

    `distribution` is a file with two columns: the first bears the name of the column to fill and holds its values, the
    second says how many of the masked cells get each. Without a seed, one is drawn.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "race.csv").write_text("race,n\\n1,1\\n4,1\\n")
    >>> masked = {"race": ["*", "2", "*", "*"]}
    >>> regenerate(masked, distribution=folder / "race.csv", output=folder / "filled.csv", seed=1).summary()
    '2 cells of race filled, 1 still masked.'
    """
    target = Path(output)
    check_apart(input=source, distribution=distribution, output=target)
    check_target(target, force)
    table = read(source, None, options)
    wanted = read(distribution).to_polars()
    if wanted.width != 2 or not wanted.dtypes[1].is_integer():
        raise InputError(f"{distribution} is not a distribution.", "It needs two columns: values, and whole counts.")
    column = table.select([wanted.columns[0]])[0]
    series, filled, left = fill_column(column, wanted, secrets.randbits(63) if seed is None else seed)
    write_frame(table.to_polars().with_columns(series), target, force)
    return Regenerated(column.name, filled, left, str(target))


def filled_cells(masked: Array, distribution: Mapping[int, int], seed: int) -> Array:
    """Which value each masked cell gets: for each value in ascending order, as many of the still masked cells.

    `masked` marks the cells; the answer has an entry per cell, -1 where it stays as it was. Fewer cells asked for than
    masked leave the rest masked; more are an error.

    >>> filled_cells(np.array([True, False, True]), {1: 1, 4: 1}, seed=0).tolist()
    [1, -1, 4]
    """
    wanted = sum(distribution.values())
    cells = np.flatnonzero(masked)
    if any(count < 0 for count in distribution.values()):
        raise InputError("A distribution cannot ask for fewer than no cells.", "Use counts of zero or more.")
    if wanted > len(cells):
        raise InputError(
            f"The distribution asks for {wanted:,} cells, but {len(cells):,} are masked.", "Lower its counts."
        )
    # drawing the cells of one value after the other without replacement is one shuffle, dealt out in order
    drawn = np.random.default_rng(seed).permutation(cells)[:wanted]
    filled = np.full(len(masked), -1, np.int64)
    filled[drawn] = np.repeat(sorted(distribution), [distribution[value] for value in sorted(distribution)])
    return filled


def fill_column(column: Column, distribution: pl.DataFrame, seed: int) -> tuple[pl.Series, int, int]:
    """Fill the cells of a column that are `*` or null; the column, how many were filled, how many are still masked.

    >>> from shoal.storage.reading import read
    >>> column = read({"race": ["1", "*", None]})["race"]
    >>> fill_column(column, pl.DataFrame({"race": ["2"], "n": [2]}), seed=0)[0].to_list()
    ['1', '2', '2']
    """
    values = column.decode().cast(pl.String)
    masked = (values.is_null() | (values == STAR).fill_null(False)).to_numpy()
    wanted = distribution.sort(distribution.columns[0])
    texts = wanted.to_series(0).cast(pl.String)
    filled = filled_cells(masked, dict(enumerate(wanted.to_series(1).to_list())), seed)
    chosen = texts.gather(np.where(filled < 0, 0, filled))
    count = int((filled >= 0).sum())
    return values.zip_with(pl.Series(filled < 0), chosen).alias(column.name), count, int(masked.sum()) - count
