"""The table as it is written: untouched cells byte by byte, suppressed rows so that they give nothing away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.ranges.parsing import STAR
from shoal.releases.original import Labels, labels_of
from shoal.releases.releasable import Releasable
from shoal.releases.suppressed import blank_sensitive, gives_away, sensitive_columns
from shoal.table import Array, Column, Table
from shoal.table.encode import encode
from shoal.writing import is_text_file


@dataclass(frozen=True)
class Treated:
    """What is written: cells that were emptied by column, and rows of the input that are not released."""

    frame: pl.DataFrame
    blanked: dict[str, int] = field(default_factory=dict)
    removed: Sequence[int] = ()
    # the records of those rows
    removed_records: int = 0


def treatments(result: Releasable, path: Path) -> list[Treated]:
    """What may be written, the best first: where suppressed rows give something away, their sensitive cells are
    emptied, or else these rows are removed."""
    frame = frame_of(result, path)
    suppressed = _suppressed(result, frame)
    if suppressed is None:
        return [Treated(frame)]
    policy = result.policy
    counted = (policy.person, policy.count, policy.weight)
    needed = [*sensitive_columns(policy), *(name for name in counted if name is not None)]
    needed = [name for name in dict.fromkeys(needed) if name in frame.columns]
    changed = _changed(result)
    columns = {name: _encoded(result, frame[name], name in changed) for name in needed}
    records = result.table.records
    if not gives_away(Table(columns, len(frame), records=records), policy, suppressed):
        return [Treated(frame)]
    found = [Treated(*blank_sensitive(frame, sensitive_columns(policy), suppressed, records))]
    if not suppressed.all():
        lost = result.table.records_in(suppressed)
        found.append(Treated(frame.filter(~suppressed), {}, np.flatnonzero(suppressed).tolist(), lost))
    return found


def frame_of(result: Releasable, path: Path) -> pl.DataFrame:
    """What is written: untouched cells byte by byte, means rounded, no categories that no cell holds."""
    changed = _changed(result)
    frame = result.polars
    decimals = {entry.name: entry.form.decimals for entry in result.manifest_columns()}
    series = []
    for column in frame.get_columns():
        own = result.table.columns.get(column.name)
        untouched = own is not None and own.written is not None and column.name not in changed
        if untouched and (own.written[1].dtype != pl.String or is_text_file(path)):  # type: ignore[union-attr,index]
            column = own.as_written()  # type: ignore[union-attr]
        if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
            column = column.cast(pl.String)
        digits = decimals.get(column.name)
        if digits is not None and column.dtype.is_float():  # a mean, with no more decimals than were measured
            column = column.round(digits) if digits else column.round().cast(pl.Int64)
        series.append(column)
    return pl.DataFrame(series)


def _changed(result: Releasable) -> set[str]:
    """The columns that do not leave as they came."""
    changed = {entry.name for entry in result.manifest_columns() if entry.form.kind != "as-it-was"}
    return changed | set(result.policy.quasi_identifiers)


def _suppressed(result: Releasable, frame: pl.DataFrame) -> Array | None:
    """Which rows are `*` in every quasi-identifier; None where none is."""
    entries = {name: entry for entry in result.manifest_columns() for name in entry.released_as}
    names = result.quasi_identifiers
    if not names or not all(entries[name].form.generalizes and frame[name].dtype == pl.String for name in names):
        return None
    found = frame.select(pl.all_horizontal(pl.col(name).eq_missing(STAR) for name in names)).to_series()
    return found.to_numpy() if found.any() else None


def _encoded(result: Releasable, series: pl.Series, changed: bool) -> Column:
    """A column that is released, in codes: those of the input or of the method where there are some."""
    if not changed and series.name in result.table.columns:
        return result.table[series.name]
    shown = getattr(result, "shown", None)
    return shown[series.name] if shown is not None and series.name in shown.columns else encode(series)


def labels_given(result: Releasable) -> Labels:
    """What values became, for columns whose labels only their map knows."""
    names = [entry.name for entry in result.manifest_columns() if entry.form.kind == "label"]
    shown = {name: _encoded(result, result.polars[name], True) for name in names}
    return labels_of(shown, {name: result.table[name] for name in names})
