"""What each command takes on Spark: processor seconds, bytes shuffled, and peak memory, by Spark's own metrics.

`python benchmarks/spark_sizes.py [rows] [master] [command …]`, 1,000,000 rows on local[2] by default. The table is read
once before, so that Java has compiled what it needs. Processor seconds are those of Java and of the driver's Python;
the workers of `mondrian` are told apart. docs/spark.md reckons from these figures.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shoal
from shoal.engine.spark.session import session
from shoal.releases.write import release
from shoal.storage.reading import Options
from spark import NAMES, cpu_seconds, timed

POLICY: dict[str, Any] = {
    "columns": {**dict.fromkeys(NAMES, "quasi-identifier"), "charge": "sensitive", "rln": "identifier"},
    "models": [{"model": "k-anonymity", "k": 5}],
}
METHODS: dict[str, dict[str, Any]] = {
    "coarsen": {"resolution": 4},
    "lattice": {"suppression": 0.2, "time_limit": 30},
    "sorted-clusters": {},
    "mondrian": {},
}


def shuffled(spark: Any) -> tuple[int, int, int]:
    """Bytes that all stages so far wrote for others, spilled to disk and read, by Spark's own store of metrics."""
    gateway = spark.sparkContext._gateway
    store = spark._jsc.sc().statusStore()
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    stages = store.stageList(None, False, False, quantiles, gateway.jvm.java.util.ArrayList())
    found = [stages.apply(place) for place in range(stages.size())]
    return (
        sum(stage.shuffleWriteBytes() for stage in found),
        sum(stage.diskBytesSpilled() for stage in found),
        sum(stage.inputBytes() for stage in found),
    )


def peak(process: int | str) -> int:
    """The most memory of a process since it was last forgotten, in MB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def commands(path: Path, frame: Any) -> dict[str, Callable[[], Any]]:
    """What is measured; a changed table is released, which reads and judges it again."""
    roles = {name: role for name, role in POLICY["columns"].items() if name in frame.columns}
    policy = {**POLICY, "columns": roles}
    decide = {name: "other" for name in frame.columns if name not in roles}
    on_spark = Options(engine="spark")

    def changed(method: str) -> Callable[[], Any]:
        def run() -> Any:
            models = policy["models"] if method != "coarsen" else []
            asked = {**policy, "models": models}
            result = shoal.anonymize(frame, asked, method=method, decide=decide, **METHODS[method])
            target = path.with_name(f"{method}.parquet")
            return release(result, target, no_guarantee=method == "coarsen")

        return run

    found: dict[str, Callable[[], Any]] = {
        "risk": lambda: shoal.risk(frame, quasi_identifiers=NAMES),
        "leak": lambda: shoal.leak(frame, quasi_identifiers=NAMES, leaked="10%"),
        "profile": lambda: shoal.profile(frame),
        **{f"anonymize {method}": changed(method) for method in METHODS},
    }
    found["verify"] = lambda: shoal.verify(path.with_name("sorted-clusters.parquet"), options=on_spark)
    return found


def main(rows: int, master: str, wanted: list[str]) -> None:
    """Measure and print one line per command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "discharges.parquet"
        shoal.sample_data("discharges", rows, seed=0).write_parquet(path, row_group_size=100_000)
        spark = session(master)
        spark.conf.set("spark.sql.shuffle.partitions", "4")
        frame = spark.read.parquet(str(path))
        shoal.risk(frame, quasi_identifiers=NAMES[:2])
        java = spark.sparkContext._gateway.proc.pid
        tuples = len(shoal.engine.engine_of(frame).count(frame, NAMES).counts)
        print(f"{rows:,} rows, {tuples:,} tuples, {path.stat().st_size:,} bytes, load {os.getloadavg()[0]:.1f}")
        for name, run in commands(path, frame).items():
            if wanted and name not in wanted:
                continue
            for process in ("self", java):
                Path(f"/proc/{process}/clear_refs").write_text("5", encoding="utf-8")
            before, workers = shuffled(spark), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            _, taken = timed(spark, run)
            wrote, spilled, read = (now - then for now, then in zip(shuffled(spark), before, strict=True))
            workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - workers
            print(
                f"{name}: {taken}, workers {workers:.1f} CPU s; {rows / taken.cpu:,.0f} rows per CPU s; shuffled "
                f"{wrote / rows:.1f}, spilled {spilled / rows:.1f}, read {read / rows:.1f} bytes per row; peak MB: "
                f"Python {peak('self'):,}, Java {peak(java):,}",
                flush=True,
            )
        assert cpu_seconds(spark) > 0
        spark.stop()


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 1_000_000, given[1] if len(given) > 1 else "local[2]", given[2:])
