"""k-map: every class stands for at least k people of the population from which the table comes."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from shoal.errors import InputError
from shoal.models.base import Evidence, Model
from shoal.table import Array


class KMap(Model):
    """Every class stands for at least k people of the population (Sweeney). Cost: one look at the class sizes.

    With `population`, a table of the population with the same columns, people are counted. With `population_size`, the
    people behind a class of f records are estimated: 1 / E[1/F] for a sample of that share (`expected_risk`).

    >>> verdict = KMap(k=5, population_size=100).judge(Evidence(np.array([1, 9]), records=10))
    >>> verdict.holds, round(verdict.worst["people"], 3)
    (False, 3.909)
    """

    figure: ClassVar[str] = "people"

    model: Literal["k-map"] = "k-map"
    k: Annotated[int, Field(ge=2, le=2**53, strict=True)]
    population: str | None = None
    population_size: Annotated[int, Field(ge=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> KMap:
        if (self.population is None) == (self.population_size is None):
            raise ValueError("k-map needs either population (a table) or population_size (a number of people)")
        return self

    @property
    def limit(self) -> float:
        """k"""
        return self.k

    @property
    def needs_population(self) -> str | None:
        """The population table, if there is one."""
        return self.population

    def measure(self, evidence: Evidence) -> Array:
        """People behind each class, counted or estimated."""
        if self.population is not None:
            return evidence.people(self.population)
        assert self.population_size is not None
        records = int(evidence.own.sum()) if evidence.records is None else evidence.records
        if records > self.population_size:
            raise InputError(
                f"The table has {records:,} records, the population {self.population_size:,} people.",
                "A sample is no larger than its population.",
            )
        sizes, inverse = np.unique(evidence.own, return_inverse=True)
        return np.asarray(1 / expected_risk(sizes, records / self.population_size))[inverse]


def expected_risk(sizes: Array, share: float) -> Array:
    """E[1/F | f]: the expected re-identification risk of a record in a sample class of f, sampled with a share p.

    (p / f) 2F1(1, 1; f+1; 1-p), the mean over F - f negative binomial (Benedetti and Franconi); by its series.

    >>> expected_risk(np.array([1, 2]), 0.5).round(6).tolist()
    [0.693147, 0.306853]
    """
    total = np.ones(len(sizes))
    term = np.ones(len(sizes))
    for step in range(100_000):
        term = term * ((step + 1) * (1 - share) / (sizes + 1 + step))
        total += term
        if (term < 1e-16 * total).all():
            return np.asarray(share / sizes * total)
    raise InputError(
        f"The sample is too small a share of its population ({share:.1e}) to estimate the people behind a class.",
        "Give a population table instead of a population size.",
    )
