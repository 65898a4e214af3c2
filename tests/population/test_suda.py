"""Special uniques: by hand, against brute force, and against sdcMicro's figures."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.population.suda import dis_suda, special_uniques
from shoal.storage.classes import Coded, CountTable


def brute(rows: list[tuple[int, ...]], size: int) -> list[set[tuple[int, ...]]]:
    """The minimal sample uniques of each row, straight from the definition."""
    width = len(rows[0])
    found: list[set[tuple[int, ...]]] = [set() for _ in rows]
    for number in range(1, size + 1):
        for members in combinations(range(width), number):
            keys = [tuple(row[place] for place in members) for row in rows]
            seen = Counter(keys)
            for place, key in enumerate(keys):
                if seen[key] == 1 and not any(set(smaller) < set(members) for smaller in found[place]):
                    found[place].add(members)
    return found


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=25)
)


@given(tables, st.integers(1, 5))
def test_equals_brute_force(rows: list[tuple[int, ...]], size: int) -> None:
    width = len(rows[0])
    columns = {str(j): Coded(np.array([row[j] for row in rows]), 4) for j in range(width)}
    counted = CountTable.of(columns)
    found = special_uniques(list(counted.tuples.values()), counted.counts, size)
    expected = brute(rows, min(size, width))
    tuples = list(zip(*(coded.codes.tolist() for coded in counted.tuples.values()), strict=True))
    scores = {row: sum(factorial(width - len(m)) for m in sets) for row, sets in zip(rows, expected, strict=True)}
    assert found.scores.tolist() == [scores[key] for key in tuples]
    assert dict(found.sets) == Counter(members for sets in expected for members in sets)
    assert found.total == sum(scores[row] for row in rows)


def test_by_hand() -> None:
    table = pl.DataFrame({"age": [30, 30, 41, 41], "sex": ["f", "m", "m", "x"]})
    found = shoal.risk(table, quasi_identifiers=["age", "sex"], suda=True).suda
    assert found is not None
    # row 0 is the only f, row 3 the only x: one column each, (2 - 1)! = 1; rows 1 and 2 need both: 0! = 1
    assert (found.records, found.sum, found.max) == (4, 4, 1)
    assert [(entry.columns, entry.records) for entry in found.patterns] == [(["sex"], 2), (["age", "sex"], 2)]
    assert [(entry.column, entry.share) for entry in found.contributions] == [("age", 0.5), ("sex", 1.0)]
    assert found.first == [0, 1, 2, 3]
    assert found.dis_suda is None


def test_figures_of_sdcmicro(data: Path) -> None:
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    result = shoal.risk(data / "sdcmicro" / "testdata.csv", quasi_identifiers=keys, suda=True, sampling="1%")
    assert result.suda is not None
    assert (result.suda.sum, result.suda.max, result.suda.records) == (4890, 720, 157)
    scores = result.per_record["suda_score"]
    assert [scores[row] for row in result.suda.first] == sorted(scores, reverse=True)[:20]
    assert result.suda.dis_suda is not None
    assert 0 < result.suda.dis_suda.average < result.suda.dis_suda.highest < 1


def test_dis_suda_spreads_the_chance_of_the_file() -> None:
    # equal scores: everybody has the chance of the file, U p / (U p + P (1 - p))
    found = dis_suda(np.array([6.0, 6.0, 6.0]), uniques=3, pairs=10, share=0.2, columns=5)
    assert found == pytest.approx([3 * 0.2 / (3 * 0.2 + 10 * 0.8)] * 3)
    spread = dis_suda(np.array([2.0, 24.0]), 2, 8, 0.1, 5)
    assert spread[0] < spread[1]


def test_counts_and_removed_rows_keep_their_places() -> None:
    table = pl.DataFrame({"a": [1, 1, None, 2, 3], "b": ["x", "x", "y", "x", "x"], "n": [1, 2, 1, 0, 1]})
    found = shoal.risk(table, quasi_identifiers=["a", "b"], count="n", null_rule="drop", suda=True)
    assert found.suda is not None
    assert (found.suda.first, found.suda.records) == ([4], 1)
    assert found.per_record["suda_score"].to_list() == [0.0, 0.0, None, None, 1.0]


def test_wide_tables_are_searched_up_to_a_size_only() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": rng.integers(0, 5, 50) for j in range(30)})
    with pytest.raises(shoal.InputError, match="too many to search"):
        shoal.risk(table, quasi_identifiers=table.columns, suda=True)
    found = shoal.risk(table, quasi_identifiers=table.columns, suda_size=2).suda
    assert found is not None
    assert found.size == 2


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ({"null_rule": "wildcard"}, "equal values"),
        ({"person": "p"}, "persons"),
        ({"suda_size": 0}, "one column or more"),
    ],
)
def test_what_cannot_be_searched_is_refused(setting: dict[str, object], what: str) -> None:
    table = pl.DataFrame({"a": [1, None, 2], "p": [1, 1, 2]})
    with pytest.raises(shoal.InputError, match=what):
        shoal.risk(table, quasi_identifiers=["a"], **{"suda": True, **setting})  # type: ignore[arg-type]
