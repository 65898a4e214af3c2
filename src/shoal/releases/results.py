"""What `verify` and `release` found, as they show themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from shoal.models import Verdict
from shoal.policy.judgement.shown_classes import Check
from shoal.results import Cell, Figure, Figures, Grid, Headline, Notes, Result, Section, left_out, where_known
from shoal.results.sections import Case, holds_cell, model_cases, worst_class
from shoal.wording import counted, in_words, said_of

# a check that was asked for and cannot be made: it does not hold, but nothing is known to be wrong
NEEDS_PRIVATE = "cannot be checked: the private record, by which each row is found in the original, is not beside it"


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """The verdict on a file: every model of the policy and every check must hold."""

    name: ClassVar[str] = "verify"

    verdict: str
    records: int
    k: int
    suppressed_rows: int
    models: list[Verdict]
    checks: list[Check]
    # smallest class and uniques by what a suppressed cell means, where a model depends on it
    readings: dict[str, dict[str, int]] | None = where_known()
    # classes, and how many of them have one member; None where there are no classes to speak of
    classes: int | None = left_out(default=None)
    uniques: int | None = left_out(default=None)

    @property
    def holds(self) -> bool:
        """Whether all of it holds."""
        return self.verdict == "holds"

    @property
    def unchecked(self) -> list[str]:
        """The checks that were asked for and lack what they need; as long as there are some, the file is refused."""
        return [check.name for check in self.checks if _lacks(check)]

    @property
    def _only_unchecked(self) -> bool:
        failed = sum(not one.holds for one in self.models) + sum(not one.holds for one in self.checks)
        return bool(self.unchecked) and failed == len(self.unchecked)

    def summary(self) -> str:
        """Holds or not, and on how many records."""
        word = "Holds" if self.holds else "Does not hold"
        if self._only_unchecked:
            word = "Not checked against the original, all else holds"
        if any(model.name == "differential-privacy" for model in self.models):
            tables = any(one.name == "counts" for one in self.checks)
            what = f"{counted(self.records, 'table')} of counts" if tables else counted(self.records, "record")
            return f"{word}: {what}, by all that a manifest can prove of such a release."
        if not self.models and not self.k:
            word = "As it was released" if self.holds else word
            return f"{word}: {counted(self.records, 'record')}, nothing promised."
        least = f"smallest class {self.k:,}" if self.k else "no class that could be judged"
        words = f"{word}: {counted(self.records, 'record')}, {least}."
        if self.suppressed_rows:
            words += f" {counted(self.suppressed_rows, 'record')} of them suppressed."
        if self.readings is not None:
            words += f" Where * matches anything, every record matches at least {self.readings['wildcard']['k']:,}."
        return words

    def cases(self) -> list[Case]:
        """Every model and every check, as test reports list them."""
        return model_cases(self.models) + [
            Case("check", check.name, "", check.holds, check.detail) for check in self.checks
        ]

    def reasons(self) -> str:
        """What does not hold, in words."""
        lines = [
            f"{verdict.name} {listed(verdict.parameters)} does not hold (worst class: {worst_class(verdict)})"
            for verdict in self.models
            if not verdict.holds
        ]
        return "; ".join(lines + [f"{check.name}: {check.detail}" for check in self.checks if not check.holds])

    def sections(self) -> list[Section]:
        """The verdict, model by model and check by check."""
        rows: list[list[str | Cell]] = [
            [
                f"{verdict.name} {listed(verdict.parameters, '=')}",
                holds_cell(verdict.holds, verdict.status),
                _worst(verdict),
            ]
            for verdict in self.models
        ]
        rows += [[check.name, _cell(check), check.detail] for check in self.checks]
        return [
            Headline(self.summary(), "good" if self.holds else "warning" if self._only_unchecked else "bad"),
            Grid(("what", "verdict", ""), rows, left=3, wrap=(2,)),
        ]


def _lacks(check: Check) -> bool:
    return not check.holds and check.detail == NEEDS_PRIVATE


def _cell(check: Check) -> Cell:
    return Cell("not checked", "warning") if _lacks(check) else holds_cell(check.holds)


def listed(entries: dict[str, Any], sign: str = " ") -> str:
    """Names and values of parameters, without the columns.

    >>> listed({"k": 5, "columns": ["age"]})
    'k 5'
    """
    return ", ".join(f"{name}{sign}{value}" for name, value in entries.items() if name != "columns")


def _worst(verdict: Verdict) -> str:
    return f"worst class: {worst_class(verdict)}" if verdict.worst else ""


@dataclass(frozen=True, repr=False)
class Released(Result):
    """Where the parts of a release are, and how many records it holds."""

    name: ClassVar[str] = "release"

    output: Path | str
    manifest: Path
    dictionary: Path
    private: Path
    written: int
    suppressed_rows: int
    blanked_cells: int
    removed_rows: int
    respelled_cells: int
    verdict: str
    k: int
    models: list[Verdict]
    checks: list[Check]
    plan: Path | None = where_known()
    signed_by: str | None = where_known()
    undecided: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """How many records left, and under which promise."""
        words = f"{counted(self.written, 'record')} released"
        words += f"{said_of(self.written, self.suppressed_rows, self._promise())}."
        if self.removed_rows:
            words += f" {counted(self.removed_rows, 'suppressed record')} removed."
        if not self.models:
            words += " No privacy model was checked: there is no guarantee."
        return words

    def _promise(self) -> str:
        """How many stand together: records that match where a suppressed cell matches anything, else classes."""
        for verdict in self.models:
            if verdict.name == "k-matching" and (found := verdict.worst.get("matches")) is not None:
                some = verdict.parameters.get("m")
                return f"each matching at least {found:,}" + (f" on any {counted(some, 'column')}" if some else "")
        return f"in classes of at least {self.k:,}" if self.models and self.k else ""

    def sections(self) -> list[Section]:
        """The promise, and where the parts are."""
        figures = [Figure("records written", f"{self.written:,}"), Figure("suppressed", f"{self.suppressed_rows:,}")]
        if self.blanked_cells:
            figures.append(Figure("sensitive cells emptied in suppressed records", f"{self.blanked_cells:,}"))
        if self.removed_rows:
            figures.append(Figure("suppressed records removed", f"{self.removed_rows:,}"))
        notes = [f"data {self.output}, manifest {self.manifest}"]
        if self.respelled_cells:
            notes.append(
                f"{self.respelled_cells:,} distinct values of quasi-identifiers are written in one spelling per value"
            )
        if self.plan is not None:
            notes.append(
                f"plan {self.plan}: it can be applied to new data; it names the values of this data, keep it private"
            )
        if self.signed_by is not None:
            notes.append(f"signed by {self.signed_by}")
        if self.undecided:
            notes.append(f"nobody decided on {in_words(self.undecided)}: detection found nothing there")
        notes += self.notes
        notes.append("the private record beside it (seed, row order) is for its owner only")
        return [Headline(self.summary(), "good" if self.models else "warning"), Figures(figures), Notes(notes)]
