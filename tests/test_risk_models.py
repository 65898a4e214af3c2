"""The models of a policy in `risk`: the same verdicts as `verify` gives, and what is not judged does not hold."""

from __future__ import annotations

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
from shoal.models import AverageRisk, Evidence
from shoal.models.base import PeopleEstimate
from shoal.population.individual import expected_risk

KEYS = ["a", "b"]
# classes of 50, 49 and ones: 3 classes of one record
FRAME = pl.DataFrame({"a": ["x"] * 50 + ["y"] * 49 + list("pqr"), "b": [1] * 102, "s": ["u", "v"] * 51})


def policy_of(model: dict[str, Any], **said: Any) -> shoal.Policy:
    roles = {"a": "quasi-identifier", "b": "quasi-identifier", "s": "other"}
    return shoal.Policy(columns=roles, models=[model], **said)


def both(frame: pl.DataFrame, policy: shoal.Policy) -> list[tuple[bool, dict[str, Any]]]:
    """What risk and verify say of the one model."""
    found = [shoal.risk(frame, policy=policy).models, shoal.verify(frame, policy).models]
    return [
        (verdict.holds, {name: value for name, value in verdict.worst.items() if name != "columns"})
        for verdicts in found
        for verdict in verdicts
    ]


def test_people_are_those_of_one_class_not_of_all_of_its_size() -> None:
    """3 classes of one record of 102 from 1,000: the estimate is 1 / E[1/F | 1], not what 3 records would stand for; at
    the safe end nobody knows more of a unique than itself."""
    risk, verify = both(FRAME, policy_of({"model": "k-map", "k": 100, "population_size": 1000}))
    people = 1 / expected_risk(np.array([1]), np.array([1000 / 102]))[0]
    assert (risk[1]["people"], risk[1]["estimate"]) == (1, pytest.approx(people))
    assert risk[0] is False
    assert verify == risk


def test_evidence_does_not_mix_histogram_and_members() -> None:
    with pytest.raises(ValueError, match="several classes"):
        Evidence(np.array([1]), np.array([3]), members=np.array([3]))


@pytest.mark.parametrize("rule", ["value", "wildcard"])  # under `drop` verify sets no row aside
@settings(max_examples=12, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from([1, 2, 3, None]), st.sampled_from([1, 2, None])), min_size=2, max_size=9)
)
def test_risk_and_verify_agree(rule: str, rows: list[tuple[int | None, int | None]]) -> None:
    frame = pl.DataFrame([(1, 1), *rows], schema={"a": pl.Int64, "b": pl.Int64}, orient="row").with_columns(
        s=pl.lit("u")
    )
    models: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"model": "k-map", "k": 4, "population_size": 50}, {}),
        ({"model": "k-map", "k": 4}, {"sampling": 0.2}),
        ({"model": "k-anonymity", "k": 2}, {}),
        ({"model": "highest-risk", "threshold": 0.3}, {"sampling": 0.2, "risk_over": "population"}),
        ({"model": "average-risk", "threshold": 0.3}, {}),
    ]
    # by `population_size` verify needs the manifest, which says how many records there were
    for model, said in models:
        risk, verify = both(frame, policy_of(model, null_rule=rule, **said))
        assert risk[0] == verify[0]
        assert risk[1] == pytest.approx(verify[1]), model


def test_populations_and_margins_are_judged(tmp_path: Path) -> None:
    pl.concat([FRAME.select(KEYS)] * 3).write_csv(tmp_path / "people.csv")
    FRAME.group_by("a").len().with_columns(pl.col("len") * 7).write_csv(tmp_path / "a.csv")
    FRAME.group_by("b").len().with_columns(pl.col("len") * 7).write_csv(tmp_path / "b.csv")
    counted, fitted = str(tmp_path / "people.csv"), [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    for model, people, status in (
        ({"model": "k-map", "k": 4, "population": counted}, 3, "does not hold"),
        ({"model": "k-map", "k": 3, "population": counted}, 3, "holds"),
        ({"model": "k-map", "k": 8, "margins": fitted}, 7, "does not hold"),
        ({"model": "k-map", "k": 7, "margins": fitted}, 7, "estimated"),
    ):
        policy = policy_of(model)
        risk, verify = both(FRAME, policy)
        assert risk == verify
        assert risk[1]["people"] == pytest.approx(people)
        assert shoal.risk(FRAME, policy=policy).models[0].status == status


def test_what_is_not_judged_does_not_pass_the_gate(tmp_path: Path) -> None:
    frame = FRAME.with_columns(p=pl.int_range(pl.len()) // 2)
    frame.write_csv(tmp_path / "t.csv")
    roles = "columns: {a: quasi-identifier, b: quasi-identifier, s: sensitive, p: identifier}\n"
    for model, more in (
        ("{model: l-diversity, l: 2, sensitive: s}", ""),
        ("{model: k-map, k: 2, population: t.csv}", "person: p\n"),
    ):
        (tmp_path / "p.yaml").write_text(roles + more + f"models: [{model}]\n")
        command = ["risk", str(tmp_path / "t.csv"), "--policy", str(tmp_path / "p.yaml"), "--threshold", "1"]
        found = CliRunner().invoke(app, [*command, "--fail-above-threshold"])
        assert found.exit_code == 1, found.output
        assert "not judged" in found.output


def test_what_was_not_measured_is_null_and_does_not_pass(tmp_path: Path) -> None:
    """With every key missing and null matching anything no record stands in a class."""
    empty = pl.DataFrame({"a": [None] * 5, "b": [None] * 5, "w": [4.0] * 5}, schema_overrides={"a": pl.Int64})
    found = shoal.risk(empty, quasi_identifiers=KEYS, null_rule="wildcard", weight="w")
    for attacker in (found.prosecutor, found.journalist, found.marketer):
        assert attacker is not None
        assert (attacker.highest, attacker.average, attacker.share_over_threshold) == (None, None, None)
    assert found.individual is None
    assert any("individual risk is not measured" in note for note in found.notes)
    assert found.over_threshold
    assert not found.holds
    empty.write_csv(tmp_path / "t.csv")
    command = ["risk", str(tmp_path / "t.csv"), "--qi", "a,b", "--null-rule", "wildcard", "--threshold", "1"]
    assert CliRunner().invoke(app, [*command, "--fail-above-threshold"]).exit_code == 1


def test_an_approximation_without_weights_is_refused() -> None:
    with pytest.raises(InputError, match="needs weights"):
        shoal.risk(FRAME, quasi_identifiers=KEYS, approximate=True)


def test_one_class_is_one_class() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1] * 4, "w": [0.5, 0.5, 20.0, 20.0]})
    found = shoal.risk(frame, quasi_identifiers=KEYS, weight="w")
    assert any(note.startswith("in 1 class the weights") for note in found.notes)


def test_average_risk_of_the_population_by_hand() -> None:
    """Classes of 4 and 2, whose risks r are estimated for 40 and 10 people: the mean of 6 records and its upper end,
    1.645 roots of the sum of m^2 r (1 / m - r) above it, over 6."""
    people = PeopleEstimate(np.array([40.0, 10.0]), "weights", 50.0)
    evidence = Evidence(np.array([4, 2]), estimate=people, risk_over="population")
    one, two = evidence.estimated.risks.tolist()  # type: ignore[union-attr]
    mean = (4 * one + 2 * two) / 6
    above = 1.645 * (16 * one * (1 / 4 - one) + 4 * two * (1 / 2 - two)) ** 0.5 / 6
    assert AverageRisk(threshold=0.5).measure(evidence).tolist() == pytest.approx([mean + above])
    # without an estimate those of the sample: 1/4 and 1/2, which nothing is above
    unknown = AverageRisk(threshold=0.5).measure(Evidence(np.array([4, 2]), risk_over="population"))
    assert unknown.tolist() == pytest.approx([2 / 6])
