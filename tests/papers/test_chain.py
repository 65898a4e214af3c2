"""From masking to Tables S4 and S5: which cells are masked, correlations where nothing is, and after Algorithm S1."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.methods.mask import MaskStep, mask, masked_uniques
from shoal.reproduction import reproduce, reproduce_all
from shoal.reproduction.sanchez_methods import by_value, chain, masked_cells, rank_correlation
from shoal.reproduction.sanchez_printed import FILES
from shoal.reproduction.sanchez_tables import releases
from shoal.storage.reading import read

STEPS = [MaskStep("a", starts=[0, 2]), MaskStep("b"), MaskStep("a")]
tables = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=12)


def columns(rows: list[tuple[int, int, int]]) -> Any:
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    return read(frame).select(["a", "b", "c"])


@given(tables)
def test_correlations_are_those_of_unmasked_cells(rows: list[tuple[int, int, int]]) -> None:
    table = columns(rows)
    hidden = masked_cells(table, mask(table, STEPS))
    found = chain(table, hidden, seed=0)
    values = {name: np.array([row[j] for row in rows], float) for j, name in enumerate("abc")}
    for one, other in itertools.combinations("abc", 2):
        known = ~hidden[one] & ~hidden[other]
        ours = found["correlations_unmasked"][f"{one},{other}"]
        x, y = values[one][known], values[other][known]
        if known.sum() > 1 and np.ptp(x) and np.ptp(y):
            assert ours == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    assert found["unmasked_cells"] == {name: int((~hidden[name]).sum()) for name in "abc"}


@given(tables)
def test_a_full_known_table_is_the_plain_correlation(rows: list[tuple[int, int, int]]) -> None:
    """Nothing masked: nothing is filled, and both tables are the correlations of the original."""
    table = columns(rows)
    found = chain(table, {name: np.zeros(len(rows), bool) for name in "abc"}, seed=0)
    assert found["correlations_unmasked"] == found["correlations_filled"]
    values = np.array(rows, float)
    if np.ptp(values[:, 0]) and np.ptp(values[:, 1]):
        expected = np.corrcoef(values[:, 0], values[:, 1])[0, 1]
        assert found["correlations_filled"]["a,b"] == pytest.approx(expected, abs=1e-9)


def covered_by_others(rows: list[tuple[int, ...]], boxes: list[list[set[int]]], row: int) -> bool:
    """Eq 1 by brute force, over the values that occur."""
    points = itertools.product(*boxes[row])
    others = [box for place, box in enumerate(boxes) if place != row]
    return all(any(all(v in side for v, side in zip(point, box, strict=True)) for box in others) for point in points)


@given(tables, st.sampled_from([[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]))
def test_uniques_of_a_masked_table_by_knowledge(rows: list[tuple[int, int, int]], known: list[int]) -> None:
    table = columns(rows)
    level = mask(table, STEPS).level_of_row
    occur = [{row[j] for row in rows} for j in range(3)]
    boxes = []
    for row, at in zip(rows, level.tolist(), strict=True):
        a, b, c = {row[0]}, {row[1]}, {row[2]}
        if at >= 1:
            a = {value for value in occur[0] if (value < 2) == (row[0] < 2)}
        b = occur[1] if at >= 2 else b
        a = occur[0] if at >= 3 else a
        boxes.append([[a, b, c][j] for j in known])
    expected = [not covered_by_others(rows, boxes, row) for row in range(len(rows))]
    assert masked_uniques([table[j] for j in known], STEPS, level).tolist() == expected


def test_what_is_masked_by_value_by_hand() -> None:
    column = read({"race": [1, 1, 1, 2, 2, 6]}).select(["race"])[0]
    counts = by_value(column, np.array([True, False, False, True, False, True]))
    assert [(entry["value"], entry["records"], entry["masked"]) for entry in counts] == [
        (1, 3, 1),
        (2, 2, 1),
        (6, 1, 1),
    ]
    assert rank_correlation(counts) == -1.0  # a third, a half, all
    assert rank_correlation([{"records": 2, "masked": 1}, {"records": 4, "masked": 2}]) is None


def test_the_chain_runs_on_the_discharges() -> None:
    found = reproduce("sanchez", rows=2000).found
    chained, masked = found["chain"], found["masking"]["seven"]
    assert sum(entry["records"] for entry in masked["by_race"]) == 2000
    gone = sum(entry["masked"] for entry in masked["by_race"])
    assert chained["unmasked_cells"]["race"] == 2000 - gone
    assert chained["unmasked_cells"]["oshpd_id"] == chained["unmasked_cells"]["los"] == 2000  # never masked
    before, after = chained["correlations_unmasked"], chained["correlations_filled"]
    assert after["oshpd_id,los"] == pytest.approx(found["correlations"]["oshpd_id,los"], abs=1e-9)
    assert len(before) == len(after) == 36
    assert masked["eq1"]["CST"] == masked["uniques"]
    assert masked["eq1"]["C"] <= found["eq1"]["C"]


def test_the_commands_of_table_s10_run(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "shoal"]
    done = subprocess.run(
        [*run, "sample-data", "discharges", "-n", "300", "-o", "d.csv"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    one_of_each = {kind: command for _, kind, command in releases("d.csv", "r.csv") if kind != "as it is"}
    for number, (kind, command) in enumerate(one_of_each.items()):
        words = command.replace("r.csv", f"r{number}.csv").split()[1:]
        done = subprocess.run([*run, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (kind, done.stderr)
        assert "[" in (tmp_path / f"r{number}.csv").read_text()


def test_the_twelve_files_of_table_s10(tmp_path: Path) -> None:
    """As the algorithms make them; read back and written again from the first of them they are the same."""
    reproduce_all(["sanchez"], output=tmp_path / "one", rows=200, seed=1, charts=False, files=True)
    names = sorted(path.name for path in (tmp_path / "one").glob("*.txt"))
    assert names == sorted(FILES)
    assert len(names) == 12
    own = tmp_path / "one" / "SPD_dataset.txt"
    original = pl.read_csv(own)
    for name, (kind, k) in FILES.items():
        made = pl.read_csv(tmp_path / "one" / name, infer_schema=False)
        assert made.columns == original.columns
        assert made["charge"].cast(pl.Int64).to_list() == original["charge"].to_list()  # in the same order
        for column in original.columns[:-1]:
            ends = made[column].str.strip_chars("[]").str.split(";")
            low, high = ends.list.first().cast(pl.Int64), ends.list.last().cast(pl.Int64)
            assert ((low <= original[column]) & (original[column] <= high)).all(), (name, column)
        if kind.startswith("k-anonymity"):
            assert made.group_by(original.columns[:-1]).len()["len"].min() >= k  # type: ignore[operator]
    reproduce_all(
        ["sanchez"], output=tmp_path / "two", data=tmp_path / "one" / "SPD_dataset.txt", files=True, charts=False
    )
    for name in names:
        assert (tmp_path / "two" / name).read_text() == (tmp_path / "one" / name).read_text(), name
    with pytest.raises(InputError, match="is read and would be written"):
        reproduce_all(
            ["sanchez"], output=tmp_path / "one", data=tmp_path / "one" / "SPD_dataset.txt", files=True, force=True
        )
    with pytest.raises(InputError, match="no column 'charge'"):
        reproduce("sanchez", data=original.drop("charge"))
    with pytest.raises(InputError, match="holds text"):
        reproduce("sanchez", data=tmp_path / "one" / "8_coarsened_SPD.txt")
    with pytest.raises(InputError, match="too few"):
        reproduce("sanchez", data=original.head(9))


def test_the_ten_steps_of_table_s3_are_a_method() -> None:
    table = shoal.sample_data("discharges", 2_000)
    found = reproduce("sanchez", data=table).found["masking"]["seven"]
    names = [name for name in table.columns if name != "charge"]
    made = shoal.anonymize(table, quasi_identifiers=names, sensitive="charge", method="mask", steps="table-s3")
    masked = pl.any_horizontal(pl.col(names).cast(pl.String).str.contains(r"^\[|\*"))
    assert int((~made.polars.select(masked).to_series()).sum()) == found["unmasked_records"]
    with pytest.raises(InputError, match="has no columns"):
        shoal.anonymize({"age_yrs": [1, 2]}, quasi_identifiers=["age_yrs"], method="mask", steps="table-s3")
