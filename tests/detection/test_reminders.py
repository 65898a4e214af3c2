"""What a column of text seems to be: said without asking all recognisers, and the same as if all were asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from labelled_columns import columns

import shoal
from shoal.detection.column_types import _SIGNS_OF_DATES, propose_type
from shoal.detection.undecided import _FILES_THAT_CHANGE_A_TYPE, _in_words, _looks_like, types_to_declare, view_of
from shoal.identifiers import RECOGNISERS, find_kinds
from shoal.policy import Policy
from shoal.storage import Column, Table
from shoal.storage.dates import whole_dates
from shoal.storage.reading import read

SCALE = ["low", "medium", "high"]
# header and values: each of the ways in which a kind decides, and does not
MADE: list[tuple[str, list[str]]] = [
    ("education", ["Bachelors", "HS-grad", "Masters", "10th", "Doctorate"]),
    ("zip", ["very low", "low", "medium", "high"]),
    ("sex", ["F", "female", "M", "male", "male"]),
    ("sex", ["Male", "Female"]),
    ("answer", ["F", "female", "M", "male", "male"]),
    ("town", ["Rome", "rome", "Milan"]),
    ("postal code", ["low lo", "med lo", "hig lo"]),
    ("notes", [*SCALE, *SCALE]),
    ("notes", [f"the {word} value that somebody wrote down" for word in ["ab", "cd", "ef", "gh"]]),
    ("seen", ["2021-03-14", "2020-12-01"]),
    ("zip", ["03/14/2021", "12/01/2020"]),
    ("notes", ["2021-03-14", "2020-12-01"]),
    ("paid", ["1,200.50", "3,100.00"]),
    ("age", ["20-29", "30-39", "90+"]),
]


def table_of(name: str, values: list[str] | pl.Series) -> Table:
    return read({name: values})


def by_all_recognisers(column: Column, records: int) -> str | None:
    counts = column.frequencies()
    return _in_words(propose_type(column, counts, records, find_kinds(view_of(column, counts, records))).type)


@pytest.mark.parametrize(("name", "values"), MADE)
def test_as_if_all_recognisers_were_asked(name: str, values: list[str]) -> None:
    for repeated in (values, values * 20):
        table = table_of(name, repeated)
        assert _looks_like(table[name], table.total) == by_all_recognisers(table[name], table.total)


def test_as_if_all_recognisers_were_asked_of_the_labelled_columns() -> None:
    texts = [entry for entry in columns() if entry.series.dtype == pl.String and entry.series.n_unique() > 1][::8]
    said = []
    for entry in texts:
        table = table_of(entry.header, entry.series)
        column = table[entry.header]
        if column.values.dtype == pl.String:
            said.append(_looks_like(column, table.total))
            assert said[-1] == by_all_recognisers(column, table.total), entry.case
    assert len(said) > 30
    assert len(set(said)) > 2


def test_free_text_and_postal_codes_are_found_by_their_own_files_alone() -> None:
    others = [file for file in RECOGNISERS if file not in _FILES_THAT_CHANGE_A_TYPE]
    for entry in columns()[::4]:
        assert not {"free-text", "postal-code"} & {found.kind for found in find_kinds(entry.view, others)}, entry.case


def test_a_policy_is_reminded_of_an_order() -> None:
    table = table_of("size", [*SCALE, *SCALE])
    [note] = types_to_declare(table, Policy(columns={"size": "quasi-identifier"}))
    assert note.startswith("size looks like words that come in an order: declare it in `types`")


@pytest.mark.parametrize("method", ["lattice", "mondrian"])
@pytest.mark.parametrize("column", ["size", "ize"])
def test_a_column_with_a_hierarchy_has_an_order_already(method: str, column: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({column: SCALE * 4, "age": [20, 30, 40, 50] * 3})
    rows = [["low", "little", "*"], ["medium", "little", "*"], ["high", "much", "*"]]
    folder = tmp_path / "size_trees"  # whose name holds those of the columns
    folder.mkdir()

    def notes(policy: dict[str, Any], **options: Any) -> list[str]:
        roles = {"columns": {column: "quasi-identifier", "age": "quasi-identifier"}}
        found = shoal.anonymize(frame, policy={**roles, **policy}, k=2, method=method, **options)
        assert found.with_roles({}).decisions.notes == found.decisions.notes
        return [note for note in found.decisions.notes if "come in an order" in note]

    assert len(notes({})) == len(notes({"hierarchies": str(folder)})) == len(notes({}, hierarchies=folder)) == 1
    (folder / f"{column}.csv").write_text("\n".join(";".join(row) for row in rows))
    for given in (str(folder), {column: rows}):
        assert notes({"hierarchies": given}) == notes({}, hierarchies=given) == []


def test_what_is_read_as_a_date_has_the_signs_of_one() -> None:
    dates = [
        "2021-03-14", "3/4/2012 10:15", "04.03.12", "4th March 2012", "4. März 2012", "4-Mar-12",
        "Mar 4, 2012 1:05 p.m.",
        "2012.03.04T10:15:00.123456789+01:00", "20120304", "20120304T101500Z", "03042012", "1 août 2020, 10:15 UTC",
    ]  # fmt: skip
    texts = pl.Series(dates)
    assert (whole_dates(texts).form >= 0).all()
    assert texts.str.contains(_SIGNS_OF_DATES).all()
    assert not pl.Series(["<=50K", "soon", "", "12%"]).str.contains(_SIGNS_OF_DATES).any()
