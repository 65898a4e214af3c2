"""Executors in processes of their own: one that is killed costs time only; a killed driver leaves no release."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

ROWS = 200_000
POLICY = {
    "columns": {"age": "quasi-identifier", "zip": "quasi-identifier", "los": "quasi-identifier", "note": "other"},
    "models": [{"model": "k-anonymity", "k": 5}],
}
# counts, waits until its executor was killed where that is wanted, and releases; rows are worked on while it waits
JOB = """
import json, os, sys, time
from pathlib import Path
import pyspark
os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
import shoal
from shoal.engine.spark.session import session
from shoal.storage.reading import Options
from shoal.releases.write import release
from shoal.methods import mondrian
from shoal.methods.partition import in_parts
mondrian.IN_PARTS, in_parts.PART = 0, 50_000
source, target, master, marker, policy, method = sys.argv[1:]
spark = session(master)
spark.conf.set("spark.sql.shuffle.partitions", "8")
frame = spark.read.parquet(source)
risk = shoal.risk(frame, quasi_identifiers=["age", "zip", "los"]).to_dict()
result = shoal.anonymize(source, json.loads(policy), method=method, options=Options(engine="spark"))
slow = frame.repartition(8).mapInArrow(lambda batches: (time.sleep(0.5) or batch for batch in batches), frame.schema)
Path(marker).write_text("ready")
slow.count()
release(result, target, shuffle=True)
print(json.dumps(risk))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyspark", reason="no pyspark here: pip install 'shoal[spark]'")
    from shoal.engine.spark.session import check_java

    try:
        check_java()
    except InputError as error:
        pytest.skip(str(error))
    draw = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("source") / "people.parquet"
    pl.DataFrame(
        {
            "age": draw.integers(0, 90, ROWS),
            "zip": draw.integers(0, 900, ROWS),
            "los": draw.integers(0, 30, ROWS),
            "note": draw.integers(0, 2**40, ROWS),
        }
    ).write_parquet(path)
    return path


def start(source: Path, folder: Path, master: str, method: str = "sorted-clusters") -> subprocess.Popen[str]:
    arguments = [source, folder / "safe.parquet", master, folder / "ready", json.dumps(POLICY), method]
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": "--driver-memory 1g pyspark-shell",
    }
    command = [sys.executable, "-W", "ignore", "-c", JOB, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def wait_for(path: Path, process: subprocess.Popen[Any]) -> None:
    while not path.exists():
        assert process.poll() is None, "the job ended early"
        time.sleep(0.2)


def executors(driver: int) -> list[int]:
    """The executors below a driver, by the processes that it started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            parents = _ancestors(int(entry.name))
        except (OSError, ValueError):
            continue
        if any(b"CoarseGrainedExecutorBackend" in word for word in words) and driver in parents:
            found.append(int(entry.name))
    return found


def _ancestors(process: int) -> list[int]:
    found = []
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        found.append(process)
    return found


def written(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "safe.parquet" / "*.parquet")


def test_an_executor_that_is_killed_changes_nothing(source: Path, tmp_path: Path) -> None:
    process = start(source, tmp_path, "local-cluster[2,1,1024]")
    wait_for(tmp_path / "ready", process)
    running = executors(process.pid)
    assert len(running) == 2
    time.sleep(1)
    os.kill(running[0], signal.SIGKILL)
    out, _ = process.communicate(timeout=900)
    assert process.returncode == 0
    assert json.loads(out) == shoal.risk(source, quasi_identifiers=["age", "zip", "los"]).to_dict()
    wanted = shoal.anonymize(source, POLICY, method="sorted-clusters").polars
    assert written(tmp_path).sort(wanted.columns).equals(wanted.sort(wanted.columns))
    assert shoal.verify(tmp_path / "safe.parquet", original=source).verdict == "holds"


def test_a_driver_that_is_killed_leaves_no_release_and_can_run_again(source: Path, tmp_path: Path) -> None:
    process = start(source, tmp_path, "local[2]")
    wait_for(tmp_path / "ready", process)
    while process.poll() is None and not list(tmp_path.glob(".safe.parquet.*")):
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert not (tmp_path / "safe.parquet").exists()
    (tmp_path / "ready").unlink()
    again = start(source, tmp_path, "local[2]")
    again.communicate(timeout=900)
    assert again.returncode == 0
    assert shoal.verify(tmp_path / "safe.parquet", original=source).verdict == "holds"


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A master and two workers in processes of their own, reached through 127.0.0.1 alone."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, kind = f"spark://127.0.0.1:{port}", "org.apache.spark.deploy"
    started = []

    def run(*words: str) -> subprocess.Popen[bytes]:
        log = (tmp_path / f"log-{len(started)}").open("wb")
        command = [str(home / "bin" / "spark-class"), *words]
        started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True))
        return started[-1]

    run(f"{kind}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    ends = ["--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--webui-port", "0", "--work-dir", str(tmp_path)]
    workers = [run(f"{kind}.worker.Worker", *ends, address) for _ in range(2)]
    while (tmp_path / "log-0").read_bytes().count(b"Registering worker") < 2:
        assert all(process.poll() is None for process in started), "master or worker ended early"
        time.sleep(0.5)
    yield address, workers
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_worker_that_is_killed_costs_its_parts_only(
    source: Path, tmp_path: Path, standalone: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    """`mondrian` in parts on a standalone cluster: what a lost worker held is made again, and every group has k."""
    master, workers = standalone
    process = start(source, tmp_path, master, "mondrian")
    wait_for(tmp_path / "ready", process)
    os.killpg(workers[0].pid, signal.SIGKILL)
    process.communicate(timeout=900)
    assert process.returncode == 0
    found = written(tmp_path)
    names = ["age", "zip", "los"]
    assert found.group_by(names).len()["len"].min() >= 5
    assert found["note"].sort().equals(pl.read_parquet(source)["note"].sort())
    assert shoal.verify(tmp_path / "safe.parquet", original=source).verdict == "holds"
