"""What is wrong whatever the table is, is refused before the table is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal import progress
from shoal.errors import InputError
from shoal.methods.microaggregate import published_mdav as mdav

CASES: list[tuple[dict[str, Any], str]] = [
    ({"method": "coarsen"}, "needs a resolution"),
    ({"method": "recode"}, "needs something to recode"),
    ({"method": "microaggregate", "mdav": True, "effort": "best"}, "has no `effort` with `mdav`"),
    ({"method": "mondrian", "cuts": "strict", "effort": "best"}, "has no `effort` with `cuts` as published"),
    ({"method": "mondrian", "cuts": "relaxed", "effort": "fast"}, "has no `effort` with `cuts` as published"),
    ({"method": "mondrian", "plan": True, "effort": "fast"}, "has no `effort` with a `plan`"),
    ({"method": "lattice", "hierarchies": "/no/such/folder"}, "There is no folder"),
    ({"method": "mondrian", "hierarchies": {"age": "/no/age.csv"}}, "There is no file"),
    ({"policy": shoal.Policy(hierarchies={"age": "/no/age.csv"})}, "There is no file"),
]


@pytest.mark.parametrize(("how", "said"), CASES)
def test_it_is_refused_though_the_table_cannot_be_read(how: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        shoal.anonymize(tmp_path / "nobody.csv", quasi_identifiers=["age"], k=2, **how)


def test_a_percentage_without_its_sign_is_told_how_it_is_written() -> None:
    with pytest.raises(InputError, match="write 5% for percent"):
        shoal.Lattice(suppression=5)
    with pytest.raises(InputError, match=r"between 0% and 100%\."):
        shoal.Lattice(suppression=500)


def test_mdav_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(progress, "report", lambda step, done, total=None: told.append((done, total)))
    group, groups = mdav(np.random.default_rng(0).normal(size=(3000, 3)), 3)
    assert groups == 1000
    assert np.bincount(group).min() >= 3
    done = [number for number, total in told if total == 3000]
    assert len(done) > 50
    assert done == sorted(done)
