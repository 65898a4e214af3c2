"""What `perturb` returns: what was done, what can still be learnt, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import polars as pl

from shoal.detection.undecided import Decisions, UndecidedColumn, decision_notes, decisions_of
from shoal.errors import InputError, Message
from shoal.methods.outcomes import ChangedTableResult
from shoal.methods.perturbation.utility import IntervalDisclosure, NearestLinkage, Utility
from shoal.models import Verdict
from shoal.policy import Policy
from shoal.policy.loading import with_roles
from shoal.policy.manifest import ColumnEntry, column_entries
from shoal.ranges.columns import ReleasedColumns
from shoal.results import Figure, Figures, Grid, Headline, Notes, Section, beside, left_out, where_known
from shoal.storage import Table
from shoal.storage.reading.frames import to_native
from shoal.vocabulary import Role
from shoal.wording import counted, percent


@dataclass(frozen=True)
class PerturbedColumn:
    """What was done to a column, in order, and in how many rows it shows."""

    name: str
    operators: list[str]
    nature: str
    modified_rows: int


@dataclass(frozen=True)
class PerturbationRisk:
    """What can still be learnt; `kept` is the share of rows in which a column still says what it said."""

    interval_disclosure: IntervalDisclosure | None
    linkage: NearestLinkage | None
    kept: dict[str, float]


@dataclass(frozen=True)
class PerturbationFindings:
    """What was done, what can still be learnt, what it cost."""

    records: int
    modified_rows: int
    columns: list[PerturbedColumn]
    risk: PerturbationRisk
    utility: Utility
    notes: list[str] = field(default_factory=list)

    @property
    def information_loss_by_column(self) -> dict[str, float]:
        """Not defined: no range is released."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """As JSON: `columns`, `risk`, `utility`."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Perturbed(ChangedTableResult):
    """A perturbed table: `frame` is of the kind that came in, in the same order; `findings` say what it is worth.

    `private` is for the owner of a release only: with the seed the noise can be taken off again. `written`, `output`
    and `manifest` are those of its release, where there is one.
    """

    name: ClassVar[str] = "perturb"

    table: Table = left_out()
    policy: Policy = left_out()
    parameters: dict[str, Any] = left_out()
    columns: dict[str, ReleasedColumns] = left_out()
    findings: PerturbationFindings = beside(("records", "modified_rows", "columns", "risk", "utility", "notes"))
    private: dict[str, Any] = left_out()
    undecided_columns: list[UndecidedColumn] = field(default_factory=list)
    written: int | None = None
    guarantee: bool = False
    verdict: Literal["holds", "no guarantee", "undecided", "refused"] = "no guarantee"
    output: str | None = None
    manifest: str | None = None
    refusal: str | None = where_known()
    verdicts: list[Verdict] = left_out(default_factory=list)
    technique: ClassVar[str] = "perturb"
    plan: None = left_out(default=None)
    seconds: float = left_out(default=0.0)

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns that models look at: none of them is perturbed."""
        return self.policy.quasi_identifiers if self.policy.models else []

    def looked_at(self) -> Perturbed:
        """The same, with what nobody decided; columns that point at people make it `undecided`."""
        found = decisions_of(self)
        verdict: Any = "undecided" if found.stopping else "no guarantee"
        notes = [note for note in self.findings.notes if note not in found.notes] + found.notes
        findings = replace(self.findings, notes=notes)
        return replace(self, undecided_columns=found.undecided_columns, findings=findings, verdict=verdict)

    def with_roles(self, decide: Mapping[str, Role]) -> Perturbed:
        """The same, with roles for columns that were not perturbed."""
        self.table.select(list(decide))
        if odd := [name for name in decide if name in self.columns]:
            raise InputError(
                f"Column '{odd[0]}' was perturbed: that is decided.", Message("Leave it out of `{decide}`.")
            )
        return replace(self, policy=with_roles(self.policy, decide)).looked_at()

    def manifest_columns(self) -> list[ColumnEntry]:
        """Each column of the input as the manifest lists it."""
        return column_entries(self.table, self.policy, self.technique, self.columns)

    def manifest_findings(self) -> dict[str, Any]:
        """What was found, for the manifest."""
        return self.findings.to_dict()

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The released table; columns that identify are left out."""
        dropped = set(self.policy.with_role("identifier"))
        kept = {name: column for name, column in self.table.columns.items() if name not in dropped}
        return pl.DataFrame([self.columns[n].series[0] if n in self.columns else c.decode() for n, c in kept.items()])

    @property
    def frame(self) -> Any:
        """The released table as the kind of frame that came in."""
        return to_native(self.polars, self.table.native, set(self.columns))

    def as_released(self, written: int, output: Any, manifest: Any) -> Perturbed:
        """The same, with where its release is and how many records it holds."""
        holds = bool(self.policy.models)
        made = replace(self, guarantee=holds, verdict="holds" if holds else "no guarantee")
        return replace(made, written=written, output=str(output), manifest=str(manifest))

    def as_refused(self, why: str) -> Perturbed:
        """The same, refused: nothing was written."""
        return replace(self, verdict="refused", refusal=why, written=0, output=None, manifest=None)

    def summary(self) -> str:
        """How many records, and that nothing is guaranteed."""
        if self.refusal is not None:
            return " ".join(self.refusal.split())
        records = self.findings.records if self.written is None else self.written
        words = f"{counted(records, 'record')} {'perturbed' if self.written is None else 'released'}."
        if not self.guarantee:
            words += " Perturbed, not anonymous: no privacy model was checked, there is no guarantee."
        if self.verdict == "undecided":
            words += " " + Decisions(self.undecided_columns).until_decided()
        return words

    def sections(self) -> list[Section]:
        """What was done to each column, what can still be learnt, what it cost."""
        return [
            Headline(self.summary(), "good" if self.guarantee else "warning"),
            _columns(self.findings),
            _figures(self.findings),
            Notes(_notes(self)),
        ]


def _columns(found: PerturbationFindings) -> Grid:
    intervals = found.risk.interval_disclosure
    near = {} if intervals is None else intervals.by_column
    width = 0.0 if intervals is None else intervals.width
    rows = []
    for column in found.columns:
        marginal, kept = found.utility.marginals[column.name], found.risk.kept[column.name]
        changes = ("–" if change is None else f"{change:+.4f}" for change in (marginal.mean, marginal.spread))
        disclosed = "–" if column.name not in near else percent(near[column.name])
        rows.append((column.name, ", ".join(column.operators), percent(kept), disclosed, *changes))
    heads = ("column", "changed by", "kept", f"within {width:g} standard deviations", "mean", "spread")
    return Grid(heads, rows, 2)


def _figures(found: PerturbationFindings) -> Figures:
    linked, utility = found.risk.linkage, found.utility
    shown = []
    if linked is not None:
        shown.append(Figure("records linked by distance", f"{percent(linked.share)} of {linked.records:,}"))
    figures = {
        "IL1s": utility.il1s,
        "change of eigenvalues": utility.eigenvalues,
        "largest change of a correlation": utility.correlations,
        "propensity score (0 to 0.25)": None if utility.propensity is None else utility.propensity.pmse,
    }
    return Figures(shown + [Figure(name, f"{figure:.4f}") for name, figure in figures.items() if figure is not None])


def _notes(result: Perturbed) -> list[str]:
    found = result.findings
    notes = [*decision_notes(Decisions(result.undecided_columns)), *found.notes]
    if found.utility.propensity is not None and not found.utility.propensity.settled:
        notes.append("the propensity score could not be fitted")
    if result.output is not None:
        notes.append(f"data {result.output}, manifest {result.manifest}")
        notes.append("the private record beside it holds the seed, by which noise can be removed: for its owner only")
    return notes
