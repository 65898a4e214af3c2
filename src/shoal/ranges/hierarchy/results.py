"""What `shoal hierarchy build` and `shoal hierarchy check` found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from shoal.ranges.hierarchy.tree import Hierarchy
from shoal.results import Cell, Content, Files, Grid, Headline, Notes, Result, Section, left_out
from shoal.wording import counted


@dataclass(frozen=True)
class BuiltHierarchy:
    """One hierarchy: `source` says how it was built, `nodes` are counted per level, `output` is its file."""

    column: str
    source: str
    leaves: int
    levels: int
    nodes: list[int]
    output: str
    tree: Hierarchy = left_out()


@dataclass(frozen=True, repr=False)
class BuiltHierarchies(Result):
    """Hierarchies that were built from the values of columns and written to files."""

    name: ClassVar[str] = "hierarchy-build"

    hierarchies: list[BuiltHierarchy]

    def __len__(self) -> int:
        return len(self.hierarchies)

    def __iter__(self) -> Iterator[BuiltHierarchy]:
        return iter(self.hierarchies)

    def __getitem__(self, place: int) -> BuiltHierarchy:
        return self.hierarchies[place]

    def summary(self) -> str:
        """How many were built."""
        return f"{_hierarchies(len(self.hierarchies))} built."

    def sections(self) -> list[Section]:
        """One line per hierarchy, and where it is."""
        rows = [(one.column, one.source, f"{one.leaves:,}", f"{one.levels}", _per_level(one.nodes)) for one in self]
        grid = Grid(("column", "how", "leaves", "levels", "nodes per level"), rows, 2, wrap=(4,))
        return [Headline(self.summary()), grid, Files({f"hierarchy of {one.column}": one.output for one in self})]


@dataclass(frozen=True)
class CheckedHierarchy:
    """One hierarchy: `nodes` per level; `outside` leaves that do not lie in the range that a label of theirs says, at
    these rows of the file; `missing` values of the data without a leaf (None: no data, or no such column). Where it was
    corrected: its `output`, how many leaves `moved`, and how many of them no label but `*` holds."""

    column: str
    file: str
    leaves: int
    levels: int
    nodes: list[int]
    outside: int
    outside_rows: list[int]
    missing: int | None
    output: str | None = None
    moved: int = 0
    below_star: int = 0


@dataclass(frozen=True, repr=False)
class CheckedHierarchies(Result):
    """Hierarchies that are trees, and how well they cover the data that they were checked against."""

    name: ClassVar[str] = "hierarchy-check"

    hierarchies: list[CheckedHierarchy]
    with_data: bool = left_out(default=False)

    def __len__(self) -> int:
        return len(self.hierarchies)

    def __iter__(self) -> Iterator[CheckedHierarchy]:
        return iter(self.hierarchies)

    def __getitem__(self, place: int) -> CheckedHierarchy:
        return self.hierarchies[place]

    @property
    def complete(self) -> bool:
        """Whether every value of the data has a leaf."""
        return not any(one.missing for one in self)

    @property
    def truthful(self) -> bool:
        """Whether every label that says a range holds the leaves below it, or was corrected."""
        return all(not one.outside or one.output is not None for one in self)

    def summary(self) -> str:
        """Whether they are trees, and whether they cover the data."""
        problems = []
        if not self.truthful:
            wrong = sum(one.outside for one in self if one.output is None)
            problems.append(f"{_leaves(wrong)} under a label that says otherwise")
        if not self.complete:
            problems.append(f"{counted(sum(one.missing or 0 for one in self), 'value')} of the data without a leaf")
        corrected = sum(one.outside for one in self if one.output is not None)
        if corrected:
            problems.append(f"{_leaves(corrected)} moved under labels that hold {'it' if corrected == 1 else 'them'}")
        return f"{_hierarchies(len(self.hierarchies))} checked: {', '.join(problems) or 'no problems'}."

    def sections(self) -> list[Section]:
        """One line per hierarchy; with data, the values without a leaf."""
        heads = ["column", "leaves", "levels", "nodes per level"]
        rows: list[list[Content]] = [
            [one.column, f"{one.leaves:,}", f"{one.levels}", _per_level(one.nodes)] for one in self
        ]
        if self.with_data:
            heads.append("without leaf")
            for row, one in zip(rows, self, strict=True):
                row.append(_missing(one.missing))
        notes = []
        for one in self:
            if one.outside:
                corrected = one.output is not None
                lie = ("1 leaf" if one.outside == 1 else f"{one.outside:,} leaves") + (
                    " of the file that was read" if corrected else ""
                ) + (" lies" if one.outside == 1 else " lie")  # fmt: skip
                notes.append(f"{one.column}: {lie} outside the range that a label says ({_rows(one.outside_rows)})")
            if one.output is not None:
                notes.append(f"{one.column}: {_moved(one)}")
        tone = Headline(self.summary(), "good" if self.complete and self.truthful else "bad")
        files = {f"corrected hierarchy of {one.column}": one.output for one in self if one.output is not None}
        return [tone, Grid(heads, rows, wrap=(3,)), Notes(notes), *([Files(files)] if files else [])]


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count:,} leaves"


def _rows(rows: list[int]) -> str:
    shown = ", ".join(str(row) for row in rows[:8])
    return f"row{'s' if len(rows) > 1 else ''} {shown}" + (f" and {len(rows) - 8:,} more" if len(rows) > 8 else "")


def _moved(one: CheckedHierarchy) -> str:
    words = f"{_leaves(one.moved)} moved under the labels that hold them"
    return words + (f"; no label but * holds {one.below_star:,} of them" if one.below_star else "")


def _missing(missing: int | None) -> Content:
    if missing is None:
        return Cell("no such column", "dim")
    return Cell(f"{missing:,}", "bad" if missing else "plain")


def _per_level(nodes: list[int]) -> str:
    return " ".join(f"{count:,}" for count in nodes)


def _hierarchies(count: int) -> str:
    return "1 hierarchy" if count == 1 else f"{count:,} hierarchies"
