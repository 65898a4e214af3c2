"""What was promised, case by case, as test reports of other tools list it: a name, whether it holds, and why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from shoal.dataclasses import dataclass
from shoal.results.verdict import Verdict, worst_class

CaseKind = Literal["model", "check", "threshold"]


@dataclass(frozen=True)
class Case:
    """One thing that must hold: a model, a check, a threshold. The detail has figures, never a value of the data."""

    kind: CaseKind
    name: str
    parameters: str
    holds: bool
    detail: str

    @property
    def title(self) -> str:
        """The name with what was asked of it."""
        return f"{self.name} {self.parameters}".rstrip()


class Judged(Protocol):
    """A result that says what must hold."""

    @property
    def holds(self) -> bool:
        """Whether all of it holds."""

    def cases(self) -> list[Case]:
        """All that must hold, one by one."""

    def summary(self) -> str:
        """What was found, in sentences."""


def model_cases(verdicts: Sequence[Verdict]) -> list[Case]:
    """The models of a policy as cases.

    >>> model_cases([Verdict("k-anonymity", {"k": 5}, False, {"size": 2})])[0].detail
    'does not hold; worst class: size 2'
    """
    found = []
    for verdict in verdicts:
        plain = {name: value for name, value in verdict.parameters.items() if isinstance(value, (str, int, float))}
        parameters = ", ".join(f"{name}={value}" for name, value in plain.items())
        detail = f"{verdict.status}; worst class: {worst_class(verdict)}"
        found.append(Case("model", verdict.name, parameters, verdict.holds, detail))
    return found
