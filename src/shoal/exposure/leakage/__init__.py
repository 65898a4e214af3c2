"""How many people does a stolen part of a release expose?"""

from __future__ import annotations

from shoal.exposure.leakage.curves import recursion
from shoal.exposure.leakage.inverse import InverseRow, inverse_table, largest_leak, smallest_k
from shoal.exposure.leakage.measure import leak
from shoal.exposure.leakage.one_person import (
    RiskDistribution,
    equation_5,
    one_person,
    risk_distribution,
    spread_over_leaks,
)
from shoal.exposure.leakage.results import LeakRisk, LeakSeries
from shoal.exposure.leakage.several import ProbabilityEstimate, everything_leaked, several_persons
from shoal.exposure.leakage.simulate import Simulated, simulate
from shoal.exposure.leakage.sizes import ClassSizes

__all__ = [
    "ClassSizes",
    "InverseRow",
    "LeakRisk",
    "LeakSeries",
    "ProbabilityEstimate",
    "RiskDistribution",
    "Simulated",
    "equation_5",
    "everything_leaked",
    "inverse_table",
    "largest_leak",
    "leak",
    "one_person",
    "recursion",
    "risk_distribution",
    "several_persons",
    "simulate",
    "smallest_k",
    "spread_over_leaks",
]
