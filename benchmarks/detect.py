"""Detection: all subsets, the best set of a licence table, wide tables; desbordante beside."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from common import DATA, QUASI_IDENTIFIERS, discharges, measure, row, run_job, shoal_command, title
from shoal.storage.classes import CountTable

ADULT = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data")) / "adult" / "adult.csv"


def _table(source: Any, columns: list[str] | None = None) -> Any:
    import shoal

    return CountTable.of(shoal.read(source, columns).columns)


def adult_all_sets() -> Callable[[], Any]:
    """511 sets of Adult's columns."""
    from shoal.detection.counted_sets import uniques_of_all_sets

    table = _table(ADULT)
    return lambda: uniques_of_all_sets(table)


def million_all_sets() -> Callable[[], Any]:
    """511 sets of the quasi-identifiers of a million discharges, counting the rows included."""
    import shoal
    from shoal.detection.counted_sets import uniques_of_all_sets

    table = shoal.read(pl.read_parquet(discharges(), n_rows=1_000_000), QUASI_IDENTIFIERS)
    return lambda: uniques_of_all_sets(CountTable.of(table.columns))


def million() -> Path:
    """The quasi-identifiers of a million discharges on disk, made once."""
    path = DATA / "quasi-identifiers-1000000.parquet"
    if not path.exists():
        pl.read_parquet(discharges(), columns=QUASI_IDENTIFIERS, n_rows=1_000_000).write_parquet(path)
    return path


def million_by_group() -> Callable[[], Any]:
    """The same by polars' group-by, set after set, on 20 of the 511 sets."""
    from itertools import combinations

    frame = pl.read_parquet(discharges(), columns=QUASI_IDENTIFIERS, n_rows=1_000_000)
    sets = [names for size in range(1, 10) for names in combinations(QUASI_IDENTIFIERS, size)]
    chosen = sets[:: len(sets) // 20][:20]
    return lambda: [frame.group_by(names).len().filter(pl.col("len") == 1).height for names in chosen]


def licences() -> Callable[[], Any]:
    """Best set, frontier, contributions of 87,642 licences with 14 columns, exact."""
    import shoal

    table = shoal.read(shoal.sample_data("licences"))
    return lambda: shoal.detect(table)


def licences_desbordante() -> Callable[[], Any]:
    """HyUCC on the same table: the identifiers only."""
    import desbordante

    import shoal

    DATA.mkdir(exist_ok=True)
    path = DATA / "licences.csv"
    shoal.sample_data("licences").write_csv(path)
    algorithm = desbordante.ucc.algorithms.HyUCC()
    algorithm.load_data(table=(str(path), ",", True))
    return algorithm.execute


def _wide(columns: int, most_values: int) -> Callable[[], Any]:
    import shoal

    draw = np.random.default_rng(0)
    data = {f"c{index}": draw.integers(0, draw.integers(2, most_values), 100_000) for index in range(columns)}
    table = shoal.read(pl.DataFrame(data))

    def job() -> None:
        found = shoal.detect(table)
        said = f"best {found.best.uniqueness:.1%}" if found.best else "none"
        print(f"{said}, bound {found.bound.uniqueness:.1%}, proven size {found.proven_size}", file=sys.stderr)

    return job


def wide_50() -> Callable[[], Any]:
    """50 columns x 100,000 rows."""
    return _wide(50, 50)


def wide_300() -> Callable[[], Any]:
    """300 columns x 100,000 rows."""
    return _wide(300, 6)


JOBS = {
    job.__name__: job
    for job in (adult_all_sets, million_all_sets, million_by_group, licences, licences_desbordante, wide_50, wide_300)
}


def main() -> None:
    """Print them; ARX's published figures for all subsets are 1.4 s (Adult) and 68 s (an easier million rows)."""
    discharges()
    title("Uniques of all 511 sets of 9 columns")
    if ADULT.exists():
        row("Adult, 30,162 records", measure(__file__, "adult_all_sets"))
    by_group = measure(__file__, "million_by_group", repeat=1)
    row(
        "polars group-by, 20 of 511 sets, 1 M records", by_group, note=f"all 511: about {by_group.cpu * 511 / 20:.0f} s"
    )
    row("shoal, all 511 sets, 1 M records", measure(__file__, "million_all_sets", repeat=1))
    title("`shoal detect`, 1 M discharges x 9 columns")
    path = str(million())
    row("whole command", shoal_command("detect", path, "--json"), None, "bar: 5.5 s CPU; recorded before: 17.2")
    title("87,642 licences x 14 columns")
    baseline = measure(__file__, "licences_desbordante", repeat=1)
    row("desbordante HyUCC: identifiers only", baseline, baseline)
    row("shoal detect: best set, frontier, parts", measure(__file__, "licences", repeat=1), baseline)
    title("Wide tables, 100,000 rows, time limit 30 s")
    row("50 columns", measure(__file__, "wide_50", repeat=1))
    row("300 columns", measure(__file__, "wide_300", repeat=1))


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
