"""The order of rows on a cluster: their numbers in the source, and the secret order of a release.

The order of a release goes by a hash of each row's number (`shoal.storage.order`), computed beside the rows: what one
engine has put in order, the other finds again from the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import polars as pl

from shoal.engine.spark.frames import MOST_IN_ORDER, SparkSource, of_columns
from shoal.engine.spark.keys import PREFIX, column
from shoal.engine.spark.session import spark_errors
from shoal.storage import Array
from shoal.storage.order import key_of, siphash

NUMBER = f"{PREFIX}number"
_FILE, _BEFORE, _MASK, _BLOCK, _HASH = (f"{PREFIX}{name}" for name in ("file", "before", "mask", "block", "hash"))
_SIGN = np.uint64(1 << 63)
# of monotonically_increasing_id, whose lower bits number the rows of a partition
_IN_PARTITION = 33
# 64 rows are one word, in which a bit says whether a row is left out
_WORD = 6
# rows that one task puts in order, about, and at least
_MOST, _LEAST = 1 << 20, 1 << 16


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
        if len(source.files) == 1 and Path(source.files[0]).is_file():
            return read.select(*names, F.col("_metadata.row_index").alias(NUMBER))
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
    parallel = int(rows.sparkSession.sparkContext.defaultParallelism)
    parts = min(-(-total // _LEAST), max(parallel, -(-total // _MOST))) or 1
    with spark_errors("the release"):
        ordered = rows.withColumn(_HASH, _hashed(seed))
        spread = ordered.repartitionById(parts, _range_of_hash(parts))
        return spread.sortWithinPartitions(_HASH, NUMBER).drop(_HASH, NUMBER)


def _hashed(seed: int) -> Any:
    """The keyed hash of each row's number, by which a release is ordered; as signed words in the same order."""

    def hashes(numbers: list[pl.Series]) -> pl.Series:
        words = numbers[0].to_numpy().astype(np.uint64)
        return pl.Series((siphash(words, key_of(seed)) ^ _SIGN).view(np.int64))

    return of_columns(hashes, [column(NUMBER)])


def _range_of_hash(parts: int) -> Any:
    """In which of so many ranges a hash lies."""
    from pyspark.sql import functions as F

    return F.expr(f"cast(shiftright((shiftright({_HASH}, 32) + 2147483648L) * {parts}L, 32) as int)")


def released_numbers(rows: Any, seed: int | None, total: int, name: str) -> Any:
    """Numbered rows with the number that each has in the release; the driver sees how many are in each range."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if seed is None:
        return rows
    names = [column(one) for one in rows.columns if one != NUMBER]
    parts = max(1, -(-total // _LEAST))
    with spark_errors(name):
        numbers = rows.select(NUMBER).withColumn(_HASH, _hashed(seed)).withColumn(_BLOCK, _range_of_hash(parts))
        found = numbers.groupBy(_BLOCK).agg(F.count(F.lit(1)).alias(_BEFORE)).toArrow()
        counts = pl.DataFrame({one: pl.Series(found.column(one)) for one in (_BLOCK, _BEFORE)}).sort(_BLOCK)
        before = counts.select(pl.col(_BLOCK).alias(_FILE), pl.col(_BEFORE).cum_sum() - pl.col(_BEFORE))
        placed = rows.withColumn(_HASH, _hashed(seed)).withColumn(_BLOCK, _range_of_hash(parts))
        placed = placed.join(F.broadcast(_sent(rows.sparkSession, before)), column(_BLOCK) == column(_FILE))
        order = Window.partitionBy(_BLOCK).orderBy(_HASH, NUMBER)
        return placed.select(*names, (F.row_number().over(order) - 1 + column(_BEFORE)).alias(NUMBER))
