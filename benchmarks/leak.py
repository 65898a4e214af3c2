"""Leak risk: the exact law beside a plain Fourier sum over all persons, and the simulation beside a loop over leaks."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from common import Cost, measure, row, run_job, shoal_command, title

# Antoniou, Fig 5: sizes drawn around 5, none under it
FIG_5 = {5: 276, 6: 546, 7: 360, 8: 217, 9: 87, 10: 25, 11: 5}
MILLION = dict.fromkeys(range(1, 1000), 2) | {1000: 1}


def plain_law() -> Callable[[], Any]:
    """D = 10,000, n = 15, L = 4,000: every one of D + 1 frequencies, in plain numpy."""
    persons, leaked, targets = 10_000, 4_000, 15

    def multiply(one: Any, other: Any) -> Any:
        found = np.zeros_like(one)
        for m in range(targets + 1):
            for part in range(m + 1):
                found[m] += one[part] * other[m - part]
        return found

    def job() -> float:
        p = leaked / persons
        turn = np.exp(2j * np.pi * np.arange(persons + 1) / (persons + 1))
        product = np.zeros((targets + 1, persons + 1), complex)
        product[0] = 1
        for size, count in FIG_5.items():
            terms = [math.comb(size, h) * (p * turn) ** h * (1 - p) ** (size - h) for h in range(size + 1)]
            series = np.zeros_like(product)
            for m in range(min(size, targets) + 1):
                series[m] = sum(terms[m:]) / math.factorial(m)
            while count:
                if count % 2:
                    product = multiply(product, series)
                series = multiply(series, series)
                count //= 2
        back = turn**-leaked
        share = (product[targets] * back).sum().real / (product[0] * back).sum().real
        return share * math.factorial(targets) / math.perm(persons, targets)

    return job


def law() -> Callable[[], Any]:
    """The same by shoal."""
    from shoal.exposure.leakage import ClassSizes, several_persons

    classes = ClassSizes.of(FIG_5)
    return lambda: several_persons(classes, 4_000, 15)


def million() -> Callable[[], Any]:
    """A million persons, 1,000 distinct sizes, 20 targets, 10% leaked."""
    from shoal.exposure.leakage import ClassSizes, several_persons

    classes = ClassSizes.of(MILLION)
    return lambda: several_persons(classes, 100_000, 20)


def plain_simulation() -> Callable[[], Any]:
    """10,000 leaks of 4,000 of 10,000 persons in classes of 5: a permutation and a count per leak."""
    owner = np.repeat(np.arange(2000), 5)
    chance = np.random.default_rng(0)

    def job() -> float:
        return float(np.mean([len(np.unique(owner[chance.permutation(10_000)[:4000]])) for _ in range(10_000)]))

    return job


def simulation() -> Callable[[], Any]:
    """The same by shoal."""
    from shoal.exposure.leakage import ClassSizes, simulate

    classes = ClassSizes.of({5: 2000})
    return lambda: simulate(classes, 4_000, 1, 10_000, 0)


def simulation_of_five() -> Callable[[], Any]:
    """10,000 leaks, five targets each, by shoal."""
    from shoal.exposure.leakage import ClassSizes, simulate

    classes = ClassSizes.of({5: 2000})
    return lambda: simulate(classes, 4_000, 5, 10_000, 0)


JOBS = {job.__name__: job for job in (plain_law, law, million, plain_simulation, simulation, simulation_of_five)}


def main() -> None:
    """Print them."""
    title("Several persons, exact")
    baseline = measure(__file__, "plain_law")
    row("plain sum: D=10,000, n=15, L=4,000", baseline, baseline)
    row("shoal: the same", measure(__file__, "law"), baseline, _under(1, measure(__file__, "law", 1)))
    large = measure(__file__, "million")
    row("shoal: D=1,000,000, 1,000 sizes, n=20", large, None, _under(20, large))
    title("10,000 leaks simulated, D=10,000, L=4,000, k=5")
    loop = measure(__file__, "plain_simulation", repeat=1)
    row("a permutation per leak", loop, loop)
    found = measure(__file__, "simulation")
    row("shoal, one person", found, loop, _under(5, found))
    row("shoal, five targets", measure(__file__, "simulation_of_five"), loop)
    title("Whole command")
    asked = ["--persons", "10000", "--leaked", "1000..10000", "--threshold", "0.09", "--json"]
    row("shoal leak, the smallest k for ten leaks", shoal_command("leak", *asked))


def _under(limit: float, cost: Cost) -> str:
    return f"{'under' if cost.cpu < limit else 'OVER'} the {limit} CPU s that were promised"


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
