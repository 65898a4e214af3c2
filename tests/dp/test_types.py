"""Types are declared: one person's odd value changes no type, no error and no other person's value."""

from __future__ import annotations

import csv
import tempfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dp import Desk, open_desk
from shoal.dp.store import read_columns
from shoal.dp.types import TYPES, UndeclaredTypes, convert, propose
from shoal.errors import InputError
from shoal.storage.reading import read

CELLS = [
    "30", "31.0", "n/s", "", "NA", "1e400", "9007199254740993", "9223372036854775808", "1.5", "00501", "2020-01-01",
    "2020-13-01", "2020-01-01 12:30", "true", "FALSE", " 7", "1,200", "1,2", "nan", "inf", "-0", "+5", "５", "250.10",
    "250.1", "'", "null", "x" * 50,
]  # fmt: skip


def opened(rows: list[str], word: str, **how: Any) -> Desk:
    folder = Path(tempfile.mkdtemp())
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([["age", "sex"], *([cell, "f"] for cell in rows)])
    settings = {"epsilon": "1000000", "delta": "0.1", "types": {"age": word, "sex": "text"}} | how
    open_desk(folder / "people.csv", folder=folder / "desk", **settings)
    return Desk(folder / "desk")


def stored(desk: Desk) -> list[Any]:
    return read_columns(desk.folder / "columns", desk.terms, ["age"], persons=False)["age"].to_list()


ASKED: list[tuple[str, str | None, dict[str, Any]]] = [
    ("count", None, {"where": "age >= 31"}), ("count", None, {"where": "age = 'x'"}),
    ("mean", "age", {"bounds": "0,100"}),
    ("sum", "age", {"bounds": "0,100"}), ("variance", "age", {"bounds": "0,100"}), ("bounds", "age", {}),
    ("median", "age", {"bounds": "0,100"}), ("histogram", "age", {"bins": "0,18,65"}), ("count", None, {"by": "age"}),
    ("histogram", "age", {}), ("count", None, {"where": "age is not null"}),
]  # fmt: skip


def told(desk: Desk, kind: str, column: str | None, how: dict[str, Any]) -> Any:
    """The answer (without noise: epsilon is huge), or the words of the refusal."""
    try:
        return desk.query(kind, column, epsilon="30000", **how).answer
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("word", ["integer", "number"])
def test_one_odd_cell_in_a_csv_changes_nothing(word: str) -> None:
    """The case of the attack: `n/s` among ages turned every answer into an error."""
    ages = [*["30", "31", "60", "62"] * 10, "45"]
    with opened(ages, word) as without, opened([*ages, "n/s"], word) as with_it:
        assert stored(with_it) == [*stored(without), None]
        assert without.terms.types == with_it.terms.types == {"age": word, "sex": "text"}
        for kind, column, how in ASKED:
            one, other = told(with_it, kind, column, how), told(without, kind, column, how)
            assert one == (pytest.approx(other, rel=1e-3) if isinstance(other, float) else other)
            assert with_it.preview("count", epsilon="1").words == without.preview("count", epsilon="1").words
        assert with_it.query("count", epsilon="30000").answer == without.query("count", epsilon="30000").answer + 1


@given(st.lists(st.sampled_from(CELLS), min_size=2, max_size=8), st.sampled_from(TYPES))
@settings(max_examples=40, deadline=None)
def test_no_cell_changes_how_another_is_read(cells: list[str], word: str) -> None:
    with opened(cells, word) as with_all, opened(cells[1:], word) as without_one:
        assert stored(with_all)[1:] == stored(without_one)
        assert [column.type for column in with_all.terms.columns] == [
            column.type for column in without_one.terms.columns
        ]


@pytest.mark.parametrize(
    ("word", "cells", "values"),
    [
        ("integer", ["7", "07", "7.0", "7.5", "-1,200", "9223372036854775807", "9223372036854775808", "n/s", " 8 "],
         [7, 7, 7, None, -1200, 2**63 - 1, None, None, 8]),
        ("number", ["7", ".5", "1e3", "1,200.5", "12,3", "nan", "0x10"], [7, 0.5, 1000, 1200.5, None, None, None]),
        ("text", ["7", "n/s", "NA"], ["7", "n/s", "NA"]),
        ("date", ["2020-02-29", "2021-02-29", "2020-02-29 10:00", "29.2.2020"], [date(2020, 2, 29), None, None, None]),
        ("datetime", ["2020-02-29", "2020-02-29 10:00", "2020-02-29T10:00:01.5", "noon"],
         [datetime(2020, 2, 29), datetime(2020, 2, 29, 10), datetime(2020, 2, 29, 10, 0, 1, 500_000), None]),
        ("boolean", ["true", "False", "TRUE", "yes", "1"], [True, False, True, None, None]),
    ],
)  # fmt: skip
def test_what_fits_a_type(word: Any, cells: list[str], values: list[Any]) -> None:
    assert convert(pl.Series(cells), word).to_list() == values


def test_frames_bring_values_that_are_read_one_by_one_too() -> None:
    assert convert(pl.Series([30.0, None, 1.5, float("inf")]), "integer").to_list() == [30, None, None, None]
    assert convert(pl.Series([1, 0, 2]), "boolean").to_list() == [True, False, None]
    assert convert(pl.Series([30, 31]), "text").to_list() == convert(pl.Series([30.0, 31.0]), "text").to_list()
    assert convert(pl.Series([date(2020, 1, 1)]), "datetime").to_list() == [datetime(2020, 1, 1)]
    assert convert(pl.Series([date(2020, 1, 1)]), "number").to_list() == [None]
    for word in TYPES:
        assert convert(pl.Series([None, None]), word).to_list() == [None, None]


def test_without_types_nothing_is_opened_and_the_proposal_is_told(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["30", "31"] * 10 + ["n/s"], "zip": ["00501"] * 21, "seen": ["2020-01-01"] * 21,
                          "ill": ["true", "false", "true"] * 7, "charge": ["1,200.50"] * 21,
                          "n": [1] * 21})  # fmt: skip
    with pytest.raises(UndeclaredTypes) as refused:
        open_desk(frame, folder=tmp_path / "desk", epsilon="1", types={"n": "number"})
    assert refused.value.proposed == "age=integer,zip=text,seen=date,ill=boolean,charge=number"
    assert list(tmp_path.iterdir()) == []
    found = open_desk(frame, folder=tmp_path / "desk", epsilon="1", types={"n": "number", "*": "proposed"})
    assert found.types == {
        "age": "integer", "zip": "text", "seen": "date", "ill": "boolean", "charge": "number", "n": "number"
    }  # fmt: skip
    assert found.unfit_values == {"age": 1}
    with Desk(tmp_path / "desk") as desk:
        assert desk.budget().columns == found.types


@pytest.mark.parametrize(
    ("types", "said"),
    [({"age": "whole"}, "not a type"), ({"agee": "integer"}, "no column 'agee'"), ("guessed", "not a type"),
     ({"who": "text", "*": "proposed"}, "no column 'who'")],
)  # fmt: skip
def test_bad_types_open_no_desk(types: Any, said: str, tmp_path: Path) -> None:
    people = {"who": [1, 2], "age": [3, 4]}
    with pytest.raises(InputError, match=said):
        open_desk(people, folder=tmp_path / "desk", epsilon="1", types=types, person="who", max_rows_per_person=1)
    assert list(tmp_path.iterdir()) == []


def test_codes_and_two_writings_of_a_number_are_proposed_as_text() -> None:
    table = read({"icd": ["250.1", "250.10"], "zip": ["02139", "10001"], "n": ["1", "2"], "none": ["NA", ""]})
    assert [propose(column) for column in table.columns.values()] == ["text", "text", "integer", "text"]


def test_missing_words_of_the_owner_are_missing_for_every_type(tmp_path: Path) -> None:
    from shoal.storage.reading import Options

    (tmp_path / "a.csv").write_text("town,who\nRome,1\nunknown,2\n")
    types = {"town": "text", "who": "text"}
    found = open_desk(
        tmp_path / "a.csv", folder=tmp_path / "desk", epsilon="9", types=types, options=Options(missing=("unknown",))
    )
    assert found.unfit_values == {}
    with Desk(tmp_path / "desk") as desk:
        assert read_columns(desk.folder / "columns", desk.terms, ["town"], persons=False)["town"].to_list() == [
            "Rome",
            None,
        ]
