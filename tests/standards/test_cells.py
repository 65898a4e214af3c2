"""Tables of counts: small cells that are shown, and those that follow from the margins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.cli import app
from shoal.methods.cells import cells


def grid(counts: list[list[int | str]], totals: bool = True) -> pl.DataFrame:
    """A table of two dimensions, with both margins unless told otherwise; texts are marks of suppression."""
    rows = []
    for i, line in enumerate(counts):
        rows += [(f"r{i}", f"c{j}", str(value)) for j, value in enumerate(line)]
    return pl.DataFrame(rows, schema=["row", "column", "n"], orient="row") if not totals else pl.DataFrame(
        rows + with_totals(counts), schema=["row", "column", "n"], orient="row"
    )  # fmt: skip


TRUE = [[20, 5, 30], [40, 50, 60], [70, 80, 90]]


def with_totals(counts: list[list[int | str]]) -> list[tuple[str, str, str]]:
    true = np.array(TRUE)
    rows = [(f"r{i}", "Total", str(true[i].sum())) for i in range(len(counts))]
    rows += [("Total", f"c{j}", str(true[:, j].sum())) for j in range(len(counts[0]))]
    return [*rows, ("Total", "Total", str(true.sum()))]


def test_a_small_count_that_is_shown() -> None:
    found = cells(grid([list(line) for line in TRUE]), by=["row", "column"], count="n")
    assert (found.small, found.derivable, found.verdict) == (1, 0, "refused")
    assert cells(grid([list(line) for line in TRUE]), by=["row", "column"], count="n", least=5).verdict == "holds"


def test_one_suppressed_cell_follows_from_its_margin() -> None:
    found = cells(grid([[20, "*", 30], [40, 50, 60], [70, 80, 90]]), by=["row", "column"], count="n")
    assert (found.small, found.suppressed, found.derivable, found.verdict) == (0, 1, 1, "refused")


def test_two_in_a_row_follow_from_their_columns() -> None:
    found = cells(grid([["*", "*", 30], [40, 50, 60], [70, 80, 90]]), by=["row", "column"], count="n")
    assert found.derivable == 1  # both are known; 20 is not small


def test_four_in_a_square_are_safe() -> None:
    found = cells(grid([["*", "<11", 30], ["*", "*", 60], [70, 80, 90]]), by=["row", "column"], count="n")
    assert (found.derivable, found.verdict) == (0, "holds")


def test_a_row_that_is_left_out_follows_too() -> None:
    full = grid([list(line) for line in TRUE])
    found = cells(full.filter(~((pl.col("row") == "r0") & (pl.col("column") == "c1"))), by=["row", "column"], count="n")
    assert (found.missing, found.derivable) == (1, 1)


def test_without_margins_nothing_follows() -> None:
    found = cells(grid([[20, "*", 30], [40, 50, 60], [70, 80, 90]], totals=False), by=["row", "column"], count="n")
    assert (found.margins, found.verdict) == (0, "holds")


def test_bounds_alone_can_pin_cells() -> None:
    # two unknown cells that sum up to nought are both nought; that may be shown
    frame = pl.DataFrame({"sex": ["f", "m", "x", "Total"], "n": ["*", "*", "25", "25"]})
    assert cells(frame, by="sex", count="n").verdict == "holds"
    with pytest.raises(shoal.InputError, match="add up"):
        cells(frame.with_columns(n=pl.Series(["*", "*", "25", "24"])), by="sex", count="n")


@given(
    st.integers(2, 4), st.integers(2, 4), st.data(),
)  # fmt: skip
def test_against_all_tables_that_fit(height: int, width: int, data: st.DataObject) -> None:
    """A cell is derivable exactly where all tables with the same shown figures agree on it (searched by hand)."""
    size = height * width
    true = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))).reshape(height, width)
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(height, width)
    rows = [(f"r{i}", f"c{j}", "*" if hidden[i, j] else str(true[i, j])) for i in range(height) for j in range(width)]
    rows += [(f"r{i}", "Total", str(true[i].sum())) for i in range(height)]
    rows += [("Total", f"c{j}", str(true[:, j].sum())) for j in range(width)]
    rows += [("Total", "Total", str(true.sum()))]
    frame = pl.DataFrame(rows, schema=["row", "column", "n"], orient="row")
    found = cells(frame, by=["row", "column"], count="n")
    fixed = 0
    for i, j in zip(*np.nonzero(hidden), strict=True):
        fixed += not movable(true, hidden, int(i), int(j)) and 1 <= true[i, j] <= 10
    # bounds may miss a cell that only a search over all tables pins; linear derivation never does, nor is one made up
    assert found.derivable <= fixed
    assert found.derivable >= sum(1 for i, j in zip(*np.nonzero(hidden), strict=True)
                                  if alone(hidden, int(i), int(j)) and 1 <= true[i, j] <= 10)  # fmt: skip


def alone(hidden: np.ndarray, i: int, j: int) -> bool:
    return hidden[i].sum() == 1 or hidden[:, j].sum() == 1


def movable(true: np.ndarray, hidden: np.ndarray, i: int, j: int) -> bool:
    """Whether a cycle of hidden cells through (i, j) can be raised and lowered in turn."""
    height, width = true.shape

    def search(row: int, column: int, used: frozenset[tuple[int, int]], sign: int, along_row: bool) -> bool:
        in_row = [(row, other) for other in range(width) if other != column]
        in_column = [(other, column) for other in range(height) if other != row]
        others = in_row if along_row else in_column
        for cell in others:
            if not hidden[cell] or (cell in used and cell != (i, j)):
                continue
            if cell == (i, j):
                if not along_row and len(used) >= 4:
                    return True
                continue
            if -sign < 0 and true[cell] == 0:
                continue
            if search(*cell, used | {cell}, -sign, not along_row):
                return True
        return False

    return any(search(i, j, frozenset({(i, j)}), sign, True) for sign in (1, -1) if sign > 0 or true[i, j] > 0)


def test_bad_tables_are_refused() -> None:
    with pytest.raises(shoal.InputError, match="twice"):
        cells(pl.DataFrame({"sex": ["f", "f"], "n": [20, 30]}), by="sex", count="n")
    with pytest.raises(shoal.InputError, match="neither counts"):
        cells(pl.DataFrame({"sex": ["f", "m"], "n": ["20", "many"]}), by="sex", count="n")
    with pytest.raises(shoal.InputError, match="not counts"):
        cells(pl.DataFrame({"sex": ["f", "m"], "n": [20.5, 30]}), by="sex", count="n")


def test_the_command_exits_with_1(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    grid([[20, "*", 30], [40, 50, 60], [70, 80, 90]]).write_csv(path)
    done = CliRunner().invoke(app, ["cells", str(path), "--by", "row,column", "--count", "n", "--json"])
    assert done.exit_code == 1
    assert '"derivable": 1' in done.stdout
    grid([[20, 50, 30], [40, 50, 60], [70, 80, 90]], totals=False).write_csv(path)
    done = CliRunner().invoke(app, ["cells", str(path), "--by", "row,column", "--count", "n"])
    assert done.exit_code == 0, done.output
