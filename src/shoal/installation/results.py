"""What `shoal doctor` found."""

from __future__ import annotations

from typing import ClassVar, Literal

from shoal.dataclasses import dataclass
from shoal.results import Cell, Grid, Headline, Notes, Result, Section
from shoal.wording import counted

State = Literal["fine", "absent", "broken"]
_TONES: dict[str, Literal["good", "dim", "bad"]] = {"fine": "good", "absent": "dim", "broken": "bad"}


@dataclass(frozen=True)
class Part:
    """One part of the installation: what it is for, its state, and one line of cure.

    `absent` is an optional part that is not there; `broken` is something that shoal needs, or a part that is there and
    does not work.
    """

    name: str
    group: Literal["needed", "extra", "program", "place"]
    state: State
    detail: str
    cure: str | None = None
    # a package that every installation has
    is_package: bool = False


@dataclass(frozen=True, repr=False)
class Doctor(Result):
    """The state of an installation, part by part."""

    name: ClassVar[str] = "doctor"

    verdict: Literal["fine", "broken"]
    shoal: str
    python: str
    system: str
    parts: list[Part]

    @property
    def healthy(self) -> bool:
        """Whether nothing that is needed is broken."""
        return self.verdict == "fine"

    def summary(self) -> str:
        """Whether shoal can work here, and what is not installed."""
        broken = [part.name for part in self.parts if part.state == "broken"]
        words = f"shoal {self.shoal} on Python {self.python}, {self.system}."
        if not self.healthy:
            return f"{words} Broken: {', '.join(broken)}."
        absent = [part for part in self.parts if part.state == "absent"]
        return f"{words} All that is needed works; {counted(len(absent), 'optional part')} not installed."

    def sections(self) -> list[Section]:
        """A line per part, with its cure."""
        shown = [part for part in self.parts if part.state != "fine" or not part.is_package]
        rows: list[list[str | Cell]] = [
            [part.name, Cell(part.state, _TONES[part.state]), Cell(part.detail, "dim")] for part in shown
        ]
        packages = [f"{part.name} {part.detail}" for part in self.parts if part.state == "fine" and part.is_package]
        cures: dict[str, list[str]] = {}
        for part in self.parts:
            if part.cure:
                cures.setdefault(part.cure, []).append(part.name)
        notes = [f"{', '.join(names)}: {cure}" for cure, names in cures.items()]
        return [
            Headline(self.summary(), "good" if self.healthy else "bad"),
            Grid(("part", "state", "what"), rows, 3, wrap=(2,)),
            Notes([*notes, f"packages: {', '.join(packages)}"]),
        ]
