"""Looks by packed tables against looks by the tuples themselves, and the search with them against every node."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search import brute
from search.test_optimum import COLUMN_QUALITIES, LIMITS, check
from shoal.kernels.lattice_bounds import product_at
from shoal.methods.search import optimum as searching
from shoal.methods.search import sources
from shoal.methods.search.evaluate import Evaluator
from shoal.methods.search.generalize import SearchOptions, prepare
from shoal.models import KAnonymity
from shoal.policy import Policy, as_policy
from shoal.storage.reading import read


def packing(patch: pytest.MonkeyPatch, cells: int, bits: int, saved: float, looks: int) -> None:
    """Pack small tables too, with few or many cells and bits, any columns together or none; roll up at once or late."""
    patch.setattr(sources, "_WORTH_PACKING", 0)
    patch.setattr(sources, "_MOST_CELLS", cells)
    patch.setattr(sources, "_SAVED", saved)
    patch.setattr(sources, "_MOST_BITS", bits)
    patch.setattr(sources, "_FEW", 0)
    patch.setattr(sources, "_FEWER", 1.0)
    patch.setattr(sources, "_LOOKS", looks)


WAYS = st.tuples(
    st.sampled_from([0, 1 << 20]), st.sampled_from([0, 1 << 20]), st.sampled_from([0.0, 0.3, 99.0]), st.integers(0, 2)
)


def problem_of(seed: int, suppression: float, quality: str) -> brute.Problem:
    rng = Random(seed)
    models = [KAnonymity(k=rng.randint(2, 5))]
    return brute.random_problem(rng, models, quality=quality, suppression=suppression)


def evaluator(problem: brute.Problem) -> Evaluator:
    options = SearchOptions(problem.suppression, problem.quality, problem.column_weights, problem.levels)
    space = prepare(read(problem.frame), as_policy(problem.policy()), problem.hierarchies, options).space
    limit = int(problem.suppression * space.members + 1e-9)
    return space.evaluator(space.grid(options), problem.models, limit)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**9),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from(COLUMN_QUALITIES),
    ways=WAYS,
)
def test_a_packed_look_tells_the_same_and_never_too_much_of_finer_nodes(
    seed: int, suppression: float, quality: str, ways: tuple[int, int, float, int]
) -> None:
    problem = problem_of(seed, suppression, quality)
    with pytest.MonkeyPatch.context() as patch:
        packing(patch, *ways)
        look = evaluator(problem)
        assert look.packed is not None
        nodes = [np.array(levels) for levels in problem.nodes]
        Random(seed).shuffle(nodes)
        found = [look(levels) for levels in nodes]
        exact = [look.exactly(levels) for levels in nodes]
    products = {node.levels: node.product for node in exact if node.feasible}
    for one, other in zip(found, exact, strict=True):
        assert (one.levels, one.suppressed, one.feasible, one.lost) == (
            other.levels,
            other.suppressed,
            other.feasible,
            other.lost,
        )
        assert one.product == pytest.approx(other.product, rel=1e-12)
        assert (one.below is None) == (other.below is None)
        finer = [levels for levels in products if all(np.array(levels) <= np.array(one.levels))]
        if one.below is None:
            assert not finer
            continue
        factors = look.grid.factors(one.below)
        for levels in finer:
            assert product_at(factors, np.array(levels)) <= products[levels] * (1 + 1e-9)


@pytest.mark.parametrize("listed", [0, 1 << 18])
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**9),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from(COLUMN_QUALITIES),
    ways=WAYS,
)
def test_a_search_by_packed_tables_finds_the_best(
    listed: int, seed: int, suppression: float, quality: str, ways: tuple[int, int, float, int]
) -> None:
    problem = problem_of(seed, suppression, quality)
    with pytest.MonkeyPatch.context() as patch:
        packing(patch, *ways)
        patch.setattr(searching, "_LISTED", listed)
        if listed:
            check(problem)
            return
        look = evaluator(problem)
        found = searching.find_best(look.grid, look, problem.quality)
    wanted = brute.best(problem)
    assert found.optimal
    assert (found.score is None) == (wanted is None)
    if wanted is not None:
        assert found.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-9)


def test_columns_that_depend_on_each_other_are_packed_into_the_combinations_that_exist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of 50 towns lies in one of 5 counties; ages are independent: 50 codes instead of 250."""
    monkeypatch.setattr(sources, "_INDEPENDENT", 1)
    towns = [town for town in range(50) for _ in range(40)]
    frame = {"town": [f"t{town}" for town in towns], "county": [f"c{town // 10}" for town in towns]}
    names = ["town", "county", "age"]
    policy = Policy(columns=dict.fromkeys(names, "quasi-identifier"), models=[KAnonymity(k=2)])
    table = read({**frame, "age": list(range(40)) * 50})
    grid = prepare(table, policy, None, SearchOptions()).space.grid(SearchOptions())
    tables = sources.PackedTables(grid)
    assert [[grid.axes[j].name for j in group] for group in tables.groups] == [["town", "county"], ["age"]]
    assert np.diff(tables.bottom.starts).tolist() == [50, 40]
    assert len(tables.bottom) == 2000
