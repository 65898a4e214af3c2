"""What broke the kit of a survey once: memos that hold no reports, totals without end, reports off the grid."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.systems.locks import lock_beside

SURVEY = {"questions": {"age": {"range": [0, 10], "step": 5, "epsilon": 1}}}


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    shoal.local_collect_spec(SURVEY, output=tmp_path / "kit")
    return tmp_path / "kit"


def asked(kit: Path, memo: Path) -> Any:
    answers = {"id": ["p", "q"], "age": ["5", "10"]}
    return shoal.local_randomize(answers, spec=kit, person="id", memo=memo, output=kit.parent / "o.csv", force=True)


@pytest.mark.parametrize(
    "reports", [[], [["p", 3]], {"p": {"spec": None, "age": "5"}}, {"p": {"spec": "its", "age": [5]}}]
)
def test_a_memo_that_holds_no_reports_spends_nothing_anew(kit: Path, reports: Any) -> None:
    memo = kit.parent / "memo.json"
    asked(kit, memo)
    spec = json.loads(memo.read_text())["spec"]
    if isinstance(reports, dict):
        reports = {"p": {**reports["p"], "spec": reports["p"]["spec"] and spec}}
    for content in (json.dumps({"spec": spec, "reports": reports}), "[" * 100_000):
        memo.write_text(content)
        with pytest.raises(InputError, match="memo"):
            asked(kit, memo)
        assert memo.read_text() == content


def test_a_memo_is_let_go_of_after_it_was_written(kit: Path) -> None:
    memo = kit.parent / "memo.json"
    assert asked(kit, memo).repeated == 0
    with lock_beside(memo) as lock:
        assert lock.held
    assert asked(kit, memo).repeated == 2


def test_a_total_beyond_all_sense_is_told_at_once(tmp_path: Path) -> None:
    questions = {f"q{n}": {"answers": ["x", "y"], "epsilon": 30} for n in range(400)}
    made = shoal.local_collect_spec({"questions": questions}, output=tmp_path / "kit")
    assert made.total_epsilon == "12000"
    assert "e^12000 times" in str(made.sections())


@pytest.mark.parametrize("report", ["3.37", "1e300", "5.001", "100000"])
def test_numbers_that_no_randomiser_gives_are_refused(kit: Path, report: str) -> None:
    spec = json.loads((kit / "spec.json").read_text())["id"]
    assert shoal.local_estimate(pl.DataFrame({"spec": [spec] * 3, "age": ["-25", "5", "40"]}), spec=kit).reports == 3
    with pytest.raises(InputError, match="cannot come from"):
        shoal.local_estimate(pl.DataFrame({"spec": [spec] * 2, "age": [report, "5"]}), spec=kit)


def test_answers_nested_without_end_are_refused_by_the_kit(kit: Path) -> None:
    (kit / "mine.json").write_text('{"age":' + "[" * 100_000)
    done = subprocess.run(
        [sys.executable, "-I", "randomize.py", "mine.json", "r.json"], cwd=kit, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("cannot be read")) == (2, 1)


def test_a_person_is_the_same_whatever_type_the_key_came_in(kit: Path) -> None:
    memo = kit.parent / "memo.json"
    for place, key in enumerate([pl.Series([1, 2]), pl.Series([1.0, 2.0]), pl.Series(["1", "2"])]):
        answers = pl.DataFrame({"id": key, "age": ["5", "10"]})
        target = kit.parent / "o.csv"
        done = shoal.local_randomize(answers, spec=kit, person="id", memo=memo, output=target, force=True)
        assert done.repeated == (2 if place else 0)
    assert list(json.loads(memo.read_text())["reports"]) == ["1", "2"]


def test_the_cure_for_one_question_is_said_in_the_words_of_who_asked(kit: Path) -> None:
    asked(kit, kit.parent / "memo.json")
    with pytest.raises(InputError, match="each `cross`, such as smokes,town"):
        shoal.local_estimate(kit.parent / "o.csv", spec=kit, cross=[("age",)])


def test_reports_are_not_randomised_twice(kit: Path) -> None:
    asked(kit, kit.parent / "memo.json")
    with pytest.raises(InputError, match="randomised before"):
        shoal.local_randomize(kit.parent / "o.csv", spec=kit, output=kit.parent / "twice.csv")
    assert not (kit.parent / "twice.csv").exists()
