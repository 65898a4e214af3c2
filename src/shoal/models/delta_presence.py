"""delta-presence: whether somebody is in the table at all stays uncertain."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from shoal.models.base import Evidence, Merging, Model
from shoal.storage import Array


class DeltaPresence(Model):
    """In every class the share of the population that is in the table lies between low and high (Nergiz et al.).

    So it is neither nearly certain nor nearly excluded that somebody who fits is in the table. The figure is the share.
    Judged are the cells that occur in the table. Cost: one look at the class sizes and the population's counts.

    >>> rows = Evidence(np.array([2, 3]), populations={"people.csv": np.array([4, 30])})
    >>> DeltaPresence(high=0.4, population="people.csv").judge(rows).worst
    {'share': 0.5, 'size': 2, 'failing_classes': 1}

    A share over 1 means that the population lacks people of the table: it is not the population, and that is said.
    """

    figure: ClassVar[str] = "share"
    at_most: ClassVar[bool] = True
    bound: ClassVar[str] = "high"

    model: Literal["delta-presence"] = "delta-presence"
    high: Annotated[float, Field(gt=0, le=1)]
    low: Annotated[float, Field(ge=0, lt=1)] = 0.0
    population: str

    @model_validator(mode="after")
    def _range(self) -> DeltaPresence:
        if self.low >= self.high:
            raise ValueError("delta-presence: low must be below high")
        return self

    @property
    def merging(self) -> Merging:
        """A low share can come from people whose finer cells the table does not touch: then parts are good again."""
        return "none" if self.low > 0 else "good"

    @property
    def needs_population(self) -> str | None:
        """The population table."""
        return self.population

    def measure(self, evidence: Evidence) -> Array:
        """The share of the people of a class's cell that are in the table."""
        people = evidence.people(self.population)
        with np.errstate(divide="ignore"):
            return np.asarray(evidence.own / people)

    def judged_on(self, evidence: Evidence) -> dict[str, Any]:
        """Whether the population has fewer people than the table anywhere."""
        lacking = int(np.count_nonzero(evidence.own > evidence.people(self.population)))
        if not lacking:
            return {}
        classes = "1 class" if lacking == 1 else f"{lacking:,} classes"
        return {"reason": f"the population has fewer people than the table in {classes}"}

    def good(self, figures: Array) -> Array:
        """Between low and high."""
        return np.asarray(super().good(figures) & (figures >= self.low - 1e-12))
