"""How many people does a stolen part of a release expose?"""

from __future__ import annotations

from shoal.exposure.leakage.curves import InverseRow, inverse_table, largest_leak, recursion, smallest_k
from shoal.exposure.leakage.law import (
    ClassSizes,
    ProbabilityEstimate,
    RiskDistribution,
    equation_5,
    everything_leaked,
    one_person,
    risk_distribution,
    several_persons,
    spread_over_leaks,
)
from shoal.exposure.leakage.measure import leak
from shoal.exposure.leakage.results import LeakRisk, LeakSeries
from shoal.exposure.leakage.simulate import Simulated, simulate

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
