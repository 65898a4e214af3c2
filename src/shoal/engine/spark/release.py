"""Rows that leave a cluster: a folder of Parquet files, staged beside its place and visible whole by one rename."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError


def write_folder(frame: Any, path: str | Path) -> None:
    """Write a frame as Parquet; a run that ends early leaves at most a folder whose name starts with a point."""
    target = str(path).rstrip("/")
    folder, _, name = target.rpartition("/")
    staged = f"{folder}/.{name}.{uuid.uuid4().hex}.staged" if folder else f".{name}.{uuid.uuid4().hex}.staged"
    place = _Place(frame.sparkSession, target)
    if place.exists(target):
        raise InputError(f"{target} exists already.", "Name another folder, or remove it first.")
    try:
        with spark_errors(target):
            frame.write.mode("error").parquet(staged)
        place.rename(staged, target)
    finally:
        place.remove(staged)


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
        self._files = self._path(path).getFileSystem(spark._jsc.hadoopConfiguration())

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(self._path(path)))

    def rename(self, old: str, new: str) -> None:
        if not self._files.rename(self._path(old), self._path(new)):
            raise InputError(f"{new} could not be given its name.", "Check the rights on the folder above it.")

    def remove(self, path: str) -> None:
        if self.exists(path):
            self._files.delete(self._path(path), True)
