"""What chapters are made of, and how their figures are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from shoal.results import Cell, Chart, Grid, Section
from shoal.wording import counted, in_words, percent

JsonFindings = Mapping[str, Any]
_MOST_TOLD = 12


@dataclass(frozen=True)
class Meaning:
    """What figures mean for a person in the data, in plain words; the formula is a click away."""

    text: str
    formula: str = ""


@dataclass(frozen=True)
class ReportExhibit:
    """A chart with what it means, its formula, and the table behind it; `small` ones stand side by side."""

    chart: Chart
    table: Grid
    meaning: str
    formula: str = ""
    small: bool = False


Part: TypeAlias = Section | Meaning | ReportExhibit


@dataclass(frozen=True)
class Chapter:
    """A part of a report: its key, its heading, what it is about in a sentence, and what it shows."""

    key: str
    title: str
    about: str
    sections: list[Part] = field(default_factory=list)


def risk_words(share: float | None) -> str:
    """A risk in percent, and as one in so many where it is near that.

    >>> risk_words(1 / 11), risk_words(1.0), risk_words(None), risk_words(0), risk_words(0.7)
    ('9.1% (1 in 11)', '100%', 'not known', '0%', '70.0%')
    """
    if share is None:
        return "not known"
    if share <= 0 or share >= 1:
        return percent(min(max(share, 0), 1))
    several = round(1 / share)
    near = several > 1 and abs(share * several - 1) <= 0.1
    return f"{percent(share)} (1 in {several:,})" if near else percent(share)


def told_apart(first: float, second: float) -> tuple[str, str]:
    """Two shares in percent, with as many digits as it takes to tell them apart.

    >>> told_apart(1 / 11, 0.09), told_apart(0.09004, 0.09), told_apart(0.2, 0.2)
    (('9.1%', '9.0%'), ('9.004%', '9.000%'), ('20.0%', '20.0%'))
    """
    words = percent(first), percent(second)
    for digits in (2, 3, 4, 6):
        if words[0] != words[1] or first == second:
            break
        words = f"{100 * first:.{digits}f}%", f"{100 * second:.{digits}f}%"
    return words


def risk_of(found: JsonFindings, when: str) -> JsonFindings | None:
    """The risk before or after, if it was measured."""
    entry: JsonFindings | None = found["risk"].get(when)
    return entry


def figure(value: float | None) -> str:
    """A figure with four digits behind the point."""
    return "–" if value is None else f"{value:.4f}"


def share(value: float | None) -> str:
    """A share in percent."""
    return "–" if value is None else percent(value)


def between(low: float | None, high: float | None) -> str:
    """The ends of an interval of shares; nothing where they are not known.

    >>> between(-0.0004, 0.0021), between(0.89, 1.0), between(None, None)
    ('0.0% to 0.2%', '89.0% to 100.0%', '')
    """
    if low is None or high is None:
        return ""
    first, last = (round(100 * end, 1) + 0.0 for end in (low, high))  # 0.0, not -0.0
    return f"{first:.1f}% to {last:.1f}%"


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """A share with its interval behind it."""
    ends = between(low, high)
    return f"{share(value)} ({ends})" if value is not None and ends else share(value)


def listing(words: str, rows: Sequence[Sequence[str]]) -> str:
    """What a chart shows, for who cannot see it; of many entries the first, for the table has all."""
    told = "; ".join(f"{row[0]}: {', '.join(row[1:])}" for row in rows[:_MOST_TOLD])
    more = f"; {len(rows) - _MOST_TOLD} more in the table" if len(rows) > _MOST_TOLD else ""
    return f"{words}: {told}{more}."


def verdict_cell(holds: bool) -> Cell:
    """A verdict in its colour."""
    return Cell("holds", "good") if holds else Cell("does not hold", "bad")


def models_grid(verification: JsonFindings, title: str) -> Grid:
    """Every model of the policy with its verdict and its worst class."""
    rows = []
    for model in verification.get("models") or []:
        settings = ", ".join(
            f"{name} = {short(value)}" for name, value in model["parameters"].items() if value != "auto"
        )
        name = f"{model['name']} ({settings})" if settings else model["name"]
        rows.append((name, verdict_cell(model["holds"]), worst_words(model["worst"])))
    return Grid(("model", "verdict", "the worst class"), rows, 3, title=title, wrap=(0, 2))


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
    "status": "{}",
    "reason": "{}",
}


def worst_words(worst: Mapping[str, Any]) -> str:
    """The worst class of a model in words.

    >>> worst_words({"size": 11, "failing_classes": 0}), worst_words({"distinct": 1, "size": 40, "failing_classes": 3})
    ('11 records', '1 different values, in a class of 40 records; 3 classes fail')
    >>> worst_words({"risk": 0.0096, "size": 2, "risk_over": "population", "estimated_by": "weights"})
    'a risk of 1.0%, in a class of 2 records, counted in the population, estimated by weights'
    """
    parts = []
    for name, value in worst.items():
        if name in ("columns", "size", "failing_classes", "risk_over", "estimated_by") or value is None:
            continue
        words = (
            f"a risk of {percent(value)}" if name == "risk" else _FIGURES.get(name, f"{name.replace('_', ' ')} {{}}")
        )
        parts.append(words.format(short(value)))
    if (size := worst.get("size")) is not None:
        parts.append(f"in a class of {counted(size, 'record')}" if parts else counted(size, "record"))
    if worst.get("risk_over") == "population":
        by = worst.get("estimated_by")
        parts.append(f"counted in the population{f', estimated by {by}' if by else ''}")
    told = ", ".join(parts)
    failing = worst.get("failing_classes")
    return f"{told}; {'1 class fails' if failing == 1 else f'{failing:,} classes fail'}" if failing else told


def short(value: Any) -> str:
    """A setting or figure in as few letters as it needs."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else in_words(value) if isinstance(value, list) else str(value)


def over_population(risk: JsonFindings) -> bool:
    """Whether the policy counts the risk in the population that the table is a sample of."""
    return risk.get("risk_over") == "population" and bool(risk.get("journalist"))


def judged_risk(risk: JsonFindings) -> JsonFindings:
    """The risk that the threshold is about: in the population where the policy says so, else in the table."""
    figures: JsonFindings = risk["journalist"] if over_population(risk) else risk["prosecutor"]
    return figures


def threshold_of(found: JsonFindings) -> tuple[float, str] | None:
    """The highest risk that is accepted, and the name of the rule that it comes from."""
    risk = risk_of(found, "after") or risk_of(found, "before")
    level = None if risk is None else judged_risk(risk).get("threshold")
    return None if risk is None or level is None else (level, risk.get("threshold_name") or "")
