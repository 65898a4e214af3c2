"""The order of rows on a cluster: their numbers in the source, and the secret order of a release.

The order of a release goes by a hash of each row's number (`shoal.storage.order`). The driver computes it and sends it
to the rows, 16 bytes for each: what one engine has put in order, the other finds again from the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import polars as pl

from shoal.engine.spark.frames import MOST_IN_ORDER, SparkSource
from shoal.engine.spark.keys import PREFIX, column
from shoal.engine.spark.session import spark_errors
from shoal.storage import Array
from shoal.storage.order import shuffled_order

NUMBER = f"{PREFIX}number"
_FILE, _BEFORE, _MASK, _BLOCK, _PLACE = (f"{PREFIX}{name}" for name in ("file", "before", "mask", "block", "place"))
# of monotonically_increasing_id, whose lower bits number the rows of a partition
_IN_PARTITION = 33
# 64 rows are one word, in which a bit says whether a row is left out
_WORD = 6
# rows that one task puts in order, about, and at least
_MOST, _LEAST = 1 << 20, 1 << 16
# rows up to which every node gets the whole order
_SENT_TO_ALL = 1 << 20


def has_order(source: SparkSource) -> bool:
    """Whether rows would come in the same order again: those of files, in the order of their names."""
    if source.files is None or "_metadata" in source.names:
        return False
    return not source.from_text_file or len(source.files) <= MOST_IN_ORDER


def numbered(source: SparkSource) -> Any:
    """The rows with their numbers: by file and place in it; those of text files by partition and place in it."""
    from pyspark.sql import functions as F

    assert source.files is not None
    names = [column(name) for name in source.names]
    if source.from_text_file:
        number = F.monotonically_increasing_id()
        there = source.frame.select(*names, number.alias(NUMBER)).withColumn(_FILE, F.shiftright(NUMBER, _IN_PARTITION))
        there = there.withColumn(NUMBER, column(NUMBER).bitwiseAND((1 << _IN_PARTITION) - 1))
    else:
        read = source.spark.read.parquet(*source.files)
        file, number = F.col("_metadata.file_path"), F.col("_metadata.row_index")
        there = read.select(*names, file.alias(_FILE), number.alias(NUMBER))
    with spark_errors(source.name):
        counts = there.groupBy(_FILE).agg(F.count(F.lit(1)).alias(_BEFORE)).toArrow()
        before = _added_up(pl.DataFrame({name: pl.Series(counts.column(name)) for name in (_FILE, _BEFORE)}), source)
        offsets = _sent(source.spark, before.rename({_FILE: f"{_FILE}_"}))
        whole = there.join(F.broadcast(offsets), column(_FILE) == column(f"{_FILE}_"))
        return whole.select(*names, (column(NUMBER) + column(_BEFORE)).alias(NUMBER))


def _added_up(counts: pl.DataFrame, source: SparkSource) -> pl.DataFrame:
    """How many rows stand before each file, or each partition of text files."""
    files = {file: place for place, file in enumerate(source.files or ())}
    places = counts[_FILE]
    if not source.from_text_file:
        known = [files.get(_plain(file), len(files)) for file in places.to_list()]
        places = pl.Series(known, dtype=pl.Int64)
    ordered = counts.with_columns(place=places).sort("place", _FILE)
    return ordered.select(_FILE, pl.col(_BEFORE).cum_sum() - pl.col(_BEFORE))


def _plain(address: str) -> str:
    """The path of a file that Spark names by an address; other addresses stay as they are.

    >>> _plain("file:///data/two%20words.parquet"), _plain("s3a://bucket/a.parquet")
    ('/data/two words.parquet', 's3a://bucket/a.parquet')
    """
    return unquote(urlsplit(address).path) if address.startswith("file:") else address


def _sent(spark: Any, frame: pl.DataFrame) -> Any:
    return spark.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))


def left_out(rows: Any, total: int, name: str) -> Array:
    """The numbers below `total` that no row has; the driver gets a word for 64 rows."""
    from pyspark.sql import functions as F

    bit = F.expr(f"shiftleft(1L, cast({NUMBER} & {(1 << _WORD) - 1} as int))")
    block = F.shiftright(NUMBER, _WORD).alias(_BLOCK)
    with spark_errors(name):
        found = rows.groupBy(block).agg(F.bit_or(bit).alias(_MASK)).toArrow()
    there = np.zeros((total >> _WORD) + 1, np.uint64)
    there[found.column(_BLOCK).to_numpy()] = found.column(_MASK).to_numpy().view(np.uint64)
    bits = np.unpackbits(there.view(np.uint8), bitorder="little")[:total]
    return np.flatnonzero(bits == 0)


def without(rows: Any, removed: Sequence[int] | Array, total: int, name: str) -> Any:
    """Numbered rows without some; the others are numbered anew, in their order."""
    from pyspark.sql import functions as F

    if not len(removed):
        return rows
    gone = np.unique(np.asarray(removed, np.int64))
    blocks = np.arange((total >> _WORD) + 1)
    masks = np.zeros(len(blocks), np.uint64)
    np.bitwise_or.at(masks, gone >> _WORD, np.uint64(1) << (gone & ((1 << _WORD) - 1)).astype(np.uint64))
    table = {_BLOCK: blocks, _BEFORE: np.searchsorted(gone, blocks << _WORD), _MASK: masks.view(np.int64)}
    names = [column(one) for one in rows.columns if one != NUMBER]
    place = f"cast({NUMBER} & {(1 << _WORD) - 1} as int)"
    with spark_errors(name):
        there = _sent(rows.sparkSession, pl.DataFrame(table))
        joined = rows.join(there, F.shiftright(NUMBER, _WORD) == column(_BLOCK))
        kept = joined.filter(F.expr(f"{_MASK} & shiftleft(1L, {place}) = 0"))
        # of the word the bits below that of the row; nothing where it is the first, whose shift would be by 64
        lower = F.expr(f"bit_count(if({place} = 0, 0L, shiftleft({_MASK}, 64 - {place})))")
        return kept.select(*names, (column(NUMBER) - column(_BEFORE) - lower).alias(NUMBER))


def in_secret_order(rows: Any, seed: int, total: int) -> Any:
    """Numbered rows as they are released: in the secret order of the seed, partition after partition."""
    from pyspark.sql import functions as F

    parallel = int(rows.sparkSession.sparkContext.defaultParallelism)
    parts = min(-(-total // _LEAST), max(parallel, -(-total // _MOST))) or 1
    with spark_errors("the release"):
        placed = released_numbers(rows, seed, total, "the release")
        range_of = F.expr(f"cast({NUMBER} * {parts}L div {max(total, 1)}L as int)")
        return placed.repartitionById(parts, range_of).sortWithinPartitions(NUMBER).drop(NUMBER)


def released_numbers(rows: Any, seed: int | None, total: int, name: str) -> Any:
    """Numbered rows with the number that each has in the release; the driver sends which that are."""
    from pyspark.sql import functions as F

    if seed is None:
        return rows
    names = [column(one) for one in rows.columns if one != NUMBER]
    order = pl.DataFrame({_BEFORE: shuffled_order(total, seed), _PLACE: np.arange(total)})
    with spark_errors(name):
        there = _sent(rows.sparkSession, order)
        there = F.broadcast(there) if total <= _SENT_TO_ALL else there
        joined = rows.join(there, column(NUMBER) == column(_BEFORE))
        return joined.select(*names, column(_PLACE).alias(NUMBER))
