"""Which k, which leak? The other way round, exact at the border."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from math import comb
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from shoal.exposure.leakage import (
    ClassSizes,
    equation_5,
    inverse_table,
    largest_leak,
    one_person,
    several_persons,
    smallest_k,
)
from shoal.exposure.leakage.curves import exact_limit, keeps_threshold, needed_k, over_k, over_leaks, over_targets


def exact(persons: int, leaked: int, size: int) -> Fraction:
    return Fraction(comb(persons, leaked) - comb(persons - size, leaked), comb(persons, leaked) * size)


def test_golden_smallest_k(data: Path) -> None:
    golden = json.loads((data / "golden" / "antoniou.json").read_text())["inverse_smallest_k"]
    assert len(golden) > 50
    for entry in golden:
        assert smallest_k(entry["D"], entry["L"], entry["threshold"]) == entry["k_exact"]


def test_thresholds_of_the_paper() -> None:
    rows = inverse_table(10_000, [1_000, 4_000, 10_000], [0.33, 0.09, 0.05])
    assert [list(row.smallest_k.values()) for row in rows] == [[1, 4, 17], [2, 12, 20], [4, 12, 20]]
    assert smallest_k(10_000, 10_000, 1 / 3) == 3
    assert smallest_k(10_000, 10_000, "cms") == 11
    assert [smallest_k(10_000, 10_000, name) for name in ("trusted", "ema", "public")] == [4, 12, 20]


@given(st.integers(1, 80), st.data())
def test_smallest_k_by_trying_all(persons: int, data: st.DataObject) -> None:
    leaked = data.draw(st.integers(0, persons))
    # borders on purpose: thresholds that some k meets exactly
    limit = data.draw(st.sampled_from([exact(persons, leaked, k) for k in range(1, persons + 1)]))
    threshold = float(limit)
    if not 0 < threshold <= 1 or exact_limit(threshold) != limit:
        threshold = data.draw(st.sampled_from([0.33, 0.2, 0.09, 0.05, 0.013]))
    meets = [k for k in range(1, persons + 1) if exact(persons, leaked, k) <= exact_limit(threshold)]
    assert smallest_k(persons, leaked, threshold) == (min(meets) if meets else None)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.sampled_from([0.5, 0.33, 0.2, 0.09]))
def test_largest_leak_by_trying_all(sizes: list[int], threshold: float) -> None:
    classes = ClassSizes.of(sizes)
    keeps = [
        leaked
        for leaked in range(classes.persons + 1)
        if sum(exact(classes.persons, leaked, size) * size for size in sizes) / classes.persons
        <= exact_limit(threshold)
    ]
    assert largest_leak(classes, threshold) == max(keeps)


def test_largest_leak_for_one_k() -> None:
    found = largest_leak(5, 0.09, persons=10_000)
    assert equation_5(10_000, found, 5) <= 0.09 < equation_5(10_000, found + 1, 5)
    assert largest_leak(12, 0.09, persons=10_000) == 10_000
    assert largest_leak(5, 0.2, persons=10_000) == 10_000  # 1/5 is met exactly


def test_several_targets() -> None:
    found = smallest_k(10_000, 4_000, 0.001, 3)
    assert found is not None
    probabilities = [several_persons(ClassSizes.equal(10_000, k), 4_000, 3).probability for k in (found - 1, found)]
    assert probabilities[1] <= 0.001 < probabilities[0]
    leak = largest_leak(ClassSizes.of({5: 2000}), 0.001, 3)
    assert several_persons(ClassSizes.of({5: 2000}), leak, 3).probability <= 0.001
    assert several_persons(ClassSizes.of({5: 2000}), leak + 1, 3).probability > 0.001
    assert smallest_k(100, 2, 0.5, 3) == 1  # more targets than leaked


def test_no_k_will_do() -> None:
    assert smallest_k(10, 10, 0.05) is None
    assert smallest_k(10, 0, 0.05) == 1


def test_large_populations_at_the_border() -> None:
    assert smallest_k(10**9, 10**9, 0.001) == 1000
    assert largest_leak(20, 0.05, persons=10**9) == 10**9
    assert smallest_k(10**9, 10**8, 0.05) == 17


def test_exact_fractions_decide_within_rounding() -> None:
    classes = ClassSizes.of({3: 1, 4: 1})
    limit = Fraction(sum(exact(7, 3, size) * size for size in (3, 4)), 7)
    assert keeps_threshold(classes, 3, 1, limit)
    assert not keeps_threshold(classes, 3, 1, limit - Fraction(1, 10**30))
    whole = Fraction(2 * 2, 7 * 6)
    assert keeps_threshold(classes, 7, 2, whole)
    assert not keeps_threshold(classes, 7, 2, whole - Fraction(1, 10**30))


# curves


def test_curves_are_the_law() -> None:
    assert over_leaks(5, 10_000, [10, 4_000]).y == [equation_5(10_000, leaked, 5) for leaked in (10, 4_000)]
    classes = ClassSizes.of({3: 2, 4: 1})
    assert over_leaks(classes, 10, [3, 6]).y == [one_person(classes, leaked) for leaked in (3, 6)]
    assert over_leaks(5, 100, [40], 2).y == [several_persons(ClassSizes.of({5: 20}), 40, 2).probability]
    assert over_targets(classes, 3).x == [1, 2, 3]
    assert needed_k(10, [10], 0.05).y == []
    assert needed_k(10_000, [10_000], "ema").name == "0.09 (ema)"


def test_more_k_buys_less_and_less() -> None:
    curve = over_k(10_000, 4_000, range(1, 41))
    steps = [before - after for before, after in pairwise(curve.y)]
    assert all(step > 0 for step in steps)
    assert all(later < earlier for earlier, later in pairwise(steps))
    assert curve.y[0] - curve.y[9] > 4 * (curve.y[9] - curve.y[-1])  # beyond k = 10 little is gained
