"""Every changed column before and after, and how strongly columns go together: what the pictures of utility show."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shoal.anonymization.results import Anonymized
from shoal.utility.analysis import features_of
from shoal.utility.associations import associations_of
from shoal.utility.distributions import distribution_of

_MOST_COLUMNS = 24


def before_and_after(changed: Anonymized) -> dict[str, Any]:
    """`columns`: shares before and after of each quasi-identifier. `correlations`: every pair, sensitive ones too.

    Released cells are read as the method wrote them, by the trees that it used, before they are spelled.
    """
    table, rules, trees = changed.table, changed.policy, changed.trees
    names = [name for name in rules.quasi_identifiers if name in changed.shown.columns]
    kept = [name for name in rules.sensitive if name in table.columns]
    after = {**changed.shown.columns, **{name: table[name] for name in kept}}
    persons = None if rules.person is None else table[rules.person].codes
    columns = [
        asdict(found)
        for name in names[:_MOST_COLUMNS]
        if (found := distribution_of(table[name], after[name], trees.get(name), persons)) is not None
    ]
    features = [features_of(table[name], after[name], trees.get(name)) for name in [*names, *kept]]
    return {"columns": columns, "correlations": [asdict(pair) for pair in associations_of(features)]}
