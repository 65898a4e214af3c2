"""The labels that leave with a release: those of columns that are released, and of codes that their cells still hold.

A dictionary of labels that names a code which no released cell holds would tell that somebody had it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.policy.manifest import ColumnEntry
from shoal.ranges.parsing import set_members, sets_among
from shoal.storage import Table
from shoal.storage.formats import ColumnLabels, Labels, format_of
from shoal.storage.formats.labels import text_of

# cells are codes of the original, ranges of them, or sets of them
_KEEP_CODES = ("as-it-was", "range", "columns", "set", "node", "label", "suppressed-cells", "perturbed")
_NUMBER = r"^(0|-?[1-9][0-9]{0,14})$"
_ENDS = {"_low": "lowest", "_high": "highest"}


def codes_as_numbers(frame: pl.DataFrame, table: Table, entries: Sequence[ColumnEntry], path: Path) -> pl.DataFrame:
    """A frame in which codes that stayed codes are numbers, where a format labels codes: they were texts for the sake
    of ranges and stars that do not occur."""
    form = format_of(path)
    if form is None or not form.coded:
        return frame
    origins = {name: table.columns[entry.name] for entry in entries for name in entry.released_as}
    whole = [
        name
        for name, origin in origins.items()
        if origin.dtype.is_integer() and origin.declared is None and _are_numbers(frame[name])
    ]
    return frame.with_columns(pl.col(whole).cast(pl.Int64))


def _are_numbers(series: pl.Series) -> bool:
    return series.dtype == pl.String and bool(series.drop_nulls().str.contains(_NUMBER).all())


def labels_written(table: Table, entries: Sequence[ColumnEntry], frame: pl.DataFrame) -> Labels:
    """The labels of a frame's columns, by what the table that was read says of those that they come from."""
    found = {}
    for entry in entries:
        own = table.labels.get(entry.name)
        if own is None:
            continue
        for name in entry.released_as:
            found[name] = _of_column(own, entry, name, frame[name])
    return found


def _of_column(own: ColumnLabels, entry: ColumnEntry, name: str, written: pl.Series) -> ColumnLabels:
    end = _ENDS.get(name.removeprefix(entry.name)) if entry.form.kind == "columns" else None
    label = f"{own.label} ({end})" if own.label and end else own.label
    if entry.form.kind not in _KEEP_CODES:
        return ColumnLabels(label)
    kept = replace(own.kept(written), label=label)
    if entry.form.kind != "set" or written.dtype != pl.String or not own.values:
        return kept
    return replace(kept, values={**kept.values, **_of_sets(own, written)})


def _of_sets(own: ColumnLabels, written: pl.Series) -> dict[float | str, str]:
    """Labels of sets of codes: those of their members, all of which the cell itself names."""
    known = {text_of(code): label for code, label in own.values.items()}
    distinct = written.drop_nulls().unique()
    sets = distinct.filter(pl.Series(sets_among(distinct)))
    return {text: " / ".join(known.get(member, member) for member in set_members(text)) for text in sets}
