"""The Spark session: the one that runs already, or one of our own; what is missing is one sentence with its cure."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Message

OLDEST_JAVA = 17
# a session of our own; one that runs already keeps its settings
SETTINGS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.parquet.enableVectorizedReader": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
}


def session(master: str | None = None) -> Any:
    """The session that is active, or a new one on `master` (`local[*]` where nothing else is said)."""
    SparkSession = _spark_session()
    active = SparkSession.getActiveSession()
    if active is not None:
        _check_master(active, master)
        return active
    if master is None and "SPARK_REMOTE" in os.environ:
        return SparkSession.builder.getOrCreate()
    if master is not None and master.startswith("sc://"):
        return SparkSession.builder.remote(master).getOrCreate()
    check_java()
    builder = SparkSession.builder.appName("shoal").master(master or os.environ.get("MASTER", "local[*]"))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    if (master or "local").startswith("local"):
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    try:
        made = builder.getOrCreate()
    except Exception as error:  # Java's own, which Python knows under many names
        raise InputError(
            f"Spark could not be started on {master or 'local[*]'} ({type(error).__name__}).",
            Message("Check the name of the {master} and that it can be reached."),
        ) from None
    made.sparkContext.setLogLevel("ERROR")
    if made.sparkContext.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        made.sparkContext.pythonExec = sys.executable  # the workers find shoal here, not in the first python3 of PATH
    return made


def _spark_session() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pyspark warns of a pandas that is newer than it
            from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("Spark is not installed here.", "pip install 'shoal[spark]'") from None
    return SparkSession


def _check_master(active: Any, master: str | None) -> None:
    runs_on = getattr(getattr(active, "sparkContext", None), "master", None) if master is not None else None
    if runs_on is not None and runs_on != master:
        raise InputError(
            f"A Spark session runs on {runs_on} already, not on {master}.",
            Message("Leave out the {master}, or stop that session first."),
        )


def check_java() -> None:
    """Refuse a machine without a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    cure = "Install Java 17 (sudo apt-get install openjdk-17-jre-headless) and, if needed, set JAVA_HOME to it."
    try:
        said = subprocess.run([java or "", "-version"], capture_output=True, timeout=60).stderr.decode(
            "utf-8", "replace"
        )
    except (OSError, subprocess.SubprocessError):
        where = f"JAVA_HOME ({home}) holds no Java" if home else "There is no Java here"
        raise InputError(f"{where}, on which Spark runs.", cure) from None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < OLDEST_JAVA:
        known = "one of unknown version" if found is None else f"Java {found[1]}"
        raise InputError(f"Spark needs Java {OLDEST_JAVA} or newer; here is {known}.", cure)


@contextmanager
def spark_errors(where: str) -> Iterator[None]:
    """What Spark refuses as one sentence: Java's messages are long and may show values."""
    try:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException
    except ImportError:  # told by whoever opens the session
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        try:
            yield
        except (PySparkException, Py4JJavaError) as error:  # Java's own errors, too, such as of an unknown scheme
            raise _as_input_error(error, where) from None


def _as_input_error(error: Any, where: str) -> InputError:
    known = error.getCondition() if hasattr(error, "getCondition") else None
    condition, said = known or type(error).__name__, str(error)
    if condition == "PATH_NOT_FOUND" or "FileNotFoundException" in said:
        return InputError(
            f"Spark finds no file {where}.", "Check the name, and that every node of the cluster can read it."
        )
    if condition == "AMBIGUOUS_REFERENCE":
        names = error.getMessageParameters().get("referenceNames", "").strip("[]").replace("`", "'")
        return InputError(
            f"{where} has columns whose names Spark cannot tell apart: {names}.",
            "Rename one of them; to Spark upper and lower case are the same.",
        )
    if "AccessControlException" in said or "Permission denied" in said or "AccessDenied" in said:
        return InputError(f"Spark may not read or write {where}.", "Check the rights of the cluster's user on it.")
    if "No FileSystem for scheme" in said or "ClassNotFoundException" in said:
        return InputError(
            f"Spark cannot open {where}: the cluster knows no such kind of place.",
            "Add its package to the session (spark.jars.packages), for s3a:// hadoop-aws.",
        )
    if "No module named 'shoal'" in said:
        return InputError(
            "The workers of Spark do not have shoal.",
            "Install shoal on every node, in the Python that PYSPARK_PYTHON names.",
        )
    if "No space left on device" in said:
        return InputError(
            f"A disk of the cluster is full; nothing was written to {where}.",
            "Free space, or set spark.local.dir to a larger disk, and run it again.",
        )
    if "OutOfMemoryError" in said or "maxResultSize" in said:
        return InputError(
            f"The count table of {where} does not fit the memory of Spark.",
            "Raise spark.driver.memory, or lower spark.shoal.driver.tuples so that it stays on the cluster.",
        )
    return InputError(f"Spark could not read {where} ({condition}).", "Check the file, and the log of the session.")
