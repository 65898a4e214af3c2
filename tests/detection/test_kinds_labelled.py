"""Precision and recall on the labelled columns do not fall below what the docs say."""

from collections import Counter

import pytest
from labelled_columns import Labelled, columns

from shoal.identifiers import DECIDED, ROLE_OF_KIND, find_kinds

CASES = columns()
# Group: precision and recall that must be reached.
BARS = {"dev": (0.99, 0.98), "held out": (0.98, 0.98), "real": (0.98, 0.90), "fresh": (0.98, 0.84)}


def decide(case: Labelled) -> str | None:
    found = find_kinds(case.view)
    return found[0].kind if found and found[0].confidence >= DECIDED else None


def test_the_set_is_large_and_its_cases_are_told_apart() -> None:
    assert len(CASES) >= 550
    assert len({(case.case, case.source) for case in CASES}) == len(CASES)
    assert sum(case.kind is None for case in CASES) >= 100
    assert {case.kind for case in CASES if case.kind} <= set(ROLE_OF_KIND)


def test_every_kind_is_in_the_set() -> None:
    assert set(ROLE_OF_KIND) == {case.kind for case in CASES if case.kind}


@pytest.mark.parametrize("group", BARS)
def test_precision_and_recall(group: str) -> None:
    answers = [(case.kind, decide(case)) for case in CASES if case.group == group]
    right = sum(kind == answer for kind, answer in answers if kind)
    said = sum(answer is not None for _, answer in answers)
    held = sum(kind is not None for kind, _ in answers)
    precision, recall = BARS[group]
    assert right / said >= precision
    assert right / held >= recall


def test_no_kind_swallows_columns_of_no_kind() -> None:
    false = Counter(decide(case) for case in CASES if case.kind is None)
    del false[None]
    assert false.total() <= 1
