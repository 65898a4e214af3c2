"""What `shoal.profile` found: the columns of a table, their proposed roles, and a policy to start from."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import ClassVar

import yaml

from shoal.kinds import DECIDED
from shoal.results import Cell, Files, Grid, Headline, Notes, Result, Section, Tone, left_out, where_known
from shoal.vocabulary import Role
from shoal.wording import counted, in_words

_TONES: dict[Role, Tone] = {
    "identifier": "bad",
    "quasi-identifier": "warning",
    "sensitive": "warning",
    "other": "plain",
}


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column; `single` counts the records whose value occurs only once. Role and kind are proposals.

    A confidence of 0.5 or more is a decision, less is a hint for a person to follow up.
    """

    name: str
    type: str
    nulls: int
    distinct: int
    single: int
    role: Role
    kind: str | None
    confidence: float
    reasons: list[str]


@dataclass(frozen=True, repr=False)
class Profile(Result):
    """A table: its records, its columns with their proposed roles, and the policy file that was written."""

    name: ClassVar[str] = "profile"

    records: int
    columns: list[ColumnProfile]
    notes: list[str]
    policy_file: str | None = where_known()
    # the lines of a proposed policy that follow its columns
    rules: tuple[str, ...] = left_out(default=())

    def with_role(self, role: Role) -> list[str]:
        """The columns for which a role is proposed with confidence.

        >>> from shoal.detection.profile import profile
        >>> profile({"email": ["a@b.org", "c@d.org"], "sex": ["f", "m"]}).with_role("identifier")
        ['email']
        """
        return [column.name for column in self.columns if column.role == role and column.confidence >= DECIDED]

    def summary(self) -> str:
        """How large the table is, and which columns point at people."""
        sentences = [f"{counted(self.records, 'record')}, {counted(len(self.columns), 'column')}."]
        for role, word in (("identifier", "identifier"), ("quasi-identifier", "quasi-identifier")):
            if names := self.with_role(role):  # type: ignore[arg-type]
                sentences.append(f"Proposed {word}{'s' if len(names) > 1 else ''}: {in_words(names)}.")
        return " ".join(sentences)

    def sections(self) -> list[Section]:
        """One line per column, then why."""
        rows = [
            (
                column.name,
                column.type,
                _role(column),
                column.kind or "",
                f"{column.nulls:,}" if column.nulls else "–",
                f"{column.distinct:,}",
            )
            for column in self.columns
        ]
        grid = Grid(("column", "type", "proposed role", "kind", "missing", "distinct"), rows, 4)
        shown: list[Section] = [Headline(self.summary()), grid, Notes(self._reasons())]
        return shown if self.policy_file is None else [*shown, Files({"policy": self.policy_file})]

    def _reasons(self) -> list[str]:
        reasons = [
            f"{column.name} ({column.confidence:.0%} sure): {' '.join(column.reasons)}"
            for column in self.columns
            if column.confidence
        ]
        if any(column.confidence < DECIDED for column in self.columns):
            reasons.append(
                "a role with a question mark is a guess, or no rule recognised it: decide by what others may know"
            )
        return reasons + self.notes

    def policy_text(self) -> str:
        """A policy file that is ready to run: every column with its proposed role and why, and what must hold."""
        lines = ["# Proposed by shoal. Check every line: a role is a decision that people take.", "columns:"]
        for column in self.columns:
            doubt = "" if column.confidence >= DECIDED else "not sure: "
            lines.append(f"  # {doubt}{' '.join(' '.join(column.reasons).split())}")
            lines.append(f"  {yaml_key(column.name)}: {column.role}")
        lines += ["null_rule: value", "threshold: 0.2", *self.rules, ""]
        return "\n".join(lines)


def _role(column: ColumnProfile) -> Cell:
    if column.confidence >= DECIDED:
        return Cell(column.role, _TONES[column.role])
    return Cell(f"{column.role}?", "dim")


def yaml_key(name: str) -> str:
    """A name as a key of YAML: as it stands if that reads back as the same text, else in quotes.

    >>> yaml_key("age"), yaml_key("no")
    ('age', '"no"')
    """
    if re.fullmatch(r"\w[\w-]*", name) and yaml.safe_load(name) == name:
        return name
    return json.dumps(name, ensure_ascii=not name.isprintable())
