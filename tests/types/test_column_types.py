"""What a column is declared as: read, spelled, and read again, text by text."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.storage import Column
from shoal.storage.bands import joined_texts, parse_band, sorted_bands
from shoal.storage.column_type import ColumnType, as_column_type
from shoal.storage.declare import Declared, declare
from shoal.storage.encode import encode
from shoal.storage.numbers import plain_numbers, spelled_numbers
from shoal.storage.reading import Options, read


def declared(values: list[object], kind: object, name: str = "x") -> Column:
    return declare(encode(pl.Series(name, values)), as_column_type(kind, name))


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["03/14/2021", "12/01/2020"], "%m/%d/%Y"),
        (["3/14/2021", "12/1/2020"], "%-m/%-d/%Y"),
        (["14.03.2021", "01.12.2020"], "%d.%m.%Y"),
        (["14-03-2021", "01-12-2020"], "%d-%m-%Y"),
        (["2021/03/14", "2020/12/01"], "%Y/%m/%d"),
        (["14 Mar 2021", "01 Dec 2020"], "%d %b %Y"),
        (["14 March 2021", "1 December 2020"], "%-d %B %Y"),
        (["14-MAR-2021", "01-DEC-2020"], "%d-%^b-%Y"),
        (["March 14, 2021", "December 1, 2020"], "%B %-d, %Y"),
        (["20210314", "20201201"], "%Y%m%d"),
        (["2021-03-14", "2020-12-01"], "%Y-%m-%d"),
    ],
)
def test_dates_in_any_writing_are_dates_and_are_written_as_they_were(texts: list[str], written: str) -> None:
    column = declared(texts, "date")
    assert column.declared is not None
    assert column.declared.type.format == (written,)
    assert column.values.to_list() == [date(2020, 12, 1), date(2021, 3, 14)]
    assert column.declared.spell(column.decode()).cast(pl.String).to_list() == texts
    assert column.as_it_came().to_list() == texts


@pytest.mark.parametrize("texts", [["03/04/2021", "05/06/2021"], ["13/04/2021", "04/13/2021"], ["01/02/03"]])
def test_an_order_of_day_and_month_is_asked_and_not_guessed(texts: list[str]) -> None:
    with pytest.raises(InputError) as error:
        declared(texts, "date", "seen")
    assert "format" in error.value.cure
    assert "%m/%d" in error.value.cure
    assert "seen" in error.value.what
    assert not any(text in str(error.value) for text in texts if text != "01/02/03")


def test_a_format_decides_where_the_column_does_not() -> None:
    texts = ["03/04/2021", "05/06/2021"]
    us, uk = (declared(texts, {"type": "date", "format": f}).values.to_list() for f in ("%m/%d/%Y", "%d/%m/%Y"))
    assert (us[0], uk[0]) == (date(2021, 3, 4), date(2021, 4, 3))


def test_years_of_two_digits_need_a_century() -> None:
    with pytest.raises(InputError, match="century"):
        declared(["14.03.85", "13.05.99"], "date")
    with pytest.raises(InputError, match="century_from"):
        as_column_type({"type": "date", "format": "%d.%m.%y"})
    column = declared(["14.03.30", "13.05.29"], {"type": "date", "format": "%d.%m.%y", "century_from": 1930})
    assert [value.year for value in column.values] == [1930, 2029]


def test_moments_keep_their_clock() -> None:
    column = declared(["14.03.2021 10:15", "14.03.2021 09:00"], "date")
    assert column.declared is not None
    assert column.declared.spell(column.decode()).to_list() == ["14.03.2021 10:15", "14.03.2021 09:00"]
    spans = pl.Series(["[2021-03-14 09:00:00.000000;2021-03-14 10:15:00.000000]"])
    assert column.declared.spell(spans).to_list() == ["[14.03.2021 09:00;14.03.2021 10:15]"]


@pytest.mark.parametrize(
    ("texts", "numbers", "settings"),
    [
        (["1.234,50", "7,00"], [7.0, 1234.5], {"decimal": ",", "thousands": ".", "places": 2}),
        (["1,234.5", "7"], [7.0, 1234.5], {"decimal": ".", "thousands": ","}),
        (["1 234 567", "12"], [12, 1234567], {"decimal": ".", "thousands": " "}),
        (["1'234'567", "12"], [12, 1234567], {"decimal": ".", "thousands": "'"}),
        (["1,234,567", "12"], [12, 1234567], {"decimal": ".", "thousands": ","}),
        (["0,5", "12,25"], [0.5, 12.25], {"decimal": ","}),
        (["-0,5", "12"], [-0.5, 12.0], {"decimal": ","}),
    ],
)
def test_numbers_with_separators_are_numbers(
    texts: list[str], numbers: list[float], settings: dict[str, object]
) -> None:
    column = declared(texts, "number")
    assert column.declared is not None
    assert column.values.to_list() == numbers
    assert column.declared.type == ColumnType(type="number", **settings)
    assert column.declared.spell(column.decode()).to_list() == texts


def test_a_thousand_or_a_little_more_than_one_is_asked() -> None:
    with pytest.raises(InputError, match="a thousand") as error:
        declared(["1.234", "5.678"], "number")
    assert "thousands" in error.value.cure
    column = declared(["1.234", "5.678"], {"type": "number", "thousands": "."})
    assert column.values.to_list() == [1234, 5678]


def test_texts_that_are_no_numbers_are_an_error_or_named() -> None:
    with pytest.raises(InputError) as error:
        declared(["1,5", "n/s"], "number")
    assert "n/s" not in str(error.value)
    assert declared(["1,5", "n/s"], {"type": "number", "missing": ["n/s"]}).nulls == 1
    assert declared(["1,5", "n/s"], {"type": "number", "map": {"n/s": "0"}}).values.to_list() == [0.0, 1.5]


def test_an_order_makes_places_of_values() -> None:
    column = declared(["phd", "none", "ba"], {"type": "ordered", "order": ["none", "ba", "ma", "phd"]})
    assert column.values.to_list() == [0, 1, 3]
    assert column.nulls == 0
    with pytest.raises(InputError, match="1 of its different values are not in its order"):
        declared(["phd", "other"], {"type": "ordered", "order": ["none", "phd"]})


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"type": "ordered"}, "needs its order"),
        ({"type": "ordered", "order": ["a", "a"]}, "twice"),
        ({"type": "ordered", "order": ["a;b", "c"]}, "cannot hold"),
        ({"type": "nominal", "order": ["a"]}, "no setting order"),
        ({"type": "number", "decimal": ",", "thousands": ","}, "same sign"),
        ({"type": "ordered", "order": [True, False]}, "in quotes"),
        ({"type": "code", "digits": 0}, "digits"),
        ({"type": "date", "fromat": "%d"}, "fromat"),
        ("ordinal", "not known"),
    ],
)
def test_a_type_that_makes_no_sense_is_refused_with_its_reason(bad: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        as_column_type(bad, "x")


def test_a_policy_lists_all_problems_of_types_with_their_lines(tmp_path: object) -> None:
    path = tmp_path / "p.yaml"  # type: ignore[operator]
    path.write_text("types:\n  a: nominal\n  b: {type: ordered}\n  c: ordinal\n")
    with pytest.raises(InputError) as error:
        shoal.load_policy(path)
    assert "line 3" in error.value.what
    assert "line 4" in error.value.what


def test_codes_keep_their_digits_and_nominal_numbers_are_texts() -> None:
    assert declared([501, 10001], {"type": "code", "digits": 5}).values.to_list() == ["00501", "10001"]
    column = declared([1, 9, 1], "nominal")
    assert column.values.to_list() == ["1", "9"]
    assert column.as_it_came().to_list() == [1, 9, 1]


def test_a_map_joins_spellings_and_a_third_value_is_not_boolean() -> None:
    sexes = declared(["F", "female", "M", None], {"type": "nominal", "map": {"F": "female", "M": "male"}})
    assert sexes.values.to_list() == ["female", "male"]
    assert sexes.as_it_came().to_list() == ["female"] * 2 + [
        "male",
        None,
    ]
    with pytest.raises(InputError, match="has 3 values"):
        declared(["y", "n", "maybe"], "boolean")
    assert declared(["y", "n", "maybe"], {"type": "boolean", "map": {"maybe": None}}).nulls == 1


def test_words_for_missing_are_missing_beside_numbers_and_dates_of_a_file(tmp_path: object) -> None:
    path = tmp_path / "t.csv"  # type: ignore[operator]
    path.write_text('seen,edu,n\n14.03.2021,none,"1,5"\nNA,high,?\n')
    types = {"seen": "date", "edu": {"type": "ordered", "order": ["none", "high"]}, "n": "number"}
    table = read(path, options=Options(types=types))
    assert [column.nulls for column in table.columns.values()] == [1, 0, 1]


# bands


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("20-29", (20, 29)), ("20–29", (20, 29)), ("20 to 29", (20, 29)), ("[20, 30)", (20, 30)), ("90+", (90, None)),
        ("65 and over", (65, None)), ("under 5", (None, 5)), ("<5", (None, 5)), (">=90", (90, None)), ("7", (7, 7)),
        ("1,000-1,999", (1000, 1999)), ("85 years and over", (85, None)), ("6 months", (6, 6)), ("7 dwarfs", None),
        ("30-20", None), ("soon", None),
    ],
)  # fmt: skip
def test_bands_are_read_as_intervals(text: str, ends: tuple[int | None, int | None] | None) -> None:
    band = parse_band(text)
    assert (None if band is None else (band.low, band.high)) == ends


@pytest.mark.parametrize(
    ("texts", "first", "last", "joined"),
    [
        (["20-29", "30-39", "40-49"], 0, 1, "20-39"),
        (["20–29", "30–39"], 0, 1, "20–39"),
        (["[20, 30)", "[30, 40)"], 0, 1, "[20, 40)"),
        (["0-17", "18-64", "65 and over"], 1, 2, "18 and over"),
        (["under 5", "5-9", "10+"], 0, 1, "under 10"),
        (["<=4", "5-9", "10+"], 0, 1, "<=9"),
        (["under 5", "5-9", "10+"], 0, 2, "[under 5;10+]"),
        (["0-89", "over 89"], 0, 1, "[0-89;over 89]"),
        (["0", "1-4", "5+"], 0, 1, "0-4"),
    ],
)
def test_bands_join_to_bands(texts: list[str], first: int, last: int, joined: str) -> None:
    assert joined_texts(sorted_bands(texts, "age"), "age")[first, last] == joined


@pytest.mark.parametrize(
    ("texts", "first", "last", "joined"),
    [
        (["under 18", "18-64", "over 64"], 0, 1, "[under 18;18-64]"),
        (["<18", "18-64", ">64"], 0, 1, "[<18;18-64]"),
        (["<18", "18-64", ">=65"], 0, 1, "<65"),
        (["[0,10)", "[10,20)", "[20,30]"], 0, 1, "[0,20)"),
        (["[0,10)", "[10,20)", "[20,30]"], 1, 2, "[10,30]"),
        (["[0,10)", "10-20"], 0, 1, "[[0,10);10-20]"),
        (["[0,10)", "10"], 0, 1, "[[0,10);10]"),
        (["<=0", "[1,10)", "[10,20)"], 0, 1, "[<=0;[1,10)]"),
        (["(10,20]", "21+"], 0, 1, "[(10,20];21+]"),
    ],
)
def test_a_joined_band_holds_what_its_bands_hold(texts: list[str], first: int, last: int, joined: str) -> None:
    bands = sorted_bands(texts, "age")
    assert joined_texts(bands, "age")[first, last] == joined


@pytest.mark.parametrize("texts", [["6 months", "1-4 years"], ["500-900", "1-2 k"], ["5-9 €", "10+ $"]])
def test_bands_in_several_units_are_refused(texts: list[str]) -> None:
    with pytest.raises(InputError, match="several units"):
        sorted_bands(texts, "age")


def test_bands_in_one_unit_may_leave_it_out() -> None:
    assert len(sorted_bands(["under 1 year", "1-4", "5-9 yrs", "10+ years old"], "age")) == 4


@pytest.mark.parametrize("method", ["mondrian", "suppress", "microaggregate"])
def test_bands_as_r_writes_them_are_released_as_bands(tmp_path: Path, method: str) -> None:
    labels = ["[0,10)"] * 2 + ["[10,20)"] + ["[20,30]"] * 3
    source = pl.DataFrame({"age": labels, "n": range(6)})
    # where a band may be suppressed throughout, its order must be the policy's: the manifest would name what was found
    band = {"type": "band", "order": ["[0,10)", "[10,20)", "[20,30]"]} if method != "mondrian" else "band"
    rules = {"columns": {"age": "quasi-identifier", "n": "other"}, "types": {"age": band}}
    suppression = {"suppression": "50%"} if method == "suppress" else {}
    found = shoal.anonymize(
        source, {**rules, **suppression, "models": [{"model": "k-anonymity", "k": 3}]}, method=method
    )
    shoal.release(found, tmp_path / "safe.csv")
    cells = set(pl.read_csv(tmp_path / "safe.csv")["age"].to_list())
    assert cells <= {"*", "[0,20)", "[10,30]", "[0,30]", *labels}
    assert shoal.verify(tmp_path / "safe.csv", original=source).verdict == "holds"


def test_bands_that_lie_over_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="over each other"):
        sorted_bands(["0-17", "16-24"], "age")
    with pytest.raises(InputError, match="2 of its different values"):
        sorted_bands(["0-17", "young", "old"], "age")


# what is spelled is read again

DATES = st.dates(date(1900, 1, 1), date(2099, 12, 31))
FORMATS = st.sampled_from(["%m/%d/%Y", "%d.%m.%Y", "%-d.%-m.%Y", "%d %b %Y", "%Y-%m-%d", "%-d %B %Y", "%Y%m%d"])


@given(DATES, st.integers(0, 4000), FORMATS)
def test_ranges_of_dates_are_spelled_and_read_again(low: date, days: int, written: str) -> None:
    kind = Declared(ColumnType(type="date", format=written))
    high = min(low + timedelta(days), date(2099, 12, 31))
    cells = pl.Series([f"[{low};{high}]", str(low), "*"])
    spelled = kind.spell(cells)
    assert kind.unspell(spelled).to_list() == cells.to_list() or written == "%Y-%m-%d"
    assert spelled[1] == pl.Series([low]).dt.strftime(written)[0]


@given(
    st.integers(-(10**12), 10**12),
    st.integers(0, 4),
    st.sampled_from([(".", None), (",", "."), (".", ","), (",", " "), (",", None), (".", "'")]),
)
def test_numbers_are_spelled_and_read_again(whole: int, places: int, signs: tuple[str, str | None]) -> None:
    number = whole / 10**places
    text = f"{number:.{places}f}"
    spelled = spelled_numbers(pl.Series([text]), signs[0], signs[1], places)
    plain = plain_numbers(spelled, *signs)
    assert float(plain[0]) == float(text)
    expected = f"{number:,.{places}f}".replace(",", "T").replace(".", "D")
    assert spelled[0] == expected.replace("T", signs[1] or "").replace("D", signs[0])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("0123456789/-.;[]*, \\abc", max_size=12), min_size=1, unique=True))
def test_two_texts_never_become_one_cell(texts: list[str]) -> None:
    kinds = [
        ColumnType(type="date", format="%m/%d/%Y"),
        ColumnType(type="number", decimal=",", thousands="."),
        ColumnType(type="ordered", order=("a", "b", "1", "0")),
        ColumnType(type="band", order=("0-4", "5-9", "10+")),
    ]
    for kind in map(Declared, kinds):
        cells = kind.unspell(pl.Series(texts))
        assert cells.n_unique() == len(texts)
        assert kind.spell(cells).to_list() == texts
