"""Identifiers hidden among other values: cells of a column that is not an identifier itself, but hold one."""

from __future__ import annotations

import polars as pl

from shoal.kinds.inside import inside
from shoal.standards.hipaa.clauses import CLAUSE_OF_KIND
from shoal.table import Array


def hidden(texts: pl.Series) -> dict[str, Array]:
    """Which distinct texts hold an identifier, by clause.

    >>> {clause: found.tolist() for clause, found in hidden(pl.Series(["seen 3/4/2012", "a@b.org", "stable"])).items()}
    {'C': [True, False, False], 'F': [False, True, False]}
    """
    found: dict[str, Array] = {}
    for kind, hits in inside(texts).items():
        clause = CLAUSE_OF_KIND[kind]
        found[clause] = found.get(clause, False) | hits
    return dict(sorted(found.items()))
