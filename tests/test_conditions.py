"""One language of conditions: what attribute disclosure writes without quotes, the desk writes with them."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.policy.conditions import as_polars, column_type, parse_condition, parse_where
from shoal.storage.reading import read

FRAME = pl.DataFrame(
    {
        "charge": [100, 250_000, None, 2**53 + 1],
        "share": [0.1, 0.25, 1.0, None],
        "illness": ["HIV", "Hepatitis B", "flu", None],
        "icd": ["250.10", "250.1", "E11.9", "042"],
        "seen": [date(2020, 1, 1), date(2020, 12, 31), None, date(2021, 1, 1)],
        "dead": [True, False, None, True],
        "Total Charges ($)": [1, 2, 3, 4],
        "kind": pl.Series(["a", "b", "a", None], dtype=pl.Enum(["a", "b"])),
    }
)
TABLE = read(FRAME)


def rows(text: str) -> list[int]:
    condition = parse_condition(text)
    return [int(row) for row in condition.meets(TABLE[condition.column]).nonzero()[0]]


@pytest.mark.parametrize(
    ("text", "selected", "strict"),
    [
        ("charge>100000", [1, 3], "charge > 100000"),
        ("charge = 9007199254740993", [3], "charge = 9007199254740993"),
        ("charge = 9007199254740992", [], "charge = 9007199254740992"),
        ("charge in [100;250000]", [0, 1], "charge in [100;250000]"),
        ("charge in 100,250000", [0, 1], "charge in (100, 250000)"),
        ("100 = charge", [0], "100 = charge"),
        ("share=0.1", [0], "share = 0.1"),
        ("illness in HIV", [0], "illness in ('HIV')"),
        ("illness in HIV,Hepatitis B", [0, 1], "illness in 'HIV', 'Hepatitis B'"),
        ("illness = 'Hepatitis B'", [1], "illness = 'Hepatitis B'"),
        ("illness != HIV", [1, 2], "illness != 'HIV'"),
        ("not illness in (HIV, flu)", [1], "illness not in ('HIV', 'flu')"),
        ("illness = HIV or illness = flu", [0, 2], "illness = 'HIV' or illness = 'flu'"),
        ("illness is null", [3], "illness is null"),
        ("icd=250.10", [0], "icd = '250.10'"),
        ("icd in 250.1,E11.9", [1, 2], "icd in ('250.1', 'E11.9')"),
        ("icd = 042", [3], "icd = '042'"),
        ("seen >= 2020-12-31", [1, 3], "seen >= 2020-12-31"),
        ("seen in [2020-01-01;2020-12-31]", [0, 1], "seen in [2020-01-01;2020-12-31]"),
        ("dead = true", [0, 3], "dead = true"),
        ("Total Charges ($) > 2", [2, 3], "`Total Charges ($)` > 2"),
        ("`Total Charges ($)` > 2", [2, 3], "`Total Charges ($)` > 2"),
        ("kind = a", [0, 2], "kind = 'a'"),
    ],
)
def test_both_writings_select_the_same(text: str, selected: list[int], strict: str) -> None:
    assert rows(text) == selected
    types = {name: column_type(dtype) for name, dtype in FRAME.schema.items()}
    filtered = FRAME.with_row_index().cast({"kind": pl.String}).filter(as_polars(parse_where(strict, types)))
    assert filtered["index"].to_list() == selected


@pytest.mark.parametrize(
    "text",
    ["", "charge", "charge >", "> 5", "charge is high", "charge in", "charge in [1;2", "charge in [1,2]", "(charge > 1",
     "charge > 1 and", "charge > 1 or illness = flu", "charge > 1 and > 2", "not", "x" * 20_000, "(" * 99 + "a=1"],
)  # fmt: skip
def test_what_is_not_a_condition_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"not a condition|more than one column") as refused:
        parse_condition(text)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("text", ["charge > many", "seen = yesterday", "dead = maybe", "share = 1e999999999"])
def test_values_of_another_type_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="another type"):
        rows(text)


@given(st.text(max_size=40))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        condition = parse_condition(text)
    except InputError:
        return
    column = read({condition.column: ["a", "b"]})[condition.column]
    assert len(condition.meets(column)) == 2


@pytest.mark.parametrize("text", ["Age (yrs) >= 65", "age (yrs) >= 65 and sex = 'f'", "Cost ($) > 3"])
def test_names_that_are_not_one_word_hint_at_backquotes(text: str) -> None:
    types = {"Age (yrs)": "integer", "sex": "text", "Cost ($)": "number"}
    with pytest.raises(InputError) as refused:
        parse_where(text, types)
    name = "`Cost ($)`" if "Cost" in text else "`Age (yrs)`"
    assert f"backquotes: {name}" in str(refused.value.cure)
    assert "single quotes" in str(refused.value.cure)
    assert parse_where("`Age (yrs)` >= 65", types).canonical() == "`Age (yrs)` >= 65"
