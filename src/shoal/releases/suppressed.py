"""Rows that are suppressed in every quasi-identifier: too few of them, or alike in what is sensitive, give it away."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from shoal.judgement.checks import Check
from shoal.judgement.evidence import people_of_rows, trees_of
from shoal.models import Evidence, HighestRisk, KMatching
from shoal.models.base import PeopleEstimate
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.ranges.parsing import as_texts
from shoal.table import Array, Column, Table


def suppressed_rows(table: Table, names: Sequence[str], raw: Collection[str] = (), wildcard: bool = False) -> Array:
    """Which rows are `*` in every quasi-identifier; in `raw` columns `*` is a text.

    >>> from shoal.reading import read
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
    return None if found is None else PeopleEstimate(found.people[suppressed].sum(keepdims=True), found.by)


def sensitive_columns(policy: Policy) -> list[str]:
    """The columns whose values must not be given away."""
    about = [name for model in policy.models for name in model.needs]
    quasi = policy.quasi_identifiers
    return [name for name in dict.fromkeys([*policy.sensitive, *about]) if name not in quasi]


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
    left = [name for name in names if not bool(_null(table[name])[suppressed].all())]
    if (left or not declared) and gives_away(table, policy, suppressed, drawn):
        kept = f"{', '.join(left)} left in" if left else "nothing says that * is not a text of the original"
        return Check("suppressed rows", False, f"{count:,} rows are too few or too alike, with {kept}")
    return Check("suppressed rows", True, f"{count:,} rows are suppressed in every quasi-identifier")


def _null(column: Column) -> Array:
    return column.is_null()
