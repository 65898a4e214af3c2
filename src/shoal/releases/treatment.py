"""The table as it is written: untouched cells byte by byte, suppressed rows so that they give nothing away."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from shoal.models import Evidence, HighestRisk, KMatching
from shoal.models.base import PeopleEstimate
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.judgement.evidence import people_of_rows, trees_of
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import ColumnEntry
from shoal.ranges.parsing import STAR, as_texts
from shoal.releases.original import Labels, labels_of
from shoal.storage import Array, Column, Table
from shoal.storage.encode import encode
from shoal.storage.writing import is_text_file

# Rows that are suppressed in every quasi-identifier: too few of them, or alike in what is sensitive, give it away.


def suppressed_rows(table: Table, names: Sequence[str], raw: Collection[str] = (), wildcard: bool = False) -> Array:
    """Which rows are `*` in every quasi-identifier; in `raw` columns `*` is a text.

    >>> from shoal.storage.reading import read
    >>> suppressed_rows(read({"a": ["*", "1"], "b": ["*", "*"]}), ["a", "b"]).tolist()
    [True, False]
    """
    if not names:
        return np.zeros(table.rows, bool)
    columns = [as_texts(column, column.name in raw, wildcard) for column in table.select(names)]
    return np.asarray(np.logical_and.reduce([column.star for column in columns]))


def gives_away(table: Table, policy: Policy, suppressed: Array, drawn: int | None = None) -> bool:
    """Whether suppressed rows are fewer than k, or fail together a model about a sensitive column; `drawn`: the rows of
    the sample."""
    count = table.records_in(suppressed)
    if not count or not policy.models:
        return False
    members = count
    if policy.person is not None and policy.person in table.columns:
        members = len(np.unique(table[policy.person].codes[suppressed]))
    elif policy.count is not None:
        counts = table[policy.count].decode().cast(pl.Int64, strict=False).fill_null(0)  # rows of none are there too
        members = int(counts.filter(pl.Series(suppressed)).sum())
    estimate = _people(table, policy, suppressed, drawn)
    over = [model for model in policy.models if isinstance(model, HighestRisk) and estimate is not None]
    others = [model for model in policy.models if model not in over]
    asked = [model.k if isinstance(model, KMatching) else model.least_members or 1 for model in others]
    together = Evidence(np.array([members]), estimate=estimate, risk_over=policy.risk_over, partial=True)
    if members < max(asked, default=1) or not all(model.judge(together).holds for model in over):
        return True
    about = [model for model in policy.models if model.needs and not (model.needs_population or model.needs_keys)]
    needed = {name: table[name] for model in about for name in model.needs if name in table.columns}
    if not needed:
        return False
    trees = trees_of(policy, list(needed.values()))
    evidence = evidence_of_rows(np.where(suppressed, 0, -1), needed, weights=table.records, trees=trees)
    return not all(model.judge(evidence).holds for model in about)


def _people(table: Table, policy: Policy, suppressed: Array, drawn: int | None) -> PeopleEstimate | None:
    """The people that suppressed rows stand for together, where risk is about the population; of persons and counts
    the members themselves are asked, the safe side."""
    if policy.risk_over == "sample" or policy.person is not None or policy.count is not None:
        return None
    found = people_of_rows(table, policy, drawn or table.total)
    if found is None:
        return None
    draws = None if found.draws is None else found.draws[suppressed].sum(keepdims=True)
    return PeopleEstimate(found.people[suppressed].sum(keepdims=True), found.by, found.population, draws=draws)


def sensitive_columns(policy: Policy) -> list[str]:
    """The columns whose values must not be given away."""
    quasi = policy.quasi_identifiers
    return [name for name in dict.fromkeys([*policy.sensitive, *policy.needed]) if name not in quasi]


def blank_sensitive(
    frame: pl.DataFrame, names: Sequence[str], suppressed: Array, records: Array | None = None
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Sensitive cells of suppressed rows emptied; how many were, column by column, of the `records` of each row."""
    rows = pl.Series(suppressed)
    blanked = {}
    for name in names:
        if name in frame.columns:
            cells = rows & frame[name].is_not_null()
            nothing = pl.Series([None], dtype=frame.schema[name]).new_from_index(0, len(frame))
            frame = frame.with_columns(frame[name].zip_with(~rows, nothing).alias(name))
            blanked[name] = int(cells.sum() if records is None else records[cells.to_numpy()].sum())
    return frame, {name: count for name, count in blanked.items() if count}


def suppressed_check(
    table: Table, policy: Policy, suppressed: Array, declared: bool, drawn: int | None = None
) -> Check | None:
    """Whether suppressed rows keep what is sensitive to themselves; without a manifest nothing says that `*` is no
    text of the original, and then too few such rows are a class that is too small."""
    count = table.records_in(suppressed)
    if not count or not policy.models:
        return None
    names = [name for name in sensitive_columns(policy) if name in table.columns]
    left = [name for name in names if not bool(table[name].is_null()[suppressed].all())]
    if (left or not declared) and gives_away(table, policy, suppressed, drawn):
        kept = f"{', '.join(left)} left in" if left else "nothing says that * is not a text of the original"
        return Check("suppressed rows", False, f"{count:,} rows are too few or too alike, with {kept}")
    return Check("suppressed rows", True, f"{count:,} rows are suppressed in every quasi-identifier")


# What every changed table says of itself, so that it can be released.


class Releasable(Protocol):
    """A changed table that may leave: it says what its manifest tells and what is checked in the written file."""

    @property
    def table(self) -> Table: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def technique(self) -> str:
        """By which name the manifest knows it."""
        ...

    @property
    def rule(self) -> str | None:
        """The rule that it keeps instead of a privacy model, by its source."""
        ...

    @property
    def personal(self) -> bool:
        """Whether it stays among those who hold the original: then its columns need no decision."""
        ...

    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def quasi_identifiers(self) -> list[str]: ...
    @property
    def plan(self) -> Any: ...
    @property
    def seconds(self) -> float: ...
    @property
    def polars(self) -> pl.DataFrame: ...
    @property
    def private(self) -> dict[str, Any]: ...
    def manifest_columns(self) -> list[ColumnEntry]: ...
    def manifest_findings(self) -> dict[str, Any]: ...
    def manifest_sections(self, written: Table) -> dict[str, Any]: ...
    def checks(self, written: Table) -> list[Check]: ...


@dataclass(frozen=True)
class TreatedRows:
    """What is written: cells that were emptied by column, and rows of the input that are not released."""

    frame: pl.DataFrame
    blanked: dict[str, int] = field(default_factory=dict)
    removed: Sequence[int] = ()
    # the records of those rows
    removed_records: int = 0


def treatments(result: Releasable, path: Path) -> list[TreatedRows]:
    """What may be written, the best first: where suppressed rows give something away, their sensitive cells are
    emptied, or else these rows are removed."""
    if getattr(result, "remote", None) is not None:  # made so that nothing need be emptied: k is all that is asked for
        return [TreatedRows(pl.DataFrame())]
    frame = frame_of(result, path)
    out = getattr(result, "rows_left_out", None)
    if out is not None:
        return [TreatedRows(frame.filter(~out), {}, np.flatnonzero(out).tolist(), int(out.sum()))]
    suppressed = _suppressed(result, frame)
    if suppressed is None:
        return [TreatedRows(frame)]
    policy = result.policy
    counted = (policy.person, policy.count, policy.weight)
    needed = [*sensitive_columns(policy), *(name for name in counted if name is not None)]
    needed = [name for name in dict.fromkeys(needed) if name in frame.columns]
    changed = _changed(result)
    columns = {name: _encoded(result, frame[name], name in changed) for name in needed}
    records = result.table.records
    if not gives_away(Table(columns, len(frame), records=records), policy, suppressed):
        return [TreatedRows(frame)]
    blank = TreatedRows(*blank_sensitive(frame, sensitive_columns(policy), suppressed, records))
    if suppressed.all():
        return [blank]
    lost = result.table.records_in(suppressed)
    without = TreatedRows(frame.filter(~suppressed), {}, np.flatnonzero(suppressed).tolist(), lost)
    # beside emptied cells, means would be of fewer records than the policy asks for
    return [without] if has_means(result, sensitive_columns(policy)) else [blank, without]


def has_means(result: Releasable, names: Collection[str] | None = None) -> bool:
    """Whether columns, or some of those, leave as means of groups of their own."""
    treat = result.policy.treat
    return any(treat[name].method == "microaggregate" for name in treat if names is None or name in names)


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
