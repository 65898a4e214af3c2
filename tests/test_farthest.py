"""The papers' information loss straight from boxes: the same to the last digit as column by column."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.sorted_clusters import sorted_clusters
from shoal.storage.reading import read
from shoal.utility import loss
from shoal.utility.loss import information_loss, total_information_loss


@pytest.mark.parametrize("rows", [7, 1000, loss.BLOCK + 3])
def test_the_total_is_that_of_all_columns_to_the_last_digit(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss, "_MANY", 1)
    chance = np.random.default_rng(rows)
    table = {"age": chance.integers(0, 90, rows), "pay": chance.normal(size=rows).round(3), "same": np.full(rows, 4)}
    columns = read({name: values.tolist() for name, values in table.items()}).select(list(table))
    for k in (2, 3, 7):
        boxed = sorted_clusters(columns, k)
        found = loss.total_of_many(columns, boxed)
        assert found == information_loss(columns, boxed).total == total_information_loss(columns, boxed)
        # and by the formula, on the values themselves
        ends = [(side.scale[side.low], side.scale[side.high]) for side in boxed.sides.values()]
        squares = np.zeros(rows)
        for values, (low, high) in zip(table.values(), ends, strict=True):
            far = np.maximum(high[boxed.box_of_row] - values, values - low[boxed.box_of_row])
            squares += (far / values.std(ddof=1)) ** 2 if values.std() else 0
        assert found == pytest.approx(np.sqrt(squares).sum() / (3 * rows), rel=1e-12)


def test_few_rows_and_missing_values_are_left_to_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = read({"age": [30, 34, 51, 52]}).select(["age"])
    assert loss.total_of_many(columns, sorted_clusters(columns, 2)) is None
    monkeypatch.setattr(loss, "_MANY", 1)
    missing = read({"age": [30, 34, None, 52]}).select(["age"])
    assert loss.total_of_many(missing, sorted_clusters(columns, 2)) is None
