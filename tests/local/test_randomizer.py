"""The one file that respondents run: its chances, exactly; its audit; its memo; and that it needs Python alone."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from shoal.dp.audit import epsilon_lower_bound
from shoal.local import randomizer, spec
from shoal.local.estimate import _decoded, _shares
from shoal.local.spec import chances, kit_file, local_collect_spec, survey_spec

ANSWERS = ["a", "b", "c"]
TRUE, UNIT = 5, 2
MECHANISMS = ["k-ary", "unary", "hadamard"]


class Enumerated:
    """All runs of something that draws by `randbelow`, each with its chance."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fixed: list[int] = []
        monkeypatch.setattr(randomizer, "randbelow", self.draw)

    def draw(self, below: int) -> int:
        if len(self.path) == len(self.fixed):
            self.fixed.append(0)
        value = self.fixed[len(self.path)]
        self.path.append((value, below))
        return value

    def runs(self, act: Callable[[], Any]) -> Iterator[tuple[Any, Fraction]]:
        self.fixed = []
        while True:
            self.path: list[tuple[int, int]] = []
            found, chance = act(), Fraction(1)
            for _, below in self.path:
                chance /= below
            yield found, chance
            while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
                self.path.pop()
            if not self.path:
                return
            self.fixed = [value for value, _ in self.path]
            self.fixed[-1] += 1


def question(mechanism: str, epsilon: str = "1", answers: list[str] = ANSWERS) -> dict[str, Any]:
    return {"mechanism": mechanism, "epsilon": epsilon, "answers": answers}


def laws(mechanism: str, monkeypatch: pytest.MonkeyPatch, answers: list[str] = ANSWERS) -> list[dict[str, Fraction]]:
    """The law of the report for each true answer, where a true one is 5/2 times as likely."""
    monkeypatch.setattr(randomizer, "odds", lambda epsilon: TRUE)
    monkeypatch.setattr(randomizer, "UNIT", UNIT)
    asked, every = question(mechanism, answers=answers), Enumerated(monkeypatch)
    found = []
    for place in range(len(answers)):
        law: Counter[str] = Counter()
        for report, chance in every.runs(lambda place=place: randomizer.MECHANISMS[mechanism](asked, place)):
            law[report] += chance
        assert sum(law.values()) == 1
        found.append(dict(law))
    return found


@pytest.mark.parametrize("answers", [["a", "b"], ANSWERS, list("abcde")])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_report_is_more_than_e_to_the_epsilon_times_as_likely(
    mechanism: str, answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By counting all runs of the code itself: the largest ratio is what epsilon allows, no more and no less."""
    found = laws(mechanism, monkeypatch, answers)
    reports = {report for law in found for report in law}
    ratios = [one[report] / other[report] for one in found for other in found for report in reports]
    assert max(ratios) == Fraction(TRUE, UNIT)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_estimates_are_unbiased_exactly(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of the estimate over all runs, for one respondent, is 1 for the true answer and 0 for the others."""
    found = laws(mechanism, monkeypatch)
    monkeypatch.setattr(spec, "odds", lambda epsilon: TRUE)
    monkeypatch.setattr(spec, "UNIT", UNIT)
    asked = question(mechanism)
    for place, law in enumerate(found):
        mean = np.zeros(3)
        for report, chance in law.items():
            shares = _shares(asked, _decoded(asked, "q", pl.Series([report])))
            mean += float(chance) * np.array([one.share for one in shares])
        assert mean == pytest.approx([float(other == place) for other in range(3)], abs=1e-12)


@given(st.integers(1, 30_000))
def test_odds_are_e_to_the_epsilon_from_below(thousandths: int) -> None:
    epsilon = Decimal(thousandths) / 1000
    with localcontext() as context:
        context.prec = 80
        exact = (epsilon.exp() * 2**32).to_integral_value("ROUND_FLOOR")
    assert randomizer.odds(str(epsilon)) == exact


def test_a_bernoulli_of_an_exponential(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs that end within 6 draws, counted: the alternating series of e^(-2/3) to six terms."""

    class Long(Exception):
        pass

    every = Enumerated(monkeypatch)
    draw = every.draw

    def bounded(below: int) -> int:
        if len(every.path) == 6:
            raise Long
        return draw(below)

    monkeypatch.setattr(randomizer, "randbelow", bounded)

    def run() -> bool | None:
        try:
            return randomizer.happens(Fraction(2, 3))
        except Long:
            return None

    law: Counter[bool | None] = Counter()
    for found, chance in every.runs(run):
        law[found] += chance
    assert law[True] <= exp(-2 / 3) <= law[True] + law[None]
    assert law[None] < 2e-4


def test_discrete_laplace_has_its_law() -> None:
    scale, draws = Fraction(7, 3), 40_000
    drawn = np.array([randomizer.discrete_laplace(scale) for _ in range(draws)])
    rate = exp(-1 / float(scale))
    inside = np.arange(-9, 10)
    law = (1 - rate) / (1 + rate) * rate ** np.abs(inside)
    seen = np.array([(drawn == value).sum() for value in inside])
    assert chisquare([*seen, draws - seen.sum()], draws * np.array([*law, 1 - law.sum()])).pvalue > 1e-6
    from opendp.measurements import make_laplace
    from opendp.prelude import absolute_distance, atom_domain, enable_features

    enable_features("contrib")
    measured = make_laplace(atom_domain(T=int), absolute_distance(T=int), scale=float(scale))
    assert measured.map(7) == pytest.approx(3)  # steps / scale: the epsilon that the scale was made for
    theirs = np.array([measured(0) for _ in range(draws)])
    assert drawn.var() == pytest.approx(theirs.var(), rel=0.15)


@pytest.mark.parametrize("answers", [2, 5, 64])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_opendp_has_the_same_epsilon(answers: int, epsilon: str) -> None:
    from opendp.measurements import make_randomized_response
    from opendp.prelude import enable_features

    enable_features("contrib")
    p, _ = chances(question("k-ary", epsilon, [str(n) for n in range(answers)]))
    measured = make_randomized_response(categories=list(range(answers)), prob=float(p))
    assert measured.map(1) == pytest.approx(float(epsilon), rel=1e-6)


def numbers(mechanism: str, place: int, many: int) -> Any:
    """Reports as the number that tells answer 0 from answer 2 best."""
    if mechanism == "laplace":
        asked = {"mechanism": "laplace", "epsilon": "1", "low": "0", "high": "4", "step": "1"}
        return np.array([float(randomizer.laplace(asked, 2 * place)) for _ in range(many)])
    asked = question(mechanism)
    reports = [randomizer.MECHANISMS[mechanism](asked, place) for _ in range(many)]
    if mechanism == "unary":
        return np.array([int(report[1]) - int(report[3]) for report in reports])
    if mechanism == "hadamard":
        signs = np.array([[(int(report) & row).bit_count() % 2 for row in (1, 3)] for report in reports])
        return signs[:, 1] - signs[:, 0]
    return np.array([ANSWERS.index(report) for report in reports])


@pytest.mark.parametrize("mechanism", [*MECHANISMS, "laplace"])
def test_an_audit_proves_most_of_epsilon_and_no_more(mechanism: str) -> None:
    first, second = numbers(mechanism, 0, 12_000), numbers(mechanism, 2, 12_000)
    bound = epsilon_lower_bound(first, second)
    assert 0.7 < bound <= 1  # of a mechanism that says 0.5, it would be a proof of fault


def test_reports_follow_the_chances() -> None:
    for mechanism in ("k-ary", "unary", "hadamard"):
        asked = question(mechanism, "1.5")
        law = [randomizer.MECHANISMS[mechanism](asked, 1) for _ in range(20_000)]
        shares = _shares(asked, _decoded(asked, "q", pl.Series(law)))
        for place, one in enumerate(shares):
            assert abs(one.share - (place == 1)) < 5 * one.standard_error


# the file by itself


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    survey = {
        "questions": {"smokes": {"answers": ["yes", "no"], "epsilon": 1}, "age": {"range": [0, 120], "epsilon": 1}}
    }
    local_collect_spec(survey, output=tmp_path / "kit")
    return tmp_path / "kit"


def respond(kit: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", str(kit / "randomize.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=kit, env={})


def test_the_file_imports_the_standard_library_alone_and_no_network() -> None:
    tree = ast.parse(Path(randomizer.__file__).read_text())
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {str(name).split(".")[0] for name in names} <= sys.stdlib_module_names - {"socket", "urllib", "http"}
    floats = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    assert [node.value for node in floats] == [99.9]  # words, no chance


def test_a_respondent_needs_one_file_and_repeats_for_free(kit: Path) -> None:
    (kit / "spec.json").unlink()
    (kit / "a.json").write_text('{"smokes": "yes", "age": 34}')
    shown = respond(kit)
    assert shown.returncode == 0
    assert "all together, epsilon 2: a report makes no answer more than 7.39 times as likely" in shown.stdout
    assert respond(kit, "a.json", "r.json").returncode == 0
    first = (kit / "r.json").read_text()
    for answers in ('{"smokes": "yes", "age": 34}', '{"smokes": "no", "age": 99}') * 5:
        (kit / "a.json").write_text(answers)
        assert respond(kit, "a.json", "r.json").returncode == 0
        assert (kit / "r.json").read_text() == first
    (memo,) = kit.glob("memo-*.json")
    if os.name == "posix":
        assert memo.stat().st_mode & 0o777 == 0o600
    kept = json.loads(memo.read_text())  # no true answer is in it
    assert kept == {"spec": kept["spec"], "reports": {"me": json.loads(first)}}


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ('{"smokes": "sometimes", "age": 3}', "an answer that it does not have"),
        ('{"smokes": "yes", "age": "young"}', "takes a number"),
        ('{"smokes": "yes", "age": null}', "has no answer"),
        ('{"smokes": "yes"}', "does not answer these questions"),
        ("[", "cannot be read as JSON"),
    ],
)
def test_a_respondent_is_told_what_is_wrong(kit: Path, answers: str, words: str) -> None:
    (kit / "a.json").write_text(answers)
    done = respond(kit, "a.json", "r.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "sometimes" not in done.stderr
    assert "young" not in done.stderr
    assert not (kit / "r.json").exists()
    assert not list(kit.glob("memo-*"))


def test_a_changed_randomiser_does_not_run(kit: Path) -> None:
    code = (kit / "randomize.py").read_text()
    (kit / "randomize.py").write_text(code.replace("'epsilon': '1'", "'epsilon': '9'", 1))
    assert respond(kit).returncode == 2


def test_a_memo_of_another_survey_is_refused(kit: Path, tmp_path: Path) -> None:
    other = survey_spec({"questions": {"smokes": {"answers": ["yes", "no"], "epsilon": 2}}})
    memo = tmp_path / "memo.json"
    content = survey_spec({"questions": {"smokes": {"answers": ["yes", "no"], "epsilon": 1}}}).content
    made = randomizer.memo_of(content, {"me": randomizer.randomize(content, {"smokes": "no"})})
    memo.write_text(json.dumps(made))
    assert set(randomizer.read_memo(memo, content)) == {"me"}
    with pytest.raises(randomizer.AnswerRefused, match="memo of another spec"):
        randomizer.read_memo(memo, other.content)
    half = json.dumps({"spec": content["id"], "reports": {"me": {"spec": content["id"]}}})
    for broken in ("[]", "{", half):
        memo.write_text(broken)
        with pytest.raises(randomizer.AnswerRefused):
            randomizer.read_memo(memo, content)
    assert "SPEC: dict[str, Any] = {'format'" in kit_file(other)


def test_numbers_are_written_with_every_digit() -> None:
    asked = {"mechanism": "laplace", "epsilon": "30", "low": "-0.5", "high": "0.5", "step": "0.25"}
    for _ in range(50):
        assert Fraction(randomizer.laplace(asked, 2)) * 4 % 1 == 0
    assert randomizer.place_of("q", asked, "7") == 4
    assert randomizer.place_of("q", asked, "-0.4") == 0
    assert log(randomizer.odds("1") / 2**32) <= 1
