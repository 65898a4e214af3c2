"""k-map: every class stands for at least k people of the population from which the table comes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from shoal.errors import InputError
from shoal.models.base import Evidence, Model, estimated_by, no_estimate
from shoal.population.individual import expected_risk, least_people
from shoal.storage import Array


class KMap(Model):
    """Every class stands for at least k people of the population (Sweeney). Cost: one look at the class sizes.

    With `population`, a table of the population with the same columns, people are counted. With `population_size` they
    are estimated: the figure is the safe end, the fewest people whom classes of f records stand for (`least_people`),
    and the verdict `holds by estimate`. With `margins`, marginal tables of the population, people are fitted to these:
    that has no safe end, so the verdict is `estimated` at best. With none of them the policy's weight, population_size
    or sampling gives the estimate.

    >>> verdict = KMap(k=5, population_size=20_000).judge(Evidence(np.array([3, 397]), records=400))
    >>> verdict.holds, verdict.worst["people"]
    (False, 3)
    """

    figure: ClassVar[str] = "people"
    bound: ClassVar[str] = "k"

    model: Literal["k-map"] = "k-map"
    k: Annotated[int, Field(ge=2, le=2**53, strict=True)]
    population: str | None = None
    population_size: Annotated[int, Field(ge=1, strict=True)] | None = None
    margins: Annotated[list[str], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> KMap:
        if sum(source is not None for source in (self.population, self.population_size, self.margins)) > 1:
            raise ValueError(
                "k-map takes one of population (a table), population_size (a number of people) and margins (tables)"
            )
        return self

    @property
    def is_estimated(self) -> bool:
        """Whether it says nothing of the population, so that the policy's sample is asked."""
        return self.population is None and self.population_size is None and self.margins is None

    @property
    def proves(self) -> bool:
        """Margins do not say who lives together in a cell, nor how far they are from it."""
        return self.margins is None

    @property
    def needs_files(self) -> tuple[str, ...]:
        """The population table, or the margins."""
        return (*super().needs_files, *(self.margins or ()))

    @property
    def margins_name(self) -> str:
        """The margins as one name of a population."""
        return "\n".join(self.margins or ())

    def lacks(self, evidence: Evidence) -> str | None:
        """Without a population of its own it needs an estimate."""
        return no_estimate(evidence) if self.is_estimated else None

    def judged_on(self, evidence: Evidence) -> dict[str, Any]:
        """What the people are estimated by."""
        if self.margins is not None:
            return {"estimated_by": "margins"}
        if self.population_size is not None:
            sizes = evidence.own
            risks = expected_risk(sizes, sizes * (self.population_size / self._records(evidence)))
            return {"estimated_by": "population_size", "estimate": float(1 / risks.max())}
        if not self.is_estimated or evidence.estimated.risks is None:
            return {}
        return {"estimate": float(1 / evidence.estimated.risks.max()), **estimated_by(evidence)}

    @property
    def needs_population(self) -> str | None:
        """The population table, if there is one."""
        return self.population

    def measure(self, evidence: Evidence) -> Array:
        """People behind each class, counted or estimated."""
        if self.population is not None:
            return evidence.people(self.population)
        if self.margins is not None:
            people = evidence.populations.get(self.margins_name)
            return evidence.own if people is None else np.maximum(people, evidence.own)
        if self.population_size is None:
            return evidence.least_people
        records = self._records(evidence)
        if records > self.population_size:
            raise InputError(
                f"The table has {records:,} records, the population {self.population_size:,} people.",
                "A sample is no larger than its population.",
            )
        return least_people(evidence.own, evidence.own * (self.population_size / records), self.population_size)

    @staticmethod
    def _records(evidence: Evidence) -> int:
        return int(evidence.own.sum()) if evidence.records is None else evidence.records
