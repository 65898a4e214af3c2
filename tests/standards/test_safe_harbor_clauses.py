"""Safe harbor clause by clause, 45 CFR 164.514(b)(2)(i)(A) to (R): one test each, named after it."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

import polars as pl
import pytest

import shoal
from detection import labelled_makers as m
from shoal.detection.clauses import CLAUSES
from shoal.methods.hipaa.safe_harbor import SafeHarbor

ROWS = 120


def column(maker: Callable[[random.Random], object], rows: int = ROWS, seed: int = 7) -> list[Any]:
    source = random.Random(seed)
    return [maker(source) for _ in range(rows)]


def apply(policy: Any = None, **columns: list[Any]) -> SafeHarbor:
    """Safe harbor on columns beside one that stays."""
    rows = len(next(iter(columns.values())))
    kept = ["f", "m"] * (rows // 2) + ["f"] * (rows % 2)
    return shoal.safe_harbor(pl.DataFrame({**columns, "sex": kept}), policy=policy, year_of_data=2012)


def report(result: SafeHarbor, clause: str) -> Any:
    return next(found for found in result.clauses if found.clause == clause)


def assert_removed(clause: str, name: str, values: list[Any]) -> None:
    result = apply(**{name: values})
    found = report(result, clause)
    assert found.columns == [name]
    assert found.action == "removed"
    assert found.cells_changed == sum(value is not None for value in values)
    assert found.status == "confirm"
    assert result.frame.columns == ["sex"]
    assert all(other.status == "nothing-found" for other in result.clauses if other.clause != clause)


def test_there_are_eighteen_clauses_in_order() -> None:
    assert [clause.letter for clause in CLAUSES] == list("ABCDEFGHIJKLMNOPQR")
    assert [found.clause for found in apply(age=[1, 2]).clauses] == list("ABCDEFGHIJKLMNOPQR")


def test_clause_a_names() -> None:
    assert_removed("A", "patient_name", column(m.full_name("en")))
    assert_removed("A", "next_of_kin", column(m.full_name("es")))


def test_clause_b_geography() -> None:
    for name, values in {
        "street": column(m.street("en")),
        "city": column(m.city("en")),
        "county": column(m.one_of("Kings|Cook|Dade|Marin")),
        "patcnty": column(m.whole(1, 58)),
        "latitude": column(lambda r: round(r.uniform(25, 48), 5)),
        "plz": column(m.pattern("D-99999")),
    }.items():
        assert_removed("B", name, values)
    result = apply(zip=["10001", "10001-1234", "03601", "00601", None, "SW1A"] * 10)
    assert result.frame["zip"].to_list() == ["100", "100", "000", "000", None, "000"] * 10
    assert report(result, "B").action == "to three digits"
    assert report(result, "B").cells_changed == 50


def test_clause_b_keeps_states_and_countries_and_empties_what_is_smaller() -> None:
    result = apply(
        state=column(m.one_of("NY|CA|TX|MA|IL|WA|OR|FL|GA|OH|PA")), country=column(m.one_of("USA|Canada|Mexico"))
    )
    assert result.frame.columns == ["state", "country", "sex"]
    assert report(result, "B").status == "nothing-found"
    values = column(m.one_of("New York|Ohio|Texas|Utah|Iowa|Maine|Idaho|Nevada|Alaska|Hawaii|Oregon|Kansas"))
    result = apply(state=[*values, "Springfield"])
    assert "Springfield" not in result.frame["state"].to_list()
    assert report(result, "B").cells_changed == 1


def test_clause_b_numbers_of_counties_are_not_numbers_of_states() -> None:
    assert apply(county_code=column(m.whole(1, 40))).frame.columns == ["sex"]
    assert apply(region=column(m.whole(1, 9))).frame.columns == ["sex"]
    assert apply(state_code=column(m.one_of("1|2|4|5|6|8|9|10|36"))).frame.columns == ["state_code", "sex"]


def test_clause_b_repairs_zeros_that_spreadsheets_lost() -> None:
    result = apply(zip=[2139, 10001, 601, 94110] * 10)
    assert result.frame["zip"].to_list() == ["021", "100", "000", "941"] * 10
    assert any("zip" in note and "leading zeros" in note for note in result.notes)
    # prefixes are taken as such, but 501 to 999 alone may be Puerto Rico without its zeros
    assert apply(zip3=[100, 21, 941] * 10).frame["zip3"].to_list() == ["100", "021", "941"] * 10
    assert apply(zip=[601, 602, 907] * 10).frame["zip"].to_list() == ["000"] * 30


@pytest.mark.parametrize(
    "values",
    [
        ["2012-03-04", "2011-12-31"],
        ["2012/03/04 10:15:30", "2011/12/31 23:59:59"],
        ["2012-03-04T10:15:30Z", "2011-12-31T23:59:59+02:00"],
        ["03/04/2012", "12/31/2011"],  # US
        ["04.03.2012", "31.12.2011"],  # European
        ["4 Mar 2012", "31 Dec 2011"],
        ["March 4, 2012", "December 31, 2011"],
        ["2012-03", "2011-12"],
        ["03/2012", "12/2011"],
        ["20120304", "20111231"],
        [20120304, 20111231],
        [date(2012, 3, 4), date(2011, 12, 31)],
        [datetime(2012, 3, 4, 10, 15), datetime(2011, 12, 31, 23, 59)],
        [1330856130, 1325375999],
        ["2012-03-04", "12/31/2011"],  # mixed
        ["3/4/2012 1:05 PM", "12/31/2011 11:59 AM"],
    ],
    ids=lambda values: str(values[0]),
)
def test_clause_c_dates(values: list[Any]) -> None:
    result = apply(admission_date=values * 20)
    assert result.frame["admission_date"].to_list() == [2012, 2011] * 20
    found = report(result, "C")
    assert (found.columns, found.action, found.cells_changed) == (["admission_date"], "to the year", 40)


def test_clause_c_parts_of_dates() -> None:
    for name, values in {
        "adm_qtr": [1, 2, 3, 4] * 10,
        "month": list(range(1, 13)) * 4,
        "weekday": ["Mon", "Tuesday", "Sun"] * 10,
        "clock": ["10:15", "23:59"] * 20,
        "arrived": [time(10, 15), time(23, 59)] * 20,
        "admission_date": [40900, 41275] * 20,  # days as spreadsheets count them
    }.items():
        assert_removed("C", name, values)


def test_clause_c_ages() -> None:
    result = apply(age=[34, 89, 90, 104, None, 999] * 10)
    assert result.frame["age"].to_list() == ["34", "89", "90+", "90+", None, None] * 10
    assert report(result, "C").cells_changed == 30
    young = apply(age=[34, 89, None] * 10)
    assert young.frame["age"].to_list() == [34, 89, None] * 10  # as it came
    assert report(young, "C").cells_changed == 0
    months = apply(age_months=[300, 1079, 1080] * 10)
    assert months.frame["age_months"].to_list() == ["300", "1079", "90+"] * 10
    groups = apply(age_group=["20-29", "85-94", "90-94", "85+", ">89", "95 and older"] * 10)
    assert groups.frame["age_group"].to_list() == ["20-29", "85+", "90+", "85+", "90+", "90+"] * 10


def test_clause_c_dates_that_tell_an_age_over_89() -> None:
    births = ["1922-05-06", "1923-05-06", "1880-01-01", "1990-05-06"] * 10
    assert apply(date_of_birth=births).frame["date_of_birth"].to_list() == ["90+", "1923", "90+", "1990"] * 10
    assert apply(birth_year=[1922, 1923] * 20).frame["birth_year"].to_list() == ["90+", "1923"] * 20
    # an event of 1915 happened to nobody under 90 in 2012
    assert apply(visit_date=["1915-01-01", "2011-05-05"] * 20).frame["visit_date"].to_list() == ["90+", "2011"] * 20


def test_clause_c_a_birth_year_goes_with_the_age_of_its_row() -> None:
    result = apply(birth_year=[1924, 1924] * 20, age=[91, 87] * 20)
    assert result.frame["birth_year"].to_list() == ["90+", "1924"] * 20
    later = apply(birth_year=[1924, 1930] * 20, discharge_date=["2014-05-05", "2014-05-06"] * 20)
    assert later.frame["birth_year"].to_list() == ["90+", "1930"] * 20


def test_clause_c_the_year_of_the_data_is_found_or_given() -> None:
    frame = pl.DataFrame({"birth_year": [1915, 1950] * 20, "visit_date": ["2000-01-02", "2001-03-04"] * 20})
    found = shoal.safe_harbor(frame)
    assert found.year_of_data == 2001
    assert found.frame["birth_year"].to_list() == [1915, 1950] * 20
    assert any("2001" in asked for asked in found.to_confirm)
    assert shoal.safe_harbor(frame, year_of_data=2005).frame["birth_year"].to_list() == ["90+", "1950"] * 20
    alone = shoal.safe_harbor(frame.select("birth_year"))
    assert alone.year_of_data == datetime.now().year


def test_clause_c_two_digit_years_are_not_guessed() -> None:
    with pytest.raises(shoal.InputError, match="century"):
        apply(admission_date=["25/03/99", "31/12/98"] * 20)
    with pytest.raises(shoal.InputError, match="which number is the year") as error:
        apply(admission_date=["01/02/03", "04/05/06"] * 20)
    assert "`date_order`" in str(error.value.cure)
    frame = pl.DataFrame({"admission_date": ["01/02/03", "04/05/06"] * 20})
    result = shoal.safe_harbor(frame, date_order="ymd", century_from=1930)
    assert result.frame["admission_date"].to_list() == [2001, 2004] * 20


def test_clause_c_what_is_no_date_is_emptied() -> None:
    result = apply(admission_date=["2012-03-04", "2011-12-31", "2010-01-02", "soon", "31 Feb"] * 10)
    assert result.frame["admission_date"].to_list() == [2012, 2011, 2010, None, None] * 10
    assert any("not dates" in note for note in result.notes)


def test_clause_d_telephone_numbers() -> None:
    assert_removed("D", "phone", column(m.pattern("(415) 555-0999")))


def test_clause_e_fax_numbers() -> None:
    assert_removed("E", "fax", column(lambda r: f"{r.choice(['212', '312'])}-{r.randint(200, 999)}-{m.digits(4)(r)}"))


def test_clause_f_email_addresses() -> None:
    assert_removed("F", "contact", column(m.email()))


def test_clause_g_social_security_numbers() -> None:
    assert_removed("G", "ssn", column(m.ssn()))
    assert_removed("G", "x7", column(m.ssn()))


def test_clause_h_medical_record_numbers() -> None:
    assert_removed("H", "mrn", column(m.digits(8)))


def test_clause_i_health_plan_numbers() -> None:
    assert_removed("I", "member_id", column(m.pattern("AAA999999999")))


def test_clause_j_account_numbers() -> None:
    assert_removed("J", "account_number", column(m.digits(10)))
    assert_removed("J", "payment", column(m.luhn("4 51 53", 16)))
    assert_removed("J", "x8", column(m.iban("DE", 22)))


def test_clause_k_licence_numbers() -> None:
    assert_removed("K", "driver_license", column(m.pattern("A9999999")))


def test_clause_l_vehicle_numbers() -> None:
    assert_removed("L", "vin", column(m.vin))
    assert_removed("L", "license_plate", column(m.pattern("AAA 9999")))


def test_clause_m_device_numbers() -> None:
    assert_removed("M", "serial_number", column(m.pattern("AA-9999-9999")))
    assert_removed("M", "x9", column(m.pattern("hh:hh:hh:hh:hh:hh")))


def test_clause_n_web_addresses() -> None:
    assert_removed("N", "website", column(lambda r: f"https://{m.word(r)}.example.com/{m.word(r)}{r.randint(1, 999)}"))


def test_clause_o_ip_addresses() -> None:
    assert_removed("O", "address", column(lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4))))


def test_clause_p_biometrics() -> None:
    assert_removed("P", "fingerprint", column(m.pattern("hhhhhhhh-hh")))


def test_clause_q_photographs() -> None:
    assert_removed("Q", "photo", column(lambda r: f"img_{r.randint(1, 10**6)}.jpg"))
    assert_removed("Q", "scan_bytes", [bytes([i, 255]) for i in range(ROWS)])
    assert_removed("Q", "b", [bytes([i % 5, 255]) for i in range(ROWS)])


def test_clause_r_other_codes() -> None:
    assert_removed("R", "patient_id", column(m.pattern("P99999")))
    assert_removed("R", "x10", column(m.make_uuid))
    assert_removed("R", "x11", [i * 37 + 5 for i in range(ROWS)])  # nobody knows what it is, but everybody's is another
    assert_removed("R", "x12", [float(i * 37 + 5) for i in range(ROWS)])
    assert_removed("R", "x13", column(m.digest("sha256")))


def test_clause_r_free_text_never_passes() -> None:
    notes = column(m.prose(8, 20, "patient was seen in the clinic with pain and fever"))
    assert_removed("R", "remarks", notes)


def test_a_header_alone_is_enough_whatever_the_values_look_like() -> None:
    assert_removed("G", "ssn_last4", column(m.whole(1000, 1100)))
    assert_removed("D", "phone", column(m.one_of("XXX-1234|XXX-2345|XXX-3456")))
    assert_removed("A", "initials", column(m.one_of("A.L.|A.T.|G.H.")))
    assert apply(phone_type=column(m.one_of("home|mobile|work"))).frame.columns == ["phone_type", "sex"]
    assert apply(email_verified=column(m.one_of("yes|no"))).frame.columns == ["email_verified", "sex"]
    assert apply(zip=[0] * ROWS).frame["zip"].to_list() == ["000"] * ROWS
    assert apply(dob=["spring", "autumn"] * 60).frame["dob"].to_list() == [None] * ROWS
    assert apply(RIDAGEYR=[34, 95] * 60).frame["RIDAGEYR"].to_list() == ["34", "90+"] * 60
    assert apply(percentage=[34, 95] * 60).frame["percentage"].to_list() == [34, 95] * 60


def test_headers_that_the_rule_or_its_practice_name() -> None:
    for clause, name, values in (
        ("B", "precinct", column(m.whole(1, 80))),
        ("B", "msa", column(m.one_of("35620|31080"))),
        ("B", "zip4", column(m.whole(1, 9999))),
        ("C", "birth_month", column(m.whole(1, 12))),
        ("C", "day_of_year", column(m.whole(1, 366))),
        ("A", "employer", column(m.one_of("Acme|Globex|Initech"))),
        ("R", "comments", column(m.one_of("ok|John called|no show"))),
    ):
        assert_removed(clause, name, values)


def test_clause_c_ways_of_writing_that_are_not_in_every_book() -> None:
    for text, year in {
        "Sunday, March 4, 2012": 2012,
        "Sun Mar  4 10:15:00 2012": 2012,
        "2012-W09": 2012,
        "2012Q1": 2012,
        "4 mars 2012": 2012,
    }.items():
        assert apply(x1=[text, text.replace("2012", "2011")] * 20).frame["x1"].to_list() == [year, 2011] * 20, text
    ages = apply(age=["46 years", "93 years", "6 months", "1100 months", "91y 3m", "?"] * 20).frame["age"].to_list()
    assert ages == ["46 years", "90+", "6 months", "90+", "90+", None] * 20


def test_clause_r_a_code_that_comes_again_is_one_too() -> None:
    codes = column(m.pattern("AA999999"), rows=60) * 2
    assert_removed("R", "x14", codes)
