"""Microaggregation: MDAV exactly beside plain numpy, and the fast way, with the sums of squares of both."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from common import Cost, peak_memory, row, title
from shoal.storage.reading import read


def _columns(rows: int, columns: int = 5) -> Sequence[Any]:

    points = np.random.default_rng(0).normal(size=(rows, columns))
    table = read({f"c{j}": points[:, j] for j in range(columns)})
    return table.select(table.names)


def plain_mdav(points: np.ndarray[Any, Any], k: int) -> np.ndarray[Any, Any]:
    """MDAV with whole-array numpy: the baseline."""
    group, groups = np.full(len(points), -1), 0
    left = np.arange(len(points))

    def take(centre: np.ndarray[Any, Any]) -> None:
        nonlocal left, groups
        distance = ((points[left] - centre) ** 2).sum(axis=1)
        nearest = np.argpartition(distance, k - 1)[:k]
        group[left[nearest]] = groups
        groups += 1
        left = np.delete(left, nearest)

    def farthest(centre: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return points[left[((points[left] - centre) ** 2).sum(axis=1).argmax()]]

    while len(left) >= 2 * k:
        one = farthest(points[left].mean(axis=0))
        three_k = len(left) >= 3 * k
        take(one)
        if three_k:
            take(farthest(one))
    group[left] = groups
    return group


def _plain(columns: Sequence[Any], k: int) -> np.ndarray[Any, Any]:
    from shoal.methods.partition.coordinates import coordinates_apart

    return plain_mdav(coordinates_apart(columns), k)


def _ways() -> dict[str, Callable[[Sequence[Any], int], Any]]:
    from shoal.methods.microaggregate import microaggregate

    return {
        "plain": _plain,
        "mdav": lambda columns, k: microaggregate(columns, k, mdav=True).box_of_row,
        "fast": lambda columns, k: microaggregate(columns, k, "fast").box_of_row,
        "default": lambda columns, k: microaggregate(columns, k).box_of_row,
        "best": lambda columns, k: microaggregate(columns, k, "best").box_of_row,
    }


def job(name: str, rows: int, k: int) -> None:
    """In a process of its own: compile on a few rows, then time."""
    from shoal.methods.microaggregate import sum_of_squares
    from shoal.methods.partition.coordinates import coordinates_apart

    way = _ways()[name]
    way(_columns(500), k)
    columns = _columns(rows)
    wall, cpu = time.perf_counter(), time.process_time()
    group = way(columns, k)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    memory = peak_memory()
    print(wall, cpu, memory, sum_of_squares(coordinates_apart(columns), group)[0])


def measured(name: str, rows: int, k: int) -> tuple[Cost, float]:
    """What it took, and the sum of squares within groups."""
    run = [sys.executable, __file__, name, str(rows), str(k)]
    out = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    return Cost(*map(float, out[:3])), float(out[3])


def main() -> None:
    """Print them; sdcMicro takes 17.6 CPU s for the first table on a machine of this kind."""
    names = {
        "plain": "plain numpy MDAV",
        "mdav": "shoal --mdav, identical groups",
        "fast": "shoal --effort fast",
        "default": "shoal",
        "best": "shoal --effort best",
    }
    for rows in (50_000, 1_000_000):
        title(f"Microaggregation, {rows:,} normal records x 5, k=3")
        # plain MDAV takes the square of the records: on a million, ours of the published algorithm is the baseline
        baseline: tuple[Cost, float] | None = None
        for name, shown in names.items():
            if name == "plain" and rows > 50_000:
                continue
            found = measured(name, rows, 3)
            baseline = baseline or found
            row(shown, found[0], baseline[0], f"SSE {found[1]:.1f} ({100 * (found[1] / baseline[1] - 1):+.2f} %)")


if __name__ == "__main__":
    job(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 1 else main()
