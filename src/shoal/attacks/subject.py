"""What is attacked: a released table, the people in it, and people who are not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.attacks.common import released_columns
from shoal.attacks.linking.link import Linkage
from shoal.policy import Policy
from shoal.policy.manifest import Manifest, names_as_released
from shoal.releases.open import Release
from shoal.releases.readable import Readable
from shoal.storage import Array, Table
from shoal.storage.classes import Coded, first_row_of_each_class

TARGETS = 2_000


@dataclass(frozen=True)
class Subject:
    """A release as an attack sees it.

    `original` holds the people in the release as they are, `control` people of the same kind who are not in it; both
    may be absent. `place[r]` is the released row of row r of the original (-1: not released), where it is known.
    `knows` are the columns of which the attacker knows the target's values. At most `targets` people are attacked.
    """

    released: Readable
    policy: Policy
    knows: tuple[str, ...] = ()
    original: Table | None = None
    control: Table | None = None
    place: Array | None = None
    targets: int = TARGETS
    seed: int = 0

    @property
    def table(self) -> Table:
        """The released table."""
        return self.released.table

    @property
    def source(self) -> Release | None:
        """The release as it lies on disk, if it does: manifest, plan, private record."""
        return self.released.source

    @property
    def manifest(self) -> Manifest | None:
        """The manifest, if there is one."""
        return None if self.source is None else self.source.manifest_or_none

    @property
    def released_quasi_identifiers(self) -> list[str]:
        """The policy's quasi-identifiers under the names that they were released as, those that are there."""
        names = self.policy.quasi_identifiers or ([] if self.manifest is None else self.manifest.quasi_identifiers)
        names = names_as_released(names, self.table.columns)
        pairs = self.released.pairs
        names = [end for name in names for end in pairs.get(name, (name,))]
        return [name for name in names if name in self.table.columns]

    @property
    def on(self) -> dict[str, str]:
        """The columns that the attacker knows and that the release tells something of."""
        there = released_columns(self.released)
        return {name: name for name in self.knows if name in there}

    @property
    def count(self) -> str | None:
        """The column that says for how many records a row stands, where the release has it."""
        return self.policy.count if self.policy.count in self.table.columns else None

    @cached_property
    def released_persons(self) -> Coded | None:
        """Whose row each released one is, where rows have persons and it is known."""
        name = self.policy.person
        if name is None:
            return None
        if self.place is not None and self.original is not None and name in self.original.columns:
            column, there = self.original[name], self.place >= 0
            codes = np.full(self.table.rows, column.cardinality, np.int64)
            codes[self.place[there]] = column.codes[there]
            if (codes < column.cardinality).all():
                return Coded(codes, column.cardinality)
        return Coded(self.table[name].codes, self.table[name].cardinality) if name in self.table.columns else None

    @property
    def persons_unknown(self) -> str | None:
        """Said where people of the original have several rows, and nobody knows which released ones are theirs."""
        persons = person_of_row(self.original, self.policy)
        if persons is None or len(np.unique(persons)) == len(persons) or self.released_persons is not None:
            return None
        return "which released rows are one person's is not known: the rate is too low, and the excess is not defined"

    def candidates(self, linked: Linkage) -> Array:
        """How many each target may be: persons where it is known whose row is whose, else records."""
        if self.released_persons is None or self.count is not None:
            return linked.records
        return linked.persons(self.released_persons.codes)

    @cached_property
    def sampled(self) -> tuple[Array, Array]:
        """Rows of the original and of the control that are attacked: one per person, and as many of each."""
        generator = np.random.default_rng(self.seed)
        ours = _one_each(self.original, self.policy, generator)
        theirs = _one_each(self.control, self.policy, generator)
        most = min(self.targets, *(len(rows) for rows in (ours, theirs) if len(rows))) if len(ours) else 0
        return tuple(np.sort(generator.choice(rows, min(most, len(rows)), False)) for rows in (ours, theirs))  # type: ignore[return-value]

    @cached_property
    def people(self) -> tuple[Table, Table | None]:
        """The people who are attacked: those in the data, and those who are not."""
        assert self.original is not None
        rows, others = self.sampled
        return self.original.take(rows), None if self.control is None else self.control.take(others)

    @cached_property
    def linked(self) -> tuple[Linkage, Linkage | None]:
        """Both against the release, by all columns that the attacker knows."""
        ours, theirs = self.people
        return self.linkage(ours), None if theirs is None else self.linkage(theirs)

    @cached_property
    def beliefs(self) -> dict[tuple[str, bool], Any]:
        """What the candidates of both say about a sensitive column, once an attack has asked: others ask for it too."""
        return {}

    def linkage(self, people: Table, on: Iterable[str] | None = None) -> Linkage:
        """People against the release, by some columns that the attacker knows."""
        columns = self.on if on is None else {name: self.on[name] for name in on}
        return Linkage.of(self.released, people, columns, rule=self.policy.null_rule, count=self.count)


def _one_each(table: Table | None, policy: Policy, generator: np.random.Generator) -> Array:
    """The rows of a table; where it has persons, one of each, drawn at random."""
    if table is None:
        return np.zeros(0, np.int64)
    rows = generator.permutation(table.rows)
    persons = person_of_row(table, policy)
    if persons is None:
        return rows
    _, dense = np.unique(persons[rows], return_inverse=True)
    return np.asarray(rows[first_row_of_each_class(dense, int(dense.max(initial=-1)) + 1)])


def person_of_row(table: Table | None, policy: Policy) -> Array | None:
    """Whose row each is, as a code; None where the policy or the table names no persons."""
    if table is None or policy.person is None or policy.person not in table.columns:
        return None
    return table[policy.person].codes
