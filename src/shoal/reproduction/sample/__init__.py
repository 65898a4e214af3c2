"""Tables for trying shoal out: synthetic, modelled on real tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from shoal.errors import InputError, quoted
from shoal.reproduction.sample.discharges import discharges
from shoal.reproduction.sample.small import discharges_with_diagnosis, licences, ratings, trips

# name -> (rows by default, generator)
SAMPLES: dict[str, tuple[int, Callable[[int, int], Any]]] = {
    "discharges": (3_985_166, discharges),
    "discharges-with-diagnosis": (3_985_166, discharges_with_diagnosis),
    "licences": (87_642, licences),
    "ratings": (200_000, ratings),
    "trips": (200_000, trips),
}


MOST_ROWS = 500_000_000


def sample_data(name: str = "discharges", rows: int | None = None, seed: int = 0) -> pl.DataFrame:
    """A generated table, the same for the same name, rows and seed.

    >>> sample_data("discharges", rows=3, seed=0).columns[:4]
    ['oshpd_id', 'age_yrs', 'sex', 'ethncty']
    """
    if name not in SAMPLES:
        raise InputError(
            f"There is no sample '{name}'.",
            f"There are: {quoted([*SAMPLES, 'course'])}; the last is a folder of files.",
        )
    default, generator = SAMPLES[name]
    rows = default if rows is None else rows
    if rows > MOST_ROWS:
        raise InputError(f"{rows:,} rows at once are too many.", f"Ask for at most {MOST_ROWS:,}, with several seeds.")
    if rows < 1:
        raise InputError(f"A table of {rows} rows cannot be generated.", "Ask for at least one.")
    return pl.DataFrame(generator(rows, seed))
