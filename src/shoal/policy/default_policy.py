"""What measuring takes from a policy where none is written: the defaults, without loading what reads policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shoal.vocabulary import NullRule, RiskOver, Role

if TYPE_CHECKING:
    from shoal.policy.schema import Policy


class HasSourceNames(Protocol):
    """What was read from a source, with the names of all its columns."""

    @property
    def source_names(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class DefaultPolicy:
    """A policy that says nothing; a test holds its defaults against those of `Policy`."""

    knowledge: dict[str, list[str]] = field(default_factory=dict)
    null_rule: NullRule = "value"
    wildcard_alpha: float = 1.0
    count: str | None = None
    person: str | None = None
    weight: str | None = None
    household: str | None = None
    population_size: int | None = None
    sampling: float | None = None
    risk_over: RiskOver = "sample"
    threshold: float | str | None = None
    models: Sequence[Any] = ()
    relations: Any = None
    quasi_identifiers: list[str] = field(default_factory=list)
    types: dict[str, Any] = field(default_factory=dict)

    def with_role(self, role: Role) -> list[str]:
        """No column plays a role."""
        return []

    def remarks(self, table: HasSourceNames) -> list[str]:
        """Nothing to remark."""
        return []


def written(policy: Policy | dict[str, Any] | str | Path | None) -> Policy | DefaultPolicy:
    """The policy that was given, or one that says nothing."""
    if policy is None:
        return DefaultPolicy()
    from shoal.policy.loading import as_policy

    return as_policy(policy)
