"""Unicity: planted traces, an oracle by sets, and the shares that the literature reports."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.common import wilson
from shoal.attacks.unicity import attack_unicity
from shoal.exposure.known_points import alone_with, known_points
from shoal.reproduction.sample.small import trips
from shoal.storage.classes import Coded


def shares(found: list[object]) -> list[float]:
    return [entry.uniqueness for entry in found]  # type: ignore[attr-defined]


def test_planted_traces() -> None:
    """Users 1 and 2 share both points, 3 has one of them and one of its own, 4 only a point that 3 has too."""
    table = {"user": [1, 1, 2, 2, 3, 3, 4], "cell": [7, 8, 7, 8, 8, 9, 9], "hour": [1, 2, 1, 2, 2, 3, 3]}
    found = attack_unicity(table, person="user", columns=["cell", "hour"], points=[1, 2])
    assert found.persons == found.targets == 4
    assert shares(found.points) == [0.0, 0.25]  # only user 3 with both points
    assert (found.points[1].low, found.points[1].high) == wilson(1, 4)
    assert any("fewer than 30 targets" in note for note in found.notes)
    assert any("1 target with fewer than 2 different points" in note for note in found.notes)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=40),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_against_sets(rows: list[tuple[int, int]], most: int, seed: int) -> None:
    people, owner = np.unique([user for user, _ in rows], return_inverse=True)
    point = np.array([cell for _, cell in rows])
    target, asked = np.arange(len(people)), list(range(1, most + 1))
    owners, points = Coded(owner, len(people)), Coded(point, 5)
    unique, few = alone_with(owners, points, target, asked, seed)
    known = known_points(owners, points, target, most, seed)
    visited = [{cell for user, cell in rows if user == name} for name in people.tolist()]
    assert few == sum(len(cells) < most for cells in visited)
    for t in target.tolist():
        line = [code for code in known.codes[t].tolist() if code >= 0]
        assert len(line) == len(set(line)) == min(most, len(visited[t]))
        assert set(line) <= visited[t]
        for a, number in enumerate(asked):
            alike = [who for who, cells in enumerate(visited) if who != t and set(line[:number]) <= cells]
            assert unique[t, a] == (not alike)


def test_more_points_never_single_out_fewer_and_coarser_ones_single_out_fewer() -> None:
    found = attack_unicity(
        trips(100_000),
        person="user",
        columns=["cell", "hour"],
        points=[4, 1, 2, 3],
        coarsen={"hour": ["1", "24", "720"]},
    )
    assert [entry.points for entry in found.points] == [1, 2, 3, 4]
    assert shares(found.points) == sorted(shares(found.points))
    assert found.points[3].uniqueness > 0.9
    assert found.sweep is not None
    assert [part.steps for part in found.sweep] == [{"hour": "1"}, {"hour": "24"}, {"hour": "720"}]
    assert found.sweep[0].points == found.points  # a step of one hour changes nothing
    at_two = [part.points[1].uniqueness for part in found.sweep]
    assert at_two == sorted(at_two, reverse=True)
    assert at_two[2] < at_two[0] / 2


def test_a_thousand_of_many_users_are_drawn() -> None:
    table = trips(300_000, seed=3)
    everybody = attack_unicity(table, person="user", columns=["cell", "hour"], points=[2])
    some = attack_unicity(table, person="user", columns=["cell", "hour"], points=[2], targets=1_000, seed=5)
    assert (everybody.targets, some.targets) == (3_000, 1_000)
    assert some.points[0].low <= everybody.points[0].uniqueness <= some.points[0].high


def test_times_texts_and_missing_parts() -> None:
    when = pl.Series(["2020-01-01 10:00", "2020-01-01 10:20", "2020-01-02 09:00"]).str.to_datetime()
    table = pl.DataFrame({"user": [1, 2, 3], "geohash": ["u33dc", "u33dx", None], "when": when})
    found = attack_unicity(
        table, person="user", columns=["geohash", "when"], points=[1], coarsen={"geohash": ["5", "4"], "when": ["1h"]}
    )
    assert found.persons == 2  # the third was nowhere that is known
    assert any("1 row without a whole point" in note for note in found.notes)
    assert found.sweep is not None
    assert [part.points[0].uniqueness for part in found.sweep] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"columns": []}, "No columns are named"),
        ({"columns": ["user"]}, "whose row it is"),
        ({"columns": ["cell"], "points": [0]}, "1 or more"),
        ({"columns": ["cell"], "targets": 0}, "number of targets"),
        ({"columns": ["cell"], "coarsen": {"hour": ["1"]}}, "is swept"),
        ({"columns": ["cell"], "coarsen": {"cell": ["6h"]}}, "is not a width"),
        ({"columns": ["cell"], "coarsen": {"cell": ["0"]}}, "is not a width"),
        ({"columns": ["name"], "coarsen": {"name": ["1.5"]}}, "leading characters"),
        ({"columns": ["day"], "coarsen": {"day": ["6"]}}, "is not a duration"),
        ({"columns": ["nothing"]}, "has no column 'nothing'"),
        ({"columns": ["empty"]}, "lacks a part"),
    ],
)
def test_what_cannot_be_measured_is_refused(how: dict[str, object], said: str) -> None:
    day = pl.Series(["2020-01-01", "2020-01-02"]).str.to_date()
    empty = pl.Series([None, None], dtype=pl.Int64)
    table = pl.DataFrame({"user": [1, 2], "cell": [73919, 1], "name": ["Zqx", "b"], "day": day, "empty": empty})
    with pytest.raises(shoal.InputError, match=said) as refused:
        attack_unicity(table, person="user", **how)  # type: ignore[arg-type]
    assert "73919" not in str(refused.value)
    assert "Zqx" not in str(refused.value)
