"""Masking in steps and regeneration, against the golden values of Sánchez et al."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.methods.mask import AGE_GROUPS, COARSE_AGE_GROUPS, MaskStep, _boxed, _states, mask, masked_uniques
from shoal.methods.regenerate import filled_cells
from shoal.ranges.boxed import Boxed
from shoal.ranges.coverage import fit
from shoal.storage.classes import Coded, class_of_each_row, pack
from shoal.storage.reading import read


def table_s3() -> list[MaskStep]:
    """The steps of Table S3, in the printed order."""
    age = (0, 85)
    return [
        MaskStep("age_yrs", starts=AGE_GROUPS, domain=age),
        MaskStep("ethncty", domain=(1, 3)),
        MaskStep("race", domain=(1, 6)),
        MaskStep("sex", domain=(1, 4)),
        MaskStep("age_yrs", starts=COARSE_AGE_GROUPS, domain=age),
        MaskStep("age_yrs", domain=age),
        MaskStep("adm_qtr", domain=(1, 4)),
        MaskStep("patzip", digits=2),
        MaskStep("patcnty"),
        MaskStep("patzip"),
    ]


def boxes_of(boxed: Boxed) -> list[list[list[int]]]:
    ends = [(side.scale[side.low], side.scale[side.high]) for side in boxed.sides.values()]
    return [[[int(low[box]), int(high[box])] for low, high in ends] for box in boxed.box_of_row.tolist()]


def test_golden_levels_and_boxes(golden: Any) -> None:
    case = golden["masking_tableS3"]["R1"]
    table = read({name: case["rows"][name] for name in golden["masking_tableS3"]["columns"]})
    found = mask(table.select(table.names), table_s3())
    assert found.level_of_row.tolist() == case["level"]
    assert boxes_of(found.boxed) == case["boxes"]


@pytest.mark.parametrize(
    ("name", "more"),
    [("demographics only/R1", []), ("+hospital/R1", ["oshpd_id"]), ("+hospital+los/R1", ["oshpd_id", "los"])],
)
def test_golden_levels_of_100_000_discharges(golden: Any, name: str, more: list[str]) -> None:
    """Which columns decide uniqueness is a parameter: the seven of the table, or more."""
    expected = golden["masking_100k"][name]
    table = shoal.read(shoal.sample_data("discharges", 100_000))
    seven = golden["masking_tableS3"]["columns"]
    columns = table.select([*seven, *more])
    found = mask(columns, table_s3())
    levels = np.bincount(found.level_of_row, minlength=len(expected["levels"]))
    assert levels.tolist() == expected["levels"]
    assert (found.level_of_row >= 3).mean() == pytest.approx(expected["race_masked"], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "more"),
    [("demographics only/R1", []), ("+hospital/R1", ["oshpd_id"]), ("+hospital+los/R1", ["oshpd_id", "los"])],
)
def test_golden_uniques_after_masking(golden: Any, name: str, more: list[str]) -> None:
    """Eq 1 on 100,000 boxes of a chain: on the columns that were counted, and on all nine.

    The golden file reads a ZIP prefix as the ZIP codes that occur. Where every code counts, occurring or not, a range
    is harder to cover, so uniques can only be more.
    """
    expected = golden["masking_100k"][name]
    table = shoal.read(shoal.sample_data("discharges", 100_000))
    seven = golden["masking_tableS3"]["columns"]
    nine = table.select([*seven, "oshpd_id", "los"])
    found = mask(nine, table_s3(), counted=[*seven, *more])
    for columns, key in ((nine[: 7 + len(more)], "eq1_same_attrs"), (nine, "eq1_all9")):
        observed = fit([found.boxed.ranges(column, "observed") for column in columns])
        whole = fit([found.boxed.ranges(column) for column in columns])
        assert not observed.undecided.any()
        assert int(observed.unique.sum()) == expected[key]
        chain = masked_uniques(columns, table_s3(), found.level_of_row)
        assert chain.tolist() == observed.unique[observed.box_of_row].tolist()
        assert int(whole.unique.sum()) >= expected[key]


rows = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=30)


@given(rows)
def test_boxes_hold_their_rows_and_only_uniques_move_on(pairs: list[tuple[int, int]]) -> None:
    frame = pl.DataFrame(pairs, schema=["a", "b"], orient="row")
    columns = read(frame).select(["a", "b"])
    found = mask(columns, [MaskStep("a", starts=[0, 10, 20, 30]), MaskStep("b"), MaskStep("a")])
    for pair, box in zip(pairs, boxes_of(found.boxed), strict=True):
        assert all(low <= value <= high for value, (low, high) in zip(pair, box, strict=True))
    # whoever stays at a level shares it with another, except at the last
    kept = found.level_of_row < 3
    keys = [Coded(found.boxed.box_of_row, found.boxed.boxes), Coded(found.level_of_row, 4)]
    classes, count = class_of_each_row(pack(keys))
    assert (np.bincount(classes, minlength=count)[classes][kept] > 1).all()


@given(rows, st.lists(st.integers(0, 3), min_size=30, max_size=30))
def test_uniques_of_any_levels_are_those_of_fitting_boxes(pairs: list[tuple[int, int]], levels: list[int]) -> None:
    """Records released at any level of a chain, not only where masking would leave them."""
    frame = pl.DataFrame(pairs, schema=["a", "b"], orient="row")
    columns = read(frame).select(["a", "b"])
    steps = [MaskStep("a", starts=[0, 10, 20, 30]), MaskStep("b"), MaskStep("a")]
    level_of_row = np.array(levels[: len(pairs)])
    boxed = _boxed(columns, _states(columns, steps), level_of_row)
    known = fit([boxed.ranges(column, "observed") for column in columns])
    assert masked_uniques(columns, steps, level_of_row).tolist() == known.unique[known.box_of_row].tolist()


def test_uniques_where_keys_take_more_than_32_bits() -> None:
    """Twelve columns of forty values: boxes are put together by keys of 64 bits, in two steps."""
    rng = np.random.default_rng(0)
    some = rng.integers(0, 40, (60, 12))
    table = read({f"c{j}": np.concatenate([some, some[:20], some[:30]])[:, j] for j in range(12)})
    columns = table.select(table.names)
    steps = [MaskStep("c0", starts=[0, 20]), MaskStep("c0"), MaskStep("c11"), MaskStep("c5", starts=[0, 10])]
    level_of_row = rng.integers(0, 5, 110)
    boxed = _boxed(columns, _states(columns, steps), level_of_row)
    known = fit([boxed.ranges(column, "observed") for column in columns])
    found = masked_uniques(columns, steps, level_of_row)
    assert found.tolist() == known.unique[known.box_of_row].tolist()
    assert 0 < found.sum() < 110


def test_groups_must_hold_every_value() -> None:
    with pytest.raises(InputError, match="leave out"):
        mask(read({"a": [1, 9]}).select(["a"]), [MaskStep("a", starts=[5])])
    with pytest.raises(InputError, match="no column 'x'"):
        mask(read({"a": [1, 9]}).select(["a"]), [MaskStep("x")])


def test_golden_regeneration(golden: Any) -> None:
    case = golden["s1_invariant"]
    wanted = {int(value): count for value, count in case["v"].items()}
    masked = np.arange(20) < case["masked"]
    filled = filled_cells(masked, wanted, seed=3)
    counts = {str(value): int((filled == value).sum()) for value in wanted}
    assert counts == {value: case["after"][value] for value in counts}
    assert int((filled[masked] == -1).sum()) == case["after"]["still_masked"]
    assert (filled[~masked] == -1).all()
    assert sum(golden["s1_race"]["v"].values()) == golden["s1_race"]["total"] == 1_072_350


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 5), st.integers(0, 5), st.integers(0, 9))
def test_regeneration_fills_what_was_asked(masked: list[bool], ones: int, fours: int, seed: int) -> None:
    array = np.array(masked)
    if ones + fours > array.sum():
        with pytest.raises(InputError, match="asks for"):
            filled_cells(array, {1: ones, 4: fours}, seed)
        return
    filled = filled_cells(array, {4: fours, 1: ones}, seed)
    assert ((filled == 1).sum(), (filled == 4).sum()) == (ones, fours)
    assert (filled[~array] == -1).all()
    assert filled.tolist() == filled_cells(array, {1: ones, 4: fours}, seed).tolist()
