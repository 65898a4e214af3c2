"""What `shoal.leak` found: plain numbers, the same names as in JSON and in the docs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shoal.leakage.simulate import Simulated
from shoal.leakage.sizes import ClassSizes
from shoal.wording import counted, percent


@dataclass(frozen=True)
class LeakRisk:
    """The probability that all targets, picked at random, are re-identified from a leak.

    `error` is relative: an estimate of rounding for the exact law, the distance from the exact law for the recursion,
    half the 95% interval for a simulation. `leaked` counts persons, or records where `unit` says so. `smallest_k` is
    the smallest class size that keeps the threshold at this leak, `largest_leak` the largest leak at which these
    classes do.
    """

    persons: int
    leaked: int
    classes: ClassSizes = field(repr=False)
    targets: int
    probability: float
    method: str
    error: float
    class_size: int | None = None  # where Eq 5 was asked for with one size
    unit: str = "persons"
    history: float | None = None
    exact: float | None = None  # beside a recursion
    standard_deviation: float | None = None  # of the mean risk, over leaks
    threshold: float | None = None
    threshold_name: str | None = None
    holds: bool | None = None
    smallest_k: int | None = None
    largest_leak: int | None = None
    simulated: Simulated | None = None
    suppressed_rows: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def class_sizes(self) -> dict[int, int]:
        """How many classes have each size."""
        return self.classes.to_dict()

    @property
    def difference(self) -> float | None:
        """Recursion minus exact law."""
        return None if self.exact is None else self.probability - self.exact

    def to_dict(self) -> dict[str, Any]:
        """As JSON: the first seven keys always, the others where they were asked for."""
        found: dict[str, Any] = {
            "persons": self.persons,
            "leaked": self.leaked,
            "class_sizes": {str(size): count for size, count in self.class_sizes.items()},
            "targets": self.targets,
            "probability": self.probability,
            "method": self.method,
            "error": self.error,
        }
        if self.unit != "persons" or self.history is not None:
            found |= {"unit": self.unit, "history": self.history}
        if self.standard_deviation is not None:
            found["standard_deviation"] = self.standard_deviation
        if self.exact is not None:
            found |= {"exact": self.exact, "difference": self.difference}
        if self.threshold is not None:
            found |= {"threshold": self.threshold, "threshold_name": self.threshold_name, "holds": self.holds}
            found |= {"smallest_k": self.smallest_k, "largest_leak": self.largest_leak}
        if self.simulated is not None:
            found["simulated"] = self.simulated.to_dict()
        if self.suppressed_rows:
            found["suppressed_rows"] = self.suppressed_rows
        return found | {"notes": self.notes}

    def summary(self) -> str:
        """One sentence of plain words."""
        who = (
            "one person picked at random is"
            if self.targets == 1
            else f"{self.targets:,} persons picked at random are all"
        )
        part = f"{self.leaked:,} of the {self.persons:,} persons"
        if self.unit == "records":
            part = f"{counted(self.leaked, 'record')} of {self.persons:,} persons"
        elif self.history is not None:
            part += f", {percent(self.history)} of their records,"
        words = f"If {part} leak, {who} re-identified with probability {in_figures(self.probability)}."
        if self.threshold is None:
            return words
        named = f" ({self.threshold_name})" if self.threshold_name else ""
        return f"{words} That is {'within' if self.holds else 'over'} the threshold {self.threshold:.4g}{named}."


def in_figures(probability: float) -> str:
    """A probability with its percentage where that says something.

    >>> in_figures(0.18446), in_figures(0.00032), in_figures(0.0)
    ('0.1845 (18.4%)', '0.00032', '0')
    """
    figures = f"{probability:.4g}"
    return f"{figures} ({percent(probability)})" if 0.001 <= probability < 1 else figures
