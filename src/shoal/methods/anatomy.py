"""`anatomy`: quasi-identifiers as they are, sensitive values apart, both joined by groups (Xiao and Tao, VLDB 2006).

Each group has at least l different sensitive values, and which of them is whose is not told. The quasi-identifiers are
exact: who is in the table is not hidden, and no k is claimed.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from shoal.errors import InputError, Message, PolicyNotMet
from shoal.methods.base import Method, takes_records_only
from shoal.methods.results import Anonymized, findings_of
from shoal.models import LDiversity
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.ranges.columns import as_it_was
from shoal.results import Figure, Figures, Headline, Notes, Section, left_out
from shoal.results.sections import verdicts_grid
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable, class_of_each_row, pack
from shoal.wording import counted

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition

QUASI_IDENTIFIERS, SENSITIVE = "quasi-identifiers", "sensitive"
GROUP, COUNT = "group", "count"
NOTES = (
    "presence is not hidden: the quasi-identifiers are exact, and whoever knows those of a person finds their record",
    "no k is claimed: only which sensitive value is whose is hidden, among the values of a group",
)


def dealt(sensitive: Column, l: int, seed: int) -> tuple[Array, int]:  # noqa: E741
    """The group of each row, and how many groups there are: n / l of them, each with l different values or more.

    The groups are those that the bucket rule makes (one row of each of the l largest buckets, again and again; what is
    left goes to groups without its value), without its loop: rows in random order, sorted by value, are dealt to the
    n / l groups like cards. A value with at most n / l rows meets no group twice, so that every value of a group is
    another one; the n mod l last cards are those that the rule has left. Rows without a value are dealt last.

    >>> from shoal.storage.reading import read
    >>> groups, count = dealt(read({"x": ["a", "a", "b", "b", "c"]})["x"], 2, 0)
    >>> count, sorted(np.bincount(groups).tolist())
    (2, [2, 3])
    """
    known = len(sensitive.codes) - sensitive.nulls
    groups = known // l
    most = int(sensitive.frequencies().max(initial=0))
    if not groups or most > groups:
        raise PolicyNotMet(
            f"No {l} different values for every group: one value of '{sensitive.name}' has {most:,} of the {known:,} "
            f"rows, more than 1 / {l}.",
            Message("Use a smaller `{l}`, or leave out rows that need no protection."),
        )
    draw = np.random.default_rng(seed)
    mixed = draw.permutation(len(sensitive.codes))
    rank = np.append(draw.permutation(len(sensitive.values)), len(sensitive.values))
    order = mixed[np.argsort(rank[sensitive.codes[mixed]], kind="stable")]
    found = np.empty(len(order), np.int64)
    found[order] = draw.permutation(groups)[np.arange(len(order)) % groups]
    return found, groups


class Anatomy(Method):
    """Anatomy: two tables that are joined by groups of l different sensitive values.

    >>> Anatomy().name
    'anatomy'
    """

    name: ClassVar[str] = "anatomy"
    does: ClassVar[str] = "quasi-identifiers stay exact, and sensitive values leave in a second table, by groups of l"
    source: ClassVar[str] = "[Anatomy](anatomy.md)"
    keeps_values: ClassVar[bool] = True

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """One l, about one sensitive column, and no model that asks for indistinct records."""
        diverse = [model for model in policy.models if isinstance(model, LDiversity)]
        if len(diverse) < len(policy.models):
            return Message("keeps l-diversity alone, and no k: quasi-identifiers stay exact. Leave out `{k}`")
        if [model.sensitive for model in diverse] != policy.sensitive or len(diverse) != 1:
            return Message("needs one `{sensitive}` column and its `{l}`")
        if policy.null_rule == "drop" or policy.weight is not None or policy.risk_over == "population":
            return "takes every row as one record of this table: no weights, no population, no null rule drop"
        if policy.with_role("text") or policy.treat:
            return "leaves other columns as they are: no free text (`text`) and no treated columns (`treat`)"
        taken = [name for name in (GROUP, COUNT) if name in table.columns]
        if taken:
            return f"names columns of its own '{GROUP}' and '{COUNT}': rename column '{taken[0]}'"
        return takes_records_only(policy)

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Deal the rows to groups, and judge the groups."""
        model = policy.models[0]
        assert isinstance(model, LDiversity)
        sensitive, columns = table[model.sensitive], table.select(policy.quasi_identifiers)
        groups, _ = dealt(sensitive, model.l, secrets.randbits(128))
        released = {column.name: as_it_was(column) for column in columns}
        classes = class_of_each_row(pack(columns))
        findings = findings_of(table, columns, None, released, classes, conditions, None)
        models = [model.judge(evidence_of_rows(groups, {sensitive.name: sensitive}))]
        return Anatomized(self.name, models, findings, table, policy, {"l": model.l}, released, groups=groups)


@dataclass(frozen=True, repr=False)
class Anatomized(Anonymized):
    """A table in two: `tables` are the quasi-identifiers with their group, and the values of each group with counts.

    `k` and `uniques` are those of the exact quasi-identifiers, as they were before.
    """

    name: ClassVar[str] = "anatomy"

    groups: Array = left_out(default=None)

    @property
    def sensitive(self) -> str:
        """The column that leaves in a table of its own."""
        return self.policy.sensitive[0]

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The table of quasi-identifiers, in the order of the input."""
        gone = {self.sensitive, *self.policy.with_role("identifier")}
        kept = [column.as_it_came() for name, column in self.table.columns.items() if name not in gone]
        return pl.DataFrame([*kept, pl.Series(GROUP, self.groups)])

    @property
    def frame(self) -> pl.DataFrame:
        """The same."""
        return self.polars

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Both tables; the sensitive one in the order of groups and values, which is nobody's."""
        column = self.table[self.sensitive]
        cells = CountTable.of({GROUP: Coded(self.groups, int(self.groups.max()) + 1), "value": column})
        values = column.values.extend_constant(None, 1).gather(cells.tuples["value"].codes).alias(column.name)
        told = [pl.Series(GROUP, cells.tuples[GROUP].codes.astype(np.int64)), values, pl.Series(COUNT, cells.counts)]
        return {QUASI_IDENTIFIERS: self.polars, SENSITIVE: pl.DataFrame(told)}

    def summary(self) -> str:
        """What is promised, and what is not."""
        if self.refusal is not None:
            return " ".join(self.refusal.split())
        words = "anonymised" if self.written is None else "released"
        found = (
            f"{counted(self.findings.records, 'record')} {words} in {counted(int(self.groups.max()) + 1, 'group')}, "
            f"each with {self.parameters['l']} or more values of {self.sensitive}. "
            "Presence is not hidden, and no k is claimed."
        )
        return found if self.verdict != "undecided" else f"{found} {self.decisions.until_decided()}"

    def sections(self) -> list[Section]:
        """The promise, what stays open, and where it is."""
        unique = Figure("unique in the exact quasi-identifiers", f"{self.findings.uniques:,}")
        shown: list[Section] = [
            Headline(self.summary(), "warning" if self.verdict == "holds" else "bad"),
            Figures([unique]),
            verdicts_grid(self.models),
        ]
        notes: list[Any] = [*NOTES]
        if self.output is not None:
            notes += [f"both tables and their manifest are in {self.output}; {self.output}.private is for its owner"]
        return [*shown, Notes(notes)]


def check_not_published(policy: Policy) -> None:
    """Refuse anatomy where one table is published."""
    if policy.method is not None and policy.method.name == Anatomy.name:
        raise InputError(
            "Anatomy releases two tables, and a publication is of one.",
            "Release by `shoal anonymize --method anatomy -o FOLDER`.",
        )
