"""Individual risk with weights: by hand, against the sum that defines it, and against sdcMicro's figures."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import hyp2f1

import shoal
from shoal.population.individual import approximate_risk, expected_risk, household_risk, threshold_for, weighted_risk
from shoal.storage.classes import Coded

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def by_definition(size: int, share: float) -> float:
    """The sum over F of 1/F times the chance of F: negative binomial, f successes at F trials."""
    total, chance, people = 0.0, share**size, size
    while chance > 1e-18 or people < 10 * size / share:
        total += chance / people
        people += 1
        chance *= (1 - share) * (people - 1) / (people - size)
    return total


def test_by_hand() -> None:
    # a unique that stands for two people: ln 2; two records for four: 1 - ln 2
    assert expected_risk(np.array([1, 2]), np.array([2, 4])) == pytest.approx([np.log(2), 1 - np.log(2)])
    # everybody is in the sample, or weights say even less
    assert expected_risk(np.array([1, 4, 4]), np.array([1, 4, 3])).tolist() == [1, 0.25, 0.25]
    assert approximate_risk(np.array([1, 4]), np.array([1, 4])).tolist() == [1, 0.25]


@given(st.integers(1, 60), st.floats(0.01, 1))
def test_equals_the_sum_that_defines_it(size: int, share: float) -> None:
    found = expected_risk(np.array([size]), np.array([size / share]))[0]
    assert found == pytest.approx(by_definition(size, share), rel=1e-9)


@given(st.integers(1, 10**6), st.floats(1, 1e9))
def test_lies_between_the_share_and_one_over_f_and_the_approximation_is_near(size: int, weight: float) -> None:
    sizes, people = np.array([size]), np.array([size * weight])
    found = expected_risk(sizes, people)[0]
    # 1/E[F] <= E[1/F] <= 1/f
    assert (1 - 1e-9) / (size * weight) <= found <= (1 + 1e-9) / size
    near = approximate_risk(sizes, people)[0]
    assert near == pytest.approx(found, rel=1e-9 if size <= 2 else 0.3)


def test_agrees_with_exact_arithmetic_where_digits_cancel() -> None:
    # r(f+1) = q (1/f - r(f)), in 60 digits
    from decimal import Decimal, getcontext

    getcontext().prec = 60
    for share in (Decimal("0.4999"), Decimal("0.01"), Decimal("0.0000001")):
        odds = share / (1 - share)
        risk = odds * -share.ln()
        for size in range(1, 60):
            mine = expected_risk(np.array([size]), np.array([size / float(share)]))[0]
            assert mine == pytest.approx(float(risk), rel=1e-8), (share, size)
            risk = odds * (1 / Decimal(size) - risk)


def test_a_household_is_found_through_any_of_its_members() -> None:
    found = household_risk(np.array([0.5, 0.5, 0.25, 1.0]), Coded(np.array([0, 0, 1, 1]), 2))
    assert found == pytest.approx([0.75, 0.75, 1.0, 1.0])


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=30), st.floats(0.001, 1))
def test_the_threshold_keeps_the_limit_and_no_higher_one_does(risks: list[float], limit: float) -> None:
    found = threshold_for(np.array(risks), limit)
    kept = np.minimum(risks, found.risk)
    assert kept.mean() <= limit * (1 + 1e-9)
    assert found.records == int(np.count_nonzero(np.array(risks) > found.risk))
    if np.mean(risks) > limit:
        assert np.minimum(risks, found.risk * 1.01).mean() > limit


def test_figures_of_sdcmicro(data: Path) -> None:
    table = data / "sdcmicro" / "testdata.csv"
    found = shoal.risk(table, quasi_identifiers=KEYS, weight="sampling_weight", household="ori_hid", approximate=True)
    assert found.individual is not None
    assert found.individual.household is not None
    assert found.individual.expected_reidentifications == pytest.approx(10.7782989, abs=5e-8)
    assert found.individual.household.expected_reidentifications == pytest.approx(51.8129, abs=5e-5)
    exact = shoal.risk(table, quasi_identifiers=KEYS, weight="sampling_weight")
    assert exact.individual is not None
    assert exact.individual.expected_reidentifications == pytest.approx(10.7755251, abs=5e-8)
    assert exact.individual.household is None
    assert found.to_dict()["individual"]["global"] == pytest.approx(10.7782989 / 4580, abs=1e-10)


def survey() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [30, 30, 41, 41, 52],
            "sex": ["f", "f", "m", None, "m"],
            "w": [10.0, 30.0, 5.0, 5.0, 8.0],
            "hid": ["a", "b", "a", "c", "c"],
        }
    )


def test_risk_by_weight_in_a_table() -> None:
    found = shoal.risk(survey(), quasi_identifiers=["age"], weight="w", household="hid")
    assert found.individual is not None
    by_hand = expected_risk(np.array([2, 2, 1]), np.array([40.0, 10.0, 8.0]))
    each = by_hand[[0, 0, 1, 1, 2]]
    assert found.individual.expected_reidentifications == pytest.approx(each.sum())
    assert found.individual.highest == pytest.approx(each.max())
    assert found.individual.people == 58
    assert found.per_record["risk"].to_list() == pytest.approx(each.tolist())
    assert found.per_record["household_risk"][1] == pytest.approx(each[1])
    assert found.per_record["household_risk"][0] == pytest.approx(1 - (1 - each[0]) * (1 - each[2]))
    assert any("vary within 2 households" in note for note in found.notes)


def test_null_rules_count_weights_as_they_count_records() -> None:
    keys = ["age", "sex"]
    wild = shoal.risk(survey(), quasi_identifiers=keys, null_rule="wildcard", weight="w")
    # rows 2 and 3 match each other: two records that stand for ten people
    assert wild.per_record["risk"][3] == pytest.approx(expected_risk(np.array([2]), np.array([10.0]))[0])
    dropped = shoal.risk(survey(), quasi_identifiers=keys, null_rule="drop", weight="w")
    assert dropped.per_record["risk"].null_count() == 1
    assert dropped.per_record["risk"][2] == pytest.approx(expected_risk(np.array([1]), np.array([5.0]))[0])


def test_a_policy_says_it_too(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("columns: {age: quasi-identifier}\nweight: w\nhousehold: hid\n")
    by_policy = shoal.risk(survey(), policy=policy)
    given_here = shoal.risk(survey(), quasi_identifiers=["age"], weight="w", household="hid", global_limit="5%")
    assert by_policy.individual is not None
    assert given_here.individual is not None
    assert by_policy.individual.household == given_here.individual.household
    assert given_here.individual.limit is not None
    assert given_here.individual.limit.limit == 0.05


@pytest.mark.parametrize(
    ("column", "sample", "what"),
    [
        ([1.0, None, 1, 1, 1], {"weight": "w"}, "empty"),
        ([1.0, -2, 9, 9, 9], {"weight": "w"}, "negative"),
        ([0.5, 0.5, 0.5, 0.5, 0.5], {"weight": "w"}, "sum to less"),
        ([9.0, 9, 9, 9, 9], {"weight": "age"}, "another part"),
        ([9.0, 9, 9, 9, 9], {"weight": "w", "household": "w"}, "another part"),
        ([9.0, 9, 9, 9, 9], {"household": "hid"}, "needs weights"),
        ([9.0, 9, 9, 9, 9], {"weight": "w", "sampling": "105%"}, "sampling"),
        ([9.0, 9, 9, 9, 9], {"weight": "w", "population_size": 3}, "population"),
        ([9.0, 9, 9, 9, 9], {"weight": "w", "population_size": 30, "sampling": 0.1}, "twice"),
        ([9.0, 9, 9, 9, 9], {"global_limit": "1%"}, "needs weights"),
    ],
)
def test_bad_input_is_refused(column: list[float], sample: dict[str, object], what: str) -> None:
    table = survey().with_columns(w=pl.Series(column))
    with pytest.raises(shoal.InputError, match=what):
        shoal.risk(table, quasi_identifiers=["age"], **sample)  # type: ignore[arg-type]


def test_weights_exclude_counts_and_persons() -> None:
    for setting in ({"count": "age"}, {"person": "hid"}):
        with pytest.raises(shoal.InputError, match="belongs to a record"):
            shoal.risk(survey(), quasi_identifiers=["sex"], weight="w", **setting)


def test_weights_under_one_are_noted_and_a_class_counts_at_least_itself() -> None:
    table = survey().with_columns(w=pl.Series([0.5, 0.5, 90, 90, 90]))
    found = shoal.risk(table, quasi_identifiers=["age"], weight="w")
    assert found.per_record["risk"][0] == 0.5
    assert any("under 1" in note for note in found.notes)
    assert any("sum to less than the records" in note for note in found.notes)


def test_comb_is_what_the_definition_says() -> None:
    """The chance of F people behind f records: C(F-1, f-1) p^f (1-p)^(F-f)."""
    share, size = 0.3, 4
    direct = sum(
        comb(people - 1, size - 1) * share**size * (1 - share) ** (people - size) / people for people in range(4, 400)
    )
    assert by_definition(size, share) == pytest.approx(direct, rel=1e-9)


def test_a_match_with_missing_values_counts_in_part() -> None:
    """f and F^ of (1, 2) with one record that matches by a missing value: 1 + alpha, and 10 + alpha 20."""
    frame = pl.DataFrame({"a": [1, 1, 5], "b": [2, None, 5], "w": [10.0, 20.0, 10.0]})
    asked = {"quasi_identifiers": ["a", "b"], "weight": "w", "null_rule": "wildcard"}
    for alpha in (0.0, 0.5, 1.0):
        found = shoal.risk(frame, wildcard_alpha=alpha, **asked)
        size, people = 1 + alpha, 10 + alpha * 20
        share = size / people
        by_hand = share / size * hyp2f1(1, 1, size + 1, 1 - share)
        assert found.per_record["risk"][0] == pytest.approx(by_hand, rel=1e-9)
        # the one with the missing value matches a complete record, which counts whole
        assert found.per_record["risk"][1] == pytest.approx(expected_risk(np.array([2]), np.array([30.0]))[0])


def test_sizes_that_are_no_whole_numbers() -> None:
    sizes, people = np.array([1.5, 2.25, 5.7, 50.3, 1.2]), np.array([30.0, 9.0, 400.0, 900.0, 1.5])
    share = sizes / people
    assert expected_risk(sizes, people) == pytest.approx(share / sizes * hyp2f1(1, 1, sizes + 1, 1 - share), rel=1e-8)


def test_limits_over_weights_use_what_the_class_sizes_say() -> None:
    """The upper end for uniques is above E[1/F | 1], which is the same whatever the columns tell."""
    sizes, classes, people = np.array([1, 2, 3]), np.array([900.0, 40.0, 5.0]), np.array([50.0, 100.0, 150.0])
    found = weighted_risk(sizes, classes, people)
    assert found.risks == pytest.approx(expected_risk(sizes, people))
    assert found.upper is not None
    assert (found.upper >= found.risks).all()
    assert found.upper[0] > 3 * found.risks[0]
    nobody_shares = weighted_risk(sizes[:1], classes[:1], people[:1])
    assert nobody_shares.upper is not None
    assert nobody_shares.upper[0] > 0.9
