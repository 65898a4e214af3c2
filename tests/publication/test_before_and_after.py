"""Columns before and after: what was released as a named group, or spelled in a format of its own, still counts."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.methods.results import Anonymized
from shoal.reports.publication.steps import before_and_after
from shoal.utility.analysis import mean_name
from shoal.utility.quality import quality

WORDS = ["9th", "10th", "11th", "HS-grad", "Bachelors", "Masters", "Doctorate", "Some-college"]
ROWS = 240


@pytest.fixture(scope="module")
def changed() -> Anonymized:
    """Education becomes nodes of a tree that is built; days of birth are written day first."""
    born = [date(1950, 1, 1) + timedelta(days=(i * 977) % 18_000) for i in range(ROWS)]
    table = pl.DataFrame(
        {
            "education": [WORDS[(i * i + i // 7) % 8] for i in range(ROWS)],
            "age": [20 + (i * 13) % 50 for i in range(ROWS)],
            "born": [day.strftime("%d/%m/%Y") for day in born],
            "illness": ["flu", "cold", "cough"] * (ROWS // 3),
        }
    )
    policy: dict[str, Any] = {
        "columns": {**dict.fromkeys(["education", "age", "born"], "quasi-identifier"), "illness": "sensitive"},
        "types": {"born": {"type": "date", "format": "%d/%m/%Y"}},
        "models": [{"model": "k-anonymity", "k": 6}],
    }
    return shoal.anonymize(table, policy, method="mondrian")


def shares_of(changed: Anonymized, column: str) -> dict[str, float]:
    found = before_and_after(changed)["columns"]
    return {bar["label"]: bar["after"] for one in found if one["column"] == column for bar in one["bars"]}


def test_a_named_group_counts_for_each_of_its_members(changed: Anonymized) -> None:
    labels = changed.polars["education"]
    tree = changed.trees["education"]
    leaves = tree.levels[0].to_list()
    shares = dict.fromkeys(WORDS, 0.0)
    for label in labels.filter(labels != "*").to_list():
        under = [label] if label in WORDS else []
        for level in tree.levels[1:]:
            under = under or [leaf for leaf, node in zip(leaves, level.to_list(), strict=True) if node == label]
        for leaf in under:
            shares[leaf] += 1 / len(under)
    assert any(label not in WORDS and label != "*" for label in labels.to_list()), "some cell is a named group"
    total = sum(shares.values())
    assert shares_of(changed, "education") == pytest.approx({w: s / total for w, s in shares.items()}, abs=0.0006)


def test_the_loss_of_a_release_is_the_same_in_every_chapter(changed: Anonymized) -> None:
    found = quality(changed.table, changed.shown, changed.policy.quasi_identifiers, hierarchies=changed.trees)
    assert found.loss == pytest.approx(changed.findings.loss)
    assert all(loss is not None for loss in found.by_column.values())


def test_dates_in_a_format_of_their_own_keep_their_shares_and_their_mean(changed: Anonymized) -> None:
    after = shares_of(changed, "born")
    assert sum(after.values()) == pytest.approx(1, abs=0.005)
    assert max(after.values()) < 0.25
    found = quality(changed.table, changed.shown, ["born"], hierarchies=changed.trees)
    assert found.analysis is not None
    mean = found.analysis.means[0]
    assert mean.kind == "date"
    days = [(1950 - 1970) * 365 - 5 + (i * 977) % 18_000 for i in range(ROWS)]
    assert mean.original == pytest.approx(sum(days) / ROWS)
    assert mean_name(mean.original, mean.kind) == "1974-07-30"
    assert mean.released == pytest.approx(mean.original, abs=365)
