"""An infinite number lies in no interval and has no distance: every method that needs one says so alike."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError

METHODS: list[dict[str, Any]] = [
    {"method": "coarsen", "resolution": 2},
    {"method": "lattice", "k": 2},
    {"method": "sorted-clusters", "k": 2},
    {"method": "mondrian", "k": 2},
]


@pytest.mark.parametrize("how", METHODS, ids=lambda how: how["method"])
def test_an_infinite_number_is_one_sentence(how: dict[str, Any]) -> None:
    frame = pl.DataFrame({"age": [30.0, 31.0, 40.0, float("-inf")]})
    with pytest.raises(InputError, match="Column 'age' holds infinite numbers"):
        shoal.anonymize(frame, quasi_identifiers=["age"], **how)
