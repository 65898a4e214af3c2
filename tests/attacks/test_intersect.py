"""Composition: planted classes, releases that shoal writes, an oracle by sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.intersect import attack_intersect

HOW: dict[str, Any] = {"person": "who", "quasi_identifiers": "age", "sensitive": "ill"}
FIRST = {"who": list("abcd"), "age": ["3*", "3*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "cold"]}


def test_planted_classes() -> None:
    """b keeps HIV only; c keeps flu and cold; a and d are not in the second release."""
    second = {
        "who": ["b", "x", "c", "y"],
        "age": ["[30;35]", "[30;35]", "*2", "*2"],
        "ill": ["HIV", "cold", "flu", "cold"],
    }
    found = attack_intersect(FIRST, second=second, **HOW)
    assert found.persons == 2
    assert found.attacks[0].rate == 0.5
    assert found.attacks[0].baseline == 0.0
    one = found.columns[0]
    assert (one.first, one.second, one.both) == (2.0, 2.0, 1.5)
    assert (one.certain, one.certain_alone, one.none_left) == (1, 0, 0)
    assert any("column ill gives most away: 1" in note for note in found.attacks[0].notes)
    assert any("fewer than 30" in note for note in found.attacks[0].notes)


def test_releases_that_contradict_each_other() -> None:
    second = {"who": ["a", "b"], "age": ["1", "1"], "ill": ["cold", "measles"]}
    found = attack_intersect(FIRST, second=second, **HOW)
    assert found.columns[0].none_left == 2
    assert found.attacks[0].rate == 0.0


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(*(st.integers(0, 2),) * 2, st.sampled_from("abc")), min_size=1, max_size=25), st.integers(0, 99)
)
def test_against_sets(people: list[tuple[int, int, str]], seed: int) -> None:
    frame = pl.DataFrame(people, schema=["one", "two", "ill"], orient="row").with_row_index("who")
    sides = [frame.select("who", pl.col(name).cast(pl.String).alias("age"), "ill") for name in ("one", "two")]
    order = np.random.default_rng(seed).permutation(len(people))
    found = attack_intersect(sides[0], second=sides[1][order.tolist()], **HOW)
    values = [[{ill for *key, ill in people if key[which] == person[which]} for person in people] for which in (0, 1)]
    left = [first & second for first, second in zip(*values, strict=True)]
    assert found.columns[0].both == pytest.approx(np.mean([len(one) for one in left]))
    assert found.attacks[0].successes == sum(len(one) == 1 for one in left)
    assert found.columns[0].none_left == 0


def test_releases_of_shoal(tmp_path: Path) -> None:
    """Two 4-anonymous, 2-diverse releases of halves that overlap leave fewer values than either."""
    draw = np.random.default_rng(1)
    people = pl.DataFrame(
        {
            "who": [f"p{number}" for number in range(300)],
            "age": draw.integers(20, 80, 300),
            "zip": draw.integers(0, 50, 300),
            "ill": draw.choice(list("abcdef"), 300),
        }
    )
    for name, part in (("first", people[:200]), ("second", people[100:])):
        made = shoal.anonymize(part, quasi_identifiers=["age", "zip"], sensitive="ill", k=4, l=2, method="mondrian")
        shoal.release(made, tmp_path / f"{name}.parquet", decide={"who": "other"})
    found = attack_intersect(tmp_path / "first.parquet", second=tmp_path / "second.parquet", person="who")
    one = found.columns[0]
    assert found.persons == 100
    assert one.certain_alone == 0
    assert one.certain > 0
    assert one.both < min(one.first, one.second)


@pytest.mark.parametrize(
    ("second", "how", "said"),
    [
        ({"who": ["z"], "age": ["1"], "ill": ["flu"]}, {}, "Nobody is in both"),
        ({"who": ["A"], "age": ["1"], "ill": ["flu"]}, {}, "upper and lower case"),
        ({"name": ["a"], "age": ["1"], "ill": ["flu"]}, {}, "has no column 'who'"),
        (
            {"who": ["a"], "age": ["1"], "sick": ["Zqx"]},
            {"sensitive": ["ill", "sick"]},
            "no sensitive column in common",
        ),
        ({"who": ["a"], "age": ["1"], "ill": ["flu"]}, {"sensitive": None}, "does not say its sensitive column"),
    ],
)
def test_bad_input_is_refused(second: dict[str, Any], how: dict[str, Any], said: str) -> None:
    with pytest.raises(shoal.InputError, match=said) as refused:
        attack_intersect(FIRST, second=second, **{**HOW, **how})
    assert "Zqx" not in str(refused.value)
