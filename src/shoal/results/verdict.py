"""The verdict of a privacy model on a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.dataclasses import dataclass
from shoal.results.sections import Cell, Grid


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
