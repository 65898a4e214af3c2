"""Spark Connect: a server in a process of its own, a client that starts no Java; what works there, what is refused."""

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

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

NAMES = ["age", "zip", "sex"]
POLICY = {
    "columns": {**dict.fromkeys(NAMES, "quasi-identifier"), "note": "other"},
    "models": [{"model": "k-anonymity", "k": 5}],
}
# measures and changes by the server, and says what a release is told
JOB = """
import json, sys
import shoal
from shoal.errors import InputError
from shoal.methods import mondrian
from shoal.methods.partition import in_parts
from shoal.releases.write import release
from shoal.storage.reading import Options
mondrian.IN_PARTS, in_parts.PART = 0, 2_000
source, target, master, policy = sys.argv[1:]
policy, names = json.loads(policy), ["age", "zip", "sex"]
options = Options(engine="spark", master=master)
found = {
    "risk": shoal.risk(source, quasi_identifiers=names, options=options).to_dict(),
    "leak": shoal.leak(source, quasi_identifiers=names, leaked="10%", options=options).to_dict(),
}
for method, how in (("lattice", {"suppression": 0.2}), ("mondrian", {})):
    result = shoal.anonymize(source, policy, method=method, options=options, **how)
    rows = result.frame.toArrow()
    found[method] = [result.findings.k, result.findings.classes, rows.num_rows, sorted(rows.column("note").to_pylist())]
try:
    release(result, target)
except InputError as error:
    found["release"] = str(error)
print(json.dumps(found))
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A Connect server on two threads of this machine, reached through 127.0.0.1 alone."""
    pyspark = pytest.importorskip("pyspark", reason="no pyspark here: pip install 'shoal[spark]'")
    pytest.importorskip("grpc", reason="no client of Spark Connect here: pip install 'pyspark[connect]'")
    from shoal.engine.spark.session import check_java

    try:
        check_java()
    except InputError as error:
        pytest.skip(str(error))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(pyspark.__file__).parent
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.caseSensitive": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
    }
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "1g"]
    command += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYSPARK_PYTHON"] = sys.executable
    environment.pop("PYSPARK_SUBMIT_ARGS", None)
    log = (tmp_path / "server.log").open("wb")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    while process.poll() is None:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.5)
    assert process.poll() is None, "the server ended early"
    yield f"sc://127.0.0.1:{port}"
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_rows_are_measured_and_changed_through_connect(server: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    source = tmp_path / "people.parquet"
    columns = {"age": draw.integers(0, 90, 6_000), "zip": draw.integers(0, 900, 6_000)}
    people = pl.DataFrame({**columns, "sex": draw.choice(["f", "m"], 6_000), "note": draw.integers(0, 2**40, 6_000)})
    people.write_parquet(source)
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    command = [sys.executable, "-W", "ignore", "-c", JOB, str(source), str(tmp_path / "safe.parquet"), server]
    done = subprocess.run([*command, json.dumps(POLICY)], env=environment, stdout=subprocess.PIPE, timeout=900)
    assert done.returncode == 0
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["risk"] == json.loads(json.dumps(shoal.risk(source, quasi_identifiers=NAMES).to_dict()))
    wanted = shoal.leak(source, quasi_identifiers=NAMES, leaked="10%").to_dict()
    assert found["leak"] == json.loads(json.dumps(wanted))
    coarse = shoal.anonymize(source, POLICY, method="lattice", suppression=0.2).findings
    assert found["lattice"][:2] == [coarse.k, coarse.classes]
    for method in ("lattice", "mondrian"):
        k, _, rows, notes = found[method]
        assert (k >= 5, rows, notes) == (True, 6_000, sorted(people["note"].to_list()))
    assert "not through Spark Connect" in found["release"]
    assert not list(tmp_path.glob("*safe*"))
