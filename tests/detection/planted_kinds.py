"""Planted columns of kinds that no rule was made for: calendars, serials, encodings, identifiers of many countries.

Every kind stands under a header that says nothing and under headers that lie, in all cells or in a few among codes.
Harmless columns stand apart. The kinds are cut in two halves by their names: rules are tuned on the one, and the
figures that are reported are those of the other. Nothing here knows how shoal looks at a column.
"""

from __future__ import annotations

import base64
import hashlib
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote

from detection import labelled_makers as m

ROWS = 200
Maker = Callable[[random.Random], Any]
SILENT = ("x3", "col_9", "field_b", "v41", "val2", "data_5", "attr7", "q8", "item4", "misc")
LYING = (
    "dosage", "drug", "salary", "diagnosis", "icd", "status", "score", "income", "stage", "category", "grade", "arm",
    "procedure", "result", "religion", "charge", "ward", "medication", "priority", "occupation", "steps", "cost_eur",
)  # fmt: skip
CODES: tuple[Maker, ...] = (
    m.one_of("A1|B7|C3|D9|A4|E2"), m.one_of("yes|no|unknown"), m.one_of("101|205|330|412|518"),
    m.one_of("K-2|K-7|L-1|M-4"), m.one_of("low|medium|high"), m.one_of("E11.9|I10|J45|F32.1"),
    m.one_of("metformin|lisinopril|atorvastatin|amlodipine"), m.one_of("5 mg|10 mg|250 mg|0.5 ml"),
)  # fmt: skip


def day(r: random.Random) -> date:
    return date(1938, 1, 1) + timedelta(days=r.randrange(31_000))


def weighted(number: str, weights: tuple[int, ...], modulus: int) -> int:
    return sum(int(sign) * weight for sign, weight in zip(number, weights, strict=True)) % modulus


def retried(make: Callable[[random.Random], str | None]) -> Maker:
    """A number that has a check digit; where none fits another is drawn."""

    def maker(r: random.Random) -> str:
        while (found := make(r)) is None:
            pass
        return found

    return maker


def with_digit(length: int, weights: tuple[int, ...], modulus: int, turn: bool = False) -> Maker:
    def make(r: random.Random) -> str | None:
        body = str(r.randrange(1, 10)) + str(m.digits(length - 1)(r))
        rest = weighted(body, weights, modulus)
        check = (modulus - rest) % modulus if turn else rest
        return None if check > 9 else body + str(check)

    return retried(make)


def cpf(r: random.Random) -> str:
    body = str(m.digits(9)(r))
    for size in (10, 11):
        rest = sum(int(sign) * (size - place) for place, sign in enumerate(body)) * 10 % 11
        body += str(rest % 10)
    return f"{body[:3]}.{body[3:6]}.{body[6:9]}-{body[9:]}"


def chinese(r: random.Random) -> str:
    body = f"{r.choice(('110101', '310104', '440305'))}{day(r):%Y%m%d}{m.digits(3)(r)}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return body + "10X98765432"[weighted(body, weights, 11)]


def korean(r: random.Random) -> str:
    body = f"{day(r):%y%m%d}{r.randint(1, 4)}{m.digits(5)(r)}"
    check = (11 - weighted(body, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), 11)) % 10
    return f"{body[:6]}-{body[6:]}{check}"


def singapore(r: random.Random) -> str:
    body = str(m.digits(7)(r))
    return f"S{body}{'JZIHGFEDCBA'[weighted(body, (2, 7, 6, 5, 4, 3, 2), 11)]}"


def hong_kong(r: random.Random) -> str:
    letter, body = r.choice("ABCDEGHKMPRSVYZ"), str(m.digits(6)(r))
    total = 324 + (ord(letter) - 55) * 8 + weighted(body, (7, 6, 5, 4, 3, 2), 10_000)
    return f"{letter}{body}({'0A987654321'[total % 11]})"


def curp(r: random.Random) -> str:
    letters = "".join(r.choice("BCDFGHJKLM") for _ in range(3))
    first = f"{r.choice('BCGHM')}{r.choice('AEIO')}{letters[:2]}"
    return f"{first}{day(r):%y%m%d}{r.choice('HM')}DF{letters}0{r.randrange(10)}"


def finnish(r: random.Random) -> str:
    body, number = f"{day(r):%d%m%y}", r.randrange(2, 900)
    return f"{body}-{number:03d}{'0123456789ABCDEFHJKLMNPRSTUVWXY'[int(f'{body}{number:03d}') % 31]}"


def nino(r: random.Random) -> str:
    return f"{r.choice('ABCEHJLP')}{r.choice('ABCEHJLP')}{m.digits(6)(r)}{r.choice('ABCD')}"


def verhoeff(r: random.Random) -> str:
    turn = ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 5, 7, 6, 2, 8, 3, 0, 9, 4))
    permute = [list(turn[0]), list(turn[1])]
    for _ in range(6):
        permute.append([permute[1][sign] for sign in permute[-1]])

    def joined(a: int, b: int) -> int:
        if a < 5:
            return (a + b) % 5 if b < 5 else 5 + (a + b - 5) % 5
        return 5 + (a - 5 - b) % 5 if b < 5 else (a - b) % 5

    body, total = str(r.randrange(2, 10)) + str(m.digits(10)(r)), 0
    for place, sign in enumerate(reversed(body), 1):
        total = joined(total, permute[place % 8][int(sign)])
    check = next(sign for sign in range(10) if joined(total, sign) == 0)
    return f"{body[:4]} {body[4:8]} {body[8:]}{check}"


def name(r: random.Random) -> str:
    return f"{m.given('en')(r)} {m.surname('en')(r)}"


def hijri(r: random.Random) -> str:
    return f"{r.randint(1357, 1445)}/{r.randint(1, 12):02d}/{r.randint(1, 29):02d}"


def person_in(code: Callable[[bytes], bytes]) -> Maker:
    return lambda r: code(f"{name(r)} {r.randrange(1000)}".encode()).decode()


def letters(alphabet: str, size: int) -> Maker:
    return lambda r: "".join(r.choice(alphabet) for _ in range(size))


def dea(r: random.Random) -> str:
    body = str(m.digits(6)(r))
    return f"{r.choice('ABFM')}{r.choice('ABCDEF')}{body}{weighted(body, (1, 2, 1, 2, 1, 2), 1000) % 10}"


def worded(months: str) -> Maker:
    return lambda r: f"{r.randint(1, 28)} {r.choice(months.split())} {r.randint(1950, 2020)}"


def full_width(r: random.Random) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if sign.isdigit() else sign for sign in m.ssn()(r))


_BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

KINDS: dict[str, Maker] = {
    # calendars
    "hijri": hijri,
    "persian": lambda r: f"{r.randint(1320, 1402)}-{r.randint(1, 12):02d}-{r.randint(1, 29):02d}",
    "buddhist": lambda r: f"{r.randint(1, 28):02d}/{r.randint(1, 12):02d}/{r.randint(2490, 2567)}",
    "japanese era": lambda r: f"{r.choice('SHR')}{r.randint(1, 60)}.{r.randint(1, 12)}.{r.randint(1, 28)}",
    "minguo": lambda r: f"{r.randint(40, 112)}/{r.randint(1, 12):02d}/{r.randint(1, 28):02d}",
    "ordinal date": lambda r: f"{day(r):%Y-%j}",
    "julian day of a year": lambda r: int(f"{day(r):%Y%j}"),
    "week date": lambda r: "{}-W{:02d}-{}".format(*day(r).isocalendar()),
    "short date": lambda r: f"{day(r):%d%m%y}",
    "day month year": lambda r: f"{day(r):%d%m%Y}",
    "spreadsheet day": lambda r: (day(r) - date(1899, 12, 30)).days,
    "days since 1960": lambda r: (day(r) - date(1960, 1, 1)).days,
    "julian day number": lambda r: (day(r) - date(1899, 12, 30)).days + 2_415_019,
    "file time": lambda r: (day(r) - date(1601, 1, 1)).days * 864_000_000_000,
    "seconds": lambda r: 1_230_768_000 + r.randrange(4 * 10**8),
    "french month": worded("janvier mars avril août décembre"),
    "russian month": worded("января марта июня августа"),
    "month and year": lambda r: f"{day(r):%b-%y}",
    "clock": lambda r: f"{r.randrange(24):02d}:{r.randrange(60):02d}:{r.randrange(60):02d}",
    # serials
    "eight digits": m.digits(8),
    "chart with letter": m.pattern("H99999999"),
    "running number": lambda r: r.randrange(100_000, 999_999),
    "npi": m.luhn("1", 10),
    "imei": m.luhn("35", 15),
    "dea": dea,
    "plate": m.pattern("AAA-9999"),
    "device": m.pattern("SN-AA9999-999"),
    "order": m.pattern("99-999-9999"),
    "member": m.pattern("AAA999999999"),
    "vin": m.vin,
    "iban": m.iban("DE", 22),
    "card": m.luhn("4 51 53", 16),
    "badge": m.pattern("AA99AA99"),
    # encodings
    "base64 name": person_in(base64.b64encode),
    "hex name": person_in(base64.b16encode),
    "base32 name": person_in(base64.b32encode),
    "percent": lambda r: quote(f"{name(r)}@example.org"),
    "quoted zip": lambda r: f"'{r.randrange(501, 99950):05d}",
    "short hash": lambda r: hashlib.md5(str(r.random()).encode()).hexdigest()[:10],
    "ulid": letters(_BASE32, 26),
    "wallet": letters(_BASE58, 34),
    "json": lambda r: f'{{"id": {r.randrange(10**6)}, "n": "{name(r)}"}}',
    "initials and birth": lambda r: f"{r.choice('ABCDEFGH')}{r.choice('JKLMNPQR')}{day(r):%d%m%Y}",
    "spaced phone": lambda r: " ".join(f"{r.randrange(201, 989)}555{m.digits(4)(r)}"),
    "full-width ssn": full_width,
    "ssn without dashes": lambda r: m.ssn()(r).replace("-", ""),
    "name in capitals": lambda r: name(r).upper(),
    "last, first": lambda r: ", ".join(reversed(name(r).split())),
    "email": m.email(),
    "handle": lambda r: f"@{m.word(r)}{r.randrange(99)}",
    "coordinates": lambda r: f"{r.uniform(25, 48):.5f}, {-r.uniform(70, 120):.5f}",
    "street": m.street("en"),
    "url": lambda r: f"https://{m.word(r)}.example.com/{r.randrange(9999)}",
    # foreign identifiers
    "cpf": cpf,
    "chinese id": chinese,
    "korean rrn": korean,
    "nric": singapore,
    "hkid": hong_kong,
    "curp": curp,
    "hetu": finnish,
    "nino": nino,
    "aadhaar": verhoeff,
    "pan": m.pattern("AAAPA9999A"),
    "pesel": m.pesel,
    "dni": m.dni,
    "codice fiscale": m.codice_fiscale,
    "nir": m.nir,
    "steuer-id": m.steuer_id,
    "bsn": with_digit(8, (9, 8, 7, 6, 5, 4, 3, 2), 11),
    "nhs": with_digit(9, (10, 9, 8, 7, 6, 5, 4, 3, 2), 11, turn=True),
    "sin": lambda r: m.grouped(m.luhn("1 2 4 5", 9), 3, 3, 3)(r),
    "personnummer": lambda r: f"{day(r):%y%m%d}-{m.digits(4)(r)}",
    "cpr": lambda r: f"{day(r):%d%m%y}-{m.digits(4)(r)}",
    "south african": lambda r: m.luhn(f"{day(r):%y%m%d}", 13)(r),
    "ahv": lambda r: f"756.{m.digits(4)(r)}.{m.digits(4)(r)}.{m.digits(2)(r)}",
    "thai id": lambda r: f"{r.randint(1, 8)}-{m.digits(4)(r)}-{m.digits(5)(r)}-{m.digits(2)(r)}-{r.randrange(10)}",
    "taiwan id": m.pattern("A299999999"),
    "nhi": m.pattern("AAA9999"),
    "turkish id": m.digits(11),
    "passport": m.pattern("A99999999"),
    "emirates": lambda r: f"784-{day(r):%Y}-{m.digits(7)(r)}-{r.randrange(10)}",
}


@dataclass(frozen=True)
class Planted:
    """A column: the kind, the header and what it does, its cells, and those of them that were planted."""

    kind: str
    header: str
    how: str
    cells: list[Any]
    secret: frozenset[str]


def is_sealed(kind: str) -> bool:
    """Which half a kind belongs to, by its name alone."""
    return hashlib.sha256(f"leaves {kind}".encode()).digest()[0] % 2 == 1


def planted(sealed: bool) -> Iterator[Planted]:
    """The columns of one half."""
    return planted_of({kind: maker for kind, maker in KINDS.items() if is_sealed(kind) == sealed})


def planted_of(kinds: Mapping[str, Maker], seed: int = 1) -> Iterator[Planted]:
    """Six columns of each kind, the same ones for a seed."""
    for kind in sorted(kinds):
        r = random.Random(f"{seed} {kind}")
        headers = {"silent": r.choice(SILENT), "lying": r.choice(LYING), "lying otherwise": r.choice(LYING)}
        for how, header in headers.items():
            cells = [kinds[kind](r) for _ in range(ROWS)]
            yield Planted(kind, header, how, cells, frozenset(map(str, cells)))
        for how, few in (("silent", 6), ("lying", 3), ("lying otherwise", 6)):
            codes = r.choice(CODES)
            cells = [codes(r) for _ in range(ROWS)]
            secret = [str(kinds[kind](r)) for _ in range(few)]
            for place, value in zip(r.sample(range(ROWS), few), secret, strict=True):
                cells[place] = value
            yield Planted(kind, headers[how], f"{few} cells, {how}", cells, frozenset(secret))


def amounts(median: float, spread: float, decimals: int | None = None) -> Maker:
    return lambda r: round(median * r.lognormvariate(0, spread), decimals)


HARMLESS: dict[str, Maker] = {
    "steps": lambda r: int(r.gauss(8200, 2600)) + 400,
    "cost_eur": amounts(14_000, 0.9),
    "rna_count": lambda r: int(40_000 * r.lognormvariate(0, 1.1)),
    "icd9": m.one_of("250.00|401.9|428.0|414.01|272.4|427.31|585.6|530.81"),
    "icd": m.one_of("E11.9|I10|J45|F32.1|N39.0|K21.9|Z00.00"),
    "cpt": m.one_of("99213|99214|36415|80053|93000|85025"),
    "drug": m.one_of("metformin|lisinopril|atorvastatin|amlodipine"),
    "dosage": m.one_of("5 mg|10 mg|250 mg|1000 mg|0.5 ml"),
    "ndc": m.one_of("0002-8215-01|0169-7501-11|50090-0876-0|0093-7424-56"),
    "salary": lambda r: r.randrange(24_000, 190_000, 50),
    "income": amounts(38_000, 0.6),
    "charge": amounts(9_000, 1.1, 2),
    "price": amounts(120, 0.7, 2),
    "los": lambda r: int(r.expovariate(0.2)),
    "hemoglobin": lambda r: round(r.gauss(13, 1.6), 1),
    "platelets": lambda r: int(r.gauss(260, 60)),
    "glucose": lambda r: int(r.gauss(110, 30)),
    "creatinine": lambda r: round(abs(r.gauss(1, 0.3)), 2),
    "bmi": lambda r: round(r.gauss(27, 5), 1),
    "weight_kg": lambda r: round(r.gauss(78, 15), 1),
    "pulse": lambda r: r.randrange(48, 130),
    "blood_pressure": lambda r: f"{r.randrange(95, 180)}/{r.randrange(55, 110)}",
    "pain_score": lambda r: r.randrange(11),
    "smoker": m.one_of("yes|no|former"),
    "ward": m.one_of("3A|3B|4A|ICU"),
    "triage": m.one_of("I|II|III|IV"),
    "payer": m.one_of("Medicare|Medicaid|Private|Self-pay"),
    "status": m.one_of("open|closed|pending"),
    "arm": m.one_of("placebo|treatment A|treatment B"),
    "stage": m.one_of("IA|IB|IIA|IIB|III|IV"),
    "loinc": m.one_of("718-7|2160-0|2345-7|4548-4|2951-2"),
    "drg": m.one_of("470|871|291|194|690"),
    "snomed": m.one_of("38341003|73211009|195967001|44054006"),
    "atc": m.one_of("A10BA02|C09AA03|C10AA05|N02BE01"),
    "score": lambda r: round(r.uniform(0, 100), 1),
    "probability": lambda r: r.random(),
    "z_score": lambda r: r.gauss(0, 1),
    "x1": lambda r: r.gauss(0, 1),
    "col_4": m.one_of("red|green|blue"),
    "v12": lambda r: r.randrange(1, 6),
    "field_3": lambda r: round(r.gauss(50, 10), 2),
    "count": lambda r: int(r.expovariate(0.01)),
    "temperature": lambda r: round(r.gauss(36.9, 0.5), 1),
    "distance_km": amounts(12, 0.9, 1),
    "duration_s": lambda r: int(900 * r.lognormvariate(0, 0.8)),
    "reads": lambda r: int(2_000_000 * r.lognormvariate(0, 0.5)),
    "views": lambda r: int(15_000 * r.lognormvariate(0, 1.5)),
    "energy_kwh": amounts(3_400, 0.5, 1),
    "priority": m.one_of("P1|P2|P3|P4"),
    "version": m.one_of("1.2.0|1.3.1|2.0.0|2.1.4"),
    "currency": m.one_of("EUR|USD|GBP"),
    "unit": m.one_of("mg|ml|IU|mmol/l"),
    "grade": m.one_of("A|B+|B|C|D"),
    "response_ms": lambda r: int(120 * r.lognormvariate(0, 0.9)),
    "tax": amounts(4_000, 0.8, 2),
    "discount": m.one_of("0%|5%|10%|25%"),
    "genotype": m.one_of("A/A|A/G|G/G"),
    "variant": m.one_of("rs429358|rs7412|rs1801133|rs6025"),
    "outcome": m.one_of("recovered|improved|unchanged|worse"),
    "medication": m.one_of("aspirin 100 mg|ibuprofen 400 mg|paracetamol 1 g"),
    "device_type": m.one_of("pump|stent|pacemaker"),
    "color": m.one_of("#ff0000|#00ff00|#0000ff"),
    "likert": m.one_of("strongly agree|agree|neutral|disagree|strongly disagree"),
    "balance": lambda r: round(r.gauss(2_000, 3_000), 2),
    "turnover": amounts(250_000, 1.2),
    "area_m2": amounts(90, 0.4, 1),
    "rooms": lambda r: r.randint(1, 7),
    "floor": lambda r: r.randint(0, 12),
    "wbc": lambda r: int(r.gauss(7_200, 2_000)),
    "cd4": lambda r: int(r.gauss(520, 210)),
    "viral_load": lambda r: int(30_000 * r.lognormvariate(0, 1.8)),
    "calories": lambda r: int(r.gauss(2_150, 420)),
    "visits": lambda r: int(r.expovariate(0.3)),
    "rank": lambda r: r.randrange(1, 51),
    "tariff": m.one_of("T-10|T-20|T-35"),
    "phase": m.one_of("phase 1|phase 2|phase 3"),
}


def harmless(sealed: bool) -> Iterator[tuple[str, list[Any]]]:
    """Columns that name nobody, of one half."""
    return harmless_of({header: maker for header, maker in HARMLESS.items() if is_sealed(header) == sealed})


def harmless_of(columns: Mapping[str, Maker], seed: int = 1) -> Iterator[tuple[str, list[Any]]]:
    """A column of each, the same ones for a seed."""
    for header in sorted(columns):
        r = random.Random(f"{seed} {header}")
        yield header, [columns[header](r) for _ in range(ROWS)]
