"""The count table: tuples are counted by Spark's own aggregation on packed keys, and unpacked on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal import progress
from shoal.engine.base import TooManyTuples
from shoal.engine.spark.frames import Source
from shoal.engine.spark.keys import PREFIX, Keys, column, make_keys
from shoal.engine.spark.session import spark_errors
from shoal.reading import Options, declared_table
from shoal.table import Array, Table

COUNT = f"{PREFIX}count"


def missing_words(options: Options | None) -> frozenset[str]:
    """The words that are read as missing."""
    return frozenset(() if options is None else options.missing)


def tuples(
    source: Source, names: Sequence[str], options: Options | None, weight: str | None = None
) -> tuple[Table, Array, Keys, Any]:
    """The distinct tuples of columns as a table, how often each occurs, the keys, and those of each tuple.

    `weight` names a column that says how many records a row stands for.
    """
    from pyspark.sql import functions as F

    progress.report("counting on Spark", 0)
    missing = missing_words(options)
    keys = make_keys(source, names, missing)
    limit = source.driver_tuples
    with spark_errors(source.name):
        records = F.count(F.lit(1)) if weight is None else F.sum(column(weight).cast("long"))
        counted = keys.coded().groupBy(*keys.names).agg(records.alias(COUNT))
        if keys.rows > limit and (there := counted.count()) > limit:
            raise _too_many(source.name, names, there, limit)
        table = counted.toArrow()
    found = keys.unpacked(table, missing)
    about = Table(found, table.num_rows, source.name, tuple(keys.notes), None, tuple(source.names))
    about = about if options is None else declared_table(about, options)
    return about, table.column(COUNT).to_numpy(), keys, table


def _too_many(source: str, names: Sequence[str], there: int, limit: int) -> TooManyTuples:
    """The tuples, or the values of one column, do not fit the driver.

    >>> print(_too_many("claims", ["id"], 90, 40))
    Column 'id' of claims has 90 different values; the driver takes 40. ...
    """
    raised = "Raise spark.shoal.driver.tuples and the driver's memory (100 bytes per {})"
    if len(names) == 1:
        return TooManyTuples(
            f"Column '{names[0]}' of {source} has {there:,} different values; the driver takes {limit:,}.",
            f"{raised.format('value')}, or leave the column out.",
        )
    return TooManyTuples(
        f"{source} has {there:,} different tuples in these columns; the driver takes {limit:,}.",
        f"{raised.format('tuple')}, or name fewer columns.",
    )
