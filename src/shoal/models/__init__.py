"""Privacy models: one file each, one protocol. A policy lists those that a release must keep."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shoal.models.base import Evidence, Model, Verdict
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness

# every model that a policy may name
MODELS: tuple[type[Model], ...] = (KAnonymity, TCloseness)
AnyModel = Annotated[KAnonymity | TCloseness, Field(discriminator="model")]

__all__ = ["MODELS", "AnyModel", "Evidence", "KAnonymity", "Model", "TCloseness", "Verdict"]
