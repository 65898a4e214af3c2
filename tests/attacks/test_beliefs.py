"""What candidates say, and who meets a condition: the loops against counting by hand, on random boxes."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attacks.inference import Believed
from shoal.kernels.attacks import met_by


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), cardinality=st.sampled_from([1, 2, 5, 3000]))
def test_what_candidates_say_is_what_their_values_are(seed: int, cardinality: int) -> None:
    rng = Random(seed)
    boxes = [Counter(rng.randrange(cardinality) for _ in range(rng.randint(0, 6))) for _ in range(5)]
    held = [[box for box in range(5) if rng.random() < 0.4] for _ in range(4)]
    of_target, truth = [rng.randrange(4) for _ in range(7)], [rng.randrange(-2, cardinality) for _ in range(7)]
    shares = np.array([rng.random() for _ in range(cardinality)])
    cells = [(box, value, records) for box, found in enumerate(boxes) for value, records in sorted(found.items())]
    box_of, values, records = (
        (np.array(part, np.int64) for part in zip(*cells, strict=True)) if cells else [np.zeros(0, np.int64)] * 3
    )
    said = Believed.of(
        (np.cumsum([0, *map(len, held)]), np.array([box for boxes in held for box in boxes], np.int64)),
        (np.searchsorted(box_of, np.arange(6)), values, records),
        np.array(of_target),
        np.array(truth),
        shares,
    )
    for target, (point, own) in enumerate(zip(of_target, truth, strict=True)):
        counts = sum((boxes[box] for box in held[point]), Counter[int]())
        assert said.distinct[target] == len(counts)
        assert said.own[target] == counts[own]
        if not counts:
            continue
        everyone = sorted(counts.elements())
        lift = {value: number / len(everyone) - shares[value] for value, number in counts.items()}
        assert said.median[target] == everyone[(len(everyone) - 1) // 2]
        assert (said.least[target], said.greatest[target]) == (everyone[0], everyone[-1])
        for found, score in ((said.frequent, counts), (said.lifted, lift)):
            best = [value for value in counts if score[value] >= max(score[one] for one in counts) - 1e-12]
            assert found[target] == pytest.approx((own in best) / len(best))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), limit=st.sampled_from([1, 2, 1000]))
def test_conditions_are_met_by_whoever_lies_in_their_box(seed: int, limit: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 3)
    points = np.stack([rng.integers(0, size, 40) for size in sizes], axis=1).astype(np.int32)
    owner = rng.integers(0, 12, 40) if seed % 2 else np.arange(40)
    low = np.stack([rng.integers(0, size, 9) for size in sizes], axis=1).astype(np.int32)
    high = np.stack([rng.integers(0, size, 9) for size in sizes], axis=1).astype(np.int32)  # some hold nobody
    masks = rng.integers(0, 2, int(sizes[0])).astype(np.uint8)
    mask_at = np.full((9, 3), -1)
    mask_at[::2, 0] = 0
    firsts = [np.cumsum([0, *np.bincount(points[:, c], minlength=size)]) for c, size in enumerate(sizes)]
    orders = np.stack([np.argsort(points[:, c]) for c in range(3)]).astype(np.int32)
    met = np.zeros(9, np.int64)
    starts = (np.cumsum([0, *(sizes + 1)]), np.concatenate(firsts))
    met_by((low, high, mask_at, masks), points, orders, starts, owner, limit, 0, 9, met)
    for box in range(9):
        inside = ((points >= low[box]) & (points <= high[box])).all(axis=1)
        inside &= (mask_at[box, 0] < 0) | (masks[points[:, 0]] > 0)
        assert met[box] == min(len(set(owner[inside])), limit)
