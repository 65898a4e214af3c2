"""Sets of columns that are counted once, against counting each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.detection import counted_sets
from shoal.detection.counted_sets import (
    CountedSets,
    Tuples,
    bits_of,
    determined_by,
    uniques_of_all_sets,
    without_determined,
)
from shoal.detection.find import ColumnSetFigures
from shoal.storage.classes import CountTable
from shoal.storage.reading import read

tables = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 4)] * width), min_size=1, max_size=40)
)


def counted(rows: list[tuple[int, ...]], halves: bool) -> CountTable:
    """The count table of rows; the last column may be the half of the first, which determines it."""
    columns = {f"c{place}": [row[place] for row in rows] for place in range(len(rows[0]))}
    if halves:
        columns["half"] = [row[0] // 2 for row in rows]
    return CountTable.of(read(pl.DataFrame(columns)).columns)


@settings(max_examples=200)
@given(tables, st.booleans(), st.integers(1, 3), st.data())
def test_asked_in_any_order_sets_have_the_uniques_of_a_count_by_itself(
    rows: list[tuple[int, ...]], halves: bool, kept: int, data: st.DataObject
) -> None:
    table = counted(rows, halves)
    names = list(table.tuples)
    truth = uniques_of_all_sets(table)
    determined = {
        names.index(name): bits_of(names.index(other) for other in by) for name, by in determined_by(table).items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted_sets, "_MOST_KEPT", kept)
        patch.setattr(counted_sets, "_TUPLES_PER_LOOK", data.draw(st.sampled_from([0.01, 8])))
        patch.setattr(counted_sets, "_MOST_LOOKS", 1000)
        sets = CountedSets(Tuples.of(table), determined)
        for chosen in data.draw(st.permutations(range(len(truth)))):
            how = data.draw(st.integers(0, 4))
            limit = data.draw(st.integers(0, len(rows)))
            least, most = sets.bounds(chosen)
            assert least <= truth[chosen] <= most
            assert sets.exceeds(chosen, limit) == (truth[chosen] > limit)
            if how == 0:
                assert sets.uniques(chosen) == truth[chosen]
            elif how == 1:
                assert sets.uniques(chosen, goes_on=True) == truth[chosen]
            elif how == 2:
                assert sets.partition(chosen).uniques == truth[chosen]
        assert [sets.uniques(chosen) for chosen in range(len(truth))] == truth.tolist()


@given(tables, st.booleans())
def test_figures_are_those_of_the_rolled_up_table(rows: list[tuple[int, ...]], halves: bool) -> None:
    table = counted(rows, halves)
    figures = ColumnSetFigures(table)
    names = list(table.tuples)
    for chosen in range(1, 1 << len(names)):
        columns = [name for place, name in enumerate(names) if chosen >> place & 1]
        sizes = table.roll_up(columns).counts
        found = figures.of(columns)
        assert (found.columns, found.uniques, found.classes) == (columns, int((sizes == 1).sum()), len(sizes))
        pairs = table.records * (table.records - 1.0)
        assert found.separation == (1 - float((sizes * (sizes - 1)).sum()) / pairs if pairs else 1.0)


def test_of_columns_that_determine_each_other_one_stays() -> None:
    assert without_determined(0b11, {0: 0b10, 1: 0b01}) in (0b01, 0b10)
    assert without_determined(0b111, {0: 0b110, 1: 0b101, 2: 0b011}).bit_count() == 1


@pytest.mark.parametrize(
    ("name", "rows", "settings", "examined", "best", "shares"),
    [
        (
            "licences",
            3000,
            {},
            8446,
            [2669] + [2998] * 10,
            {"data_scadenza": 0.30813541666666666, "data_rilascio": 0.28019791666666666},
        ),
        (
            "discharges",
            20_000,
            {"max_size": 4},
            240,
            [14650, 18287, 19324, 19694],
            {"charge": 0.4351736545682103, "patzip": 0.1361717772215269},
        ),
        (
            "discharges",
            20_000,
            {},
            612,
            [14650, 18287, 19324, 19694, 19849, 19936, 19970, 19975, 19975, 19975],
            {"charge": 0.4351736545682103, "patzip": 0.1361717772215269},
        ),
    ],
)
def test_the_search_goes_the_way_it_always_went(
    name: str,
    rows: int,
    settings: dict[str, Any],
    examined: int,
    best: list[int],
    shares: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Golden: how many sets are looked at, the best of each size, and shares of drawn orders, before sets were kept."""
    monkeypatch.setattr(counted_sets, "MOST_CELLS", 0)
    found = shoal.detect(shoal.sample_data(name, rows), time_limit=600, **settings)
    assert found.sets_examined == examined
    assert [entry.uniques for entry in found.by_size] == best
    assert {column: found.contributions[column] for column in shares} == shares
    assert np.isclose(sum(found.contributions.values()), 1)
