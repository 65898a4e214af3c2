"""Without a method the best allowed one is taken, and releases are set side by side."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal import progress
from shoal.cli.group import app
from shoal.errors import InputError, PolicyNotMet
from shoal.methods import chooser as choose
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.storage.reading import read

TRIED = choose.tried


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    random = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": random.integers(18, 90, 900),
            "zip": random.integers(10_000, 10_400, 900),
            "sex": random.choice(["f", "m"], 900),
            "charge": random.integers(0, 500, 900),
        }
    )


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def policy(table: dict[str, list[Any]], **more: Any) -> Policy:
    return Policy(columns=dict.fromkeys(table, "quasi-identifier"), models=[{"model": "k-anonymity", "k": 2}], **more)


def names(table: dict[str, list[Any]], rules: Policy, **options: Any) -> list[str]:
    return [method.name for method in choose.allowed(read(table), rules, options)[0]]


def test_the_methods_that_a_policy_allows() -> None:
    numbers = {"a": [1, 2, 3], "b": [4, 5, 6]}
    words = {"a": ["x", "y", "z"]}
    assert names(numbers, policy(numbers)) == ["mondrian", "lattice", "sorted-clusters"]
    assert names(words, policy(words)) == ["mondrian", "lattice"]
    rows = {"a": ["x", "x", "y", "y"], "p": [1, 2, 3, 3]}
    assert names(rows, policy(words, person="p")) == ["mondrian", "lattice"]
    assert names({**rows, "p": [1, 2, 2, 3]}, policy(words, person="p")) == ["lattice"]
    assert names({**rows, "n": [3, 1, 1, 1]}, policy(words, count="n")) == ["mondrian", "lattice"]
    assert names(numbers, policy(numbers), resolution=4) == ["coarsen"]
    assert names(numbers, policy(numbers), strata=["c"]) == ["microaggregate"]
    assert names(numbers, policy(numbers), interval="mean") == ["microaggregate"]
    assert "lattice" not in names(numbers, policy(numbers), interval="columns")
    assert names(numbers, policy(numbers), importance={"a": 2}) == ["mondrian", "lattice"]
    assert names(numbers, policy(numbers), hierarchies="trees") == ["mondrian", "lattice"]
    assert names(numbers, policy(numbers, levels={"a": [0, 1]})) == ["lattice"]
    assert names(numbers, policy(numbers, hierarchies={"a": "a.csv"})) == ["mondrian", "lattice"]
    assert names(numbers, policy(numbers, suppression=0.5)) == ["mondrian", "lattice", "sorted-clusters"]


def test_the_least_loss_is_taken_and_why_is_said(people: pl.DataFrame) -> None:
    found = shoal.anonymize(people, quasi_identifiers=["age", "zip"], k=5)
    choice = found.to_dict()
    losses = {entry["method"]: entry["information_loss"] for entry in choice["candidates"]}
    assert set(losses) == {"mondrian", "lattice", "sorted-clusters"}
    assert choice["method"] == found.method == min(losses, key=lambda method: losses[method])
    assert found.findings.information_loss == pytest.approx(losses[found.method])
    assert found.method in choice["reason"]
    assert all(entry["verdict"] == "holds" for entry in choice["candidates"])
    # more privacy never costs less
    ks = [entry["k"] for entry in choice["frontier"]]
    assert ks == sorted(ks)
    assert 5 in ks
    frontier = [entry["information_loss"] for entry in choice["frontier"]]
    assert frontier[0] < frontier[-1]


def test_texts_are_compared_by_the_loss_of_all_columns(people: pl.DataFrame) -> None:
    found = shoal.anonymize(people, quasi_identifiers=["age", "sex"], k=5).to_dict()
    losses = {entry["method"]: entry["loss"] for entry in found["candidates"]}
    assert found["method"] == min(losses, key=lambda method: losses[method])
    assert all(0 < loss < 1 for loss in losses.values())


def test_a_large_table_is_tried_on_a_sample(people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "SAMPLE", 300)
    found = shoal.anonymize(people, quasi_identifiers=["age", "zip"], k=5)
    rows = {entry["method"]: entry["rows"] for entry in found.findings.to_dict()["candidates"]}
    assert rows.pop(found.method) == 900
    assert set(rows.values()) == {300}
    assert found.table.rows == 900
    assert found.findings.k >= 5
    assert "300" in found.findings.to_dict()["reason"]


def test_what_cannot_be_kept_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="No method keeps the policy"):
        shoal.anonymize(people, quasi_identifiers=["age", "zip"], k=901)
    with pytest.raises(InputError, match="nothing to choose by"):
        shoal.anonymize(people, quasi_identifiers=["age", "zip"])


def test_a_model_that_groups_cannot_keep_goes_to_the_lattice(people: pl.DataFrame) -> None:
    rules = {
        "columns": {"age": "quasi-identifier", "sex": "quasi-identifier"},
        "models": [{"model": "k-anonymity", "k": 3}, {"model": "average-risk", "threshold": 0.1}],
    }
    found = shoal.anonymize(people, Policy.model_validate(rules))
    assert found.method == "lattice"
    assert found.findings.choice is not None
    assert "average-risk" in found.findings.choice.not_allowed["mondrian"]


def test_the_command_chooses_and_releases_are_compared(people: pl.DataFrame, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    people.write_csv(source)
    chart = tmp_path / "choice.svg"
    arguments = ["anonymize", source, "--qi", "age,zip", "--sensitive", "charge", "-k", 5, "--disclosure", "charge>400"]
    arguments += ["--decide", "sex=other"]
    chosen = run(*arguments, "-o", tmp_path / "a.csv", "--json", "--chart", chart)
    assert chosen.exit_code == 0, chosen.output
    found = json.loads(chosen.stdout)
    assert {"method", "candidates", "reason"} <= set(found)
    assert set(found["candidates"][0]) >= {"method", "information_loss", "seconds", "verdict"}
    assert chart.read_text().startswith("<svg")
    assert run(*arguments, "-o", tmp_path / "b.csv", "--method", "sorted-clusters").exit_code == 0
    both = run("compare", tmp_path / "a.manifest.json", tmp_path / "b.csv", "--json")
    rows = json.loads(both.stdout)
    assert [row["method"] for row in rows["releases"]] == [found["method"], "sorted-clusters"]
    assert rows["best"] == str(tmp_path / "a.manifest.json")
    assert rows["by"] == "information_loss"
    assert all(row["seconds"] > 0 for row in rows["releases"])
    assert "charge>400" in rows["releases"][0]["attribute_disclosure"]
    assert "least information loss" in run("compare", tmp_path / "a.csv", tmp_path / "b.csv").output
    assert "tried" not in run("compare", tmp_path / "a.csv").output


def test_what_is_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    for path in (tmp_path / "x.json", tmp_path / "none.csv"):
        with pytest.raises(InputError, match="manifest"):
            shoal.compare([path])


def test_the_frontier_never_rises_and_each_point_is_one_release(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = choose.tried
    runs: list[tuple[int, float | None, float | None]] = []

    def counted(method: Any, table: Any, task: Any, seconds: float) -> Any:
        trial = tried(method, table, task, seconds)
        if (k := task.policy.models[0].k) != 5:  # its own k is a candidate
            runs.append((k, trial.candidate.information_loss, trial.candidate.loss))
        return trial

    monkeypatch.setattr(choose, "tried", counted)
    choice = shoal.anonymize(people, quasi_identifiers=["age", "zip"], k=5).findings.choice
    assert choice is not None
    assert len(runs) <= 3
    own = next(entry for entry in choice.candidates if entry.method == choice.reason.split()[0])
    releases = {(own.information_loss, own.loss), *((first, second) for _, first, second in runs)}
    assert all((point.information_loss, point.loss) in releases for point in choice.frontier)
    assert all(point.found_for >= point.k for point in choice.frontier)
    losses = [point.information_loss or 0 for point in choice.frontier]
    assert losses == sorted(losses)


def test_a_release_for_a_larger_k_that_loses_less_is_kept(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worse_for_small_k(method: Any, table: Any, task: Any, seconds: float) -> Any:
        trial = TRIED(method, table, task, seconds)
        if task.policy.models[0].k >= 10 or trial.result is None:
            return trial
        return replace(trial, candidate=replace(trial.candidate, loss=2.0))

    monkeypatch.setattr(choose, "tried", worse_for_small_k)
    people = people.drop("zip")
    found = shoal.anonymize(people, quasi_identifiers=["age", "sex"], k=5)
    assert found.findings.choice is not None
    assert found.verdict == "holds"
    assert found.policy.models == [KAnonymity(k=5)]
    assert [verdict.parameters for verdict in found.models] == [{"k": 5}]
    assert found.polars.group_by("age", "sex").len()["len"].min() >= 10  # type: ignore[operator]
    assert "for k = 10 loses less than the one for k = 5" in found.findings.choice.reason
    point = next(point for point in found.findings.choice.frontier if point.k == 5)
    assert point.found_for == 10
    # on a sample the larger k is run on the whole table too
    monkeypatch.setattr(choose, "SAMPLE", 300)
    whole = shoal.anonymize(people, quasi_identifiers=["age", "sex"], k=5)
    assert whole.table.rows == 900
    assert whole.polars.group_by("age", "sex").len()["len"].min() >= 10  # type: ignore[operator]


def test_what_is_preferred_decides_and_is_said(people: pl.DataFrame) -> None:
    trees = {"sex": [["f", "*"], ["m", "*"]]}
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "zip", "sex"], "k": 5}
    given = shoal.anonymize(people, **asked, hierarchies=trees).findings.choice
    assert given is not None
    assert given.prefer == "hierarchies"
    assert {entry.method for entry in given.candidates} == {"mondrian", "lattice"}
    assert "that use hierarchies" in given.reason
    # whoever gives no tree and prefers them gets nodes of built ones
    found = shoal.anonymize(people, **asked, prefer="hierarchies")
    assert found.columns["sex"].form.kind in ("node", "as-it-was")
    few = shoal.anonymize(people, Policy(suppression=0.2), **asked, prefer="few-suppressed").findings.choice
    assert few is not None
    assert few.prefer == "few-suppressed"
    assert "suppresses least" in few.reason
    with pytest.raises(InputError, match="prefer"):
        shoal.anonymize(people, **asked, prefer="most")
    with pytest.raises(InputError, match="no option `prefer`"):
        shoal.anonymize(people, **asked, method="mondrian", prefer="least-loss")


def test_the_command_takes_what_is_preferred(people: pl.DataFrame, tmp_path: Path) -> None:
    people.drop("zip").write_csv(tmp_path / "people.csv")
    found = run(
        "anonymize", tmp_path / "people.csv", "-o", tmp_path / "safe.csv", "--qi", "age,sex", "-k", 5,
        "--prefer", "few-suppressed", "--json",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["prefer"] == "few-suppressed"


def test_loading_is_shown_and_not_charged(people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    monkeypatch.setattr(choose, "_WARM", 100)
    monkeypatch.setattr(choose, "_GROWS", 0.0)
    with progress.listening(lambda step, done, total: steps.append(step)):
        shoal.anonymize(people, quasi_identifiers=["age", "zip"], k=5)
    assert steps.index("loading mondrian") < steps.index("trying mondrian")
    clock = choose.Clock(10.0)
    with clock.pause():
        time.sleep(0.05)
    assert clock.left > 9.96


def test_more_values_than_a_column_has_are_not_cured_by_leaving_records_out() -> None:
    rows = {"age": [30 + n % 7 for n in range(210)], "illness": [["flu", "cold", "asthma"][n % 3] for n in range(210)]}
    columns = {"age": "quasi-identifier", "illness": "sensitive"}
    models = [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 9, "sensitive": "illness"}]
    with pytest.raises(PolicyNotMet) as refused:
        shoal.anonymize(rows, {"columns": columns, "models": models})
    assert "illness has only 3 values" in refused.value.what
    assert refused.value.cure == "Ask for less: l can be at most 3 for illness."


def test_a_method_that_takes_no_effort_is_not_given_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is slow, or asked for a large k, is tried with less effort only where its other options leave one."""
    monkeypatch.setattr(choose, "_LARGE_K", 3)
    people = shoal.sample_data("discharges", 300, 0).select("age_yrs", "los")
    made = shoal.anonymize(people, quasi_identifiers=people.columns, k=5, cuts="strict")
    assert made.parameters["effort"] == "default"


def test_less_effort_is_told_and_does_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trial takes is the time of the processors: waiting for them does not make a method too slow."""
    monkeypatch.setattr(choose, "SAMPLE", 300)
    people = shoal.sample_data("discharges", 3000, 0).select("age_yrs", "patzip", "los")
    found = {}
    for name, cpu, wall in (("waits", 0.01, 100.0), ("works", 100.0, 0.01)):

        def told(*given: Any, cpu: float = cpu, wall: float = wall) -> choose.Trial:
            trial = TRIED(*given)
            return replace(trial, cpu_seconds=cpu, candidate=replace(trial.candidate, seconds=wall))

        monkeypatch.setattr(choose, "tried", told)
        made = shoal.anonymize(people, quasi_identifiers=people.columns, k=5, time_limit=60)
        assert made.findings.choice is not None
        found[name] = made.parameters["effort"], "effort is fast" in made.findings.choice.reason
    assert found == {"waits": ("default", False), "works": ("fast", True)}
