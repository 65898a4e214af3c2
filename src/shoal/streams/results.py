"""What a stream did, as it shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.results import Commands, Figure, Figures, Headline, Notes, Result, Section, left_out
from shoal.wording import counted


@dataclass(frozen=True, repr=False)
class StreamResult(Result):
    """What came, and what became of it; every record that was taken is released, suppressed or waits.

    `reused`: released in a box that was published before; `boxes`: how many were published, each with k persons or
    more; `longest_wait`: after how many others the last one left, at most `delay`.
    """

    name: ClassVar[str] = "stream"

    records: int
    released: int
    reused: int
    suppressed: int
    malformed: int
    late: int
    waiting: int
    boxes: int
    k: int
    delay: int
    longest_wait: int
    # how to check what was written
    check: str | None = left_out(default=None)

    @property
    def rejected(self) -> int:
        """Lines that were not taken."""
        return self.malformed + self.late

    def summary(self) -> str:
        """How many left, and how."""
        words = f"{counted(self.released, 'record')} of {self.records:,} released in {counted(self.boxes, 'group')}"
        words += f" of at least {self.k} persons." if self.boxes else "."
        if self.suppressed:
            words += f" {counted(self.suppressed, 'record')} suppressed: no group came together in time."
        if self.rejected:
            words += f" {counted(self.rejected, 'line')} rejected ({self.malformed:,} malformed, {self.late:,} late)."
        return words

    def sections(self) -> list[Section]:
        """The counts."""
        shown = ("records", "released", "reused", "suppressed", "waiting", "malformed", "late", "boxes")
        figures = [Figure(name, f"{getattr(self, name):,}") for name in shown]
        figures.append(Figure("longest wait", f"{self.longest_wait:,} of {self.delay:,} records"))
        notes = [] if not self.rejected else [Notes(["Rejected lines stand in the file of rejects, with the reason."])]
        again = [] if self.check is None else [Commands([self.check])]
        return [Headline(self.summary(), "warning" if self.rejected else "good"), Figures(figures), *notes, *again]
