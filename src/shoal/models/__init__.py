"""Privacy models: one file each, one protocol. A policy lists those that a release must keep."""

from __future__ import annotations

from shoal.models.base import Model, Verdict
from shoal.models.k_anonymity import KAnonymity

# every model that a policy may name
MODELS: tuple[type[Model], ...] = (KAnonymity,)

__all__ = ["MODELS", "KAnonymity", "Model", "Verdict"]
