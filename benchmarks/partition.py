"""Least loss on 3,985,166 discharges: loss and cost at three efforts, beside published methods and a lower bound."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from common import QUASI_IDENTIFIERS, Cost, discharges, peak_memory, row, title

K = (2, 5)
SAMPLE = 20_000


def _columns(rows: int | None = None) -> Sequence[Any]:
    import shoal

    table = shoal.read(discharges())
    return (table if rows is None else table.take(np.arange(rows))).select(QUASI_IDENTIFIERS)


def _ways() -> dict[str, Callable[[Sequence[Any], int], Any]]:
    from shoal.methods.partition import partition
    from shoal.methods.sorted_clusters import sorted_clusters

    return {
        "S2": sorted_clusters,
        "strict": lambda columns, k: partition(columns, k, cuts="strict"),
        "fast": lambda columns, k: partition(columns, k, "fast"),
        "default": lambda columns, k: partition(columns, k, "default"),
        "best": lambda columns, k: partition(columns, k, "best"),
    }


def job(name: str, k: int) -> None:
    """In a process of its own: compile on a few rows, then time the partitioning alone."""
    from shoal.utility.loss import information_loss

    way = _ways()[name]
    way(_columns(20_000), k)
    columns = _columns()
    wall, cpu = time.perf_counter(), time.process_time()
    boxed = way(columns, k)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    memory = peak_memory()
    print(wall, cpu, memory, information_loss(columns, boxed).total)


def measured(name: str, k: int) -> tuple[Cost, float]:
    """What it took, and what was lost."""
    run = [sys.executable, __file__, name, str(k)]
    out = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    return Cost(*map(float, out[:3])), float(out[3])


def main() -> None:
    """Print them; the limits are those of docs/least-loss.md."""
    from least_possible import nearest_neighbour_bound

    names = {
        "S2": "sorted-clusters (S2)",
        "strict": "Mondrian as published (strict)",
        "fast": "mondrian --effort fast",
        "default": "mondrian",
        "best": "mondrian --effort best",
    }
    columns = _columns()
    for k in K:
        title(f"Partitioning alone, 3,985,166 rows x 9 columns, k={k}")
        bound = nearest_neighbour_bound(columns, k, SAMPLE)
        baseline = None
        for name, shown in names.items():
            cost, loss = measured(name, k)
            baseline = baseline or (cost, loss)
            times_less = f"loss {loss:.5f}, {baseline[1] / loss:.1f} times less, {loss / bound.loss:.2f} x the bound"
            row(shown, cost, baseline[0], times_less)
        print(f"lower bound by nearest neighbours: {bound.loss:.5f} +- {bound.margin:.5f} (sample of {SAMPLE:,})")


if __name__ == "__main__":
    job(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else main()
