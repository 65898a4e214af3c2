"""Input that would make an attack say something false is refused, with its cure."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import shoal

ROLES = {"columns": {"age": "quasi-identifier", "ill": "sensitive"}}
PEOPLE = pl.DataFrame({"id": range(1, 41), "age": [20 + row % 20 for row in range(40)], "ill": ["a", "b"] * 20})


@pytest.mark.parametrize(
    "written",
    [
        pl.col("id").cast(pl.Float64),
        pl.col("id").cast(pl.String).str.zfill(6),
        pl.format(" {} ", "id"),
        pl.format("{}.0", "id"),
    ],
)
def test_control_people_are_recognised_however_their_ids_are_written(written: pl.Expr) -> None:
    control = PEOPLE.with_columns(written.alias("id"))
    with pytest.raises(shoal.InputError, match="40 people of the control are in the original"):
        shoal.attack(PEOPLE, original=PEOPLE, control=control, policy=ROLES, id_column="id")


def test_ids_that_differ_only_in_zeros_are_different_people() -> None:
    ours = PEOPLE.with_columns(id=pl.Series(["007", "7", *map(str, range(100, 138))]))
    theirs = PEOPLE.with_columns(id=pl.Series(["0007", "8", *map(str, range(200, 238))]))
    assert shoal.attack(PEOPLE, original=ours, control=theirs, policy=ROLES, id_column="id").attacks


@pytest.mark.parametrize("where", ["original", "control"])
def test_a_missing_id_is_refused(where: str) -> None:
    files = {"original": PEOPLE, "control": PEOPLE.with_columns(pl.col("id") + 100)}
    files[where] = files[where].with_columns(id=pl.when(pl.col("age") > 21).then("id"))
    with pytest.raises(shoal.InputError, match=f"Column 'id' is empty in rows of the {where}"):
        shoal.attack(PEOPLE, **files, policy=ROLES, id_column="id")


@pytest.mark.parametrize(
    "attack",
    [
        lambda: shoal.attack(PEOPLE, policy=ROLES, seed=-1),
        lambda: shoal.attack_link(PEOPLE, identified=PEOPLE, seed=-1),
        lambda: shoal.attack_unicity(PEOPLE, person="id", columns="age", seed=-1),
        lambda: shoal.attack_scoreboard(PEOPLE, person="id", item="age", seed=-1),
        lambda: shoal.attack_membership(PEOPLE, candidates=PEOPLE, reference=PEOPLE, seed=-1),
    ],
)
def test_a_seed_below_zero_is_refused(attack: Any) -> None:
    with pytest.raises(shoal.InputError, match="seed is -1"):
        attack()
