"""A limit that is not kept, or not tested, says why; another table than the original is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks import AttackOutcome, AttackResult
from shoal.attacks.base import verdicts_of
from shoal.attacks.verification import limit_checks
from shoal.policy.sections import AttackLimits

ROLES: dict[str, Any] = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}


def people(seed: int, rows: int = 300) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 80, rows),
            "zip": draw.integers(93701, 93790, rows),
            "ill": draw.choice(["flu", "cold", "heart"], rows),
        }
    )


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    people(1).write_csv(tmp_path / "people.csv")
    policy = shoal.Policy(columns=ROLES, models=[{"model": "k-anonymity", "k": 5}], attacks={"linkability": 1})
    made = shoal.anonymize(tmp_path / "people.csv", policy, method="mondrian")
    shoal.release(made, tmp_path / "safe.csv")
    return tmp_path / "safe.csv"


@pytest.mark.parametrize(("rows", "said"), [(300, "do not lie in the cells"), (290, "has 290 rows")])
def test_another_table_as_original_is_refused(safe: Path, rows: int, said: str) -> None:
    with pytest.raises(shoal.InputError, match=said) as error:
        shoal.attack(safe, original=people(2, rows), twin=False)
    assert "made from" in error.value.cure
    assert shoal.attack(safe, original=people(1), twin=False).attacks
    verified = shoal.verify(safe, original=people(2, rows), attack=True)
    assert "not tested" in verified.reasons()


def test_an_untested_limit_says_why() -> None:
    result = AttackResult([], verdicts_of([]), 0)
    membership, inference = (
        limit_checks(result, AttackLimits(**{name: 0.1}))[0] for name in ("membership", "inference")
    )
    assert not membership.holds
    assert "shoal attack membership" in membership.detail
    assert "no sensitive column" in inference.detail


@pytest.mark.parametrize(("hits", "unproven"), [(2, True), (30, False)])
def test_a_limit_that_few_people_cannot_prove_is_told_from_one_that_is_exceeded(hits: int, unproven: bool) -> None:
    ours, theirs = np.repeat([1, 0], [hits, 40 - hits]), np.repeat([1, 0], [2, 38])
    one = AttackOutcome.of("linkability", "linkability", ours.astype(float), theirs.astype(float))
    limits = AttackLimits(linkability=0.01)
    result = AttackResult([one], verdicts_of([one], limits), 0)
    assert result.verdict["linkability"] == "fail"
    assert ("not proven with 40 targets" in limit_checks(result, limits)[0].detail) == unproven
    assert any("raise targets" in str(section) for section in result.sections()) == unproven


def test_verify_takes_the_number_of_targets(safe: Path) -> None:
    with pytest.raises(shoal.InputError, match="targets is 0"):
        shoal.verify(safe, original=people(1), attack=True, targets=0)


def test_the_screen_explains_its_words_once_and_shows_what_the_twin_says() -> None:
    ours, theirs = np.repeat([1.0, 0.0], 40), np.repeat([1.0, 0.0], [20, 60])
    shipped = AttackOutcome.of("linkability", "linkability", ours, notes=["said of both"])
    twin = AttackOutcome.of("linkability (twin)", "linkability", ours, theirs, notes=["said of both", "of the twin"])
    result = AttackResult([shipped, twin], verdicts_of([shipped, twin]), 0)
    shown = str(result.sections())
    assert shown.count("said of both") == 1
    assert shown.count("of the twin") == 1
    assert shown.count("excess: what being in it adds") == 1
    alone = AttackResult([shipped], verdicts_of([shipped]), 0)
    assert alone.verdict["linkability"] == "not tested"
    assert "Linkability: measured, no control" in str(alone.sections()[1:])
    assert "linkability: measured, no control, inference: not tested" in alone.summary()


def test_without_an_original_the_reason_and_the_cure_are_said() -> None:
    found = shoal.attack(people(1), policy={"columns": ROLES})
    assert "there is no original: give the table" in found.summary()
    assert "there is no original: give the table" in str(found.sections())
    whole = shoal.attack(people(1), original=people(1), policy={"columns": ROLES}, twin=False)
    assert "no original" not in whole.summary()


def test_an_unchecked_control_is_said_once() -> None:
    found = shoal.attack(people(1), original=people(1), control=people(2), policy={"columns": ROLES})
    assert sum("--id" in note for one in found.attacks for note in one.notes) == 1
