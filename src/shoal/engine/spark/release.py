"""Rows that leave a cluster: a folder of Parquet files, staged beside its place and visible whole by one rename."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.engine.base import CheckDraft
from shoal.engine.spark.keys import PREFIX
from shoal.engine.spark.order import NUMBER, in_secret_order, left_out, without
from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError
from shoal.writing import hash_of_files

DRAWN = f"{PREFIX}drawn"
# files that only the owner of a release may read
_OWNERS = (".private.json", ".plan.json")


def write_folder(
    frame: Any,
    path: str | Path,
    check: CheckDraft | None = None,
    shuffle: int | None = None,
    rows: int | None = None,
    missing: int = 0,
) -> None:
    """Write a frame as Parquet; a run that ends early leaves at most a folder whose name starts with a point.

    What `check` gives stands beside the folder before that takes its name, which is what makes the release one.
    """
    from pyspark.sql import functions as F

    target = str(path).rstrip("/")
    folder, slash, name = target.rpartition("/")
    staged = f"{folder}{slash}.{name}.{uuid.uuid4().hex}.staged.parquet"
    place = _Place(frame.sparkSession, target)
    if place.exists(target):
        raise InputError(f"{target} exists already.", "Name another folder, or remove it first.")
    beside: list[str] = []
    try:
        with spark_errors(target):
            removed: Sequence[int] = ()
            if NUMBER in frame.columns and shuffle is not None and rows is not None:
                removed, frame = _in_order(frame, shuffle, rows, missing)
            elif shuffle is not None:  # by a number drawn for each row, over all files and within each
                drawn = frame.withColumn(DRAWN, F.rand(shuffle % (1 << 62)))
                frame = drawn.repartition(DRAWN).sortWithinPartitions(DRAWN).drop(DRAWN)
            frame.write.mode("error").parquet(staged)
            files = {} if check is None else check(staged, folder_sha256(frame.sparkSession, staged), removed)
        for other, content in files.items():
            beside.append(f"{folder}{slash}{other}")
            place.write(beside[-1], content, owners=other.endswith(_OWNERS))
        place.rename(staged, target)
        beside.clear()
    finally:
        place.remove(staged)
        for other in beside:
            place.remove(other)


def _in_order(frame: Any, seed: int, rows: int, missing: int) -> tuple[list[int], Any]:
    """The numbers of the rows that were left out, and the others in the secret order of their release."""
    removed = left_out(frame, rows, "the release").tolist() if missing else []
    return removed, in_secret_order(without(frame, removed, rows, "the release"), seed, rows - len(removed))


def folder_sha256(spark: Any, folder: str) -> str:
    """The SHA-256 of a folder, by those of its files, which the cluster computes: see `writing.sha256`."""
    from pyspark.sql import functions as F

    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(folder)
    found = files.select("path", F.sha2("content", 256).alias("hash")).toArrow().to_pylist()
    return hash_of_files({entry["path"].rpartition("/")[2]: entry["hash"] for entry in found})


class _Place:
    """The file system of a path: Hadoop's, which knows every scheme; that of this machine for a plain path of it."""

    def __init__(self, spark: Any, path: str) -> None:
        gateway = getattr(spark, "_jvm", None)
        if gateway is None:
            raise InputError(
                "A release is written by the driver of a classic Spark session, not through Spark Connect.",
                "Run shoal on the cluster itself, or write `frame` by your own means and verify it.",
            )
        self._path = gateway.org.apache.hadoop.fs.Path
        self._permission = gateway.org.apache.hadoop.fs.permission.FsPermission
        self._files = self._path(path).getFileSystem(spark._jsc.hadoopConfiguration())
        self._files.setWriteChecksum(False)  # no .crc beside a manifest

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(self._path(path)))

    def rename(self, old: str, new: str) -> None:
        if not self._files.rename(self._path(old), self._path(new)):
            raise InputError(f"{new} could not be given its name.", "Check the rights on the folder above it.")

    def write(self, path: str, content: bytes, owners: bool = False) -> None:
        stream = self._files.create(self._path(path), True)
        if owners:  # before anything is in it
            self._files.setPermission(self._path(path), self._permission("600"))
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def remove(self, path: str) -> None:
        if self.exists(path):
            self._files.delete(self._path(path), True)
