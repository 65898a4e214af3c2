"""A part of a table on which methods are tried: rows drawn by what they say, or whole persons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.policy import Policy
from shoal.storage import Column, Table
from shoal.storage.classes import Coded
from shoal.storage.order import sample_rows
from shoal.storage.rows import Rows, compact

# rows on which methods are tried and compared
SAMPLE = 20_000
# a sample need not be secret, only fair
_SEED = 0


def sample_of(table: Table, policy: Policy, rows: int) -> Table:
    """About so many rows, drawn at random; of persons or households, all rows of some. Fewer rows stay as they are.

    Rows are drawn by a hash of what they say in the columns that the policy is about, so that the same rows in another
    order give the same part. The part is a table of its own: no value or person in it that none of its rows has.

    >>> from shoal.storage.reading import read
    >>> people = read({"id": [1, 1, 2, 2, 3, 3], "age": [30, 31, 40, 41, 50, 51]})
    >>> sample_of(people, Policy(person="id"), 3)["id"].decode().to_list()
    [2, 2, 3, 3]
    """
    if table.total <= rows:
        return table
    whole = policy.person or policy.household
    if whole is None:
        drawn = sample_rows(_decisive(table, policy), rows, _SEED)
    else:
        person = table.select([whole])[0]
        count = max(1, round(person.cardinality * rows / table.rows))
        chosen = np.zeros(person.cardinality, bool)
        chosen[sample_rows([Coded(np.arange(len(chosen)), len(chosen))], count, _SEED)] = True
        drawn = np.flatnonzero(chosen[person.codes])
    part = table.take(drawn)
    return replace(part, columns={name: compact(column) for name, column in part.columns.items()})


def _decisive(table: Table, policy: Policy) -> list[Column]:
    """The columns that methods and models look at; rows that are equal in them are as good as each other."""
    needed = [name for model in policy.models for name in model.needs]
    names = dict.fromkeys([*policy.quasi_identifiers, *policy.sensitive, *needed])
    return table.select([name for name in names if name in table.columns]) or list(table.columns.values())


def members_of(table: Table, policy: Policy) -> int:
    """Whom k counts: rows, the records that rows stand for, or persons."""
    rows = Rows.of(table, policy.quasi_identifiers, policy.count, policy.person)
    return rows.records if rows.person is None else rows.person.cardinality
