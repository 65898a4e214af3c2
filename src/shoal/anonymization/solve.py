"""Look at the solution space of a table, and apply a plan that was found once to new data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from shoal.anonymization.findings import Anonymized
from shoal.anonymization.methods import How, by_lattice
from shoal.anonymization.search.generalize import Wishes
from shoal.anonymization.search.lattice import Lattice, prepare, solution_space
from shoal.anonymization.search.plan import Plan, grown, read_plan
from shoal.anonymization.search.wishes import wishes_of
from shoal.errors import InputError, as_names, check_choice
from shoal.hierarchy import fit_all
from shoal.models import AnyModel
from shoal.policy import Policy, as_policy
from shoal.policy.overrides import decided
from shoal.reading import Options, read
from shoal.wording import counted

Misfits = Literal["refuse", "suppress"]


def lattice(
    source: Any,
    policy: Policy | str | Path | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741
    t: float | None = None,
    models: Sequence[AnyModel] = (),
    hierarchies: Any = None,
    suppression: float | str | None = None,
    quality: str | None = None,
    weights: Mapping[str, float] | None = None,
    levels: Mapping[str, tuple[int, int]] | None = None,
    complete_hierarchies: bool = False,
    time_limit: float = 60.0,
    options: Options | None = None,
) -> Lattice:
    """The best generalisations of a table under a policy, and the least loss for each level of risk.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52], "sex": ["f", "f", "m", "f"]})
    >>> found = lattice(people, quasi_identifiers=["age", "sex"], k=2, suppression="25%")
    >>> found.chosen.levels, found.optimal
    ({'age': 2, 'sex': 0}, True)
    """
    given = decided(as_policy(policy), as_names(quasi_identifiers), as_names(sensitive), k, l, t, models)
    if not given.models:
        raise InputError("The search needs a privacy model to keep.", "Give -k 5, or models in a policy.")
    wishes = wishes_of(given, suppression, quality, weights, levels, False, time_limit)
    table = read(source, None, options)
    return solution_space(prepare(table, given, hierarchies, wishes, complete_hierarchies))


def apply_plan(
    plan: Plan | str | Path, source: Any, *, misfits: Misfits = "refuse", options: Options | None = None
) -> Anonymized:
    """Generalise new data by a plan; the result is judged anew against the plan's policy.

    Values that the plan does not know and classes that break the policy are refused, or suppressed if asked.

    >>> import polars as pl
    >>> from shoal import anonymize
    >>> old = pl.DataFrame({"age": [30, 34, 31, 34, 52, 53]})
    >>> plan = anonymize(old, quasi_identifiers=["age"], k=2, method="lattice").plan
    >>> apply_plan(plan, pl.DataFrame({"age": [31, 30, 52, 53]})).frame["age"].to_list()
    ['[30;31]', '[30;31]', '[34;53]', '[34;53]']
    """
    check_choice("misfits", misfits, get_args(Misfits))
    found = plan if isinstance(plan, Plan) else read_plan(plan)
    table = read(source, None, options)
    trees = {name: grown(tree, table.select([name])[0]) for name, tree in found.trees.items()}
    found = replace(found, trees=trees)
    if misfits == "refuse":
        fit_all(found.trees, table.select(list(found.trees)))
    result = by_lattice(table, found.policy, How(wishes=Wishes(suppression=1.0)), found)
    lost = result.findings.suppressed_rows
    if misfits == "refuse" and lost:
        raise InputError(
            f"{counted(lost, 'record')} would have to be suppressed to keep the plan's policy.",
            "Say --misfits suppress, or search anew with `shoal anonymize --method lattice`.",
        )
    return result
