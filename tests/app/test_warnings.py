"""What pages say where a release holds and yet attacks succeed, and where it is of earlier decisions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.conftest import Running
from shoal.app.pages.check import groups, succeeding, warning_of
from shoal.attacks import ATTACKS, AttackResult
from shoal.policy.manifest import private_folder
from shoal.results.registry import from_json

OUTCOME = {
    "name": "singling-out (twin)", "criterion": "singling-out", "targets": 1500, "rate": 0.82, "low": 0.8, "high": 0.84,
    "baseline": None, "control": 0.02, "excess": 0.816, "excess_low": 0.79, "excess_high": 0.83,
    "notes": ["something else", "column charge stands in 98.7% of the conditions"],
}  # fmt: skip


def as_json(*outcomes: dict[str, Any]) -> dict[str, Any]:
    return {"attacks": list(outcomes), "verdict": {"singling-out": "measured"}, "seed": 1}


def found(**changed: Any) -> AttackResult:
    return from_json(AttackResult, as_json({**OUTCOME, **changed}))


def test_an_attack_that_succeeds_is_not_merely_measured() -> None:
    succeed = succeeding(found(), 0.2)
    (group,) = groups(found(), succeed)
    assert (group["tone"], group["verdict"]) == ("bad", "succeeds")
    warning = warning_of(succeed, 0.2)
    assert warning is not None
    assert "82.0%" in warning["lines"][0]
    assert "Column charge stands in 98.7%" in warning["lines"][0]
    assert "something else" not in warning["lines"][0]


@pytest.mark.parametrize(
    ("changed", "succeeds"),
    [
        ({"excess_low": 0.2}, False),
        ({"excess_low": 0.21}, True),
        # no control: what guessing gives counts; (0.8 - 0.7) / 0.3 is a third
        ({"control": None, "excess_low": None, "baseline": 0.7}, True),
        ({"control": None, "excess_low": None, "baseline": 0.76}, False),
        ({"control": None, "excess_low": None, "baseline": 1.0}, False),
        ({"rate": None, "low": None, "excess_low": None}, False),
    ],
)
def test_success_is_held_against_the_risk_that_is_accepted(changed: dict[str, Any], succeeds: bool) -> None:
    assert bool(succeeding(found(**changed), 0.2)) is succeeds


def test_a_twin_speaks_for_its_attack() -> None:
    alone = {**OUTCOME, "name": "singling-out", "control": None, "excess_low": None}
    quiet = {**OUTCOME, "excess_low": 0.01}
    assert succeeding(from_json(AttackResult, as_json(alone, quiet)), 0.2) == []
    assert len(succeeding(from_json(AttackResult, as_json(alone, OUTCOME)), 0.2)) == 1


def test_every_attack_is_explained_and_drawn_on_one_axis() -> None:
    (small,) = groups(found(name="singling-out", rate=0.04, low=0.02, high=0.05, control=0.01), [])
    assert re.search(r'class="point" x1="4.00"', small["chart"])
    assert "100%" in small["chart"]
    (attack,) = [one for one in ATTACKS if one.name == "singling-out"]
    assert attack.knows in small["explained"]
    assert attack.success in small["explained"]
    assert "4.0% (2.0% to 5.0%)" in small["figures"]


@pytest.fixture
def released(app: Running, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A file whose last release is planted, so that nothing has to be published."""
    folder = tmp_path / "release"
    for place in (folder, private_folder(folder)):
        place.mkdir()
    (folder / "data.csv").write_text("age\n30\n")
    (folder / "data.csv.manifest.json").write_text(json.dumps({"signature": None}))
    data = dict.fromkeys(("records", "columns", "released", "suppressed_rows", "removed_rows"), 1)
    findings = {"data": data, "policy": {"threshold": 0.2}, "attacks": as_json(OUTCOME)}
    (private_folder(folder) / "findings.json").write_text(json.dumps(findings))
    for module in ("check", "release"):
        monkeypatch.setattr(f"shoal.app.pages.{module}.folder_of", lambda *_: folder)
    return app.open(people)


def test_the_release_page_and_the_steps_say_that_attacks_succeed(
    app: Running, released: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.app.pages.steps.is_done", lambda *_: True)
    monkeypatch.setattr("shoal.app.pages.release.needs_again", lambda *_: False)
    with app.browser() as client:
        text = client.get(f"/w/{released.id}/release").text
    assert "Attacks succeed: singling out" in text
    assert "Column charge stands in" in text
    assert f'href="{app.settings.prefix}/w/{released.id}/columns">Go to Columns' in text
    assert text.count(", attacks succeed") == 2
    assert text.count(", done") == 4
    assert (
        f'<a class="button" href="{app.settings.prefix}/w/{released.id}/release.zip" download>Download the release<'
        in text
    )


def test_an_old_release_is_made_again_from_its_page(app: Running, released: Any) -> None:
    with app.browser() as client:
        text = client.get(f"/w/{released.id}/release").text
    assert "This release is of earlier decisions" in text
    assert re.search(r'action="/[^"/]+/w/[^"]+/check"><button class="primary">Release, verify and attack again', text)
    assert "Download the release<" not in text
