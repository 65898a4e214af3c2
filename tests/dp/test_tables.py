"""Tables under differential privacy: the accounting, the model against brute force, the domain, and what leaves."""

from __future__ import annotations

import itertools
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.dp.audit import epsilon_lower_bound
from shoal.dp.mechanisms import BudgetPart, choice_for, epsilon_of, threshold_for
from shoal.dp.tables.account import Account, check_steps
from shoal.dp.tables.counting import Records
from shoal.dp.tables.counts import agreeing
from shoal.dp.tables.domains import Domain
from shoal.dp.tables.model import MarginalModel, Measurement, dealt
from shoal.dp.tables.synthesis import Zero, adaptive, distances, groups_of, tree
from shoal.errors import InputError
from shoal.policy.domains import DomainSection

PUBLIC: dict[str, Any] = {
    "domains": {
        "sex": ["F", "M"],
        "age": {"min": 0, "max": 99, "width": 10},
        "day": {"min": "2020-01-01", "max": "2020-12-31", "width": "month"},
        "charge": {"min": 0.0, "max": 1000.0, "width": 100.0},
    }
}
CANNOT_BE: dict[str, Any] = {"structural_zeros": [{"sex": ["M"], "age": [3]}]}
LEAVES_NONE: dict[str, Any] = {
    "domains": PUBLIC["domains"] | {"sex": {"values": ["F", "M"], "missing": False}},
    "structural_zeros": [{"sex": ["M"]}, {"sex": ["F"]}],
}


def people(rows: int = 3000, seed: int = 0) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    age = chance.integers(0, 100, rows)
    sex = np.where(chance.random(rows) < age / 100, "F", "M").astype(object)
    sex[chance.random(rows) < 0.02] = None
    day = np.datetime64("2020-01-01") + chance.integers(0, 366, rows)
    charge = np.minimum(chance.exponential(200, rows) + age, 1000.0)
    return pl.DataFrame({"sex": sex.tolist(), "age": age, "day": day, "charge": charge})


def records(sizes: tuple[int, ...], rows: int, seed: int = 0) -> Records:
    chance = np.random.default_rng(seed)
    first = chance.integers(0, sizes[0], rows)
    codes = [first] + [(first + chance.integers(0, 2, rows)) % size for size in sizes[1:]]
    return Records(tuple(code.astype(np.uint8) for code in codes), sizes)


def domains(sizes: tuple[int, ...]) -> list[Domain]:
    return [Domain(f"c{n}", "values", values=tuple(range(size)), missing=False) for n, size in enumerate(sizes)]


# The budget


@settings(max_examples=25, deadline=None)
@given(
    epsilon=st.decimals("0.01", "20", places=2),
    power=st.integers(3, 12),
    parts=st.lists(st.floats(0.001, 1), min_size=1, max_size=6),
    rows=st.integers(1, 20),
)
def test_steps_never_come_to_more_than_the_budget(epsilon: Decimal, power: int, parts: list[float], rows: int) -> None:
    account = Account(epsilon, f"1e-{power}", rows)
    for part in parts:
        account.counts("x", ("a",), np.array([5]), account.part(part / sum(parts)))
    steps = [one.to_dict() for one in account.steps]
    assert account.left >= 0
    assert check_steps(steps, str(epsilon), f"1e-{power}") is None
    spent = sum((Decimal(one["rho"]) for one in steps), Decimal(0))
    assert spent <= account.rho
    assert epsilon_of(spent, Decimal(f"1e-{power}")) <= float(epsilon) * (1 + 1e-9)
    # each step by hand: (sensitivity / scale)² / 2
    for one in steps:
        assert (one["sensitivity"] / one["scale"]) ** 2 / 2 <= float(one["rho"]) * (1 + 1e-9)


def test_a_manifest_that_claims_less_noise_or_more_budget_fails() -> None:
    account = Account("1", "1e-9")
    account.counts("x", ("a",), np.array([5]), account.part(1.0))
    (step,) = (one.to_dict() for one in account.steps)
    assert check_steps([step], "1", "1e-9") is None
    assert "costs more" in str(check_steps([step | {"scale": step["scale"] * 0.99}], "1", "1e-9"))
    assert "add up" in str(check_steps([step, step], "1", "1e-9"))
    assert "add up" in str(check_steps([step], "0.9", "1e-9"))
    assert "no noise" in str(check_steps([step | {"scale": 0}], "1", "1e-9"))


@pytest.mark.parametrize("made", [tree, adaptive])
def test_a_synthesizer_spends_all_of_its_budget_and_no_more(made: Any) -> None:
    sizes = (3, 4, 2, 5)
    account = Account("1", "1e-6")
    made(records(sizes, 2000), domains(sizes), account, [], None)
    assert account.check_steps() is None
    assert float(account.left / account.rho) < 1e-6


# The model


def brute(sizes: tuple[int, ...], measured: list[Measurement], total: float) -> np.ndarray[Any, Any]:
    """The distribution of largest entropy that fits best, over all cells, by mirror descent on the full table."""
    theta = np.zeros(sizes)

    def at(theta: Any) -> Any:
        weights = np.exp(theta - theta.max())
        return weights / weights.sum() * total

    for _ in range(6000):
        here, slope = at(theta), np.zeros(sizes)
        for one in measured:
            out = tuple(axis for axis in range(len(sizes)) if axis not in one.clique)
            error = (here.sum(axis=out) - one.counts) * one.weight
            slope += error.reshape([sizes[axis] if axis in one.clique else 1 for axis in range(len(sizes))])
        theta -= 0.2 / total * slope
    return at(theta)


def test_the_model_is_that_of_brute_force() -> None:
    sizes, chance = (2, 3, 2, 3), np.random.default_rng(3)
    cliques = [(0, 1), (1, 2), (2, 3), (0, 2)]
    true = records(sizes, 1000)
    measured = [
        Measurement(one, true.counts(one) + chance.normal(0, 5, true.counts(one).shape), 1.0) for one in cliques
    ]
    model = MarginalModel.uniform(sizes, cliques, 1000.0)
    model.fit(measured, 20000)
    whole = brute(sizes, measured, 1000.0)
    for clique, marginal in zip(model.tree.cliques, model.marginals, strict=True):
        out = tuple(axis for axis in range(len(sizes)) if axis not in clique)
        assert np.allclose(marginal, whole.sum(axis=out), atol=0.5)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_messages_give_the_marginals_of_the_whole_table(data: Any) -> None:
    columns = data.draw(st.integers(2, 5))
    sizes = tuple(data.draw(st.lists(st.integers(1, 3), min_size=columns, max_size=columns)))
    pairs = list(itertools.combinations(range(columns), 2))
    cliques = data.draw(st.lists(st.sampled_from(pairs), min_size=0, max_size=6))
    model = MarginalModel.uniform(sizes, cliques, 10.0)
    chance = np.random.default_rng(data.draw(st.integers(0, 99)))
    model.potentials = [chance.normal(size=one.shape) for one in model.potentials]
    whole = np.zeros(sizes)
    for clique, own in zip(model.tree.cliques, model.potentials, strict=True):
        whole = whole + own.reshape([sizes[axis] if axis in clique else 1 for axis in range(columns)])
    whole = np.exp(whole) / np.exp(whole).sum() * 10
    assert sorted({axis for clique in model.tree.cliques for axis in clique}) == list(range(columns))
    for clique, marginal in zip(model.tree.cliques, model.marginals, strict=True):
        out = tuple(axis for axis in range(columns) if axis not in clique)
        assert np.allclose(marginal, whole.sum(axis=out))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_records_are_dealt_out_to_the_nearest_whole_counts(data: Any) -> None:
    rows, cells = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    chance = np.random.default_rng(data.draw(st.integers(0, 99)))
    table = chance.random((rows, cells)) * (chance.random((rows, cells)) < 0.7) + np.eye(rows, cells) * 0.1
    given_rows = chance.integers(0, rows, data.draw(st.integers(1, 200)))
    made = dealt(given_rows, table, chance)
    for row in range(rows):
        held = int((given_rows == row).sum())
        if held and table[row].sum() > 0:
            expected = table[row] / table[row].sum() * held
            counts = np.bincount(made[given_rows == row], minlength=cells)
            assert counts.sum() == held
            assert (np.abs(counts - expected) < 1 + 1e-9).all()
            assert (counts[expected == 0] == 0).all()


def test_what_cannot_be_is_not_drawn() -> None:
    sizes = (3, 4, 2)
    zeros = [Zero((0, 1), ((1, 2), (3,))), Zero((2,), ((0,),))]
    account = Account("5", "1e-6")
    begun, model = tree(records(sizes, 3000), domains(sizes), account, zeros, 3000)
    first, second, third = begun.cells(model, np.random.default_rng(0))
    assert len(first) == 3000
    assert not (np.isin(first, (1, 2)) & (second == 3)).any()
    assert (third == 1).all()


# Domains


@settings(max_examples=60, deadline=None)
@given(low=st.integers(-500, 500), length=st.integers(1, 400), width=st.integers(1, 60), value=st.integers(-2000, 2000))
def test_a_whole_number_has_its_own_bin_or_the_nearest(low: int, length: int, width: int, value: int) -> None:
    domain = Domain.of("x", DomainSection(min=low, max=low + length, width=width))
    column = shoal.read({"x": [value, None]})["x"]
    (cell, gone), moved = domain.codes(column)
    inside = min(max(value, low), low + length)
    assert cell == (inside - low) // width
    assert gone == domain.cells
    assert moved == (value != inside)
    back = domain.series(np.array([cell, gone]), np.random.default_rng(0))
    assert domain.edges[cell] <= back[0] < domain.edges[cell + 1]
    assert back[1] is None
    assert domain.holds(back)


def test_domains_are_public_or_bought() -> None:
    with pytest.raises(InputError, match="'charge' is not public"):
        shoal.dp_release(people(100), {"domains": dict(list(PUBLIC["domains"].items())[:3])}, epsilon=1)
    others = dict.fromkeys(("age", "day", "charge"), "identifier")
    tree_of_values = {"hierarchies": {"sex": [["F", "*"], ["M", "*"]]}, "columns": others}
    made = shoal.dp_release(people(2000), tree_of_values, epsilon=1)
    assert made.public["domains"]["sex"] == {"source": "hierarchy", "cells": 3, "missing": True, "values": ["F", "M"]}
    bought = shoal.dp_release(people(2000).select("sex"), {}, epsilon=1, domain_from_data=["sex"])
    assert bought.public["domains"]["sex"]["source"] == "bought"
    assert [one["step"] for one in bought.spent] == ["domain", "one column"]


def test_bins_that_are_bought_follow_the_data() -> None:
    frame = pl.DataFrame({"charge": np.random.default_rng(0).exponential(10.0, 20000)})
    made = shoal.dp_release(frame, {"domains": {"charge": {"min": 0.0, "max": 1e6}}}, epsilon=5)
    assert made.spent[0]["step"] == "bins"
    assert made.frame["charge"].median() < 1000  # equal bins of 1e6 / 32 would give 15,000


# What leaves


def written(folder: Path, **more: Any) -> tuple[Any, dict[str, Any]]:
    made = shoal.dp_release(people(), PUBLIC, epsilon=1, delta="1e-6", output=folder / "out.parquet", **more)
    return made, json.loads((folder / "out.manifest.json").read_text())


def test_nothing_that_was_measured_leaves(tmp_path: Path) -> None:
    frame = people().with_columns(age=pl.when(pl.col("age") > 90).then(500).otherwise(pl.col("age")))
    made = shoal.dp_release(frame, PUBLIC, epsilon=1, delta="1e-6", output=tmp_path / "out.parquet")
    assert made.owner["moved"]["age"] > 100
    public = "".join(
        path.read_text() for path in tmp_path.iterdir() if path.name in ("out.manifest.json", "out.dictionary.json")
    )
    private = json.loads((tmp_path / "out.private.json").read_text())
    assert (tmp_path / "out.private.json").stat().st_mode & 0o777 == 0o600
    assert private["measured"]["moved"] == made.owner["moved"]
    assert private["measured"]["workload_error"] == made.workload_error
    for word in ("workload_error", "marginals", '"moved', "kept_rows", "left_out", "input_sha256"):
        assert word not in public, word
    manifest = json.loads((tmp_path / "out.manifest.json").read_text())
    assert manifest["seconds"] == 0
    assert manifest["sections"]["differential_privacy"]["spent"] == made.spent


def test_a_release_is_verified_by_what_can_be_proven(tmp_path: Path) -> None:
    made, manifest = written(tmp_path)
    found = shoal.verify(tmp_path / "out.parquet")
    assert found.holds
    assert {one.name for one in found.checks} >= {"data hash", "columns", "domains", "private record"}
    names = ("records", "spent", "public", "marginals", "workload_error", "output", "epsilon", "delta", "rho", "unit")
    assert set(names) <= set(made.to_dict())
    with pytest.raises(InputError, match="no row has one"):
        shoal.verify(tmp_path / "out.parquet", original=people())
    # less noise than was promised, a value outside of the domain: both are seen
    manifest["sections"]["differential_privacy"]["spent"][0]["scale"] /= 2
    (tmp_path / "out.manifest.json").write_text(json.dumps(manifest))
    assert not shoal.verify(tmp_path / "out.parquet").holds
    written_again = pl.read_parquet(tmp_path / "out.parquet").with_columns(sex=pl.lit("X"))
    written_again.write_parquet(tmp_path / "out.parquet")
    checks = {one.name: one.holds for one in shoal.verify(tmp_path / "out.parquet").checks}
    assert not checks["domains"]
    assert not checks["data hash"]


@pytest.mark.parametrize("synthesizer", ["tree", "adaptive", "microaggregate"])
def test_every_value_lies_in_its_domain(synthesizer: str) -> None:
    more = {"k": 60} if synthesizer == "microaggregate" else {}
    public = PUBLIC | {"public_records": 3000}
    made = shoal.dp_release(people(), public, epsilon=1, delta="1e-6", synthesizer=synthesizer, **more)
    assert made.records == 3000
    for name, said in made.public["domains"].items():
        assert Domain.from_dict(name, said).holds(made.frame[name])
    assert made.frame.columns == people().columns


def test_counts_are_whole_and_agree(tmp_path: Path) -> None:
    made = shoal.dp_release(
        people(), PUBLIC, epsilon=0.1, delta="1e-6", tables=["sex", "sex:age", "age:day"], output=tmp_path / "counts"
    )
    frames = {name: pl.read_csv(tmp_path / "counts" / name) for name in ("sex.csv", "sex.age.csv", "age.day.csv")}
    assert agreeing(frames) is None
    assert {frame["count"].sum() for frame in frames.values()} == {made.records}
    assert shoal.verify(tmp_path / "counts").holds
    assert not (tmp_path / "counts" / "data.private.json").exists()
    assert (tmp_path / "counts.private" / "data.private.json").stat().st_mode & 0o777 == 0o600
    changed = frames["sex.csv"].with_columns(count=pl.col("count") + 1)
    assert "do not agree" in str(agreeing(frames | {"sex.csv": changed}))


def test_a_preview_reads_nothing(tmp_path: Path) -> None:
    missing = tmp_path / "there is no such file.csv"
    found = shoal.dp_release(missing, PUBLIC, epsilon=1, preview=True)
    assert found.preview
    assert found.records is None
    assert {tuple(one["columns"]) for one in found.marginals} >= {("sex",), ("age",)}
    # by hand: rho / 4 over four columns, 1.96 standard deviations
    sigma = math.sqrt(1 / (2 * found.rho / 4 / 4))
    assert found.marginals[0]["error_95"] == math.ceil(1.96 * sigma)


def test_a_preview_expects_the_noise_that_the_release_draws() -> None:
    """Also of columns whose domain is a hierarchy's, is bought, or gets bins that are bought."""
    frame = people().select("sex", "age").with_columns(town=pl.lit("Aosta"), paid=pl.lit(7.0), ward=pl.lit("a"))
    policy = {
        "domains": PUBLIC["domains"] | {"paid": {"min": 0.0, "max": 100.0}},
        "hierarchies": {"town": [["Aosta", "*"], ["Turin", "*"]]},
    }
    policy["domains"] = {name: policy["domains"][name] for name in ("sex", "age", "paid")}
    asked = {"epsilon": 1, "delta": "1e-6", "domain_from_data": ["ward"]}
    made, expected = (shoal.dp_release(frame, policy, preview=flag, **asked) for flag in (False, True))
    for step in ("one column", "pair"):
        drawn, planned = ({one["scale"] for one in each.spent if one["step"] == step} for each in (made, expected))
        assert [*drawn] == pytest.approx([*planned]), step
    assert "bins of paid and ward" in str(expected.sections())
    public = {"domains": policy["domains"] | {"town": ["Aosta", "Turin"], "ward": ["a"]}, "public_records": len(frame)}
    asked = {"epsilon": 1, "synthesizer": "microaggregate", "k": 50}
    made, expected = (shoal.dp_release(frame, public, preview=flag, **asked) for flag in (False, True))  # type: ignore[arg-type]
    scales = [
        {(one["step"], *one["columns"]): one["scale"] for one in each.spent if one["columns"] != ["paid"]}
        for each in (made, expected)
    ]
    assert scales[0] == pytest.approx(scales[1])


def test_a_setting_of_another_synthesizer_is_refused() -> None:
    with pytest.raises(InputError, match="of no other synthesizer"):
        shoal.dp_release(people(), PUBLIC, epsilon=1, k=5)


def test_a_person_has_many_rows() -> None:
    frame = people().with_columns(who=pl.Series([f"p{n % 100}" for n in range(3000)]))
    policy = PUBLIC | {"columns": {"who": "identifier"}, "person": "who"}
    with pytest.raises(InputError, match="How many rows of one person"):
        shoal.dp_release(frame, policy, epsilon=1)
    made = shoal.dp_release(frame, policy, epsilon=1, delta="1e-4", max_rows_per_person=5)
    assert made.owner["kept_rows"] == 500
    assert "who" not in made.frame.columns
    assert {one["sensitivity"] for one in made.spent} == {5}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": -1}, "epsilon must be above 0"),
        ({"epsilon": 1, "delta": "0.001"}, "delta must be below"),
        ({"epsilon": 1, "delta": "0"}, "needs a delta"),
        ({"epsilon": 1, "policy": {"structural_zeros": [{"sex": ["Femle"], "age": [3]}]}}, "not in its domain"),
        ({"epsilon": 1, "policy": {"structural_zeros": [{"colour": ["red"]}]}}, "no column 'colour'"),
        ({"epsilon": 1, "policy": {"domains": PUBLIC["domains"] | {"colour": ["red"]}}}, "no column 'colour'"),
        ({"epsilon": 1, "policy": LEAVES_NONE}, "forbid every combination"),
        ({"epsilon": 1, "policy": LEAVES_NONE, "tables": ["sex:age"]}, "forbid every combination"),
        (
            {"epsilon": 1, "policy": CANNOT_BE, "synthesizer": "microaggregate", "k": 5},
            "Microaggregation does not keep structural zeros",
        ),
        ({"epsilon": 1, "synthesizer": "microaggregate", "k": 5}, "number of records as public"),
        ({"epsilon": 1, "tables": ["sex:nope"]}, "has no column"),
        ({"epsilon": 1, "max_rows_per_person": 5}, "without person"),
    ],
)
def test_bad_input_is_one_error_and_nothing_is_written(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        shoal.dp_release(people(), PUBLIC | more.pop("policy", {}), output=tmp_path / "out.csv", **more)
    assert error.value.exit_code == 2
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "domain",
    [{"min": 1}, {"min": 5, "max": 1}, {"values": [1, 1]}, {"min": 0, "max": 9, "width": 0},
     {"values": [1], "min": 0, "max": 1}, {"min": "2020-01-01", "max": "2020-02-01", "width": 3},
     {"min": 0, "max": 9, "width": "month"}],
)  # fmt: skip
def test_a_domain_that_is_none_is_refused(domain: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        shoal.dp_release(people(), {"domains": {"sex": domain}}, epsilon=1)


def test_releases_and_a_desk_share_a_budget(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    desk = {"folder": tmp_path / "desk", "epsilon": "2.5", "delta": "1e-5", "types": "proposed", "accounting": "basic"}
    shoal.open_desk(tmp_path / "people.parquet", **desk)
    for number in (1, 2):
        shoal.dp_release(
            tmp_path / "people.parquet", PUBLIC, epsilon=1, delta="1e-6", desk=tmp_path / "desk",
            output=tmp_path / f"{number}.csv",
        )  # fmt: skip
    with pytest.raises(shoal.BudgetRefused) as error:
        shoal.dp_release(
            tmp_path / "people.parquet", PUBLIC, epsilon=1, delta="1e-6", desk=tmp_path / "desk",
            output=tmp_path / "3.csv",
        )  # fmt: skip
    assert error.value.exit_code == 3
    assert not (tmp_path / "3.csv").exists()
    with shoal.Desk(tmp_path / "desk") as opened:
        assert opened.budget().spent["epsilon"] == 2


@pytest.mark.parametrize("how", [{}, {"tables": ["sex", "sex:age"]}], ids=["frame", "tables"])
def test_every_release_is_paid_for(tmp_path: Path, how: dict[str, Any]) -> None:
    """Two releases that are asked for alike have noise of their own: the second is not an answer to the first."""
    people().write_parquet(tmp_path / "people.parquet")
    desk = {"folder": tmp_path / "desk", "epsilon": "2.5", "delta": "1e-5", "types": "proposed", "accounting": "basic"}
    shoal.open_desk(tmp_path / "people.parquet", **desk)
    for number in (1, 2):
        output = tmp_path / f"{number}" if how else None
        request = {**how, "epsilon": 1, "delta": "1e-6", "desk": tmp_path / "desk", "output": output}
        shoal.dp_release(tmp_path / "people.parquet", PUBLIC, **request)
        with shoal.Desk(tmp_path / "desk") as opened:
            assert opened.budget().spent["epsilon"] == number


def test_tables_have_files_of_their_own(tmp_path: Path) -> None:
    """Beside the list of them, and where only a sign tells columns apart."""
    frame = pl.DataFrame({"data": ["x", "y"] * 500, "a b": ["u", "v"] * 500, "a_B": ["s", "t"] * 500})
    public = {"domains": {"data": ["x", "y"], "a b": ["u", "v"], "a_B": ["s", "t"]}}
    out = tmp_path / "counts"
    shoal.dp_release(frame, public, epsilon=1, delta="1e-6", tables=["data", "a b", "a_B"], output=out)
    listed = pl.read_csv(out / "data.csv")
    assert listed["file"].to_list() == ["_data.csv", "a_b.csv", "_a_B.csv"]
    assert [pl.read_csv(out / name).columns[0] for name in listed["file"]] == listed["columns"].to_list()
    assert shoal.verify(out).verdict == "holds"


FORGED: dict[str, Any] = {
    "nothing spent": lambda said: said.update(spent=[]),
    "columns not measured": lambda said: said.update(spent=said["spent"][:1]),
    "epsilon of nothing": lambda said: said.update(epsilon="nan"),
    "epsilon without end": lambda said: said.update(epsilon="1000000"),
    "a smaller rho": lambda said: said.update(rho="0.0001"),
    "another unit": lambda said: said.update(unit="person (column who), at most 20 rows"),
    "a mechanism of none": lambda said: said["spent"][0].update(mechanism="none"),
    "less noise": lambda said: [one.update(sensitivity=0.01, scale=one["scale"] / 100) for one in said["spent"]],
    "another domain": lambda said: said["public"]["domains"]["sex"].update(values=["F", "M", "X"]),
    "a bought domain": lambda said: said["public"]["domains"]["sex"].update(source="bought"),
    "a public number": lambda said: said["public"].update(records=3000),
    "tables": lambda said: said.update(synthesizer="tables"),
}


def test_a_forged_accounting_is_refused_without_the_private_record(tmp_path: Path) -> None:
    out = tmp_path / "safe.csv"
    shoal.dp_release(people(), PUBLIC, epsilon=1, delta="1e-6", output=out)
    (tmp_path / "safe.private.json").unlink()
    path = tmp_path / "safe.manifest.json"
    told = json.loads(path.read_text())
    told["parts"].pop("private")
    for name, forge in {"as it is": lambda said: None, **FORGED}.items():
        forged = json.loads(json.dumps(told))
        forge(forged["sections"]["differential_privacy"])
        path.write_text(json.dumps(forged))
        assert shoal.verify(out).verdict == ("holds" if name == "as it is" else "refused"), name


def test_a_bought_domain_without_a_threshold_or_bins_with_too_little_noise_do_not_hold(tmp_path: Path) -> None:
    out = tmp_path / "safe.csv"
    public = {"domains": {"age": {"min": 0, "max": 999}}}
    shoal.dp_release(
        people().select("sex", "age"), public, epsilon=2, delta="1e-6", domain_from_data=["sex"], output=out
    )
    (tmp_path / "safe.private.json").unlink()
    path = tmp_path / "safe.manifest.json"
    told = json.loads(path.read_text())
    told["parts"].pop("private")
    path.write_text(json.dumps(told))
    assert shoal.verify(out).verdict == "holds"
    steps = {one["step"]: one for one in told["sections"]["differential_privacy"]["spent"]}
    for step, more in {"domain": {"mechanism": "discrete Gaussian"}, "bins": {"sensitivity": 1.0}}.items():
        kept = dict(steps[step])
        steps[step].update(more)
        path.write_text(json.dumps(told))
        assert shoal.verify(out).verdict == "refused", step
        steps[step].update(kept)


def test_labels_of_large_whole_numbers_are_exact() -> None:
    days = DomainSection(min=20200101, max=20200131, width=1)
    assert Domain.of("day", days).labels() == [*(str(day) for day in range(20200101, 20200132)), None]
    wide = Domain.of("charge", DomainSection(min=0, max=3_000_000, width=1_234_567))
    assert wide.labels() == ["[0;1234566]", "[1234567;2469133]", "[2469134;3000000]", None]


def test_a_column_called_count_is_not_lost_among_counts(tmp_path: Path) -> None:
    frame = people().rename({"sex": "count"})
    public = {"domains": {"count": ["F", "M"]}}
    with pytest.raises(InputError, match="how its counts are called"):
        shoal.dp_release(frame, public, epsilon=1, delta="1e-6", tables=["count"], output=tmp_path / "counts")
    assert not list(tmp_path.iterdir())


def test_values_of_a_domain_are_as_they_are_written(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "domains:\n  code: [01, 08, 12:30]\n  ill: [yes, no]\n  sure: [true, false]\n"
        "  sex: {values: [1, 2], missing: no}\nstructural_zeros: [{code: [01], ill: [yes]}]\n"
    )
    rows = ["01,no,True,1.0", "08,yes,False,2.0", "12:30,no,True,2"] * 400
    (tmp_path / "people.csv").write_text("\n".join(["code,ill,sure,sex", *rows, ""]))
    out = tmp_path / "safe.csv"
    made = shoal.dp_release(tmp_path / "people.csv", policy, epsilon=5, delta="1e-6", output=out)
    assert made.owner["moved"] == {}
    assert made.owner["left_out"] == 0
    assert made.public["domains"]["code"]["values"] == ["01", "08", "12:30"]
    assert made.public["domains"]["ill"]["values"] == ["yes", "no"]
    assert shoal.verify(out).verdict == "holds"


def test_microaggregation_is_not_paid_from_a_desk(tmp_path: Path) -> None:
    """Its neighbours replace a record; those of a desk have one more: what both spend does not add up."""
    frame = people().select("sex")
    frame.write_parquet(tmp_path / "people.parquet")
    desk = tmp_path / "desk"
    terms = {"folder": desk, "epsilon": "2", "delta": "1e-6", "types": "proposed", "accounting": "zcdp"}
    shoal.open_desk(tmp_path / "people.parquet", **terms)
    public = {"domains": {"sex": ["F", "M"]}, "public_records": frame.height}
    with pytest.raises(InputError, match="they do not add up"):
        shoal.dp_release(
            tmp_path / "people.parquet", public, epsilon=1, delta="1e-7", synthesizer="microaggregate", k=50, desk=desk
        )
    with shoal.Desk(desk) as opened:
        assert opened.budget().queries == 0


# Insensitive microaggregation, and the audit


@pytest.mark.parametrize("bought", ["age", "sex"])
def test_what_microaggregation_buys_is_paid_for_a_replaced_record(bought: str) -> None:
    """One record goes and another comes: two keys, and two nodes of each level of the tree of bins, change by 1."""
    frame = people().select("sex", "age")
    domains = {"sex": ["F", "M"], "age": {"min": 0, "max": 999}}
    public = {"domains": {name: domains[name] for name in domains if name != "sex" or bought != "sex"}}
    more = {"domain_from_data": ["sex"]} if bought == "sex" else {}
    made = shoal.dp_release(
        frame, {**public, "public_records": 3000}, epsilon=2, delta="1e-6", synthesizer="microaggregate", k=50, **more
    )
    steps = {step["step"]: step["sensitivity"] for step in made.spent}
    assert steps["bins"] >= math.sqrt(2 * (math.ceil(math.log2(1000)) + 1))
    assert bought == "age" or steps["domain"] >= 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_another_record_changes_at_most_one_record_of_each_group(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = (5, 4, 7)
    first = [chance.integers(0, size, 30) for size in sizes]
    second = [own.copy() for own in first]
    row = chance.integers(0, 30)
    for own, size in zip(second, sizes, strict=True):
        own[row] = chance.integers(0, size)
    groups = groups_of(30, 4)
    both = []
    for codes in (first, second):
        order = distances(Records(tuple(codes), sizes), domains(sizes))
        rows = np.stack(codes)[:, order].T
        both.append([[tuple(one) for one in rows[groups == group]] for group in range(groups[-1] + 1)])
    for one, other in zip(*both, strict=True):
        left = list(one)
        for entry in other:
            if entry in left:
                left.remove(entry)
        assert len(left) <= 1


@pytest.mark.parametrize(
    "mechanism", ["counts", *(pytest.param(one, marks=pytest.mark.slow) for one in ("highest", "keys"))]
)
def test_neighbouring_tables_are_told_apart_no_better_than_promised(mechanism: str) -> None:
    """Over 10^5 draws for each table; the budget is large, so that a fault of a factor of two would be seen."""
    draws, account = 100_000, account_of("4")
    rho, two = BudgetPart(None, account.part(1.0), Decimal(0)), ([10, 10], [11, 9])
    if mechanism == "counts":
        found = [account_of("4").counts("x", ("a",), np.full(draws, count), account.part(1.0)) for count in (50, 51)]
    elif mechanism == "highest":
        choice = choice_for(rho, 1)
        found = [np.array([choice.lowest(-np.array(scores)) for _ in range(draws)]) for scores in two]
    else:  # a value that nobody, or one person, has is released with a chance of at most delta
        noisy = threshold_for("gaussian", rho.with_delta(Decimal("0.01")), 1, 1, 1, 1)
        found = [np.array([sum(noisy.release(counts).values()) for _ in range(draws)])
                 for counts in ({0: noisy.threshold - 1}, {0: noisy.threshold})]  # fmt: skip
        alone = sum(bool(noisy.release({0: 1})) for _ in range(draws))
        assert alone / draws <= 0.01 + 5 * math.sqrt(0.01 / draws)
    delta = 0.01 if mechanism == "keys" else 1e-6
    assert epsilon_lower_bound(found[0].astype(float), found[1].astype(float), delta=delta) <= 4


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_the_steps_of_a_release_keep_the_definition(epsilon: str) -> None:
    """By brute force: all outputs of the three measurements in which one record more, or less, is seen, with their
    probabilities on both tables; the choice has one candidate, so that it tells nothing."""
    account = Account(epsilon, "1e-6")
    tree(records((2, 2), 5), domains((2, 2)), account, [], None)
    scales = [step.scale for step in account.steps if step.mechanism == "discrete Gaussian"]
    assert len(scales) == 3
    shares = []
    for scale in scales:
        at = np.arange(-math.ceil(9 * scale), math.ceil(9 * scale) + 1)
        shares.append([np.exp(-((at - shift) ** 2) / (2 * scale**2)) / np.exp(-(at**2) / (2 * scale**2)).sum()
                       for shift in (0, 1)])  # fmt: skip
    one, other = (np.einsum("i,j,k->ijk", *(share[table] for share in shares)) for table in (0, 1))
    for first, second in ((one, other), (other, one)):
        beyond = float(np.maximum(first - math.exp(float(epsilon)) * second, 0).sum())
        assert beyond <= 1e-6
    # and not for nothing: half of the epsilon would not be kept
    assert float(np.maximum(one - math.exp(float(epsilon) / 2) * other, 0).sum()) > 1e-6


def test_microaggregation_before_noise_in_its_published_setting(data: Path) -> None:
    """Four incomes of the census file of 1,080 records, from 0 to 1.5 times the largest (Soria-Comas et al. 2014): the
    larger the groups, the less noise, until the groups themselves lose most."""
    frame = pl.read_csv(data / "sdcmicro" / "CASCrefmicrodata.csv").select("FICA", "FEDTAX", "INTVAL", "POTHVAL")
    policy = {
        "domains": {name: {"min": 0, "max": int(frame[name].max() * 1.5), "width": int(frame[name].max() * 1.5) // 200,
                           "missing": False} for name in frame.columns},  # type: ignore[operator, arg-type]
        "public_records": frame.height,
    }  # fmt: skip
    errors = {}
    for k in (2, 33, 270):  # 33 is the square root of 1,080: from there on the paper gains
        made = shoal.dp_release(frame, policy, epsilon=1, delta="1e-6", synthesizer="microaggregate", k=k)
        sorted_pairs = [(frame[name].sort(), made.frame[name].sort(), frame[name].std()) for name in frame.columns]
        errors[k] = np.mean([float(((a - b) ** 2).mean()) / spread**2 for a, b, spread in sorted_pairs])  # type: ignore[operator]
        noise = next(one["scale"] for one in made.spent if one["step"] == "mean") / k
        groups, sigma = frame.height // k, 1 / math.sqrt(2 * made.rho / 4)
        assert noise == pytest.approx(199 * math.sqrt(groups) * sigma / k, rel=0.05)
    assert errors[270] < errors[33] < errors[2]


def account_of(epsilon: str) -> Account:
    return Account(epsilon, "1e-6")
