"""The attack played out: it agrees with the law where there is one, and with every leak counted where there is none."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
from shoal.errors import InputError
from shoal.exposure.leakage import ClassSizes, Simulated, equation_5, several_persons, simulate, spread_over_leaks
from shoal.exposure.leakage.simulate import PersonRecords, simulate_histories


def standard_errors(found: Simulated, wanted: float | Fraction) -> float:
    """How far a simulation is from what it should be."""
    away = abs(found.mean - float(wanted))
    return 0.0 if away < 1e-15 else away / found.standard_error


def histories_of(people: list[list[int]]) -> PersonRecords:
    rows = [(person, kind) for person, history in enumerate(people) for kind in history]
    person, kind = (np.array(column) for column in zip(*rows, strict=True))
    return PersonRecords.of(kind, int(kind.max()) + 1, person)


@pytest.mark.parametrize(
    ("sizes", "leaked", "targets"),
    [({5: 2000}, 4000, 1), ({5: 2000}, 4000, 2), ({5: 2000}, 1000, 5), ({3: 2, 4: 1}, 6, 3), ({2: 3}, 4, 2),
     ({1: 3, 7: 5, 20: 3}, 50, 4), ({50: 3}, 120, 3), ({5: 276, 6: 546, 7: 360, 8: 217}, 4000, 3)],
)  # fmt: skip
def test_within_four_standard_errors_of_the_law(sizes: dict[int, int], leaked: int, targets: int) -> None:
    classes = ClassSizes.of(sizes)
    found = simulate(classes, leaked, targets, runs=4000, seed=7)
    assert found.runs == 4000
    assert found.low < found.mean < found.high
    assert standard_errors(found, several_persons(classes, leaked, targets).probability) < 4


def test_the_published_draw_from_the_leak_overstates() -> None:
    # golden: classes of 2 and 2, L=3, n=2: 1/2 as published, 1/4 exact; times (3)_2/(4)_2 = 1/2 they agree
    classes = ClassSizes.of({2: 2})
    published = simulate(classes, 3, 2, runs=20_000, seed=1, draw="leak")
    corrected = simulate(classes, 3, 2, runs=20_000, seed=1)
    assert standard_errors(published, Fraction(1, 2)) < 4
    assert standard_errors(corrected, Fraction(1, 4)) < 4
    assert published.mean * 0.5 == pytest.approx(corrected.mean)
    one = simulate(classes, 2, 1, runs=5_000, seed=1, draw="leak")
    assert standard_errors(one, Fraction(5, 6)) < 4


def test_the_spread_of_leaks_is_the_one_that_is_predicted() -> None:
    classes = ClassSizes.of({5: 2000})
    found = simulate(classes, 4000, 1, runs=4000, seed=3)
    assert found.values.std() == pytest.approx(spread_over_leaks(classes, 4000), rel=0.06)


def test_a_seed_repeats_a_simulation() -> None:
    classes = ClassSizes.of({5: 20})
    assert simulate(classes, 40, 3, 50, seed=5) == simulate(classes, 40, 3, 50, seed=5)
    assert simulate(classes, 40, 3, 50, seed=5) != simulate(classes, 40, 3, 50, seed=6)
    assert simulate(classes, 40, 3, 50) != simulate(classes, 40, 3, 50)


def test_limits_of_a_simulation() -> None:
    classes = ClassSizes.of({5: 20})
    assert simulate(classes, 2, 3, 10).mean == 0
    assert simulate(classes, 100, 1, 10).mean == pytest.approx(0.2)
    for runs in (0, 1, True):
        with pytest.raises(InputError, match="runs"):
            simulate(classes, 40, runs=runs)
    with pytest.raises(InputError, match="seed"):
        simulate(classes, 40, seed=-1)
    with pytest.raises(InputError, match="billion"):
        simulate(ClassSizes.of({1: 10**9}), 40)


# parts of histories


@settings(max_examples=12)
@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_leaked_records_against_every_leak(people: list[list[int]], data: st.DataObject) -> None:
    records = sum(map(len, people))
    leaked = data.draw(st.integers(0, records))
    found = simulate_histories(histories_of(people), leaked, 1, runs=1500, seed=2, unit="records")
    assert standard_errors(found, brute.leaked_records_probability(people, leaked)) < 4


def test_with_one_record_each_records_are_persons() -> None:
    kinds = np.repeat(np.arange(20), 5)
    histories = PersonRecords.of(kinds, 20, np.arange(100))
    wanted = equation_5(100, 40, 5)
    for unit in ("records", "persons"):
        found = simulate_histories(histories, 40, 1, runs=3000, seed=4, unit=unit)  # type: ignore[arg-type]
        assert standard_errors(found, wanted) < 4
    several = simulate_histories(histories, 40, 3, runs=6000, seed=4)
    assert standard_errors(several, several_persons(ClassSizes.of({5: 20}), 40, 3).probability) < 4


def test_half_of_a_history_by_hand() -> None:
    # two persons, one record each, different: the leak of both, each record shown with 1/2. Whoever is seen is named
    found = simulate_histories(histories_of([[0], [1]]), 2, 1, runs=20_000, seed=8, history=0.5)
    assert standard_errors(found, Fraction(1, 2)) < 4
    # a history of two equal records and one of one: the longer fits only itself when both records show
    longer = simulate_histories(histories_of([[0, 0], [0]]), 2, 1, runs=20_000, seed=8, history=0.5)
    # target 0: seen with 3/4, fits all seen: alone 3/8 -> 1, both 3/8 -> 1/2; target 1: seen with 1/2;
    # the other unseen 1/4 -> 1, shows one record 1/2 -> 1/2, shows two 1/4 -> out, so 1
    by_hand = (
        Fraction(3, 8) + Fraction(3, 16) + Fraction(1, 2) * (Fraction(1, 4) + Fraction(1, 4) + Fraction(1, 4))
    ) / 2
    assert standard_errors(longer, by_hand) < 4


def test_less_of_each_history_exposes_less() -> None:
    rng = np.random.default_rng(0)
    person, kind = np.repeat(np.arange(60), 4), rng.integers(0, 6, 240)
    histories = PersonRecords.of(kind, 6, person)
    risks = [simulate_histories(histories, 60, 1, 800, 1, history=part).mean for part in (1.0, 0.6, 0.2)]
    assert risks[0] > risks[1] > risks[2] > 0


def test_persons_are_those_who_occur() -> None:
    # codes of persons need not be dense, nor rows sorted
    kinds, people = np.array([1, 0, 1]), np.array([900, 5, 5])
    histories = PersonRecords.of(kinds, 2, people)
    assert (histories.persons, histories.records) == (2, 3)
    assert histories.person.tolist() == [0, 0, 1]
    assert histories.kind.tolist() == [0, 1, 1]


def test_an_interval_of_known_values() -> None:
    found = Simulated.of(np.array([0.0, 0.5, 1.0, 0.5]))
    half = 1.959964 * math.sqrt(1 / 6) / 2
    assert (found.low, found.high) == (pytest.approx(0.5 - half), pytest.approx(0.5 + half))
    assert set(found.to_dict()) == {"mean", "low", "high", "runs"}
