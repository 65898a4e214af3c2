"""Codes that a file declares as missing or labels, scaled weights, wrong code books, and numbers that are no numbers
of things: what a proposed policy makes of them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl
import pytest
import yaml

import shoal
from shoal.detection.profile import profile, propose_labelled_type
from shoal.storage.formats.labels import ColumnLabels
from shoal.storage.reading import read

BOOK = {
    "age": ColumnLabels("Age", {998: "refused", 999: "unknown"}, ((998, 999),)),
    "health": ColumnLabels("Health", {1: "very good", 2: "good", 3: "fair", 4: "bad", 9: "refused"}, ((9, 9),)),
    "born": ColumnLabels("Country of birth", {101: "A", 205: "B", 340: "C"}),
}


def table(rows: int = 200) -> pl.DataFrame:
    numbers = np.arange(rows)
    return pl.DataFrame(
        {
            "age": np.where(numbers % 20 == 0, 999, 20 + numbers % 40),
            "health": np.where(numbers % 25 == 0, 9, 1 + numbers % 4),
            "born": np.array([101, 205, 340])[numbers % 3],
        }
    )


def test_codes_that_mean_missing_are_missing_in_the_proposed_policy() -> None:
    found = profile(table(), codebook=BOOK)
    policy = yaml.safe_load(found.policy_text())
    assert policy["types"]["age"] == {"type": "number", "decimal": ".", "missing": ["999"]}
    assert policy["types"]["health"] == {"type": "ordered", "order": ["4", "3", "2", "1"], "missing": ["9"]}
    assert policy["types"]["born"] == "nominal"
    assert not any("999" in reason for column in found.columns for reason in column.reasons)
    released = shoal.anonymize(table(), policy=policy).frame
    assert not released["age"].cast(pl.String).str.contains("999").any()


def test_a_column_with_extended_missing_values_is_a_number_beside_them() -> None:
    column = read({"age": ["31", "4", ".a"]})["age"]
    own = ColumnLabels("Age", {".a": "refused"}, ((".a", ".a"),))
    found = propose_labelled_type(column, np.array([1, 1, 1]), 3, [], own).type
    assert found is not None
    assert (found.type, found.missing) == ("number", (".a",))


def test_labels_that_repeat_their_number_are_amounts() -> None:
    own = ColumnLabels("Age", {3: "3 years", 4: "4 years", 5: "5 or more years"})
    found = propose_labelled_type(read({"age": [3, 4, 5]})["age"], np.array([1, 1, 1]), 3, [], own).type
    assert found is not None
    assert found.type == "number"


def test_scaled_weights_are_proposed_as_a_comment() -> None:
    numbers = np.arange(200)
    frame = table().with_columns(sampling_weight=0.5 + (numbers % 11) / 10)
    text = profile(frame).policy_text()
    assert "weight" not in yaml.safe_load(text)
    assert "\n# weight: sampling_weight\n" in text
    whole = frame.with_columns(sampling_weight=pl.col("sampling_weight") * 40)
    assert yaml.safe_load(profile(whole).policy_text())["weight"] == "sampling_weight"


def test_a_code_book_of_another_table_is_refused() -> None:
    with pytest.raises(shoal.InputError, match="None of the 2 variables of the code book is in the table"):
        profile(table(), codebook={"q1": ColumnLabels("Sex"), "q2": ColumnLabels("Age")})


def test_sums_with_decimals_and_durations_do_not_identify() -> None:
    frame = pl.DataFrame(
        {
            "cost": pl.Series([Decimal(f"{100 + number}.25") for number in range(60)], dtype=pl.Decimal(10, 2)),
            "iv": [f"{number % 30}:00:00" for number in range(60)],
            "address": [f"fe80::{number:x}:1" for number in range(60)],
        }
    )
    cost, duration, address = profile(frame).columns
    assert cost.role != "identifier"
    assert duration.kind != "ip-address"
    assert address.kind == "ip-address"
