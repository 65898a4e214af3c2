"""What may not pass: copies of the data, whatever the columns, the control or the rows of a person are like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks import AttackOutcome, verdicts_of
from shoal.attacks.base import AttackResult
from shoal.attacks.opening import subject_of
from shoal.attacks.singling_out import SinglingOut
from shoal.policy.sections import AttackLimits

ROLES: dict[str, Any] = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}


def dense(seed: int, cells: int = 1000, rows: int = 2000) -> pl.DataFrame:
    """People of whom most share their quasi-identifiers with somebody."""
    draw = np.random.default_rng(seed)
    cell = draw.integers(0, cells, rows)
    return pl.DataFrame({"age": cell % 43, "town": cell // 43, "ill": draw.choice(list("abcd"), rows)})


def by_name(found: AttackResult) -> dict[str, AttackOutcome]:
    return {one.name: one for one in found.attacks}


@pytest.mark.parametrize("cells", [1333, 1000, 600])
def test_a_copy_with_dense_quasi_identifiers_does_not_pass(cells: int) -> None:
    """Control people fit somebody else's record as often: that is not a success."""
    policy = {"columns": ROLES, "attacks": {"linkability": 0.05}}
    people = dense(1, cells)
    found = shoal.attack(people, original=people, control=dense(2, cells), policy=policy)
    assert found.verdict["linkability"] == "fail"
    linkage = by_name(found)["linkage"]
    assert linkage.control == 1 / 2000
    assert linkage.rate == pytest.approx(people.n_unique(["age", "town"]) / 2000)
    assert linkage.excess_low is not None
    assert linkage.excess_low <= 0  # which record is whose is not known


def test_noise_passes_linkability_only_as_far_as_the_right_records_are_not_found() -> None:
    """The nearest records of two halves seldom coincide; the nearest by all columns are still the right ones."""
    draw = np.random.default_rng(3)
    people, others = (pl.DataFrame(draw.normal(50, 20, (600, 4)), schema=["a", "b", "c", "d"]) for _ in range(2))
    policy = shoal.Policy(columns=dict.fromkeys("abcd", "quasi-identifier"), attacks={"linkability": 0.05})
    made = shoal.anonymize(people, policy, k=2, method="microaggregate")
    found = shoal.attack(made, control=others, policy=policy)
    assert found.verdict["linkability"] == "fail"
    assert (by_name(found)["linkage"].excess_low or 0) > 0.05


def test_a_copy_is_not_judged_by_its_twin(tmp_path: Path) -> None:
    """The policy's method makes a safe twin; the file itself gives everybody away."""
    people = dense(4, 100_000, 400)
    policy: dict[str, Any] = {
        "columns": ROLES,
        "models": [{"model": "k-anonymity", "k": 20}],
        "method": "mondrian",
        "attacks": {"singling_out": 0.2, "linkability": 0.2, "inference": 0.9},
    }
    found = shoal.attack(people, original=people, policy=policy)
    assert [found.verdict[one] for one in ("singling-out", "linkability")] == ["fail", "fail"]
    assert found.verdict["inference"] != "pass"
    assert any("twin" in note for note in by_name(found)["linkage"].notes)
    made = shoal.anonymize(people, shoal.Policy(**policy))
    assert shoal.attack(made, policy=policy).verdict["linkability"] == "pass"


def test_data_that_its_manifest_is_not_about_is_refused(tmp_path: Path) -> None:
    people, safe = dense(5, 100_000, 200), tmp_path / "safe.csv"
    policy = shoal.Policy(columns=ROLES, attacks={"linkability": 0.5})
    shoal.release(shoal.anonymize(people, policy, k=4, method="mondrian"), safe)
    people.write_csv(safe)
    with pytest.raises(shoal.InputError, match="hashes differ"):
        shoal.attack(safe, original=people)
    assert not shoal.verify(safe, original=people, attack=True).holds


def outcome(name: str, rate: float, control: float | None) -> AttackOutcome:
    scores, others = (np.arange(200) < 200 * share for share in (rate, control or 0))
    return AttackOutcome.of(name, "inference", scores * 1.0, None if control is None else others * 1.0)


@pytest.mark.parametrize(
    "unsure",
    [
        outcome("certain-value", 1, 1),  # the excess is not defined
        outcome("homogeneity", 1, None),  # no control, and always right
    ],
)
def test_one_attack_that_says_nothing_is_not_passed_over(unsure: AttackOutcome) -> None:
    limits = AttackLimits(inference=0.2)
    harmless, harmful = outcome("learner", 0.1, 0.1), outcome("skewness", 0.9, 0.1)
    assert verdicts_of([harmless], limits)["inference"] == "pass"
    assert verdicts_of([harmless, unsure], limits)["inference"] == "not tested"
    assert verdicts_of([harmless, unsure, harmful], limits)["inference"] == "fail"
    assert verdicts_of([harmless, outcome("homogeneity", 0.3, None)], limits)["inference"] == "pass"


def sparse(seed: int, rows: int, first: int = 0) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    numbers = {"pid": np.arange(first, first + rows), "age": draw.integers(0, 100, rows)}
    return pl.DataFrame(
        {**numbers, "town": draw.integers(10_000, 99_999, rows), "ill": draw.choice(list("abcd"), rows)}
    )


@pytest.mark.parametrize("known", [True, False])
def test_a_small_control_does_not_hide_who_is_singled_out(known: bool) -> None:
    """Of 800 people 60 are asked, as many as the control has: the conditions are those of their records."""
    people, others = sparse(1, 800), sparse(2, 60, 5000)
    policy = shoal.Policy(columns=ROLES | {"pid": "identifier"}, attacks={"singling_out": 0.05})
    subject = subject_of(people.drop("pid"), people, others, policy, "pid", None, 2000, 0)
    found = SinglingOut().run(replace(subject, place=np.arange(800)) if known else subject)
    assert found.rate is not None
    assert found.rate > 0.99
    assert verdicts_of([found], policy.attacks)["singling-out"] == "fail"
    assert found.excess_low is not None
    assert (found.excess_low > 0.9) == known


@pytest.mark.parametrize("rows", [2, 20])
def test_rows_of_one_person_do_not_hide_each_other(rows: int) -> None:
    people, others = (pl.concat([one] * rows) for one in (sparse(3, 200), sparse(4, 200, 5000)))
    limits = {"singling_out": 0.1, "linkability": 0.1}
    policy = {"columns": ROLES | {"pid": "identifier"}, "person": "pid", "attacks": limits}
    found = shoal.attack(people, original=people, control=others, policy=policy)
    assert [found.verdict[one] for one in ("singling-out", "linkability")] == ["fail", "fail"]
    for name in ("singling-out", "linkage", "linkability"):
        assert by_name(found)[name].rate == pytest.approx(1.0, abs=0.02)
    unnamed = shoal.attack(people.drop("pid"), original=people, control=others, policy=policy)
    assert unnamed.verdict["singling-out"] == "not tested"
    assert unnamed.verdict["linkability"] == ("fail" if rows == 2 else "not tested")  # half of two is enough to fail


def test_a_column_that_is_declared_as_bands_does_not_cost_the_control() -> None:
    """Half of the people were read again by the types that they had been read by already."""
    rows = 400
    table = pl.DataFrame(
        {
            "age": [20 + (i * 13) % 50 for i in range(rows)],
            "salary": [("<=50K", ">50K")[(i * i) % 3 == 1] for i in range(rows)],
        }
    )
    policy = {
        "columns": {"age": "quasi-identifier", "salary": "sensitive"},
        "types": {"salary": {"type": "band", "order": ["<=50K", ">50K"]}},
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    made = shoal.anonymize(table, policy, method="mondrian")
    found = shoal.attack(made, original=table)
    assert [one.name for one in found.attacks if one.control is not None], found.attacks[0].notes
    assert found.verdict["inference"] == "measured"
