"""k-anonymity with t-closeness: nodes that are only glanced at are worth what a look finds, and nothing is missed."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search import brute
from search.test_class_bounds import made_ready, options
from search.test_optimum import LIMITS, check, search
from shoal.methods.search import optimum
from shoal.methods.search.optimum import LatticeSearch, strides_of
from shoal.models import KAnonymity, TCloseness


def problem_of(seed: int, suppression: float, distance: str) -> brute.Problem:
    """A table with k and t, by the equal distance or by a tree of the sensitive column."""
    rng = Random(seed)
    closeness: dict[str, Any] = {"t": rng.choice([0.1, 0.25, 0.4]), "sensitive": "s", "distance": distance}
    models = [KAnonymity(k=rng.randint(2, 4)), TCloseness(**closeness)]
    problem = brute.random_problem(rng, models, suppression=suppression)
    beside = {**problem.beside, "s": [value or "s0" for value in problem.beside["s"]]}
    tree = brute.random_tree(rng, "s", 5, False)
    return replace(problem, beside=beside, sensitive_trees={"s": tree} if distance == "hierarchical" else {})


@pytest.mark.parametrize("part", [0.0, 1.0])
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**9),
    suppression=st.sampled_from(LIMITS[1:]),
    distance=st.sampled_from(["equal", "hierarchical"]),
)
def test_a_glance_is_a_look(part: float, seed: int, suppression: float, distance: str) -> None:
    """Every node, whether or not it is asked about finer ones: the same cost, and bounds that hold."""
    problem = problem_of(seed, suppression, distance)
    if any(weight > 1 for weight in problem.weights or []):
        problem = replace(problem, weights=None)
    space = made_ready(problem)
    grid = space.grid(options(problem))
    evaluate = space.evaluator(grid, problem.models, problem.limit)
    found = optimum.CoarseBounds.of(evaluate)
    assert found is not None
    found.part = part
    strides = strides_of(grid)
    looks = {levels: evaluate(np.array(levels)) for levels in problem.nodes}
    least = min((look.product for look in looks.values()), default=np.inf)
    bounds = np.ones(grid.size)
    within = LatticeSearch(grid, evaluate, np.inf)
    for levels, look in looks.items():
        parts, others = found.sources([np.array(levels)])
        if others:
            assert evaluate.has_nothing(np.array(levels))
            continue
        found.look(within, parts[0][0], parts[0][1], bounds, strides)
        glance = within.seen[levels]
        assert (glance.suppressed, glance.feasible) == (look.suppressed, look.feasible)
        assert glance.product == look.product
        assert glance.lost in {0, look.lost}
    for place, levels in enumerate(problem.nodes):
        if np.isfinite(bounds[place]) and looks[levels].feasible:
            assert bounds[place] <= looks[levels].product * (1 + 1e-9)
    if within.best is not None:
        assert within.best.product >= least


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**9),
    suppression=st.sampled_from(LIMITS),
    distance=st.sampled_from(["equal", "hierarchical"]),
    quality=st.sampled_from(["loss", "precision", "entropy", "discernibility", "average-class-size"]),
)
def test_the_best_of_all_nodes(seed: int, suppression: float, distance: str, quality: str) -> None:
    """Against a look at every node; among equal columns many nodes are as good as each other."""
    problem = replace(problem_of(seed, suppression, distance), quality=quality)
    check(problem)
    levels = {name: span for name, span in problem.levels.items() if name != "q0"}
    rows = [(*row, row[0]) for row in problem.rows]
    twice = replace(problem, rows=rows, trees=[*problem.trees, problem.trees[0]], levels=levels, column_weights={})
    if len(twice.nodes) <= 60:
        check(twice)


@pytest.mark.parametrize(("part", "step"), [(0.01, 1.0), (1.0, 1.0), (0.6, 3.0)])
@settings(max_examples=25)
@given(seed=st.integers(0, 10**9), suppression=st.sampled_from(LIMITS[1:]))
def test_whoever_is_asked_the_result_is_the_same(part: float, step: float, seed: int, suppression: float) -> None:
    """Nobody, everybody, and a guess that changes fast."""
    problem = problem_of(seed, suppression, "hierarchical")
    usual = search(problem).optimum
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimum, "_PART", part)
        patch.setattr(optimum, "_STEP", step)
        found = search(problem).optimum
    assert (found.score, found.optimal, found.lower_bound) == (usual.score, usual.optimal, usual.lower_bound)
    assert (found.best is None) == (usual.best is None)
    if found.best is not None and usual.best is not None:
        assert (found.best.levels, found.best.suppressed) == (usual.best.levels, usual.best.suppressed)
