"""A table about invented people, and desks on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.dp import Desk, open_desk


@pytest.fixture(scope="session")
def visits() -> pl.DataFrame:
    """2,000 visits of 2,000 persons, with missing values."""
    rng = np.random.default_rng(0)
    rows = 2000
    missing = rng.random(rows) < 0.05
    return pl.DataFrame(
        {
            "who": np.arange(rows),
            "age": pl.Series(rng.integers(0, 100, rows)).set(pl.Series(missing), None),
            "sex": rng.choice(["f", "m"], rows, p=[0.6, 0.4]),
            "charge": np.where(rng.random(rows) < 0.02, np.nan, rng.exponential(20_000, rows).round(2)),
            "ward": rng.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.19, 0.01]),
        }
    )


@pytest.fixture
def desk(tmp_path: Path) -> Callable[..., Desk]:
    """Opens a desk on a frame; by default with more budget than anybody asks for."""
    opened: list[Desk] = []

    def make(frame: Any, **how: Any) -> Desk:
        folder = tmp_path / f"desk{len(opened)}"
        open_desk(frame, folder=folder, **({"epsilon": "1000000", "delta": "0.01", "types": "proposed"} | how))
        opened.append(Desk(folder))
        return opened[-1]

    yield make  # type: ignore[misc]
    for one in opened:
        one.close()
