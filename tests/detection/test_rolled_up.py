"""Sets of columns that are counted one by one, as on a cluster, against the search in one count table."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.detection.find import NOTE, RollUps, rolled_up
from shoal.engine import LOCAL


def by_sets(
    people: pl.DataFrame, rule: Any = "value", max_size: int | None = None, seconds: float = 60
) -> dict[str, Any]:
    work = RollUps(LOCAL, people, people.columns, rule, None, None)
    return rolled_up(work, max_size or people.width, time.monotonic() + seconds, []).to_dict()


def told(found: dict[str, Any]) -> dict[str, Any]:
    """Without what counting one by one does otherwise: no bounds, and a note."""
    return {name: value for name, value in found.items() if name not in ("sets_examined", "notes", "contributions")}


@settings(max_examples=25, deadline=None)
@example(4, 6, 4, True, 126)
@given(st.integers(1, 4), st.integers(2, 30), st.integers(1, 9), st.booleans(), st.integers(0, 10_000))
def test_the_same_as_in_one_count_table(width: int, rows: int, values: int, drop: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    people = pl.DataFrame({f"c{place}": draw.integers(0, values, rows) for place in range(width)})
    if drop:
        people = people.with_columns(pl.col("c0").replace(values - 1, None))
        if people["c0"].null_count() == rows:
            return
    rule = "drop" if drop else "value"
    found, wanted = by_sets(people, rule), shoal.detect(people, null_rule=rule).to_dict()
    assert told(found) == told(wanted)
    assert found["contributions"] == pytest.approx(wanted["contributions"])


def test_out_of_time_sets_of_one_column_stand_and_the_bound_is_said() -> None:
    draw = np.random.default_rng(0)
    people = pl.DataFrame({name: draw.integers(0, 6, 200) for name in "abcd"})
    found, wanted = by_sets(people, seconds=-1), by_sets(people)
    assert (found["proven_size"], found["exact"], found["contributions"]) == (1, False, {})
    assert found["bound"]["uniques"] >= wanted["best"]["uniques"]
    assert found["by_size"][0] == wanted["by_size"][0]
    assert NOTE in found["notes"]
    assert any("no shares of columns" in note for note in found["notes"])
