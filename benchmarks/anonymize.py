"""Anonymising 3,985,166 discharges: Algorithms S2 and S4 beside plain numpy, and the whole command."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from common import QUASI_IDENTIFIERS, discharges, measure, row, run_job, shoal_command, title


def _columns() -> tuple[Any, Any]:
    import shoal

    table = shoal.read(discharges())
    return table.select(QUASI_IDENTIFIERS), table["charge"]


def plain_s2() -> Callable[[], Any]:
    """S2 in plain numpy on the raw values, k=5: the baseline."""
    frame = pl.read_parquet(discharges(), columns=QUASI_IDENTIFIERS)
    values = [frame[name].to_numpy() for name in QUASI_IDENTIFIERS]

    def job() -> None:
        total = np.zeros(len(values[0]))
        for column in values:
            total += (column / column.std(ddof=1)) ** 2
        order = np.argsort(np.sqrt(total), kind="stable")
        starts = np.arange(len(order) // 5) * 5
        for column in values:
            ordered = column[order]
            np.minimum.reduceat(ordered, starts)
            np.maximum.reduceat(ordered, starts)

    return job


def s2() -> Callable[[], Any]:
    """shoal's S2, k=5."""
    from shoal.methods.sorted_clusters import sorted_clusters

    columns, _ = _columns()
    return lambda: sorted_clusters(columns, 5)


def s4() -> Callable[[], Any]:
    """shoal's S4, k=5."""
    from shoal.methods.sorted_clusters import close_clusters

    columns, charge = _columns()
    return lambda: close_clusters(columns, charge, 5)


def s4_distance() -> Callable[[], Any]:
    """The measured distance of every class of S4, over distinct values."""
    from shoal.methods.sorted_clusters import close_clusters
    from shoal.models.distances import ordered_distance

    columns, charge = _columns()
    boxed = close_clusters(columns, charge, 5)
    return lambda: ordered_distance(*boxed.class_of_each_row(), charge)


JOBS = {job.__name__: job for job in (plain_s2, s2, s4, s4_distance)}


# how each whole command is asked for, and its CPU s before releases were written by their codes
WHOLE = {
    "sorted-clusters, k=5": (["--method", "sorted-clusters"], 14.6),
    "mondrian fast, k=5": (["--method", "mondrian", "--effort", "fast"], 15.1),
    "no method named, k=5": ([], 26.6),
}


def main() -> None:
    """Print them; the whole command reads, changes, writes, reads back, verifies."""
    path = discharges()
    title("Algorithms on 3,985,166 rows x 9 columns, k=5")
    baseline = measure(__file__, "plain_s2")
    row("plain numpy S2", baseline, baseline)
    row("shoal S2", measure(__file__, "s2"), baseline)
    row("shoal S4", measure(__file__, "s4"), baseline)
    row("shoal S4: measured distance", measure(__file__, "s4_distance", repeat=1), baseline)
    title("Whole command: shoal anonymize, Parquet to Parquet, verified")
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "safe.parquet")
        names = ",".join(QUASI_IDENTIFIERS)
        options = ["--qi", names, "--sensitive", "charge", "-k", "5", "--force", "--json"]
        for name, (method, before) in WHOLE.items():
            cost = shoal_command("anonymize", str(path), "-o", target, *options, *method, repeat=1)
            row(name, cost, None, f"before {before:.1f} s CPU, {before / cost.cpu:.2f} times this")


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
