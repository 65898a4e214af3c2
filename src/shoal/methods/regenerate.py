"""Fill the masked cells of a column in a file so that a known distribution comes out."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.methods.transforms.regenerate import fill_column
from shoal.results import Files, Headline, Notes, Result, Section
from shoal.storage.reading import read
from shoal.storage.writing import check_apart, check_target, write_frame
from shoal.verbs.base import takes
from shoal.verbs.changing import RegenerateRequest
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


@takes(RegenerateRequest)
def regenerate(source: Any, asked: RegenerateRequest) -> Regenerated:
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
    target = Path(asked.output)
    check_apart(input=source, distribution=asked.distribution, output=target)
    check_target(target, asked.force)
    table = read(source, None, asked.options)
    wanted = read(asked.distribution).to_polars()
    if wanted.width != 2 or not wanted.dtypes[1].is_integer():
        raise InputError(
            f"{asked.distribution} is not a distribution.", "It needs two columns: values, and whole counts."
        )
    column = table.select([wanted.columns[0]])[0]
    series, filled, left = fill_column(column, wanted, secrets.randbits(63) if asked.seed is None else asked.seed)
    write_frame(table.to_polars().with_columns(series), target, asked.force)
    return Regenerated(column.name, filled, left, str(target))
