"""The one place that calls the library: a trial becomes a file, or is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import shoal
from adversarial.nasty import POPULATION, Trial
from shoal.errors import ShoalError


def released(trial: Trial, folder: Path) -> Path | None:
    """The released file, rows in their order; none where the library refused."""
    data = pl.DataFrame(trial.columns, strict=False)
    policy = dict(trial.policy)
    if trial.population is not None:
        people = folder / POPULATION
        people.write_text("".join(",".join(map(str, row)) + "\n" for row in [trial.names, *trial.population]))
        policy["models"] = [
            {**model, "population": str(people)} if "population" in model else model for model in policy["models"]
        ]
    try:
        result = shoal.anonymize(data, policy=policy, method=trial.method, **trial.settings)
        shoal.release(result, folder / "released.csv", force=True)
    except ShoalError:
        return None
    return folder / "released.csv"
