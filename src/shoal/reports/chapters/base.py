"""What chapters are made of, and how their figures are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from shoal.results import Cell, Chart, Grid, Section
from shoal.wording import in_words, percent

Found = Mapping[str, Any]
_MOST_TOLD = 12


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


Part: TypeAlias = Section | Meaning | Exhibit


@dataclass(frozen=True)
class Chapter:
    """A part of a report: its key, its heading, what it is about in a sentence, and what it shows."""

    key: str
    title: str
    about: str
    sections: list[Part] = field(default_factory=list)


def one_in(share: float | None) -> str:
    """A risk as people say it; a share that is not near one over a whole number in percent.

    >>> one_in(0.2), one_in(1.0), one_in(None), one_in(0), one_in(0.7)
    ('1 in 5', 'certain', 'not known', 'none', '70.0%')
    """
    if share is None:
        return "not known"
    if share <= 0:
        return "none"
    if share >= 1:
        return "certain"
    several = round(1 / share)
    return f"1 in {several:,}" if abs(share * several - 1) <= 0.1 else percent(share)


def risk_of(found: Found, when: str) -> Found | None:
    """The risk before or after, if it was measured."""
    entry: Found | None = found["risk"].get(when)
    return entry


def figure(value: float | None) -> str:
    """A figure with four digits behind the point."""
    return "–" if value is None else f"{value:.4f}"


def share(value: float | None) -> str:
    """A share in percent."""
    return "–" if value is None else percent(value)


def listing(words: str, rows: Sequence[Sequence[str]]) -> str:
    """What a chart shows, for who cannot see it; of many entries the first, for the table has all."""
    told = "; ".join(f"{row[0]}: {', '.join(row[1:])}" for row in rows[:_MOST_TOLD])
    more = f"; {len(rows) - _MOST_TOLD} more in the table" if len(rows) > _MOST_TOLD else ""
    return f"{words}: {told}{more}."


def verdict_cell(holds: bool) -> Cell:
    """A verdict in its colour."""
    return Cell("holds", "good") if holds else Cell("does not hold", "bad")


def models_grid(verification: Found, title: str) -> Grid:
    """Every model of the policy with its verdict and its worst class."""
    rows = []
    for model in verification.get("models") or []:
        settings = ", ".join(f"{name} = {short(value)}" for name, value in model["parameters"].items())
        worst = ", ".join(
            f"{name.replace('_', ' ')}: {short(value)}" for name, value in model["worst"].items() if name != "columns"
        )
        name = f"{model['name']} ({settings})" if settings else model["name"]
        rows.append((name, verdict_cell(model["holds"]), worst))
    return Grid(("model", "verdict", "worst class"), rows, 3, title=title, wrap=(0, 2))


def short(value: Any) -> str:
    """A setting or figure in as few letters as it needs."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else in_words(value) if isinstance(value, list) else str(value)


def threshold_of(found: Found) -> tuple[float, str] | None:
    """The highest risk that is accepted, with its name."""
    risk = risk_of(found, "after") or risk_of(found, "before")
    level = None if risk is None else risk["prosecutor"].get("threshold")
    if risk is None or level is None:
        return None
    name = risk.get("threshold_name")
    return level, f"{short(level)} ({name})" if name else short(level)
