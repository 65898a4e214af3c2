"""The search against a look at every node: every model, combinations, limits, qualities; nothing is special."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from models.makers import MAKERS, POPULATION
from search import brute
from shoal.methods.search import optimum as searching
from shoal.methods.search import sources
from shoal.methods.search.generalize import Generalized, SearchOptions, generalize, prepare
from shoal.models import KAnonymity, TCloseness
from shoal.policy import as_policy
from shoal.storage.reading import read

LIMITS = [0.0, 0.05, 0.2, 1.0]
COLUMN_QUALITIES = ["loss", "precision", "entropy"]
CLASS_QUALITIES = ["discernibility", "average-class-size"]


def search(problem: brute.Problem, time_limit: float = 60.0, local: bool = False) -> Generalized:
    """What the search finds; a population is read from a file."""
    policy = as_policy(problem.policy())
    search_options = SearchOptions(
        problem.suppression, problem.quality, problem.column_weights, problem.levels, time_limit, local
    )
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            if problem.population:
                problem.people.write_csv(POPULATION)
            prepared = prepare(read(problem.frame), policy, problem.hierarchies, search_options)
            return generalize(prepared.space, prepared.policy.models, search_options)
        finally:
            os.chdir(here)


def made(seed: int, names: list[str], quality: str, suppression: float) -> brute.Problem:
    rng = Random(seed)
    models = [MAKERS[name](rng) for name in names]
    population = POPULATION if any(model.needs_population for model in models) else ""
    return brute.random_problem(rng, models, quality=quality, suppression=suppression, population_name=population)


def check(problem: brute.Problem) -> None:
    """The search and the brute force agree on everything."""
    wanted, found = brute.best(problem), search(problem).optimum
    assert found.nodes_total == len(problem.nodes)
    assert found.nodes_checked <= found.nodes_total
    assert found.optimal
    assert found.lower_bound == found.score
    if wanted is None:
        assert found.best is None
        assert found.score is None
        return
    assert found.best is not None
    assert found.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-9)
    assert (found.best.suppressed, found.best.levels) == (wanted.suppressed, wanted.levels)


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**9), suppression=st.sampled_from(LIMITS), quality=st.sampled_from(COLUMN_QUALITIES))
def test_every_model_alone(name: str, seed: int, suppression: float, quality: str) -> None:
    check(made(seed, [name], quality, suppression))


@settings(max_examples=120)
@given(
    seed=st.integers(0, 10**9),
    names=st.lists(st.sampled_from(sorted(MAKERS)), min_size=2, max_size=4, unique=True),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from(COLUMN_QUALITIES),
)
def test_combinations(seed: int, names: list[str], suppression: float, quality: str) -> None:
    check(made(seed, names, quality, suppression))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**9),
    names=st.lists(st.sampled_from(sorted(MAKERS)), min_size=1, max_size=2, unique=True),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from(CLASS_QUALITIES),
)
def test_qualities_of_classes(seed: int, names: list[str], suppression: float, quality: str) -> None:
    check(made(seed, names, quality, suppression))


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**9),
    names=st.lists(st.sampled_from(sorted(MAKERS)), min_size=0, max_size=2, unique=True),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from([*COLUMN_QUALITIES, *CLASS_QUALITIES]),
    room=st.sampled_from([0, 1 << 20]),
)
def test_nodes_rolled_up_from_others_are_the_same(
    seed: int, names: list[str], suppression: float, quality: str, room: int
) -> None:
    """With a source for every node, and with sources that are thrown away at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_FEW", 0)
        patch.setattr(sources, "_FEWER", 1.0)
        patch.setattr(sources, "_LOOKS", 0)
        patch.setattr(sources, "_ROOM", room)
        check(made(seed, [*names, "k-anonymity"], quality, suppression))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), suppression=st.sampled_from(LIMITS), distance=st.sampled_from(["equal", "auto"]))
def test_closeness_beside_k(seed: int, suppression: float, distance: str) -> None:
    """The pair that has a loop of its own, with and without a tree of the sensitive column."""
    rng = Random(seed)
    models = [KAnonymity(k=rng.randint(2, 4)), TCloseness(t=rng.choice([0.1, 0.25, 0.4]), sensitive="s")]
    if distance == "equal":
        models[1] = models[1].model_copy(update={"distance": "equal"})
    problem = brute.random_problem(rng, models, suppression=suppression)
    tree = brute.random_tree(rng, "s", 5, False)
    check(replace(problem, sensitive_trees={"s": tree} if distance == "auto" else {}))


@pytest.mark.parametrize("most", [0, 1 << 10])
@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**9),
    names=st.lists(st.sampled_from(sorted(MAKERS)), min_size=1, max_size=3, unique=True),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from(COLUMN_QUALITIES),
)
def test_a_search_of_large_lattices_finds_the_same(
    most: int, seed: int, names: list[str], suppression: float, quality: str
) -> None:
    """By boxes, and by a list of the open nodes."""
    problem = made(seed, names, quality, suppression)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_LISTED", 0)
        patch.setattr(searching, "_OPEN", most)
        found = search(problem).optimum
    wanted = brute.best(problem)
    assert found.optimal
    assert found.lower_bound == found.score
    assert (found.best is None) == (wanted is None)
    if wanted is not None:
        assert found.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-9)
        assert found.best is not None
        node = brute.look(problem, found.best.levels)
        assert node is not None
        assert node.suppressed == found.best.suppressed


@pytest.mark.parametrize(("listed", "most"), [(0, 0), (0, 1 << 10), (1 << 18, 0)])
@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**9),
    names=st.lists(st.sampled_from(sorted(MAKERS)), min_size=1, max_size=2, unique=True),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from([*COLUMN_QUALITIES, *CLASS_QUALITIES]),
    looks=st.integers(0, 6),
)
def test_out_of_time_the_bound_still_holds(
    listed: int, most: int, seed: int, names: list[str], suppression: float, quality: str, looks: int
) -> None:
    """The clock stops after a few looks at it: what was found is a solution, and none is below the bound."""
    problem = made(seed, names, quality, suppression)
    ticks = iter([0.0] * (looks + 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_LISTED", listed)
        patch.setattr(searching, "_OPEN", most)
        patch.setattr(searching, "time", SimpleNamespace(monotonic=lambda: next(ticks, 1e9)))
        found = search(problem, time_limit=1.0).optimum
    wanted = brute.best(problem)
    if wanted is None:
        assert found.best is None
    elif found.best is None:
        assert not found.optimal
        assert found.lower_bound is not None
        assert found.lower_bound <= wanted.score + 1e-9
    else:
        assert found.score is not None
        assert found.lower_bound is not None
        assert found.lower_bound <= wanted.score + 1e-9
        assert wanted.score <= found.score + 1e-9
        assert not found.optimal or found.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-9)
        node = brute.look(problem, found.best.levels)
        assert node is not None
        assert (found.score, found.best.suppressed) == (pytest.approx(node.score), node.suppressed)


@pytest.mark.parametrize(("quality", "best"), [("discernibility", 61 / 121), ("average-class-size", 1 / 3)])
def test_the_bound_of_class_qualities_by_hand(quality: str, best: float) -> None:
    """Five, five, and one who may be suppressed: three classes, and (25 + 25 + 11) / 121."""
    rows = [("a0",)] * 5 + [("a1",)] * 5 + [("a2",)]
    problem = brute.Problem(rows, [[["a0", "*"], ["a1", "*"], ["a2", "*"]]], [KAnonymity(k=5)], quality=quality)
    problem = replace(problem, suppression=0.1)
    assert search(problem).optimum.score == pytest.approx(best)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "time", SimpleNamespace(monotonic=iter([0.0, *[9.0] * 99]).__next__))
        found = search(problem, time_limit=1.0).optimum
    assert found.best is None
    assert not found.optimal
    assert found.lower_bound is not None
    assert 0 < found.lower_bound <= best


def two_columns(**changes: Any) -> brute.Problem:
    """Four people that are alike only once everything is `*`."""
    rows = [("a0", "b0"), ("a0", "b1"), ("a1", "b0"), ("a1", "b1")]
    trees = [[["a0", "*"], ["a1", "*"]], [["b0", "*"], ["b1", "*"]]]
    return replace(brute.Problem(rows, trees, [KAnonymity(k=4)]), **changes)


def test_everything_suppressed_is_never_a_solution() -> None:
    for suppression in LIMITS:
        found = search(two_columns(suppression=suppression)).optimum
        assert found.best is None
        assert found.score is found.lower_bound is None
        assert found.optimal
    found = search(two_columns(models=[KAnonymity(k=2)])).optimum
    # (1, 0) is as good as (0, 1); of equals the least levels win
    assert found.best is not None
    assert found.best.levels == (0, 1)


def test_rows_without_a_value_left_are_suppressed() -> None:
    """In uneven trees a row can be `*` everywhere below the top."""
    trees = [[["a0", "p", "*"], ["a1", "*", "*"]], [["b0", "p", "*"], ["b1", "*", "*"]]]
    rows = [("a0", "b0")] * 8 + [("a1", "b1")] * 2
    levels = {"q0": (1, 1), "q1": (1, 1)}
    strict = brute.Problem(rows, trees, [KAnonymity(k=2)], suppression=0.1, levels=levels)
    assert search(strict).optimum.best is None
    found = search(replace(strict, suppression=0.2))
    assert found.optimum.best is not None
    assert found.optimum.best.suppressed == int((found.round_of_row < 0).sum()) == 2
    # by hand: a share of 1/2 of the leaves in 8 rows, 1 in 2: (6 - 10/2) / (10 - 10/2) = 1/5 in both columns
    assert found.optimum.score == pytest.approx(0.2)


def test_equal_scores_are_settled_by_fewer_suppressed_records() -> None:
    """By precision, half a column for everybody costs what one of four records costs in both columns."""
    trees = [[["a0", "p", "*"], ["a1", "p", "*"]], [["b0", "*"]]]
    rows = [("a0", "b0"), ("a0", "b0"), ("a0", "b0"), ("a1", "b0")]
    problem = brute.Problem(rows, trees, [KAnonymity(k=2)], quality="precision", suppression=0.25)
    found = search(problem).optimum
    assert found.score == 0.25
    assert found.best is not None
    assert (found.best.levels, found.best.suppressed) == ((1, 0), 0)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9), names=st.lists(st.sampled_from(sorted(MAKERS)), min_size=1, max_size=2, unique=True))
def test_the_order_of_rows_and_records_written_out_change_nothing(seed: int, names: list[str]) -> None:
    problem = made(seed, names, "loss", 0.2)
    order = list(range(len(problem.rows)))
    if problem.weights is not None:
        order = [row for row in order for _ in range(problem.weights[row])]
    Random(seed).shuffle(order)
    beside = {name: [values[row] for row in order] for name, values in problem.beside.items()}
    again = replace(problem, rows=[problem.rows[row] for row in order], beside=beside, weights=None)
    first, second = search(problem).optimum, search(again).optimum
    assert first.score == pytest.approx(second.score, rel=1e-12) if second.score is not None else first.score is None
    assert (first.best is None) == (second.best is None)
    if first.best is not None and second.best is not None:
        assert (first.best.levels, first.best.suppressed) == (second.best.levels, second.best.suppressed)


PERSONAL = [name for name in MAKERS if not MAKERS[name](Random(0)).needs_population and name != "xy-anonymity x"]


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**9),
    names=st.lists(st.sampled_from(PERSONAL), min_size=1, max_size=2, unique=True),
    suppression=st.sampled_from(LIMITS),
    quality=st.sampled_from([*COLUMN_QUALITIES, *CLASS_QUALITIES]),
)
def test_persons_with_many_rows(seed: int, names: list[str], suppression: float, quality: str) -> None:
    """Classes are of persons with the same records, and who is suppressed goes whole."""
    rng = Random(seed)
    problem = replace(made(seed, names, quality, suppression), weights=None)
    people = rng.randint(2, len(problem.rows))
    check(replace(problem, persons=[f"p{rng.randrange(people)}" for _ in problem.rows]))


def test_a_column_of_more_than_256_levels_in_a_large_lattice() -> None:
    """Levels past a byte, in a lattice whose proof lists the nodes that are open."""
    draw, heights = Random(4), {"a": 298, "b": 32, "c": 32}
    trees = {
        name: [[f"{leaf}", *(f"{max(leaf, level)} or less" for level in range(1, height))] for leaf in range(height)]
        for name, height in heights.items()
    }
    rows = {name: [f"{draw.randrange(height)}" for _ in range(300)] for name, height in heights.items()}
    how: dict[str, Any] = {"quasi_identifiers": list(heights), "k": 3, "method": "lattice", "suppression": 0.1}
    made = shoal.anonymize(pl.DataFrame(rows), hierarchies=trees, **how)
    assert made.findings.search is not None
    assert made.findings.search.nodes_total > 1 << 18
    assert made.findings.k >= 3
    assert made.verdict == "holds"
