"""Each recogniser: a column it must find, one it must not, and one whose header lies."""

import random

import labelled_makers as m
import numpy as np
import polars as pl
import pytest
from labelled_columns import as_view
from labelled_makers import digits, one_of, pattern, whole

from shoal.identifiers import DECIDED, RECOGNISERS, ROLE_OF_KIND, find_kinds
from shoal.identifiers.base import above_chance, confidence
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import read_header, words

YES_NO = one_of("yes|no")


def series(maker: m.Maker, rows: int = 300) -> pl.Series:
    """Values of a maker from a fixed seed."""
    source = random.Random(7)
    return pl.Series([maker(source) for _ in range(rows)])


# Recogniser: kind, (header, maker) of that kind, then a look-alike, then a header that lies.
TRIALS = {
    "age": ("age", ("age", whole(0, 95)), ("stage", whole(1, 4)), ("age", whole(2_000, 9_000))),
    "codes": ("unique-code", ("patient_id", whole(1, 10**6)), ("shop_id", whole(1, 9)), ("patient_id", YES_NO)),
    "coordinates": (
        "coordinates",
        ("lat", lambda r: r.uniform(40, 50)),
        ("x_ray", lambda r: r.uniform(40, 50)),
        ("lat", whole(500, 900)),
    ),
    "date_of_birth": (
        "date-of-birth",
        ("dob", m.day(1930, 2010)),
        ("order_date", m.day(2019, 2020)),
        ("dob", YES_NO),
    ),
    "demographics": ("ethnicity", ("race", one_of("White|Black|Other")), ("colour", one_of("White|Black|Red")),
                     ("race", lambda r: r.random())),
    "device_number": ("device-number",
                      ("imei", m.luhn("35", 15)), ("n1", pattern("359999999999999")), ("imei", YES_NO)),
    "email_address": ("email", ("f1", m.email()), ("f1", lambda r: f"@{m.word(r)}"), ("email", YES_NO)),
    "event_date": ("date", ("admitted", m.day(2019, 2020, "%d/%m/%Y")), ("ratio", pattern("9/9")), ("date", YES_NO)),
    "free_text": ("free-text", ("notes", m.prose(8, 30)), ("status", one_of("open case|closed case")),
                  ("notes", whole(1, 9))),
    "geography": ("geography", ("city", m.city("it")), ("status", one_of("open|closed")), ("city", m.email())),
    "hashes": ("hash", ("f1", m.digest("md5")), ("f1", digits(32)), ("md5", YES_NO)),
    "iban": ("iban", ("f1", m.iban("DE", 22)), ("f1", pattern("DE99999999999999999999")), ("iban", whole(1, 9))),
    "ip_address": ("ip-address", ("f1", lambda r: ".".join(str(r.randint(1, 250)) for _ in range(4))),
                   ("version", lambda r: ".".join(str(r.randint(0, 12)) for _ in range(4))), ("ip", whole(1, 99))),
    "labels": ("health", ("Do you currently smoke cigarettes?", whole(1, 2)), ("What colour is the box?", whole(1, 2)),
               ("Do you currently smoke cigarettes?", m.prose(8, 20))),
    "mac_address": ("mac-address", ("f1", lambda r: ":".join(pattern("hh")(r) for _ in range(6))),
                    ("f1", pattern("29:19:59")), ("mac", YES_NO)),
    "names": ("name", ("cognome", m.surname("it")),
              ("product", one_of("Red Chair|Oak Table")), ("surname", whole(1, 99))),
    "national_id": ("national-id", ("f1", m.codice_fiscale), ("f1", digits(9)), ("nhs_no", whole(10**9, 10**10 - 1))),
    "payment_card": ("payment-card", ("f1", m.luhn("4", 16)), ("f1", digits(16)), ("credit_card", digits(16))),
    "phone": ("phone", ("f1", lambda r: f"+39 34{digits(1)(r)} {digits(7)(r)}"), ("f1", digits(10)), ("phone", YES_NO)),
    "postal_code": ("postal-code", ("zip", whole(501, 99_950)), ("charge", whole(501, 99_950)),
                    ("zip", lambda r: r.random())),
    "record_numbers": ("medical-record-number", ("mrn", whole(10**6, 10**7)), ("code", whole(10**6, 10**7)),
                       ("mrn", YES_NO)),
    "sensitive": ("income", ("salary", m.skewed(30_000)), ("charge", m.skewed(30_000)), ("salary", m.email())),
    "sex": ("sex", ("f1", one_of("male|female")), ("size", one_of("S|M|L")), ("sex", m.skewed(70))),
    "street_address": ("street-address", ("f1", m.street("de")), ("f1", m.city("de")), ("address", whole(1, 9))),
    "url": ("url", ("f1", lambda r: f"https://{m.word(r)}.org/{r.randint(1, 9)}"), ("f1", lambda r: f"{m.word(r)}.csv"),
            ("url", whole(1, 9))),
    "uuids": ("uuid", ("f1", m.make_uuid), ("f1", pattern("hhhhhhhh-hhhh")), ("uuid", YES_NO)),
    "vehicle_number": ("vehicle-number", ("f1", m.vin), ("f1", pattern("AAAAAAAAAAAAA9999")), ("vin", YES_NO)),
}  # fmt: skip


def decided(header: str, values: pl.Series) -> str | None:
    found = find_kinds(as_view(header, values))
    return found[0].kind if found and found[0].confidence >= DECIDED else None


def test_every_recogniser_is_tried() -> None:
    # what needs the other headers of a table is tried in test_coded.py
    assert set(TRIALS) | {"coded"} == set(RECOGNISERS)


@pytest.mark.parametrize("name", TRIALS)
def test_finds_its_kind(name: str) -> None:
    kind, (header, maker), _, _ = TRIALS[name]
    assert decided(header, series(maker)) == kind


@pytest.mark.parametrize("name", TRIALS)
def test_leaves_a_look_alike_alone(name: str) -> None:
    kind, _, (header, maker), _ = TRIALS[name]
    assert decided(header, series(maker)) != kind


@pytest.mark.parametrize("name", TRIALS)
def test_does_not_believe_a_header_that_lies(name: str) -> None:
    kind, _, _, (header, maker) = TRIALS[name]
    assert decided(header, series(maker)) != kind


@pytest.mark.parametrize("length", range(7, 20))
def test_random_digits_are_no_numbers_of_people(length: int) -> None:
    for header in ("value", "x1", "total"):
        for values in (series(digits(length), 1_000), series(digits(length), 1_000).cast(pl.Int128)):
            assert decided(header, values) is None


def test_a_number_behind_a_letter_is_no_eircode() -> None:
    numbers = pl.Series([f"R{number:06d}" for number in range(1, 400)])
    assert decided("respondent", numbers) != "postal-code"
    assert decided("f1", numbers) != "postal-code"
    homes = pl.Series(
        [f"{area} {digits(2)(random.Random(at))}XK" for at, area in enumerate(["D02", "R14", "D6W"] * 99)]
    )
    assert decided("eircode", homes) == "postal-code"


def test_values_beat_a_header_that_says_something_else() -> None:
    assert decided("id", series(m.email())) == "email"
    assert decided("zip", series(m.make_uuid)) == "uuid"


def test_check_digits_are_named_and_verified() -> None:
    best = find_kinds(as_view("nhs_no", series(m.nhs_number)))[0]
    assert (best.rule, best.checksum, best.share) == ("uk-nhs", True, 1.0)
    lying = find_kinds(as_view("nhs_no", series(digits(10))))
    assert all(not found.checksum for found in lying)
    assert all(found.confidence < DECIDED for found in lying)


def test_leading_zeros_lost_by_a_spreadsheet() -> None:
    assert decided("zip", pl.Series([501, 2134, 10001, 90210, 6511])) == "postal-code"
    assert decided("bsn", series(lambda r: int("0" + m.bsn(r)[1:]), 400)) is None
    assert decided("ssn", series(lambda r: int(m.ssn("{a:03d}{g:02d}{s:04d}")(r)))) == "national-id"


def test_nine_digits_with_forbidden_areas_weigh_less_than_without() -> None:
    real = find_kinds(as_view("ssn", series(m.ssn("{a:03d}{g:02d}{s:04d}"))))[0]
    random_digits = find_kinds(as_view("ssn", series(digits(9))))[0]
    assert real.confidence > 0.8 > DECIDED > random_digits.confidence


def test_dates_without_a_word_in_the_header_are_told_by_their_spread() -> None:
    assert decided("f1", series(m.day(1930, 2010))) == "date-of-birth"
    assert decided("f1", series(m.day(2015, 2020))) == "date"
    assert decided("hire_date", series(m.day(1960, 2010))) == "date"


def test_day_and_month_are_not_guessed() -> None:
    rule = find_kinds(as_view("date", pl.Series(["01/02/2020", "03/04/2020", "05/06/2020"])))[0].rule
    assert rule == "day-or-month-first"


def test_every_kind_has_a_role() -> None:
    assert set(ROLE_OF_KIND.values()) <= {"identifier", "quasi-identifier", "sensitive", "other"}
    for _, (header, maker), _, _ in TRIALS.values():
        assert all(found.kind in ROLE_OF_KIND for found in find_kinds(as_view(header, series(maker))))


def test_share_counts_records_not_values() -> None:
    values = pl.Series(["a@b.org"] * 90 + ["x", "y", "z", "v", "w", "q", "r", "s", "t", "u"])
    assert find_kinds(as_view("f1", values))[0].share == pytest.approx(0.9)


def test_a_heavy_value_is_never_missed_by_the_sample() -> None:
    many = [f"user{i}@example.org" for i in range(20_000)] + ["nobody here"] * 20_000
    assert find_kinds(as_view("f1", pl.Series(many)))[0].share == pytest.approx(0.5, abs=0.02)


def test_words_for_missing_do_not_count() -> None:
    values = pl.Series(["a@b.org", "c@d.org", "N/A", "unknown", "-"])
    assert find_kinds(as_view("email", values))[0].share == 1.0


def test_confidence_formula_by_hand() -> None:
    assert confidence(0.8, 0.5, 0.45) == pytest.approx(0.8 * (1 - 0.5 * 0.55))
    assert above_chance(1.0, 0.1, 100) == pytest.approx((0.9 - 2 * 0.03) / 0.9)
    assert above_chance(1.0, 0.1, 0) == 0.0


@pytest.mark.parametrize(
    ("header", "tokens"),
    [
        ("patientDOB", ("patient", "dob")),
        ("IPAddress", ("ip", "address")),
        ("Data di nascita", ("data", "di", "nascita")),
        ("  zip__code-2 ", ("zip", "code", "2")),
        ("Straße", ("strasse",)),
        ("", ()),
    ],
)
def test_headers_are_split(header: str, tokens: tuple[str, ...]) -> None:
    assert read_header(header).tokens == tokens


def test_headers_about_a_thing_are_not_the_thing() -> None:
    book = words("email")
    assert book.heard(read_header("work_email")) == (0.85, "email")
    assert book.heard(read_header("email_count")) == (0.0, None)
    assert book.heard(read_header("email_verified")) == (0.0, None)


def test_compound_and_cut_off_headers_speak() -> None:
    assert words("zip").heard(read_header("patzip"))[1] == "zip"
    assert words("geschlecht").heard(read_header("Geschl")) == (0.45, "geschlecht")


def test_a_sample_keeps_the_weight_of_the_column() -> None:
    view = as_view("f1", pl.Series(range(10_000)))
    column = ColumnEvidence(view)
    assert 1_700 <= len(column.weights) <= 2_000
    assert column.weights.sum() == pytest.approx(np.sum(view.counts))
