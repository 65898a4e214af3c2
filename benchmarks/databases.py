"""A PostgreSQL table of 4 M rows, read into codes: beside reading the same Parquet plus the server's own COPY.

Baseline: processor seconds of reading the Parquet file, and of the server's binary COPY to a client that throws it away
(psql). Ours: processor seconds of reading the table, in this process and in the server. Start-up is apart. The bar is
1.5; the ratio to a COPY that never leaves the server (to its own /dev/null) is printed too.
    python benchmarks/databases.py [ROWS]
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "databases"))
from server import MISSING, Server, postgresql, programs

READ = """
import json, resource, sys, time
from shoal.storage.reading import read
from shoal.storage.content import content_sha256
import adbc_driver_postgresql.dbapi, pyarrow, polars
before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
table = read(sys.argv[1])
after = resource.getrusage(resource.RUSAGE_SELF)
used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps({"cpu": used, "wall": time.perf_counter() - started, "peak": after.ru_maxrss / 1024,
                  "rows": table.rows, "content": content_sha256(table)}))
"""


def measured(source: str) -> dict[str, float]:
    """One reading in a process of its own."""
    run = subprocess.run([sys.executable, "-c", READ, source], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def server_seconds(server: Server) -> float:
    """Processor seconds of the server so far, those of its ended processes included."""
    pid = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    time.sleep(0.5)  # until it has noticed that a process ended
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def main(rows: int = 4_000_000) -> None:
    """Load, read both ways, print the ratio."""
    from shoal.reproduction.sample.written import write_sample
    from shoal.storage.databases import Address, database_of
    from shoal.storage.reading import read

    with tempfile.TemporaryDirectory() as folder, postgresql("shared_buffers=512MB", "max_wal_size=4GB") as server:
        os.environ.update(server.environment)
        parquet = Path(folder) / "visits.parquet"
        write_sample("discharges", rows=rows, seed=0, output=parquet)
        target = Address.of("postgresql:///postgres?table=visits")
        database_of(target).stage(target, read(parquet).to_polars()).publish()
        server.sql("vacuum (analyze, freeze) visits")
        started = server_seconds(server)
        server.sql("copy visits to '/dev/null' (format binary)")
        inside = server_seconds(server) - started
        started, before = server_seconds(server), resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [str(server.programs / "psql"), "-X", "-c", "copy visits to stdout (format binary)"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        copied = server_seconds(server) - started + sum(after[:2]) - sum(before[:2])
        started = server_seconds(server)
        ours = measured("postgresql:///postgres?table=visits")
        served = server_seconds(server) - started
        file = measured(str(parquet))
    assert ours["content"] == file["content"], "the table is not the file"
    base, total = file["cpu"] + copied, ours["cpu"] + served
    print(f"{ours['rows']:,} rows, processor seconds (wall time and peak memory in brackets)")
    print(f"  Parquet       {file['cpu']:6.1f}  ({file['wall']:.1f} s, {file['peak']:,.0f} MB)")
    print(f"  COPY          {copied:6.1f}  (to the server's own /dev/null {inside:.1f})")
    print(f"  baseline      {base:6.1f}")
    print(f"  ours          {ours['cpu']:6.1f}  ({ours['wall']:.1f} s, {ours['peak']:,.0f} MB)")
    print(f"  its server    {served:6.1f}")
    print(f"  ours in all   {total:6.1f}")
    print(f"  ratio         {total / base:6.2f}  (bar 1.5)")
    print(f"  to a COPY that stays in the server {total / (file['cpu'] + inside):.2f}")


if __name__ == "__main__":
    if programs() is None:
        sys.exit(MISSING)
    main(*map(int, sys.argv[1:]))
