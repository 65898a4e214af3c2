"""Rows as Arrow, batch by batch: what Python beside an executor is given, and the schema of what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl


def one_changed(part: Any, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Any:
    """The arrow table that `change` makes of an arrow table."""
    return change(pl.DataFrame(pl.from_arrow(part))).to_arrow(compat_level=pl.CompatLevel.oldest())


def changed(batches: Iterator[Any], change: Callable[[pl.DataFrame], pl.DataFrame]) -> Iterator[Any]:
    """The arrow batches that `change` makes of arrow batches."""
    for batch in batches:
        made = change(pl.DataFrame(pl.from_arrow(batch)))
        yield from made.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def spark_schema(schema: Any) -> Any:
    """Columns and types as Spark names them."""
    if not isinstance(schema, Mapping):
        return schema
    from pyspark.sql.pandas.types import from_arrow_schema

    arrow = pl.DataFrame(schema=schema).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    return from_arrow_schema(arrow)
