"""What `safe_harbor` returns: clause by clause what was found and done, what is left, what a person must confirm."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import polars as pl

from shoal.detection.clauses import CLAUSES, Treatment
from shoal.detection.undecided import decisions_about
from shoal.engine import engine_of
from shoal.exposure import IdentityRisk
from shoal.methods.hipaa.zip3 import Populations
from shoal.methods.outcomes import ChangedTableResult
from shoal.policy import Policy
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import ColumnEntry
from shoal.results import Cell, Commands, Grid, Headline, Notes, Section, Tone, left_out, where_known
from shoal.storage import Table
from shoal.storage.reading import read
from shoal.systems.console import shell_line
from shoal.wording import counted, in_words, percent

Status = Literal["done", "confirm", "nothing-found"]
_SHORT = {clause.letter: clause.short for clause in CLAUSES}
_TONES: dict[str, Tone] = {"done": "good", "confirm": "warning", "nothing-found": "dim"}
KEPT = "kept"


@dataclass(frozen=True)
class ClauseReport:
    """One clause: its columns, what was done, how many cells changed; `confirm` until a policy decides it."""

    clause: str
    title: str
    columns: list[str]
    action: str
    cells_changed: int
    status: Status


@dataclass(frozen=True)
class Done:
    """What was done to a column under a clause, and how many cells it changed."""

    column: str
    clause: str | None
    action: str
    cells_changed: int
    decided: bool
    reason: str


@dataclass(frozen=True)
class Vintage:
    """Whose counts of people per ZIP prefix were taken."""

    source: str
    vintage: str


@dataclass(frozen=True, repr=False)
class SafeHarbor(ChangedTableResult):
    """A table after safe harbor: `frame` is of the kind that came in; `clauses` say what was done under (A) to (R).

    `to_confirm` is what a person must look at, `residual` the risk that is left. `written`, `output` and `manifest` are
    those of its release, where there is one.
    """

    name: ClassVar[str] = "safe-harbor"

    standard: str
    source: str
    records: int
    clauses: list[ClauseReport]
    details: list[Done]
    year_of_data: int
    year_of_data_from: str
    zip_populations: Vintage
    to_confirm: list[str]
    notes: list[str]
    residual: IdentityRisk | None = None
    written: int = 0
    output: str | None = None
    manifest: str | None = None
    policy_file: str | None = where_known()
    verdict: Literal["holds", "refused"] = "holds"
    reason: str | None = where_known()
    # what was replaced in columns of free text, without small counts
    scrubbed: dict[str, Any] | None = where_known()
    table: Table = left_out(default=None)
    policy: Policy = left_out(default=None)
    treatments: list[Treatment] = left_out(default_factory=list)
    populations: Populations = left_out(default=None)
    polars: pl.DataFrame = left_out(default=None)

    @property
    def frame(self) -> Any:
        """The released table as the kind of frame that came in."""
        changed = {entry.column for entry in self.details if entry.action != KEPT}
        return engine_of(self.table).assign(self.table, self.polars, changed=changed)

    @property
    def released(self) -> Any:
        """The released rows where they are: `polars`, or the frame of an engine that keeps them."""
        return self.frame if engine_of(self.table).keeps_rows else self.polars

    @property
    def quasi_identifiers(self) -> list[str]:
        """The kept columns that others may know."""
        kept = set(self.polars.columns)
        return [entry.column for entry in self.treatments if entry.role == "quasi-identifier" and entry.column in kept]

    # what the release step asks

    plan: ClassVar[None] = None
    seconds: ClassVar[float] = 0.0

    @property
    def technique(self) -> str:
        """By which name the manifest knows it."""
        return self.standard

    @property
    def rule(self) -> str | None:
        """The rule that it keeps instead of a privacy model."""
        return self.source

    @property
    def parameters(self) -> dict[str, Any]:
        """None: what was decided stands in the section on safe harbor."""
        return {}

    @property
    def private(self) -> dict[str, Any]:
        """What only the owner of a release may know, beside the order of rows: nothing."""
        return {}

    def manifest_columns(self) -> list[ColumnEntry]:
        """Each column of the input as the manifest lists it."""
        from shoal.methods.hipaa.manifest import entries_of

        return entries_of(self)

    def manifest_findings(self) -> dict[str, Any]:
        """What was found, for the manifest: the section on safe harbor says it, but for text that was scrubbed."""
        return {} if self.scrubbed is None else {"scrubbed": self.scrubbed}

    def manifest_sections(self, written: Table) -> dict[str, Any]:
        """The clauses, and the risk that is left in the written file."""
        from shoal.methods.hipaa.manifest import section_of
        from shoal.methods.hipaa.safe_harbor import residual_risk

        residual = residual_risk(written, self)
        return {"safe_harbor": section_of(self), "residual": None if residual is None else residual.to_dict()}

    def checks(self, written: Table) -> list[Check]:
        """Every rule again, on what was written."""
        from shoal.methods.hipaa.recheck import plan_of, recheck

        return recheck(written, plan_of(self.treatments), self.year_of_data, self.populations, self.policy)

    def manifest_section(self) -> dict[str, Any]:
        """What the manifest keeps of it: all but where it is and what is left, which the manifest says itself."""
        found = self.to_dict()
        elsewhere = "schema_version residual written output manifest policy_file verdict reason scrubbed"
        for key in elsewhere.split():
            found.pop(key, None)
        return found

    def measured(self, residual: IdentityRisk | None) -> SafeHarbor:
        """The same, with the risk that is left."""
        return replace(self, residual=residual)

    def with_policy_file(self, path: Any) -> SafeHarbor:
        """The same, with the policy file that was written."""
        return replace(self, policy_file=str(path))

    def as_released(self, written: int, output: Any, manifest: Any) -> SafeHarbor:
        """The same, with where its release is and how many records it holds."""
        return replace(self, written=written, output=str(output), manifest=str(manifest))

    def as_refused(self, why: str) -> SafeHarbor:
        """The same, refused: nothing was written."""
        return replace(self, verdict="refused", reason=why)

    def summary(self) -> str:
        """What was removed and changed, and who is still unique."""
        if self.reason is not None:
            return self.reason
        removed = {entry.column for entry in self.details if entry.action == "removed"}
        cells = sum(entry.cells_changed for entry in self.details if entry.column not in removed)
        done = f"{counted(len(removed), 'column')} removed, {counted(cells, 'cell')} changed in others."
        return f"{done} {what_is_left(self.residual)}"

    def sections(self) -> list[Section]:
        """Clause by clause, then what a person must confirm, then what to do next."""
        bad = self.verdict == "refused" or (self.residual is not None and self.residual.uniques > 0)
        shown: list[Section] = [Headline(self.summary(), "bad" if bad else "good"), _clauses(self.clauses)]
        confirm = Grid(("For a person to confirm",), [(asked,) for asked in self.to_confirm], 1, wrap=(0,))
        shown += [confirm, Notes([*self.notes, *self._remarks()])]
        next_command = self._next()
        return [*shown, Commands([next_command])] if next_command else shown

    def _remarks(self) -> list[str]:
        counted_to = f"ages counted to {self.year_of_data} ({self.year_of_data_from})"
        remarks = [f"ZIP prefixes by {self.zip_populations.vintage}; {counted_to}"]
        if self.policy_file:
            remarks.append(f"policy written: {self.policy_file} (check every line: what it says counts as decided)")
        if self.output:
            remarks.append(f"written: {self.output} and {self.manifest}")
        return remarks

    def _next(self) -> str | None:
        """The command that goes on from here, whole and quoted."""
        if self.output is None or self.residual is None or not self.residual.uniques:
            return None
        names = self.residual.quasi_identifiers
        table = read(self.polars)
        stopping = decisions_about(table, [name for name in table.names if name not in names], [], names).stopping
        quasi = [entry.column for entry in stopping if entry.looks_like == "quasi-identifier"]
        others = {entry.column: entry.looks_like for entry in stopping if entry.looks_like != "quasi-identifier"}
        return next_command(self.output, [*names, *quasi], others)


def next_command(output: str, quasi_identifiers: list[str], decide: Mapping[str, str] | None = None) -> str:
    """The command that anonymises what safe harbor left, with roles for what a release would stop at.

    >>> next_command("safe.csv", ["zip", "Age (yrs)"], {"badge": "identifier"})
    "shoal anonymize safe.csv -o safe.anonymous.csv --qi 'zip,Age (yrs)' -k 5 --decide badge=identifier"
    """
    stem, dot, ending = output.rpartition(".")
    target = f"{stem}.anonymous{dot}{ending}" if dot else f"{output}.anonymous"
    command = f"shoal anonymize {shell_line(output)} -o {shell_line(target)} --qi {_listed(quasi_identifiers)} -k 5"
    roles = [f"{name}={role}" for name, role in (decide or {}).items()]
    return " ".join([command, "--decide", _listed(roles)]) if roles else command


def _listed(names: list[str]) -> str:
    """Names for an option that takes a list; a name with a comma or a quote stands in quotes."""
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(names)
    return shell_line(row.getvalue())


def what_is_left(found: IdentityRisk | None) -> str:
    """One sentence on the residual risk."""
    if found is None:
        return "No kept column is a quasi-identifier: there is no residual risk to measure."
    if not found.uniques:
        return f"Nobody is unique on {in_words(found.quasi_identifiers)}; the smallest class has {found.k:,}."
    return f"Still {percent(found.uniqueness)} unique on {in_words(found.quasi_identifiers)}."


def _clauses(clauses: list[ClauseReport]) -> Grid:
    rows = [
        (
            f"({entry.clause})",
            _SHORT[entry.clause],
            ", ".join(dict.fromkeys(entry.columns)),
            entry.action if entry.columns else "",
            Cell(entry.status, _TONES[entry.status]),
            f"{entry.cells_changed:,}" if entry.columns else "",
        )
        for entry in clauses
    ]
    return Grid(("clause", "what it names", "columns", "what was done", "status", "cells"), rows, 5)
