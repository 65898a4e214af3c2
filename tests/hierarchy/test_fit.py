"""Hierarchies on columns: which leaf a value is, nodes, shares, what is missing."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.ranges.hierarchy import Fitted, Hierarchy, build_hierarchy, fit, fit_all, read_hierarchies
from shoal.storage.reading import read

# SPEC 6: the order of the nine quasi-identifiers, and the optimum at k = 5 without suppression
ADULT = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
OPTIMUM = [0, 4, 1, 1, 3, 2, 2, 1, 0]


def tree(*levels: list[str]) -> Hierarchy:
    return Hierarchy("c", (*map(pl.Series, levels), pl.Series(["*"] * len(levels[0]))))


def fitted(values: Any, *levels: list[str], dtype: Any = None) -> Fitted:
    return fit(tree(*levels), read(pl.DataFrame({"c": pl.Series(values, dtype=dtype)}))["c"])


@pytest.mark.parametrize(
    ("values", "leaves", "missing"),
    [
        ([17, 18], ["17", "18.0"], 0),
        ([17.0, 18.5], ["17", "18.50"], 0),
        ([17, 18], [" 17", "19"], 1),
        (["17", "18"], ["17", "18.0"], 1),
        ([2**53, 2**53 + 1], [str(2**53 + 1), "5"], 1),
        ([-0.0], ["0"], 0),
        (["a", "b "], ["a ", "b"], 0),
        (["a", " a"], ["a ", "b"], 2),
        (["a", " a"], ["a", "b"], 1),
        (["a"], ["a ", " a"], 1),
        ([True, False], ["TRUE", "False"], 0),
        ([date(2020, 1, 31)], ["2020-01-31"], 0),
        ([datetime(2020, 1, 31), datetime(2020, 1, 31, 12, 30)], ["2020-01-31", "2020-01-31T12:30"], 0),
        ([datetime(2020, 1, 31, 1, 2, 3, 500_000)], ["2020-01-31 01:02:03.5"], 0),
    ],
)
def test_which_leaf_a_value_is(values: list[Any], leaves: list[str], missing: int) -> None:
    found = fitted(values, leaves)
    assert found.missing == missing
    assert len(found.labels[0]) == len(set(values))


def test_nulls_are_a_leaf_of_their_own_below_the_top() -> None:
    found = fitted(["b", None, "a"], ["a", "b", "c"], ["x", "y", "y"])
    assert found.labels == [["a", "b", None], ["x", "y", None], ["*"]]
    assert [codes.tolist() for codes in found.codes] == [[0, 1, 2], [0, 1, 2], [0, 0, 0]]
    assert [shares.tolist() for shares in found.shares] == [[0.25, 0.25, 0.25], [0.25, 0.5, 0.25], [1.0]]
    assert [side.tolist() for side in found.leaf_ranges(1)] == [[0, 1, 3], [0, 2, 3]]
    assert found.leaves == 4
    assert found.codes[0].dtype == np.int32


def test_an_empty_leaf_says_what_becomes_of_nulls() -> None:
    found = fitted(["b", None], ["", "b"], ["unknown", "known"])
    assert found.labels[:2] == [
        ["unknown" if level else None for _ in [0]] + [["b"], ["known"]][level] for level in (0, 1)
    ]
    assert (found.leaves, found.missing) == (2, 0)
    # where the column has an empty text beside nulls, the leaf is the text's
    assert fitted(["", None], ["", "b"], ["unknown", "known"]).labels[1] == ["unknown", None]


def test_only_nulls_and_nothing_at_all() -> None:
    found = fitted([None, None], ["a"], dtype=pl.String)
    assert found.labels == [[None], ["*"]]
    column = read(pl.DataFrame({"c": pl.Series([None], dtype=pl.Int64)}))["c"]
    assert fit(build_hierarchy(column), column).labels == [[None], ["*"]]


def test_values_without_a_leaf_stand_directly_below_the_top() -> None:
    found = fitted(["a", "z", None], ["a", "b"], ["x", "x"])
    assert found.labels == [["a", "z", None], ["x", "*", None], ["*"]]
    assert found.missing == 1
    # what is written `*` costs as much as what is suppressed
    assert found.shares[1].tolist() == [0.5, 1.0, 0.25]
    assert [side.tolist() for side in found.leaf_ranges(1)] == [[0, 0, 3], [1, 3, 3]]


def test_missing_leaves_of_all_columns_are_one_error_with_its_cure() -> None:
    table = read({"age": [1, 2, 3], "sex": ["secret", "f", "f"], "fine": ["a", "a", "a"]})
    trees = {"age": tree(["1"]), "sex": tree(["f"]), "fine": tree(["a"])}
    with pytest.raises(InputError) as caught:
        fit_all(trees, table.columns.values())
    assert "'age' 2 of 3, 'sex' 1 of 2" in caught.value.what
    assert "complete_hierarchies" in str(caught.value.cure)
    assert "secret" not in str(caught.value)
    assert [found.missing for found in fit_all(trees, table.columns.values(), complete=True)] == [2, 1, 0]


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=30), st.integers(1, 7), st.data())
def test_fitted_nodes_refine_and_are_dense(values: list[int | None], width: int, data: st.DataObject) -> None:
    column = read(pl.DataFrame({"c": pl.Series(values, dtype=pl.Int64)}))["c"]
    whole = build_hierarchy(column, "equal-width", width=width)
    kept = data.draw(st.lists(st.booleans(), min_size=whole.leaves, max_size=whole.leaves))
    part = Hierarchy("c", tuple(level.filter(pl.Series(kept, dtype=pl.Boolean)) for level in whole.levels))
    found = fit(part, column)
    assert found.missing == kept.count(False)
    for level, codes in enumerate(found.codes):
        assert len(codes) == column.cardinality
        assert sorted(set(codes.tolist())) == list(range(len(found.labels[level])))
        low, high = found.leaf_ranges(level)
        assert (found.shares[level] == (high - low + 1) / found.leaves).all()
        if level:
            below = found.codes[level - 1]
            assert len(set(zip(below.tolist(), codes.tolist(), strict=True))) == len(set(below.tolist()))
            assert (found.shares[level][codes] >= found.shares[level - 1][below]).all()
    assert found.labels[-1] == ["*"]
    assert found.shares[-1].tolist() == [1.0]


def test_the_nine_hierarchies_of_adult_fit_and_give_the_loss_of_arx(data: Path) -> None:
    table = read(data / "adult" / "adult.csv")
    trees = read_hierarchies(data / "adult" / "hierarchies", ADULT)
    found = fit_all(trees, table.select(ADULT))
    assert [one.height for one in found] == [2, 5, 2, 3, 4, 3, 3, 3, 2]
    assert int(np.prod([one.height for one in found])) == 12_960
    assert [one.missing for one in found] == [0] * 9
    score = 1.0
    for one, level in zip(found, OPTIMUM, strict=True):
        shares = one.shares[level][one.codes[level]][table[one.column].codes].sum()
        least = table.rows / one.leaves
        score *= (max(0.0, (shares - least) / (table.rows - least)) + 1) ** (1 / 9)
    assert score - 1 == pytest.approx(0.573151, abs=5e-7)
