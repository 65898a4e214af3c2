"""What a page shows: tables and figures of a paper, each number of ours beside the printed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True)
class Line:
    """One number: ours, the printed one where the paper prints it, and why they differ where they do.

    >>> Line("t for k = 10", "0.05", "0.05", True).verdict
    'match'
    >>> Line("age of the first group", "[35-52]", "[42-52]", False, "a misprint").verdict
    'a misprint'
    """

    what: str
    ours: str
    printed: str | None = None
    match: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        if self.printed is not None and not self.match and not self.reason:
            raise ValueError(f"'{self.what}' differs from the paper without a reason")

    @property
    def verdict(self) -> str:
        """`match`, the reason why not, or that there is nothing to match."""
        if self.printed is None:
            return f"no number printed: {self.reason}" if self.reason else "no number printed"
        return "match" if self.match else self.reason

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `match` is null where no number is printed."""
        match = None if self.printed is None else self.match
        return {"what": self.what, "ours": self.ours, "printed": self.printed, "match": match, "reason": self.reason}


@dataclass(frozen=True)
class Exhibit:
    """One table or figure: its words, its numbers, the comparison with the paper, its picture."""

    key: str
    heading: str
    text: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    lines: Sequence[Line] = ()
    chart: Callable[[], Any] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Reproduction:
    """A paper, reproduced: what was found as plain JSON, and the exhibits that show it."""

    paper: str
    title: str
    source: str
    text: str
    found: dict[str, Any] = field(repr=False)
    exhibits: Sequence[Exhibit] = field(repr=False)

    @property
    def lines(self) -> list[Line]:
        """All comparisons, in the order of the page."""
        return [line for exhibit in self.exhibits for line in exhibit.lines]

    def summary(self) -> str:
        """One sentence of plain words."""
        printed = [line for line in self.lines if line.printed is not None]
        matched = sum(line.match for line in printed)
        rest = len(printed) - matched
        tail = f"; each of the other {rest} has its reason." if rest else "."
        return f"{self.title}: {matched} of {len(printed)} printed statements come out{tail}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON: what was found, and the comparison with the paper."""
        return {"paper": self.paper, **self.found, "comparison": [line.to_dict() for line in self.lines]}


def share(value: float | None, digits: int = 2) -> str:
    """A share as a percentage of so many digits; undefined is a dash.

    >>> share(0.7484), share(None)
    ('74.84%', '–')
    """
    return "–" if value is None else f"{100 * value:.{digits}f}%"


def shown(value: Cell) -> str:
    """A cell as the page writes it.

    >>> shown(3985166), shown(0.31862511), shown(None), shown("S2"), shown(1.2e-09)
    ('3,985,166', '0.3186', '–', 'S2', '1.2e-09')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else value
