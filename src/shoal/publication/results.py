"""What `shoal.publish` returns: where the publication is, how each step went, its findings and its report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, ClassVar

from shoal.anonymization.results import Anonymized
from shoal.dataclasses import dataclass
from shoal.publication.small_counts import public_edition
from shoal.reports.findings import FindingsDocument
from shoal.results import Cell, Commands, Grid, Headline, Notes, Result, Section, beside, left_out, where_known
from shoal.wording import counted


@dataclass(frozen=True)
class Step:
    """One step: how long it took and how it ended (`done`, `holds`, `refused`, `not possible`, or a verdict)."""

    name: str
    seconds: float
    verdict: str


@dataclass(frozen=True, repr=False)
class Publication(Result):
    """A publication: the folder that may leave, every step, and the findings that its report is made from.

    `verdict` is `holds`, or `refused` with the step and the reason; then nothing was written.
    """

    name: ClassVar[str] = "publish"

    output: str | None
    verdict: str
    files: dict[str, str | None] = beside(("report", "findings"))
    steps: list[Step] = None  # type: ignore[assignment]
    refusal: str | None = where_known()
    warnings: list[str] | None = where_known()
    document: FindingsDocument = left_out(default=None)
    result: Anonymized | None = left_out(default=None)
    # the file that was read, quoted for a shell
    original: str | None = left_out(default=None)

    def in_short(self) -> dict[str, Any]:
        """How many records were read and released, in classes of how many at least, and how many steps it took."""
        data, k = self.document.data, (self.document.verification or {}).get("k")
        smallest = {} if self.verdict != "holds" or k is None else {"k": k}
        return {"records": data["records"], "released": data["released"], **smallest, "steps": len(self.steps)}

    @property
    def frame(self) -> Any:
        """The released table, of the kind of frame that came in; None where nothing was released."""
        return None if self.result is None or self.verdict != "holds" else self.result.frame

    @property
    def findings(self) -> dict[str, Any]:
        """What every step found, as JSON."""
        return self.document.to_dict()

    def report(self, path: str | Path, *, public: bool = False, crosswalk: str | None = None) -> Path:
        """Write the report as HTML, or as PDF where the name ends in .pdf."""
        from shoal.reports.report import write_report

        found = public_edition(self.findings) if public else self.findings
        return write_report(found, Path(path), crosswalk=crosswalk)

    def summary(self) -> str:
        """What may be published, or why not."""
        if self.verdict != "holds":
            return self.refusal or "Refused, nothing was written."
        records = counted(self.document.data["released"], "record")
        return f"{records} ready to be published{f' in {self.output}' if self.output else ''}."

    def _worst_attack(self) -> list[str]:
        """What attacks gained, as the report's summary says it."""
        from shoal.reports.chapters.attacks import worst_attack

        worst = worst_attack(self.findings)
        return [] if worst is None else [f"{worst.text[:1].lower()}{worst.text[1:].removesuffix('.')}"]

    def sections(self) -> list[Section]:
        """The verdict, the steps, what attacks gained, and where to look."""
        rows = [(step.name, Cell(step.verdict), f"{step.seconds:.1f}") for step in self.steps]
        tone = "good" if self.verdict == "holds" else "bad"
        shown: list[Section] = [Headline(self.summary(), tone), Grid(("step", "verdict", "seconds"), rows, 2)]  # type: ignore[arg-type]
        shown += [Headline(f"Note: {warning}.", "warning") for warning in self.warnings or []]
        if self.output is None:
            return shown
        private = f"{Path(self.output).name}.private"
        notes = [
            *self._worst_attack(),
            f"{self.output} may leave; {private} beside it is for its owner only",
            "a tool prepares, a person certifies: read the report, then sign it",
        ]
        return [*shown, Notes(notes), Commands([self._verify_command()])]

    def _verify_command(self) -> str:
        """How to check it, with the table that it was made from."""
        original = f" --original {self.original}" if self.original else ""
        return f"shoal verify {shlex.quote(str(self.output))}{original}"
