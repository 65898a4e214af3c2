"""Spark beside the local engine on the discharges: the same figures, and what a hand-written group-by takes.

`python benchmarks/spark.py [rows or file.parquet] [master] [risk]`, 3,985,166 rows on local[2] by default; with `risk`
no table is changed. `risk` and the group-by run in turns in one session, the better of two counts; start-up is told
apart. The release by sorted clusters is also written, and compared with its original. On a machine that does other
work, compare processor seconds (Java and Python together), not wall time. Memory of the driver:
`PYSPARK_SUBMIT_ARGS='--driver-memory 3g pyspark-shell'`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import shoal
from shoal.engine.spark.session import session
from shoal.releases.write import release
from shoal.storage.order import shuffled_order
from shoal.storage.reading import Options

ON_SPARK = Options(engine="spark")
NAMES = ["age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "oshpd_id", "los", "adm_qtr"]


class Seconds(NamedTuple):
    """What a run takes: by the clock, and of processors."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} s ({self.cpu:.1f} CPU s)"


def cpu_seconds(spark: Any) -> float:
    """Processor seconds of this process and of the Java that it started, up to now (Linux)."""
    java = (
        Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    )
    return time.process_time() + (int(java[11]) + int(java[12])) / os.sysconf("SC_CLK_TCK")


def timed(spark: Any, run: Callable[[], Any]) -> tuple[Any, Seconds]:
    """What a function gives, and what it takes."""
    start, cpu = time.perf_counter(), cpu_seconds(spark)
    found = run()
    return found, Seconds(time.perf_counter() - start, cpu_seconds(spark) - cpu)


def in_turns(spark: Any, runs: Sequence[Callable[[], Any]], times: int = 2) -> tuple[list[Any], list[Seconds]]:
    """What functions give, and the least that each takes, the first time left out: Java compiles while it runs."""
    taken: list[list[Seconds]] = [[] for _ in runs]
    found: list[Any] = [None for _ in runs]
    for turn in range(times + 1):
        for place, run in enumerate(runs):
            found[place], seconds = timed(spark, run)
            taken[place] += [seconds] if turn else []
    return found, [Seconds(*map(min, zip(*several, strict=True))) for several in taken]


def by_hand(frame: Any) -> Any:
    """What somebody would write who knows the data: pack the columns by their ends, group, count the sizes."""
    from pyspark.sql import functions as F

    asked = [end(name).alias(f"{end.__name__}_{name}") for name in NAMES for end in (F.min, F.max)]
    ends = frame.agg(*asked).collect()[0].asDict()
    keys, key, limit = [], None, 1
    for name in NAMES:
        low, high = ends[f"min_{name}"], ends[f"max_{name}"]
        if key is None or limit * (high - low + 1) > 1 << 63:
            keys, key, limit = [*keys, key], F.lit(0).cast("long"), 1
        key = key * (high - low + 1) + (F.col(name).cast("long") - low)
        limit *= high - low + 1
    packed = [one.alias(f"key{place}") for place, one in enumerate([*keys, key]) if one is not None]
    names = [f"key{place}" for place, one in enumerate([*keys, key]) if one is not None]
    return frame.select(*packed).groupBy(*names).count().groupBy("count").count().collect()


METHODS: dict[str, dict[str, Any]] = {
    "coarsen": {"resolution": 16},
    "lattice": {"k": 5, "suppression": 0.05},
    "sorted-clusters": {"k": 5},
}


def main(given: str, master: str, only_risk: bool) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(given)
        if given.isdigit():
            path = Path(folder) / "discharges.parquet"
            shoal.sample_data("discharges", int(given), seed=0).write_parquet(path, row_group_size=250_000)
        rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        start = time.perf_counter()
        spark = session(master)
        spark.conf.set("spark.sql.shuffle.partitions", "4")
        print(
            f"{datetime.now():%Y-%m-%d %H:%M}, load {os.getloadavg()[0]:.1f}; start {time.perf_counter() - start:.1f} s"
        )
        frame = spark.read.parquet(str(path))
        runs = [lambda: by_hand(frame), lambda: shoal.risk(frame, quasi_identifiers=NAMES)]
        (_, ours), (hand, taken) = in_turns(spark, runs)
        print(f"risk, {rows:,} rows: spark {taken}, by hand {hand}: {taken.wall / hand.wall:.2f} times the wall time")
        theirs, local = timed(spark, lambda: shoal.risk(path, quasi_identifiers=NAMES))
        assert ours.to_dict() == theirs.to_dict()
        print(f"risk, local engine: {local}; the figures are equal; load {os.getloadavg()[0]:.1f}", flush=True)
        for method in () if only_risk else METHODS:
            change(spark, path, Path(folder) / f"{method}.parquet", method)
        if not only_risk:
            compare(spark, path, Path(folder) / "sorted-clusters.parquet")
        spark.stop()


def change(spark: Any, path: Path, out: Path, method: str) -> None:
    """Change the table by one method on both engines and compare the cells; the release of Spark is kept."""
    how: dict[str, Any] = {"quasi_identifiers": NAMES, "decide": {"charge": "other"}, "method": method}
    how |= METHODS[method]
    ours, taken = timed(spark, lambda: shoal.anonymize(path, options=ON_SPARK, **how))
    theirs, local = timed(spark, lambda: shoal.anonymize(path, **how))
    seed, names = 1, [name for name in NAMES if name in ours.polars.columns]
    _, wrote = timed(spark, lambda: release(ours, out, seed=seed, no_guarantee=True))
    order = shuffled_order(len(theirs.polars), seed)
    written = pl.concat([pl.read_parquet(file, columns=names) for file in sorted(out.glob("*.parquet"))])
    different = (written != theirs.polars.select(names)[order]).select(pl.any_horizontal(pl.all()).sum()).item()
    print(f"{method}: spark {taken} and {wrote} to release, local {local}; {different:,} rows differ", flush=True)


def compare(spark: Any, path: Path, out: Path) -> None:
    """The release beside its original, on Spark and on the local engine."""
    ours, taken = timed(spark, lambda: shoal.verify(out, original=path, options=ON_SPARK))
    theirs, local = timed(spark, lambda: shoal.verify(out, original=path))
    assert ours.to_dict() == theirs.to_dict()
    print(f"verify with its original: spark {taken}, local {local}; {ours.verdict} on both", flush=True)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "risk"]
    main(
        given[0] if given else "3985166",
        given[1] if len(given) > 1 else "local[2]",
        len(given) < len(sys.argv) - 1,
    )
