"""Membership: statistics by hand, power on simulated pools, the bound of differential privacy, honest thresholds."""

from __future__ import annotations

from decimal import Decimal
from math import exp, log, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks.membership import (
    Membership,
    PublishedBudget,
    area,
    attack_membership,
    bound,
    flagged,
    judged,
    statistics,
)
from shoal.dp.mechanisms import BudgetPart, noise_for


def people(draw: np.random.Generator, shares: Any, count: int, copies: int = 2) -> Any:
    return draw.binomial(copies, shares, (count, len(shares))).astype(np.float32)


def test_both_statistics_by_hand() -> None:
    pool = np.array([0.5, 0.25])
    members, others = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    found = statistics(pool, members, others, 1)
    outside = [1.5 / 4, 2.5 / 4]  # copies among the others and a half, of three people and one
    ratio = log(0.5 / outside[0]) + log(0.75 / (1 - outside[1]))
    assert found["likelihood ratio"][0][0] == pytest.approx(ratio)
    nearer = np.array([1 - outside[0] - 0.5, outside[1] - 0.25])
    assert found["Homer's statistic"][0][0] == pytest.approx(nearer.mean() / (nearer.std(ddof=1) / sqrt(2)))
    # the first of the others is judged by the frequencies of the other two
    left = [1.5 / 3, 1.5 / 3]
    ratio = log(0.5 / (1 - left[0])) + log(0.25 / left[1])
    assert found["likelihood ratio"][1][0] == pytest.approx(ratio)


def simulated(
    seed: int, pool: int, markers: int, others: int, noise: Any = None, budget: PublishedBudget | None = None
) -> Membership:
    draw = np.random.default_rng(seed)
    shares = draw.uniform(0.05, 0.95, markers)
    members = people(draw, shares, pool)
    counts = members.sum(axis=0)
    counts = counts if noise is None else np.clip(noise.add(counts), 0, 2 * pool)
    return judged(statistics(counts / (2 * pool), members, people(draw, shares, others), 2), markers, [], budget, 0)


def test_a_pool_of_100_with_10_000_markers_gives_everybody_away() -> None:
    found = simulated(1, 100, 10_000, 1_200)
    at = {(one.statistic, one.false_positives): one.power for one in found.power}
    assert at["likelihood ratio", 0.001] >= 0.99
    assert at["Homer's statistic", 0.001] >= 0.99
    assert all(one.control is not None and one.control <= 0.011 for one in found.attacks)
    assert found.attacks[0].excess is not None
    assert found.verdict["membership"] == "measured"


def test_the_power_is_that_of_theory() -> None:
    """A member lies √(markers / people) standard deviations above the others (Sankararaman et al. 2009):
    with 100 people and 500 markers the power at 1% is Φ(√5 - 2.326) = .464."""
    powers = [simulated(seed, 100, 500, 2_000).power[1].power for seed in range(8)]
    assert np.mean(powers) == pytest.approx(0.464, abs=0.05)


def test_few_markers_tell_nothing_and_the_false_positives_are_as_promised() -> None:
    found = simulated(3, 200, 5, 2_000)
    for one in found.attacks:
        assert one.rate is not None
        assert one.rate < 0.06
        assert one.control == pytest.approx(one.baseline, rel=0.01)
    assert all(0.4 < value < 0.65 for value in found.area.values())


@pytest.mark.parametrize("epsilon", [1, 3])
def test_answers_with_a_privacy_budget_keep_its_bound(epsilon: int) -> None:
    """One person changes every count by up to 2: the noise on 1,000 counts is made for 2,000 together."""
    noise = noise_for("laplace", BudgetPart(Decimal(epsilon), None, Decimal(0)), 2_000.0, 2_000.0)
    found = simulated(4, 300, 1_000, 1_500, noise, PublishedBudget(float(epsilon)))
    assert found.within_bound
    for one in found.power:
        assert one.bound == pytest.approx(bound(epsilon, 0, one.false_positives))
        assert one.low <= one.bound
    exact = simulated(4, 100, 5_000, 1_500, None, PublishedBudget(float(epsilon)))
    assert not exact.within_bound
    assert "MORE than" in exact.summary()


@given(st.floats(0.01, 5), st.floats(0, 0.1), st.sampled_from([0.001, 0.01]))
def test_the_bound(epsilon: float, delta: float, share: float) -> None:
    assert bound(epsilon, delta, share) <= exp(epsilon) * share + delta + 1e-12
    assert bound(epsilon, delta, share) >= share


@given(st.lists(st.integers(0, 6), min_size=120, max_size=200), st.integers(0, 10**6))
def test_flagged_others_are_as_many_as_promised_ties_shared(values: list[int], seed: int) -> None:
    others = np.array(values, float)
    members = np.random.default_rng(seed).permutation(others)
    ours, theirs, fitted = flagged(members, others, 0.01)
    assert not fitted
    assert theirs.sum() == pytest.approx(int(0.01 * (len(values) + 1)))
    assert np.sort(ours).tolist() == np.sort(theirs).tolist()
    assert area(members, others) == pytest.approx(0.5)


def test_a_small_reference_is_said() -> None:
    found = simulated(5, 50, 300, 60)
    assert any("normal distribution" in note for note in found.attacks[0].notes)
    draw = np.random.default_rng(0)
    rates = [flagged(draw.normal(size=2_000), draw.normal(size=60), 0.001)[0].mean() for _ in range(20)]
    assert np.mean(rates) == pytest.approx(0.001, abs=0.0015)


def files(folder: Any, seed: int = 0, others: int = 40) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    shares = draw.uniform(0.1, 0.9, 60)
    names = [f"rs{number}" for number in range(60)]
    members = people(draw, shares, 20).astype(int)
    pl.DataFrame({"marker": names, "frequency": members.mean(axis=0) / 2}).write_csv(folder / "f.csv")
    pl.DataFrame(members, schema=names).write_csv(folder / "in.csv")
    pl.DataFrame(people(draw, shares, others).astype(int), schema=names).write_csv(folder / "out.csv")
    return {"source": folder / "f.csv", "candidates": folder / "in.csv", "reference": folder / "out.csv"}


def test_files_frames_and_the_order_of_rows_say_the_same(tmp_path: Any) -> None:
    where = files(tmp_path)
    source = where.pop("source")
    found = attack_membership(source, **where)
    frames = {name: pl.read_csv(path).sample(fraction=1, shuffle=True, seed=3) for name, path in where.items()}
    again = attack_membership(pl.read_csv(source).reverse().to_pandas(), **frames)
    for one, other in zip(found.power, again.power, strict=True):
        assert one.power == pytest.approx(other.power)
    assert found.known == again.known == 60
    assert any("fewer than 30 targets" in note for note in found.attacks[0].notes)


def changed(folder: Any, name: str, change: Any) -> dict[str, Any]:
    where = files(folder)
    table = change(pl.read_csv(where[name]))
    table.write_csv(where[name])
    return where


@pytest.mark.parametrize(
    ("name", "change", "said", "cure"),
    [
        ("candidates", lambda t: t.rename(str.upper), "no marker in common", "upper and lower case"),
        ("reference", lambda t: t.rename(lambda n: f"x{n}"), "no marker in common", "one column per marker"),
        ("candidates", lambda t: t.with_columns(rs3=pl.lit("A/G")), "'rs3' does not hold numbers", "copies"),
        ("reference", lambda t: t.with_columns(rs3=pl.lit(73919)), "'rs3' holds other numbers", "copies"),
        ("source", lambda t: t.with_columns(pl.col("frequency") * 100), "above 1", "percentages"),
        ("source", lambda t: t.with_columns(-pl.col("frequency")), "are not frequencies", "0 to 1"),
        (
            "source",
            lambda t: t.with_columns((1 - pl.col("frequency")).alias("frequency")),
            "run against",
            "other allele",
        ),
        ("source", lambda t: pl.concat([t, t]), "names a marker twice", "one row per marker"),
        ("reference", lambda t: t.head(1), "single person", "like the pool"),
    ],
)
def test_bad_input_is_refused_with_its_cure(tmp_path: Any, name: str, change: Any, said: str, cure: str) -> None:
    where = changed(tmp_path, name, change)
    with pytest.raises(shoal.InputError, match=said) as refused:
        attack_membership(where.pop("source"), **where)
    assert cure in str(refused.value)
    assert "73919" not in str(refused.value)
    assert "A/G or" in str(refused.value) or "A/G" not in str(refused.value)


def test_a_budget_is_checked(tmp_path: Any) -> None:
    where = files(tmp_path)
    with pytest.raises(shoal.InputError, match="without epsilon"):
        attack_membership(where["source"], candidates=where["candidates"], reference=where["reference"], delta=0.1)
    with pytest.raises(shoal.InputError, match="above 0"):
        attack_membership(where["source"], candidates=where["candidates"], reference=where["reference"], epsilon=-1)


def visits(count: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame({"age": draw.integers(20, 80, count), "zip": draw.integers(0, 40, count)})


def test_presence_in_a_release(tmp_path: Any) -> None:
    """Boxes that hold members only give them away; a release of one class of everybody says nothing."""
    members, others = visits(200, 1), visits(1_500, 2)
    powers = []
    for k in (2, 200):
        made = shoal.anonymize(members, quasi_identifiers=["age", "zip"], k=k, method="mondrian")
        path = tmp_path / f"k{k}.parquet"
        shoal.release(made, path)
        found = attack_membership(path, candidates=members, reference=others)
        assert {one.statistic for one in found.power} == {"presence in the release"}
        assert (found.known, found.members, found.others) == (2, 200, 1_500)
        powers.append(found.power[1].power)
    assert powers[0] > 0.1
    assert powers[1] <= 0.012


def test_members_in_the_reference_are_refused(tmp_path: Any) -> None:
    where = files(tmp_path)
    source, members, others = where["source"], pl.read_csv(where["candidates"]), pl.read_csv(where["reference"])
    with pytest.raises(shoal.InputError, match="same people as the candidates"):
        attack_membership(source, candidates=where["candidates"], reference=where["candidates"])
    with pytest.raises(shoal.InputError, match="same people as the candidates"):
        attack_membership(source, candidates=members, reference=members.clone())
    with pytest.raises(shoal.InputError, match="of the reference are among the candidates"):
        attack_membership(source, candidates=members, reference=pl.concat([others, members.head(5)]))


def test_members_who_score_below_others_are_said(tmp_path: Any) -> None:
    """The frequencies are those of the reference: it is the reference that is in the data."""
    where = files(tmp_path)
    found = attack_membership(where["source"], candidates=where["reference"], reference=where["candidates"])
    assert found.area["likelihood ratio"] < 0.4
    assert any("members score below others" in note for note in found.attacks[0].notes)


def test_the_limit_on_membership_is_judged(tmp_path: Any) -> None:
    where = files(tmp_path, others=1_000)
    source = where.pop("source")
    for limit, verdict in ((0.0, "fail"), (1.0, "pass")):
        found = attack_membership(source, **where, policy={"attacks": {"membership": limit}})
        assert (found.verdict["membership"], found.holds) == (verdict, verdict == "pass")
    assert attack_membership(source, **where).verdict["membership"] == "measured"
