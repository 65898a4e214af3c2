"""Columns that a policy treats: amounts as means or with noise, ids as pseudonyms, in one release with its keys."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError

ROWS = 600


@pytest.fixture
def purchases(tmp_path: Path) -> Path:
    random = np.random.default_rng(4)
    person = random.integers(0, 300, ROWS)
    frame = pl.DataFrame({
        "customer": [f"C{one:04d}" for one in person],
        "age": random.integers(18, 80, ROWS),
        "amount": np.round(random.lognormal(3, 1, ROWS), 2),
        "pieces": random.integers(1, 9, ROWS),
        "item": random.choice(["book", "lamp", "chair"], ROWS),
    })  # fmt: skip
    path = tmp_path / "purchases.csv"
    frame.write_csv(path)
    return path


POLICY = {
    "columns": {
        "customer": {"role": "other", "treat": {"method": "pseudonym"}},
        "age": "quasi-identifier",
        "amount": {"role": "sensitive", "treat": {"method": "microaggregate", "k": 10}},
        "pieces": {"role": "other", "treat": {"method": "noise", "share": "50%"}},
        "item": {"role": "other", "treat": {"method": "pram", "keep": 0.5}},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
}


def released(source: Path, folder: Path) -> Path:
    out = folder / "safe.csv"
    shoal.release(shoal.anonymize(source, POLICY), out)
    return out


def test_one_release_joins_methods_and_is_verified_as_one(purchases: Path, tmp_path: Path) -> None:
    out = released(purchases, tmp_path)
    before, after = pl.read_csv(purchases), pl.read_csv(out)
    assert int(after["amount"].value_counts()["count"].min()) >= 10  # type: ignore[arg-type]
    assert abs(after["amount"].mean() - before["amount"].mean()) < 0.01  # type: ignore[operator]
    assert set(after["customer"]).isdisjoint(before["customer"])
    assert after["customer"].n_unique() == before["customer"].n_unique()
    assert 0.3 < (after["item"] == before["item"]).mean() < 0.9  # type: ignore[operator]
    assert (after["pieces"] >= 0).all()
    checked = shoal.verify(out, POLICY, original=purchases)
    assert checked.holds, checked.reasons()


@pytest.mark.parametrize("column", ["amount", "customer", "pieces"])
def test_another_value_in_a_treated_column_is_refused(purchases: Path, tmp_path: Path, column: str) -> None:
    out = released(purchases, tmp_path)
    after = pl.read_csv(out)
    changed = after.with_columns(pl.Series(column, [after[column][1], *after[column][1:]]))
    changed.write_csv(out)
    assert not shoal.verify(out, POLICY, original=purchases).holds or after[column][0] == after[column][1]


def test_a_manifest_cannot_claim_a_treatment_that_the_policy_does_not_name(purchases: Path, tmp_path: Path) -> None:
    out = released(purchases, tmp_path)
    plain = {**POLICY, "columns": {**POLICY["columns"], "amount": "sensitive"}}  # type: ignore[dict-item]
    checks = {check.name: check for check in shoal.verify(out, plain).checks}
    assert not checks["treated columns"].holds
    assert "amount" in checks["treated columns"].detail


def test_means_of_fewer_records_than_the_policy_asks_for_are_refused(purchases: Path, tmp_path: Path) -> None:
    out = released(purchases, tmp_path)
    stricter = json.loads(json.dumps(POLICY))
    stricter["columns"]["amount"]["treat"]["k"] = 40
    assert not {check.name: check for check in shoal.verify(out, stricter).checks}["treated columns"].holds


@pytest.mark.parametrize(
    ("role", "treat", "words"),
    [
        ("quasi-identifier", {"method": "noise", "share": 0.1}, "only sensitive and other"),
        ("other", {"method": "microaggregate"}, "takes k"),
        ("other", {"method": "noise", "k": 5}, "takes share"),
        ("other", {"method": "sorcery"}, "treat"),
    ],
)
def test_a_treatment_that_makes_no_sense_is_one_error(role: str, treat: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        shoal.anonymize({"age": [1, 2]}, {"columns": {"age": {"role": role, "treat": treat}}})


def test_missing_values_stay_missing_and_are_checked(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    pl.DataFrame({"age": [20, 21] * 30, "pay": [float(n) if n % 7 else None for n in range(60)]}).write_csv(source)
    rules = {
        "columns": {"age": "quasi-identifier", "pay": {"role": "other", "treat": {"method": "microaggregate", "k": 3}}},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    shoal.release(shoal.anonymize(source, rules), tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv")["pay"].null_count() == 9
    assert shoal.verify(tmp_path / "out.csv", rules, original=source).holds


def test_noise_on_amounts_makes_no_negative_ones() -> None:
    pay = {"pay": [float(n % 40) for n in range(400)], "age": [1] * 400}
    assert min(shoal.perturb(pay, noise={"pay": 2.0}, seed=3).frame["pay"]) >= 0


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_means_are_of_k_records_where_suppressed_records_are_removed(role: str, tmp_path: Path) -> None:
    visits = [4] * 57 + [9] * 3  # three persons whose number of visits is nobody else's
    who = np.repeat(np.arange(60), visits)
    frame = pl.DataFrame({"id": who, "sex": np.where(who % 2, "f", "m"), "pay": 100 + np.arange(len(who)) * 37 % 400})
    frame.write_csv(tmp_path / "in.csv")
    policy = {
        "columns": {
            "id": {"role": "other", "treat": {"method": "pseudonym"}},
            "sex": "quasi-identifier",
            "pay": {"role": role, "treat": {"method": "microaggregate", "k": 10}},
        },
        "person": "id",
        "suppression": "15%",
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    shoal.release(shoal.anonymize(tmp_path / "in.csv", policy), tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv")["pay"].value_counts()["count"].min() >= 10
    assert shoal.verify(tmp_path / "out.csv", original=tmp_path / "in.csv").verdict == "holds"
