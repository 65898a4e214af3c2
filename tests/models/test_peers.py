"""pycanon as oracle on random tables without nulls; where it means something else, what it does mean is compared."""

from __future__ import annotations

import math
import warnings
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    Evidence,
    LDiversity,
    RecursiveLDiversity,
    TCloseness,
)
from shoal.models.evidence import evidence_of_rows
from shoal.storage.reading import read

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    anonymity = pytest.importorskip("pycanon.anonymity")

SEEDS = st.integers(0, 10**9)


def table(seed: int) -> pd.DataFrame:
    rng = Random(seed)
    rows, cells, labels = rng.randint(2, 40), rng.randint(1, 4), rng.randint(2, 5)
    codes = [min(rng.randrange(labels), rng.randrange(labels)) for _ in range(rows)]
    return pd.DataFrame(
        {
            "a": [rng.randrange(cells) for _ in codes],
            "b": [rng.choice("xy") for _ in codes],
            "number": [code * code for code in codes],
            "text": [f"v{code}" for code in codes],
        }
    )


def evidence(frame: pd.DataFrame) -> Evidence:
    classes = frame.groupby(["a", "b"]).ngroup().to_numpy()
    return evidence_of_rows(classes, read(frame[["number", "text"]]).columns)


def worst(model: Any, frame: pd.DataFrame) -> float:
    figures = model.measure(evidence(frame))
    return float(figures.max() if model.at_most else figures.min())


def asked(function: str, frame: pd.DataFrame, column: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(anonymity, function)(frame, ["a", "b"], [column])


@pytest.mark.parametrize("column", ["number", "text"])
@settings(max_examples=12)
@given(seed=SEEDS)
def test_the_same_figures(column: str, seed: int) -> None:
    frame = table(seed)
    assert worst(LDiversity(l=2, sensitive=column), frame) == asked("l_diversity", frame, column)
    alpha, k = asked("alpha_k_anonymity", frame, column)
    assert worst(AlphaKAnonymity(alpha=0.5, k=max(k, 2), sensitive=column), frame) == pytest.approx(
        alpha if k > 1 else 1.0
    )
    beta = asked("basic_beta_likeness", frame, column)
    assert worst(BetaLikeness(beta=1, sensitive=column), frame) == pytest.approx(beta, abs=1e-12)
    delta = asked("delta_disclosure", frame, column)
    assert worst(DeltaDisclosure(delta=1, sensitive=column), frame) == pytest.approx(delta, abs=1e-12)
    # by itself pycanon rounds down to a whole number
    entropy = worst(EntropyLDiversity(l=2, sensitive=column), frame)
    assert math.floor(entropy - 1e-9) <= asked("entropy_l_diversity", frame, column) <= math.floor(entropy + 1e-9)


@pytest.mark.parametrize("column", ["number", "text"])
@settings(max_examples=20)
@given(seed=SEEDS)
def test_the_same_closeness(column: str, seed: int) -> None:
    """Ordered for numbers, equal for texts: what `auto` takes too."""
    frame = table(seed)
    if frame[column].nunique() < 2:  # pycanon divides by zero
        return
    assert worst(TCloseness(t=0.5, sensitive=column), frame) == pytest.approx(
        asked("t_closeness", frame, column), abs=1e-12
    )


@settings(max_examples=20)
@given(seed=SEEDS)
def test_recursive_diversity_where_pycanon_is_right(seed: int) -> None:
    """It sorts upwards where the definition sorts downwards; with values equally frequent in a class both agree."""
    rng = Random(seed)
    rows = []
    for cell in range(rng.randint(1, 4)):
        values = rng.sample("tuvwxyz", rng.randint(2, 5))
        rows += [(cell, "x", value) for value in values for _ in range(rng.choice([1, 3]))]
        often = rng.randint(1, 3)
        rows = [row for row in rows if row[0] != cell] + [(cell, "x", value) for value in values for _ in range(often)]
    frame = pd.DataFrame(rows, columns=["a", "b", "text"]).assign(number=0)
    c, l = asked("recursive_c_l_diversity", frame, "text")  # noqa: E741
    assert RecursiveLDiversity(c=float(c), l=int(l), sensitive="text").judge(evidence(frame)).holds
    if c > 1:
        assert not RecursiveLDiversity(c=float(c - 1), l=int(l), sensitive="text").judge(evidence(frame)).holds
    ratio = worst(RecursiveLDiversity(c=1, l=int(l), sensitive="text"), frame)
    assert c == math.floor(ratio + 1)


@settings(max_examples=30)
@given(seed=SEEDS)
def test_enhanced_likeness_implies_what_pycanon_measures(seed: int) -> None:
    """pycanon takes the largest of min(beta, -ln p), of any value; the definition holds each gain to its own."""
    frame = table(seed)
    if frame["text"].nunique() < 2:
        return
    basic = asked("basic_beta_likeness", frame, "text")
    shares = frame["text"].value_counts(normalize=True).to_numpy()
    for beta in (0.3, 0.8, 2.0, max(basic, 0.01)):
        holds = EnhancedBetaLikeness(beta=beta, sensitive="text").judge(evidence(frame)).holds
        if holds:
            assert basic <= beta + 1e-9
            assert asked("enhanced_beta_likeness", frame, "text") <= beta + 1e-9
        if basic <= beta and (basic <= -np.log(shares)).all():
            assert asked("enhanced_beta_likeness", frame, "text") == pytest.approx(basic)
            assert holds
