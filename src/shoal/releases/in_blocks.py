"""The release of many rows in memory: they stay in codes, and become texts block by block as they are written."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.anonymization.results import Anonymized
from shoal.releases.releasable import Releasable
from shoal.releases.suppressed import gives_away, sensitive_columns
from shoal.table import Table

# from so many rows on; fewer are turned into texts at once
MANY_ROWS = 1 << 18


def many_rows(result: Releasable) -> Anonymized | None:
    """The result, if it has many rows, all of them in codes, and none that gives something away when it is suppressed.

    A text that was scrubbed is not in codes.
    """
    if not isinstance(result, Anonymized) or result.table.rows <= MANY_ROWS or result.policy.with_role("text"):
        return None
    if result.table.records is not None or not all(entry.held for entry in result.columns.values()):
        return None
    return None if _gives_away(result) else result


def _gives_away(result: Anonymized) -> bool:
    shown = [column for entry in result.columns.values() for column in entry.held]
    generalized = all(entry.form.generalizes for entry in result.columns.values())
    if not generalized or not shown or any(column.values.dtype != pl.String for column in shown):
        return False
    lost = np.asarray(np.logical_and.reduce([entry.suppressed for entry in result.columns.values()]))
    if not lost.any():
        return False
    policy, released = result.policy, {column.name: column for column in shown}
    counted = (policy.person, policy.count, policy.weight)
    needed = [*sensitive_columns(policy), *(name for name in counted if name is not None)]
    gone = policy.with_role("identifier")
    columns = {
        name: released.get(name) or result.table[name]
        for name in dict.fromkeys(needed)
        if name not in gone and result.table.has(name)
    }
    return gives_away(Table(columns, result.table.rows), policy, lost)
