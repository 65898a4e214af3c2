"""The laws of a leak: against every leak and every choice of targets, exact fractions, and the golden figures."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb, factorial, perm
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import brute
from shoal.errors import InputError
from shoal.exposure.leakage import (
    ClassSizes,
    equation_5,
    everything_leaked,
    one_person,
    recursion,
    risk_distribution,
    several_persons,
    spread_over_leaks,
)

small = st.lists(st.integers(1, 8), min_size=1, max_size=8).filter(lambda sizes: sum(sizes) <= 8)
medium = st.lists(st.integers(1, 12), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def antoniou(data: Path) -> Any:
    return json.loads((data / "golden" / "antoniou.json").read_text())


def sizes_of(text: dict[str, int]) -> ClassSizes:
    return ClassSizes.of({int(size): count for size, count in text.items()})


def close(found: float, wanted: Fraction | float, relative: float = 1e-12) -> bool:
    return abs(Fraction(found) - Fraction(wanted)) <= Fraction(relative) * Fraction(wanted)


def exact_equation_5(persons: int, leaked: int, size: int) -> Fraction:
    return Fraction(comb(persons, leaked) - comb(persons - size, leaked), comb(persons, leaked) * size)


def exact_law(sizes: list[int], leaked: int, targets: int) -> Fraction:
    """The generating function in exact fractions."""
    found = {(0, 0): Fraction(1)}
    for size in sizes:
        grown: dict[tuple[int, int], Fraction] = {}
        for (named, there), value in found.items():
            for more in range(min(size, leaked - there) + 1):
                for m in range(min(more, targets - named) + 1):
                    key = (named + m, there + more)
                    grown[key] = grown.get(key, Fraction(0)) + value * comb(size, more) / factorial(m)
        found = grown
    persons = sum(sizes)
    coefficient = found.get((targets, leaked), Fraction(0))
    return coefficient * factorial(targets) / perm(persons, targets) / comb(persons, leaked)


# one person


@given(small, st.data())
def test_one_person_is_every_leak_counted(sizes: list[int], data: st.DataObject) -> None:
    leaked = data.draw(st.integers(0, sum(sizes)))
    assert close(one_person(ClassSizes.of(sizes), leaked), brute.leak_probability(sizes, leaked, 1))


@given(st.integers(1, 3000), st.data())
def test_equation_5_in_exact_fractions(persons: int, data: st.DataObject) -> None:
    leaked, size = data.draw(st.integers(0, persons)), data.draw(st.integers(1, persons))
    assert close(equation_5(persons, leaked, size), exact_equation_5(persons, leaked, size), 1e-13)


@pytest.mark.parametrize(
    ("persons", "leaked", "size"),
    [
        (10**9, 10**8, 20),
        (10**9, 3, 10**6),
        (10**9, 10**4, 3 * 10**4),
        (10**9, 10**9 - 1, 5),
        (10**9, 1, 10**9),
        (10**7, 10**6, 300),
        (10**9, 5 * 10**8, 1),
    ],
)
def test_a_billion_persons_to_twelve_digits(persons: int, leaked: int, size: int) -> None:
    few, many = sorted((leaked, size))
    if few + many > persons:
        assert equation_5(persons, leaked, size) == 1 / size
        return
    missed = Fraction(1)
    if few <= 10**4:
        above = below = 1
        for number in range(few):
            above *= persons - many - number
            below *= persons - number
        missed = Fraction(above, below)
    assert close(equation_5(persons, leaked, size), (1 - missed) / size, 1e-12)


def test_eq_5_and_fig_2(antoniou: Any) -> None:
    for entry in antoniou["eq5_small"]:
        assert close(equation_5(entry["D"], entry["L"], entry["k"]), Fraction(entry["P"]), 1e-14)
    for entry in antoniou["fig2"] + antoniou["large"]:
        assert close(equation_5(entry["D"], entry["L"], entry["k"]), entry["P"], 1e-13)


def test_classes_of_one_size_are_eq_5() -> None:
    assert close(one_person(ClassSizes.equal(10_000, 5), 4_000), equation_5(10_000, 4_000, 5), 1e-14)
    # sizes that differ are summed: two of 3 and one of 4 by hand, 3 of 10 leaked
    by_hand = Fraction(2 * (120 - 35) + (120 - 20), 120 * 10)
    assert close(one_person(ClassSizes.of({3: 2, 4: 1}), 3), by_hand)


def test_many_class_sizes_at_once() -> None:
    classes = ClassSizes.of(dict.fromkeys(range(1, 60), 1))
    persons = classes.persons
    for leaked in (1, 7, 50, 900, persons - 3, persons):
        wanted = sum(exact_equation_5(persons, leaked, size) * size for size in range(1, 60)) / persons
        assert close(one_person(classes, leaked), wanted, 1e-13)


@given(medium, st.data())
def test_both_limits(sizes: list[int], data: st.DataObject) -> None:
    classes = ClassSizes.of(sizes)
    assert one_person(classes, 0) == 0
    assert close(one_person(classes, classes.persons), Fraction(len(sizes), sum(sizes)))
    targets = data.draw(st.integers(1, sum(sizes)))
    assert several_persons(classes, targets - 1, targets).probability == 0


# its distribution over leaks


def test_risk_over_leaks_fig_3(antoniou: Any) -> None:
    for entry in antoniou["fig3a_risk_pmf"] + antoniou["fig3b_risk_pmf"]:
        classes = ClassSizes.equal(entry["D"], entry["k"])
        found = risk_distribution(classes, entry["L"])
        for alike, probability in zip(found.alike.tolist(), found.probability.tolist(), strict=True):
            assert close(probability, entry["pmf"][f"1/{alike}" if alike else "0/1"], 1e-12)
        assert close(found.mean, entry["mean"])
        spread = spread_over_leaks(classes, entry["L"])
        assert spread == pytest.approx(entry["sd_of_mean_over_leaks"], rel=1e-9, abs=1e-9)


@given(medium, st.data())
def test_the_distribution_has_mass_one_and_the_mean_of_the_law(sizes: list[int], data: st.DataObject) -> None:
    classes = ClassSizes.of(sizes)
    leaked = data.draw(st.integers(0, classes.persons))
    found = risk_distribution(classes, leaked)
    assert found.probability.sum() == pytest.approx(1, rel=1e-12)
    assert found.mean == pytest.approx(one_person(classes, leaked), rel=1e-12)
    assert found.probability.min() >= 0


@given(small, st.data())
def test_spread_over_leaks_is_that_of_every_leak(sizes: list[int], data: st.DataObject) -> None:
    from itertools import combinations

    leaked = data.draw(st.integers(0, sum(sizes)))
    owner = [number for number, size in enumerate(sizes) for _ in range(size)]
    means = [len({owner[person] for person in leak}) / len(owner) for leak in combinations(range(len(owner)), leaked)]
    assert spread_over_leaks(ClassSizes.of(sizes), leaked) == pytest.approx(np.std(means), abs=1e-7)


# several persons


@given(small, st.data())
@example([2, 2], None)
def test_several_persons_are_every_leak_counted(sizes: list[int], data: st.DataObject | None) -> None:
    leaked = 3 if data is None else data.draw(st.integers(0, sum(sizes)))
    targets = 2 if data is None else data.draw(st.integers(1, sum(sizes)))
    wanted = brute.leak_probability(sizes, leaked, targets)
    found = several_persons(ClassSizes.of(sizes), leaked, targets)
    assert close(found.probability, wanted)


@given(medium, st.data())
def test_several_persons_in_exact_fractions(sizes: list[int], data: st.DataObject) -> None:
    persons = sum(sizes)
    targets = data.draw(st.integers(1, min(persons, 7)))
    leaked = data.draw(st.integers(targets, persons))
    found = several_persons(ClassSizes.of(sizes), leaked, targets)
    wanted = exact_law(sizes, leaked, targets)
    assert close(found.probability, wanted)
    assert abs(Fraction(found.probability) - wanted) <= Fraction(found.error) * wanted


@pytest.mark.parametrize(
    ("sizes", "leaked", "targets"),
    [([150, 3, 3, 3], 60, 4), ([60, 60], 90, 6), ([200], 100, 5), ([40, 40, 1, 1, 1, 1], 30, 6), ([30] * 4, 8, 8),
     ([30] * 4, 119, 8), ([100] + [1] * 10, 12, 10), ([90, 2], 3, 2), ([25] * 3, 74, 5)],
)  # fmt: skip
def test_few_large_classes(sizes: list[int], leaked: int, targets: int) -> None:
    found = several_persons(ClassSizes.of(sizes), leaked, targets)
    assert close(found.probability, exact_law(sizes, leaked, targets), 1e-13)
    assert found.error < 1e-12


def test_figures_4_and_5(antoniou: Any) -> None:
    for entry in antoniou["fig4a_L_eq_D"]:
        assert close(several_persons(sizes_of(entry["classes"]), entry["D"], entry["n"]).probability, entry["exact"])
    for entry in antoniou["fig4b"]:
        found = several_persons(ClassSizes.equal(entry["D"], entry["k"]), entry["L"], entry["n"])
        assert close(found.probability, entry["exact_model"])
        assert found.error < 1e-12
    for entry in antoniou["fig5"]["heterogeneous"]:
        classes = sizes_of(entry["classes"])
        for targets, probability in entry["P"].items():
            assert close(several_persons(classes, 10_000, int(targets)).probability, probability)
        for targets, probability in entry["P_L4000"].items():
            assert close(several_persons(classes, 4_000, int(targets)).probability, probability)


def test_small_cases_as_fractions(antoniou: Any) -> None:
    for entry in antoniou["multi_small"]:
        classes = ClassSizes.of(entry["sizes"])
        assert close(several_persons(classes, entry["L"], entry["n"]).probability, Fraction(entry["exact"]), 1e-14)
    for entry in antoniou["eq10_example"]:
        classes = ClassSizes.of({2: entry["a2"]})
        for targets, name in ((2, "P_AB"), (3, "P_ABC")):
            exact = several_persons(classes, entry["L"], targets).probability
            assert close(exact, Fraction(entry[f"{name}_exact"]), 1e-14)
            assert close(recursion(classes, entry["L"], targets), Fraction(entry[f"{name}_rec"]), 1e-14)


def test_uniques_are_re_identified_when_they_leak() -> None:
    wanted = Fraction(perm(30_000, 20), perm(100_000, 20))
    found = several_persons(ClassSizes.of({1: 100_000}), 30_000, 20)
    assert close(found.probability, wanted, 1e-12)


def test_one_class_of_all_is_a_guess_among_the_leaked() -> None:
    # n targets all leak with (L)_n/(D)_n, and are named with 1/(L)_n: the leak does not matter
    for leaked in (20, 60, 1_000, 999_999, 1_000_000):
        found = several_persons(ClassSizes.of({1_000_000: 1}), leaked, 20)
        assert close(found.probability, Fraction(1, perm(1_000_000, 20)), 1e-12)


def test_everything_leaked_in_closed_form() -> None:
    classes = ClassSizes.of({5: 30, 9: 11})
    wanted = Fraction(41**4, perm(classes.persons, 4))
    assert close(everything_leaked(classes, 4), wanted, 1e-14)
    assert close(several_persons(classes, classes.persons, 4).probability, wanted, 1e-14)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.data())
def test_monotone_in_the_leak_and_in_the_targets(sizes: list[int], data: st.DataObject) -> None:
    classes = ClassSizes.of(sizes)
    leaked = data.draw(st.integers(1, classes.persons))
    targets = data.draw(st.integers(1, min(leaked, 10)))
    found = several_persons(classes, leaked, targets).probability
    slack = 1 + 1e-12
    if leaked < classes.persons:
        assert found <= several_persons(classes, leaked + 1, targets).probability * slack
    if targets < leaked:
        assert several_persons(classes, leaked, targets + 1).probability <= found * slack


@given(st.integers(2, 300), st.data())
def test_monotone_in_k(persons: int, data: st.DataObject) -> None:
    leaked = data.draw(st.integers(1, persons))
    size = data.draw(st.integers(1, persons - 1))
    slack = 1 + 1e-12
    assert equation_5(persons, leaked, size + 1) <= equation_5(persons, leaked, size) * slack
    for targets in (2, 3):
        one, more = (
            several_persons(ClassSizes.equal(persons, k), leaked, targets).probability for k in (size, size + 1)
        )
        assert more <= one * slack


def test_a_fixed_k_bounds_every_distribution_with_that_minimum(antoniou: Any) -> None:
    for entry in antoniou["fig5"]["heterogeneous"]:
        for leaked, targets in ((10_000, 5), (4_000, 5), (1_000, 3)):
            bound = several_persons(ClassSizes.equal(10_000, 5), leaked, targets).probability
            assert several_persons(sizes_of(entry["classes"]), leaked, targets).probability <= bound


def test_a_million_persons_in_a_thousand_sizes() -> None:
    sizes = dict.fromkeys(range(1, 1001), 2)
    classes = ClassSizes.of(sizes)
    one = several_persons(classes, 100_000, 1).probability
    two = several_persons(classes, 100_000, 2)
    # nearly independent: n targets are about one target to the power of n
    assert two.probability == pytest.approx(one**2, rel=0.01)
    twenty = several_persons(classes, 100_000, 20)
    assert two.error < 1e-12
    assert twenty.error < 1e-12
    assert twenty.probability == pytest.approx(one**20, rel=0.2)


def test_more_targets_than_can_be_taken() -> None:
    with pytest.raises(InputError, match="101 targets"):
        several_persons(ClassSizes.of({5: 100}), 200, 101)


# the published recursion


def test_recursion_as_published(antoniou: Any) -> None:
    for entry in antoniou["multi_small"]:
        classes = ClassSizes.of(entry["sizes"])
        for weights, name in (("persons", "recursion_patient_weights"), ("classes", "recursion_class_weights")):
            found = recursion(classes, entry["L"], entry["n"], weights)  # type: ignore[arg-type]
            assert close(found, Fraction(entry[name]), 1e-14)
    for entry in antoniou["fig4b"]:
        classes = ClassSizes.equal(entry["D"], entry["k"])
        assert close(recursion(classes, entry["L"], entry["n"]), entry["recursion_patient_weights"])
        assert close(recursion(classes, entry["L"], entry["n"], "classes"), entry["recursion_class_weights"])
    for entry in antoniou["fig4a_L_eq_D"]:
        found = recursion(sizes_of(entry["classes"]), entry["D"], entry["n"], "classes")
        assert close(found, entry["recursion_class_weights"])
    for entry in antoniou["fig5"]["heterogeneous"]:
        for targets in (1, 5):
            found = recursion(sizes_of(entry["classes"]), 10_000, targets, "classes")
            assert close(found, entry[f"recursion_class_weights_n{targets}"])


@given(small, st.data())
def test_recursion_is_exact_for_one_target_or_a_whole_leak(sizes: list[int], data: st.DataObject) -> None:
    classes = ClassSizes.of(sizes)
    leaked, targets = data.draw(st.integers(1, sum(sizes))), data.draw(st.integers(1, sum(sizes)))
    assert close(recursion(classes, leaked, 1), brute.leak_probability(sizes, leaked, 1))
    assert close(recursion(classes, sum(sizes), targets), brute.leak_probability(sizes, sum(sizes), targets))


def test_recursion_errs_to_both_sides() -> None:
    # equal classes: too high; unequal ones: also too low, the unsafe side
    assert close(recursion(ClassSizes.of({2: 3}), 4, 2), Fraction(28, 125))
    assert brute.leak_probability([2, 2, 2], 4, 2) == Fraction(16, 75) < Fraction(28, 125)
    assert close(recursion(ClassSizes.of([1, 3]), 3, 2), Fraction(29, 144))
    assert brute.leak_probability([1, 3], 3, 2) == Fraction(5, 24) > Fraction(29, 144)


def test_recursion_with_too_many_states_says_so() -> None:
    with pytest.raises(InputError, match="too many states"):
        recursion(ClassSizes.of(dict.fromkeys(range(1, 200), 3)), 1_000, 8)


# class sizes


def test_class_sizes_are_checked() -> None:
    for wrong in ({}, [], {0: 3}, [0], {-1: 2}, {2.5: 1}, [True]):
        with pytest.raises(InputError):
            ClassSizes.of(wrong)  # type: ignore[arg-type]
    assert ClassSizes.of({3: 2, 4: 0}).to_dict() == {3: 2}
    assert ClassSizes.of(np.array([4, 3, 3])).to_dict() == {3: 2, 4: 1}
    assert (ClassSizes.of({3: 2, 4: 1}).each() == [3, 3, 4]).all()
