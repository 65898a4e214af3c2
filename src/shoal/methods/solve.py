"""Look at the solution space of a table, and apply a plan that was found once to new data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from shoal.errors import InputError, Message, NotCovered, Setting, as_names, check_choice
from shoal.methods import Lattice, Mondrian
from shoal.methods.cut_plan import CutPlan
from shoal.methods.lattice import by_plan
from shoal.methods.results import Anonymized
from shoal.methods.search.plan import LatticePlan, grown, read_plan
from shoal.methods.search.solution_space import SolutionSpace, solution_space
from shoal.models import AnyModel
from shoal.policy import Policy, as_policy
from shoal.policy.loading import decided, with_roles
from shoal.ranges.hierarchy import fit_all
from shoal.storage import Table
from shoal.storage.reading import Options, declaring, read
from shoal.verbs.base import takes
from shoal.verbs.changing import ApplyRequest
from shoal.vocabulary import Role, Unseen
from shoal.wording import counted


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
    options: Options | None = None,
    **method_options: Any,
) -> SolutionSpace:
    """The best generalisations of a table under a policy, and the least loss for each level of risk.

    `method_options` are those of `shoal.Lattice`: hierarchies, suppression, minimize, importance, levels.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52], "sex": ["f", "f", "m", "f"]})
    >>> found = lattice(people, quasi_identifiers=["age", "sex"], k=2, suppression="25%")
    >>> found.chosen.levels, found.optimal
    ({'age': 2, 'sex': 0}, True)
    """
    as_given = as_policy(policy)
    section = as_given.method
    decided_options = section.options if section is not None and section.name == Lattice.name else {}
    method = Lattice(**{**decided_options, **method_options})
    if method.local:
        raise InputError(
            Message("The solution space has one generalisation for all rows: `{local}` has no meaning here."),
            "Leave it out.",
        )
    rules = decided(as_given, as_names(quasi_identifiers), as_names(sensitive), k, l, t, models)
    table = read(source, None, declaring(options, rules.types))
    rules = rules.with_types(table)
    method.check_columns(table, rules)
    if (reason := method.allowed(table, rules)) is not None:
        raise InputError(Message("The lattice {}.", reason), Message("Give `{k}`, for example."))
    return solution_space(method.prepare(table, rules))


@takes(ApplyRequest)
def apply_plan(source: Any, asked: ApplyRequest) -> Anonymized:
    """Generalise new data by a plan; the result is judged anew against the plan's policy.

    `unseen` values, which the plan does not know, and classes that break the policy are refused, or suppressed.
    `decide` gives columns that the plan's policy does not know their roles; quasi-identifiers are the plan's.

    >>> import polars as pl
    >>> from shoal import anonymize
    >>> old = pl.DataFrame({"age": [30, 34, 31, 34, 52, 53]})
    >>> plan = anonymize(old, quasi_identifiers=["age"], k=2, method="lattice").plan
    >>> apply_plan(pl.DataFrame({"age": [31, 30, 52, 53]}), plan=plan).frame["age"].to_list()
    ['[30;31]', '[30;31]', '[34;53]', '[34;53]']
    """
    check_choice(Setting("unseen"), asked.unseen, get_args(Unseen))
    known: LatticePlan | CutPlan = (
        asked.plan if isinstance(asked.plan, (LatticePlan, CutPlan)) else read_plan(asked.plan)
    )
    known = replace(known, policy=_with_more_roles(known.policy, asked.decide or {}))
    table = read(source, None, declaring(asked.options, known.policy.types))
    table.select(list(asked.decide or {}))
    if isinstance(known, CutPlan):
        return _by_cuts(table, known, asked.unseen).looked_at()
    if not known.rounds:
        raise InputError(
            "The plan has no levels: its release has groups of near records, which new records cannot join.",
            Message(
                "Apply a plan of the method lattice, or of mondrian with `{plan}`, or anonymise all records together."
            ),
        )
    trees = {name: grown(tree, table.select([name])[0]) for name, tree in known.trees.items()}
    if asked.unseen == "refuse":
        fit_all(trees, table.select(list(trees)))
    result = by_plan(table, replace(known, trees=trees))
    lost = result.findings.suppressed_rows
    if asked.unseen == "refuse" and lost:
        raise NotCovered(
            f"{counted(lost, 'record')} would have to be suppressed to keep the plan's policy.",
            Message("Set `{unseen}` to suppress, or search anew with the method lattice."),
        )
    return result.looked_at()


def _by_cuts(table: Table, plan: CutPlan, unseen: Unseen) -> Anonymized:
    """The table in the boxes of a plan; refused where a record must be suppressed and that was not allowed."""
    result = Mondrian(**plan.options, plan=True).by_plan(table, plan)
    lost = result.findings.suppressed_rows
    if unseen == "refuse" and lost:
        raise NotCovered(
            f"{counted(lost, 'record')} would have to be suppressed to keep the plan's policy, "
            f"{result.findings.unseen_rows:,} of them because they lie in none of its boxes.",
            Message("Set `{unseen}` to suppress, or anonymise anew."),
        )
    return result


def _with_more_roles(policy: Policy, decide: Mapping[str, Role]) -> Policy:
    """The plan's policy with the roles of other columns; it has levels for its own quasi-identifiers only."""
    for name, role in decide.items():
        if "quasi-identifier" in (role, policy.columns.get(name)) and policy.columns.get(name) != role:
            raise InputError(
                f"The plan cannot be applied with '{name}' decided as {role}: its quasi-identifiers are fixed.",
                "Search anew with the method lattice.",
            )
    return with_roles(policy, decide)
