"""What a terminal, a notebook, a page and a PDF all render: headlines, figures, grids, charts, notes.

A section holds finished words and numbers and no rule of any medium. A renderer knows these types and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

Tone = Literal["plain", "good", "bad", "warning", "dim", "strong"]


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1, drawn as a bar."""

    share: float


@dataclass(frozen=True)
class Cell:
    """A text with a tone, in a grid."""

    text: str
    tone: Tone = "plain"


Content: TypeAlias = "str | Cell | Bar"


@dataclass(frozen=True)
class Headline:
    """One sentence that says what was found."""

    text: str
    tone: Tone = "strong"


@dataclass(frozen=True)
class Figure:
    """A number with its name."""

    name: str
    value: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Figures:
    """Numbers with their names, one per line."""

    figures: Sequence[Figure]
    title: str = ""


@dataclass(frozen=True)
class Grid:
    """Rows under column heads; the first `left` columns are words, the rest numbers; `wrap` columns may break lines.

    Where a medium is too narrow for a row, it shows the cells of a row below each other: nothing is cut off.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Content]]
    left: int = 1
    title: str = ""
    wrap: Sequence[int] = ()


def without_unknown(grid: Grid, unknown: str = "–") -> Grid:
    """A grid without the columns in which nothing is known.

    >>> without_unknown(Grid(("method", "loss", "score"), [("a", "–", "1"), ("b", "–", "2")])).heads
    ('method', 'score')
    """
    known = [place for place in range(len(grid.heads)) if any(row[place] != unknown for row in grid.rows)]
    if len(known) == len(grid.heads) or not grid.rows:
        return grid
    return Grid(
        tuple(grid.heads[place] for place in known),
        [tuple(row[place] for place in known) for row in grid.rows],
        sum(place < grid.left for place in known),
        grid.title,
        tuple(known.index(place) for place in grid.wrap if place in known),
    )


@dataclass(frozen=True)
class Chart:
    """A picture by its name in `reports/charts.py`, what it draws, and words for who cannot see it.

    Its numbers stand in a grid too: a terminal does not draw it.
    """

    name: str
    data: Mapping[str, Any]
    alternative: str
    title: str = ""


@dataclass(frozen=True)
class Meaning:
    """What figures mean for a person in the data, in plain words; the formula is a click away."""

    text: str
    formula: str = ""


@dataclass(frozen=True)
class Exhibit:
    """A chart with what it means, its formula, and the table behind it; `small` ones stand side by side."""

    chart: Chart
    table: Grid
    meaning: str
    formula: str = ""
    small: bool = False


@dataclass(frozen=True)
class Notes:
    """Remarks below what they are about."""

    notes: Sequence[str]


@dataclass(frozen=True)
class Files:
    """What was written, each with its path: `{"policy": "policy.yaml"}`."""

    files: Mapping[str, str]


@dataclass(frozen=True)
class Commands:
    """What to do next, as commands that can be copied."""

    commands: Sequence[str] = field(default_factory=tuple)
    title: str = "Next"


Section: TypeAlias = Headline | Figures | Grid | Chart | Exhibit | Meaning | Notes | Files | Commands


# The verdict of a privacy model on a table.


@dataclass(frozen=True)
class Verdict:
    """Whether a model holds, and the worst class that decided it (its size, never its values)."""

    name: str
    parameters: dict[str, Any]
    holds: bool
    worst: dict[str, Any]

    @property
    def status(self) -> str:
        """`holds`, `does not hold`, or why that cannot be said: `estimated`, `no estimate`, `not judged`."""
        return str(self.worst.get("status", "holds" if self.holds else "does not hold"))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"name": self.name, "parameters": self.parameters, "holds": self.holds, "worst": self.worst}


def verdicts_grid(verdicts: Sequence[Verdict]) -> Grid:
    """The verdicts of a policy's models, with the figure of the worst class of each."""
    rows = []
    for verdict in verdicts:
        parameters = ", ".join(f"{name}={value}" for name, value in verdict.parameters.items())
        rows.append((f"{verdict.name} {parameters}", holds_cell(verdict.holds, verdict.status), worst_class(verdict)))
    return Grid(("model", "verdict", "worst class"), rows, 3)


def worst_class(verdict: Verdict) -> str:
    """The figures of the worst class in words.

    >>> worst_class(Verdict("k-anonymity", {"k": 5}, False, {"size": 2, "failing_classes": 1200, "columns": ["age"]}))
    'size 2, failing classes 1,200'
    """
    figures = {name: value for name, value in verdict.worst.items() if name not in _BESIDE}
    return ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in figures.items())


# what stands elsewhere
_BESIDE = ("columns", "status")


def _shown(value: Any) -> str:
    """A figure with the digits that matter on a screen; the JSON has them all."""
    if value is None:
        return "unknown"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def holds_cell(holds: bool, status: str | None = None) -> Cell:
    """Holds or not, with its tone; `estimated` and `no estimate` do not hold."""
    return Cell(status or ("holds" if holds else "does not hold"), "good" if holds else "bad")


# What was promised, case by case, as test reports of other tools list it: a name, whether it holds, and why not.


CaseKind = Literal["model", "check", "threshold"]


@dataclass(frozen=True)
class Case:
    """One thing that must hold: a model, a check, a threshold. The detail has figures, never a value of the data."""

    kind: CaseKind
    name: str
    parameters: str
    holds: bool
    detail: str

    @property
    def title(self) -> str:
        """The name with what was asked of it."""
        return f"{self.name} {self.parameters}".rstrip()


class Judged(Protocol):
    """A result that says what must hold."""

    @property
    def holds(self) -> bool:
        """Whether all of it holds."""

    def cases(self) -> list[Case]:
        """All that must hold, one by one."""

    def summary(self) -> str:
        """What was found, in sentences."""


def model_cases(verdicts: Sequence[Verdict]) -> list[Case]:
    """The models of a policy as cases.

    >>> model_cases([Verdict("k-anonymity", {"k": 5}, False, {"size": 2})])[0].detail
    'does not hold; worst class: size 2'
    """
    found = []
    for verdict in verdicts:
        plain = {name: value for name, value in verdict.parameters.items() if isinstance(value, (str, int, float))}
        parameters = ", ".join(f"{name}={value}" for name, value in plain.items())
        detail = f"{verdict.status}; worst class: {worst_class(verdict)}"
        found.append(Case("model", verdict.name, parameters, verdict.holds, detail))
    return found
