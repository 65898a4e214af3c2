"""The Spark session: the one that runs already, or one of our own; what is missing is one sentence with its cure.

A session of our own is quiet: what Java writes goes to a file without a name, in which the cause is looked up when
something fails. Its memory follows `--memory`, or the machine.
"""

from __future__ import annotations

import contextvars
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from shoal import progress
from shoal.errors import InputError, Message
from shoal.storage.spill import memory_budget

OLDEST_JAVA = 17
# Java gets half of the memory that shoal may take, at least so much; Python beside it the rest
_LEAST_HEAP = 512 << 20
# how Spark's own settings name the memory of the driver: whoever uses one of them has decided
_OWN_MEMORY = ("SPARK_DRIVER_MEMORY", "SPARK_CONF_DIR", "SPARK_HOME")
# seconds until progress is shown first, and between two reports
_FIRST, _NEXT = 1.0, 0.5
# of what Java wrote, so much is searched for a cause
_TAIL = 1 << 16
# a session of our own; one that runs already keeps its settings
SETTINGS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.parquet.enableVectorizedReader": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
    # what is kept between two passes is read once: packing it takes longer than reading it unpacked
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}


class _Log:
    """What Java wrote since it was started here."""

    file: IO[bytes] | None = None

    @classmethod
    def said(cls) -> str:
        if cls.file is None:
            return ""
        size = cls.file.seek(0, os.SEEK_END)
        cls.file.seek(max(0, size - _TAIL))
        return cls.file.read().decode("utf-8", "replace")


def session(master: str | None = None, memory: str | int | None = None) -> Any:
    """The session that is active, or a new one on `master` (`local[*]` where nothing else is said).

    Of a new one Java may take half of `memory`, or of what the machine has free.
    """
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
    where = master or os.environ.get("MASTER", "local[*]")
    builder = SparkSession.builder.appName("shoal").master(where)
    heap = heap_of(memory)
    for name, value in {**SETTINGS, **({} if heap is None else {"spark.driver.memory": heap})}.items():
        builder = builder.config(name, value)
    if where.startswith("local"):
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    try:
        with _quiet():
            made = builder.getOrCreate()
    except Exception as error:  # Java's own, which Python knows under many names
        raise _not_started(where, heap, error) from None
    made.sparkContext.setLogLevel("ERROR")
    if made.sparkContext.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        made.sparkContext.pythonExec = sys.executable  # the workers find shoal here, not in the first python3 of PATH
    return made


def heap_of(memory: str | int | None) -> str | None:
    """The heap of Java as Spark writes it; None where Spark's own settings say it.

    >>> heap_of("8GiB")
    '4096m'
    """
    asked = memory or os.environ.get("SHOAL_MEMORY") or None
    submit = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    if asked is None and (any(name in os.environ for name in _OWN_MEMORY) or "driver" in submit):
        return None
    return f"{max(memory_budget(asked) // 2, _LEAST_HEAP) >> 20}m"


@contextmanager
def _quiet() -> Iterator[None]:
    """What a Java that is started inside writes goes to the log, now and later; one that runs already writes on."""
    from pyspark import SparkContext

    if SparkContext._gateway is not None:
        yield
        return
    _Log.file = tempfile.TemporaryFile()  # noqa: SIM115 (Java writes to it as long as it runs)
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(_Log.file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _not_started(master: str, heap: str | None, error: Exception) -> InputError:
    said = f"{error} {_Log.said()}"
    if re.search("Could not reserve enough space|Cannot allocate memory|Invalid maximum heap size|heap size", said):
        return InputError(
            f"Java could not be started with a heap of {heap or 'the size that Spark is set to'}.",
            Message("Set `{memory}` to less (Java takes half of it), or use a machine with more."),
        )
    if "No space left on device" in said:
        return InputError("Spark could not be started: a disk is full.", "Free space on it, or set SPARK_LOCAL_DIRS.")
    return InputError(
        f"Spark could not be started on {master} ({type(error).__name__}).",
        Message("Check the name of the {master} and that it can be reached."),
    )


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
    """What Spark refuses as one sentence: Java's messages are long and may show values. Its stages are progress."""
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
    except ImportError:  # told by whoever opens the session
        yield
        return
    with warnings.catch_warnings(), _stages():
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError, EOFError) as error:  # Java's own, and a Java that ended
            raise _as_input_error(error, where) from None


@contextmanager
def _stages() -> Iterator[None]:
    """Report the tasks of Spark's own stages while it works, where somebody listens."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None or not progress.is_heard():
        yield
        return
    done = threading.Event()
    seconds = _FIRST

    def watch() -> None:
        nonlocal seconds
        tracker = context.statusTracker()
        with suppress(Exception):  # a Java that ended is told by who waits for it
            while not done.wait(seconds):
                seconds = _NEXT
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                if known := [stage for stage in stages if stage is not None]:
                    tasks = sum(stage.numTasks for stage in known)
                    finished = sum(stage.numCompletedTasks for stage in known)
                    progress.report(f"Spark, stage {max(stage.stageId for stage in known)}", finished, tasks)

    watching = threading.Thread(target=contextvars.copy_context().run, args=(watch,), daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join(5)


# what is looked for in the words of Spark and Java, in this order: the cause, and its cure; `{}` is what was read
_CAUSES = (
    (
        "AccessControlException|Permission denied|AccessDenied",
        "Spark may not read or write {}.",
        "Check the rights of the cluster's user on it.",
    ),
    (
        "No FileSystem for scheme|ClassNotFoundException",
        "Spark cannot open {}: the cluster knows no such kind of place.",
        "Add its package to the session (spark.jars.packages), for s3a:// hadoop-aws.",
    ),
    (
        "No module named 'shoal'",
        "The workers of Spark do not have shoal.",
        "Install shoal on every node, in the Python that PYSPARK_PYTHON names.",
    ),
    (
        "PYTHON_VERSION_MISMATCH",
        "The workers of Spark have another version of Python than the driver.",
        "Set PYSPARK_PYTHON to the same Python on every node.",
    ),
    (
        "No space left on device|DiskSpaceException",
        "A disk of the cluster is full; nothing was written to {}.",
        "Free space, or set spark.local.dir (SPARK_LOCAL_DIRS) to a larger disk, and run it again.",
    ),
    (
        "OutOfMemoryError|SparkOutOfMemory|UNABLE_TO_ACQUIRE_MEMORY|maxResultSize",
        "The memory of Spark did not suffice for {}: the heap of Java is too small.",
        Message(
            "Raise `{memory}` (Java takes half of it), or spark.driver.memory and spark.executor.memory of a session "
            "of your own."
        ),
    ),
    (
        "Python worker exited unexpectedly|Python worker failed|PythonWorkerException",
        "A Python worker of Spark ended in the middle of its work on {}, mostly because memory was short.",
        Message("Use fewer workers at once ({master} local[2]), or machines with more memory."),
    ),
    (
        "ExecutorLostFailure|ExecutorDeadException|Job aborted due to stage failure: .*lost",
        "Executors of Spark were lost again and again while they worked on {}.",
        "Raise spark.executor.memory and spark.executor.memoryOverhead, and look at the logs of the workers.",
    ),
)
# Python's own words for a Java that is not there any more
_JAVA_ENDED = ("Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError", "EOFError")


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
    for words in (said, f"{condition} {_Log.said()}"):  # of what Java wrote, if the error itself does not say it
        for pattern, what, cure in _CAUSES:
            if re.search(pattern, words):
                return InputError(what.format(where), cure)
    if condition in _JAVA_ENDED or "Py4JError" in condition:
        return InputError(
            f"Java ended while Spark worked on {where}.",
            Message("Mostly memory was short: set `{memory}` to less than the machine has free, and run it again."),
        )
    return InputError(f"Spark could not read {where} ({condition}).", "Check the file, and the log of the session.")
