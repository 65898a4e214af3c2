"""Spark beside the local engine on the discharges: the same figures, and what a hand-written group-by takes.

`python benchmarks/spark.py [rows] [master]`, 3,985,166 rows on local[2] by default. Wall times are of the second run in
one session; start-up is told apart.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from shoal.engine.spark.session import session

NAMES = ["age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "oshpd_id", "los", "adm_qtr"]


def timed(run: Callable[[], Any], times: int = 2) -> tuple[Any, float]:
    """What a function gives, and the seconds of its last run."""
    for _ in range(times):
        start = time.perf_counter()
        found = run()
    return found, time.perf_counter() - start


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


def main(rows: int, master: str) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "discharges.parquet"
        shoal.sample_data("discharges", rows, seed=0).write_parquet(path, row_group_size=250_000)
        start = time.perf_counter()
        spark = session(master)
        spark.conf.set("spark.sql.shuffle.partitions", "4")
        print(f"start-up: {time.perf_counter() - start:.1f} s")
        frame = spark.read.parquet(str(path))
        _, hand = timed(lambda: by_hand(frame))
        ours, spark_seconds = timed(lambda: shoal.risk(frame, quasi_identifiers=NAMES))
        theirs, local_seconds = timed(lambda: shoal.risk(path, quasi_identifiers=NAMES))
        assert ours.to_dict() == theirs.to_dict()
        print(
            f"risk, {rows:,} rows: spark {spark_seconds:.1f} s, by hand {hand:.1f} s ({spark_seconds / hand:.2f} times)"
        )
        print(f"risk, local engine: {local_seconds:.1f} s; the figures are equal")
        for method, settings in (("coarsen", {"resolution": 16}), ("sorted-clusters", {"k": 5})):
            how: dict[str, Any] = {"quasi_identifiers": NAMES, "method": method, **settings}
            ours, seconds = timed(lambda how=how: shoal.anonymize(frame, **how), 1)
            theirs, local = timed(lambda how=how: shoal.anonymize(path, **how), 1)
            out = Path(folder) / method
            start = time.perf_counter()
            ours.frame.write.parquet(str(out))
            wrote = time.perf_counter() - start
            cells = Counter(pl.read_parquet(out / "*.parquet").select(NAMES).hash_rows(0))
            assert cells == Counter(theirs.polars.select(NAMES).hash_rows(0))
            print(f"{method}: spark {seconds:.1f} s and {wrote:.1f} s to write, local {local:.1f} s; cells are equal")
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3_985_166, sys.argv[2] if len(sys.argv) > 2 else "local[2]")
