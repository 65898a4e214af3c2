"""A part of a table on which methods are tried: rows evenly drawn, or whole persons."""

from __future__ import annotations

import numpy as np

from shoal.policy import Policy
from shoal.reading import read
from shoal.table import Table
from shoal.table.rows import Rows


def sample_of(table: Table, policy: Policy, rows: int) -> Table:
    """About so many rows, evenly drawn; of a table of persons, all rows of some persons. Fewer rows stay as they are.

    The part is a table of its own: no value or person in it that none of its rows has.

    >>> people = read({"id": [1, 1, 2, 2, 3, 3], "age": [30, 31, 40, 41, 50, 51]})
    >>> sample_of(people, Policy(person="id"), 3)["id"].decode().to_list()
    [1, 1, 3, 3]
    """
    if table.rows <= rows:
        return table
    if policy.person is None:
        drawn = np.linspace(0, table.rows - 1, rows).astype(np.int64)
    else:
        person = table.select([policy.person])[0]
        count = max(1, round(person.cardinality * rows / table.rows))
        chosen = np.zeros(person.cardinality, bool)
        chosen[np.linspace(0, person.cardinality - 1, count).astype(np.int64)] = True
        drawn = np.flatnonzero(chosen[person.codes])
    return read(table.take(drawn).to_polars())


def members_of(table: Table, policy: Policy) -> int:
    """Whom k counts: rows, the records that rows stand for, or persons."""
    rows = Rows.of(table, policy.quasi_identifiers, policy.count, policy.person)
    return rows.records if rows.person is None else rows.person.cardinality
