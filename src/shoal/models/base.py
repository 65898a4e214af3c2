"""What every privacy model is: parameters from a policy, and a verdict on the classes of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from shoal.table import Array, Column


@dataclass(frozen=True)
class Evidence:
    """What a model looks at: `classes[i]` classes have `sizes[i]` members; where a model needs more, the class of each
    row (-1: in no class) and the sensitive columns."""

    sizes: Array
    classes: Array
    class_of_row: Array | None = None
    sensitive: Mapping[str, Column] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a model holds, and the worst class that decided it (its size, never its values)."""

    name: str
    parameters: dict[str, Any]
    holds: bool
    worst: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"name": self.name, "parameters": self.parameters, "holds": self.holds, "worst": self.worst}


class Model(BaseModel, ABC):
    """A privacy model with its parameters; `model` is its name in a policy."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    # whether the class of each row and sensitive columns are needed, not class sizes alone
    needs_rows: ClassVar[bool] = False

    model: str

    @abstractmethod
    def judge(self, evidence: Evidence) -> Verdict:
        """The verdict on the classes of a table."""

    def _verdict(self, holds: bool, **worst: Any) -> Verdict:
        return Verdict(self.model, self.model_dump(exclude={"model"}), holds, worst)
