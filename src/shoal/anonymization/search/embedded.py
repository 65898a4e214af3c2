"""The policy that a release carries: with the trees that its models look at."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.hierarchy import Hierarchy
from shoal.hierarchy.chosen import rows_of
from shoal.policy import Policy


def embedded(policy: Policy, trees: Mapping[str, Hierarchy]) -> Policy:
    """The policy with the given trees that models look at written out, so that whoever verifies has them.

    Those are the trees of sensitive columns, and where a population is counted in the classes also those of
    quasi-identifiers. One that was built stays out: it names every value of the data.
    """
    needed = {name for model in policy.models for name in model.needs if name not in policy.quasi_identifiers}
    if any(model.needs_population for model in policy.models):
        needed |= set(policy.quasi_identifiers)
    needed &= set(trees)
    return policy.model_copy(update={"hierarchies": {name: rows_of(trees[name]) for name in sorted(needed)}})
