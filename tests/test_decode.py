"""Releases as numbers: by hand, for every method and every library, and what must hold of any release."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.methods import METHODS
from shoal.ranges.parsing import set_members

TREE = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]]


def test_ranges_sets_and_stars_by_hand() -> None:
    release = pl.DataFrame({"age": ["[20;29]", "31", "*", None], "job": ["[a, b]", "b", "*", None]})
    out = shoal.decode(release)
    assert out["age"].to_list() == [24.5, 31.0, 27.75, None]
    # `*`: what the column holds, a (1/2 + 0) / 2 and b (1/2 + 1) / 2; a missing value has no share
    assert out["job=a"].to_list() == [0.5, 0.0, 0.25, 0.0]
    assert out["job=b"].to_list() == [0.5, 1.0, 0.75, 0.0]
    empty = shoal.decode(release, unknown="null")
    assert empty["age"].to_list() == [24.5, 31.0, None, None]
    assert empty["job=a"].to_list() == [0.5, 0.0, None, 0.0]


def test_shares_go_by_frequency() -> None:
    # b is known three times and half of a set: 3.5 of 5 records; c 1.5 of 5
    out = shoal.decode(pl.DataFrame({"job": ["b", "b", "b", "c", "[b, c]"]}), how="shares")
    assert out["job=b"].to_list() == pytest.approx([1, 1, 1, 0, 0.7])
    assert out["job=c"].to_list() == pytest.approx([0, 0, 0, 1, 0.3])


def test_dates_are_days_and_draws_are_dates() -> None:
    release = pl.DataFrame({"seen": ["[2020-01-01;2020-01-03]", "2020-02-01"]})
    days = (date(2020, 1, 2) - date(1970, 1, 1)).days
    assert shoal.decode(release)["seen"].to_list() == [days, days + 30]
    drawn = shoal.decode(release, how="sample")["seen"]
    assert drawn.dtype == pl.Date
    assert date(2020, 1, 1) <= drawn[0] <= date(2020, 1, 3)


def test_nodes_are_shares_over_their_leaves() -> None:
    release = pl.DataFrame({"job": ["ab", "c", "*"]})
    out = shoal.decode(release, hierarchies={"job": TREE})
    assert out.columns == ["job=a", "job=b", "job=c"]
    assert out.rows() == [(0.5, 0.5, 0.0), (0.0, 0.0, 1.0), (0.25, 0.25, 0.5)]
    assert shoal.decode(release).columns == ["job=ab", "job=c"]  # without the tree a node is a word


def test_codes_and_untouched_texts_stay_categories() -> None:
    out = shoal.decode(pl.DataFrame({"zip": ["00501", "10001", "*"], "year": ["2001", "2002", "2002"]}))
    assert out.columns == ["zip=00501", "zip=10001", "year=2001", "year=2002"]


def test_the_library_that_came_in_comes_out() -> None:
    data = {"age": ["[20;29]", "31"], "n": [1, 2], "job": ["x", "y"]}
    frame = pd.DataFrame(data, index=["r", "s"])
    out = shoal.decode(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.index) == ["r", "s"]
    assert out["n"].tolist() == [1, 2]
    assert all(np.issubdtype(kind, np.number) for kind in out.dtypes)
    assert isinstance(shoal.decode(pl.DataFrame(data)), pl.DataFrame)
    table = shoal.decode(pa.table(data))
    assert isinstance(table, pa.Table)
    assert table.column("age").to_pylist() == [24.5, 31.0]


def test_only_named_columns_are_decoded() -> None:
    out = shoal.decode(pl.DataFrame({"age": ["[20;29]", "31"], "job": ["x", "y"]}), columns="age")
    assert out.columns == ["age", "job"]
    assert out["job"].to_list() == ["x", "y"]
    with pytest.raises(InputError, match="agee"):
        shoal.decode(pl.DataFrame({"age": [1]}), columns=["agee"])
    with pytest.raises(InputError, match="categories"):
        shoal.decode(pl.DataFrame({"note": [f"n{number}" for number in range(2000)]}))
    for wrong in ({"how": "middle"}, {"unknown": "zero"}):
        with pytest.raises(InputError):
            shoal.decode(pl.DataFrame({"age": [1]}), **wrong)


DATA = {
    "age": [30, 31, 40, 41, 50, 51, 52, 53],
    "seen": [date(2020, 1, day) for day in (1, 2, 3, 4, 5, 6, 7, 8)],
    "job": ["a", "b", "c", "d", "a", "b", "c", "c"],
    "illness": ["flu", "[x, y]", "*", "cold", "flu", "cold", "flu", "flu"],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "coarsen": {"resolution": 2},
    "recode": {"generalize": {"age": "runs:2", "job": "*"}},
    "lattice": {"hierarchies": {"job": TREE}},
}
NUMBERS_ONLY = {"sorted-clusters", "coarsen", "mask"}


def released(method: str, **more: Any) -> Any:
    names = ["age", "seen"] if method in NUMBERS_ONLY else ["age", "seen", "job"]
    policy = shoal.Policy(
        columns={**dict.fromkeys(names, "quasi-identifier"), "illness": "sensitive"},
        models=[{"model": "k-anonymity", "k": 2}],
        masking=[{"column": "age", "groups": [28, 45]}] if method == "mask" else [],
    )
    table = pl.DataFrame(DATA).select([*names, "illness"])
    return shoal.anonymize(table, policy, method=method, **OPTIONS.get(method, {}), **more)


@pytest.mark.parametrize("how", ["midpoint", "shares", "sample"])
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"anatomy"}))  # its values are exact
def test_every_method_decodes_to_numbers(method: str, how: Any) -> None:
    result = released(method)
    out = shoal.decode(result, how=how)
    assert len(out) == 8
    if how == "sample":
        assert set(out.columns) >= {"age", "seen", "illness"}
        assert set(out["illness"]) <= set(DATA["illness"])
        return
    assert all(kind.is_numeric() for kind in out.dtypes)
    if result.findings.cost[0].unknown < 1:
        assert out["age"].mean() == pytest.approx(np.mean(DATA["age"]), abs=6)
    else:  # nothing is known of any
        assert out["age"].null_count() == 8
    # the sensitive column was not changed: its `*` and `[x, y]` are texts
    assert out["illness=*"].to_list() == [0, 0, 1, 0, 0, 0, 0, 0]
    assert out["illness=[x, y]"].sum() == 1


def test_a_file_is_read_by_its_manifest(tmp_path: Path) -> None:
    for interval in ("bracket", "columns"):
        path = tmp_path / f"{interval}.csv"
        result = released("mondrian", interval=interval)
        shoal.release(result, path, shuffle=False)
        from_file, from_memory = shoal.decode(path), shoal.decode(result)
        assert from_file.columns == from_memory.columns
        assert from_file["age"].to_list() == from_memory["age"].to_list()
        assert from_file["seen"].to_list() == from_memory["seen"].to_list()
        assert "age_low" not in from_file.columns
        assert from_file["illness=*"].sum() == 1


cells = st.lists(
    st.tuples(
        st.tuples(st.integers(-9, 9), st.integers(0, 9)).map(lambda ends: f"[{ends[0]};{sum(ends) + 1}]")
        | st.integers(-9, 9).map(str)
        | st.just("*"),
        st.sets(st.sampled_from("abcd"), min_size=1).map(
            lambda s: f"[{', '.join(sorted(s))}]" if len(s) > 1 else min(s)
        )
        | st.just("*"),
    ),
    min_size=1,
    max_size=20,
)


@given(cells, st.sampled_from(["midpoint", "shares"]), st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_what_holds_of_any_release(rows: list[tuple[str, str]], how: Any, seed: int) -> None:
    rows = [*rows, ("[0;3]", "[a, b]")]
    release = pl.DataFrame(rows, schema=["n", "c"], orient="row")
    out, drawn = shoal.decode(release, how=how), shoal.decode(release, how="sample", seed=seed)
    shares = out.select(pl.selectors.starts_with("c="))
    assert shares.sum_horizontal().to_list() == pytest.approx([1.0] * len(rows))
    for place, (number, category) in enumerate(rows):
        if number != "*":
            low, high = map(int, number[1:-1].split(";")) if number.startswith("[") else (int(number), int(number))
            assert out["n"][place] == (low + high) / 2
            assert low <= drawn["n"][place] <= high
        if category != "*":
            members = set(set_members(category)) if category.startswith("[") else {category}
            assert {name[2:] for name in shares.columns if shares[name][place] > 0} <= members
            assert drawn["c"][place] in members
    assert drawn.equals(shoal.decode(release, how="sample", seed=seed))


def test_draws_follow_the_shares() -> None:
    release = pl.DataFrame({"c": ["a"] * 300 + ["b"] * 100 + ["[a, b]"] * 4000})
    drawn = shoal.decode(release, how="sample")["c"][400:]
    # a set counts for each of its members alike: a has 300 + 2000 of 4400 records
    assert (drawn == "a").mean() == pytest.approx(2300 / 4400, abs=0.03)


def test_a_value_that_never_stands_alone_is_not_lost() -> None:
    """Which values stand alone in a release is no accident: c does once, b never, and both are as frequent."""
    release = pl.DataFrame({"job": ["a"] * 40 + ["[b, c]"] * 39 + ["c"]})
    shares = shoal.decode(release, how="shares")
    assert shares["job=b"].mean() == pytest.approx(0.25, abs=0.02)
    assert shares["job=c"].mean() == pytest.approx(0.25, abs=0.02)
