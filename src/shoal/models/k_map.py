"""k-map: every class stands for at least k people of the population from which the table comes."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from shoal.errors import InputError
from shoal.models.base import Evidence, Model
from shoal.population.individual import expected_risk
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
        return np.asarray(1 / expected_risk(sizes, sizes * (self.population_size / records)))[inverse]
