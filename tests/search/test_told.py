"""What a search that was not finished says: that the time ran out, how far the optimum can be, and the cure."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal import progress
from shoal.methods.outcomes import out_of_time
from shoal.methods.search.generalize import SearchOptions
from shoal.methods.search.optimum import Optimum
from shoal.methods.solve import Solution, why

FEW = pl.DataFrame({"age": [30, 34, 51, 52], "sex": ["f", "f", "m", "f"]})


def test_a_search_without_time_says_so() -> None:
    result = shoal.anonymize(FEW, quasi_identifiers=["age", "sex"], k=2, method="lattice")
    search = result.findings.search
    assert search is not None
    assert search.optimal
    assert "time" not in result.summary()
    late = replace(search, optimal=False, score=0.528202, lower_bound=0.3320)
    said = replace(result, findings=replace(result.findings, search=late)).summary()
    assert "The time ran out: the score is at most 59.1% above the optimum" in said
    assert "`time_limit`" in said


def test_so_does_the_solution_space() -> None:
    node, options = Solution({"age": 1}, 0.528202, 0, 3, 5, 0.2), SearchOptions(suppression=0.0)
    late = Optimum(None, 0.528202, 0.3320, False, 1000, 20, [])
    assert "among 20 of 1,000 generalisations. The time ran out: the score is at most 59.1%" in why(
        node, [], late, options
    )
    assert "time" not in why(node, [], replace(late, optimal=True), options)
    # that none was found in time does not mean that there is none
    unknown = "None of the 20 generalisations that were looked at, of 1,000, keeps"
    assert why(None, [], late, options).startswith(unknown)
    assert why(None, [], replace(late, optimal=True), options).startswith("None of the 1,000 generalisations keeps")


@pytest.mark.parametrize("bound", [0.001, 0.1, 0.3320, 0.4999])
def test_the_gap_is_rounded_up(bound: float) -> None:
    said = float(out_of_time(0.5, bound).split("at most ")[1].split("%")[0]) / 100
    assert (0.5 - bound) / bound - 1e-12 <= said < (0.5 - bound) / bound + 0.001 + 1e-9


def test_searches_tell_how_far_they_are() -> None:
    heard: list[tuple[str, float, float | None]] = []
    with progress.listening(lambda *told: heard.append(told)):
        shoal.anonymize(FEW, quasi_identifiers=["age", "sex"], k=2, method="lattice")
        shoal.anonymize(FEW, quasi_identifiers=["age", "sex"], k=2, method="suppress")
    looked = [step for step, _, _ in heard if step.startswith("searching the lattice: ")]
    assert looked[0] == "searching the lattice: 1 generalisations looked at"
    sets = [(done, total) for step, done, total in heard if step == "suppressing: sets of columns"]
    assert [done for done, _ in sets] == sorted(done for done, _ in sets)
    assert {total for _, total in sets} == {3}
