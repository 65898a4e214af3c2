"""Apache Spark: the same counts, rows and changes, where the rows are."""

from __future__ import annotations

from shoal.engine.spark.engine import SPARK

__all__ = ["SPARK"]
