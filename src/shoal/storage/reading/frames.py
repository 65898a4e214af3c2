"""The border to data frame libraries: what comes in as pandas goes out as pandas."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.storage import check_names

ROWS_PER_BATCH = 1 << 18


HALF_A_SIGN = "A value holds half of a sign (a lone surrogate), which is not text."
CLEAN_IT = "Decode the text again, or remove it with .encode('utf-8', 'ignore').decode()."


def is_frame(source: Any) -> bool:
    """Whether `source` is a data frame of a library that narwhals knows."""
    if hasattr(source, "iloc") or _is_arrow(source):
        return True  # before narwhals, which refuses repeated names with words of its own
    if isinstance(source, (pl.DataFrame, pl.LazyFrame)):
        return True
    import narwhals as nw

    return isinstance(nw.from_native(source, pass_through=True), (nw.DataFrame, nw.LazyFrame))


def _is_arrow(frame: Any) -> bool:
    """A pyarrow table or batch."""
    return type(frame).__module__.startswith("pyarrow") and hasattr(frame, "schema")


def column_names(frame: Any) -> list[str]:
    """The names of a frame's columns; pandas allows them to be numbers or to repeat, we do not."""
    if isinstance(frame, pl.LazyFrame):
        return frame.collect_schema().names()
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):
        raise InputError("A series is a column, not a table.", "Give a frame: series.to_frame().")
    names = [str(name) for name in (frame.schema.names if _is_arrow(frame) else frame.columns)]
    check_names(names, "The frame")
    return names


def batches(frame: Any, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The frame's columns as polars frames of limited length, without copying where the library allows it."""
    if isinstance(frame, pl.LazyFrame):
        yield from frame.select(columns).collect_batches(chunk_size=ROWS_PER_BATCH)
        return
    # by name: polars would rename a series without one
    whole = pl.DataFrame({name: _to_polars(frame, name) for name in columns})
    yield from whole.iter_slices(ROWS_PER_BATCH)


def _to_polars(frame: Any, name: str) -> pl.Series:
    if isinstance(frame, pl.DataFrame):
        return frame[name]
    position = column_names(frame).index(name)
    try:
        return _one_column(frame, position).alias(name)
    except UnicodeEncodeError:
        raise InputError(HALF_A_SIGN, CLEAN_IT) from None
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        # the library's own message may show values
        raise InputError(
            f"Column '{name}' of the frame mixes types that cannot stand in one column.",
            "Give it one type first, for example with .astype(str).",
        ) from None
    except ImportError:
        raise InputError("A pandas frame needs pyarrow beside it.", "pip install 'shoal[pandas]'") from None


def _one_column(frame: Any, position: int) -> pl.Series:
    if hasattr(frame, "iloc"):  # pandas and its kin: by position, whatever the labels are
        return pl.Series(pl.from_pandas(frame.iloc[:, position].reset_index(drop=True)))
    if _is_arrow(frame):
        return pl.Series(frame.column(position))
    import narwhals as nw

    return pl.Series(nw.from_native(frame, eager_only=True)[:, position].to_arrow())


def to_native(frame: pl.DataFrame, like: Any, changed: Collection[str] = ()) -> Any:
    """A polars frame as the kind of frame that `like` is; columns that did not change have their types there."""
    if like is None or isinstance(like, (pl.DataFrame, pl.LazyFrame)):
        return frame
    return _to_pandas(frame, like, changed) if hasattr(like, "iloc") else _to_arrow(frame, like, changed)


def _to_pandas(frame: pl.DataFrame, like: Any, changed: Collection[str]) -> Any:
    out = frame.to_pandas()
    labels = {str(label): label for label in like.columns}
    for name in out.columns:
        if name in labels and name not in changed and out[name].dtype != like[labels[name]].dtype:
            out[name] = _typed_as(out[name], like[labels[name]])
    out.columns = [labels.get(name, name) for name in out.columns]
    if len(out) == len(like):
        out.index = like.index
    return out


def _typed_as(series: Any, like: Any) -> Any:
    """A column in the type of another; of objects also with what stands there for a missing value."""
    typed = series.astype(like.dtype)
    if like.dtype != object:
        return typed
    missing = like[like.isna()]
    return typed.where(series.notna(), missing.iloc[0] if len(missing) else None)


def _to_arrow(frame: pl.DataFrame, like: Any, changed: Collection[str]) -> Any:
    import pyarrow

    out = frame.to_arrow()
    known = set(like.schema.names) - set(changed)
    fields = [like.schema.field(field.name) if field.name in known else field for field in out.schema]
    return out.cast(pyarrow.schema(fields))
