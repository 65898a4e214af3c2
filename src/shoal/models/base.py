"""What every privacy model is: parameters from a policy, a figure for each class, and a verdict on a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from shoal.errors import InputError
from shoal.models.spread import Spread
from shoal.population.individual import (
    PROPORTIONAL,
    SampledRisk,
    alone_is_certain,
    expected_risk,
    least_people,
    sampled_risk,
    weighted_risk,
)
from shoal.results.sections import Verdict
from shoal.storage import Array
from shoal.storage.classes import Coded
from shoal.vocabulary import RiskOver

if TYPE_CHECKING:
    from shoal.models.item_sets import ItemSets

# How a model behaves when classes are joined, which is what coarser columns do. `any`: a good class stays good whatever
# joins it. `good`: good classes stay good together. `none`: neither; only looking tells.
Merging = Literal["any", "good", "none"]
# sums of shares differ in their last digits with the order of the classes: a verdict must not
TOLERANCE = 1e-12


class Histories(NamedTuple):
    """The records of persons, one entry each: the class of the person, the person, and the codes of what models ask
    for, where a suppressed cell has a code of its own."""

    class_of_record: Array
    person: Coded
    keys: Mapping[str, Coded]


@dataclass(frozen=True)
class PeopleEstimate:
    """The people of the population that each class is estimated to stand for, and what the estimate is made `by`; where
    there is none, the `reason`. `population`: all people, also those of classes that are not at hand."""

    people: Array | None
    by: str = ""
    population: float = 0.0
    reason: str = ""
    # what else a verdict should say of it
    note: str = ""
    # as how many independent draws the records of each class count at least, where households are drawn whole
    draws: Array | None = None


@dataclass(frozen=True)
class Evidence:
    """What models look at: the members of each class, and what else they ask for.

    `sizes[i]` members in each of `classes[i]` classes (one, if not given); `records` of the whole table, suppressed
    ones included; sensitive columns spread over the classes; people of a population in each class's cell, by the name
    of the population; `keys` tell classes apart column by column, `stars` say where they are suppressed. Where members
    are persons, a class has no single key: then `histories` holds the records of its persons. Where a missing value
    matches anything, a size is the number of records that match, and `members` the records of the class itself: then
    classes stand one by one.
    Where the table is a sample, `estimate` has the people behind each class; `risk_over` says whether limits on risk
    are about the sample or about the population.
    """

    sizes: Array
    classes: Array | None = None
    records: int | None = None
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    populations: Mapping[str, Array] = field(default_factory=dict)
    keys: Mapping[str, Array] = field(default_factory=dict)
    stars: Mapping[str, Array] = field(default_factory=dict)
    histories: Histories | None = None
    members: Array | None = None
    estimate: PeopleEstimate | None = None
    risk_over: RiskOver = "sample"
    # what somebody may know of each person beside the class, looked for within it: items, those of them that are not
    # sensitive, and events; persons in no class are a last group of their own
    items: ItemSets | None = None
    public_items: ItemSets | None = None
    events: ItemSets | None = None

    # whether these are only some classes of a table, as a search looks at them
    partial: bool = False

    @cached_property
    def estimated(self) -> SampledRisk:
        """The risk of each class estimated for the population: by weights E[1/F | f], else as `sampled_risk` says."""
        people = None if self.estimate is None else self.estimate.people
        if self.estimate is None or people is None:
            return SampledRisk(None, reason="there is no estimate")
        if self.partial:
            certain = alone_is_certain(self.sizes, people)
            risks = expected_risk(self.sizes, people) if self.estimate.by == "weights" else certain
            return SampledRisk(risks, PROPORTIONAL, upper=certain)
        classes = self.own / self.sizes if self.classes is None else self.classes
        if self.estimate.by == "weights":
            return weighted_risk(self.sizes, classes, people)
        return sampled_risk(self.sizes, classes, float(self.sizes.sum() / people.sum()))

    @cached_property
    def least_people(self) -> Array:
        """The fewest people whom each class stands for, the safe end of the estimate; where there is none, itself."""
        if self.estimate is None or self.estimate.people is None:
            return self.sizes
        people, draws = self.estimate.people, self.estimate.draws
        if draws is None:
            return least_people(self.sizes, people, self.estimate.population)
        # groups of households, of which at least so many have been drawn, with one person each at the least
        whole = np.maximum(np.floor(draws + 1e-9), 1.0)
        return np.maximum(least_people(whole, people * whole / self.sizes, self.estimate.population), self.sizes)

    def __post_init__(self) -> None:
        if self.classes is not None and self.members is not None:
            raise ValueError("members of several classes together do not say how many each of them has")

    @property
    def own(self) -> Array:
        """The members of each class itself."""
        return self.sizes if self.members is None else self.members

    def spread(self, name: str, model: str) -> Spread:
        """A sensitive column over the classes."""
        if name not in self.spreads:
            raise InputError(f"{model} needs the column '{name}', which is not there.", "Name another, or keep it.")
        return self.spreads[name]

    def people(self, population: str) -> Array:
        """People of a population table in the cell of each class."""
        if population not in self.populations:
            raise InputError(
                f"The population table {population} was not counted.", "Judge through verify or anonymize."
            )
        return self.populations[population]


def no_estimate(evidence: Evidence) -> str | None:
    """Why there is no estimate of the people behind each class; None where there is one.

    >>> no_estimate(Evidence(np.array([1])))
    'the policy names neither weight, population_size nor sampling'
    """
    if evidence.estimate is None:
        return "the policy names neither weight, population_size nor sampling"
    return evidence.estimate.reason if evidence.estimate.people is None else evidence.estimated.reason


def estimated_by(evidence: Evidence) -> dict[str, Any]:
    """What a verdict names of an estimate: what it is made by, and without weights the estimator that decided."""
    if evidence.estimate is None:
        return {}
    named = {"estimated_by": evidence.estimate.by}
    named |= {"note": evidence.estimate.note} if evidence.estimate.note else {}
    return named if evidence.estimate.by == "weights" else {**named, "estimator": evidence.estimated.estimator}


class Model(BaseModel, ABC):
    """A privacy model with its parameters; `model` is its name in a policy.

    A model file says three things: the figure that it measures of each class, the limit, and how it behaves when
    classes are joined (`merging`), on which the search for the best generalisation builds its bounds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    # what the figure is called in a verdict
    figure: ClassVar[str] = "size"
    # the parameter that the figure is held against, whether large figures are bad, and whether the limit itself is
    bound: ClassVar[str] = ""
    at_most: ClassVar[bool] = False
    strictly: ClassVar[bool] = False
    joins: ClassVar[Merging] = "any"
    # whether it judges the table as a whole: then there is one figure, and suppressing a class is no cure
    whole: ClassVar[bool] = False
    # whether it is about sets of items or events, which are changed in a step of their own
    of_sets: ClassVar[bool] = False

    model: str

    @property
    def proves(self) -> bool:
        """Whether its figure, or the safe end of its estimate, shows that it holds; else it is `estimated` at best."""
        return True

    @abstractmethod
    def measure(self, evidence: Evidence) -> Array:
        """One figure for each class."""

    @property
    def limit(self) -> float:
        """What the figure is held against: the parameter that `bound` names."""
        limit: float = getattr(self, self.bound)
        return limit

    @property
    def merging(self) -> Merging:
        """How it behaves when classes are joined."""
        return self.joins

    def merging_with(self, evidence: Evidence) -> Merging:
        """How it behaves on this evidence: missing values and persons may leave less of `merging`."""
        return self.merging

    @property
    def least_members(self) -> int | None:
        """The k that it implies: a class of fewer members never holds. None where it implies none above 1."""
        return None

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns whose spread over the classes is needed."""
        return ()

    @property
    def needs_population(self) -> str | None:
        """The population table that is needed."""
        return None

    @property
    def needs_files(self) -> tuple[str, ...]:
        """The files that it reads."""
        return () if self.needs_population is None else (self.needs_population,)

    def lacks(self, evidence: Evidence) -> str | None:
        """Why it cannot be judged on this evidence: then it does not hold."""
        return None

    def parameters(self) -> dict[str, Any]:
        """The parameters as the policy has them."""
        return self.model_dump(exclude={"model"}, exclude_none=True)

    def parameters_on(self, evidence: Evidence) -> dict[str, Any]:
        """The parameters that a verdict names: what the policy leaves open as it was decided on this evidence."""
        return self.parameters()

    def judged_on(self, evidence: Evidence) -> dict[str, Any]:
        """What the verdict names besides its worst class: what was estimated, and by what."""
        return {}

    @property
    def needs_keys(self) -> bool:
        """Whether it looks at what tells classes apart."""
        return False

    def good(self, figures: Array) -> Array:
        """Which classes keep the limit."""
        if self.strictly:
            return np.asarray(figures < self.limit if self.at_most else figures > self.limit)
        slack = TOLERANCE * max(1.0, abs(self.limit))
        return np.asarray(figures <= self.limit + slack if self.at_most else figures >= self.limit - slack)

    def must_lose(self, figures: Array, evidence: Evidence) -> Array | None:
        """The least share of each class that no finer table can keep; none, if the model gives no such bound.

        For a figure that is convex in the distribution of a class: split it, and the parts' figures average to at least
        its own. So if parts up to the limit stay and parts up to the greatest possible figure go, the share s that goes
        has (1 - s) limit + s greatest >= figure.
        """
        greatest = self.greatest(evidence)
        if greatest is None or greatest <= self.limit:
            return None
        return np.asarray(np.clip((figures - self.limit) / (greatest - self.limit) - TOLERANCE, 0.0, 1.0))

    def greatest(self, evidence: Evidence) -> float | None:
        """The greatest figure that any class could have, for a figure that is convex; otherwise none."""
        return None

    def judge(self, evidence: Evidence) -> Verdict:
        """The verdict on the classes of a table, and its worst class."""
        if not len(evidence.sizes):
            # without a class nothing is shown, and what is not shown does not hold
            return self._verdict(False, {self.figure: None, "size": 0}, self.parameters())
        named = self.parameters_on(evidence)
        if (reason := self.lacks(evidence)) is not None:
            return self._verdict(False, {self.figure: None, "status": "no estimate", "reason": reason}, named)
        figures = self.measure(evidence)
        if np.isnan(figures).any():
            reason = "a figure of a class is not a number"
            return self._verdict(False, {self.figure: None, "status": "no estimate", "reason": reason}, named)
        bad = ~self.good(figures)
        worst = int(np.argmax(figures) if self.at_most else np.argmin(figures))
        if not self.whole:  # of classes that are equally bad the smallest: the first depends on the order of columns
            alike = np.flatnonzero(figures == figures[worst])
            worst = int(alike[np.argmin(evidence.sizes[alike])])
        found: dict[str, Any] = {self.figure: _plain(figures[worst])}
        if not self.whole:
            counts = np.ones(len(figures), np.int64) if evidence.classes is None else evidence.classes
            found |= {"size": int(evidence.sizes[worst]), "failing_classes": int(counts[bad].sum())}
        found |= (by := self.judged_on(evidence))
        if not bad.any() and "estimated_by" in by:  # the figure is the safe end of an estimate, if that has one
            found["status"] = "holds by estimate" if self.proves else "estimated"
        return self._verdict(self.proves and not bad.any(), found, named)

    def _verdict(self, holds: bool, worst: dict[str, Any], parameters: dict[str, Any]) -> Verdict:
        return Verdict(self.model, parameters, bool(holds), worst)


def _plain(figure: Any) -> int | float:
    number = float(figure)
    return int(number) if number.is_integer() else number


class AboutSensitive(Model):
    """A model about one sensitive column: a figure for each cell, and the worst of its cells for each class.

    Without persons a class is one cell. With persons its cells are the class as a whole and each combination of
    quasi-identifiers in it, and what is counted in a cell is persons.
    """

    # whether `merging` is true of classes of persons too, where nothing is missing
    joins_persons: ClassVar[bool] = False

    sensitive: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    def spread(self, evidence: Evidence) -> Spread:
        """The sensitive column over the classes."""
        return evidence.spread(self.sensitive, self.model)

    @abstractmethod
    def measure_cells(self, spread: Spread) -> Array:
        """One figure for each cell."""

    def measure(self, evidence: Evidence) -> Array:
        """The worst figure of the cells of each class."""
        spread = self.spread(evidence)
        return spread.worst(self.measure_cells(spread), self.at_most)

    def merging_with(self, evidence: Evidence) -> Merging:
        """With persons some models promise less.

        Combinations that become one merge what a person has at each: shares are not averaged then. A model stays as it
        is where its figure for the class as a whole bounds that of every combination, and nothing is missing.
        """
        spread = self.spread(evidence)
        if spread.first_cell is None:
            return self.merging
        return self.merging if self.joins_persons and not spread.whole.unknown_members else "none"

    def must_lose(self, figures: Array, evidence: Evidence) -> Array | None:
        """The bound is about members with a known value: of all members it is that much less."""
        share = self.must_lose_known(figures, evidence)
        return None if share is None else np.asarray(share * self.spread(evidence).known_share)

    def must_lose_known(self, figures: Array, evidence: Evidence) -> Array | None:
        """The least share of each class's known values that no finer table can keep."""
        return super().must_lose(figures, evidence)
