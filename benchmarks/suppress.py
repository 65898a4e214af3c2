"""Local suppression of 100,000 records x 8 keys, k=3, beside the same steps as group-bys of a data frame."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from common import QUASI_IDENTIFIERS, discharges, measure, row, run_job, title

ROWS, KEYS, K = 100_000, [name for name in QUASI_IDENTIFIERS if name != "oshpd_id"], 3
TESTDATA = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
# cells that sdcMicro 5.8 suppresses in its testdata at k=3, and the CPU seconds it took for 100,000 x 8
SDCMICRO = {7: 293, 8: 2601}
SDCMICRO_SECONDS = 49.6
# discharges that are nearly all unique: rows, sdcMicro's cells and CPU seconds
FEW, FEW_CELLS, FEW_SECONDS = 10_000, 16_454, 200


def group_bys() -> Callable[[], Any]:
    """The baseline: each record takes the smallest set of columns outside which k are like it, by polars."""
    frame = pl.read_parquet(discharges(rows=ROWS), columns=KEYS)

    def job() -> None:
        alike = {(): frame.select(pl.len().over(KEYS)).to_series()}
        left = alike[()] < K
        for size in range(1, len(KEYS)):
            if not left.any():
                break
            enough = pl.Series([False]).new_from_index(0, len(frame))
            for columns in combinations(KEYS, len(KEYS) - size):
                enough |= frame.select(pl.len().over(columns) >= K).to_series()
            left &= ~enough

    return job


def _suppress(reading: Any) -> Callable[[], Any]:
    import shoal
    from shoal.methods.suppress import suppress

    columns = shoal.read(discharges(rows=ROWS)).select(KEYS)
    return lambda: suppress(columns, K, reading)


def wildcard() -> Callable[[], Any]:
    """A suppressed cell matches anything."""
    return _suppress("wildcard")


def nearly_unique() -> Callable[[], Any]:
    """Few discharges, nearly all of them unique; prints the cells."""
    import shoal
    from shoal.methods.suppress import suppress

    columns = shoal.read(discharges(rows=FEW)).select(KEYS)

    def job() -> None:
        cells = sum(suppress(columns, K).cells_by_column.values())
        print(f"  {cells:,} cells; sdcMicro {FEW_CELLS:,}", file=sys.stderr)

    return job


def strict() -> Callable[[], Any]:
    """A suppressed cell is a value of its own."""
    return _suppress("strict")


JOBS = {job.__name__: job for job in (group_bys, wildcard, strict, nearly_unique)}


def _cells() -> None:
    import shoal

    data = (
        Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data")) / "sdcmicro" / "testdata.csv"
    )
    if not data.exists():
        print("testdata is absent: set SHOAL_DATA to its folder")
        return
    for names in (TESTDATA, [*TESTDATA, "age"]):
        for reading in ("wildcard", "strict"):
            found = shoal.anonymize(data, quasi_identifiers=names, k=K, method="suppress", reading=reading).findings
            peer = f"sdcMicro (wildcard) {SDCMICRO[len(names)]:,}"
            at_least = found.to_dict()["least_cells"]
            print(f"{len(names)} keys, {reading:<10} {found.suppressed_cells:6,} cells, at least {at_least:,}; {peer}")


def main() -> None:
    """Print them."""
    title(f"Local suppression of {ROWS:,} rows x {len(KEYS)} keys, k={K}")
    print(f"sdcMicro, measured before on a machine of this kind: {SDCMICRO_SECONDS} s CPU")
    baseline = measure(__file__, "group_bys")
    row("polars group-bys", baseline, baseline)
    row("shoal, wildcard reading", measure(__file__, "wildcard"), baseline)
    row("shoal, strict reading", measure(__file__, "strict"), baseline)
    title(f"The first {FEW:,} discharges, nearly all unique (sdcMicro: {FEW_SECONDS} CPU s)")
    ours = measure(__file__, "nearly_unique")
    row("shoal, wildcard reading", ours, None, f"{FEW_SECONDS / ours.cpu:.0f} times less")
    title("Cells suppressed in sdcMicro's testdata, k=3")
    _cells()


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
