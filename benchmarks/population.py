"""Estimators of population risk beside the truth: bias and coverage where the population is known; and what they cost.

`python benchmarks/population.py` prints the tables of docs/population.md; `… quick` draws fewer samples.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from common import QUASI_IDENTIFIERS, discharges, measure, row, run_job, title

PEOPLE = 200_000
SHARES = (0.01, 0.05, 0.1, 0.3)
Array = Any


def populations(rng: np.random.Generator) -> Iterator[tuple[str, list[Array]]]:
    """Populations as columns: some whose classes follow a law, and some made of columns that go together."""
    laws = {
        "even": np.ones(100_000),
        "log-normal, sd 1": rng.lognormal(0, 1, 100_000),
        "log-normal, sd 2": rng.lognormal(0, 2, 200_000),
        "Zipf, 0.8": np.arange(1.0, 100_001) ** -0.8,
        "Zipf, 1.2": np.arange(1.0, 400_001) ** -1.2,
        "Pitman's own, a = 0.6": pitman_weights(rng, 200.0, 0.6),
    }
    for name, weights in laws.items():
        classes = np.repeat(np.arange(len(weights)), rng.multinomial(PEOPLE, weights / weights.sum()))
        # two columns, so that models of columns have something to say: the class, split at random
        yield name, [classes // 317, classes % 317]
    for tied in (0.0, 0.3):
        hidden = rng.random(PEOPLE)
        columns = []
        for place, card in enumerate((2, 3, 5, 8, 12, 40)):
            free = (rng.beta(1, 2, PEOPLE) * card).astype(int)
            together = rng.random(PEOPLE) < tied * (0.5 + place % 3 / 2)
            columns.append(np.where(together, (hidden * card).astype(int), free))
        yield ("six columns, independent" if not tied else "six columns, tied"), columns


def pitman_weights(rng: np.random.Generator, t: float, a: float, sticks: int = 400_000) -> Array:
    """The chances of the classes of Pitman's model, by breaking a stick."""
    number = np.arange(1, sticks + 1)
    broken = rng.beta(1 - a, t + number * a)
    return broken * np.concatenate([[1.0], np.cumprod(1 - broken)[:-1]])


def discharge_table(without: str = "") -> list[Array]:
    """The whole discharge table on the nine quasi-identifiers, or all but one."""
    import shoal

    table = shoal.read(discharges(), [name for name in QUASI_IDENTIFIERS if name != without])
    return [column.codes.astype(np.int64) for column in table.columns.values()]


def estimates(columns: list[Array], drawn: Array) -> tuple[dict[str, Any], float, float]:
    """What all estimators say of a sample, the true share of uniques, and what DIS estimates."""
    from shoal.population.base import SampleClasses
    from shoal.population.choice import estimate_population
    from shoal.storage.classes import Coded, CountTable, class_of_each_row, pack

    coded = [Coded(values, int(values.max()) + 1) for values in columns]
    class_of, classes = class_of_each_row(pack(coded))
    people = np.bincount(class_of, minlength=classes)
    seen = np.bincount(class_of[drawn], minlength=classes)
    counted = CountTable.of({str(j): Coded(column.codes[drawn], column.cardinality) for j, column in enumerate(coded)})
    histogram = np.bincount(counted.counts)
    sizes = np.flatnonzero(histogram)
    sample = SampleClasses(sizes, histogram[sizes], float(len(class_of)), list(counted.tuples.values()), counted.counts)
    found = {entry.estimator: entry for entry in estimate_population(sample, "all").estimates}
    uniques = people[seen == 1]
    return found, float((people == 1).sum() / len(class_of)), float(len(uniques) / uniques.sum())


def table(name: str, columns: list[Array], shares: tuple[float, ...], repeat: int, rng: np.random.Generator) -> None:
    """One population: for each share the truth, and for each estimator mean estimate and how often it covers."""
    for share in shares:
        values, covers, truths, right = defaultdict(list), defaultdict(list), [], []
        for _ in range(repeat):
            found, truth, matched = estimates(columns, rng.random(len(columns[0])) < share)
            truths.append(truth)
            right.append(matched)
            for estimator, entry in found.items():
                if entry.status == "ok":
                    about = matched if entry.uniqueness is None else truth
                    values[estimator].append(entry.uniqueness or entry.match_correct)
                    covers[estimator].append(entry.low is not None and entry.low <= about <= entry.high)
        cells = [f"{100 * np.mean(truths):.2f}%"]
        for estimator in ("pitman", "zayatz", "snb", "log-linear", "dis"):
            if estimator == "dis":
                cells.append(f"{100 * np.mean(right):.2f}%")
            some = "" if len(values[estimator]) == repeat else f" ({len(values[estimator])} of {repeat})"
            if values[estimator]:
                mean, cover = 100 * np.mean(values[estimator]), 100 * np.mean(covers[estimator])
                cells.append(f"{mean:.2f}%, {cover:.0f}%{some}")
            else:
                cells.append("no estimate")
        print("| " + " | ".join([name, f"{share:.0%}", *cells]) + " |", flush=True)


def special_uniques() -> Callable[[], Any]:
    """100,000 records, 8 columns, all sizes."""
    from shoal.population.suda import special_uniques as search

    counted = _counted(100_000, 8)
    return lambda: search(list(counted.tuples.values()), counted.counts)


def special_uniques_wide() -> Callable[[], Any]:
    """100,000 records, 20 columns, sets of up to 4."""
    from shoal.population.suda import special_uniques as search

    counted = _counted(100_000, 20)
    return lambda: search(list(counted.tuples.values()), counted.counts, 4)


def individual() -> Callable[[], Any]:
    """Individual risk of 1,000,000 records with their own weights, and of 300,000 households."""
    from shoal.population.individual import expected_risk, household_risk
    from shoal.storage.classes import Coded

    rng = np.random.default_rng(0)
    classes = rng.zipf(1.3, 1_000_000) % 200_000
    weights = rng.uniform(1, 500, 1_000_000)
    household = Coded(rng.integers(0, 300_000, 1_000_000), 300_000)

    def job() -> float:
        sizes, people = np.bincount(classes), np.bincount(classes, weights)
        there = np.flatnonzero(sizes)
        risk = np.zeros(len(sizes))
        risk[there] = expected_risk(sizes[there], people[there])
        return float(household_risk(risk[classes], household).sum())

    return job


def histogram() -> Callable[[], Any]:
    """The four estimators of class sizes on 100,000 records, intervals included."""
    import scipy.special  # noqa: F401 (what is imported is not counted)

    from shoal.population.base import SampleClasses, estimate
    from shoal.population.choice import ESTIMATORS

    counted = _counted(100_000, 8)
    classes = np.bincount(counted.counts)
    sizes = np.flatnonzero(classes)
    sample = SampleClasses(sizes, classes[sizes], 2_000_000.0)
    return lambda: [estimate(ESTIMATORS[name](), sample) for name in ("pitman", "zayatz", "snb", "dis")]


def log_linear() -> Callable[[], Any]:
    """The log-linear model of 100,000 records of 8 columns, selection and interval included."""
    from shoal.population.base import SampleClasses, estimate
    from shoal.population.log_linear import LogLinear

    counted = _counted(100_000, 8)
    classes = np.bincount(counted.counts)
    sizes = np.flatnonzero(classes)
    sample = SampleClasses(sizes, classes[sizes], 2_000_000.0, list(counted.tuples.values()), counted.counts)
    return lambda: estimate(LogLinear(), sample)


def _counted(rows: int, width: int) -> Any:
    from shoal.storage.classes import Coded, CountTable

    rng = np.random.default_rng(0)
    hidden = rng.random(rows)
    columns = {}
    for place in range(width):
        card = (2, 3, 4, 5, 8, 10, 20, 40)[place % 8]
        free = (rng.beta(1, 2, rows) * card).astype(int)
        columns[str(place)] = Coded(np.where(rng.random(rows) < 0.25, (hidden * card).astype(int), free), card)
    return CountTable.of(columns)


JOBS: dict[str, Callable[[], Callable[[], Any]]] = {
    "special uniques, 100,000 x 8": special_uniques,
    "special uniques, 100,000 x 20, up to 4": special_uniques_wide,
    "individual and household risk, 1,000,000": individual,
    "four histogram estimators, 100,000 x 8": histogram,
    "log-linear, 100,000 x 8": log_linear,
}


def main(repeat: int = 8) -> None:
    """Costs, then the truth beside the estimates."""
    title("Population risk")
    for name in JOBS:
        row(name, measure(__file__, name, repeat=1))
    title("Population uniques: mean estimate, and how often the 95% interval covers the truth")
    print("| population | sample | uniques | pitman | zayatz | snb | log-linear | right matches | dis |")
    print("|---|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(7)
    for name, columns in populations(rng):
        table(name, columns, SHARES, repeat, rng)
    for name, without in (("discharges, nine columns", ""), ("discharges, without the hospital", "oshpd_id")):
        table(name, discharge_table(without), (0.01, 0.05, 0.1), 1, rng)


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else ""
    if given in JOBS:
        run_job(JOBS[given])
    else:
        main(2 if given == "quick" else 8)
