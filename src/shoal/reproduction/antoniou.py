"""Antoniou et al.: every figure with the exact law, the published recursion and a simulation with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from shoal import progress
from shoal.exposure.leakage import (
    ClassSizes,
    equation_5,
    inverse_table,
    one_person,
    recursion,
    risk_distribution,
    several_persons,
    simulate,
    spread_over_leaks,
)
from shoal.reproduction.antoniou_example import PERSONS, RUNS, example, positives
from shoal.reproduction.antoniou_exhibits import exhibits
from shoal.reproduction.results import Reproduction

TITLE = "Assessing the risk of re-identification arising from an attack on anonymised data"
SOURCE = "Antoniou et al., arXiv 2203.16921: Tables 1-4, Figs 1-5, the recursion of section 2.3"
MOST_SIMULATIONS = 10_000
SIZES = (1, 2, 3, 5, 10, 15, 20, 25, 50, 100)
LEAKS = tuple(range(1_000, PERSONS + 1, 1_000))
THRESHOLDS = (0.33, 0.09, 0.05)
# Fig 1 has classes of two and no numbers; these are ours
TREE_CLASSES, TREE_LEAK = {2: 5}, 5
# how many leaks are drawn for the simulated distribution of Fig 3
LEAKS_OF_FIG_3 = 20
# Fig 5: class sizes drawn around 5, none under it; the paper does not say how wide, 2 is our choice
MEAN_SIZE, SPREAD_OF_SIZES, DRAWS = 5, 2.0, 5


def antoniou(seed: int = 0) -> Reproduction:
    """All of the paper; the seed is that of the simulations and of the class sizes of Fig 5."""
    found = measure(seed)
    text = (
        f"{PERSONS:,} patients in classes of k, some of them leaked; {RUNS:,} simulated leaks per point, normal "
        "95% intervals. The figures of the paper are pictures without numbers; ours are drawn from what was computed, "
        "and the sentences of the text stand beside. The law is exact for any class sizes; the published recursion and "
        "the simulation stand beside it."
    )
    return Reproduction.of("antoniou", TITLE, SOURCE, text, found, exhibits(found))


def measure(seed: int) -> dict[str, Any]:
    """All figures as plain JSON."""
    seeds = count(seed * MOST_SIMULATIONS)  # every simulation draws anew
    return {
        "persons": PERSONS,
        "runs": RUNS,
        "seed": seed,
        "example": example(next(seeds)),
        "fig_1": recursion_tree(TREE_CLASSES, TREE_LEAK, 3),
        "fig_2": _one_patient(seeds),
        "fig_3a": [_distribution(k, 4_000, seeds) for k in (1, 5, 10, 20)],
        "fig_3b": [_distribution(5, leaked, seeds) for leaked in (1_000, 2_000, 3_000, 4_000)],
        "fig_4a": _by_targets(seeds),
        "fig_4b": _by_leak(seeds),
        "fig_5": _unequal(seed, seeds),
        "smallest_k": [
            {"leaked": row.leaked, **{str(limit): k for limit, k in row.smallest_k.items()}}
            for row in inverse_table(PERSONS, LEAKS, THRESHOLDS)
        ],
        "counterexample": _counterexample(),
        "one_less_or_more": _one_less_or_more(),
        "positives": [positives(k, 4_000, next(seeds)) for k in SIZES if PERSONS % k == 0],
    }


def _one_patient(seeds: Iterator[int]) -> list[dict[str, Any]]:
    """Fig 2: Eq 5 against the leak, by k."""
    found = []
    for number, k in enumerate(SIZES):
        progress.report("Fig 2", number, len(SIZES))
        classes = ClassSizes.equal(PERSONS, k)
        for leaked in sorted({*LEAKS, *range(500, PERSONS, 1_000)}):
            entry: dict[str, Any] = {"k": k, "leaked": leaked, "probability": equation_5(PERSONS, leaked, k)}
            if PERSONS % k:  # who is left over forms a smaller class, which Eq 5 does not know of
                entry["probability_of_classes"] = one_person(classes, leaked)
            if leaked in LEAKS:
                entry["simulated"] = simulate(classes, leaked, 1, RUNS, next(seeds)).to_dict()
            found.append(entry)
    return found


def _distribution(k: int, leaked: int, seeds: Iterator[int]) -> dict[str, Any]:
    """Fig 3: how the risk of one patient varies over leaks; its mean is Eq 5."""
    classes = ClassSizes.equal(PERSONS, k)
    found = risk_distribution(classes, leaked)
    pairs = zip(found.alike.tolist(), found.probability.tolist(), strict=True)
    return {
        "k": k,
        "leaked": leaked,
        "mean": found.mean,
        "standard_deviation": found.deviation,
        "standard_deviation_of_mean": spread_over_leaks(classes, leaked),
        "simulated_risk": simulated_risk(k, leaked, next(seeds)),
        "probability_of_risk": {"0" if alike == 0 else f"1/{alike}": probability for alike, probability in pairs},
        "simulated": simulate(classes, leaked, 1, RUNS, next(seeds)).to_dict(),
    }


def simulated_risk(k: int, leaked: int, seed: int) -> dict[str, float]:
    """The share of patients with each risk, over some leaks that were drawn: 0 if not leaked, else 1 / leaked of class.

    >>> simulated_risk(10_000, 10_000, seed=0)
    {'1/10000': 1.0}
    """
    chance = np.random.default_rng(seed)
    class_of = np.arange(PERSONS) // k
    counts: Counter[int] = Counter()
    for _ in range(LEAKS_OF_FIG_3):
        drawn = chance.permutation(PERSONS)[:leaked]
        alike = np.bincount(class_of[drawn], minlength=int(class_of[-1]) + 1)
        counts.update({size: size * number for size, number in enumerate(np.bincount(alike).tolist()) if size})
        counts[0] += PERSONS - leaked
    total = LEAKS_OF_FIG_3 * PERSONS
    return {"0" if size == 0 else f"1/{size}": count / total for size, count in sorted(counts.items()) if count}


def recursion_tree(sizes: dict[int, int], leaked: int, targets: int, change: int = -1) -> list[dict[str, Any]]:
    """The recursion as the tree of Fig 1: a node per patient found and size of the class that it is found in.

    Its value is how likely the next patient is in a class of that size and is found; `probability` is the product of
    the values down to it. A class that lost a patient is one less of its size (`change`; the print has one more).

    >>> [(node["node"], round(node["value"], 4)) for node in recursion_tree({2: 5}, 5, 2)]
    [('A_2', 0.3889), ('B_2,1', 0.0494), ('B_2,2', 0.321)]
    """
    nodes: list[dict[str, Any]] = []
    level: list[tuple[int | None, int, Counter[int], float]] = [(None, 0, Counter(sizes), 1.0)]
    for depth in range(targets):
        following: list[tuple[int | None, int, Counter[int], float]] = []
        for parent, before, state, probability in level:
            persons = sum(size * number for size, number in state.items())
            for size in sorted(size for size, number in state.items() if size and number):
                value = size * state[size] / persons * equation_5(persons, min(leaked - depth, persons), size)
                rest = Counter(state)
                rest[size] += change
                rest[size - 1] += 1
                name = f"{chr(ord('A') + depth)}_" + (f"{before}," if before else "") + str(size)
                shown = [rest[at] if at else 0 for at in range(max(sizes) + 1)]
                node = {"parent": parent, "depth": depth, "node": name, "value": value, "state_after": shown,
                        "probability": probability * value}  # fmt: skip
                following.append((len(nodes), size, rest, probability * value))
                nodes.append(node)
        level = following
    return nodes


def _laws(classes: ClassSizes, leaked: int, targets: int, seeds: Iterator[int]) -> dict[str, Any]:
    """All targets found: the law, the recursion with both weights, the simulation."""
    played = simulate(classes, leaked, targets, RUNS, next(seeds))
    return {
        "leaked": leaked,
        "targets": targets,
        "probability": several_persons(classes, leaked, targets).probability,
        "recursion": recursion(classes, leaked, targets),
        "recursion_class_weights": recursion(classes, leaked, targets, "classes"),
        "simulated": played.to_dict(),
        "simulated_as_published": simulate(classes, leaked, targets, RUNS, next(seeds), draw="leak").mean,
    }


def _by_targets(seeds: Iterator[int]) -> list[dict[str, Any]]:
    """Fig 4a: everything leaked, by the number of targets."""
    found = []
    for number, k in enumerate((5, 10, 15, 20)):
        progress.report("Fig 4a", number, 4)
        classes = ClassSizes.equal(PERSONS, k)
        found += [{"k": k, **_laws(classes, PERSONS, targets, seeds)} for targets in range(1, 21)]
    return found


def _by_leak(seeds: Iterator[int]) -> list[dict[str, Any]]:
    """Fig 4b: classes of 5, by the leak."""
    classes = ClassSizes.equal(PERSONS, 5)
    found = []
    for number, targets in enumerate((1, 2, 5, 10, 15)):
        progress.report("Fig 4b", number, 5)
        found += [{"k": 5, **_laws(classes, leaked, targets, seeds)} for leaked in LEAKS]
    return found


def _unequal(seed: int, seeds: Iterator[int]) -> dict[str, Any]:
    """Fig 5: classes of 5 against class sizes drawn with that minimum, everything leaked."""
    targets = list(range(1, 21))
    draws = [draw_sizes(seed + number) for number in range(DRAWS)]
    return {
        "equal": _over_targets(ClassSizes.equal(PERSONS, MEAN_SIZE), targets),
        "drawn": [
            {
                "class_sizes": {str(size): count for size, count in classes.to_dict().items()},
                "probability": _over_targets(classes, targets),
                "simulated": [simulate(classes, PERSONS, n, RUNS, next(seeds)).to_dict() for n in targets],
            }
            for classes in draws
        ],
    }


def _over_targets(classes: ClassSizes, targets: Sequence[int]) -> list[float]:
    return [several_persons(classes, PERSONS, number).probability for number in targets]


def draw_sizes(seed: int) -> ClassSizes:
    """Class sizes drawn from a normal distribution that is cut off below 5, until all persons have a class.

    Who is left at the end, fewer than 5, joins the last class.

    >>> draw_sizes(0).persons, draw_sizes(0).k
    (10000, 5)
    """
    chance = np.random.default_rng(seed)
    drawn = chance.normal(MEAN_SIZE, SPREAD_OF_SIZES, 4 * PERSONS // MEAN_SIZE)
    sizes = np.rint(drawn[drawn >= MEAN_SIZE]).astype(np.int64)
    last = int(np.searchsorted(np.cumsum(sizes), PERSONS, side="right"))
    kept = sizes[:last]
    rest = PERSONS - int(kept.sum())
    if rest >= MEAN_SIZE:
        kept = np.append(kept, rest)
    else:
        kept[-1] += rest
    return ClassSizes.of(kept)


def _one_less_or_more() -> dict[str, float]:
    """Two patients of five pairs, everything leaked: the law, and the recursion with both signs of its step 5."""
    classes = {2: 5}
    last = {
        name: sum(node["probability"] for node in recursion_tree(classes, 10, 2, change) if node["depth"] == 1)
        for name, change in (("minus", -1), ("plus", 1))
    }
    return {"law": several_persons(ClassSizes.of(classes), 10, 2).probability, **last}


def _counterexample() -> dict[str, Any]:
    """Where the recursion is too low: one class of 1 and one of 3, three leaked, two targets."""
    classes = ClassSizes.of({1: 1, 3: 1})
    return {
        "class_sizes": {"1": 1, "3": 1},
        "leaked": 3,
        "targets": 2,
        "probability": several_persons(classes, 3, 2).probability,
        "recursion": recursion(classes, 3, 2),
    }
