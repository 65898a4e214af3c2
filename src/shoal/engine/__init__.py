"""The waist: what counts, changes and writes rows, wherever they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.engine.base import Counted, Engine, SizeHistogram, TooManyTuples, TupleRecoding
from shoal.engine.local import LOCAL
from shoal.errors import InputError, Message
from shoal.storage import Table
from shoal.storage.reading.files import Options

__all__ = [
    "ENGINES",
    "LOCAL",
    "Counted",
    "Engine",
    "SizeHistogram",
    "TooManyTuples",
    "TupleRecoding",
    "check_java",
    "engine_of",
    "rows_where_they_are",
]

ENGINES = ("local", "spark")


def engine_of(source: Any, options: Options | None = None) -> Engine:
    """The engine of a source: that of its data frame, or the one that the options name.

    >>> engine_of({"age": [34, 51]}).name
    'local'
    """
    if isinstance(source, Table):  # read already: by the engine that leads back to its rows
        source, options = source.native, None
    named = None if options is None else options.engine
    if named is not None and named not in ENGINES:
        raise InputError(f"There is no engine '{named}'.", Message("Use one of {} ({engine}).", ", ".join(ENGINES)))
    if not is_spark(source) and named != "spark":
        if options is not None and options.master is not None:
            raise InputError(Message("A Spark {master} is named for the local engine."), Message("Add {engine} spark."))
        return LOCAL
    from shoal.engine.spark import SPARK

    return SPARK


def rows_where_they_are(
    engine: Engine,
    source: Any,
    reading: Options | None,
    needed: Sequence[str],
    by_tuple: int | None,
    by_part: int | None,
) -> Table:
    """A table of rows that an engine keeps: of many none is brought where the method works part by part."""
    if by_part is not None:
        try:
            return engine.rows(source, None, reading, needed=needed, by_part=by_part, by_tuple=by_tuple)
        except TooManyTuples:  # a column has too many values to be known by itself
            pass
    return engine.rows(source, None, reading, needed=needed, by_tuple=by_tuple)


def is_spark(source: Any) -> bool:
    """Whether a source is a data frame of Spark, classic or Connect, or rows that were read from one."""
    modules = {kind.__module__ for kind in type(source).__mro__}
    if any(module.startswith("shoal.engine.spark") for module in modules):
        return True
    return any(module.startswith("pyspark.sql") for module in modules) and hasattr(source, "schema")


def check_java() -> None:
    """Refuse a machine without a Java on which a cluster's engine runs."""
    from shoal.engine.spark.session import check_java

    check_java()
