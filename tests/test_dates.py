"""Dates as people write them, and dates moved per person."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.methods.pseudonyms.shift_dates import allowed_shifts, shift_dates
from shoal.releases.jobs import Writing, release_shifted
from shoal.storage.dates import days_of, inferred_formats, read_dates, write_dates, write_days, years_of

KEY = bytes(range(32))
DAYS = st.dates(date(1850, 1, 1), date(2149, 12, 31))
FORMS = ["%Y-%m-%d", "%Y/%m/%d", "%d %B %Y", "%b %d, %Y", "%Y%m%d", "%Y-%m-%d 10:15", "%Y-%m-%dT10:15:30Z", "%d-%b-%Y"]
ORDERED = {"dmy": ["%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y 10:15 PM"], "mdy": ["%m/%d/%Y", "%m-%d-%Y"]}


@given(st.lists(DAYS, min_size=1, max_size=30), st.sampled_from(FORMS + ORDERED["dmy"] + ORDERED["mdy"]))
def test_the_year_is_read_in_every_form(days: list[date], form: str) -> None:
    texts = pl.Series([day.strftime(form) for day in days])
    assert years_of(texts, "d").tolist() == [day.year for day in days]


@given(st.lists(DAYS, min_size=1, max_size=30), st.sampled_from(FORMS))
def test_days_are_read_as_the_calendar_has_them(days: list[date], form: str) -> None:
    found = days_of(pl.Series([day.strftime(form) for day in days]), "d")
    assert found.days.tolist() == [(day - date(1970, 1, 1)).days for day in days]


@given(st.lists(DAYS, min_size=1, max_size=30), st.sampled_from(["dmy", "mdy"]), st.integers(0, 2))
def test_days_are_read_by_the_order_that_was_said(days: list[date], order: Any, form: int) -> None:
    forms = ORDERED[order]
    texts = pl.Series([day.strftime(forms[form % len(forms)]) for day in days])
    assert days_of(texts, "d", order).days.tolist() == [(day - date(1970, 1, 1)).days for day in days]


def test_an_order_is_proven_by_a_number_above_12_or_it_is_an_error() -> None:
    assert days_of(pl.Series(["13/04/2012", "03/04/2012"]), "d").days.tolist() == [15443, 15433]
    assert days_of(pl.Series(["04/13/2012", "03/04/2012"]), "d").days.tolist() == [15443, 15403]
    for texts in (["03/04/2012"], ["13/04/2012", "04/13/2012"]):
        with pytest.raises(shoal.InputError, match="which number is the month") as error:
            days_of(pl.Series(texts), "admitted")
        assert "`date_order`" in str(error.value.cure)
        assert "2012-" not in str(error.value)
    with pytest.raises(shoal.InputError, match="no calendar"):
        days_of(pl.Series(["13/04/2012"]), "d", "mdy")
    with pytest.raises(shoal.InputError, match="no whole dates"):
        days_of(pl.Series(["2012-03"]), "d")
    with pytest.raises(shoal.InputError, match="century"):
        days_of(pl.Series(["13/04/12"]), "d", "dmy")
    assert days_of(pl.Series(["13/04/12"]), "d", "dmy", 1930).days.tolist() == [15443]


PEOPLE = st.lists(st.tuples(st.sampled_from("abcdefgh"), DAYS, DAYS), min_size=1, max_size=40)


@given(PEOPLE, st.sampled_from(FORMS), st.sampled_from(["nothing", "weekday", "season", "weekday-and-season"]))
def test_intervals_stay_and_no_date_survives(rows: list[tuple[str, date, date]], form: str, keep: Any) -> None:
    frame = pl.DataFrame({"id": [row[0] for row in rows], "one": [row[1].strftime(form) for row in rows],
                          "two": [row[2] for row in rows]})  # fmt: skip
    moved = shift_dates(frame, person="id", columns=["one", "two"], key=KEY, keep=keep).frame
    one = [datetime.strptime(text, form).date() for text in moved["one"].to_list()]
    two = moved["two"].to_list()
    shifts: dict[str, set[timedelta]] = {}
    for (person, first, second), new_first, new_second in zip(rows, one, two, strict=True):
        shift = new_first - first
        shifts.setdefault(person, set()).update({shift, new_second - second})
        assert shift.days != 0
        if "weekday" in keep:
            assert new_first.weekday() == first.weekday()
        if "season" in keep:
            beside = abs(shift.days) % 365.2425
            assert min(beside, 365.2425 - beside) <= 7
            assert abs(shift.days) > 300
        else:
            assert abs(shift.days) <= 365
    assert all(len(found) == 1 for found in shifts.values())


def test_the_same_person_moves_alike_in_all_files_and_runs() -> None:
    a = pl.DataFrame({"pid": ["7", "8"], "d": ["2012-03-04", "2012-03-04"]})
    b = pd.DataFrame({"person": [8.0, 7.0], "seen": pd.to_datetime(["2012-03-04", "2012-03-04"])})
    first = pl.Series(shift_dates(a, person="pid", columns="d", key=KEY).frame["d"]).str.to_date().to_list()
    second = shift_dates(b, person="person", columns="seen", key=KEY).frame
    assert isinstance(second, pd.DataFrame)
    assert [moment.date() for moment in second["seen"]] == first[::-1]
    other = shift_dates(a, person="pid", columns="d", key=KEY[::-1]).frame["d"].to_list()
    assert other != [day.isoformat() for day in first]


def test_dates_are_written_as_they_were() -> None:
    texts = ["4th March 2012 10:15", "3/4/2012", "03.04.2012", "MAR 4, 2012", "2012-03-04T10:15:30.123+02:00", None]
    for text in texts[:5]:
        frame = pl.DataFrame({"id": ["a"], "d": [text]})
        out = shift_dates(frame, person="id", columns="d", key=KEY, date_order="dmy").frame["d"][0]
        shape = "".join("9" if sign.isdecimal() else "a" if sign.isalpha() else sign for sign in str(text))
        assert out != text
        assert ("10:15" in out) == ("10:15" in str(text))
        assert "th" not in out
        if "/" in shape or "." in shape[:3]:
            assert sorted(set(out) - set("0123456789")) == sorted(set(str(text)) - set("0123456789"))
    frame = pl.DataFrame({"id": ["a", "a"], "d": ["2012-03-04", None]})
    assert shift_dates(frame, person="id", columns="d", key=KEY).frame["d"][1] is None


def test_shifts_are_spread_over_the_whole_range() -> None:
    frame = pl.DataFrame({"id": list(range(20_000)), "d": [date(2012, 3, 4)] * 20_000})
    moved = shift_dates(frame, person="id", columns="d", key=KEY, range=10).frame["d"]
    days = (moved - date(2012, 3, 4)).dt.total_days().to_numpy()
    values, counts = np.unique(days, return_counts=True)
    assert values.tolist() == [*range(-10, 0), *range(1, 11)]
    # 20 equal chances of 1,000: chi-square with 19 degrees of freedom stays under 50 but once in 10,000
    assert ((counts - 1000.0) ** 2 / 1000).sum() < 50


def test_what_cannot_be_moved_is_refused() -> None:
    frame = pl.DataFrame({"id": ["a", "a"], "d": ["2012-03-04", "soon"], "n": [1, 2]})
    with pytest.raises(shoal.InputError, match="no whole dates"):
        shift_dates(frame, person="id", columns="d", key=KEY)
    found = shift_dates(frame, person="id", columns="d", key=KEY, unreadable="blank")
    assert found.frame["d"][1] is None
    assert found.blanked == 1
    with pytest.raises(shoal.InputError, match="not dates"):
        shift_dates(frame, person="id", columns="n", key=KEY)
    with pytest.raises(shoal.InputError, match="whose dates"):
        shift_dates(frame.with_columns(id=pl.Series(["a", None])), person="id", columns="d", key=KEY)
    with pytest.raises(shoal.InputError, match="no shifts keep"):
        allowed_shifts(100, "season")
    with pytest.raises(shoal.InputError, match="calendar"):
        shift_dates(pl.DataFrame({"id": ["a"], "d": ["9999-12-31"]}), person="id", columns="d", key=KEY, range=36_000)
    with pytest.raises(shoal.InputError, match="No column with whole dates"):
        shift_dates(frame.select("id", "n"), person="id", key=KEY)


VISITS = pl.DataFrame(
    {"id": ["a", "b"], "admitted": ["2012-03-04", "2012-05-06"], "dob": ["1950-03-04", "1960-05-06"], "sex": ["f", "m"]}
)


def test_dates_that_are_not_shifted_must_be_decided() -> None:
    with pytest.raises(shoal.InputError, match="Not decided: 'dob' holds dates"):
        shift_dates(VISITS, person="id", columns="admitted", key=KEY)
    assert shift_dates(VISITS, person="id", columns="admitted", leave="dob", key=KEY).unshifted == ["dob"]
    assert shift_dates(VISITS, person="id", leave="dob", key=KEY).columns == ["admitted"]
    assert shift_dates(VISITS, person="id", key=KEY).columns == ["admitted", "dob"]
    with pytest.raises(shoal.InputError, match="shifted and left at once"):
        shift_dates(VISITS, person="id", columns="dob", leave="dob", key=KEY)


TWINS = {
    "seconds": ("x1", [1330819200, 1336262400], True),
    "milliseconds": ("x1", [1330819200000, 1336262400000], True),
    "seconds as floats": ("x1", [1330819200.5, 1336262400.25], True),
    "compact": ("x1", [20120304, 20120506], True),
    "compact text": ("x1", ["20120304", "20120506"], True),
    "serial days": ("x1", [40972, 41035], True),
    "serial days with clock": ("admitted_serial", [40972.25, 41035.5], True),
    "full-width": ("x1", ["２０１２－０３－０４", "２０１２－０５－０６"], True),
    "months": ("x1", ["March 2012", "May 2012"], False),
    "weeks": ("x1", ["2012-W09", "2012-W18"], False),
    "month numbers": ("admission_month", [3, 5], False),
    "notes": ("note", ["seen on 03/04/2012, well", "came 5/6/2012 with pain"], False),
    "one note": ("note", ["nothing", "came on 6 May"], False),
}


@pytest.mark.parametrize("case", TWINS)
def test_a_twin_of_a_date_is_shifted_or_refused(case: str) -> None:
    name, values, shiftable = TWINS[case]
    frame = VISITS.select("id", "admitted", "sex").with_columns(pl.Series(name, values))
    with pytest.raises(shoal.InputError, match=f"Not decided: '{name}'"):
        shift_dates(frame, person="id", columns="admitted", key=KEY)
    if not shiftable:
        with pytest.raises(shoal.InputError, match="tells every shift"):
            shift_dates(frame, person="id", key=KEY)
        assert shift_dates(frame, person="id", leave=name, key=KEY).unshifted == [name]
        return
    found = shift_dates(frame, person="id", key=KEY)
    assert found.columns == ["admitted", name]
    moved = pl.Series(found.frame["admitted"]).str.to_date().to_list()
    assert [day(value) for value in found.frame[name].to_list()] == moved
    assert found.frame.columns == frame.columns
    if "width" not in case:
        assert found.frame[name].dtype == frame[name].dtype


def test_postal_codes_are_not_weeks() -> None:
    many = pl.DataFrame({"id": range(50), "admitted": ["2012-03-04"] * 50})
    codes = [f"{94_000 + row}" for row in range(47)] + ["18001", "20121", "20125"]
    assert shift_dates(many.with_columns(zip=pl.Series(codes)), person="id", key=KEY).unshifted == []
    weeks = [f"2012{1 + row % 9}" for row in range(50)]
    for texts in (weeks, [*codes[:49], "2012-W05"]):
        with pytest.raises(shoal.InputError, match="Not decided: 'zip' holds parts of dates"):
            shift_dates(many.with_columns(zip=pl.Series(texts)), person="id", key=KEY)


def day(value: Any) -> date:
    """A day as it is written: text, digits, seconds, serial days."""
    if isinstance(value, str):
        return datetime.strptime(value.replace("-", ""), "%Y%m%d").date()
    if 19_000_000 < value < 22_000_000:
        return datetime.strptime(str(value), "%Y%m%d").date()
    if value < 100_000:
        return date(1899, 12, 30) + timedelta(days=int(value))
    return (datetime(1970, 1, 1) + timedelta(seconds=value if value < 10**11 else value / 1000)).date()


def test_numbers_that_may_be_something_else_are_a_question() -> None:
    # ten digits that start with 1 are numbers of physicians too
    frame = VISITS.select("id", "admitted").with_columns(npi=pl.Series([1234567893, 1987654321]))
    with pytest.raises(shoal.InputError, match="'npi' may hold seconds since 1970"):
        shift_dates(frame, person="id", key=KEY)
    assert shift_dates(frame, person="id", leave="npi", key=KEY).columns == ["admitted"]
    pay = VISITS.select("id", "admitted").with_columns(pay=pl.Series([31000, 52000]))
    assert shift_dates(pay, person="id", key=KEY).unshifted == []


def test_local_time_is_shifted_and_the_zone_dropped() -> None:
    moments = pl.Series([datetime(2012, 3, 24, 9), datetime(2012, 3, 26, 9), datetime(2012, 7, 1, 9)])
    frame = pl.DataFrame({"id": ["a", "a", "b"], "d": moments.dt.replace_time_zone("America/New_York")})
    found = shift_dates(frame, person="id", columns="d", key=KEY)
    moved = found.frame["d"]
    assert moved.dtype == pl.Datetime("us")
    assert moved.dt.hour().to_list() == [9, 9, 9]
    assert moved[1] - moved[0] == moments[1] - moments[0]
    assert any("time zone was dropped" in note for note in found.notes)


def test_offsets_that_tell_the_season_are_dropped() -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "d": ["2012-01-04T09:00:00-05:00", "2012-07-04T09:00:00-04:00"]})
    found = shift_dates(frame, person="id", columns="d", key=KEY)
    assert all(text.endswith("T09:00:00") for text in found.frame["d"].to_list())
    assert any("offsets" in note for note in found.notes)
    same = pl.DataFrame({"id": ["a", "b"], "d": ["2012-01-04T09:00:00Z", "2012-07-04T09:00:00Z"]})
    assert all(text.endswith("Z") for text in shift_dates(same, person="id", key=KEY).frame["d"].to_list())


def test_what_is_written_and_what_it_says(tmp_path: Path) -> None:
    source, out, key = tmp_path / "visits.csv", tmp_path / "moved.csv", tmp_path / "key.csv"
    VISITS.write_csv(source)
    found = release_shifted(source, person="id", key=key, output=out)
    assert found.to_dict() == {
        "schema_version": 1, "person": "id", "columns": ["admitted", "dob"], "persons": 2, "records": 2,
        "cells_changed": 4, "blanked": 0, "range": 365, "keep": "nothing", "unshifted": [], "key_file_created": True,
        "output": str(out), "manifest": str(out.with_suffix(".manifest.json")), "notes": [],
        "identifiers_beside": [],
    }  # fmt: skip
    assert "4 dates of 2 persons" in found.summary()
    secret = key.read_bytes()
    for target in (key, source):
        with pytest.raises(shoal.InputError, match=r"at once|never replaced"):
            release_shifted(source, person="id", key=key, output=target, writing=Writing(True, shuffle=False))
    assert key.read_bytes() == secret


def test_a_key_is_never_in_the_result(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a"], "d": ["2012-03-04"]})
    assert KEY.hex() not in repr(shift_dates(frame, person="id", columns="d", key=KEY))


@pytest.mark.parametrize("end", ["Z", " UTC", "+02:00", "", ".25Z", " PM"])
def test_each_way_of_writing_moments_is_one_format(end: str) -> None:
    """One format for each value, as where the zone was not understood, took time in the square of the rows."""
    moments = [datetime(2020, 1, 1) + timedelta(seconds=977 * number) for number in range(3000)]
    hours = "%I:%M:%S" if "M" in end else "%H:%M:%S"
    texts = pl.Series([moment.strftime(f"%Y-%m-%d {hours}") + end for moment in moments])
    formats = inferred_formats(texts, "seen")
    assert len(formats) == 1
    assert read_dates(texts, formats).null_count() == 0
    if end.strip() in ("", "Z", "UTC", "+02:00"):
        assert read_dates(texts, formats).to_list() == moments
        assert write_dates(read_dates(texts, formats), formats[0]).equals(texts)


def test_moments_of_two_zones_are_a_question() -> None:
    texts = pl.Series(["2021-03-14T10:15:00Z", "2021-03-14T10:15:00+02:00"])
    with pytest.raises(shoal.InputError, match="several time zones"):
        inferred_formats(texts, "seen")


@pytest.mark.parametrize(
    ("texts", "moved"),
    [
        (["3. März 2012", "30. Dezember 2011"], ["4. März 2012", "31. Dezember 2011"]),
        (["3 févr. 2012", "31 déc. 2011"], ["4 févr. 2012", "1 janv. 2012"]),
        (["31 agosto 2012", "1 gennaio 2012"], ["1 settembre 2012", "2 gennaio 2012"]),
        (["3 de marzo de 2012", "31 de enero de 2012"], ["4 de marzo de 2012", "1 de febrero de 2012"]),
        (["3 MAR 2012", "30 AUG 2012"], ["4 MAR 2012", "31 AUG 2012"]),
    ],
)
def test_months_are_read_and_written_in_five_languages(texts: list[str], moved: list[str]) -> None:
    days = days_of(pl.Series(texts), "seen")
    assert write_days(days.days + 1, np.arange(len(texts)), days).to_list() == moved


def test_months_of_two_languages_are_an_error() -> None:
    with pytest.raises(shoal.InputError, match="several languages"):
        days_of(pl.Series(["3 mai 2012", "4 June 2012", "5 juin 2012"]), "seen")
