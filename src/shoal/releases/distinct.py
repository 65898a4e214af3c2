"""A released column beside its original, each distinct pair once with its records: how rows on disk are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import polars as pl

from shoal.engine.base import Pairs, PairsAsked
from shoal.policy.judgement.shown_classes import Check
from shoal.ranges.boxed import exponent_of, in_unit
from shoal.ranges.columns import decimals_of
from shoal.ranges.forms import ColumnForm, as_type
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, pack
from shoal.storage.external import count_on_disk, in_order, only_rows, shuffled_on_disk
from shoal.storage.spill import Spill, Store
from shoal.storage.table import blocks_of
from shoal.storage.texts import few_texts
from shoal.storage.tuples import as_tuples, counted_tuples, folder_of


def is_on_disk(table: Table) -> bool:
    """Whether rows of a table are on disk."""
    return table.on_disk()


def star_mask(column: Column) -> Array:
    """For each code of a column, whether it is written as `*`."""
    stars = np.zeros(len(column.values) + 1, bool)
    if (few := few_texts(column.values)) is not None:
        stars[:-1] = [text == STAR for text in few]
    elif column.values.dtype == pl.String:
        stars[:-1] = (column.values == STAR).fill_null(False).to_numpy()
    return stars


def starred_rows(columns: Sequence[Column], store: Store, masks: Sequence[Array] | None = None) -> Array:
    """Which rows are `*` in every one of some columns; `masks` say which codes that are."""
    masks = masks or [star_mask(column) for column in columns]
    rows = len(columns[0].codes)
    found = store.array("starred", np.bool_, rows)
    for block in blocks_of(rows):
        stars = [mask[column.codes[block]] for mask, column in zip(masks, columns, strict=True)]
        found[block] = np.logical_and.reduce(stars)
    return found


def distinct_suppressed(
    table: Table, names: Sequence[str], raw: Collection[str], null_is_star: bool, about: Sequence[str]
) -> tuple[Table, Array]:
    """The distinct rows of some columns with their records, and whether they are `*` in every quasi-identifier."""
    columns, masks = table.select(names), []
    for column in columns:
        mask = np.zeros(len(column.values) + 1, bool) if column.name in raw else star_mask(column)
        mask[-1] = null_is_star
        masks.append(mask)
    with Spill(table.memory, folder_of(columns[0].codes)) as spill:
        spill.start(table.rows)
        return with_flag(table, starred_rows(columns, spill, masks), about)


def with_flag(table: Table, flag: Array, about: Sequence[str]) -> tuple[Table, Array]:
    """The distinct rows of some columns and of a mask with their records, and the mask of them."""
    name = "suppressed rows"
    values = pl.Series(name, [False, True])
    flags = Column(name, flag.view(np.uint8), values, 0, pl.Boolean())
    tuples = counted_tuples(replace(table, columns={**table.columns, name: flags}), [name, *about])
    return tuples, np.asarray(tuples[name].codes).astype(bool)


def pairs_on_disk(
    table: Table, original: Table, spill: Spill, asked: Sequence[PairsAsked], starred: Sequence[str]
) -> Iterator[Pairs]:
    """What is shown and what was, each distinct pair once; the original is in the order of the release.

    `starred` names the columns that are `*` in suppressed rows.
    """
    suppressed = starred_rows(table.select(starred), spill) if starred else None
    for one in asked:
        sides = [[_Keyed(column) for column in some] for some in (table.select(one.shown), original.select(one.was))]
        keys = {str(number): keyed.key for number, keyed in enumerate(chain(*sides))}
        if suppressed is not None:
            keys["suppressed"] = Coded(suppressed, 2)
        with Spill(table.memory, folder_of(original[one.was[0]].codes)) as counting:
            counting.start(original.rows * (10 + 2 * len(keys)))
            counted = count_on_disk(keys, None, counting)
            codes = iter(counted.tuples.values())
            shown, was = ({keyed.name: keyed.column(next(codes).codes) for keyed in some} for some in sides)
            lost = np.zeros(len(counted.counts), bool)
            if suppressed is not None:
                lost = np.asarray(next(codes).codes).astype(bool)
        yield Pairs(shown, was, lost, np.asarray(counted.counts))


class _Keyed:
    """A column by its codes, or by those of its texts where cells say more than their values."""

    def __init__(self, column: Column) -> None:
        self._column, self.name = column, column.name
        codes, texts = (column.codes, None) if column.written is None else (column.written[0], column.written[1])
        self.key = Coded(codes, len(column.values) + 1 if texts is None else len(texts) + 1)

    def column(self, keys: Array) -> Column:
        """The column of some tuples."""
        column, keys = self._column, np.asarray(keys)
        if column.written is None:
            return as_tuples(column, keys)
        values = np.zeros(self.key.cardinality, np.int64)
        for block in blocks_of(len(column.codes)):
            values[column.written[0][block]] = column.codes[block]
        nulls = int(np.count_nonzero(values[keys] == len(column.values)))
        return replace(column, codes=values[keys], nulls=nulls, written=(keys, column.written[1]))


def in_release_order(
    columns: Sequence[Column], rows: int, seed: int | None, removed: Sequence[int] | Array, spill: Spill
) -> list[Column]:
    """Columns of the original with the rows of its release, in their order."""
    found = list(columns)
    if len(removed):
        kept = np.ones(rows, bool)
        kept[np.asarray(removed)] = False
        found = [only_rows(column, kept, spill) for column in found]
    if seed is None:
        return found
    order = shuffled_on_disk(rows - len(removed), seed, spill)
    found = [in_order(column, order) for column in found]
    order.remove()
    return found


# Released means and modes against the values of their classes.


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
    if original.dtype.is_temporal() and shown.values.dtype == pl.String:  # of JSON lines
        shown = replace(shown, values=as_type(shown.values, form.type))
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
