"""Privacy models: one file each, one protocol. A policy lists those that a release must keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias, Union

from pydantic import Field

from shoal.models.alpha_k import AlphaKAnonymity
from shoal.models.base import Evidence, Model
from shoal.models.beta_likeness import BetaLikeness, EnhancedBetaLikeness
from shoal.models.delta_disclosure import DeltaDisclosure
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.k_matching import KMatching
from shoal.models.known_sets import Coherence, KMAnonymity, LKCPrivacy
from shoal.models.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from shoal.models.risk_limits import AverageRisk, HighestRisk
from shoal.models.spread import Spread, Whole
from shoal.models.t_closeness import TCloseness
from shoal.models.xy_anonymity import XYAnonymity
from shoal.results.sections import Verdict

# every model that a policy may name
MODELS: tuple[type[Model], ...] = (
    KAnonymity,
    KMap,
    KMatching,
    LDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    TCloseness,
    AlphaKAnonymity,
    DeltaDisclosure,
    BetaLikeness,
    EnhancedBetaLikeness,
    DeltaPresence,
    HighestRisk,
    AverageRisk,
    KMAnonymity,
    Coherence,
    LKCPrivacy,
    XYAnonymity,
)
if TYPE_CHECKING:
    AnyModel: TypeAlias = Model
else:  # any of them, told apart by its name
    AnyModel = Annotated[Union[MODELS], Field(discriminator="model")]  # noqa: UP007

__all__ = [
    "MODELS",
    "AlphaKAnonymity",
    "AnyModel",
    "AverageRisk",
    "BetaLikeness",
    "Coherence",
    "DeltaDisclosure",
    "DeltaPresence",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "Evidence",
    "HighestRisk",
    "KAnonymity",
    "KMAnonymity",
    "KMap",
    "KMatching",
    "LDiversity",
    "LKCPrivacy",
    "Model",
    "RecursiveLDiversity",
    "Spread",
    "TCloseness",
    "Verdict",
    "Whole",
    "XYAnonymity",
]
