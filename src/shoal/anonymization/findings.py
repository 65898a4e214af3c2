"""What a change gave: the released columns, what it cost, and the verdict of every model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.judgement.evidence import evidence_of, trees_of
from shoal.models import Evidence, TCloseness, Verdict
from shoal.models.distances import ordered_distance
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.ranges.boxed import Boxed
from shoal.ranges.columns import ReleasedColumns, modified_rows
from shoal.ranges.coverage import fit
from shoal.reading import read
from shoal.reading.frames import to_native
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, class_of_each_row
from shoal.utility.loss import Change, attribute_disclosure, change_of, information_loss

if TYPE_CHECKING:
    from shoal.anonymization.search.plan import Plan


@dataclass(frozen=True)
class Disclosed:
    """Eq 5 for one condition; `share` is null where no record meets it."""

    condition: str
    records: int
    disclosed: int
    share: float | None


@dataclass(frozen=True)
class Findings:
    """What was done to the table and what it cost."""

    records: int
    k: int
    classes: int
    uniques: int
    undecided: int
    information_loss: float | None  # not defined for texts
    information_loss_by_column: dict[str, float]
    modified_rows: int
    removed_rows: int
    suppressed_rows: int
    suppressed_cells: int
    attribute_disclosure: list[Disclosed]
    closeness: dict[str, float] | None
    change: Change | None
    strategies: list[dict[str, Any]] | None = None
    squares_within: float | None = None  # of groups, as a share of the whole table's: SSE / SST
    loss: float | None = None  # docs/quality.md; where there are texts, so that releases can be compared
    # what the search for the best generalisation found: levels, score, how it was proven; what was chosen and why
    search: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `closeness`, `strategies`, `squares_within`, `loss` and what a search found only where asked for."""
        found = asdict(self)
        search = found.pop("search") or {}
        for name in ("closeness", "strategies", "squares_within", "loss"):
            if found[name] is None:
                del found[name]
        return found | search


@dataclass(frozen=True)
class Anonymized:
    """A changed table: `frame` is of the kind that came in, in the same order; `findings` say what it cost."""

    table: Table
    policy: Policy
    method: str
    parameters: dict[str, Any]
    columns: dict[str, ReleasedColumns]
    findings: Findings
    verdicts: list[Verdict]
    plan: Plan | None = None
    seconds: float = 0.0

    @property
    def quasi_identifiers(self) -> list[str]:
        """The names under which the quasi-identifiers are released."""
        return [series.name for column in self.columns.values() for series in column.series]

    @property
    def private(self) -> dict[str, Any]:
        """What only the owner of a release may know, beside the order of rows: nothing."""
        return {}

    @property
    def verdict(self) -> str:
        """Whether every model of the policy holds."""
        return "holds" if all(verdict.holds for verdict in self.verdicts) else "refused"

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The released table; columns that identify are left out."""
        dropped = set(self.policy.with_role("identifier"))
        series: list[pl.Series] = []
        for name, column in self.table.columns.items():
            if name not in dropped:
                series += self.columns[name].series if name in self.columns else [column.decode()]
        return pl.DataFrame({column.name: column for column in series})

    @property
    def frame(self) -> Any:
        """The released table as the kind of frame that came in."""
        changed = {name for name, column in self.columns.items() if column.nature != "unchanged"}
        return to_native(self.polars, self.table.native, changed)


def findings_of(
    table: Table,
    columns: Sequence[Column],
    boxed: Boxed | None,
    released: dict[str, ReleasedColumns],
    classes: tuple[Array, int],
    conditions: Sequence[ColumnCondition],
    close: TCloseness | None,
    strategies: list[dict[str, Any]] | None,
    means: bool,
) -> Findings:
    """What a change cost, from the boxes or the released columns and the class of each row (-1: suppressed)."""
    class_of_row, count = classes
    kept = class_of_row >= 0
    sizes = np.bincount(class_of_row[kept], minlength=count)
    if not kept.all():
        # suppressed rows are alike: for what is learnt about them they are one class
        class_of_row, count = np.where(kept, class_of_row, count), count + 1
    uniques, undecided = (int((sizes == 1).sum()), 0) if boxed is None else _uniques(columns, boxed, sizes)
    loss = None if boxed is None else information_loss(columns, boxed)
    disclosed = []
    for condition in conditions:
        found = attribute_disclosure(class_of_row, count, condition.meets(table[condition.column]))
        disclosed.append(Disclosed(condition.text, found.records, found.disclosed, found.share))
    near = None
    column = None if close is None else table[close.sensitive]
    if column is not None and (column.dtype.is_numeric() or column.dtype.is_temporal()):
        near = {
            "values": float(ordered_distance(class_of_row, count, column, "values").max()),
            "ranks": float(ordered_distance(class_of_row, count, column, "ranks").max()),
        }
    stars = [column.suppressed for column in released.values()]
    return Findings(
        records=table.rows,
        k=int(sizes.min()) if len(sizes) else 0,
        classes=len(sizes),
        uniques=uniques,
        undecided=undecided,
        information_loss=None if loss is None else loss.total,
        information_loss_by_column={} if loss is None else loss.by_column,
        modified_rows=int(modified_rows(list(released.values())).sum()),
        removed_rows=0,
        suppressed_rows=int(np.logical_and.reduce(stars).sum()),
        suppressed_cells=int(sum(star.sum() for star in stars)),
        attribute_disclosure=disclosed,
        closeness=near,
        change=None if boxed is None else change_of(columns, boxed, means),
        strategies=strategies,
    )


def _uniques(columns: Sequence[Column], boxed: Boxed, sizes: Array) -> tuple[int, int]:
    """By Eq 1; classes of two and more need no look."""
    if (sizes > 1).all():
        return 0, 0
    found = fit([boxed.ranges(column) for column in columns])
    return int(found.unique.sum()), int(found.undecided.sum())


def judged(policy: Policy, evidence: Evidence) -> list[Verdict]:
    """The verdict of every model."""
    return [model.judge(evidence) for model in policy.models]


def evidence_of_result(
    table: Table,
    policy: Policy,
    released: Mapping[str, ReleasedColumns],
    class_of_row: Array,
    levels: Mapping[str, int] | None = None,
    shown_values: bool = False,
) -> Evidence:
    """What the models look at, as `verify` will see it in the file; `shown_values`: as the file shows them, always."""
    across = [model for model in policy.models if model.needs_population or model.needs_keys]
    if shown_values or across or policy.count or policy.person:  # these look at the released values themselves
        shown = pl.DataFrame({series.name: series for column in released.values() for series in column.series})
        names = shown.columns
        needed = {name for model in policy.models for name in model.needs} | {policy.count, policy.person} - {None}
        beside = [table[name].decode() for name in table.columns if name in needed - set(names)]
        # where nothing was changed, `*` is a text of the original
        starred = [
            series.name for column in released.values() if column.nature != "unchanged" for series in column.series
        ]
        return evidence_of(read(shown.with_columns(beside)), names, policy, levels, starred)[0]
    stars = np.logical_and.reduce([column.suppressed for column in released.values()])
    rows = class_of_each_row(Coded(class_of_row[~stars], int(class_of_row.max(initial=0)) + 1))[0]
    class_of_row = np.full(table.rows, -1, np.int64)
    class_of_row[~stars] = rows
    sensitive = {name: table[name] for model in policy.models for name in model.needs}
    return evidence_of_rows(class_of_row, sensitive, trees=trees_of(policy, list(sensitive.values())))
