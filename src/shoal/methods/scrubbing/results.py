"""What `scrub` returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from shoal.methods.pseudonyms.results import NEW_KEY, Personal
from shoal.methods.scrubbing.columns import ScrubbedColumn
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import ColumnEntry
from shoal.ranges.forms import ColumnForm, FormKind
from shoal.results import Figure, Figures, Files, Grid, Headline, Notes, Section, left_out
from shoal.storage import Table
from shoal.storage.reading.frames import to_native
from shoal.vocabulary import LEAST_SHOWN
from shoal.wording import counted, in_words

# What was replaced in the text columns of a release, as its owner and as the public may know it.


RULES_MISS = (
    "rules and lists cannot find a name without a sign that it is one (no title, no capital, in no list), nor what "
    "tells who somebody is by its meaning (a rare job, a well-known accident)"
)


def shown_counts(counts: Mapping[str, int]) -> dict[str, int | str]:
    """Counts as the public may see them: those of 1 to 10 are not told.

    >>> shown_counts({"name": 120, "ip": 2})
    {'name': 120, 'ip': '1-10'}
    """
    return {kind: f"1-{LEAST_SHOWN - 1}" if 0 < count < LEAST_SHOWN else count for kind, count in counts.items()}


@dataclass(frozen=True, repr=False)
class ScrubbedText:
    """The text columns of a release: what was replaced, by kind; the values of `known` and `person` were looked for.

    `known_from`: values of a file beside the table were looked for too, so the table alone does not say what is gone.
    """

    replace: str
    known: list[str]
    person: str | None
    engine: str
    columns: list[ScrubbedColumn] = field(default_factory=list)
    known_from: bool = False

    @property
    def names(self) -> list[str]:
        """The columns of text."""
        return [column.name for column in self.columns]

    def series(self, name: str) -> pl.Series:
        """A column with its identifiers replaced."""
        return next(column for column in self.columns if column.name == name).series()

    def in_public(self) -> dict[str, Any]:
        """What a manifest says: counts of 1 to 10 are not told."""
        return {
            "text": self.names,
            "known": self.known,
            "person": self.person,
            "known_from": self.known_from,
            "replace": self.replace,
            "engine": self.engine,
            "cannot_find": RULES_MISS,
            "columns": {column.name: _in_public(column) for column in self.columns},
        }

    def notes(self) -> list[str]:
        """One sentence per column for the owner of the data."""
        found = []
        for column in self.columns:
            counts = column.counts()
            kinds = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.most_common()]
            said = f": {in_words(kinds, 30)}" if kinds else ""
            found.append(
                f"{column.name}: {column.changed:,} of {counted(column.notes, 'note')} changed, "
                f"{counted(counts.total(), 'identifier')} replaced{said}"
            )
        return [*found, *withheld_notes(self.columns), RULES_MISS] if found else []


def withheld_notes(columns: list[ScrubbedColumn]) -> list[str]:
    """A sentence for each column with notes that could not be searched to their end, none of which leaves."""
    return [
        f"{column.name}: {counted(number, 'note')} withheld whole: {in_words(column.spans.why_withheld())}; please "
        "report it"
        for column in columns
        if (number := column.counts()["withheld"])
    ]


def _in_public(column: ScrubbedColumn) -> dict[str, Any]:
    counts = shown_counts({"notes": column.notes, "changed": column.changed, "known_found": column.known_found()})
    return {
        **counts,
        "spans": shown_counts(_sorted(column.counts())),
        "records": shown_counts(_sorted(column.records())),
    }


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


@dataclass(frozen=True, repr=False)
class ScrubResult(Personal):
    """A table whose notes have their identifiers replaced.

    `notes` counts the cells of text, `changed` those that are not what they were, `spans` the identifiers that were
    replaced by kind, `known_found` those among them that are values which the table has of the person. `dropped` are
    the columns that do not leave, because they identify; `not_looked_for` counts known values that are too short;
    `known_from` says whether values of a file beside the table were looked for too.
    """

    name: ClassVar[str] = "scrub"

    notes: int
    changed: int
    spans: dict[str, int]
    known_found: int
    known_values: int
    not_looked_for: int
    text: list[str]
    known: list[str]
    person: str | None
    known_from: bool
    replace: str
    engine: str
    cannot_find: str
    dropped: list[str]
    kept: list[str]
    records: int
    key_file_created: bool
    output: str | None = None
    manifest: str | None = None
    spans_out: str | None = None
    remarks: list[str] = field(default_factory=list)
    table: Table = left_out(default=None)
    columns: list[ScrubbedColumn] = left_out(default_factory=list)

    @property
    def changed_columns(self) -> dict[str, FormKind]:
        """The columns of text."""
        return dict.fromkeys(self.text, "scrubbed")

    def _entry(self, name: str, dtype: pl.DataType) -> ColumnEntry:
        if name not in self.dropped:
            entry = super()._entry(name, dtype)
            changed = {"role": "text", "technique": f"scrub by {self.replace}"}
            return entry.model_copy(update=changed) if name in self.text else entry
        form = ColumnForm(kind="removed")
        return ColumnEntry(
            name=name, role="identifier", nature="removed", technique="removed", form=form, released_as=[]
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """How notes were scrubbed; neither the key nor a value is among it."""
        return {
            "text": self.text,
            "known": self.known,
            "person": self.person,
            "known_from": self.known_from,
            "replace": self.replace,
            "engine": self.engine,
        }

    def manifest_findings(self) -> dict[str, Any]:
        """What was replaced, by kind; small counts are not told."""
        made = ScrubbedText(self.replace, self.known, self.person, self.engine, self.columns, self.known_from)
        return {"scrubbed": made.in_public()}

    def checks(self, written: Table) -> list[Check]:
        """The written notes are those that were searched until nothing more was found."""
        made = {column.name: column.series() for column in self.columns}
        same = all(
            name in written.columns and _same_notes(written[name].decode(), series) for name, series in made.items()
        )
        detail = "the written notes are those that were scrubbed" if same else "the written notes are other ones"
        return [Check("scrubbed text", same, detail)]

    def as_released(self, output: Any, manifest: Any, spans_out: Any = None) -> ScrubResult:
        """The same, with where its release is."""
        places = None if spans_out is None else str(spans_out)
        return replace(self, output=str(output), manifest=str(manifest), spans_out=places)

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The table with its scrubbed notes, without the columns that identify."""
        made = {column.name: column.series() for column in self.columns}
        kept = [column for column in self.table.columns.values() if column.name not in self.dropped]
        return pl.DataFrame([made[column.name] if column.name in made else column.decode() for column in kept])

    @property
    def frame(self) -> Any:
        """The same as the kind of frame that came in."""
        return to_native(self.polars, self.table.native, set(self.text))

    def places(self) -> pl.DataFrame:
        """Row (counted from 0), start, end, kind and score of every span: no text. For the owner of the data only."""
        found = pl.concat([column.places() for column in self.columns]).sort("row", "column", "start")
        return found if len(self.columns) > 1 else found.drop("column")

    def summary(self) -> str:
        """How many notes were changed, and what was found."""
        total = sum(self.spans.values())
        return (
            f"{self.changed:,} of {counted(self.notes, 'note')} changed: {counted(total, 'identifier')} replaced, "
            f"{self.known_found:,} of them known from the table."
        )

    def sections(self) -> list[Section]:
        """The sentence, the counts by kind, and what cannot be promised."""
        rows = [(kind.replace("_", " "), f"{count:,}") for kind, count in self.spans.items()]
        found: list[Section] = [Headline(self.summary(), "bad" if self.spans.get("withheld") else "good")]
        if rows:
            found.append(Grid(("kind", "replaced"), rows))
        found.append(Figures([Figure("engine", self.engine), Figure("replaced by", self.replace)]))
        files = {"release": self.output, "manifest": self.manifest, "places (private)": self.spans_out}
        found.append(Notes(self._remarks()))
        there = {name: path for name, path in files.items() if path is not None}
        return [*found, Files(there)] if there else found

    def _remarks(self) -> list[str]:
        notes = [*withheld_notes(self.columns), self.cannot_find, *self.remarks]
        if self.dropped:
            notes.append(f"not in the output, because they identify: {in_words(self.dropped)}")
        if self.kept:
            notes.append(f"in the output as they are, by your decision: {in_words(self.kept)}")
        if self.not_looked_for:
            notes.append(f"{counted(self.not_looked_for, 'known value')} too short to be looked for")
        notes += [NEW_KEY] if self.key_file_created else []
        return [*notes, "other columns were not changed and may tell who people are: anonymise them too"]


def _same_notes(written: pl.Series, made: pl.Series) -> bool:
    """Whether two columns hold the same notes, in whatever order; a text file writes nothing for an empty note."""
    first, second = _as_compared(written), _as_compared(made)
    return first.equals(second) or first.sort().equals(second.sort())


def _as_compared(notes: pl.Series) -> pl.Series:
    found = notes.cast(pl.String).fill_null("").alias("notes")
    carriage = found.str.contains("\r\n", literal=True).any()
    return found.str.replace_all("\r\n", "\n", literal=True) if carriage else found
