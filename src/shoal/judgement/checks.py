"""One thing that was looked at besides the models."""

from __future__ import annotations

from shoal.dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that was looked at besides the models."""

    name: str
    holds: bool
    detail: str
