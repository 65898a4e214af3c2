"""The list of standards that shoal knows, or one of them as a policy file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.policy.named import STANDARDS, Standard, Test, find_standard
from shoal.results import Cell, Files, Grid, Headline, Notes, Result, Section, where_known
from shoal.wording import counted
from shoal.writing import check_target, write_whole


@dataclass(frozen=True)
class StandardEntry:
    """A standard with the threshold and the models of its policy, and that policy as a file."""

    name: str
    title: str
    source: str
    date: str
    threshold: float | str | None
    models: list[dict[str, Any]]
    tests: list[Test]
    remark: str
    policy_text: str

    @classmethod
    def of(cls, standard: Standard) -> StandardEntry:
        """As an entry of the list."""
        return cls(
            name=standard.name,
            title=standard.title,
            source=standard.source,
            date=standard.date,
            threshold=standard.policy.threshold,
            models=[model.model_dump() for model in standard.policy.models],
            tests=list(standard.tests),
            remark=standard.remark,
            policy_text=standard.policy_text(),
        )


@dataclass(frozen=True, repr=False)
class Standards(Result):
    """The standards that shoal knows, or one of them, and the policy file that was written."""

    name: ClassVar[str] = "standards"

    standards: list[StandardEntry]
    policy_file: str | None = where_known()

    def summary(self) -> str:
        """How many there are, or which one it is."""
        if len(self.standards) == 1:
            return f"{self.standards[0].title}. {self.standards[0].remark}"
        return f"{counted(len(self.standards), 'standard')} as named policies."

    def sections(self) -> list[Section]:
        """Names with their sources, and the command that answers each test."""
        rows = [(entry.name, entry.title, Cell(f"{entry.source} ({entry.date})", "dim")) for entry in self.standards]
        notes = [
            f"{entry.name}, {test.name}: {test.command or 'not measured yet'}"
            for entry in self.standards
            for test in entry.tests
        ]
        notes.append("which standard applies, and with which threshold, is yours to confirm")
        grid = Grid(("name", "what it is", "source and date"), rows, 3)
        shown: list[Section] = [Headline(self.summary()), grid, Notes(notes)]
        return shown if self.policy_file is None else [*shown, Files({"policy": self.policy_file})]


def standards(name: str | None = None, *, output: str | Path | None = None, force: bool = False) -> Standards:
    """The standards that shoal knows, or one by its name; `output` writes the policy of one to a file.

    >>> [entry.name for entry in standards().standards][:2]
    ['hipaa-safe-harbor', 'ema-0070']
    """
    chosen = list(STANDARDS.values()) if name is None else [find_standard(name)]
    entries = [StandardEntry.of(standard) for standard in chosen]
    if output is None:
        return Standards(entries)
    if name is None:
        raise InputError("No standard is named.", "Name the one whose policy is written, such as ema-0070.")
    target = Path(output)
    check_target(target, force, (".yaml", ".yml"))
    write_whole(target, lambda draft: draft.write_text(entries[0].policy_text, encoding="utf-8"))
    return Standards(entries, policy_file=str(target))
