"""Boxes of nodes narrowed from both sides: nothing below a proven target, whatever is left when time is over."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search import brute
from shoal.kernels.lattice_boxes import DONE, OFFERED
from shoal.methods.search import optimum as searching
from shoal.methods.search.closing import BoxSearch, boxes_for
from shoal.methods.search.generalize import SearchOptions, Space, generalize, prepare
from shoal.models import KAnonymity, LDiversity, Model
from shoal.policy import as_policy
from shoal.storage.reading import read

TREE = {"town": [["x", "p", "*"], ["y", "q", "*"], ["z", "q", "*"]]}


def made(seed: int, quality: str, suppression: float, models: list[Model] | None = None) -> brute.Problem:
    rng = Random(seed)
    return brute.random_problem(
        rng, models or [KAnonymity(k=rng.choice([2, 3, 5]))], quality=quality, suppression=suppression
    )


def laid_out(problem: brute.Problem) -> tuple[Space, SearchOptions]:
    options = SearchOptions(problem.suppression, problem.quality, problem.column_weights, problem.levels)
    prepared = prepare(read(problem.frame), as_policy(problem.policy()), problem.hierarchies, options)
    return prepared.space, options


def test_a_proof_by_hand() -> None:
    """x x y z, k=2, nothing suppressed: `town` cannot stay, and p p q q costs (2/3 + 4/3 - 4/3) / (4 - 4/3) = 1/4."""
    policy = as_policy({"columns": {"town": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 2}]})
    space = prepare(read(pl.DataFrame({"town": ["x", "x", "y", "z"]})), policy, TREE, SearchOptions()).space
    boxes = BoxSearch(space.grid(SearchOptions()), 2, 0)
    boxes.start()
    assert boxes.run(np.log(1.25), 100)[0] == DONE
    boxes.start()
    status, levels = boxes.run(np.log(1.25) + 1e-9, 100)
    assert (status, levels.tolist()) == (OFFERED, [1])
    assert boxes.least_open() == pytest.approx(np.log(1.25))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**9),
    suppression=st.sampled_from([0.0, 0.05, 0.2, 1.0]),
    quality=st.sampled_from(["loss", "precision", "entropy"]),
    share=st.floats(0.0, 1.2),
    looks=st.integers(1, 40),
)
def test_no_node_is_below_what_boxes_say(seed: int, suppression: float, quality: str, share: float, looks: int) -> None:
    """Stopped anywhere, the best node was offered, or is in a box that is left, or is not below the target."""
    problem = made(seed, quality, suppression)
    space, options = laid_out(problem)
    grid = space.grid(options)
    k = next(model.k for model in problem.models if isinstance(model, KAnonymity))
    boxes = BoxSearch(grid, k, int(suppression * space.members + 1e-9))
    boxes.start()
    target = share * grid.importance * (np.log(2) if grid.measure.geometric else 1.0)
    offered: list[tuple[int, ...]] = []
    status = OFFERED
    while status == OFFERED:
        status, levels = boxes.run(target, looks)
        offered.append(tuple(levels.tolist()))
    proven = target if status == DONE else min(target, boxes.least_open())
    wanted = brute.best(problem)
    if wanted is not None and wanted.levels not in offered[:-1]:
        assert grid.score(np.exp(proven)) <= wanted.score + 1e-9


@settings(max_examples=25)
@given(seed=st.integers(0, 10**9), suppression=st.sampled_from([0.05, 0.2]))
def test_a_bound_by_k_holds_with_other_models(seed: int, suppression: float) -> None:
    """Nodes that keep k but not the other model are offered, looked at, and not taken."""
    problem = made(seed, "loss", suppression, [KAnonymity(k=2), LDiversity(l=2, sensitive="s")])
    space, options = laid_out(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_LISTED", 0)
        patch.setattr(searching, "_OPEN", 0)
        first, second = (generalize(space, problem.models, options).optimum for _ in range(2))
    wanted = brute.best(problem)
    assert first.optimal
    assert first.score == (None if wanted is None else pytest.approx(wanted.score, rel=1e-9, abs=1e-9))
    assert (first.score, first.best and first.best.levels) == (second.score, second.best and second.best.levels)
    assert first.nodes_checked == second.nodes_checked


def test_only_where_classes_must_have_k_members() -> None:
    problem = made(1, "loss", 0.05)
    space, options = laid_out(problem)
    grid = space.grid(options)
    assert boxes_for(space.evaluator(grid, [LDiversity(l=2, sensitive="s")], 3)) is None
    assert boxes_for(space.evaluator(grid, [KAnonymity(k=2)], 3)) is not None
