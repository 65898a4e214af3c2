"""Every changed column before and after, and how strongly columns go together: what the pictures of utility show."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import polars as pl

from shoal.hierarchy.chosen import given_hierarchies, trees_in_values
from shoal.policy import Policy
from shoal.reading import read
from shoal.table import Table
from shoal.utility.analysis import features_of
from shoal.utility.associations import associations_of
from shoal.utility.distributions import distribution_of

_MOST_COLUMNS = 24


def before_and_after(table: Table, released: pl.DataFrame, rules: Policy) -> dict[str, Any]:
    """`columns`: shares before and after of each quasi-identifier. `correlations`: every pair, sensitive ones too.

    The tables have the same rows in the same order.
    """
    names = [name for name in rules.quasi_identifiers if name in released.columns]
    kept = [name for name in rules.sensitive if name in released.columns]
    after = read(released, [*names, *kept])
    trees = trees_in_values(given_hierarchies(rules.hierarchies, names), [table[name] for name in names])
    persons = None if rules.person is None else table[rules.person].codes
    columns = [
        asdict(found)
        for name in names[:_MOST_COLUMNS]
        if (found := distribution_of(table[name], after[name], trees.get(name), persons)) is not None
    ]
    features = [features_of(table[name], after[name], trees.get(name)) for name in [*names, *kept]]
    return {"columns": columns, "correlations": [asdict(pair) for pair in associations_of(features)]}
