"""Files that are written in different ways are refused with the reason, rather than found safe."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal

POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"},
    "attacks": {"linkability": "10%"},
}


def people(seed: int, rows: int = 200) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 80, rows),
            "sex": draw.choice(["f", "m"], rows),
            "zip": draw.integers(93701, 93790, rows),
            "ill": draw.choice(["flu", "cold", "heart"], rows),
        }
    )


@pytest.mark.parametrize(
    ("column", "rewritten", "cure"),
    [
        ("sex", pl.col("sex").str.to_uppercase(), "upper and lower case"),
        ("ill", pl.col("ill").str.to_uppercase(), "upper and lower case"),
        ("ill", pl.format("{} ", "ill"), "blanks around"),
        ("zip", pl.format("z{}", "zip"), "text in the release"),
        ("zip", pl.format("0{}", "zip"), "leading zeros"),
        ("zip", pl.format("{}.0", "zip"), "text in the release"),
    ],
)
def test_the_battery_refuses_a_column_that_nobody_fits(column: str, rewritten: pl.Expr, cure: str) -> None:
    ours, theirs = people(1), people(2)
    with pytest.raises(shoal.InputError, match=f"No value of column '{column}' of the original fits") as error:
        shoal.attack(ours.with_columns(rewritten.alias(column)), original=ours, control=theirs, policy=POLICY)
    assert cure in error.value.cure


def test_the_battery_refuses_a_control_that_is_written_otherwise() -> None:
    ours, theirs = people(1), people(2).with_columns(pl.col("sex").str.to_uppercase())
    with pytest.raises(shoal.InputError, match="of the control fits"):
        shoal.attack(ours, original=ours, control=theirs, policy=POLICY)


def test_sets_of_a_release_are_looked_into() -> None:
    made = shoal.anonymize(people(1), POLICY, k=5, method="mondrian")
    with pytest.raises(shoal.InputError, match="column 'sex' of the original"):
        shoal.attack(made, original=people(1).with_columns(pl.col("sex").str.to_uppercase()))


@pytest.mark.parametrize(("codes", "cure"), [(["Male", "Female"], "same codes"), (["M ", "F "], "blanks")])
def test_a_star_does_not_hide_other_codes(codes: list[str], cure: str) -> None:
    release = {"sex": ["M", "F", "M", "*"], "age": ["[20;29]"] * 4}
    with pytest.raises(shoal.InputError, match="No value of column 'sex'") as error:
        shoal.attack_link(release, identified={"sex": codes, "age": [25, 26]})
    assert cure in error.value.cure


def test_a_column_of_stars_fits_anybody() -> None:
    assert shoal.attack_link({"sex": ["*", "*"]}, identified={"sex": ["f"]}).candidates.smallest == 2


def test_prefixes_of_digits_are_read_without_a_manifest() -> None:
    release = {"zip": ["9370*", "9370*", "9371*"], "sex": ["f", "m", "f"]}
    for known in ([93701, 93712], ["93701", "93712"]):
        found = shoal.attack_link(release, identified=pl.DataFrame({"zip": known}), on="zip")
        assert (found.unmatched, found.unique_matches, found.expected_correct) == (0, 1, 1.5)
