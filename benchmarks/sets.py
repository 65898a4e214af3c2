"""Baskets: k^2 checked and anonymised at full size, beside a count in polars; the bars are 20 and 120 CPU seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from common import DATA, Cost, measure, row, run_job, title

BASKETS, ITEMS = 500_000, 1_657
POLICY = {
    "person": "customer",
    "columns": {"item": "items", "customer": "other"},
    "models": [{"model": "km-anonymity", "m": 2, "k": 5}],
}


def baskets() -> Path:
    """Half a million, of seven items on average, some of them bought far more often than others."""
    path = DATA / f"baskets-{BASKETS}.csv"
    if not path.exists():
        draw = np.random.default_rng(0)
        sizes = np.maximum(draw.poisson(7, BASKETS), 1)
        shares = 1 / np.arange(1, ITEMS + 1) ** 0.9
        items = draw.choice(ITEMS, int(sizes.sum()), p=shares / shares.sum())
        names = pl.Series("item", items).cast(pl.String).str.zfill(4)
        DATA.mkdir(exist_ok=True)
        pl.DataFrame({"customer": np.repeat(np.arange(BASKETS), sizes), "item": names}).write_csv(path)
    return path


def tree() -> list[list[str]]:
    """Eight items in a group, eight groups in one above."""
    return [[f"{item:04d}", f"g{item // 8}", f"h{item // 64}", "*"] for item in range(ITEMS)]


def check() -> Callable[[], Any]:
    """Every pair counted, reading included."""
    from shoal import Policy, verify

    path, policy = baskets(), Policy.model_validate(POLICY)
    return lambda: verify(path, policy)


def plain_check() -> Callable[[], Any]:
    """A join of the table with itself and a group-by, in polars."""
    path = baskets()

    def job() -> int:
        table = pl.read_csv(path).unique()
        pairs = table.join(table, on="customer").filter(pl.col("item") < pl.col("item_right"))
        return int(pairs.group_by("item", "item_right").len()["len"].min())  # type: ignore[arg-type]

    return job


def anonymise() -> Callable[[], Any]:
    """k^2, k = 5, with a tree; reading included."""
    from shoal import anonymize

    path = baskets()
    return lambda: anonymize(path, person="customer", items="item", km=(2, 5), hierarchies={"item": tree()})


JOBS = {job.__name__: job for job in (check, plain_check, anonymise)}


def main() -> None:
    """All of them."""
    title("Sets of items")
    baskets()
    plain: Cost = measure(__file__, "plain_check", repeat=1)
    row("k^2 of 500,000 baskets, polars", plain, note=plain_check.__doc__ or "")
    row("k^2 of 500,000 baskets, shoal", measure(__file__, "check", repeat=1), plain, check.__doc__ or "")
    row("anonymised, shoal", measure(__file__, "anonymise", repeat=1), note=anonymise.__doc__ or "")


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
