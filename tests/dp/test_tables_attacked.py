"""Tables under differential privacy under attack: membership, reconstruction, audits; beside others; published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks.epsilon import best_success, epsilon, neighbours, told
from shoal.attacks.membership import area
from shoal.dp.audit import epsilon_lower_bound
from shoal.dp.tables.account import Account
from shoal.dp.tables.counting import Records
from shoal.dp.tables.domains import Domain
from shoal.dp.tables.synthesis import tree
from shoal.errors import InputError
from shoal.reports.publication.compare import compare_publications
from shoal.reports.publication.results import report_files

PUBLIC: dict[str, Any] = {
    "columns": {"sex": "quasi-identifier", "age": "quasi-identifier", "ill": "sensitive"},
    "domains": {"sex": ["F", "M"], "age": {"min": 0, "max": 99, "width": 10}, "ill": ["a", "b", "c"]},
}


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    age = chance.integers(0, 100, rows)
    ill = np.array(["a", "b", "c"])[(age // 40 + (chance.random(rows) < 0.2)) % 3]
    return pl.DataFrame({"sex": chance.choice(["F", "M"], rows), "age": age, "ill": ill})


def wide(rows: int, columns: int, seed: int) -> Records:
    chance = np.random.default_rng(seed)
    return Records(tuple(chance.integers(0, 8, rows).astype(np.uint8) for _ in range(columns)), (8,) * columns)


def test_members_are_told_within_the_bound_and_exact_marginals_give_them_away() -> None:
    inside, outside = wide(60, 12, 1), wide(60, 12, 2)
    reference = wide(5000, 12, 3)
    exact = [told(inside, reference, one) for one in (inside, outside)]
    assert area(*exact) > 0.95
    domains = [Domain(f"c{n}", "values", values=tuple(range(8)), missing=False) for n in range(12)]
    begun, model = tree(inside, domains, Account("1", "1e-6"), [], 60)
    made = Records(tuple(begun.cells(model, np.random.default_rng(0))), inside.sizes)
    scores = [told(made, reference, one) for one in (inside, outside)]
    right = max(((scores[0] > cut).mean() + (scores[1] <= cut).mean()) / 2 for cut in np.concatenate(scores))
    assert right < best_success(1.0, 1e-6) + 0.1  # four standard errors of 120 people


def test_each_epsilon_has_its_bound() -> None:
    found = epsilon(people(1000), PUBLIC, delta="1e-6")
    assert [one.epsilon for one in found.epsilons] == [0.1, 0.5, 1, 2, 5, 10]
    assert all(one.low <= one.bound for one in found.epsilons)
    assert found.epsilons[0].triples_error > found.epsilons[-1].triples_error
    assert best_success(np.log(3), 0) == pytest.approx(0.75)
    ratios = [float(row[3]) for row in neighbours(1.0).table.rows]
    assert max(ratios) <= np.exp(1) + 0.01
    assert min(ratios) >= np.exp(-1) - 0.01


def test_reconstruction_succeeds_against_exact_answers_and_not_against_the_release() -> None:
    chance = np.random.default_rng(5)
    secret = chance.integers(0, 2, 300)
    frame = pl.DataFrame({"who": np.arange(300), "secret": secret})
    exact = frame.group_by("who", "secret").len().sort("who")
    assert (exact["secret"].to_numpy() == secret).all()
    public = {
        "domains": {
            "who": {"values": list(range(300)), "missing": False},
            "secret": {"values": [0, 1], "missing": False},
        }
    }
    made = shoal.dp_release(frame, public, epsilon="1", delta="1e-6", tables=["who:secret"])
    counts = made.tables["who.secret.csv"]["count"].to_numpy().reshape(300, 2)
    guess = np.where(counts[:, 0] == counts[:, 1], chance.integers(0, 2, 300), counts.argmax(axis=1))
    assert (guess == secret).mean() < best_success(1.0, 1e-6) + 4 * 0.029


def test_a_release_is_attacked_as_others_are(tmp_path: Path) -> None:
    inside, outside = people(2000, 1), people(2000, 2)
    for name, frame in (("inside", inside), ("outside", outside)):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    shoal.dp_release(tmp_path / "inside.parquet", PUBLIC, epsilon="1", delta="1e-6", output=tmp_path / "made.parquet")
    found = shoal.attack(tmp_path / "made.parquet", original=inside, control=outside)
    names = {one.name for one in found.attacks}
    assert "singling-out" in names
    assert names.isdisjoint({"linkage", "homogeneity"})  # no record is anybody's own
    member = shoal.attack_membership(
        tmp_path / "made.parquet", candidates=tmp_path / "inside.parquet", reference=tmp_path / "outside.parquet"
    )
    assert member.within_bound  # by the budget of the manifest
    policy = PUBLIC | {"models": [{"model": "k-anonymity", "k": 5}]}
    shoal.release(shoal.anonymize(inside, policy), tmp_path / "k5.parquet")
    from shoal.reports.publication.compare import compare_releases

    paths = [tmp_path / "k5.parquet", tmp_path / "made.parquet"]
    rows = compare_releases(paths, original=tmp_path / "inside.parquet").releases
    assert rows[0].epsilon is None
    assert rows[1].epsilon == 1
    assert all(row.triples_error is not None for row in rows)
    with pytest.raises(InputError, match="No release says"):
        compare_releases(paths[:1], original=tmp_path / "inside.parquet")


def test_tables_of_counts_hold_nobody_to_attack(tmp_path: Path) -> None:
    shoal.dp_release(people(500), PUBLIC, epsilon=1, tables=["sex", "sex:ill"], output=tmp_path / "counts")
    with pytest.raises(InputError, match="hold no records"):
        shoal.attack(tmp_path / "counts", original=people(500))


def test_publish_draws_a_table_and_its_public_part_holds_nothing_measured(tmp_path: Path) -> None:
    people(2000).write_csv(tmp_path / "people.csv")
    policy = PUBLIC | {
        "models": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "dp", "synthesizer": "tree", "epsilon": 1, "delta": 1e-9},
    }
    made = shoal.publish(tmp_path / "people.csv", policy, output=tmp_path / "out", pdf=False)
    assert made.verdict == "holds"
    assert shoal.verify(tmp_path / "out").holds
    public = json.loads((tmp_path / "out" / "findings.json").read_text())
    private = json.loads((tmp_path / "out.private" / "findings.json").read_text())
    assert public["private_table"]["marginals"] == []
    assert public["private_table"]["workload_error"] == {}
    assert public["private_table"]["owner"] == {}
    assert "beside" not in public["private_table"]
    assert public["attacks"] is None
    assert public["data"]["records"] == made.document.data["released"]
    assert {one["release"].split(",")[0] for one in private["private_table"]["beside"]} >= {"differential privacy"}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Differential privacy" in page
    assert "released in other ways" not in page
    # nothing that is not so: attacks were tried, and every value is drawn
    assert "No attack was tried" not in page
    assert "Nothing was changed" not in page
    assert not any("--original" in command for command in made.sections()[-1].commands)
    assert "released in other ways" in (tmp_path / "out.private" / "report.html").read_text()
    # both editions are findings like others: the report is written again, and publications are set side by side
    for name in ("out", "out.private"):
        (written,) = report_files(tmp_path / name, html=tmp_path / f"{name}.html")
        assert "Differential privacy" in written.read_text()
    beside = compare_publications([tmp_path / "out", tmp_path / "out"])
    assert [one.method for one in beside.publications] == ["dp-release, tree"] * 2
    with pytest.raises(InputError, match="draws new records"):
        shoal.anonymize(people(100), policy)
    with pytest.raises(InputError):
        shoal.publish(people(100), policy | {"method": {"name": "dp", "epsilon": 1, "speed": 3}})


@pytest.mark.slow
def test_whole_releases_of_neighbouring_tables_are_told_apart_no_better_than_promised() -> None:
    """Ten thousand releases of each: the share of the cell in which the tables differ."""
    found = []
    for extra in (0, 1):
        codes = np.array([0] * 30 + [1] * 30 + [2] * extra, np.uint8)
        records = Records((codes, codes), (3, 3))
        domains = [Domain(name, "values", values=(0, 1, 2), missing=False) for name in "ab"]
        shares = []
        for _ in range(10_000):
            begun, model = tree(records, domains, Account("2", "1e-6"), [], None)
            shares.append(float(begun.cells(model, np.random.default_rng())[0].tolist().count(2)))
        found.append(np.array(shares))
    assert epsilon_lower_bound(*found, delta=1e-6) <= 2
