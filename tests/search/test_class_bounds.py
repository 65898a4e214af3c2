"""Measures of class sizes: bounds that hold for every node, the short way to a node's sums, and ties."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search import brute
from search.test_optimum import CLASS_QUALITIES, LIMITS, check, made, search
from shoal.methods.search import class_search
from shoal.methods.search.class_search import ClassLook
from shoal.methods.search.evaluate import ClassSums
from shoal.methods.search.generalize import SearchOptions, Space, prepare
from shoal.models import KAnonymity
from shoal.policy import as_policy
from shoal.storage.reading import read


def made_ready(problem: brute.Problem) -> Space:
    """The table of a problem, counted."""
    policy = as_policy(problem.policy())
    return prepare(read(problem.frame), policy, problem.hierarchies, options(problem)).space


def options(problem: brute.Problem) -> SearchOptions:
    return SearchOptions(problem.suppression, problem.quality, problem.column_weights, problem.levels)


def class_look(problem: brute.Problem) -> ClassLook:
    space = made_ready(problem)
    evaluate = space.evaluator(space.grid(options(problem)), problem.models, problem.limit)
    k = max((model.k for model in problem.models if isinstance(model, KAnonymity)), default=1)
    return ClassLook(evaluate, problem.quality, k)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**9),
    names=st.lists(st.sampled_from(["k-anonymity", "l-diversity", "t-closeness equal"]), max_size=2),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from(CLASS_QUALITIES),
    looks=st.integers(0, 8),
)
def test_no_node_is_better_than_its_bound(
    seed: int, names: list[str], suppression: float, quality: str, looks: int
) -> None:
    """Whatever was looked at: what is closed is worse than the best, and no open node is below its bound."""
    problem = made(seed, ["k-anonymity", *sorted(set(names) - {"k-anonymity"})], quality, suppression)
    look, rng = class_look(problem), Random(seed)
    scores = {levels: node for levels in problem.nodes if (node := brute.look(problem, levels)) is not None}
    nodes = rng.sample(problem.nodes, min(looks, len(problem.nodes)))
    outcomes = [look(np.array(levels)) for levels in nodes]
    for levels, outcome in zip(nodes, outcomes, strict=True):
        assert outcome.feasible == (levels in scores)
        assert not outcome.feasible or outcome.product == pytest.approx(scores[levels].score, rel=1e-12)
    feasible = [outcome for outcome in outcomes if outcome.feasible]
    best = min(feasible, key=lambda outcome: (outcome.product, outcome.suppressed)) if feasible else None
    if best is not None:
        look.found(best)
    still_open = [place for place, levels in enumerate(problem.nodes) if look.is_open[place] and levels not in nodes]
    left = [scores[problem.nodes[place]].score for place in still_open if problem.nodes[place] in scores]
    assert look.least_open() <= min(left, default=np.inf) * (1 + 1e-12)
    for place, levels in enumerate(problem.nodes):
        if levels in scores and levels not in nodes and not look.is_open[place]:
            assert best is not None
            assert (scores[levels].score, scores[levels].suppressed) >= (best.product * (1 - 1e-9), 0)
            if scores[levels].score == pytest.approx(best.product, rel=1e-12):
                assert scores[levels].suppressed > best.suppressed


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), suppression=st.sampled_from(LIMITS), quality=st.sampled_from(CLASS_QUALITIES))
def test_sums_are_those_of_the_classes(seed: int, suppression: float, quality: str) -> None:
    """The sums of a node in one pass, and what they tell, beside its classes one by one."""
    problem = made(seed, ["k-anonymity"], quality, suppression)
    look = class_look(problem)
    k, evaluate = look.bound.k, look.evaluate
    for levels in problem.nodes:
        sums, found = evaluate.class_sums(np.array(levels), k), evaluate.judged(np.array(levels))
        if sums is None:
            assert evaluate.has_nothing(np.array(levels))
            continue
        kept = found.sizes[found.sizes >= k]
        assert sums == ClassSums(len(kept), (kept**2).sum(), (kept // k).sum(), found.suppressed)
        assert look.bound.of_sums(sums) == look.bound.of_classes(found)


def test_sums_by_count_by_number_and_by_hash() -> None:
    """Keys that are few, more than tuples, and very many are counted in three ways."""
    rng = np.random.default_rng(0)
    for heights in ([3, 3], [40, 30], [200, 200, 200]):
        rows = [
            tuple(f"{'abc'[j]}{value}" for j, value in enumerate(row))
            for row in rng.integers(0, heights, (500, len(heights)))
        ]
        trees = [[[f"{'abc'[j]}{value}", "*"] for value in range(height)] for j, height in enumerate(heights)]
        look = class_look(brute.Problem(rows, trees, [KAnonymity(k=2)], quality="discernibility", suppression=0.5))
        sums = look.evaluate.class_sums(np.zeros(len(heights), np.int64), 2)
        sizes = np.unique(rows, axis=0, return_counts=True)[1]
        kept = sizes[sizes >= 2]
        assert sums == ClassSums(len(kept), (kept**2).sum(), (kept // 2).sum(), sizes[sizes < 2].sum())


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9), suppression=st.sampled_from(LIMITS), quality=st.sampled_from(CLASS_QUALITIES))
def test_many_ties(seed: int, suppression: float, quality: str) -> None:
    """Columns that say the same: many nodes have the same classes, and the least levels win."""
    problem = made(seed, ["k-anonymity"], quality, suppression)
    twice = replace(
        problem,
        rows=[(*row, row[0]) for row in problem.rows],
        trees=[*problem.trees, problem.trees[0]],
        levels={name: span for name, span in problem.levels.items() if name != "q0"},
    )
    check(twice)


@pytest.mark.parametrize("patience", [0, 1000])
@settings(max_examples=30)
@given(seed=st.integers(0, 10**9), quality=st.sampled_from(CLASS_QUALITIES))
def test_what_is_looked_at_first_changes_nothing(patience: int, seed: int, quality: str) -> None:
    """Without a search for a good start, and with nothing else; the forecast made anew after every look."""
    problem = made(seed, ["k-anonymity"], quality, 0.2)
    usual = search(problem).optimum
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_search, "_PATIENCE", patience)
        patch.setattr(class_search, "_LOOKS", 0)
        patch.setattr(class_search, "_MORE", 0.0)
        found = search(problem).optimum
    assert (found.score, found.optimal, found.lower_bound) == (usual.score, usual.optimal, usual.lower_bound)
    assert (found.best is None) == (usual.best is None)
    if found.best is not None and usual.best is not None:
        assert (found.best.levels, found.best.suppressed) == (usual.best.levels, usual.best.suppressed)
