"""The solution space of a table: its best nodes and why one won, and the least loss for each level of risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import Message
from shoal.methods.outcomes import out_of_time
from shoal.methods.search.generalize import SearchOptions, generalize
from shoal.methods.search.grid import CLASS_MEASURES
from shoal.methods.search.lattice import Prepared
from shoal.methods.search.optimum import Optimum
from shoal.models import KAnonymity, Model
from shoal.results import Grid, Headline, Notes, Result, Section
from shoal.vocabulary import Minimize
from shoal.wording import in_words, percent

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
