"""How often proposed roles are right on labelled tables, by group and role."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from labelled_tables import LabelledTable

from shoal.detection.profile import profile
from shoal.identifiers import DECIDED
from shoal.storage.formats.labels import ColumnLabels

QI, SENSITIVE, IDENTIFIER, OTHER = "quasi-identifier", "sensitive", "identifier", "other"


@dataclass
class Score:
    """Columns of a group: right ones, and by role held, called so, rightly called so.

    A column is right where its role is one of those that people would give. Of what is held only columns count for
    which there is one answer.
    """

    columns: int = 0
    right: int = 0
    held: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    called: dict[str, int] = field(default_factory=dict)
    rightly: dict[str, int] = field(default_factory=dict)
    wrong: list[tuple[str, str, str, str]] = field(default_factory=list)

    def recall(self, role: str) -> float:
        """Of the columns that have this role and no other, how many were called so."""
        return self.found.get(role, 0) / max(self.held.get(role, 0), 1)

    def precision(self, role: str) -> float:
        """Of the columns that were called so, for how many that is an answer."""
        return self.rightly.get(role, 0) / max(self.called.get(role, 0), 1)

    @property
    def share_right(self) -> float:
        """How many columns have a right role."""
        return self.right / max(self.columns, 1)

    def identifiers_called_other(self) -> list[tuple[str, str, str, str]]:
        """Identifiers that would leave."""
        return [entry for entry in self.wrong if entry[2] == IDENTIFIER and entry[3] == OTHER]


Proposer = Callable[[LabelledTable], dict[str, str]]


def decided(table: LabelledTable) -> dict[str, str]:
    """The roles that are proposed with confidence; the rest is left as `other`, but for what may be identifiers."""
    found = profile(table.frame(), codebook={name: ColumnLabels(label) for name, label in table.labels.items()})
    return {
        column.name: column.role if column.confidence >= DECIDED or column.role == IDENTIFIER else OTHER
        for column in found.columns
    }


def proposed(table: LabelledTable) -> dict[str, str]:
    """The roles as they are proposed, guesses about which a person is asked among them."""
    found = profile(table.frame(), codebook={name: ColumnLabels(label) for name, label in table.labels.items()})
    return {column.name: column.role for column in found.columns}


def score(tables: Iterable[LabelledTable], propose: Proposer = decided) -> Score:
    """All columns of some tables."""
    total = Score()
    for table in tables:
        answers = propose(table)
        for column in table.columns:
            _count(total, table.name, column.name, column.roles, answers[column.name])
    return total


def _count(total: Score, table: str, column: str, roles: tuple[str, ...], answer: str) -> None:
    total.columns += 1
    total.called[answer] = total.called.get(answer, 0) + 1
    if len(roles) == 1:
        total.held[roles[0]] = total.held.get(roles[0], 0) + 1
    if answer not in roles:
        total.wrong.append((table, column, roles[0], answer))
        return
    total.right += 1
    total.rightly[answer] = total.rightly.get(answer, 0) + 1
    if len(roles) == 1:
        total.found[answer] = total.found.get(answer, 0) + 1
