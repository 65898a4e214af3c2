"""From a source to a Spark data frame: files that the cluster reads, or a frame of a session that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.engine.spark.session import session, spark_errors
from shoal.errors import InputError, Message, quoted
from shoal.storage import Table, check_names
from shoal.storage.databases import is_database
from shoal.storage.reading.files import Options, check_not_unknown_database, find_files, is_address, table_extensions

# tuples that the driver takes, where spark.shoal.driver.tuples says nothing else: about 100 bytes each
DRIVER_TUPLES = 50_000_000
# files whose order is kept; of more of them the plan would be long
MOST_IN_ORDER = 64
# types whose values are equal exactly where Spark says so
EXACT = ("byte", "short", "integer", "long", "date", "boolean", "string")
_TEXT = {".csv": ",", ".tsv": "\t", ".txt": ","}


@dataclass(frozen=True)
class SparkSource:
    """A frame of Spark, how errors call it, and whether its columns are texts whose types are to be found."""

    frame: Any
    name: str
    from_text_file: bool = False
    # the files, where it was opened by their names: whole paths, or addresses
    files: tuple[str, ...] | None = None

    @property
    def names(self) -> list[str]:
        return list(self.frame.columns)

    def are_exact(self, names: Sequence[str]) -> bool:
        """Whether Spark and shoal tell the same values of some columns apart."""
        return not self.from_text_file and all(self.kind(name) in EXACT for name in names)

    def kind(self, name: str) -> str:
        """The type of a column, as Spark calls it."""
        return str(self.frame.schema[name].dataType.typeName())

    @property
    def spark(self) -> Any:
        return self.frame.sparkSession

    @property
    def driver_tuples(self) -> int:
        """How many tuples the driver takes."""
        return int(self.spark.conf.get("spark.shoal.driver.tuples", str(DRIVER_TUPLES)))


def open_source(source: Any, options: Options | None) -> SparkSource:
    """The frame behind a source."""
    options = options or Options()
    if isinstance(source, Table):  # read already: its rows are where they were
        source = getattr(source.native, "source", source.native)
    if isinstance(source, SparkSource):
        return source
    _check_not_a_database(source)
    if isinstance(source, (str, Path)) or (isinstance(source, (list, tuple)) and source):
        several = [source] if isinstance(source, (str, Path)) else source
        return _open_files([_address(path) for path in several], options)
    if not hasattr(source, "sparkSession"):
        raise InputError(
            f"A {type(source).__name__} is not on a Spark cluster.", "Give paths or a Spark data frame to this engine."
        )
    check_names(source.columns, "The frame")
    return SparkSource(source, "The frame")


def _check_not_a_database(source: Any) -> None:
    """Refuse a table of a database before Java starts: Spark would take its address for one of a store.

    >>> _check_not_a_database("sqlite:///visits.db?table=visits")
    Traceback (most recent call last):
    shoal.errors.InputError: The engine spark reads files and data frames, not tables of databases. ...
    """
    for one in source if isinstance(source, (list, tuple)) else [source]:
        if is_database(one):
            raise InputError(
                "The engine spark reads files and data frames, not tables of databases.",
                Message("Read the table without {engine} spark, or write it to Parquet files first and name those."),
            )
        if isinstance(one, (str, Path)):
            check_not_unknown_database(one)


def _address(path: str | Path) -> str:
    if isinstance(path, Path) and is_address(path):
        raise InputError(f"{path} is an address that lost a slash: a Path is for files.", "Give it as a string.")
    return str(path)


def _open_files(paths: Sequence[str], options: Options) -> SparkSource:
    found = [path for given in paths for path in _here(given)]
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more files"
    form = _format(found)
    if form == ".parquet":
        _check_schemas(found)
    # Java may have been started in another folder than the one that paths start from
    files = tuple(path if is_address(path) else str(Path(path).absolute()) for path in found)
    spark = session(options.master, options.memory)
    with spark_errors(name):

        def read(*files: str) -> Any:
            return spark.read.parquet(*files) if form == ".parquet" else _read_texts(spark, files, form, options)

        frame = _in_order([read(file) for file in files]) if len(files) <= MOST_IN_ORDER else read(*files)
        check_names(frame.columns, name)
    return SparkSource(frame, name, form != ".parquet", files)


def _read_texts(spark: Any, files: Sequence[str], form: str, options: Options) -> Any:
    return spark.read.csv(
        list(files), sep=options.delimiter or _TEXT[form], header=True, inferSchema=False,
        encoding=options.encoding or "UTF-8", quote='"', escape='"', multiLine=False, enforceSchema=False,
        emptyValue="", nullValue=None,
    )  # fmt: skip


def _in_order(frames: Sequence[Any]) -> Any:
    """One file after the other, in the order of their names; Spark would take the largest first."""
    whole, *others = frames
    for other in others:
        whole = whole.unionByName(other)
    return whole


def _here(path: str) -> list[str]:
    """The files behind a path, where this machine sees them; otherwise the path, which the cluster may see."""
    if is_address(path):
        return [path]
    return [str(found.path) for found in find_files(path.removeprefix("file:").replace("///", "/", 1))]


def _format(paths: Sequence[str]) -> str:
    ends = {_ending(path) for path in paths}
    if len(ends) == 1 and (form := next(iter(ends))) in (".parquet", *_TEXT):
        return form
    raise InputError(
        f"Spark is given files of the formats {quoted(sorted(ends))} here.", "Give Parquet files, or CSV files alone."
    )


def _ending(path: str) -> str:
    suffixes = [end.lower() for end in Path(path).suffixes]
    known = [end for end in suffixes if end in (".parquet", *_TEXT)]
    if known:
        return known[-1]
    if not suffixes or (is_address(path) and suffixes[-1] not in table_extensions()):
        return ".parquet"
    return suffixes[-1]


def _check_schemas(paths: Sequence[str]) -> None:
    """Files that this machine sees have the same columns, of the same types."""
    first: dict[str, Any] | None = None
    for path in (path for path in paths if not is_address(path) and Path(path).is_file()):
        try:
            schema = dict(pl.read_parquet_schema(path))
        except (pl.exceptions.PolarsError, OSError):
            raise InputError(f"{path} is damaged, or not a Parquet file.", "Write it again, or leave it out.") from None
        if first is None:
            first, known = schema, path
        for name in {**first, **schema}:
            if first.get(name) != schema.get(name):
                what = (
                    "has" if name in schema and name not in first else "lacks" if name not in schema else "differs in"
                )
                raise InputError(
                    f"{path} {what} column '{name}', unlike {known}.",
                    "Write all files with the same columns and types, or read them one by one.",
                )


# Rows as Arrow, batch by batch: what Python beside an executor is given, and the schema of what it gives back.


def one_changed(part: Any, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Any:
    """The arrow table that `change` makes of an arrow table, with the types that Spark has for texts and bytes."""
    import pyarrow as pa

    made = change(pl.DataFrame(pl.from_arrow(part))).to_arrow(compat_level=pl.CompatLevel.oldest())
    small = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return made.cast(pa.schema([field.with_type(small.get(field.type, field.type)) for field in made.schema]))


def of_columns(work: Callable[[list[pl.Series]], pl.Series], columns: Sequence[Any]) -> Any:
    """A column of whole numbers that `work` makes of others, in Python beside the executors."""
    import pyarrow as pa
    from pyspark.sql import functions

    def made(*arrays: Any) -> Any:
        return work([pl.Series(pl.from_arrow(array)) for array in arrays]).cast(pl.Int64).to_arrow()

    made.__annotations__ = {"arrays": pa.Array, "return": pa.Array}
    F: Any = functions  # mypy sees no `arrow_udf` in Spark's own types
    return F.arrow_udf(made, "long")(*columns)


def spark_schema(schema: Any) -> Any:
    """Columns and types as Spark names them."""
    if not isinstance(schema, Mapping):
        return schema
    from pyspark.sql.pandas.types import from_arrow_schema

    arrow = pl.DataFrame(schema=schema).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    return from_arrow_schema(arrow)
