"""One Spark session for all tests of this folder, or a reason why there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from shoal.errors import InputError


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
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 1g pyspark-shell")
    found = session("local[2]")
    found.conf.set("spark.sql.shuffle.partitions", "2")
    yield found
    found.stop()
