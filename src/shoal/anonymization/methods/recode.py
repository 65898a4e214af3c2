"""`recode`: Pastore's recodings, as asked for or elected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from shoal.anonymization.findings import evidence_of_result, findings_of, judged
from shoal.anonymization.methods.base import Method, closeness_told, k_of, takes_records_only
from shoal.anonymization.outcomes import StrategyFigures
from shoal.anonymization.results import Anonymized
from shoal.anonymization.transforms.election import elect, every_combination
from shoal.anonymization.transforms.labels import Chunks, Constant, Labelling, Runs, tree_levels
from shoal.anonymization.transforms.recode import Recoding, Strategy, recode
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.ranges.columns import Nature, ReleasedColumns, as_it_was
from shoal.ranges.forms import ColumnForm, escape
from shoal.reading import read
from shoal.table import Column, Table
from shoal.table.classes import class_of_each_row, pack
from shoal.table.rows import Rows
from shoal.table.type_words import type_word
from shoal.utility.quality import quality

Where = Literal["all", "uniques", "below-k"]
# larger tables are not read again to measure the loss of all columns
_MEASURED = 200_000


class Recode(Method):
    """Values become labels, in all rows or only where records stand out; `search` tries all combinations.

    >>> Recode(generalize={"year": "runs:4"}).where
    'all'
    """

    name: ClassVar[str] = "recode"
    does: ClassVar[str] = (
        "values become labels: by a file (value, label, coarser label, …), `*`, `runs:4` (four distinct values each) "
        "or `chunks:4` (four equal parts of the rows, named after their median)"
    )
    source: ClassVar[str] = "Pastore et al."

    generalize: dict[str, str] = Field(
        default={}, description="Per column a file (value, label, …), *, runs:4 or chunks:4."
    )
    where: Where = Field(default="all", description="In all rows, or only in rows that are unique or below k.")
    search: bool = Field(
        default=False, description="Try all combinations; elect the one with fewest uniques, then fewest changed rows."
    )

    def lacks(self) -> str | None:
        """Something to recode."""
        if not self.generalize and not self.search:
            return "needs something to recode: `generalize` (what each column becomes) or `search`"
        return None

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Something to recode, and records."""
        return self.lacks() or takes_records_only(policy)

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Recode, and measure what comes out."""
        columns = table.select(policy.quasi_identifiers)
        released, parameters, strategies = self.recoded(columns, k_of(policy) or 2)
        classes = class_of_each_row(pack([column.encoded[0] for column in released.values()]))
        findings = findings_of(table, columns, None, released, classes, conditions, closeness_told(policy))
        models = judged(policy, evidence_of_result(table, policy, released, classes[0]))
        findings = replace(findings, strategies=strategies)
        result = Anonymized(self.name, models, findings, table, policy, parameters, released)
        return with_losses(result)

    def recoded(
        self, columns: Sequence[Column], k: int
    ) -> tuple[dict[str, ReleasedColumns], dict[str, Any], list[StrategyFigures] | None]:
        """Recode columns as asked for; with `search`, try every combination and take the best.

        A search without `generalize` tries `*` on every column, and runs and chunks of 4 on those with an order.
        """
        below = {"all": None, "uniques": 2, "below-k": k}[self.where]
        asked = dict(self.generalize) or {column.name: "" for column in columns}
        steps = {
            f"{name}={text}": Recoding(name, labelling, below)
            for name, how in asked.items()
            for text, labelling in (_all_ways(columns, name) if how == "" else labellings(how))
        }
        rows = Rows(columns)
        parameters: dict[str, Any] = {"generalize": dict(self.generalize), "where": self.where}
        if not self.search:
            first = {step.column: step for step in reversed(steps.values())}
            strategy = Strategy([first[name] for name in asked])
            return _released(columns, recode(rows, strategy).columns, strategy), parameters, None
        strategies = {"original": Strategy([]), **every_combination(steps)}
        election = elect(rows, strategies)
        figures = [
            StrategyFigures(name, entry.uniques, entry.modified_rows, entry.classes, entry.k)
            for name, entry in election.figures.items()
        ]
        parameters["elected"] = election.best
        return _released(columns, election.recoded.columns, strategies[election.best]), parameters, figures


def with_losses(result: Anonymized) -> Anonymized:
    """The result with its losses read from what would be written, where they are not known otherwise.

    Unknown stays unknown: where a label is not a range, a set or a node of a tree that holds its value.
    """
    names = result.policy.quasi_identifiers
    if result.table.rows > _MEASURED or not set(names) <= set(result.quasi_identifiers):
        return result
    figures = quality(result.table, result.shown, names, analysis=False)
    known = result.findings.information_loss
    information = figures.information_loss if known is None else known
    return replace(result, findings=replace(result.findings, loss=figures.loss, information_loss=information))


def labellings(how: str) -> list[tuple[str, Labelling]]:
    """The ways to label a column that a text stands for, finest first; a file has one per level.

    >>> labellings("runs:4")[0][1].size
    4
    """
    kind, colon, number = how.partition(":")
    if how == "*":
        return [("*", Constant("*"))]
    if colon and kind in ("runs", "chunks") and number.isdigit() and int(number):
        return [(how, Runs(int(number)) if kind == "runs" else Chunks(int(number)))]
    if not Path(how).is_file():
        raise InputError(
            f"'{how}' is not a way to generalise a column.",
            "Name a file (value, label, …), or write *, runs:4 or chunks:4.",
        )
    levels = tree_levels(read(how).to_polars().cast(pl.String))
    return [(f"level {number}", level) for number, level in enumerate(levels, 1)]


def _all_ways(columns: Sequence[Column], name: str) -> list[tuple[str, Labelling]]:
    column = next(column for column in columns if column.name == name)
    ways: list[tuple[str, Labelling]] = [("*", Constant("*"))]
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        ways = [("runs:4", Runs(4)), ("chunks:4", Chunks(4)), *ways]
    return ways


def _released(before: Sequence[Column], after: Sequence[Column], strategy: Strategy) -> dict[str, ReleasedColumns]:
    columns = {}
    labels: Mapping[str, Labelling] = {step.column: step.labelling for step in strategy.steps}
    for old, new in zip(before, after, strict=True):
        if new is old:
            columns[old.name] = as_it_was(old)
            continue
        texts = [column.decode().cast(pl.String) for column in (old, new)]
        nature: Nature = "representative" if isinstance(labels.get(old.name), Chunks) else "truthful"
        form = ColumnForm(kind="label", type=type_word(old.dtype), escaped=old.values.dtype == pl.String)
        modified = texts[0].ne_missing(texts[1]).to_numpy()
        columns[old.name] = ReleasedColumns([_escaped(old, *texts)], nature, modified, form, pack([old, new]))
    return columns


def _escaped(old: Column, own: pl.Series, shown: pl.Series) -> pl.Series:
    """What is shown, with values of the original that look like released texts marked as what they are."""
    if old.values.dtype != pl.String or escape(old.values).equals(old.values):
        return shown
    return shown.zip_with(own.ne_missing(shown), escape(shown))
