"""How many people does a stolen part of a release expose?"""

from __future__ import annotations

from shoal.leakage.inverse import InverseRow, inverse_table, largest_leak, smallest_k
from shoal.leakage.measure import leak
from shoal.leakage.one_person import RiskDistribution, equation_5, one_person, risk_distribution, spread_over_leaks
from shoal.leakage.recursion import recursion
from shoal.leakage.results import LeakRisk, LeakSeries
from shoal.leakage.several import Estimate, everything_leaked, several_persons
from shoal.leakage.simulate import Simulated, simulate
from shoal.leakage.simulation import Simulation
from shoal.leakage.sizes import ClassSizes

__all__ = [
    "ClassSizes",
    "Estimate",
    "InverseRow",
    "LeakRisk",
    "LeakSeries",
    "RiskDistribution",
    "Simulated",
    "Simulation",
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
