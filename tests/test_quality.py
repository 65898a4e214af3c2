"""What is left of a table, by hand and against the search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError


def test_by_hand() -> None:
    old = pl.DataFrame({"age": [30, 34, 51, 52], "town": ["a", "a", "b", "c"]})
    new = pl.DataFrame({"age": ["[30;34]", "[30;34]", "51", "52"], "town": ["a", "a", "{b, c}", "*"]})
    found = shoal.quality(old, new, ["age", "town"])
    # age: shares 2/4, 2/4, 1/4, 1/4; town: 1/3, 1/3, 2/3, 1
    age, town = (3 / 8 - 1 / 4) / (3 / 4), (7 / 12 - 1 / 3) / (2 / 3)
    assert found.by_column == {"age": pytest.approx(age), "town": pytest.approx(town)}
    assert found.loss == pytest.approx(((1 + age) * (1 + town)) ** 0.5 - 1)
    # age: one bit of two is missing twice; town: a 0, b of {b, c} 1 bit of 2, c of * 2 bits of 2
    assert found.entropy == pytest.approx((2 / 8 + (0 + 0 + 1 + 2) / (1 + 1 + 2 + 2)) / 2)
    assert found.discernibility == (2 * 2 + 1 + 1) / 16
    assert found.average_class_size == 1 / 3
    assert found.precision is None
    assert found.information_loss is None


def test_what_does_not_hold_its_value_has_no_loss() -> None:
    old = pl.DataFrame({"age": [30, 34]})
    assert shoal.quality(old, pl.DataFrame({"age": [32, 32]}), ["age"]).loss is None
    assert shoal.quality(old, pl.DataFrame({"age": ["thirties", "thirties"]}), ["age"]).loss is None
    assert shoal.quality(old, old, ["age"]).loss == 0
    assert shoal.quality(old, old, ["age"]).precision == 0


def test_rows_must_correspond() -> None:
    with pytest.raises(InputError, match="row by row"):
        shoal.quality(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1]}), ["a"])


def test_accuracy_knows_what_a_column_tells() -> None:
    random = np.random.default_rng(0)
    told = random.integers(0, 3, 3000)
    old = pl.DataFrame({"told": told, "noise": random.integers(0, 5, 3000), "target": told * 7})
    kept = shoal.quality(old, old, ["told", "noise"], target="target").accuracy
    gone = shoal.quality(old, old.with_columns(told=pl.lit("*")), ["told", "noise"], target="target").accuracy
    assert kept is not None
    assert gone is not None
    assert kept.released == kept.original == 1
    assert gone.released < 0.45
    assert gone.baseline == pytest.approx(np.bincount(told).max() / 3000)
    shuffled = old.sample(fraction=1, shuffle=True, seed=5)
    assert shoal.quality(shuffled, shuffled, ["told", "noise"], target="target").accuracy == kept


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abcd")), min_size=6, max_size=40), st.integers(2, 3))
def test_information_loss_and_search_agree(rows: list[tuple[int, str]], k: int) -> None:
    """Whoever computed a figure, from boxes, from the lattice or from the released text: it is the same."""
    frame = pl.DataFrame(rows, schema=["age", "kind"], orient="row")
    boxes = shoal.anonymize(frame, quasi_identifiers=["age"], k=k, method="sorted-clusters")
    seen = shoal.quality(frame, boxes.frame, ["age"]).information_loss
    assert seen == pytest.approx(boxes.findings.information_loss)
    try:
        best = shoal.anonymize(frame, quasi_identifiers=["age", "kind"], k=k, method="lattice", suppression=0.5)
    except InputError:
        return
    assert best.plan is not None
    figures = shoal.quality(frame, best.frame, ["age", "kind"], hierarchies=dict(best.plan.trees))
    assert figures.loss == pytest.approx(best.findings.search.score)


def test_adult(data: Path) -> None:
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    trees = data / "adult" / "hierarchies"
    source = data / "adult" / "adult.csv"
    for quality in ("loss", "precision", "entropy"):
        options = {
            "k": 5,
            "method": "lattice",
            "hierarchies": str(trees),
            "suppression": 0.05,
            "minimize": quality,
            "labels_are_names": True,
        }
        best = shoal.anonymize(str(source), quasi_identifiers=names, **options)  # type: ignore[arg-type]
        figures = shoal.quality(str(source), best.frame, names, hierarchies=str(trees)).to_dict()
        assert figures[quality] == pytest.approx(best.findings.search.score, abs=1e-12)


def test_a_column_in_which_all_is_missing() -> None:
    empty = pl.DataFrame({"age": [None, None], "sex": ["f", "m"]}, schema={"age": pl.String, "sex": pl.String})
    found = shoal.quality(empty, empty, ["age", "sex"])
    assert found.by_column == {"age": 0.0, "sex": 0.0}
