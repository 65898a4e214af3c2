"""What `pseudonymize` and `shift_dates` return."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from shoal.engine import engine_of
from shoal.methods.outcomes import ChangedTableResult
from shoal.policy import Policy
from shoal.policy.manifest import ColumnEntry, types_by_name
from shoal.ranges.forms import NATURES, ColumnForm, FormKind
from shoal.results import Headline, Notes, Section, left_out
from shoal.storage import Table
from shoal.storage.column_type import type_word
from shoal.storage.reading.frames import to_native
from shoal.wording import counted, in_words

NEW_KEY = "a new key was made: keep it safe and apart from the data; without it no other file gets the same result"


class Personal(ChangedTableResult):
    """A table that is still personal data, as the release step asks for it: it promises nothing."""

    policy: ClassVar[Policy] = Policy()
    plan: ClassVar[None] = None
    seconds: ClassVar[float] = 0.0
    personal: ClassVar[bool] = True
    quasi_identifiers: ClassVar[list[str]] = []
    private: ClassVar[dict[str, Any]] = {}

    table: Table
    identifiers_beside: list[str]

    @property
    def technique(self) -> str:
        """By which name the manifest knows it."""
        return self.name

    @property
    @abstractmethod
    def changed_columns(self) -> dict[str, FormKind]:
        """The columns that were changed, and how their cells are written now."""

    def manifest_columns(self) -> list[ColumnEntry]:
        """Each column of the input as the manifest lists it, also those that stayed where the rows are."""
        return [self._entry(name, dtype) for name, dtype in types_by_name(self.table).items()]

    def _entry(self, name: str, dtype: pl.DataType) -> ColumnEntry:
        kind = self.changed_columns.get(name, "as-it-was")
        return ColumnEntry(
            name=name,
            role="other",
            decided_by="policy" if name in self.changed_columns else "detection",
            nature=NATURES[kind][0],
            technique=self.name if name in self.changed_columns else "none",
            form=ColumnForm(kind=kind, type=type_word(dtype)),
            released_as=[name],
        )

    def manifest_findings(self) -> dict[str, Any]:
        """What was found, for the manifest: nothing was measured."""
        return {}

    def _sections(self, notes: list[str], output: str | None) -> list[Section]:
        """The sentence, who is still named beside it, and the notes."""
        names, shown = self.identifiers_beside, [Headline(self.summary(), "good")]
        if names:
            were, say = ("were", "say") if len(names) > 1 else ("was", "says")
            shown.append(Headline(f"{in_words(names)} {were} not changed, and {say} who people are.", "bad"))
        written = [] if output is None else [f"written: {output}, with its manifest beside it"]
        return [*shown, Notes([*notes, *written])]


@dataclass(frozen=True, repr=False)
class Pseudonymized(Personal):
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
    identifiers_beside: list[str] = field(default_factory=list)
    output: str | None = None
    manifest: str | None = None
    table: Table = left_out(default=None)
    pseudonyms: pl.Series = left_out(default=None)
    pairs: list[tuple[str, str]] | None = left_out(default=None)

    @property
    def changed_columns(self) -> dict[str, FormKind]:
        """The column of the persons."""
        return {self.column: "pseudonym"}

    @property
    def parameters(self) -> dict[str, Any]:
        """How pseudonyms were made; the key is not among it."""
        return {"method": self.method, "format": self.format}

    def as_released(self, output: Any, manifest: Any) -> Pseudonymized:
        """The same, with where its release is."""
        return replace(self, output=str(output), manifest=str(manifest))

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
        return engine_of(self.table).assign(self.table, self.polars, changed={self.column})

    def summary(self) -> str:
        """How many persons have a pseudonym."""
        return f"{counted(self.distinct, 'person')} in {self.column} now have a pseudonym; no two share one."

    def sections(self) -> list[Section]:
        """The sentence, and what to keep apart."""
        notes = [NEW_KEY] if self.key_file_created else []
        if self.mapping:
            notes.append(f"old and new pseudonyms: {self.mapping} (keep it apart)")
        notes.append("pseudonymised data is still personal data: other columns may tell who people are")
        return self._sections(notes, self.output)


@dataclass(frozen=True, repr=False)
class Shifted(Personal):
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
    identifiers_beside: list[str] = field(default_factory=list)
    output: str | None = None
    manifest: str | None = None
    notes: list[str] = field(default_factory=list)
    table: Table = left_out(default=None)
    series: dict[str, pl.Series] = left_out(default_factory=dict)

    @property
    def changed_columns(self) -> dict[str, FormKind]:
        """The columns of dates."""
        return dict.fromkeys(self.columns, "shifted")

    @property
    def parameters(self) -> dict[str, Any]:
        """How far dates were shifted; neither the key nor a shift is among it."""
        return {"person": self.person, "range": self.range, "keep": self.keep}

    def as_released(self, output: Any, manifest: Any) -> Shifted:
        """The same, with where its release is."""
        return replace(self, output=str(output), manifest=str(manifest))

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
        return self._sections(notes, self.output)
