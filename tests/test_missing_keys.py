"""Missing quasi-identifiers: strict and wildcard readings beside each other, and matches that count for a part."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.exposure.measure import readings_of_missing
from shoal.storage.reading import read
from shoal.storage.rows import Rows

KEYS = st.lists(st.tuples(*[st.sampled_from([0, 1, None])] * 3), min_size=1, max_size=25)


def by_hand(rows: list[tuple[int | None, ...]], alpha: float) -> list[float]:
    """sdcMicro's rule, record by record: equal keys and complete records that match count whole, others as alpha."""
    sizes = []
    for mine in rows:
        size = 0.0
        for other in rows:
            if other == mine:
                size += 1
            elif all(a is None or b is None or a == b for a, b in zip(mine, other, strict=True)):
                size += alpha if None in other else 1
        sizes.append(size)
    return sizes


@settings(max_examples=60, deadline=None)
@given(KEYS, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_readings_by_hand(rows: list[tuple[int | None, ...]], alpha: float) -> None:
    shown = [row for row in rows if any(value is not None for value in row)]  # all missing: counted apart
    missing = any(None in row for row in rows)
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row", strict=False).cast(pl.Int64)
    found = readings_of_missing(Rows.of(read(frame), ["a", "b", "c"]), alpha)
    if not missing or not shown:
        assert found == {}
        return
    readings = {"strict": [shown.count(row) for row in shown], "wildcard": by_hand(shown, 1)}
    if alpha < 1:
        readings["weighted"] = by_hand(shown, alpha)
    expected = {name: (min(sizes), sum(size < 2 for size in sizes)) for name, sizes in readings.items()}
    assert {name: (reading.k, reading.uniques) for name, reading in found.items()} == expected


def test_both_readings_whatever_the_rule() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [5, None, 6, 6]})
    for rule in ("value", "wildcard"):
        found = shoal.risk(frame, quasi_identifiers=["a", "b"], null_rule=rule)  # type: ignore[arg-type]
        assert (found.readings["strict"].k, found.readings["wildcard"].k) == (1, 2)
        assert found.k == found.readings["strict" if rule == "value" else "wildcard"].k
    assert "weighted" not in found.readings
    assert shoal.risk(frame, quasi_identifiers=["a"], null_rule="value").readings == {}


def test_alpha_of_a_policy_and_beside_it() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [5, None, 6, 6]})
    policy = shoal.Policy.model_validate({"wildcard_alpha": "25%"})
    found = shoal.risk(frame, quasi_identifiers=["a", "b"], policy=policy)
    assert found.readings["weighted"].k == 1.25
    found = shoal.risk(frame, quasi_identifiers=["a", "b"], policy=policy, wildcard_alpha=0.5)
    assert found.readings["weighted"].k == 1.5


@pytest.mark.parametrize("alpha", [-0.1, 1.5, "many", True])
def test_what_is_not_an_alpha(alpha: float) -> None:
    with pytest.raises(InputError, match="not a share"):
        shoal.risk({"a": [1, None]}, quasi_identifiers=["a"], wildcard_alpha=alpha)
