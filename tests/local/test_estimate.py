"""Surveys, tables of answers and estimates: by hand, against published variances, over many simulations, refused."""

from __future__ import annotations

import json
import sys
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli import app
from shoal.errors import InputError
from shoal.local import randomizer
from shoal.local.estimate import _cross, _decoded, _mean, _shares
from shoal.local.randomizer import randomize
from shoal.local.spec import chances, load_spec, survey_spec

YES_NO = {"answers": ["yes", "no"], "epsilon": 1}
SURVEY: dict[str, Any] = {
    "questions": {
        "smokes": YES_NO,
        "town": {"answers": ["north", "south", "east", "west"], "epsilon": 1},
        "illness": {"answers": list("abcde"), "epsilon": 1, "mechanism": "unary"},
        "sport": {"answers": list("xyz"), "epsilon": 1, "mechanism": "hadamard"},
        "age": {"range": [0, 120], "step": "0.5", "epsilon": "0.5"},
    }
}


def test_shares_by_hand() -> None:
    """Three of four reports say yes: (3/4 - q) / (p - q) with p = e / (1 + e)."""
    spec = survey_spec({"questions": {"smokes": YES_NO}})
    reports = {"spec": [spec.id] * 4, "smokes": ["yes", "yes", "no", "yes"]}
    yes, no = shoal.local_estimate(reports, spec=spec).questions[0].shares
    p = exp(1) / (1 + exp(1))
    assert yes.share == pytest.approx((0.75 - (1 - p)) / (2 * p - 1), abs=1e-8)
    assert no.share == pytest.approx(1 - yes.share)
    error = sqrt(p * (1 - p) / 4) / (2 * p - 1)  # the same for every true share where there are two answers
    assert yes.standard_error == pytest.approx(error, abs=1e-8)
    assert yes.high - yes.low == pytest.approx(2 * 1.96 * error, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_variances_are_those_of_the_literature(epsilon: float) -> None:
    """For a rare answer among 64, from a million reports: Wang et al. 2017, equations for direct and unary encoding."""
    answers, n, e = [str(number) for number in range(64)], 10**6, exp(epsilon)
    published = {"k-ary": (62 + e) / (e - 1) ** 2, "unary": 4 * e / (e - 1) ** 2, "hadamard": ((e + 1) / (e - 1)) ** 2}
    for mechanism, variance in published.items():
        asked = {"mechanism": mechanism, "epsilon": str(epsilon), "answers": answers}
        p, q = map(float, chances(asked))
        assert q * (1 - q) / (p - q) ** 2 == pytest.approx(variance, rel=1e-6)
    best = survey_spec({"questions": {"q": {"answers": answers, "epsilon": epsilon}}}).questions["q"]["mechanism"]
    assert best == min(("k-ary", "unary"), key=lambda name: published[name])
    assert sqrt(published["unary"] / n) == pytest.approx(
        {0.5: 0.00396, 1: 0.00192, 2: 0.00085, 4: 0.00028}[epsilon], abs=1e-5
    )


def crowd(rows: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "smokes": draw.choice(["yes", "no"], rows, p=[0.3, 0.7]),
            "town": draw.choice(["north", "south", "east", "west"], rows, p=[0.6, 0.3, 0.1, 0]),
            "illness": draw.choice(list("abcde"), rows),
            "sport": draw.choice(list("xyz"), rows),
            "age": draw.integers(0, 121, rows),
            "id": np.arange(rows),
        }
    )


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    shoal.local_collect_spec(SURVEY, output=tmp_path / "kit")
    return tmp_path / "kit"


def test_from_answers_to_estimates(kit: Path, tmp_path: Path) -> None:
    """Every estimate lies within five standard errors of the truth, cross-tables too; they add up to one."""
    answers = crowd(4000, 1)
    shoal.local_randomize(answers, spec=kit, output=tmp_path / "noisy.csv")
    found = shoal.local_estimate(tmp_path / "noisy.csv", spec=kit, cross=[["smokes", "illness"], ["town", "sport"]])
    assert found.total_epsilon == "4.5"
    for one in found.questions:
        if one.mean is not None:
            assert abs(one.mean.share - answers["age"].mean()) < 5 * one.mean.standard_error  # type: ignore[operator]
        for share in one.shares:
            assert abs(share.share - (answers[one.question] == share.answer[0]).mean()) < 5 * share.standard_error
    for cross in found.crosses:
        for share in cross.shares:
            first, second = (answers[name] == value for name, value in zip(cross.questions, share.answer, strict=True))
            true = first & second
            assert abs(share.share - true.mean()) < 5 * share.standard_error
    assert "4.5" in found.summary()


def test_a_cross_table_of_exact_reports_is_the_table(tmp_path: Path) -> None:
    """At epsilon 30 a report is the truth: the cross-table is that of polars."""
    survey = {"questions": {name: {**SURVEY["questions"][name], "epsilon": 30} for name in ("smokes", "town", "sport")}}
    survey["questions"]["sport"]["mechanism"] = "k-ary"  # hadamard is half noise at any epsilon
    shoal.local_collect_spec(survey, output=tmp_path / "kit")
    answers = crowd(500, 2)
    shoal.local_randomize(answers, spec=tmp_path / "kit", output=tmp_path / "noisy.csv")
    (cross,) = shoal.local_estimate(tmp_path / "noisy.csv", spec=tmp_path / "kit", cross=[["town", "sport"]]).crosses
    for share in cross.shares:
        count = answers.filter(town=share.answer[0], sport=share.answer[1]).height
        assert share.share * 500 == pytest.approx(count, abs=1e-6)


def test_a_person_reports_once_and_repeats_for_free(kit: Path, tmp_path: Path) -> None:
    answers = crowd(50, 3)
    twice = pl.concat([answers, answers.with_columns(pl.lit("yes").alias("smokes"))])
    memo, first, second = tmp_path / "memo.json", tmp_path / "first.csv", tmp_path / "second.csv"
    done = shoal.local_randomize(twice, spec=kit, person="id", memo=memo, output=first)
    assert (done.reports, done.repeated) == (50, 0)
    done = shoal.local_randomize(crowd(80, 4), spec=kit, person="id", memo=memo, output=second)
    assert (done.reports, done.repeated) == (80, 50)
    before, after = (sorted(pl.read_csv(path, infer_schema=False).rows()) for path in (first, second))
    assert set(before) <= set(after)
    assert "id" not in pl.read_csv(first).columns
    assert memo.stat().st_mode & 0o077 == 0


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.text("abcü '\",;0", min_size=1, max_size=4).map(str.strip).filter(bool), min_size=2, max_size=9, unique=True
    ),
    st.sampled_from([None, "k-ary", "unary", "hadamard"]),
    st.integers(1, 30),
)
def test_every_report_can_be_estimated(answers: list[str], mechanism: str | None, epsilon: int) -> None:
    spec = survey_spec({"questions": {"q": {"answers": answers, "epsilon": epsilon, "mechanism": mechanism}}})
    reports = pl.DataFrame([randomize(spec.content, {"q": answer}) for answer in answers for _ in range(3)])
    found = shoal.local_estimate(reports, spec=spec).questions[0]
    if found.mechanism in ("k-ary", "randomized-response"):
        assert sum(one.share for one in found.shares) == pytest.approx(1)
    assert all(one.low <= one.high for one in found.shares)


# what is refused: one error with its cure, exit code 2, nothing written


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"answers": ["a", "b"], "epsilon": 0}, "an epsilon of 0"),
        ({"answers": ["a", "b"], "epsilon": -1}, "an epsilon of -1"),
        ({"answers": ["a", "b"], "epsilon": 31}, "an epsilon of 31"),
        ({"answers": ["a", "b"], "epsilon": float("nan")}, "not a finite number"),
        ({"answers": ["a", "b"], "epsilon": True}, "is not a number"),
        ({"answers": ["a", "b"]}, "is not a number"),
        ({"answers": [True, False], "epsilon": 1}, "cannot be read"),
        ({"answers": ["a"], "epsilon": 1}, "2 to 4,096 different answers"),
        ({"answers": ["a", "a"], "epsilon": 1}, "2 to 4,096 different answers"),
        ({"answers": ["a", "b"], "range": [0, 1], "epsilon": 1}, "either `answers` or a `range`"),
        ({"answers": ["a", "b"], "epsilon": 1, "colour": "red"}, "either `answers` or a `range`"),
        ({"answers": ["a", "b"], "epsilon": 1, "mechanism": "laplace"}, "cannot have the mechanism"),
        ({"answers": ["a", "b", "c"], "epsilon": 1, "mechanism": "randomized-response"}, "cannot have the mechanism"),
        ({"range": [0, 10], "epsilon": 1, "mechanism": "unary"}, "cannot have the mechanism"),
        ({"answers": ["a", "b"], "epsilon": 1, "mechanism": "rappor"}, "is not known"),
        ({"range": [10, 0], "epsilon": 1}, "whole steps"),
        ({"range": [0, 10], "step": 3, "epsilon": 1}, "whole steps"),
        ({"range": [0], "epsilon": 1}, "has two ends"),
    ],
)
def test_a_survey_that_cannot_be_is_refused(question: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as refused:
        shoal.local_collect_spec({"questions": {"q": question}}, output=tmp_path / "kit")
    assert refused.value.cure
    assert not (tmp_path / "kit").exists()


@pytest.mark.parametrize(
    "text", ["questions: [", "[]", "questions: {}", "questions: {spec: {answers: [a, b], epsilon: 1}}", "\x00", "",
             "questions:\n  a: {answers: [x, y], epsilon: 1}\n  a: {answers: [x, y], epsilon: 2}\n"]
)  # fmt: skip
def test_a_file_that_is_no_survey_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "survey.yaml").write_text(text)
    done = CliRunner().invoke(
        app, ["local", "collect-spec", str(tmp_path / "survey.yaml"), "-o", str(tmp_path / "kit")]
    )
    assert isinstance(done.exception, InputError)
    assert done.exception.exit_code == 2
    assert not (tmp_path / "kit").exists()


def test_a_kit_is_never_replaced(kit: Path) -> None:
    with pytest.raises(InputError, match="exists already"):
        shoal.local_collect_spec(SURVEY, output=kit)


@pytest.mark.parametrize("change", [("epsilon", "5"), ("mechanism", "unary"), ("answers", ["yes", "never"])])
@pytest.mark.parametrize("rehashed", [False, True])
def test_an_edited_spec_is_refused(change: tuple[str, Any], rehashed: bool, kit: Path, tmp_path: Path) -> None:
    """With a new hash it is another spec, whose epsilons do not add up or whose reports are those of another."""
    shoal.local_randomize(crowd(5, 1), spec=kit, output=tmp_path / "noisy.csv")
    content = json.loads((kit / "spec.json").read_text())
    content["questions"]["smokes"][change[0]] = change[1]
    content["id"] = randomizer.identity(content) if rehashed else content["id"]
    (kit / "spec.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"edited|of another spec"):
        shoal.local_estimate(tmp_path / "noisy.csv", spec=kit)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"id": 1, "questions": {"a": 1}}', '{"id": "x", "questions": {"a": {}}}']
)
def test_what_is_no_spec_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text(text)
    for path in (tmp_path, tmp_path / "spec.json", tmp_path / "none"):
        with pytest.raises(InputError):
            load_spec(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (pl.lit("Zqx").alias("smokes"), "an answer that it does not have"),
        (pl.lit(None, pl.String).alias("town"), "has no answer"),
        (pl.lit("Zqx").alias("age"), "takes a number"),
        (pl.col("smokes").alias("smoke"), None),
    ],
)
def test_answers_that_cannot_be_are_refused(change: pl.Expr, words: str | None, kit: Path, tmp_path: Path) -> None:
    answers = crowd(5, 1).with_columns(change)
    answers = answers.drop("smokes") if words is None else answers
    answers.write_csv(tmp_path / "answers.csv")
    options = [
        "--spec",
        str(kit),
        "-o",
        str(tmp_path / "noisy.csv"),
        "--person",
        "id",
        "--memo",
        str(tmp_path / "m.json"),
    ]
    done = CliRunner().invoke(app, ["local", "randomize", str(tmp_path / "answers.csv"), *options])
    assert isinstance(done.exception, InputError)
    assert (words or "has no column") in str(done.exception)
    assert "Zqx" not in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "kit"]


def test_a_memo_of_another_spec_is_refused(kit: Path, tmp_path: Path) -> None:
    shoal.local_collect_spec({"questions": {"smokes": YES_NO}}, output=tmp_path / "other")
    memo = tmp_path / "memo.json"
    shoal.local_randomize(crowd(5, 1), spec=kit, person="id", memo=memo, output=tmp_path / "noisy.csv")
    before = memo.read_bytes()
    with pytest.raises(InputError, match="memo of another spec"):
        shoal.local_randomize(crowd(5, 1), spec=tmp_path / "other", person="id", memo=memo, output=tmp_path / "n.csv")
    with pytest.raises(InputError, match="who is who"):
        shoal.local_randomize(crowd(5, 1), spec=kit, memo=memo, output=tmp_path / "n.csv")
    with pytest.raises(InputError, match="at once"):
        shoal.local_randomize(crowd(5, 1), spec=kit, person="id", memo=tmp_path / "n.csv", output=tmp_path / "n.csv")
    assert memo.read_bytes() == before
    assert not (tmp_path / "n.csv").exists()


@pytest.mark.parametrize(
    ("column", "value"), [("smokes", "maybe"), ("illness", "b01"), ("sport", "99"), ("sport", None), ("age", "inf")]
)
def test_reports_that_no_randomiser_gives_are_refused(
    column: str, value: str | None, kit: Path, tmp_path: Path
) -> None:
    shoal.local_randomize(crowd(5, 1), spec=kit, output=tmp_path / "noisy.csv")
    reports = pl.read_csv(tmp_path / "noisy.csv", infer_schema=False).with_columns(
        pl.lit(value, pl.String).alias(column)
    )
    with pytest.raises(InputError, match="5 reports cannot come from"):
        shoal.local_estimate(reports, spec=kit)


def test_cross_tables_that_cannot_be_are_refused(kit: Path, tmp_path: Path) -> None:
    shoal.local_randomize(crowd(5, 1), spec=kit, output=tmp_path / "noisy.csv")
    for cross, words in (
        (["smokes"], "two questions"),
        (["smokes", "age"], "is a number"),
        (["smoke", "town"], "smokes"),
    ):
        with pytest.raises(InputError, match=words):
            shoal.local_estimate(tmp_path / "noisy.csv", spec=kit, cross=[cross])
    with pytest.raises(InputError, match="no rows"):
        shoal.local_randomize(crowd(0, 1), spec=kit, output=tmp_path / "n.csv")


# the bar: 95 % intervals, over 10,000 surveys of 400 respondents each, all drawn by the randomiser itself

MANY, PEOPLE = 10_000, 400


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["randomized-response", "k-ary", "unary", "hadamard"])
def test_intervals_cover_the_truth_in_95_of_100(mechanism: str) -> None:
    answers = ["a", "b"] if mechanism == "randomized-response" else list("abcd")
    truth = [0.3, 0.7] if len(answers) == 2 else [0.55, 0.3, 0.1, 0.05]
    asked = {"mechanism": mechanism, "epsilon": "1", "answers": answers}
    places = np.repeat(range(len(answers)), [round(PEOPLE * share) for share in truth]).tolist()
    drawn = [randomizer.MECHANISMS[mechanism](asked, place) for _ in range(MANY) for place in places]
    reports, covered = _decoded(asked, "q", pl.Series(drawn)), np.zeros(len(answers))
    means = np.zeros(len(answers))
    for block in np.split(reports, MANY):
        shares = _shares(asked, block)
        covered += [one.low <= true <= one.high for one, true in zip(shares, truth, strict=True)]
        means += [one.share / MANY for one in shares]
    sys.stdout.write(f"{(covered / MANY).tolist()}\n")
    assert np.abs(covered / MANY - 0.95).max() <= 0.01
    assert means == pytest.approx(truth, abs=0.01)


@pytest.mark.slow
def test_intervals_of_means_cover_the_truth_in_95_of_100() -> None:
    asked = {"mechanism": "laplace", "epsilon": "1", "low": "0", "high": "100", "step": "1"}
    places = [round(number * 100 / 399) for number in range(PEOPLE)]
    drawn = [float(randomizer.laplace(asked, place)) for _ in range(MANY) for place in places]
    found = [_mean(asked, block) for block in np.split(np.array(drawn), MANY)]
    covered = np.mean([one.low <= np.mean(places) <= one.high for one in found])
    sys.stdout.write(f"{covered}\n")
    assert abs(covered - 0.95) <= 0.01


@pytest.mark.slow
def test_intervals_of_cross_tables_cover_the_truth_in_95_of_100() -> None:
    """Reports of two questions drawn anew, by the exact chances of the mechanism, 2,000 respondents each."""
    survey = {"questions": {"a": YES_NO, "b": {"answers": list("xyz"), "epsilon": 1}}}
    spec, draw, people, covered = survey_spec(survey), np.random.default_rng(5), 2000, np.zeros(6)
    pairs = np.repeat(np.arange(6), [600, 200, 200, 100, 500, 400])
    true = np.bincount(pairs) / people
    for _ in range(MANY):
        decoded = {}
        for name, place, many in (("a", pairs // 3, 2), ("b", pairs % 3, 3)):
            p = float(chances(spec.questions[name])[0])
            keeps = draw.random(people) < p
            decoded[name] = np.where(keeps, place, (place + draw.integers(1, many, people)) % many)
        covered += [
            one.low <= share <= one.high for one, share in zip(_cross(spec, ("a", "b"), decoded), true, strict=True)
        ]
    sys.stdout.write(f"{(covered / MANY).tolist()}\n")
    assert np.abs(covered / MANY - 0.95).max() <= 0.01
