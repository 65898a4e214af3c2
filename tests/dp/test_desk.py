"""Answers of a desk: right where noise is negligible, as far off as stated where it is not, refused with the cure."""

from __future__ import annotations

import math
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.dp import Desk, open_desk, queries
from shoal.dp.answers import answer as draw
from shoal.dp.plans import plan
from shoal.dp.queries import Query
from shoal.dp.store import read_columns
from shoal.dp.terms import Terms
from shoal.errors import InputError


def make_query(terms: Terms, kind: str, column: str | None = None, **options: Any) -> Query:
    return queries.make_query(terms, queries.RawQuery.of(kind, column, options))  # type: ignore[arg-type]


# so much epsilon that noise of any answer below is zero but for a chance of exp(-100)
EXACT = "1000000"
MakeDesk = Callable[..., Desk]


def exact(desk: Desk, kind: str, column: str | None = None, **how: Any) -> Any:
    return desk.query(kind, column, epsilon="30000", **how).answer


def test_without_noise_the_answers_are_the_true_ones(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits.drop("who"))
    age, charge = visits["age"], visits["charge"].fill_nan(None)
    assert exact(at, "count") == exact(at, "persons") == 2000
    assert exact(at, "count", where="age >= 65") == (age >= 65).sum()
    assert exact(at, "count", where="not age >= 65") == (age < 65).sum()
    assert exact(at, "sum", "age", bounds="0,100") == age.sum()
    assert exact(at, "sum", "age", bounds="20,50") == age.clip(20, 50).sum()
    assert exact(at, "sum", "charge", bounds="0,100000") == pytest.approx(charge.clip(0, 1e5).sum(), rel=1e-6)
    assert exact(at, "mean", "age", bounds="0,100") == pytest.approx(age.mean(), rel=1e-6)
    assert exact(at, "mean", "charge", bounds="0,100000") == pytest.approx(charge.clip(0, 1e5).mean(), rel=1e-5)
    assert exact(at, "variance", "age", bounds="0,100") == pytest.approx(age.var(ddof=0), rel=1e-4)
    assert exact(at, "variance", "charge", bounds="0,100000") == pytest.approx(
        charge.clip(0, 1e5).var(ddof=0), rel=1e-4
    )
    assert exact(at, "median", "age", bounds="0,100") == age.median()
    found = exact(at, "quantile", "age", q="0.1,0.9", bounds="0,100")
    assert [entry["key"] for entry in found] == [0.1, 0.9]
    for entry in found:
        assert abs((age <= entry["answer"]).sum() / age.count() - entry["key"]) < 0.02


def test_groups_without_noise(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits.drop("who"))
    counts = dict(visits.group_by("ward").len().iter_rows())
    by_key = {entry["key"]: entry["answer"] for entry in exact(at, "count", by="ward", keys=["d", "a", "zz"])}
    assert by_key == {"d": counts["d"], "a": counts["a"], "zz": 0}
    assert list(by_key) == ["d", "a", "zz"]
    private = exact(at, "count", by="ward")
    assert private == [{"key": key, "answer": counts[key]} for key in sorted(counts)]
    assert exact(at, "histogram", "ward") == private
    two = exact(at, "count", by=["sex", "ward"], keys=[["m", "f"], ["a", "b"]])
    assert [entry["key"] for entry in two] == [["m", "a"], ["m", "b"], ["f", "a"], ["f", "b"]]
    assert two[2]["answer"] == visits.filter(sex="f", ward="a").height
    assert len(exact(at, "count", by=["sex", "ward"])) == 8
    means = exact(at, "mean", "age", by="sex", bounds="0,100")
    for entry in means:
        assert entry["answer"] == pytest.approx(visits.filter(sex=entry["key"])["age"].mean(), rel=1e-5)
        assert 0 <= entry["error_95"] < 0.01
    sums = exact(at, "sum", "age", by="sex", keys=["f", "m"], bounds="0,100", where="ward = 'a'")
    assert sums[0]["answer"] == visits.filter(sex="f", ward="a")["age"].sum()
    medians = exact(at, "median", "age", by="sex", bounds="0,100")
    assert medians[1]["answer"] == visits.filter(sex="m")["age"].median()
    quartiles = exact(at, "quantile", "age", q="0.25,0.75", by="sex", keys=["f"], bounds="0,100")
    assert [entry["key"] for entry in quartiles] == [["f", 0.25], ["f", 0.75]]
    variances = exact(at, "variance", "age", by="sex", bounds="0,100")
    assert variances[0]["answer"] == pytest.approx(visits.filter(sex="f")["age"].var(ddof=0), rel=1e-3)


def test_histograms_and_estimated_bounds(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits.drop("who"))
    age = visits["age"].drop_nulls()
    found = exact(at, "histogram", "age", bounds="0,90", bins=3)
    assert [entry["key"] for entry in found] == ["[0;30)", "[30;60)", "[60;90]"]
    assert [entry["answer"] for entry in found] == [
        (age < 30).sum(), ((age >= 30) & (age < 60)).sum(), (age >= 60).sum()
    ]  # fmt: skip
    assert sum(entry["answer"] for entry in exact(at, "histogram", "age", bins="10,18,65")) == len(age)
    assert len(exact(at, "histogram", "charge", bounds="0,1")) == 10
    low, high = (entry["answer"] for entry in exact(at, "bounds", "charge"))
    charge = visits["charge"].fill_nan(None)
    assert low <= charge.min() < 2 * low + 2**-9
    assert high / 2 <= charge.max() < high  # type: ignore[operator]
    nothing = at.query("bounds", "charge", epsilon="30000", where="age > 1000")
    assert nothing.answer is None
    assert "no bounds can be told" in nothing.words[-1]


def test_bounds_of_negative_and_tiny_numbers(desk: MakeDesk) -> None:
    at = desk(pl.DataFrame({"x": [-3.0] * 50 + [0.0] * 50 + [1e-6] * 50}))
    assert [entry["answer"] for entry in exact(at, "bounds", "x")] == [-4, 2**-10]


def test_persons_are_capped_and_counted(desk: MakeDesk) -> None:
    frame = pl.DataFrame({"who": ["x"] * 50 + ["y", "z"], "age": [30] * 50 + [40, 50], "town": list("ab" * 26)})
    at = desk(frame, person="who", max_rows_per_person=5)
    assert exact(at, "count") == 7
    assert exact(at, "persons") == 3
    towns = exact(at, "persons", by="town", keys=["a", "b"])
    assert 3 <= sum(entry["answer"] for entry in towns) <= 4
    assert "who" not in at.terms.types
    assert exact(at, "sum", "age", bounds="0,100") == 5 * 30 + 90
    answer = at.query("count", epsilon="1")
    assert answer.protects == "person"
    assert answer.scale == 5
    assert "at most 5 rows" in " ".join(answer.words)
    assert at.query("persons", epsilon="1").scale == 1
    assert at.query("persons", by="town", keys=["a", "b"], epsilon="1").scale == 2
    assert at.query("mean", "age", bounds="0,100", epsilon="1").scale == 10


def test_the_same_answer_is_given_again_for_free(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits, epsilon="1")
    first = at.query("count", where="age>=65 and sex='f'", epsilon="0.75")
    again = at.query("count", where='sex == "f" AND 65 <= age', epsilon=0.750)
    assert (first.repeated, again.repeated) == (False, True)
    assert first.answer == again.answer
    assert again.remaining == {"epsilon": 0.25, "delta": 0.01}
    assert again.spent == {"epsilon": 0, "delta": 0}
    with pytest.raises(shoal.BudgetRefused):
        at.query("count", where="age>=65 and sex='f'", epsilon="0.76")
    assert Desk(at.folder).query("count", where="age>=65 and sex='f'", epsilon="0.75").repeated


def test_a_refusal_names_requested_remaining_and_difference(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits, epsilon="1", delta="1e-6")
    for number in range(10):
        at.query("count", where=f"age > {number}", epsilon=0.1)
    assert at.budget().remaining == {"epsilon": 0, "delta": 1e-6}
    with pytest.raises(shoal.BudgetRefused, match=r"epsilon 0\.1 requested, 0 remaining, 0\.1 short") as refused:
        at.query("count", epsilon="0.1")
    assert refused.value.exit_code == 3
    assert at.budget().queries == 10
    at = desk(visits, epsilon="1", delta="1e-6")
    with pytest.raises(shoal.BudgetRefused, match=r"delta 0\.001 requested, 0\.000001 remaining, 0\.000999 short"):
        at.query("count", by="sex", epsilon="0.1", delta="0.001")


@pytest.mark.parametrize("accounting", ["basic", "zcdp"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("kind", "column", "how"),
    [("count", None, {}), ("sum", "age", {"bounds": "0,100"}), ("mean", "age", {"bounds": "0,100"}),
     ("variance", "age", {"bounds": "0,100"}), ("mean", "charge", {"bounds": "0,60000", "by": "sex"})],
)  # fmt: skip
def test_true_values_are_within_the_stated_error(
    accounting: str, mechanism: str, kind: str, column: str | None, how: dict[str, Any], visits: pl.DataFrame,
    desk: MakeDesk,
) -> None:  # fmt: skip
    """Of 150 answers at most 5% may be off by more; more than 32 misses would have a chance below 1e-9."""
    budget = {"basic": "1000000", "zcdp": "100"}[accounting]
    at = desk(visits.drop("who"), accounting=accounting, delta="0.5", epsilon=budget)
    needs_delta = "by" in how or (mechanism == "gaussian" and accounting == "basic")
    clamped = {"age": visits["age"], "charge": visits["charge"].fill_nan(None).clip(0, 60000)}
    series = clamped[column] if column else visits["who"]
    true = {"count": series.len, "sum": series.sum, "mean": series.mean, "variance": lambda: series.var(ddof=0)}[kind]()
    if "by" in how:
        true = visits.with_columns(charge=series).filter(sex="f")["charge"].mean()
    delta = {"delta": "1e-5"} if needs_delta else {}
    made = plan(make_query(at.terms, kind, column, epsilon="0.5", mechanism=mechanism, **how, **delta), at.terms)
    frame = read_columns(at.folder / "columns", at.terms, made.query.columns, persons=False)
    missed = 0
    for _ in range(150):
        found = draw(made, frame)
        off, error = found.answer, found.error_95
        if "by" in how:
            off, error = found.answer[0]["answer"], found.answer[0]["error_95"]
        missed += abs(off - true) > error  # type: ignore[operator]
    assert missed <= 32


def test_quantiles_are_within_the_stated_ranks(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits.drop("who"))
    age = visits["age"].drop_nulls()
    made = plan(make_query(at.terms, "quantile", "age", q="0.3", bounds="0,100", epsilon="0.2"), at.terms)
    frame = read_columns(at.folder / "columns", at.terms, ["age"], persons=False)
    missed = 0
    for _ in range(150):
        found = draw(made, frame)
        below, not_above = (age < found.answer).sum(), (age <= found.answer).sum()
        wanted = 0.3 * len(age)
        off = max(below - wanted, wanted - not_above, 0)
        missed += off > found.error_95  # type: ignore[operator]
    assert missed <= 32


def test_a_preview_reads_no_data_and_spends_nothing(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits, epsilon="1", delta="1e-6")
    for file in (at.folder / "columns").iterdir():
        file.unlink()
    before = at.budget().to_dict()
    asked: list[tuple[str, str | None, dict[str, Any]]] = [
        ("count", None, {"where": "age >= 65"}), ("sum", "age", {"bounds": "0,100"}),
        ("mean", "charge", {"bounds": "0,1e6", "by": "sex"}), ("variance", "charge", {"bounds": "0,1e6"}),
        ("median", "age", {"bounds": "0,100"}), ("histogram", "age", {"bins": "0,18,65"}), ("bounds", "age", {}),
    ]  # fmt: skip
    for kind, column, how in asked:
        found = at.preview(kind, column, epsilon="0.1", **how).to_dict()
        assert found["preview"] is True
        assert found["answer"] is None
        assert found["affordable"] is True
        assert (found["error_95"] is None) == (kind in ("mean", "variance", "bounds"))
        assert bool(found["error_95_by_rows"]) == (kind in ("mean", "variance"))
        assert found["words"]
    assert at.preview("count", epsilon="2").affordable is False
    assert at.budget().to_dict() == before
    with pytest.raises(InputError, match="cannot be read"):
        at.query("count", where="age >= 65", epsilon="0.1")
    assert at.budget().to_dict() == before


def test_expected_and_stated_error_of_a_count_are_the_same(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits)
    assert at.preview("count", epsilon="0.1").error_95 == at.query("count", epsilon="0.1").error_95 == 30
    expected = at.preview("mean", "age", bounds="0,100", epsilon="0.1").error_95_by_rows["1000"]
    stated = at.query("mean", "age", bounds="0,100", epsilon="0.1").error_95
    assert stated is not None
    assert stated <= expected


def test_plain_words(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits)
    answer = at.query("count", where="age >= 65", epsilon="0.1")
    assert "The true value is within ±30 with 95% confidence." in answer.words
    assert any("changes the exact count by at most 1" in words and "1.11" in words for words in answer.words)
    assert any("Each row is taken as one person" in words for words in answer.words)
    assert not answer.warnings
    assert "drowns the signal" in at.query("count", where="age >= 65", epsilon="0.001").warnings[0]
    assert "2 of 3 groups" in at.query("count", by="sex", keys=["f", "x", "y"], epsilon="0.05").warnings[0]
    assert any(
        "No group is large enough" in words
        for words in at.query("count", by="who", epsilon="0.1", delta="1e-9").warnings
    )
    assert any("promises next to nothing" in words for words in at.query("count", epsilon="11").warnings)
    grouped = at.query("mean", "charge", bounds="0,1000", by="sex", epsilon="1")
    assert any("Rows without a value in sex and charge are left out" in words for words in grouped.words)
    assert any("noisy count of rows reaches" in words for words in grouped.words)


BAD: list[tuple[str, str | None, dict[str, Any], str]] = [
    ("count", None, {"epsilon": 0}, "above 0"),
    ("count", None, {"epsilon": "-1"}, "above 0"),
    ("count", None, {"epsilon": "inf"}, "not a finite"),
    ("count", None, {"epsilon": "nan"}, "not a finite"),
    ("count", None, {"epsilon": "much"}, "not a number"),
    ("count", None, {"epsilon": math.inf}, "not a finite"),
    ("count", None, {"epsilon": "1e9"}, "protects nobody"),
    ("count", None, {"delta": "1e-9"}, "needs no delta"),
    ("count", None, {"delta": "2", "by": "sex"}, "below 1"),
    ("count", "age", {}, "has no column"),
    ("count", None, {"bounds": "0,1"}, "mean nothing"),
    ("count", None, {"q": "0.5"}, "means nothing"),
    ("count", None, {"bins": 3}, "mean nothing"),
    ("count", None, {"step": 3}, "means nothing"),
    ("count", None, {"where": "agee > 3"}, "no column 'agee'"),
    ("count", None, {"where": "__import__('os')"}, "no column '__import__'"),
    ("count", None, {"by": "ag"}, "no column 'ag'"),
    ("count", None, {"by": "charge"}, "has no groups"),
    ("count", None, {"by": ["sex", "sex"]}, "twice"),
    ("count", None, {"keys": ["f"]}, "no `by`"),
    ("count", None, {"by": "sex", "keys": ["f", "f"]}, "twice"),
    ("count", None, {"by": "sex", "keys": []}, "empty"),
    ("count", None, {"by": "age", "keys": ["old"]}, "not a number"),
    ("count", None, {"by": "age", "keys": ["1.5"]}, "whole numbers"),
    ("count", None, {"by": ["sex", "ward"], "keys": [["f"]]}, "once for each column"),
    ("count", None, {"mechanism": "cauchy"}, "not known"),
    ("count", None, {"mechanism": "gaussian", "epsilon": "200"}, "above 100"),
    ("average", "age", {}, "not known"),
    ("sum", None, {}, "which column"),
    ("sum", "age", {}, "needs bounds"),
    ("mean", "sex", {"bounds": "0,1"}, "does not hold numbers"),
    ("sum", "age", {"bounds": "5"}, "two numbers"),
    ("sum", "age", {"bounds": "5,5"}, "two numbers"),
    ("sum", "age", {"bounds": "9,1"}, "two numbers"),
    ("sum", "age", {"bounds": "0,x"}, "not a number"),
    ("sum", "age", {"bounds": "0,inf"}, "not a finite"),
    ("sum", "age", {"bounds": "0,1e26"}, "too wide"),
    ("median", "age", {"bounds": "0,9", "q": 0.1}, "quantile 0.5"),
    ("quantile", "age", {"bounds": "0,9"}, "Which quantile"),
    ("quantile", "age", {"bounds": "0,9", "q": "1.5"}, "between 0 and 1"),
    ("quantile", "age", {"bounds": "0,9", "q": "0.5,0.5"}, "twice"),
    ("quantile", "age", {"bounds": "0,9", "q": []}, "no quantile"),
    ("count", None, {"colour": "red"}, "no option 'colour'"),
    ("quantile", "age", {"bounds": "0,9", "q": "0.5", "step": 0}, "above 0"),
    ("quantile", "age", {"bounds": "0,9", "q": "0.5", "step": "1e-9"}, "possible answers"),
    ("quantile", "age", {"bounds": "0,9", "q": "0.5", "mechanism": "gaussian"}, "no Gaussian"),
    ("histogram", "age", {}, "needs bounds"),
    ("histogram", "age", {"bins": 5}, "needs bounds"),
    ("histogram", "age", {"bins": "5,4,3"}, "must rise"),
    ("histogram", "age", {"bins": "1,2,3", "bounds": "0,3"}, "twice"),
    ("histogram", "age", {"bins": "0", "bounds": "0,3"}, "whole number"),
    ("histogram", "charge", {"keys": ["1"]}, "another type"),
    ("histogram", "sex", {"bounds": "0,3"}, "mean nothing"),
    ("histogram", "sex", {"by": "ward"}, "no groups of its own"),
]


@pytest.mark.parametrize(("kind", "column", "how", "said"), BAD, ids=[f"{b[0]}-{b[3]}-{i}" for i, b in enumerate(BAD)])
def test_bad_queries_are_refused_and_cost_nothing(
    kind: str, column: str | None, how: dict[str, Any], said: str, visits: pl.DataFrame, desk: MakeDesk
) -> None:
    at = desk(visits, epsilon="1", delta="1e-6")
    with pytest.raises(InputError, match=said) as refused:
        at.query(kind, column, **({"epsilon": "0.1"} | how))
    assert refused.value.exit_code == 2
    assert str(refused.value.cure).endswith("Nothing was spent.")
    assert str(refused.value.cure) != "Nothing was spent."
    assert at.budget().queries == 0


def test_a_desk_without_delta_needs_keys(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits, delta="0")
    with pytest.raises(InputError, match="desk has none"):
        at.query("count", by="sex", epsilon="0.1")
    with pytest.raises(InputError, match="Gaussian noise needs a delta"):
        at.query("count", mechanism="gaussian", epsilon="0.1")
    assert len(at.query("count", by="sex", keys=["f", "m"], epsilon="0.1").answer) == 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"epsilon": "0"}, "above 0"), ({"epsilon": "inf"}, "not a finite"), ({"delta": "1"}, "below 1"),
        ({"delta": "-1e-7"}, "below 1"), ({"person": "who"}, "How many rows"),
        ({"person": "nobody", "max_rows_per_person": 1}, "no column"),
        ({"max_rows_per_person": 3}, "says nothing"), ({"person": "who", "max_rows_per_person": 0}, "from 1 to"),
        ({"person": "hole", "max_rows_per_person": 1}, "is empty in 1 rows"), ({"accounting": "renyi"}, "not known"),
        ({"accounting": "zcdp"}, "needs a delta"), ({"columns": ["agee"]}, "no column"),
        ({"columns": [], "person": "who", "max_rows_per_person": 1}, "no column to ask about"),
    ],
)  # fmt: skip
def test_bad_terms_open_no_desk(how: dict[str, Any], said: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"who": [1, 2], "hole": [1, None], "age": [3, 4]})
    with pytest.raises(InputError, match=said):
        open_desk(frame, folder=tmp_path / "desk", **({"epsilon": "1", "types": "proposed"} | how))
    assert list(tmp_path.iterdir()) == []


def test_a_desk_is_private_and_never_replaced(visits: pl.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    open_desk(
        visits,
        folder=folder,
        types="proposed",
        epsilon="1",
        columns=["age", "sex"],
        person="who",
        max_rows_per_person=1,
    )
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE((folder / "columns").stat().st_mode) == 0o700
    for file in folder.rglob("*"):
        assert stat.S_IMODE(file.stat().st_mode) in (0o600, 0o700)
    assert list(Desk(folder).terms.types) == ["age", "sex"]
    Desk(folder).query("count", epsilon="1")
    assert stat.S_IMODE((folder / "ledger.sqlite").stat().st_mode) == 0o600
    with pytest.raises(InputError, match="exists already"):
        open_desk(visits, folder=folder, types="proposed", epsilon="1")
    with pytest.raises(InputError, match="is not a desk"):
        Desk(tmp_path)
    with pytest.raises(InputError, match="There is no folder"):
        open_desk(visits, folder=tmp_path / "a" / "desk", types="proposed", epsilon="1")
    (tmp_path / "empty").mkdir()
    open_desk(visits, folder=tmp_path / "empty", types="proposed", epsilon="1")
    assert stat.S_IMODE((tmp_path / "empty").stat().st_mode) == 0o700


def test_a_desk_answers_about_its_own_data_only(visits: pl.DataFrame, desk: MakeDesk) -> None:
    first, second = desk(visits, epsilon="1"), desk(visits.with_columns(age=pl.col("age") + 1), epsilon="1")
    file = next(column.file for column in first.terms.columns if column.name == "age")
    (first.folder / "columns" / file).write_bytes((second.folder / "columns" / file).read_bytes())
    with pytest.raises(InputError, match="hash mismatch"):
        first.query("mean", "age", bounds="0,100", epsilon="0.5")
    assert first.budget().queries == 0
    assert first.query("count", where="sex = 'f'", epsilon="0.5").entry == 1


def test_zcdp_fits_more_queries(visits: pl.DataFrame, desk: MakeDesk) -> None:
    at = desk(visits, epsilon="1", delta="1e-6", accounting="zcdp")
    for number in range(110):  # basic accounting would stop at 50
        at.query("count", where=f"age > {number}", epsilon="0.02", mechanism="gaussian")
    for number in range(110, 114):
        at.query("count", where=f"age > {number}", epsilon="0.02")
    with pytest.raises(shoal.BudgetRefused, match=r"rho 0\.0002 requested"):
        at.query("count", epsilon="0.02")
    budget = at.budget().to_dict()
    assert budget["spent"]["epsilon"] <= 1
    assert budget["spent"]["rho"] + budget["remaining"]["rho"] == pytest.approx(float(at.terms.rho or 0))
    assert budget["remaining"]["epsilon"] < 0.02


def test_a_csv_and_pandas_open_desks_too(tmp_path: Path, visits: pl.DataFrame) -> None:
    visits.write_csv(tmp_path / "visits.csv")
    open_desk(tmp_path / "visits.csv", folder=tmp_path / "a", types="proposed", epsilon=EXACT)
    open_desk(visits.to_pandas(), folder=tmp_path / "b", types="proposed", epsilon=EXACT)
    answers = [exact(Desk(tmp_path / name), "sum", "age", bounds="0,100") for name in "ab"]
    # pandas has no whole numbers beside missing ones
    assert answers == [visits["age"].sum(), pytest.approx(visits["age"].sum(), abs=0.1)]
