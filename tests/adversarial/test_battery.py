"""What is certified is true: nasty tables by every method under every model, the written file judged by a reader of its
own. A release may be refused; it may never be written and wrong, and the library may never crash."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path

import pytest

from adversarial.adapter import released
from adversarial.nasty import METHODS, trial
from adversarial.reader import faults

TABLES, SHARD = 2_000, 100
MANY, LARGE_SHARD = 50_000, 1_000


def found_in(first: int, count: int, folder: Path) -> tuple[dict[str, list[int]], int]:
    """The seeds of each fault, and how many tables were released."""
    found, written = defaultdict(list), 0
    for seed in range(first, first + count):
        made = trial(seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                path = released(made, folder)
        except Exception as error:
            found[f"crash: {type(error).__name__} ({made.method})"].append(seed)
            continue
        if path is not None:
            written += 1
            for fault in faults(made, path):
                found[fault].append(seed)
    return dict(found), written


def check(first: int, count: int, folder: Path) -> None:
    found, written = found_in(first, count, folder)
    assert not found
    assert written > count // 10  # a battery in which all is refused shows nothing


@pytest.mark.parametrize("shard", range(TABLES // SHARD))
def test_what_is_released_holds(shard: int, tmp_path: Path) -> None:
    check(shard * SHARD, SHARD, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(MANY // LARGE_SHARD))
def test_what_is_released_holds_in_many_tables(shard: int, tmp_path: Path) -> None:
    check(10**6 + shard * LARGE_SHARD, LARGE_SHARD, tmp_path)


def test_every_method_and_kind_of_table_is_drawn() -> None:
    drawn = [trial(seed) for seed in range(TABLES)]
    assert {made.method for made in drawn} == set(METHODS)
    assert {rule for made in drawn for rule in [made.policy["null_rule"]]} == {"value", "wildcard", "drop"}
    assert sum("person" in made.policy for made in drawn) > 30
    assert sum("count" in made.policy for made in drawn) > 30
    assert sum(made.population is not None for made in drawn) > 30
    assert sum(bool(made.policy["models"][-1].get("x")) for made in drawn) > 30
