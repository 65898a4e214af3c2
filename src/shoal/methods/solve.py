"""Look at the solution space of a table, and apply a plan that was found once to new data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, get_args

import numpy as np

from shoal.errors import InputError, Message, NotCovered, Setting, as_names, check_choice
from shoal.methods import Lattice, Mondrian
from shoal.methods.lattice import by_plan
from shoal.methods.mondrian import CutPlan
from shoal.methods.outcomes import out_of_time
from shoal.methods.results import Anonymized
from shoal.methods.search.generalize import LatticePlan, Prepared, SearchOptions, generalize, grown, read_plan
from shoal.methods.search.grid import CLASS_MEASURES
from shoal.methods.search.optimum import Optimum
from shoal.models import AnyModel, KAnonymity, Model
from shoal.policy import Policy, as_policy
from shoal.policy.loading import decided, with_roles
from shoal.ranges.hierarchy import fit_all
from shoal.results import Grid, Headline, Notes, Result, Section
from shoal.storage import Table
from shoal.storage.reading import Options, declaring, read
from shoal.verbs.base import takes
from shoal.verbs.changing import ApplyRequest
from shoal.vocabulary import Minimize, Role, Unseen
from shoal.wording import counted, in_words, percent

# for which k the least loss is told, and how many of the best generalisations
_KS, _BEST = (2, 3, 5, 10, 20, 50, 100), 10


@dataclass(frozen=True)
class Solution:
    """One node: its levels, score and cost, and the risk of the record at highest risk."""

    levels: dict[str, int]
    score: float
    suppressed_rows: int
    classes: int
    k: int
    highest_risk: float


@dataclass(frozen=True, repr=False)
class SolutionSpace(Result):
    """What a lattice holds: the chosen node, why it won, and the frontier: for each level of risk the least loss."""

    name: ClassVar[str] = "lattice"

    chosen: Solution | None
    reason: str
    frontier: list[Solution]
    best: list[Solution]
    nodes_total: int
    nodes_checked: int
    optimal: bool
    lower_bound: float | None
    minimize: Minimize
    built_hierarchies: dict[str, str]

    def summary(self) -> str:
        """Why the chosen node won."""
        return self.reason

    def sections(self) -> list[Section]:
        """The chosen generalisation, the next best, and what a lower risk costs."""
        shown: list[Section] = [Headline(self.reason, "good" if self.chosen else "warning")]
        if self.best:
            rows = [
                (" ".join(str(level) for level in node.levels.values()), *_cells(node), f"{node.k:,}")
                for node in self.best
            ]
            title = f"Levels of {in_words(list(self.best[0].levels), 99)}"
            shown.append(Grid(("levels", self.minimize, "suppressed", "classes", "smallest"), rows, title=title))
        if self.frontier:
            points = [(percent(node.highest_risk), f"{node.k:,}", *_cells(node)) for node in self.frontier]
            costs = ("highest risk", "k", self.minimize, "suppressed", "classes")
            shown.append(Grid(costs, points, 0, title="What a lower risk costs"))
        built = [f"hierarchy of {name} was built: {how}" for name, how in self.built_hierarchies.items()]
        return [*shown, Notes(built)]


def _cells(node: Solution) -> tuple[str, str, str]:
    return f"{node.score:.4f}", f"{node.suppressed_rows:,}", f"{node.classes:,}"


def solution_space(prepared: Prepared) -> SolutionSpace:
    """The best nodes that keep the policy, and the least loss for each k: how much a lower risk costs.

    The frontier is proven too: for every k (2, 3, 5, 10, 20, 50, 100 and the policy's own) the optimum is
    searched with the other models unchanged.
    """
    generalized = generalize(prepared.space, prepared.policy.models, prepared.options)
    optimum = generalized.optimum
    own = max((model.k for model in prepared.policy.models if isinstance(model, KAnonymity)), default=1)
    grid = prepared.space.grid(prepared.options)
    limit = int(prepared.options.suppression * prepared.space.members + 1e-9)
    evaluate = prepared.space.evaluator(grid, prepared.policy.models, limit)

    def solution(levels: tuple[int, ...], score: float, suppressed: int) -> Solution:
        sizes = evaluate.kept_sizes(np.array(levels))
        k = int(sizes.min()) if len(sizes) else 0
        named = dict(zip(prepared.space.fitted, levels, strict=True))
        return Solution(named, score, suppressed, len(sizes), k, 1 / k if k else 1.0)

    by_class = prepared.options.minimize in CLASS_MEASURES
    feasible = sorted(
        (node for node in optimum.seen if node.feasible), key=lambda node: (node.product, node.suppressed, node.levels)
    )
    # sums of classes that were rolled up differ in their last digits
    chief = feasible[:_BEST] if by_class else [evaluate.exactly(np.array(node.levels)) for node in feasible[:_BEST]]
    scores = [node.product if by_class else grid.score(node.product) for node in chief]
    top = [solution(node.levels, score, node.suppressed) for node, score in zip(chief, scores, strict=True)]
    frontier = []
    others: list[Model] = [model for model in prepared.policy.models if not isinstance(model, KAnonymity)]
    for k in sorted({*_KS, *([own] if own > 1 else [])}):
        models = [KAnonymity(k=k), *others]
        if k == own and generalized.rounds:
            at = optimum
        else:
            at = generalize(prepared.space, models, prepared.options).optimum
        if at.best is not None and at.score is not None:
            evaluate = prepared.space.evaluator(grid, models, limit)
            node = solution(at.best.levels, at.score, at.best.suppressed)
            if node not in frontier:
                frontier.append(node)
    evaluate = prepared.space.evaluator(grid, prepared.policy.models, limit)
    chosen = top[0] if top else None
    return SolutionSpace(
        chosen,
        why(chosen, top[1:], optimum, prepared.options),
        frontier,
        top,
        optimum.nodes_total,
        optimum.nodes_checked,
        optimum.optimal,
        optimum.lower_bound,
        prepared.options.minimize,
        prepared.built,
    )


def why(chosen: Solution | None, others: Sequence[Solution], optimum: Optimum, options: SearchOptions) -> str:
    """Why the chosen node won, in one sentence; whether the time ran out before that was proven."""
    total, checked = optimum.nodes_total, optimum.nodes_checked
    if chosen is None:
        limits = f"keeps the policy with at most {percent(options.suppression)} of the records suppressed"
        if optimum.optimal:
            return f"None of the {total:,} generalisations {limits}."
        looked = f"None of the {checked:,} generalisations that were looked at, of {total:,}, {limits}"
        return Message("{}: the time ran out, and a longer `{time_limit}` may find one.", looked)
    proof = (
        f"none of the {total:,} generalisations keeps the policy with a lower {options.minimize}"
        if optimum.optimal
        else f"the best found among {checked:,} of {total:,} generalisations"
    )
    next_best = f", the next best found {others[0].score:.4f}" if others else ""
    said = (
        f"Its {options.minimize} is {chosen.score:.4f}{next_best}, with {chosen.suppressed_rows:,} records "
        f"suppressed and classes of {chosen.k} and more: {proof}."
    )
    if optimum.optimal or optimum.lower_bound is None:
        return said
    return f"{said} {out_of_time(chosen.score, optimum.lower_bound)}"


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
