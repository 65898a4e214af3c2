"""The papers: whole commands at full size, charts and all; what was promised for each."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from common import Cost, row, shoal_command, title

# CPU seconds of the authors' program on Valle d'Aosta, as measured once
AUTHORS = Cost(0, 1_000, 0)


def licences(folder: Path) -> Path:
    """A table of counts as long as that of Valle d'Aosta, about nobody."""
    import shoal

    names = ["anno_nascita", "comune_residenza", "provincia_residenza", "sesso"]
    path = folder / "licences.parquet"
    shoal.sample_data("licences").group_by(names).agg(pl.len().alias("n").cast(pl.Int64)).write_parquet(path)
    return path


def main() -> None:
    """Print them."""
    title("The papers, each by one command")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = ["-o", str(folder / "out"), "--force"]
        counts = ["--counts", str(licences(folder))]
        plain = shoal_command("reproduce", "pastore", *counts, "--no-charts", "--json")
        row("pastore, a table of counts, no charts", plain, AUTHORS, _under(1.5, plain.cpu, "CPU s"))
        row("pastore, rows, with charts", shoal_command("reproduce", "pastore", *out))
        leak = shoal_command("reproduce", "antoniou", *out, repeat=1)
        row("antoniou, with charts", leak, None, _under(120, leak.wall, "s wall"))
        full = shoal_command("reproduce", "sanchez", *out, repeat=1)
        row("sanchez, 3,985,166 records, with charts", full, None, _under(180, full.wall, "s wall on two idle cores"))
    title("Uniques of a masked table, 100,000 records: the chain beside fitting boxes")
    chain, boxes = masked_uniques_both_ways()
    row("two group-bys per level", chain, boxes)
    row("boxes held against boxes", boxes, boxes)


def masked_uniques_both_ways() -> tuple[Cost, Cost]:
    """CPU seconds of both ways, on the same masked records."""
    import time

    import shoal
    from shoal.methods.mask import mask, masked_uniques
    from shoal.ranges.coverage import fit
    from shoal.reproduction.sanchez_methods import MASKED, MASKING_STEPS

    columns = shoal.read(shoal.sample_data("discharges", 100_000)).select([*MASKED, "oshpd_id", "los"])
    masked = mask(columns, MASKING_STEPS)

    def cost(job: object) -> tuple[Cost, np.ndarray]:
        wall, cpu = time.perf_counter(), time.process_time()
        found = job()  # type: ignore[operator]
        return Cost(time.perf_counter() - wall, time.process_time() - cpu, 0), found

    def by_boxes() -> np.ndarray:
        found = fit([masked.boxed.ranges(column, "observed") for column in columns])
        return found.unique[found.box_of_row]

    ours, one = cost(lambda: masked_uniques(columns, MASKING_STEPS, masked.level_of_row))
    theirs, other = cost(by_boxes)
    assert (one == other).all()
    return ours, theirs


def _under(limit: float, seconds: float, unit: str) -> str:
    return f"{'under' if seconds < limit else 'OVER'} the {limit} {unit} that were promised"


if __name__ == "__main__":
    main()
