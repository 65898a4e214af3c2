"""Kinds that stay sealed: written after the rules, measured once, and never tuned on. The figures stand in
docs/security.md; whoever changes a rule measures them again, and does not look at which kinds are left.
"""

from __future__ import annotations

import base64
import hashlib
import random
import string
from datetime import date, timedelta

from detection import labelled_makers as m
from detection.planted_kinds import Maker, amounts, day, letters, name, retried, weighted, with_digit, worded


def rot13(r: random.Random) -> str:
    small, large = string.ascii_lowercase, string.ascii_uppercase
    return name(r).translate(str.maketrans(small + large, small[13:] + small[:13] + large[13:] + large[:13]))


def egn(r: random.Random) -> str | None:
    body = f"{day(r):%y%m%d}{m.digits(3)(r)}"
    return body + str(weighted(body, (2, 4, 8, 5, 10, 9, 7, 3, 6), 11) % 10)


def cnp(r: random.Random) -> str | None:
    body = f"{r.choice('1256')}{day(r):%y%m%d}{r.randint(1, 46):02d}{m.digits(3)(r)}"
    rest = weighted(body, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9), 11)
    return body + str(1 if rest == 10 else rest)


def israeli(r: random.Random) -> str:
    body = str(m.digits(8)(r))
    total = sum(sum(map(int, str(int(sign) * (1 + place % 2)))) for place, sign in enumerate(body))
    return body + str(-total % 10)


def rut(r: random.Random) -> str:
    body = str(r.randrange(5_000_000, 25_000_000))
    rest = -sum(int(sign) * (2 + place % 6) for place, sign in enumerate(reversed(body))) % 11
    return f"{body[:-6]}.{body[-6:-3]}.{body[-3:]}-{'K' if rest == 10 else rest}"


def cuit(r: random.Random) -> str | None:
    body = f"{r.choice(('20', '23', '27'))}{m.digits(8)(r)}"
    rest = -weighted(body, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), 11) % 11
    return None if rest == 10 else f"{body[:2]}-{body[2:10]}-{rest}"


def isikukood(r: random.Random) -> str | None:
    body = f"{r.choice('3456')}{day(r):%y%m%d}{m.digits(3)(r)}"
    rest = weighted(body, (1, 2, 3, 4, 5, 6, 7, 8, 9, 1), 11)
    return None if rest == 10 else body + str(rest)


def fodselsnummer(r: random.Random) -> str | None:
    body = f"{day(r):%d%m%y}{m.digits(3)(r)}"
    first = -weighted(body, (3, 7, 6, 1, 8, 9, 4, 5, 2), 11) % 11
    if first == 10:
        return None
    second = -weighted(f"{body}{first}", (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), 11) % 11
    return None if second == 10 else f"{body}{first}{second}"


def orcid(r: random.Random) -> str:
    body, total = f"0000000{m.digits(8)(r)}", 0
    for sign in body:
        total = (total + int(sign)) * 2
    whole = body + "0123456789X"[(12 - total % 11) % 11]
    return "-".join(whole[place : place + 4] for place in range(0, 16, 4))


def plus_code(r: random.Random) -> str:
    signs = "23456789CFGHJMPQRVWX"
    return f"8{letters(signs, 7)(r)}+{letters(signs, 2)(r)}"


def morse(r: random.Random) -> str:
    table = dict(zip("abcdefgh", (".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "...."), strict=True))
    return " ".join(table[r.choice("abcdefgh")] for _ in range(7))


def geohash(r: random.Random) -> str:
    return f"{r.choice(('9q8y', 'dr5r', 'u281'))}{letters('0123456789bcdefghjkmnpqrstuvwxyz', 5)(r)}"


def moved(sign: int) -> Maker:
    return lambda r: "".join(chr(ord(one) + sign) if one.isascii() and one.isalpha() else one for one in name(r))


ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def degrees(r: random.Random) -> str:
    north, west = r.randint(30, 48), r.randint(70, 120)
    return f"{north}°{r.randrange(60)}'{r.randrange(60)}\"N {west}°{r.randrange(60)}'W"


def licence(r: random.Random) -> str:
    surname = m.surname("en")(r).upper()[:5]
    return f"{surname:9<5}{m.digits(6)(r)}{letters('ABCDEJ', 2)(r)}9{letters('ABC', 2)(r)}"


KINDS: dict[str, Maker] = {
    # calendars and clocks
    "hebrew month": worded("Tishri Kislev Nisan Elul Shevat Iyar"),
    "spanish month": worded("enero marzo agosto diciembre"),
    "polish month": worded("stycznia marca sierpnia grudnia"),
    "turkish month": worded("Ocak Mart Temmuz Kasım"),
    "ethiopian": lambda r: f"{r.randint(1, 30):02d}-{r.randint(1, 13):02d}-{r.randint(1940, 2015)} EC",
    "saka": lambda r: f"{r.randint(1870, 1945)} {r.choice(('Chaitra', 'Magha', 'Pausha'))} {r.randint(1, 30)}",
    "chinese date": lambda r: f"{day(r).year}年{day(r).month}月{r.randint(1, 28)}日",
    "thai date": lambda r: f"{r.randint(1, 28)} ม.ค. {r.randint(2490, 2560)}",
    "roman month": lambda r: f"{r.randint(1, 28)}.{ROMAN[r.randrange(12)]}.{day(r).year}",
    "weekday and date": lambda r: f"{day(r):%a %d %b %Y}",
    "american long": lambda r: f"{day(r):%B %d, %Y}",
    "milliseconds": lambda r: 1_230_768_000_000 + r.randrange(4 * 10**11),
    "modified julian": lambda r: (day(r) - date(1858, 11, 17)).days,
    "days since 1970": lambda r: (day(r) - date(1970, 1, 1)).days,
    "iso moment": lambda r: f"{day(r).isoformat()}T{r.randrange(24):02d}:{r.randrange(60):02d}Z",
    "rfc 2822": lambda r: f"{day(r):%a, %d %b %Y} {r.randrange(24):02d}:{r.randrange(60):02d}:00 +0100",
    "hl7 time": lambda r: f"{day(r):%Y%m%d}{r.randrange(24):02d}{r.randrange(60):02d}",
    "age in words": lambda r: f"{r.randint(0, 30)} y {r.randint(0, 11)} m {r.randint(0, 30)} d",
    "year fraction": lambda r: round(1940 + 70 * r.random(), 5),
    "birth and death": lambda r: f"{(b := day(r)).year}-{b.year + r.randint(20, 60)}",
    # serials
    "mac address": lambda r: ":".join(letters("0123456789ABCDEF", 2)(r) for _ in range(6)),
    "ipv4": lambda r: ".".join(str(r.randrange(1, 255)) for _ in range(4)),
    "ipv6": lambda r: "2001:db8:" + ":".join(letters("0123456789abcdef", 4)(r) for _ in range(6)),
    "uuid": lambda r: "-".join(letters("0123456789abcdef", size)(r) for size in (8, 4, 4, 4, 12)),
    "mongo id": letters("0123456789abcdef", 24),
    "nanoid": letters(string.ascii_letters + string.digits + "_-", 21),
    "iccid": m.luhn("89 8901", 19),
    "imsi": lambda r: f"{r.choice(('26201', '31026', '20801'))}{m.digits(10)(r)}",
    "orcid": orcid,
    "parcel": lambda r: f"1Z{letters('0123456789ABCDEFGHJ', 6)(r)}{m.digits(10)(r)}",
    "ticket": lambda r: f"220-{m.digits(10)(r)}",
    "booking": letters("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", 6),
    "mrn in words": lambda r: f"MRN: {m.digits(7)(r)}",
    "accession": lambda r: f"{day(r):%y}-{r.choice('CST')}-{m.digits(6)(r)}",
    "dicom uid": lambda r: f"1.2.840.113619.2.{r.randrange(10**6)}.{r.randrange(10**9)}.{r.randrange(10**5)}",
    "sample tube": lambda r: f"{letters('ABCDEFGH', 2)(r)}{m.digits(8)(r)}-{r.randint(1, 9)}",
    "bitcoin bech32": lambda r: "bc1q" + letters("023456789acdefghjklmnpqrstuvwxyz", 38)(r),
    "ssh key": lambda r: "ssh-ed25519 AAAAC3Nza" + letters(string.ascii_letters, 30)(r),
    # encodings of names and addresses
    "rot13 name": rot13,
    "shifted name": moved(1),
    "backwards name": lambda r: name(r)[::-1],
    "name in base85": lambda r: base64.b85encode(name(r).encode()).decode(),
    "name in url base64": lambda r: base64.urlsafe_b64encode(f"{name(r)}|{day(r)}".encode()).decode().rstrip("="),
    "numbers of letters": lambda r: "-".join(str(ord(sign) - 96) for sign in name(r).lower() if sign.isascii()),
    "name with dots": lambda r: ".".join(name(r).lower().split()),
    "name and year": lambda r: f"{m.surname('en')(r).lower()}{r.randint(50, 99)}",
    "domain account": lambda r: f"CORP\\{name(r)[0].lower()}{m.surname('en')(r).lower()}",
    "ldap": lambda r: f"cn={name(r)},ou=people,dc=example,dc=org",
    "sip": lambda r: f"sip:{m.word(r)}{r.randrange(99)}@voip.example.net",
    "sha of a mail": lambda r: hashlib.sha256(name(r).encode() + m.digits(3)(r).encode()).hexdigest(),
    "xml": lambda r: f"<p><n>{name(r)}</n><y>{day(r).year}</y></p>",
    "escaped quotes": lambda r: f'""{name(r)}""',
    "plus code": plus_code,
    "geohash": geohash,
    "degrees": degrees,
    "utm": lambda r: f"{r.randint(10, 19)}T {r.randrange(200_000, 800_000)} {r.randrange(4_000_000, 5_400_000)}",
    "morse": morse,
    # foreign identifiers
    "egn": retried(egn),
    "cnp": retried(cnp),
    "teudat zehut": israeli,
    "rut": rut,
    "cuit": retried(cuit),
    "isikukood": retried(isikukood),
    "fodselsnummer": retried(fodselsnummer),
    "kennitala": lambda r: f"{day(r):%d%m%y}-{m.digits(3)(r)}9",
    "oib": with_digit(10, (1, 3, 5, 7, 9, 1, 3, 5, 7, 9), 10),
    "nif": with_digit(8, (9, 8, 7, 6, 5, 4, 3, 2), 11, turn=True),
    "medicare au": lambda r: m.grouped(with_digit(8, (1, 3, 7, 9, 1, 3, 7, 9), 10), 4, 5)(r) + f"-{r.randint(1, 9)}",
    "ni of malaysia": lambda r: f"{day(r):%y%m%d}-{r.randint(1, 59):02d}-{m.digits(4)(r)}",
    "nik": lambda r: f"{r.randint(11, 94)}{m.digits(4)(r)}{day(r):%d%m%y}{m.digits(4)(r)}",
    "cnic": lambda r: f"{m.digits(5)(r)}-{m.digits(7)(r)}-{r.randrange(10)}",
    "ghana card": lambda r: f"GHA-{m.digits(9)(r)}-{r.randrange(10)}",
    "ssnit": lambda r: f"{r.choice('ABC')}{m.digits(12)(r)}",
    "licence gb": licence,
    "eid ua": lambda r: f"{day(r):%Y%m%d}-{m.digits(5)(r)}",
}  # fmt: skip

HARMLESS: dict[str, Maker] = {
    "sodium": lambda r: int(r.gauss(140, 3)),
    "egfr": lambda r: int(r.gauss(75, 20)),
    "inr": lambda r: round(abs(r.gauss(1.2, 0.4)), 1),
    "lactate": lambda r: round(abs(r.gauss(1.6, 0.8)), 2),
    "lab_value": lambda r: f"<{r.choice((5, 10, 20))}" if r.random() < 0.1 else f"{r.gauss(40, 10):.1f}",
    "dose_mg": m.one_of("2.50|5.00|10.00|20.00"),
    "icd10": m.one_of("A41.9|I63.9|J18.9|N17.9|R07.4|S72.00"),
    "ops": m.one_of("5-470.11|8-930|1-632.0|5-511.11"),
    "tnm": m.one_of("T1N0M0|T2N1M0|T3N1M1|T4N2M1"),
    "apgar": lambda r: r.randint(4, 10),
    "blood_group": m.one_of("A+|A-|B+|0+|0-|AB+"),
    "shift": m.one_of("early|late|night"),
    "route": m.one_of("oral|iv|im|sc"),
    "gcs": lambda r: r.randint(3, 15),
    "ph": lambda r: round(r.gauss(7.4, 0.05), 2),
    "fio2": m.one_of("21%|28%|40%|60%"),
    "hla": m.one_of("A*02:01|B*07:02|DRB1*15:01"),
    "gene": m.one_of("BRCA1|TP53|EGFR|KRAS"),
    "nace": m.one_of("01.11|47.11|62.01|86.10"),
    "hs_code": m.one_of("8471.30|8703.23|3004.90"),
    "sku_class": m.one_of("A-100|A-200|B-300"),
    "quantity": lambda r: int(r.expovariate(0.05)) + 1,
    "unit_price": amounts(35, 0.8, 2),
    "vat_rate": m.one_of("7%|19%|0%"),
    "mileage": lambda r: int(60_000 * r.lognormvariate(0, 0.7)),
    "engine_cc": m.one_of("998|1395|1598|1968|2993"),
    "power_kw": lambda r: r.randrange(45, 250, 5),
    "co2_g_km": lambda r: int(r.gauss(130, 25)),
    "rainfall_mm": lambda r: round(r.expovariate(0.2), 1),
    "wind_kmh": lambda r: int(abs(r.gauss(15, 9))),
    "rating": lambda r: r.randint(1, 5),
    "stars": m.one_of("★|★★|★★★|★★★★|★★★★★"),
    "answer": m.one_of("a|b|c|d|no answer"),
    "satisfaction": m.one_of("very satisfied|satisfied|neutral|dissatisfied"),
    "education": m.one_of("none|primary|secondary|tertiary"),
    "sector": m.one_of("health|education|trade|construction"),
    "contract": m.one_of("permanent|fixed-term|temporary"),
    "hours": lambda r: round(r.gauss(34, 8), 1),
    "overtime": lambda r: max(0, int(r.gauss(3, 4))),
    "bytes": lambda r: int(4_000_000 * r.lognormvariate(0, 1.2)),
    "cpu_pct": lambda r: round(100 * r.random(), 1),
    "browser": m.one_of("Firefox|Chrome|Safari|Edge"),
    "http_status": m.one_of("200|301|404|500"),
    "read_length": lambda r: int(r.gauss(150, 3)),
    "p_value": lambda r: f"{r.random() ** 3:.3g}",
    "fold_change": lambda r: round(r.gauss(0, 1.5), 3),
    "spectral": lambda r: round(1e-9 * r.lognormvariate(0, 1), 14),
    "flag": m.one_of("0|1"),
    "duration": lambda r: str(timedelta(seconds=r.choice((900, 1800, 2700, 3600)))),
    "semester": m.one_of("2021-1|2021-2|2022-1"),
}
