"""What a reader of another tool's project finds: the content of a policy, trees, and what could not be taken over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from shoal.ranges.hierarchy import Hierarchy
from shoal.vocabulary import Role

Tool = Literal["ARX", "sdcMicro", "Amnesia"]


@dataclass(frozen=True)
class NotTaken:
    """Something that the other tool has and the policy does not, and why or what to do."""

    what: str
    why: str


@dataclass
class PolicyDraft:
    """A policy in the making."""

    tool: Tool
    version: str | None = None
    columns: dict[str, Role] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)
    models: list[dict[str, Any]] = field(default_factory=list)
    trees: dict[str, Hierarchy] = field(default_factory=dict)
    # other keys of the policy
    settings: dict[str, Any] = field(default_factory=dict)
    not_taken: list[NotTaken] = field(default_factory=list)

    def lacks(self, what: str, why: str) -> None:
        """Note what could not be taken over."""
        self.not_taken.append(NotTaken(what, why))
