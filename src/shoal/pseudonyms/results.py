"""What `pseudonymize` and `shift_dates` return."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from shoal.reading.frames import to_native
from shoal.results import Headline, Notes, Result, Section, left_out
from shoal.table import Table
from shoal.wording import counted, in_words

NEW_KEY = "a new key was made: keep it safe and apart from the data; without it no other file gets the same result"


@dataclass(frozen=True, repr=False)
class Pseudonymized(Result):
    """A table whose persons have pseudonyms; `distinct` counts the persons.

    `pairs` are old and new pseudonyms of a rotation, `mapping` is the file that they were written to.
    """

    name: ClassVar[str] = "pseudonymize"

    column: str
    distinct: int
    collisions: int
    method: str
    format: str
    records: int
    key_file_created: bool
    mapping: str | None
    output: str | None
    table: Table = left_out()
    pseudonyms: pl.Series = left_out()
    pairs: list[tuple[str, str]] | None = left_out(default=None)

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The table with its pseudonyms."""
        series = [
            self.pseudonyms.gather(column.codes).alias(name) if name == self.column else column.decode()
            for name, column in self.table.columns.items()
        ]
        return pl.DataFrame(series)

    @property
    def frame(self) -> Any:
        """The same as the kind of frame that came in."""
        return to_native(self.polars, self.table.native, {self.column})

    def summary(self) -> str:
        """How many persons have a pseudonym."""
        return f"{counted(self.distinct, 'person')} in {self.column} now have a pseudonym; no two share one."

    def sections(self) -> list[Section]:
        """The sentence, and what to keep apart."""
        notes = [NEW_KEY] if self.key_file_created else []
        if self.mapping:
            notes.append(f"old and new pseudonyms: {self.mapping} (keep it apart)")
        notes.append("pseudonymised data is still personal data: other columns may tell who people are")
        return [Headline(self.summary(), "good"), Notes(_with_output(notes, self.output))]


@dataclass(frozen=True, repr=False)
class Shifted(Result):
    """A table with shifted dates.

    `unshifted` are columns with dates that were left as they are by decision: they give the shifts away.
    """

    name: ClassVar[str] = "shift-dates"

    person: str
    columns: list[str]
    persons: int
    records: int
    cells_changed: int
    blanked: int
    range: int
    keep: str
    unshifted: list[str]
    key_file_created: bool
    output: str | None
    notes: list[str] = field(default_factory=list)
    table: Table = left_out(default=None)
    series: dict[str, pl.Series] = left_out(default_factory=dict)

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The table with its shifted dates."""
        columns = self.table.columns.values()
        return pl.DataFrame([self.series.get(column.name, column.decode()) for column in columns])

    @property
    def frame(self) -> Any:
        """The same as the kind of frame that came in."""
        changed = {name for name, series in self.series.items() if series.dtype != self.table[name].dtype}
        return to_native(self.polars, self.table.native, set(self.columns) if self.blanked else changed)

    def summary(self) -> str:
        """Whose dates were shifted, and by how much."""
        who, cells = counted(self.persons, "person"), counted(self.cells_changed, "date")
        return f"{cells} of {who} shifted by up to ±{self.range} days in {in_words(self.columns)}."

    def sections(self) -> list[Section]:
        """The sentence, and what gives shifts away."""
        notes = list(self.notes)
        if self.unshifted:
            notes.append(f"not shifted by your decision, and so giving shifts away: {in_words(self.unshifted)}")
        if self.blanked:
            notes.append(f"{counted(self.blanked, 'cell')} without a whole date were emptied")
        notes += [NEW_KEY] if self.key_file_created else []
        return [Headline(self.summary(), "good"), Notes(_with_output(notes, self.output))]


def _with_output(notes: list[str], output: str | None) -> list[str]:
    return notes if output is None else [*notes, f"written: {output}"]
