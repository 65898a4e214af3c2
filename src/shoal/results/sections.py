"""What a terminal, a notebook, a page and a PDF all render: headlines, figures, grids, charts, notes.

A section holds finished words and numbers and no rule of any medium. A renderer knows these types and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from shoal.wording import in_words, percent

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


Content: TypeAlias = str | Cell | Bar


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
class BarRow:
    """One bar: what it is about, how long it is, and which of several kinds it is of (before, after)."""

    label: str
    value: float
    kind: str = ""


@dataclass(frozen=True)
class BarPicture:
    """Bars of shares or of counts, those of one label together; upright ones are named by numbers."""

    rows: tuple[BarRow, ...]
    axis: str
    labels: str = ""
    counts: bool = False
    # numbers as they are, not as shares
    plain: bool = False
    upright: bool = False

    def number(self, value: float) -> str:
        """What is written at a bar."""
        return f"{value:,}" if self.counts else f"{value:.3f}" if self.plain else percent(value)


@dataclass(frozen=True)
class LinePoint:
    """One point of a line; `label` is what is written at it."""

    x: float
    y: float
    label: str = ""


@dataclass(frozen=True)
class LinePicture:
    """A line over shares, of shares or (`figures`) of other numbers; `own` is the point of the release itself."""

    points: tuple[LinePoint, ...]
    x: str
    y: str
    figures: bool = False
    own: LinePoint | None = None


@dataclass(frozen=True)
class RateRow:
    """How often something succeeds, with its interval, and what it is held against."""

    label: str
    rate: float | None
    low: float | None
    high: float | None
    baseline: float | None
    control: float | None
    twin: float | None = None


@dataclass(frozen=True)
class RatePicture:
    """Rates with their intervals on one axis."""

    rows: tuple[RateRow, ...]


@dataclass(frozen=True)
class PairRow:
    """How strongly two things go together, before and after."""

    first: str
    second: str
    before: float
    after: float


@dataclass(frozen=True)
class PairPicture:
    """Two maps of all pairs."""

    pairs: tuple[PairRow, ...]


@dataclass(frozen=True)
class ResultPicture:
    """A picture that is computed from results when it is drawn; `name` is that of its drawing."""

    name: str
    of: Sequence[Any]


Picture: TypeAlias = BarPicture | LinePicture | RatePicture | PairPicture | ResultPicture


@dataclass(frozen=True)
class Chart:
    """A picture, and words for who cannot see it.

    Its numbers stand in a grid too: a terminal does not draw it.
    """

    picture: Picture
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

    @property
    def title(self) -> str:
        """The name with what was asked of it: `k-anonymity (k = 5)`."""
        asked = [f"{name} = {_in_short(value)}" for name, value in self.parameters.items() if value != "auto"]
        return f"{self.name} ({', '.join(asked)})" if asked else self.name

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"name": self.name, "parameters": self.parameters, "holds": self.holds, "worst": self.worst}


def verdicts_grid(verdicts: Sequence[Verdict], title: str = "") -> Grid:
    """The verdicts of a policy's models, with the figures of the worst class of each."""
    rows = [(one.title, holds_cell(one.holds, one.status), worst_class(one)) for one in verdicts]
    return Grid(("model", "verdict", "worst class"), rows, 3, title=title, wrap=(0, 2))


# the figure of a model in words; others by their names
_FIGURES = {
    "distinct": "{} different values",
    "effective_values": "{} values by their entropy",
    "distance": "a distance of {} from the whole table",
    "people": "{} people in the population",
    "matches": "{} records match",
    "share": "a share of {}",
    "gain": "a gain of {}",
    "ratio": "a ratio of {}",
    "log_ratio": "a log ratio of {}",
    "reason": "{}",
}
# what is told elsewhere, or after the figures
_BESIDE = ("columns", "status", "size", "failing_classes", "risk_over", "estimated_by")


def worst_class(verdict: Verdict) -> str:
    """The worst class of a model in words.

    >>> worst_class(Verdict("k-anonymity", {"k": 5}, False, {"size": 2, "failing_classes": 1200, "columns": ["age"]}))
    '2 records; 1,200 classes fail'
    >>> worst_class(Verdict("l-diversity", {"l": 2}, False, {"distinct": 1, "size": 40, "failing_classes": 1}))
    '1 different values, in a class of 40 records; 1 class fails'
    >>> risk = {"risk": 0.0096, "size": 2, "risk_over": "population", "estimated_by": "weights"}
    >>> worst_class(Verdict("average-risk", {}, True, risk))
    'a risk of 1.0%, in a class of 2 records, counted in the population, estimated by weights'
    """
    worst, parts = verdict.worst, []
    for name, value in worst.items():
        if name == "risk" and value is not None:
            parts.append(f"a risk of {percent(value)}")
        elif name not in _BESIDE and value is not None:
            parts.append(_FIGURES.get(name, f"{name.replace('_', ' ')} {{}}").format(_in_short(value)))
    if (size := worst.get("size")) is not None:
        unit = "person" if worst.get("risk_over") == "persons" else "record"
        records = f"1 {unit}" if size == 1 else f"{_in_short(size)} {unit}s"
        parts.append(f"in a class of {records}" if parts else records)
    if worst.get("risk_over") == "population":
        by = worst.get("estimated_by")
        parts.append(f"counted in the population{f', estimated by {by}' if by else ''}")
    words, failing = ", ".join(parts), worst.get("failing_classes")
    if not failing:
        return words
    return f"{words}; {'1 class fails' if failing == 1 else f'{_in_short(failing)} classes fail'}"


def _in_short(value: Any) -> str:
    """A setting or a figure in as few letters as it needs; the JSON has all digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else in_words(value) if isinstance(value, list) else str(value)


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
    'does not hold; worst class: 2 records'
    """
    found = []
    for verdict in verdicts:
        plain = {name: value for name, value in verdict.parameters.items() if isinstance(value, (str, int, float))}
        parameters = ", ".join(f"{name}={value}" for name, value in plain.items())
        detail = f"{verdict.status}; worst class: {worst_class(verdict)}"
        found.append(Case("model", verdict.name, parameters, verdict.holds, detail))
    return found
