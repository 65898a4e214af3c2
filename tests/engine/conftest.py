"""One Spark session for all tests of this folder, or a reason why there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from shoal.errors import InputError

# a session of a minute: Java's second compiler and a parallel collector would cost more processor time than they save
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# on few rows, compiling a query and planning it again after each stage take far more than running it
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two threads of this machine, reached through 127.0.0.1 alone."""
    pytest.importorskip("pyspark", reason="no pyspark here: pip install 'shoal[spark]'")
    from shoal.engine.spark.session import check_java, session

    try:
        check_java()
    except InputError as error:
        pytest.skip(str(error))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    arguments = f"--driver-memory 1g --driver-java-options '{JAVA_OPTIONS}' pyspark-shell"
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", arguments)
    found = session("local[2]")
    for name, value in SETTINGS.items():
        found.conf.set(name, value)
    yield found
    found.stop()
