"""What several exhibits of Antoniou et al. need: simulations beside the law, as rows and as points of a chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.reproduction.page import share

Found = dict[str, Any]
# the share of 95% intervals that must hold the law; intervals are normal, and rare events are skewed
LEAST_HELD = 0.85
MOST_HOLD = f"{100 * LEAST_HELD:.0f}% of the intervals or more"


def intervals_that_hold(entries: Sequence[dict[str, Any]], unseen: float = 0.0) -> tuple[str, bool]:
    """How many intervals of simulations hold the law of their classes; `unseen` is what so many runs cannot show."""
    played = [entry for entry in entries if "simulated" in entry]
    held = 0
    for entry in played:
        law = entry.get("probability_of_classes", entry["probability"])
        slack = unseen + 1e-9 * law
        held += entry["simulated"]["low"] - slack <= law <= entry["simulated"]["high"] + slack
    return f"{held} of {len(played)} ({share(held / len(played), 0)})", held >= LEAST_HELD * len(played)


def drawable(entry: dict[str, Any], line: str) -> dict[str, Any]:
    """An entry as a chart of lines takes it."""
    simulated = entry.get("simulated") or {}
    return {
        "line": line,
        "leaked": entry.get("leaked"),
        "targets": entry.get("targets"),
        "law": entry["probability"],
        **{name: simulated.get(field) for name, field in (("simulated", "mean"), ("low", "low"), ("high", "high"))},
    }


def row_of(entry: dict[str, Any], *first: Any) -> tuple[Any, ...]:
    """An entry as a row: the law, the simulation with its interval."""
    simulated = entry.get("simulated") or {}
    return (*first, entry["probability"], simulated.get("mean"), simulated.get("low"), simulated.get("high"))
