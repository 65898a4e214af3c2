"""Each model with parameters drawn at random, so that one battery asks the same of all."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from shoal.models import (
    MODELS,
    AlphaKAnonymity,
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    HighestRisk,
    KAnonymity,
    KMap,
    KMatching,
    LDiversity,
    Model,
    RecursiveLDiversity,
    TCloseness,
    XYAnonymity,
)

POPULATION = "people.csv"

MAKERS: dict[str, Callable[[Random], Model]] = {
    "k-anonymity": lambda rng: KAnonymity(k=rng.randint(2, 6)),
    "k-matching": lambda rng: KMatching(k=rng.randint(2, 6)),
    "k-map": lambda rng: KMap(k=rng.randint(2, 12), population=POPULATION),
    "k-map estimated": lambda rng: KMap(k=rng.randint(2, 12), population_size=rng.randint(250, 900)),
    "l-diversity": lambda rng: LDiversity(l=rng.randint(2, 4), sensitive=rng.choice("sv")),
    "entropy-l-diversity": lambda rng: EntropyLDiversity(l=rng.choice([1.5, 2, 3]), sensitive=rng.choice("sv")),
    "recursive-l-diversity": lambda rng: RecursiveLDiversity(
        c=rng.choice([0.5, 1, 2, 3]), l=rng.randint(2, 3), sensitive=rng.choice("sv")
    ),
    "t-closeness equal": lambda rng: TCloseness(t=rng.choice([0.2, 0.4]), sensitive="s", distance="equal"),
    "t-closeness ordered": lambda rng: TCloseness(t=rng.choice([0.1, 0.2, 0.3]), sensitive="v"),
    "t-closeness hierarchical": lambda rng: TCloseness(
        t=rng.choice([0.1, 0.2, 0.3]), sensitive="s", distance="hierarchical"
    ),
    "alpha-k-anonymity": lambda rng: AlphaKAnonymity(
        alpha=rng.choice([0.4, 0.5, 0.7]), k=rng.randint(2, 4), sensitive=rng.choice("sv")
    ),
    "delta-disclosure": lambda rng: DeltaDisclosure(delta=rng.choice([0.5, 1, 1.5]), sensitive=rng.choice("sv")),
    "delta-disclosure absent": lambda rng: DeltaDisclosure(
        delta=rng.choice([0.5, 1, 1.5]), sensitive=rng.choice("sv"), absent="breaks"
    ),
    "beta-likeness": lambda rng: BetaLikeness(beta=rng.choice([0.5, 1, 2]), sensitive=rng.choice("sv")),
    "enhanced-beta-likeness": lambda rng: EnhancedBetaLikeness(
        beta=rng.choice([0.5, 1, 2]), sensitive=rng.choice("sv")
    ),
    "delta-presence": lambda rng: DeltaPresence(high=rng.choice([0.3, 0.5, 0.7]), population=POPULATION),
    "delta-presence low": lambda rng: DeltaPresence(high=rng.choice([0.5, 0.7]), low=0.2, population=POPULATION),
    "highest-risk": lambda rng: HighestRisk(threshold=rng.choice([0.2, 0.34, 0.5])),
    "average-risk": lambda rng: AverageRisk(threshold=rng.choice([0.1, 0.2, 0.3])),
    "xy-anonymity": lambda rng: XYAnonymity(k=rng.randint(2, 4), y="who"),
    "xy-anonymity x": lambda rng: XYAnonymity(k=rng.randint(2, 6), y="who", x=("q0",)),
}

assert {maker(Random(0)).model for maker in MAKERS.values()} == {
    model.model_fields["model"].default
    for model in MODELS
    if not model.of_sets  # these: tests/sets
}
