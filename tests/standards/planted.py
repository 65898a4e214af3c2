"""Columns with planted identifiers of all eighteen clauses, in odd writings, under honest, silent and lying headers.

All cells are planted, or a few among codes. Harmless columns stand apart. Nothing here knows how shoal looks at them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from detection import labelled_makers as m

ROWS = 120
FEW = 6
Maker = Callable[[random.Random], Any]

SAYS_NOTHING = ("x1", "col_7", "field3", "V12", "value", "data2", "item", "Unnamed 3", "q17", "attr_b")
LIES = (
    "income", "diagnosis", "drug", "cpt", "ward", "dosage", "religion", "score", "party", "salary", "icd", "color",
    "medication", "conviction", "procedure", "status", "occupation", "result", "education", "grade", "race", "stage",
    "marital_status", "arm", "category", "weight", "team", "charge", "diagnosis_by", "priority",
)  # fmt: skip
CODES: tuple[Maker, ...] = (
    m.one_of("A1|B7|C3|D9|A4"), m.one_of("yes|no|maybe"), m.one_of("101|205|330|412"), m.one_of("K-2|K-7|L-1"),
)  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """A column: its clause, the way of writing, the header with what it does, its cells and those that must go."""

    clause: str
    writing: str
    header: str
    how: str
    cells: list[Any]
    secret: frozenset[str]


def day(r: random.Random) -> date:
    return date(2009, 1, 1) + timedelta(days=r.randrange(1400))


def other_digits(text: str, zero: int) -> str:
    return "".join(chr(zero + int(sign)) if sign.isdecimal() and sign.isascii() else sign for sign in text)


def ssn_with(gap: str) -> Maker:
    return lambda r: m.ssn()(r).replace("-", gap)


def dated(form: str) -> Maker:
    return lambda r: day(r).strftime(form)


def hexadecimal(count: int) -> Maker:
    return lambda r: "".join(r.choice("0123456789abcdef") for _ in range(count))


ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
SURNAMES = ("Bird", "Cooley", "Thomas", "Okafor", "Lindqvist", "Marsh", "Petrov", "Vance", "Holt", "Quill", "Nakata")
GIVEN = ("Jon", "Ada", "Mary", "Luis", "Ingrid", "Omar", "Bea", "Tom", "Ruth", "Kofi", "Zoe")


def surname(r: random.Random) -> str:
    return r.choice(SURNAMES) + r.choice(("", "", "son", "-Hale", "ley", "man"))


def named(form: str) -> Maker:
    return lambda r: form.format(given=r.choice(GIVEN), last=surname(r), letter=r.choice("ABCDEFGH"))


def card(r: random.Random) -> str:
    return str(m.luhn("4 51 53", 16)(r)).replace(" ", "").replace("-", "")


def grouped(text: str, size: int, gap: str) -> str:
    return gap.join(text[start : start + size] for start in range(0, len(text), size))


# clause, headers that say it, and makers by the way of writing
WRITINGS: tuple[tuple[str, tuple[str, ...], dict[str, Maker]], ...] = (
    ("A", ("patient_name", "full name", "surname"), {
        "first last": named("{given} {last}"), "last, first": named("{last}, {given}"), "title": named("Mr. {last}"),
        "initial": named("{letter}. {last}"), "capitals": lambda r: str(named("{given} {last}")(r)).upper(),
    }),
    ("B", ("street", "address"), {
        "street": m.street("en"), "po box": m.pattern("PO Box 9999"),
        "mews": lambda r: f"{r.randrange(100, 99999)} {r.choice(GIVEN)} Mews Suite {r.randrange(100, 999)}",
        "coordinates": lambda r: f"{r.uniform(25, 48):.5f}, {-r.uniform(70, 120):.5f}",
        "state and zip": lambda r: f"{r.choice(['NY', 'CA', 'TX'])} {r.randrange(10000, 99950)}",
    }),
    ("B", ("zip", "patzip"), {
        "zip": lambda r: f"{r.randrange(501, 99950):05d}", "zip number": lambda r: r.randrange(501, 99950),
        "zip plus 4": lambda r: f"{r.randrange(501, 99950):05d}-{r.randrange(1, 9999):04d}",
        "full-width zip": lambda r: other_digits(f"{r.randrange(501, 99950):05d}", 0xFF10),
    }),
    ("B", ("city", "town"), {"city": m.city("en")}),
    ("C", ("admission_date", "discharged"), {
        "iso": dated("%Y-%m-%d"), "us": dated("%m/%d/%Y"), "blanks": dated("%Y - %m - %d"),
        "underscores": dated("%Y_%m_%d"), "cjk": dated("%Y年%m月%d日"), "month name": dated("%d %b %Y"),
        "roman": lambda r: (lambda d: f"{d.day}-{ROMAN[d.month - 1]}-{d.year}")(day(r)),
        "week day": lambda r: "{}-W{:02d}-{}".format(*day(r).isocalendar()),
        "full-width": lambda r: other_digits(day(r).isoformat(), 0xFF10),
        "arabic": lambda r: other_digits(day(r).isoformat(), 0x660), "en dash": dated("%Y–%m–%d"),
        "compact": lambda r: int(day(r).strftime("%Y%m%d")), "compact text": dated("%Y%m%d"),
        "seconds": lambda r: 1_230_768_000 + r.randrange(10**8), "month": dated("%B %Y"),
        "milliseconds": lambda r: (1_230_768_000 + r.randrange(10**8)) * 1000,
        "moment": dated("%Y-%m-%dT10:15:30-05:00"),
    }),
    ("C", ("age", "age_yrs"), {
        "age": lambda r: r.randrange(1, 105), "age text": lambda r: f"{r.randrange(1, 105)} years",
        "full-width age": lambda r: other_digits(str(r.randrange(1, 105)), 0xFF10),
    }),
    ("D", ("phone", "telephone"), {
        "us": m.pattern("(415) 555-0999"),
        "slash": lambda r: f"{r.randrange(201, 989)}/{r.randrange(201, 989)}-{m.digits(4)(r)}",
        "00": lambda r: f"0049 30 {r.randrange(10**6, 10**7)}", "plus": lambda r: f"+49 30 {r.randrange(10**6, 10**7)}",
        "dots": lambda r: f"{r.randrange(201, 989)}.{r.randrange(201, 989)}.{m.digits(4)(r)}",
        "no-break": lambda r: f"{r.randrange(201, 989)}\u00a0{r.randrange(201, 989)}\u00a0{m.digits(4)(r)}",
        "digits": lambda r: f"{r.randrange(201, 989)}{r.randrange(201, 989)}{m.digits(4)(r)}",
    }),
    ("E", ("fax", "fax_number"), {
        "us": lambda r: f"{r.randrange(201, 989)}-{r.randrange(201, 989)}-{m.digits(4)(r)}",
        "fax": lambda r: f"Fax: {r.randrange(201, 989)} {r.randrange(201, 989)} {m.digits(4)(r)}",
    }),
    ("F", ("email", "e-mail"), {
        "address": m.email(), "full-width at": lambda r: str(m.email()(r)).replace("@", "＠"),
        "at": lambda r: str(m.email()(r)).replace("@", "[at]"),
    }),
    ("G", ("ssn", "social security number"), {
        "dashes": m.ssn(), "en dash": ssn_with("–"), "no-break": ssn_with("\u00a0"), "zero width": ssn_with("-\u200b"),
        "dots": ssn_with("."), "blanks": ssn_with(" "), "masked": lambda r: f"XXX-XX-{m.digits(4)(r)}",
        "digits": ssn_with(""), "number": lambda r: int(ssn_with("")(r)),
        "arabic": lambda r: other_digits(str(m.ssn()(r)), 0x660),
    }),
    ("H", ("mrn", "medical record number"), {
        "number": lambda r: r.randrange(10**7, 10**8), "mr#": m.pattern("MR# 9999999"),
        "mrn": m.pattern("MRN: 9999999"),
    }),
    ("I", ("member_id", "beneficiary id"), {"letters": m.pattern("AAA999999999"), "parts": m.pattern("A9999-99999")}),
    ("J", ("account_number", "card number"), {
        "account": m.digits(11), "card": card, "card blanks": lambda r: grouped(card(r), 4, " "),
        "iban": m.iban("DE", 22),
    }),
    ("K", ("driver_license", "license number"), {
        "letter": m.pattern("A9999999"), "parts": m.pattern("A999-9999-9999"),
    }),
    ("L", ("vin", "license plate"), {
        "vin": m.vin, "small vin": lambda r: str(m.vin(r)).lower(), "plate": m.pattern("AAA 9999"),
    }),
    ("M", ("device_serial", "mac address"), {
        "serial": m.pattern("AA-9999-9999"), "mac": lambda r: grouped(str(hexadecimal(12)(r)), 2, ":"),
        "cisco": lambda r: grouped(str(hexadecimal(12)(r)), 4, "."), "imei": m.luhn("35", 15),
    }),
    ("N", ("website", "url"), {
        "https": lambda r: f"https://{m.word(r)}.example.com/{m.word(r)}{r.randrange(999)}",
        "www": lambda r: f"www.{m.word(r)}{r.randrange(999)}.org",
        "bare": lambda r: f"{m.word(r)}{r.randrange(999)}.com/me",
    }),
    ("O", ("ip_address", "client ip"), {
        "v4": lambda r: ".".join(str(r.randint(11, 254)) for _ in range(4)),
        "v6 short": lambda r: f"fe80::{hexadecimal(4)(r)}:{hexadecimal(4)(r)}",
        "v6": lambda r: grouped(str(hexadecimal(32)(r)), 4, ":"),
    }),
    ("P", ("fingerprint", "retina scan"), {"template": hexadecimal(16), "long": hexadecimal(40)}),
    ("Q", ("photo", "portrait"), {
        "jpg": lambda r: f"img_{r.randrange(10**6)}.jpg", "face": lambda r: f"{surname(r)}_face{r.randrange(99)}.PNG",
        "data": lambda r: f"data:image/png;base64,iVBORw0KGgo{hexadecimal(20)(r)}",
    }),
    ("R", ("patient_id", "guid"), {
        "uuid": m.make_uuid, "code": m.pattern("P99999"), "handle": lambda r: f"@{m.word(r)}{r.randrange(99)}",
        "digest": m.digest("sha1"),
    }),
)  # fmt: skip


def is_secret(clause: str, writing: str, value: Any) -> bool:
    """Whether a value may not leave: ages up to 89 may."""
    if "age" in writing and clause == "C":
        return int(str(value).split()[0]) >= 90
    return True


def planted(seed: int = 5) -> Iterator[Planted]:
    """All columns, the same ones for a seed."""
    number = 0
    for clause, says, makers in WRITINGS:
        for writing, maker in makers.items():
            number += 1
            r = random.Random(f"{seed} {clause} {writing}")
            headers = {
                "says it": says[number % len(says)],
                "says nothing": SAYS_NOTHING[number % len(SAYS_NOTHING)],
                "lies": LIES[number % len(LIES)],
                "lies otherwise": LIES[(number + 11) % len(LIES)],
            }
            for how, header in headers.items():
                yield column(clause, writing, header, how, [maker(r) for _ in range(ROWS)])
            for how in ("says nothing", "lies"):
                codes = CODES[number % len(CODES)]
                cells: list[Any] = [codes(r) for _ in range(ROWS)]
                values = [maker(r) for _ in range(FEW)]
                for place, value in zip(r.sample(range(ROWS), FEW), values, strict=True):
                    cells[place] = str(value)
                few = column(clause, writing, headers[how], f"few cells, {how}", values)
                yield Planted(clause, writing, headers[how], few.how, cells, few.secret)


def column(clause: str, writing: str, header: str, how: str, values: list[Any]) -> Planted:
    secret = frozenset(str(value) for value in values if is_secret(clause, writing, value))
    return Planted(clause, writing, header, how, values, secret)


HARMLESS: dict[str, Maker] = {
    "sex": m.one_of("f|m"), "race": m.one_of("White|Black|Asian|Other"),
    "marital_status": m.one_of("married|single|widowed"),
    "education": m.one_of("Bachelors|HS-grad|Masters|Doctorate"),
    "occupation": m.one_of("Sales|Tech-support|Craft-repair"),
    "diagnosis": m.one_of("E11.9|I10|J45|F32.1|N39.0|K21.9"), "drug": m.one_of("metformin|lisinopril|atorvastatin"),
    "dosage": m.one_of("5 mg|10 mg|250 mg|1000 mg|0.5 ml"), "cpt": m.one_of("99213|99214|36415|80053"),
    "blood_pressure": lambda r: f"{r.randrange(95, 180)}/{r.randrange(55, 110)}",
    "charge": lambda r: round(r.uniform(50, 90000), 2), "los": lambda r: r.randrange(0, 60),
    "hemoglobin": lambda r: round(r.uniform(7, 18), 1), "pain_score": lambda r: r.randrange(0, 11),
    "smoker": m.one_of("yes|no|former"), "country": m.one_of("USA|Canada|Mexico"),
    "state": m.one_of("NY|CA|TX|WA|OR|MA|IL"), "payer": m.one_of("Medicare|Medicaid|Private|Self-pay"),
    "ward": m.one_of("3A|3B|4A|ICU"), "triage": m.one_of("I|II|III|IV"),
    "weight_kg": lambda r: round(r.uniform(45, 120), 1),
    "pulse": lambda r: r.randrange(48, 130), "platelets": lambda r: r.randrange(140, 460),
    "income": lambda r: r.randrange(18_000, 190_000, 10),
}  # fmt: skip


def harmless(seed: int = 5) -> Iterator[tuple[str, list[Any]]]:
    """Columns that name nobody."""
    for name, maker in HARMLESS.items():
        r = random.Random(f"{seed} {name}")
        yield name, [maker(r) for _ in range(ROWS)]
