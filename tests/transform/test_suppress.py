"""Local suppression: the promise by either reading, the bounds, and sdcMicro's figures."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from brute import matches
from shoal.errors import InputError
from shoal.methods import suppress as suppressing
from shoal.methods.suppress import Reading, by_cost, cost_of, suppress
from shoal.models import Evidence, KMatching
from shoal.storage.reading import read
from shoal.vocabulary import NullRule

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
Row = tuple[Any, ...]


def released(rows: list[Row], k: int, reading: Reading = "wildcard", **how: Any) -> list[Row]:
    """The rows after suppression, None where a cell is suppressed."""
    names = [f"c{place}" for place in range(len(rows[0]))]
    table = read({name: [row[place] for row in rows] for place, name in enumerate(names)})
    found = suppress(table.select(names), k, reading, **how)
    return [
        tuple(None if mask >> place & 1 else value for place, value in enumerate(row))
        for row, mask in zip(rows, found.masks.tolist(), strict=True)
    ]


def cells(rows: list[Row]) -> int:
    return sum(value is None for row in rows for value in row)


def standing_out(rows: list[Row], k: int) -> list[bool]:
    counts = Counter(rows)
    return [counts[row] < k for row in rows]


def covered(rows: list[Row]) -> list[Row]:
    """Rows suppressed throughout stand apart."""
    return [row for row in rows if any(value is not None for value in row)]


def without(row: Row, mask: int) -> Row:
    return tuple(None if mask >> place & 1 else value for place, value in enumerate(row))


tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=4, max_size=14)
)


@given(tables, st.integers(2, 4))
def test_every_record_matches_k_and_those_that_stand_out_are_changed(rows: list[Row], k: int) -> None:
    after = released(rows, k)
    assert all(found >= k for found in matches(covered(after)))
    changed = [None in row for row in after]
    assert changed == standing_out(rows, k)
    assert all(
        new in (None, old) for row, was in zip(after, rows, strict=True) for new, old in zip(row, was, strict=True)
    )


@given(tables, st.integers(2, 4))
def test_never_more_cells_than_where_every_shown_combination_is_shared_by_k(rows: list[Row], k: int) -> None:
    # that problem falls apart into records, so that trying every set for each of them finds its optimum
    width = len(rows[0])
    best = 0
    for row in (row for row, out in zip(rows, standing_out(rows, k), strict=True) if out):
        best += min(
            mask.bit_count()
            for mask in range(1, 1 << width)
            if mask == (1 << width) - 1 or sum(without(other, mask) == without(row, mask) for other in rows) >= k
        )
    found = cells(released(rows, k))
    assert sum(standing_out(rows, k)) <= found <= best


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=6))
def test_the_least_by_trying_everything(rows: list[Row]) -> None:
    """All ways to change the records that stand out: ours needs at most one cell more for each of them."""
    k = 2
    out = standing_out(rows, k)
    least = 2 * len(rows)
    for masks in product(*(range(1, 4) if alone else (0,) for alone in out)):
        after = [without(row, mask) for row, mask in zip(rows, masks, strict=True)]
        if covered(after) and all(found >= k for found in matches(covered(after))):
            least = min(least, cells(after))
    found = cells(released(rows, k))
    assert least <= found <= 2 * sum(out)
    assert sum(out) <= least


@given(tables, st.integers(2, 4))
def test_strict_classes_have_k_members(rows: list[Row], k: int) -> None:
    after = released(rows, k, "strict")
    assert all(size >= k for size in Counter(covered(after)).values())
    assert all(None in row for row, out in zip(after, standing_out(rows, k), strict=True) if out)
    # what holds strictly holds for matches too
    assert all(found >= k for found in matches(covered(after)))


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=6, max_size=14), st.integers(1, 4))
def test_all_combinations_of_m_columns(rows: list[Row], m: int) -> None:
    k = 2
    after = covered(released(rows, k, subset_size=m))
    for places in combinations(range(4), m):
        assert all(found >= k for found in matches([tuple(row[place] for place in places) for row in after]))


def test_by_hand() -> None:
    # only the last stands out; without its town it is like all other men
    rows = [("f", "A"), ("f", "A"), ("m", "A"), ("m", "A"), ("m", "B")]
    assert released(rows, 2)[-1] in {("m", None), (None, "B")}
    assert released(rows, 2, importance={"c0": 5.0})[-1] == ("m", None)
    assert cells(released(rows, 2)) == 1
    # strictly, one record that looks the same is needed: from the men of A none can be spared at k=2
    strict = released(rows, 2, "strict")
    assert Counter(covered(strict)) == {("f", "A"): 2, ("m", "A"): 2}
    # with a third man of A one can
    strict = released([*rows, ("m", "A")], 2, "strict")
    assert Counter(strict) == {("f", "A"): 2, ("m", "A"): 2, ("m", None): 2}


def test_important_columns_lose_fewer_cells(data: Path) -> None:
    columns = shoal.read(data / "sdcmicro" / "testdata.csv").select(KEYS)
    plain, careful = suppress(columns, 3), suppress(columns, 3, importance={"relat": 5, "water": 5})
    for name in ("relat", "water"):
        assert 10 * careful.cells_by_column[name] < plain.cells_by_column[name]
    assert sum(careful.cells_by_column.values()) >= plain.least_cells


@pytest.mark.parametrize(("names", "peer", "alone"), [(KEYS, 293, 281), ([*KEYS, "age"], 2601, 2528)])
def test_no_more_cells_than_sdcmicro(data: Path, names: list[str], peer: int, alone: int) -> None:
    source = data / "sdcmicro" / "testdata.csv"
    result = shoal.anonymize(shoal.read(source, names), quasi_identifiers=names, k=3, method="suppress")
    found = result.findings
    assert found.to_dict()["least_cells"] == alone  # SPEC 6: violations of k=3
    assert alone <= found.suppressed_cells <= peer
    assert found.modified_rows == alone
    assert result.verdict == "holds"
    # an independent count: null matches everything
    frame = result.polars.select(
        pl.when(pl.col(name).cast(pl.String) == "*").then(None).otherwise(pl.col(name).cast(pl.String)).alias(name)
        for name in names
    )
    assert shoal.risk(frame, quasi_identifiers=names, null_rule="wildcard").k >= 3


def test_columns_that_are_worth_next_to_nothing_still_leave_records_to_match() -> None:
    rows = [(0, 0), (0, 0), (0, 0), (0, 1), (1, 2)]
    after = released(rows, 2, importance={"c0": 1.0, "c1": 1e-12})
    assert all(found >= 2 for found in matches(covered(after)))
    assert after[3] == (0, None)


def test_k_matching_by_hand_and_on_the_safe_side_without_stars() -> None:
    # classes (A, 1) of 2, (A, *) of 1, (B, 1) of 5
    keys = {"town": np.array([0, 0, 1]), "sex": np.array([0, 1, 0])}
    stars = {"town": np.zeros(3, bool), "sex": np.array([False, True, False])}
    evidence = Evidence(np.array([2, 1, 5]), keys=keys, stars=stars)
    assert KMatching(k=3).measure(evidence).tolist() == [3, 3, 5]
    assert KMatching(k=3, m=1).measure(evidence).tolist() == [3, 3, 5]
    assert KMatching(k=3).judge(evidence).holds
    assert not KMatching(k=4).judge(evidence).holds
    assert KMatching(k=2).measure(Evidence(np.array([2, 1, 5]))).tolist() == [2, 1, 5]
    assert not KMatching(k=2).judge(Evidence(np.zeros(0, np.int64))).holds
    with pytest.raises(InputError, match="3 columns at once"):
        KMatching(k=2, m=3).measure(evidence)


def test_masks_come_by_cost() -> None:
    costs = [1.0, 2.5, 1.0, 4.0]
    order = list(by_cost(costs))
    assert sorted(order) == list(range(1, 16))
    prices = [cost_of(mask, costs) for mask in order]
    assert prices == sorted(prices)
    assert list(by_cost(costs, 2))[-1] == 15


# through the one door


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 40, 300),
            "town": rng.choice(["A", "B", "C"], 300, p=[0.6, 0.3, 0.1]),
            "weight": pl.Series(rng.choice([50.5, 60.0, np.nan], 300)).fill_nan(None),
            "income": rng.normal(100, 20, 300),
        }
    )
    path = tmp_path / "survey.csv"
    frame.write_csv(path)
    return path


@pytest.mark.parametrize("reading", ["wildcard", "strict"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_was_released_is_verified_by_its_reading(survey: Path, tmp_path: Path, reading: Any, ending: str) -> None:
    target = tmp_path / f"safe.{ending}"
    names = ["age", "town", "weight"]
    result = shoal.anonymize(survey, quasi_identifiers=names, k=3, method="suppress", reading=reading)
    shoal.release(result, target, shuffle=True)
    assert shoal.verify(target, original=survey).verdict == "holds"
    manifest = json.loads((tmp_path / "safe.manifest.json").read_text())
    assert manifest["models"][0]["name"] == {"wildcard": "k-matching", "strict": "k-anonymity"}[reading]
    readings = manifest["findings"]["readings"]
    assert readings[reading]["k"] >= 3
    assert readings["strict"]["k"] <= readings["wildcard"]["k"]


def test_who_asks_for_classes_of_equal_records_is_told_that_matching_is_less(tmp_path: Path) -> None:
    people = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 4, "town": ["A"] * 6 + ["B"]})
    result = shoal.anonymize(people, quasi_identifiers=["sex", "town"], k=3, method="suppress", importance={"sex": 2.0})
    # in the file only A and * are left to see: * is not A for that
    assert result.polars["town"].to_list() == ["A"] * 6 + ["*"]
    shoal.release(result, tmp_path / "safe.csv")
    asked = shoal.Policy(
        columns=result.policy.columns, models=[{"model": "k-anonymity", "k": 3}, {"model": "k-matching", "k": 3}]
    )
    found = shoal.verify(tmp_path / "safe.csv", asked)
    assert [model.holds for model in found.models] == [False, True]
    assert (found.verdict, found.k) == ("refused", 1)
    risk = shoal.risk(tmp_path / "safe.csv", quasi_identifiers=["sex", "town"])
    assert (risk.readings["wildcard"].k, risk.readings["wildcard"].uniques) == (3, 0)
    assert found.to_dict()["readings"]["wildcard"] == {"k": 3, "uniques": 0}


def test_a_policy_that_asks_for_equal_classes_gets_them(survey: Path) -> None:
    asked = shoal.Policy(
        columns={"age": "quasi-identifier", "town": "quasi-identifier"}, models=[{"model": "k-anonymity", "k": 4}]
    )
    result = shoal.anonymize(survey, asked, method="suppress")
    assert result.findings.to_dict()["reading"] == "strict"
    assert (result.verdict, result.findings.k >= 4) == ("holds", True)
    again = shoal.anonymize(survey, asked, k=5, method="suppress").findings
    assert (again.to_dict()["reading"], again.k >= 5) == ("strict", True)
    matching = shoal.Policy(columns=asked.columns, models=[{"model": "k-matching", "k": 3, "m": 1}])
    result = shoal.anonymize(survey, matching, method="suppress")
    assert result.models[0].parameters == {"k": 3, "m": 1}
    assert result.findings.to_dict()["subset"]["k"] >= 3


def test_a_tampered_release_is_refused(survey: Path, tmp_path: Path) -> None:
    result = shoal.anonymize(survey, quasi_identifiers=["age", "town"], k=3, method="suppress")
    shoal.release(result, tmp_path / "safe.csv")
    frame = pl.read_csv(tmp_path / "safe.csv", infer_schema=False)
    frame.with_columns(age=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("99")).otherwise("age")).write_csv(
        tmp_path / "safe.csv"
    )
    found = shoal.verify(tmp_path / "safe.csv")
    assert found.verdict == "refused"
    assert not found.models[0].holds


def test_a_text_that_is_neither_the_own_nor_a_star_is_found(survey: Path, tmp_path: Path) -> None:
    result = shoal.anonymize(survey, quasi_identifiers=["age", "town"], k=3, method="suppress")
    shoal.release(result, tmp_path / "safe.csv")
    frame = pl.read_csv(tmp_path / "safe.csv", infer_schema=False)
    frame.with_columns(town=pl.when(pl.col("town") == "A").then(pl.lit("B")).otherwise("town")).write_csv(
        tmp_path / "safe.csv"
    )
    checks = {check.name: check.holds for check in shoal.verify(tmp_path / "safe.csv", original=survey).checks}
    assert (checks["column town"], checks["column age"]) == (False, True)


def test_a_missing_value_is_held_by_a_star_and_by_nothing_else(tmp_path: Path) -> None:
    before = pl.DataFrame({"age": [30, 30, None, None, 41]})
    result = shoal.anonymize(before, quasi_identifiers=["age"], k=2, method="suppress")
    assert result.polars["age"].to_list() == ["30", "30", None, None, "*"]
    before.write_parquet(tmp_path / "before.parquet")
    shoal.release(result, tmp_path / "safe.parquet")
    assert shoal.verify(tmp_path / "safe.parquet", original=tmp_path / "before.parquet").verdict == "holds"
    pl.DataFrame({"age": ["30", "30", "7", None, "*"]}).write_parquet(tmp_path / "wrong.parquet")
    policy = shoal.Policy(columns={"age": "quasi-identifier"}, models=[{"model": "k-matching", "k": 2}])
    found = shoal.verify(tmp_path / "wrong.parquet", policy, original=tmp_path / "before.parquet")
    assert [check.holds for check in found.checks if check.name == "column age"] == [False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"importance": {"nothing": 2.0}}, "nothing"),
        ({"importance": {"age": 0.0}}, "above 0"),
        ({"importance": {"age": float("nan")}}, "`importance` of column 'age' is not a finite number"),
        ({"subset_size": 3}, "combinations of 3 out of 2"),
        ({"subset_size": 1, "reading": "strict"}, "wildcard reading only"),
        ({"reading": "loose"}, "`reading` is not known"),
        ({"k": 400}, "cannot be 400 alike"),
        ({"k": None}, "needs k"),
    ],
)
def test_bad_input(survey: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        shoal.anonymize(survey, quasi_identifiers=["age", "town"], method="suppress", **{"k": 3, **options})


def test_the_type_of_a_column_without_suppressed_cells_is_kept() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2], "b": [1.5, 1.5, 1.5, 1.5]})
    after = shoal.anonymize(frame, quasi_identifiers=["a", "b"], k=3, method="suppress").polars
    assert after.schema == {"a": pl.String, "b": pl.Float64}
    assert after["a"].to_list() == ["1", "1", "1", "*"]


# missing values that match anything


def test_missing_values_that_match_cost_nothing() -> None:
    """(1, missing) matches (1, 2) and (1, 3): by `wildcard` nobody stands out, by `value` all three do."""
    columns = read({"a": [1, 1, 1], "b": [2, 3, None]}).select(["a", "b"])
    assert suppress(columns, 2, null_rule="value").least_cells == 3
    free = suppress(columns, 2, null_rule="wildcard")
    assert (free.least_cells, sum(free.cells_by_column.values())) == (0, 0)


def test_missing_values_of_a_survey_match(data: Path) -> None:
    """As many records are changed as stand out when a missing value matches anything."""
    frame = pl.read_csv(data / "sdcmicro" / "testdata.csv").select(KEYS)
    rng = np.random.default_rng(1)
    for name in ("roof", "relat"):
        hole = pl.Series(rng.random(len(frame)) < 0.05)
        frame = frame.with_columns(pl.when(hole).then(None).otherwise(pl.col(name)).alias(name))
    found = {
        rule: suppress(read(frame).select(frame.columns), 3, null_rule=rule)  # type: ignore[arg-type]
        for rule in ("value", "wildcard")
    }
    sizes = shoal.risk(frame, quasi_identifiers=frame.columns, null_rule="wildcard").histogram
    out = sum(size.records for size in sizes if size.size < 3)
    assert found["wildcard"].least_cells == out == 134
    assert sum(found["wildcard"].cells_by_column.values()) == 134
    assert sum(found["value"].cells_by_column.values()) == 399


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9))
def test_with_missing_values_everybody_matches_k(seed: int) -> None:
    rng = Random(seed)
    rows, k = rng.randint(3, 25), rng.randint(2, 3)
    table = [[None if rng.random() < 0.25 else rng.randrange(3) for _ in "abc"] for _ in range(rows)]
    columns = read(pl.DataFrame(table, schema=dict.fromkeys("abc", pl.Int64), orient="row")).select(list("abc"))
    found = suppress(columns, k, null_rule="wildcard")
    shown = [
        [None if found.masks[at] >> place & 1 else value for place, value in enumerate(row)]
        for at, row in enumerate(table)
    ]
    there = [row for row in shown if any(value is not None for value in row)]

    def match(one: list[int | None], other: list[int | None]) -> bool:
        return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))

    assert all(sum(match(row, other) for other in there) >= k for row in there)
    before = [row for row in table if any(value is not None for value in row)]
    alone = [sum(match(row, other) for other in before) < k for row in before]
    assert found.least_cells == sum(alone)
    frame = pl.DataFrame(table, schema=dict.fromkeys("abc", pl.Int64), orient="row")
    policy = {
        "columns": dict.fromkeys("abc", "quasi-identifier"),
        "null_rule": "wildcard",
        "models": [{"model": "k-matching", "k": k}],
    }
    verdict = shoal.anonymize(frame, policy=policy, method="suppress").verdict
    assert verdict == ("holds" if there else "refused")


@pytest.mark.parametrize("null_rule", ["value", "wildcard"])
def test_pairs_that_are_compared_and_groups_that_are_made_give_the_same_cells(
    null_rule: NullRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few tuples are compared pair by pair, many are grouped for each set of columns, and few counts are kept."""
    random = np.random.default_rng(3)
    cells = [random.integers(0, 4, 60).tolist() for _ in range(6)]
    frame = pl.DataFrame(
        {f"c{j}": [None if cell == 3 and j < 2 else cell for cell in of] for j, of in enumerate(cells)}
    )
    columns = list(read(frame).columns.values())
    found = set()
    for alike, matching, kept in ((200, 2_000, 100), (0, 2_000, 100_000), (0, 0, 100_000), (0, 0, 100), (200, 0, 0)):
        monkeypatch.setattr(suppressing, "FEW_ALIKE", alike)
        monkeypatch.setattr(suppressing, "FEW_MATCHING", matching)
        monkeypatch.setattr(suppressing, "MOST_KEPT", kept)
        found.add(tuple(suppress(columns, 3, null_rule=null_rule).masks.tolist()))
    assert len(found) == 1
    assert any(found.pop())
