"""Released means and modes against the values of their classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.judgement.checks import Check
from shoal.ranges.columns import decimals_of
from shoal.ranges.exponents import exponent_of, in_unit
from shoal.ranges.forms import ColumnForm
from shoal.table import Array, Column
from shoal.table.classes import class_of_each_row, pack


def is_mean(
    title: str,
    shown: Column,
    original: Column,
    quasi_identifiers: Sequence[Column],
    form: ColumnForm,
    weights: Array,
    records: Array | None = None,
) -> Check:
    """Whether each number is the mean of the original values of its class, rounded to the decimals that those have;
    each category a most frequent one."""
    if form.decimals is not None and form.decimals != decimals_of(original):
        return Check(title, False, "its means are not rounded to the decimals of the original")
    classes, count = class_of_each_row(pack(list(quasi_identifiers)))
    known = ~original.is_null()
    if not (original.dtype.is_numeric() or original.dtype.is_temporal()):
        return _is_mode(title, shown, original, classes, weights, records)
    values = texts_free_numbers(original)
    exponent = max(exponent_of(values[known]), 0)
    values, told = in_unit(values, exponent), in_unit(texts_free_numbers(shown), exponent)
    means = np.bincount(classes[known], ((values - values[known][:1].sum()) * weights)[known], count)
    sizes = np.bincount(classes[known], weights[known], minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = means / sizes + values[known][:1].sum()
    span = float(np.ptp(values[known])) if known.any() else 0.0
    places = original.declared is not None and original.declared.has_order
    near = 1.0 if original.dtype.is_temporal() else max(span, float(np.abs(values[known]).max(initial=0))) * 1e-9
    rounded = 0.5 if places else 0.0 if form.decimals is None else 0.5 * 10.0**-form.decimals
    near += float(in_unit(np.asarray(rounded), exponent))
    wrong = known & ~(np.abs(told - means[classes]) <= near)
    wrong |= shown.is_null() & known
    many = int(wrong.sum() if records is None else records[wrong].sum())
    return Check(
        title, not many, f"{many:,} means are not those of their class" if many else "every mean is that of its class"
    )


def texts_free_numbers(column: Column) -> Array:
    """The values row by row as floats; null and text as NaN."""
    values = column.values
    if isinstance(values.dtype, pl.Datetime):
        values = values.cast(pl.Datetime("us"))
    numbers = values.to_physical().cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    return np.asarray(np.append(numbers, np.nan)[column.codes])


def _is_mode(
    title: str, shown: Column, original: Column, classes: Array, weights: Array, records: Array | None
) -> Check:
    frame = pl.DataFrame({"class": classes, "was": original.decode().cast(pl.String), "weight": weights}).drop_nulls()
    counts = frame.group_by("class", "was").agg(pl.col("weight").sum())
    # sums of weights differ in their last digits with the order of the rows
    heaviest = pl.col("weight").max().over("class") * (1 - 1e-9)
    most = counts.filter(pl.col("weight") >= heaviest)
    records = np.ones(len(classes), np.int64) if records is None else records
    told = pl.DataFrame({"class": classes, "was": shown.decode().cast(pl.String), "records": records}).drop_nulls()
    wrong = int(told.join(most, on=["class", "was"], how="anti")["records"].sum())
    found = f"{wrong:,} categories are not the most frequent of their class" if wrong else "most frequent of its class"
    return Check(title, not wrong, found)
