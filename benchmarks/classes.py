"""Classes of 3,985,166 rows x 9 quasi-identifiers in memory: the kernel, plain numpy, and what others do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from common import FULL, QUASI_IDENTIFIERS, discharges, measure, row, run_job, title

PART = 200_000


def columns() -> list[Any]:
    """The encoded quasi-identifiers."""
    import shoal

    return shoal.read(discharges(), QUASI_IDENTIFIERS).select(QUASI_IDENTIFIERS)


def plain_numpy() -> Callable[[], Any]:
    """Pack, sort, count the runs: the baseline."""
    coded = columns()

    def job() -> int:
        key = np.zeros(len(coded[0].codes), np.uint64)
        for column in coded:
            key = key * np.uint64(column.cardinality) + column.codes
        key.sort()
        return len(np.flatnonzero(key[1:] != key[:-1])) + 1

    return job


def kernel() -> Callable[[], Any]:
    """shoal's."""
    from shoal.storage.classes import class_sizes

    coded = columns()
    return lambda: class_sizes(coded)


def polars() -> Callable[[], Any]:
    """Its group-by."""
    frame = pl.read_parquet(discharges(), columns=QUASI_IDENTIFIERS)
    return lambda: frame.group_by(QUASI_IDENTIFIERS).len().height


def pandas() -> Callable[[], Any]:
    """Its group-by."""
    frame = pl.read_parquet(discharges(), columns=QUASI_IDENTIFIERS).to_pandas()
    return lambda: frame.groupby(QUASI_IDENTIFIERS).size()


def pycanon() -> Callable[[], Any]:
    """k-anonymity, on a part of the table."""
    from pycanon import anonymity

    warnings.simplefilter("ignore")
    frame = pl.read_parquet(discharges(), columns=QUASI_IDENTIFIERS, n_rows=PART).to_pandas()
    return lambda: anonymity.k_anonymity(frame, QUASI_IDENTIFIERS)


JOBS = {job.__name__: job for job in (plain_numpy, kernel, polars, pandas, pycanon)}


def main() -> None:
    """Print the comparison."""
    discharges()
    title(f"Classes of {FULL:,} rows x {len(QUASI_IDENTIFIERS)} columns, in memory")
    baseline = measure(__file__, "plain_numpy")
    row("plain numpy: pack, sort, count", baseline, baseline)
    row("shoal kernel", measure(__file__, "kernel"), baseline)
    row("polars group_by", measure(__file__, "polars"), baseline)
    row("pandas groupby", measure(__file__, "pandas", repeat=1), baseline)
    cost = measure(__file__, "pycanon", repeat=1)
    per_row = cost.cpu / PART / (baseline.cpu / FULL)
    row(f"pycanon on {PART:,} rows only", cost, note=f"{per_row:.0f}x per row")


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
