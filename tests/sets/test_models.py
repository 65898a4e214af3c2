"""k^m-anonymity, coherence and LKC-privacy against their definitions, and against published figures."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sets.plain import highest_share, least_support
from shoal.models import Coherence, Evidence, KMAnonymity, LKCPrivacy
from shoal.models.item_sets import ItemSets
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.storage.reading import read


def drawn(rng: Random, persons: int = 8, items: int = 5) -> dict[int, set[int]]:
    return {person: {one for one in range(items) if rng.random() < 0.5} for person in range(persons)}


def as_sets(persons: dict[int, set[int]], group: list[int] | None = None) -> ItemSets:
    pairs = [(person, item) for person, own in persons.items() for item in own]
    pairs += pairs[:3]  # what stands twice is there once
    person, item = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    return ItemSets.of(person, item, len(persons), None if group is None else np.array(group))


@settings(max_examples=150)
@given(seed=st.integers(0, 10**9), most=st.integers(1, 4), groups=st.integers(1, 3))
def test_the_least_support_of_each_group(seed: int, most: int, groups: int) -> None:
    rng = Random(seed)
    persons = drawn(rng)
    group = [*range(groups), *(rng.randrange(groups) for _ in range(len(persons) - groups))]
    found = as_sets(persons, group).least_support(most)
    for number in range(groups):
        own = {person: items for person, items in persons.items() if group[person] == number}
        assert found[number] == least_support(own, most)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**9), most=st.integers(1, 3))
def test_the_highest_share(seed: int, most: int) -> None:
    rng = Random(seed)
    persons, values = drawn(rng), drawn(rng, items=3)
    pairs = [(person, value) for person, own in values.items() for value in own]
    whose, value = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    sets = as_sets(persons)
    object.__setattr__(sets, "values", (whose, value))
    object.__setattr__(sets, "sensitive", 3)
    assert sets.highest_share(most)[0] == pytest.approx(highest_share(persons, values, most))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), size=st.integers(1, 4))
def test_how_many_subsets_are_shared_by_how_many(seed: int, size: int) -> None:
    from itertools import combinations

    persons = drawn(Random(seed))
    counts: dict[tuple[int, ...], int] = {}
    for own in persons.values():
        for part in combinations(sorted(own), size):
            counts[part] = counts.get(part, 0) + 1
    found = as_sets(persons).supports(size)
    assert found.sum() == len(counts)
    assert all(found[number] == list(counts.values()).count(number) for number in range(1, len(persons) + 1))


def test_by_hand() -> None:
    """Four persons: bread and milk is had by two, bread and beer by one."""
    table = read(
        {"who": ["a", "a", "b", "b", "c", "c", "d"], "item": ["bread", "milk"] * 2 + ["bread", "beer", "beer"]}
    )
    policy = Policy(person="who", columns={"item": "items"}, models=[KMAnonymity(m=1, k=2)])
    evidence, _ = evidence_of(table, [], policy)
    assert KMAnonymity(m=1, k=2).judge(evidence).worst == {"support": 2, "size": 4, "failing_classes": 0}
    assert KMAnonymity(m=2, k=2).judge(evidence).worst == {"support": 1, "size": 4, "failing_classes": 1}
    assert not Coherence(h=0.9, k=2, p=1).judge(evidence).holds  # nobody said which items are sensitive


def test_coherence_by_hand() -> None:
    """Two of three who have bread have the sensitive item: a share of 2/3."""
    told = {"columns": {"items": {"role": "items", "separator": "|", "sensitive": ["hiv"]}}}
    table = read({"items": ["bread|hiv", "bread|hiv", "bread"]})
    evidence, _ = evidence_of(table, [], Policy.model_validate(told))
    assert Coherence(h=0.67, k=3, p=2).judge(evidence).holds
    assert not Coherence(h=0.66, k=3, p=2).judge(evidence).holds
    assert not Coherence(h=0.67, k=4, p=2).judge(evidence).holds


def test_lkc_by_hand() -> None:
    rows = [
        ("a", "x", 1, "flu"),
        ("a", "y", 2, "flu"),
        ("b", "x", 1, "cold"),
        ("b", "y", 2, "cold"),
        ("c", "x", 1, "flu"),
    ]
    table = read(dict(zip(("who", "ward", "day", "ill"), zip(*rows, strict=True), strict=True)))
    columns = {"ward": "event-place", "day": "event-time", "ill": "sensitive"}
    evidence, _ = evidence_of(table, [], Policy.model_validate({"person": "who", "columns": columns}))
    assert LKCPrivacy(l=2, k=2, c=0.7).judge(evidence).holds  # flu: 2 of 3 at x, 1 of 2 at x and y
    assert not LKCPrivacy(l=2, k=2, c=0.6).judge(evidence).holds
    assert not LKCPrivacy(l=1, k=3, c=0.7).judge(evidence).holds


def test_within_a_class_only_its_persons_count() -> None:
    """(k, k^m): the item of a young person is shared by old ones alone."""
    told = {"columns": {"age": "quasi-identifier", "items": {"role": "items", "separator": "|"}}}
    table = read({"age": ["young", "young", "old", "old"], "items": ["a", "b", "b", "b"]})
    evidence, _ = evidence_of(table, ["age"], Policy.model_validate(told))
    assert sorted(KMAnonymity(m=1, k=2).measure(evidence).tolist()) == [1, 2]
    suppressed = read({"age": ["*", "*", "old", "old"], "items": ["a", "b", "b", "b"]})
    evidence, _ = evidence_of(suppressed, ["age"], Policy.model_validate(told))
    assert KMAnonymity(m=1, k=2).measure(evidence).tolist() == [1]  # who is in no class counts for all


def test_groceries(data: object) -> None:
    """Sets of items that fewer than k baskets share, as counted by other means."""
    path = data / "groceries" / "groceries.json"  # type: ignore[operator]
    if not path.exists():
        pytest.skip("the baskets are absent")
    told = json.loads(path.read_text())
    person = np.repeat(np.arange(len(told["p"]) - 1), np.diff(told["p"]))
    for level, rare in (("labels", [5, 4854, 120198]), ("level2", [1, 272, 8147]), ("level1", [0, 0, 0])):
        codes = np.unique(told[level], return_inverse=True)[1][np.array(told["i"])]
        sets = ItemSets.of(person, codes, len(told["p"]) - 1)
        assert [int(sets.supports(size)[1:5].sum()) for size in (1, 2, 3)] == rare


def test_without_a_class_nothing_holds() -> None:
    for model in (KMAnonymity(m=2, k=2), Coherence(h=0.5, k=2, p=1), LKCPrivacy(l=1, k=2, c=0.5)):
        assert not model.judge(Evidence(np.zeros(0, np.int64))).holds
        assert model.judge(Evidence(np.array([5]))).worst["status"] == "no estimate"
