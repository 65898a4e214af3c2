"""What every privacy model is: parameters from a policy, and a verdict on class sizes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from shoal.table import Array


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

    model: str

    @abstractmethod
    def judge(self, sizes: Array, classes: Array) -> Verdict:
        """The verdict on class sizes: `classes[i]` classes have `sizes[i]` members."""

    def _verdict(self, holds: bool, **worst: Any) -> Verdict:
        return Verdict(self.model, self.model_dump(exclude={"model"}), holds, worst)
