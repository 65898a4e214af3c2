"""What a lower risk costs: the chosen method for a few other k. A release with classes of 10 also has classes of 5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from shoal import progress
from shoal.methods.base import k_of
from shoal.methods.findings import evidence_of_result, judged
from shoal.methods.outcomes import FrontierPoint
from shoal.methods.results import Anonymized
from shoal.methods.trials import Clock, Trial, TrialTask, cost, tried
from shoal.models import AnyModel, KAnonymity
from shoal.policy import Policy
from shoal.storage import Table
from shoal.vocabulary import Prefer

_KS = (2, 3, 5, 10, 20, 50)
_EXTRA_RUNS = 3


def other_ks(own: int, most: int) -> list[int]:
    """At most three other k, the next larger one first, for a release with larger classes may lose less by luck.

    >>> other_ks(5, 1000), other_ks(2, 1000), other_ks(100, 1000), other_ks(5, 8)
    ([10, 3, 20], [3, 5, 10], [50, 20, 10], [3, 2])
    """
    larger = [k for k in _KS if own < k <= most]
    smaller = [k for k in reversed(_KS) if k < own]
    order = [*larger[:1], *smaller[:1], *larger[1:], *smaller[1:]]
    return order[:_EXTRA_RUNS]


def tried_for_other_ks(best: Trial, table: Table, task: TrialTask, clock: Clock) -> dict[int, Trial]:
    """The chosen method for its own k and for others, as long as there is time for another run; what holds."""
    own = k_of(task.policy)
    if own is None:
        return {}
    trials = {own: best}
    # what other models imply holds for every k
    least = k_of(task.policy.model_copy(update={"models": _without_k(task.policy)})) or 1
    for k in [k for k in other_ks(own, table.rows // 2) if k >= least]:
        if clock.left < best.candidate.seconds:
            break
        progress.report(f"trying {best.method.name} for k = {k}", 0)
        trial = tried(best.method, table, task.with_k(k), clock.left)
        if trial.candidate.verdict == "holds":
            trials[k] = trial
    return dict(sorted(trials.items()))


def _without_k(policy: Policy) -> list[AnyModel]:
    return [model for model in policy.models if not isinstance(model, KAnonymity)]


def best_for_each_k(trials: Mapping[int, Trial], figure: str, prefer: Prefer) -> dict[int, int]:
    """For each k the k whose release costs least of those with classes as large: a whole release, not two figures."""
    return {
        k: min(
            (other for other in trials if other >= k), key=lambda other: cost(trials[other].candidate, figure, prefer)
        )
        for k in trials
    }


def frontier_of(trials: Mapping[int, Trial], best: Mapping[int, int]) -> list[FrontierPoint]:
    """The points, the smallest k first."""
    points = []
    for k, other in best.items():
        candidate = trials[other].candidate
        points.append(FrontierPoint(k, 1 / k, candidate.information_loss, candidate.loss, other))
    return points


def for_policy(result: Anonymized, policy: Policy) -> Anonymized:
    """A release that was made for a larger k, judged by the policy that was asked for."""
    own = result.policy.model_copy(update={"models": policy.models})
    nobody = np.zeros(result.table.rows, np.int64)
    levels = result.parameters.get("levels")
    evidence = evidence_of_result(result.table, own, result.columns, nobody, levels, shown_values=True)
    plan = None if result.plan is None else replace(result.plan, policy=own)
    return replace(result, policy=own, models=judged(own, evidence), plan=plan, verdict=None)  # type: ignore[arg-type]
