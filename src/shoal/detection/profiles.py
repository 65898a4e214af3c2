"""What `shoal.profile` found: the columns of a table, their proposed roles, and a policy to start from."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.identifiers import DECIDED
from shoal.policy.sections import TreatSection
from shoal.results import Cell, Files, Grid, Headline, Notes, Result, Section, Tone, left_out, where_known
from shoal.storage.column_type import ColumnType
from shoal.vocabulary import Role, Unit
from shoal.wording import counted, in_words

_TONES: dict[Role, Tone] = {
    "identifier": "bad",
    "quasi-identifier": "warning",
    "sensitive": "warning",
    "other": "plain",
    "text": "warning",
}


@dataclass(frozen=True)
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
    # what it seems to be (docs/types.md); without a word, the reason is what its owner has to say
    proposed_type: str | None = None
    type_reason: str | None = None
    # of free text: in how many records each kind of identifier was found inside, and how many were looked at
    kinds_inside: dict[str, int] | None = where_known()
    records_searched: int | None = where_known()
    # with the values that it names, which only a policy file shows
    declaration: ColumnType | None = left_out(default=None)
    weights: bool = left_out(default=False)
    # why a policy cannot name its weights as they are
    weights_trouble: str | None = left_out(default=None)
    # whose rows are whose by it, and how its values leave in the policy that is proposed
    unit: Unit | None = where_known()
    treat: TreatSection | None = left_out(default=None)
    as_ranges: bool = left_out(default=False)
    # the quasi-identifiers that whoever knows its value knows
    tells: tuple[str, ...] = left_out(default=())

    @property
    def in_policy(self) -> str | dict[str, Any]:
        """What a policy says of the column: its role, and how it is treated."""
        if self.unit == "person":
            return {"role": "other", "treat": {"method": "pseudonym"}}
        if self.as_ranges or self.tells:
            return "quasi-identifier"
        if self.treat is None:
            return self.role
        return {"role": self.role, "treat": self.treat.model_dump(exclude_none=True)}


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
        telling = self.telling()
        rows = [
            (
                column.name,
                _role(column),
                _what(column, column in telling),
                f"{column.nulls:,}" if column.nulls else "–",
                f"{column.distinct:,}",
            )
            for column in self.columns
        ]
        grid = Grid(("column", "proposed role", "what it is", "missing", "distinct"), rows, 3)
        shown: list[Section] = [Headline(self.summary()), grid, Notes(self._reasons())]
        return shown if self.policy_file is None else [*shown, Files({"policy": self.policy_file})]

    def _reasons(self) -> list[str]:
        reasons = [
            f"{column.name} ({column.confidence:.0%} sure): {' '.join(column.reasons)}"
            for column in self.columns
            if column.confidence
        ]
        reasons += [f"{column.name} as {column.proposed_type}: {column.type_reason}" for column in self.telling()]
        reasons += [f"{column.name}: {column.type_reason}" for column in self.columns if _asks(column)]
        scaled = [column for column in self.columns if column.weights_trouble]
        reasons += [
            f"{column.name}: sampling weights that cannot be used: {column.weights_trouble}" for column in scaled
        ]
        weights = [column.name for column in self.columns if column.weights and not column.weights_trouble]
        reasons += (
            [f"{in_words(weights)}: sampling weights; name them in the policy (weight: {weights[0]})"]
            if weights
            else []
        )
        if any(column.confidence < DECIDED for column in self.columns):
            reasons.append(
                "a role with a question mark is a guess, or no rule recognised it: decide by what others may know"
            )
        return reasons + self.notes

    def telling(self) -> list[ColumnProfile]:
        """The columns whose proposed type is not what they are read as anyway."""
        usual = {"integer": "number", "number": "number", "date": "date", "datetime": "date", "text": "nominal"}
        return [
            column
            for column in self.columns
            if column.declaration is not None
            and column.role != "identifier"
            and (usual.get(column.type) != column.proposed_type or column.declaration.map or column.declaration.missing)
        ]

    def policy_text(self) -> str:
        """A policy file that is ready to run: every column with its proposed role and why, and what must hold."""
        lines = ["# Proposed by shoal. Check every line: a role is a decision that people take.", "columns:"]
        for column in self.columns:
            doubt = "" if column.confidence >= DECIDED else "not sure: "
            if column.unit == "person":
                lines.append("  # It numbers persons with several rows (see `person` below): it leaves as a pseudonym.")
            else:
                lines.append(f"  # {doubt}{' '.join(' '.join(column.reasons).split())}")
            if column.treat is not None:
                lines.append(f"  # Many amounts are one record's alone: they leave as {column.treat.in_words}.")
            if column.as_ranges:
                lines.append("  # Many amounts are one record's alone: they leave as ranges.")
            if column.tells:
                lines.append(f"  # Whoever knows it knows {in_words(column.tells)}: it is recoded as well.")
            lines.append(f"  {yaml_key(column.name)}: {_one_line(column.in_policy)}")
        lines += [*self._types(), *self._weight(), "null_rule: value", "threshold: 0.2", *self.rules, ""]
        return "\n".join(lines)

    def _types(self) -> list[str]:
        """What columns are, with reasons; a question stands there as a comment."""
        lines = []
        for column in self.columns:
            if (
                column.role == "identifier"
                or column.unit == "person"
                or (column.declaration is None and not column.type_reason)
            ):
                continue
            if column.type_reason:
                lines.append(f"  # {' '.join(column.type_reason.split())}")
            if column.declaration is not None:
                lines.append(f"  {yaml_key(column.name)}: {_in_yaml(column.declaration)}")
        return ["types:", *lines] if any(not line.startswith("  #") for line in lines) else []

    def _weight(self) -> list[str]:
        """The column of sampling weights; of several its owner has to name one."""
        found = [column for column in self.columns if column.weights and not column.weights_trouble]
        scaled = [
            line
            for column in self.columns
            if column.weights_trouble
            for line in (
                f"# {yaml_key(column.name)} holds sampling weights. {column.weights_trouble}",
                "# Once it holds weights that sum to the size of the population, take out the # here:",
                f"# weight: {yaml_key(column.name)}",
            )
        ]
        if len(found) == 1:
            return [*scaled, f"# {' '.join(found[0].reasons)}", f"weight: {yaml_key(found[0].name)}"]
        names = " or ".join(yaml_key(column.name) for column in found)
        several = [f"# Several columns look like sampling weights. Name one of them: weight: {names}"]
        return [*scaled, *several] if found else scaled


def _what(column: ColumnProfile, telling: bool) -> str:
    """The kind and the type of a column, with the type that it would better be declared as."""
    kind = "" if column.kind in (None, column.type) else f"{column.kind}, "
    return f"{kind}{column.type}" + (f": {column.proposed_type}" if telling else "")


def _asks(column: ColumnProfile) -> bool:
    """Whether its owner has to say what a column is."""
    return column.declaration is None and bool(column.type_reason)


def _in_yaml(declaration: ColumnType) -> str:
    """A type as it stands in a policy, on one line."""
    short = declaration.to_short()
    if short == {"type": declaration.type, "decimal": "."}:
        short = declaration.type
    return _one_line(short)


def _one_line(said: Any) -> str:
    """What stands in a policy, on one line."""
    import yaml

    text = yaml.safe_dump(said, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)
    return str(text).removesuffix("\n").removesuffix("\n...")


def _role(column: ColumnProfile) -> Cell:
    if column.confidence >= DECIDED:
        return Cell(column.role, _TONES[column.role])
    return Cell(f"{column.role}?", "dim")


def yaml_key(name: str) -> str:
    """A name as a key of YAML: as it stands if that reads back as the same text, else in quotes.

    >>> yaml_key("age"), yaml_key("no")
    ('age', '"no"')
    """
    import yaml

    if re.fullmatch(r"\w[\w-]*", name) and yaml.safe_load(name) == name:
        return name
    return json.dumps(name, ensure_ascii=not name.isprintable())
