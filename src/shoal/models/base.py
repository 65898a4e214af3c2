"""What every privacy model is: parameters from a policy, a figure for each class, and a verdict on a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from shoal.errors import InputError
from shoal.results.verdict import Verdict
from shoal.table import Array

# How a model behaves when classes are joined, which is what coarser columns do. `any`: a good class stays good whatever
# joins it. `good`: good classes stay good together. `none`: neither; only looking tells.
Merging = Literal["any", "good", "none"]
# sums of shares differ in their last digits with the order of the classes: a verdict must not
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Whole:
    """A sensitive column in the whole table, suppressed rows included: `counts[code]` records.

    `tree` is the node of each code level by level, numbered densely, where there is a hierarchy.
    """

    counts: Array
    ordered: bool = True
    tree: tuple[Array, ...] = ()
    known: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def shares(self) -> Array:
        """The share of every code."""
        return np.asarray(self.counts / self.counts.sum())

    @cached_property
    def shares_by_level(self) -> list[Array]:
        """The share of every node of the tree, level by level."""
        return [np.bincount(nodes, self.shares) for nodes in self.tree]


@dataclass(frozen=True)
class Spread:
    """How a sensitive column is spread over the classes: `counts[i]` records of class `classes[i]` have the code
    `codes[i]`, sorted by class, then by code; every class occurs."""

    classes: Array
    codes: Array
    counts: Array
    whole: Whole

    @cached_property
    def starts(self) -> Array:
        """Where each class starts."""
        return np.flatnonzero(np.append(True, self.classes[1:] != self.classes[:-1]))

    @cached_property
    def values(self) -> Array:
        """How many values each class has."""
        return np.diff(self.starts, append=len(self.classes))

    @cached_property
    def records(self) -> Array:
        """The records of each class."""
        return self.total(self.counts)

    @cached_property
    def shares(self) -> Array:
        """The share of each code in its class."""
        return np.asarray(self.counts / np.repeat(self.records, self.values))

    @cached_property
    def whole_shares(self) -> Array:
        """The share of each code in the whole table."""
        return self.whole.shares[self.codes]

    def total(self, figures: Array) -> Array:
        """The sum per class of a figure per entry."""
        return np.add.reduceat(figures, self.starts)

    def largest(self, figures: Array) -> Array:
        """The largest per class of a figure per entry."""
        return np.maximum.reduceat(figures, self.starts)


@dataclass(frozen=True)
class Evidence:
    """What models look at: the members of each class, and what else they ask for.

    `sizes[i]` members in each of `classes[i]` classes (one, if not given); `records` of the whole table, suppressed
    ones included; sensitive columns spread over the classes; people of a population in each class's cell, by the name
    of the population; `keys` tell classes apart column by column, `stars` say where they are suppressed.
    """

    sizes: Array
    classes: Array | None = None
    records: int | None = None
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    populations: Mapping[str, Array] = field(default_factory=dict)
    keys: Mapping[str, Array] = field(default_factory=dict)
    stars: Mapping[str, Array] = field(default_factory=dict)

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


class Model(BaseModel, ABC):
    """A privacy model with its parameters; `model` is its name in a policy.

    A model file says three things: the figure that it measures of each class, the limit, and how it behaves when
    classes are joined (`merging`), on which the search for the best generalisation builds its bounds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    # what the figure is called in a verdict
    figure: ClassVar[str] = "size"
    # whether large figures are bad
    at_most: ClassVar[bool] = False
    joins: ClassVar[Merging] = "any"
    # whether it judges the table as a whole: then there is one figure, and suppressing a class is no cure
    whole: ClassVar[bool] = False

    model: str

    @abstractmethod
    def measure(self, evidence: Evidence) -> Array:
        """One figure for each class."""

    @property
    @abstractmethod
    def limit(self) -> float:
        """What the figure is held against."""

    @property
    def merging(self) -> Merging:
        """How it behaves when classes are joined."""
        return self.joins

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns whose spread over the classes is needed."""
        return ()

    @property
    def needs_population(self) -> str | None:
        """The population table that is needed."""
        return None

    @property
    def needs_keys(self) -> bool:
        """Whether it looks at what tells classes apart."""
        return False

    def good(self, figures: Array) -> Array:
        """Which classes keep the limit."""
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
            return self._verdict(False, {self.figure: None, "size": 0})
        figures = self.measure(evidence)
        bad = ~self.good(figures)
        worst = int(np.argmax(figures) if self.at_most else np.argmin(figures))
        found: dict[str, Any] = {self.figure: _plain(figures[worst])}
        if not self.whole:
            counts = np.ones(len(figures), np.int64) if evidence.classes is None else evidence.classes
            found |= {"size": int(evidence.sizes[worst]), "classes_below": int(counts[bad].sum())}
        return self._verdict(not bad.any(), found)

    def _verdict(self, holds: bool, worst: dict[str, Any]) -> Verdict:
        parameters = self.model_dump(exclude={"model"}, exclude_none=True)
        return Verdict(self.model, parameters, bool(holds), worst)


def _plain(figure: Any) -> int | float:
    number = float(figure)
    return int(number) if number.is_integer() else number


class AboutSensitive(Model):
    """A model about one sensitive column."""

    sensitive: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    def spread(self, evidence: Evidence) -> Spread:
        """The sensitive column over the classes."""
        return evidence.spread(self.sensitive, self.model)
