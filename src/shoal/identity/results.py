"""What `shoal.risk` found: plain numbers, the same names as in JSON and in the docs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.models import Verdict
from shoal.vocabulary import NullRule
from shoal.wording import in_words, percent


@dataclass(frozen=True, slots=True)
class AttackerRisk:
    """The risk of one record under an attacker: the highest, the average, and the share over the threshold."""

    highest: float
    average: float
    share_over_threshold: float
    threshold: float


@dataclass(frozen=True, slots=True)
class SizeCount:
    """How many classes have a size, and how many records are in them."""

    size: int
    classes: int
    records: int


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What an attacker singles out who knows some groups of columns."""

    groups: list[str]
    uniques: int
    uniqueness: float
    undecided: int


@dataclass(frozen=True, slots=True)
class Reading:
    """Uniques and smallest class under another reading of missing or generalised values."""

    k: int
    uniques: int


@dataclass(frozen=True, slots=True)
class Population:
    """What was found of the population table that a journalist would use."""

    records: int
    classes_not_found: int


@dataclass(frozen=True)
class IdentityRisk:
    """Identity risk of a table on its quasi-identifiers.

    `uniques` are records (persons, where a person column is given) alone in their class; `uniqueness` is their
    share; `k` is the smallest class. `records` counts all records; those in `suppressed_rows` are `*` in every
    quasi-identifier, stand in no class and are left out of the attackers' averages.
    """

    records: int
    removed_rows: int
    persons: int | None
    classes: int
    uniques: int
    uniqueness: float
    k: int
    null_rule: NullRule
    quasi_identifiers: list[str]
    undecided: int
    suppressed_rows: int
    prosecutor: AttackerRisk
    journalist: AttackerRisk | None
    marketer: AttackerRisk
    histogram: list[SizeCount]
    knowledge: list[Knowledge] | None
    models: list[Verdict]
    generalized: dict[str, tuple[str, ...]]
    readings: dict[str, Reading]
    population: Population | None
    threshold_name: str | None
    missing: dict[str, int]
    notes: list[str]

    @property
    def over_threshold(self) -> bool:
        """Whether any record is over the threshold, for the attacker that fits: the journalist if there is one."""
        attacker = self.journalist or self.prosecutor
        return attacker.share_over_threshold > 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON: stable keys; `knowledge` only where groups were given."""
        found = asdict(self)
        found["models"] = [verdict.to_dict() for verdict in self.models]
        if self.knowledge is None:
            del found["knowledge"]
        return found

    def summary(self) -> str:
        """One sentence of plain words."""
        who = "records" if self.persons is None else "persons"
        total = self.records if self.persons is None else self.persons
        columns = in_words(self.quasi_identifiers)
        if self.classes == 0:
            return f"All {total:,} {who} are suppressed in every one of {columns}: there is no class to measure."
        if self.uniques == 0:
            alone = f"None of the {total:,} {who} is the only one with its combination of {columns}"
            return f"{alone}; the smallest class has {self.k:,}."
        if self.uniques == 1:
            return f"One of the {total:,} {who} is the only one with its combination of {columns}."
        share = f"{percent(self.uniqueness)} of the {total:,} {who} ({self.uniques:,})"
        return f"{share} are the only one with their combination of {columns}."
