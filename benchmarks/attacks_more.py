"""Unicity, scoreboard and membership at full size, each beside a plain baseline on a part of the work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from common import DATA, Cost, measure, row, run_job, title

# plain baselines do so much of the work; their cost is shown as it is
FEW_TARGETS = 3


def trips() -> Path:
    """A million users, a hundred sightings each."""
    path = DATA / "trips-100000000.parquet"
    if not path.exists():
        from shoal.reproduction.sample import sample_data

        DATA.mkdir(exist_ok=True)
        sample_data("trips", 100_000_000).write_parquet(path)
    return path


def ratings() -> Path:
    """Half a million users, about two hundred ratings each."""
    path = DATA / "ratings-100000000.parquet"
    if not path.exists():
        from shoal.reproduction.sample.small import sparse_ratings

        DATA.mkdir(exist_ok=True)
        sparse_ratings(500_000, 265, 17_770).write_parquet(path)
    return path


def unicity() -> Callable[[], Any]:
    """10,000 users drawn, up to four points, reading included."""
    from shoal.attacks.unicity import attack_unicity

    path = trips()
    return lambda: attack_unicity(path, person="user", columns=["cell", "hour"], points=[1, 2, 3, 4])


def plain_unicity() -> Callable[[], Any]:
    """Three users, four points: a semi-join for each in polars."""
    table = pl.read_parquet(trips())
    draw = np.random.default_rng(0)

    def job() -> int:
        alone = 0
        for user in draw.choice(1_000_000, FEW_TARGETS, replace=False).tolist():
            own = table.filter(pl.col("user") == user).select("cell", "hour").unique().head(4)
            left = table.join(own, on=["cell", "hour"], how="semi").unique().group_by("user").len()
            alone += left.filter(pl.col("len") == own.height).height == 1
        return alone

    return job


def scoreboard() -> Callable[[], Any]:
    """100 targets, reading included."""
    from shoal.attacks.scoreboard import attack_scoreboard

    path = ratings()
    return lambda: attack_scoreboard(path, person="user", item="film", value="stars", date="day", targets=100)


def plain_scoreboard() -> Callable[[], Any]:
    """Three targets: the formula on all ratings in polars."""
    table = pl.read_parquet(ratings()).with_columns(pl.col("day").to_physical().cast(pl.Float64))
    support = table.group_by("film").len("support")

    def job() -> float:
        best = 0.0
        for user in range(FEW_TARGETS):
            known = table.filter(pl.col("user") == user).head(8).join(support, on="film")
            both = table.join(known, on="film", suffix="_known")
            alike = ((pl.col("stars").cast(pl.Float64) - pl.col("stars_known")).abs() / -1.5).exp()
            near = ((pl.col("day") - pl.col("day_known")).abs() / -30).exp()
            scores = both.group_by("user").agg(((alike + near) / pl.col("support").log()).sum().alias("score"))
            best += float(scores["score"].max())  # type: ignore[arg-type]
        return best

    return job


def membership() -> Callable[[], Any]:
    """A pool of 100, a reference of 2,000, 10,000 markers: both statistics, without reading."""
    from shoal.attacks.membership import judged, statistics

    members, others = _genomes()
    return lambda: judged(statistics(members.mean(axis=0) / 2, members, others, 2), 10_000, [], None, 0)


def plain_membership() -> Callable[[], Any]:
    """The likelihood ratio alone, person by person."""
    members, others = _genomes()

    def job() -> float:
        inside = np.clip(members.mean(axis=0) / 2, 0.002, 0.998)
        copies, best = others.sum(axis=0), 0.0
        for genome in others:
            outside = (copies - genome + 0.5) / (2 * len(others) - 1)
            terms = genome * np.log(inside / outside) + (2 - genome) * np.log((1 - inside) / (1 - outside))
            best = max(best, float(terms.sum()))
        return best

    return job


def _genomes() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    shares = draw.uniform(0.05, 0.95, 10_000)
    return tuple(draw.binomial(2, shares, (people, 10_000)).astype(np.float32) for people in (100, 2_000))  # type: ignore[return-value]


JOBS = {
    job.__name__: job for job in (unicity, plain_unicity, scoreboard, plain_scoreboard, membership, plain_membership)
}


def main() -> None:
    """All of them."""
    title("Attacks on long tables and on frequencies")
    trips()
    ratings()
    for name in ("unicity", "scoreboard", "membership"):
        plain: Cost = measure(__file__, f"plain_{name}", repeat=1)
        row(f"{name}, plain", plain, note=JOBS[f"plain_{name}"].__doc__ or "")
        row(f"{name}, shoal", measure(__file__, name, repeat=1), plain, JOBS[name].__doc__ or "")


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
