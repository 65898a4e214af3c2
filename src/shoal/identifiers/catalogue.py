"""Identifiers that are known by their form: how each is written, its check digit, and the words of its headers.

Each has one `Form`, by which it is known as a whole cell here, inside a cell (`shoal.identifiers.inside`) and in a
note (`shoal.text.recognisers`). What only a header tells apart (record numbers, serial numbers) has a pattern of whole
cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from shoal.identifiers.base import ColumnRecogniser, Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence, Mask
from shoal.identifiers.countries import COUNTRIES
from shoal.identifiers.form import Form
from shoal.identifiers.header import HeaderWords, words, words_of
from shoal.identifiers.shape import Identifier, stdnum

_PERSON = words_of("person")
_RECORD = words_of("record")
_USER = words_of("user")
_CODE = r"^[\p{L}\d#_./:\-]{1,40}$"
_DIGIT = r"\d"
_HANDLE = r"^@?[\p{L}\d._\-]{2,40}$"
_AT_HANDLE = r"^@[A-Za-z0-9_.]{2,30}$"


def _codes(column: ColumnEvidence) -> Iterator[Finding]:
    """A person's code may come again, a record's code must not."""
    if column.filled == 0 or (column.numbers is not None and not column.whole) or column.dtype.is_temporal():
        return
    share = column.share(column.matches(_CODE) & column.matches(_DIGIT))
    own = column.distinct_share
    strength, word = _PERSON.heard(column.header)
    if strength:
        sure = confidence(share * min(1.0, own / 0.02), 0.0, strength)
        yield finding("unique-code", "person", "have the form of a code", share=share, word=word, sure=sure)
    strength, word = _RECORD.heard(column.header)
    if strength and own >= 0.9:
        clause = f"have the form of a code, {own:.0%} as many codes as records"
        yield finding(
            "unique-code", "record", clause, share=share, word=word, sure=confidence(share, 0.0, strength * 0.9)
        )
    yield from _user_names(column)


def _user_names(column: ColumnEvidence) -> Iterator[Finding]:
    """Names that people give themselves, or handles that open with @."""
    handles = column.share(column.matches(_AT_HANDLE))
    strength, word = _USER.heard(column.header)
    readable = column.numbers is None or column.whole
    share = column.share(column.matches(_HANDLE)) if strength and readable else handles
    sure = confidence(share * min(1.0, column.distinct_share / 0.02), 0.7 * handles, strength)
    yield finding("username", "handle", "have the form of a user name", share=share, word=word, sure=sure)


_LATITUDE = words_of("latitude")
_LONGITUDE = words_of("longitude")
_PAIR_WORDS = words_of("coordinates")
_DEGREES = r"[+-]?\d{1,3}\.\d{2,15}°?\s*[NSEWO]?"
_PAIR_OF_DEGREES = Identifier(
    kind="coordinates",
    rule="pair",
    noun="a pair of coordinates",
    form=(
        rf"^[(\[]?{_DEGREES}\s*[,; ]\s*{_DEGREES}[)\]]?$|^(?i:point)\s?z?\s?\(.+\)$"
        r"|^\d{1,3}°\s?\d{1,2}['\u2032].*$"
    ),
    words=_PAIR_WORDS,
    alone=0.85,
)


def _axis(column: ColumnEvidence, rule: str, book: HeaderWords, limit: float) -> Iterator[Finding]:
    """Numbers within the limits of an axis; whole numbers may be degrees, but seldom are coordinates."""
    strength, word = book.heard(column.header)
    if column.numbers is None or not strength:
        return
    within = np.abs(column.numbers) <= limit
    hundredths = np.clip(column.numbers, -limit, limit) * 100
    fine = np.abs(hundredths - np.round(hundredths)) > 1e-6
    share = column.share(within)
    precise = column.share(within & fine)
    sure = confidence(share * (0.4 + 0.6 * precise), 0.0, strength)
    clause = f"hold a number within ±{limit:.0f}, with three decimals or more"
    yield finding("coordinates", rule, clause, share=precise, word=word, sure=sure)


def _coordinates(column: ColumnEvidence) -> Iterator[Finding]:
    """Pairs by their form; a single axis by header and range."""
    if column.numbers is None:
        yield from _PAIR_OF_DEGREES(column)
    yield from _axis(column, "latitude", _LATITUDE, 90.0)
    yield from _axis(column, "longitude", _LONGITUDE, 180.0)


_FAX = words("fax, fax number, telefax, faxnummer, numero di fax, telecopie, telecopieur")
_PHONE = words_of("phone")
_LOOSE = r"^(\+|00)?[(\d][\d\s().\-/]{5,20}\d(\s*(?i:x|ext\.?)\s*\d{1,5})?$"
_INTERNATIONAL = r"^(\+|00)\s?[1-9]"
_NORTH_AMERICAN = r"^(\+?1[\s.-]?)?(\([2-9]\d{2}\)\s?|[2-9]\d{2}[\s.-])[2-9]\d{2}[\s.-]\d{4}(\s*(?i:x|ext\.?)\s*\d+)?$"
_BARE = r"^\d+$"
_LEADING_ZERO = r"^0\d{8,11}$"
# Dates, clock times, social security numbers, decimals, dotted addresses and blocks of a card number.
_OTHER = (
    r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$|^\d{3}-\d{2}-\d{4}$|^\d+\.\d*$"
    r"|^\d{1,3}(\.\d{1,3}){3}$|^(\d{4}[ -]){3}\d{1,7}$|^\d{4}-\d{4}$"
)
_DIGITS = r"^\D*(\d\D*){7,15}$"
_REGIONS = ("US", "GB", "IT", "DE", "FR", "ES", "NL", "PT", "CH")


def _valid_in(region: str | None) -> Callable[[str], bool]:
    """Whether a number is in use in the region's numbering plan (None: written internationally)."""
    import phonenumbers

    def check(value: str) -> bool:
        written = "+" + value[2:] if region is None and value.startswith("00") else value
        try:
            return phonenumbers.is_valid_number(phonenumbers.parse(written, region))
        except phonenumbers.NumberParseException:
            return False

    return check


def _valid_share(column: ColumnEvidence, mask: Mask, international: bool) -> float:
    """The share of valid numbers, nationally that of the region that fits best."""
    regions = (None,) if international else _REGIONS
    return max(column.passes(_valid_in(region), mask, most=60 if len(regions) > 1 else 300)[0] for region in regions)


def _phones(column: ColumnEvidence) -> Iterator[Finding]:
    """Numbers of the form of a phone number; bare digits count only under a header that says so."""
    mask = column.matches(_LOOSE) & column.matches(_DIGITS) & ~column.matches(_OTHER)
    share = column.share(mask)
    if share < 0.1 or (column.numbers is not None and not column.whole):
        return
    fax, fax_word = _FAX.heard(column.header)
    strength, word = (fax, fax_word) if fax else _PHONE.heard(column.header)
    bare = column.share(mask & column.matches(_BARE)) / share
    international = column.share(mask & column.matches(_INTERNATIONAL)) / share >= 0.5
    if bare > 0.5 and not strength and column.share(column.matches(_LEADING_ZERO)) < 0.5:
        return
    valid = _valid_share(column, mask, international)
    alone = _worth(column, mask, share, bare, international) * valid
    sure = confidence(share * (0.4 + 0.6 * max(valid, 0.5 * (1 - bare))), alone, strength)
    kind = "fax" if fax else "phone"
    rule = "international" if international else "national"
    clause = f"have the form of a {kind} number"
    yield finding(kind, rule, clause, share=share, word=word, sure=sure)


def _worth(column: ColumnEvidence, mask: Mask, share: float, bare: float, international: bool) -> float:
    """What the way of writing is worth without a header."""
    if international:
        return 0.95
    if column.share(mask & column.matches(_NORTH_AMERICAN)) / share >= 0.5:
        return 0.85
    return 0.3 if bare > 0.5 else 0.65


# Addresses on the net.

_LOCAL = r"[\p{L}\d_.%+'-]{1,64}"
_PART = r"[\p{L}\d_-]{1,63}"
_TOP = r"(?:com|org|net|edu|gov|info|mil|int|eu|de|fr|it|es|ch|at|uk|us|ca|nl|be|io|me|ly|co|health|care|app|dev)"
_URL_SIGN = r"[^\s<>\"')\]]"
_URL_END = r"[^\s<>\"')\].,;:]"
EMAIL = Form(
    rf"{_LOCAL}@(?:[\p{{L}}\d](?:[\p{{L}}\d-]{{0,61}}[\p{{L}}\d])?\.)+[\p{{L}}]{{2,24}}",
    apart=".+%-",
    lead="(?:mailto:)?<?",
    tail=">?",
)
_DOT = r"(?:\.|\s?[\[({]\s?(?:dot|punkt|point|punto)\s?[\])}]\s?|\sdot\s)"
EMAIL_AT = Form(
    rf"{_LOCAL}\s?[\[({{<]\s?(?:at|@)\s?[\])}}>]\s?{_PART}(?:{_DOT}{_PART}){{1,6}}", apart=".+%-", ignore_case=True
)
EMAIL_IN_WORDS = Form(
    rf"{_LOCAL}\sat\s{_PART}(?:\sdot\s|\.)(?:com|org|net|edu|gov|de|fr|it|es|uk|ch|at)", apart=".+%-", ignore_case=True
)
URL = Form(rf"(?:(?:https?|ftp|sftp|s3|hxxps?)://|www\.){_URL_SIGN}{{0,2000}}{_URL_END}", ignore_case=True)
# a file name looks like a domain, so as a whole cell it needs its header
DOMAIN = Form(
    rf"(?:[A-Za-z\d][A-Za-z\d-]{{0,62}}\.){{1,4}}{_TOP}(?:/(?:{_URL_SIGN}{{0,500}}{_URL_END})?)?", apart="@.-"
)
HANDLE = Form(r"@[A-Za-z_][\w.]{1,28}\w", apart="@.")
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = Form(rf"(?:{_BYTE}\.){{3}}{_BYTE}", apart=".", tail=r"(?:/\d{1,2}|:\d{1,5})?")
_HEX = "[0-9A-Fa-f]"
_FOUR = f"{_HEX}{{1,4}}"
# eight groups, or fewer around `::` (24:00:00 is a duration)
IPV6 = Form(
    rf"(?:{_FOUR}:){{7}}{_FOUR}|(?:(?:{_FOUR}:){{1,6}}|:)(?::{_FOUR}){{1,7}}|(?:{_FOUR}:){{1,7}}:",
    apart=":.",
    tail=r"(?:%\w+)?",
)
_TWO = f"{_HEX}{{2}}"
MAC = Form(
    rf"(?:{_TWO}:){{5}}(?:{_TWO}:{_TWO}:)?{_TWO}|(?:{_TWO}-){{5}}(?:{_TWO}-{_TWO}-)?{_TWO}|(?:{_HEX}{{4}}\.){{2}}{_HEX}{{4}}",
    apart=":-.",
)
UUID = Form(
    rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}",
    apart="-",
    lead=r"(?:urn:uuid:)?\{?",
    tail=r"\}?",
    ignore_case=True,
)
DIGEST = Form(
    "|".join(rf"{_HEX}{{{length}}}" for length in (128, 96, 64, 56, 40, 32)),
    apart="-",
    lead="(?:0x)?",
    ignore_case=True,
)

# Numbers with a check digit.


def _iban_check(value: str) -> bool:
    """The check digits of ISO 13616; what countries add inside the account number is left alone."""
    from stdnum import iban

    return bool(iban.is_valid(value, check_country=False))


# words of four letters behind a number look the same
IBAN = Form(
    r"[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]{4}){2}[ -]?[A-Z\d]{3,4}(?:[ -]?[A-Z\d]{4}){0,5}(?:[ -]?[A-Z\d]{1,3})?",
    apart="-",
    check=lambda value: value.isupper() or _iban_check(value),
    ignore_case=True,
)


# Visa, Mastercard, American Express, Discover, Diners, JCB, Maestro, UnionPay.
_PREFIX = r"(?:4|5[0-8]|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)|3[47]|6(?:011|4[4-9]|5|2)|3(?:0[0-5]|[689])|35)"
# First digits of an issuer and the lengths its numbers have.
_LENGTHS = {"4": (13, 16, 19), "5": (16,), "2": (16,), "34": (15,), "37": (15,), "30": (14,), "36": (14,), "38": (14,),
            "35": (16, 17, 18, 19), "6": (16, 17, 18, 19), "39": (14,)}  # fmt: skip


def is_card(value: str) -> bool:
    """As many digits as the issuer's numbers have, the last of them the Luhn check digit (ISO/IEC 7812)."""
    digits = value.replace(" ", "").replace("-", "")
    lengths = _LENGTHS.get(digits[:2]) or _LENGTHS.get(digits[:1], ())
    return len(digits) in lengths and stdnum("luhn")(digits)


CARD = Form(rf"{_PREFIX}\d{{0,3}}(?:[ -]?\d){{9,15}}", apart="-", check=is_card, luhn=True)
CARD_GROUPS = Form(r"\d{4}(?:[ -]\d{4}){3}", apart="-")
_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
                   strict=True))  # fmt: skip
_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def vin_check(value: str) -> bool:
    """Whether the ninth sign is the check digit of a North American vehicle number (sum modulo 11, X for ten).

    >>> vin_check("1M8GDM9AXKP042788"), vin_check("1M8GDM9A1KP042788")
    (True, False)
    """
    signs = value.upper()
    if len(signs) != 17:
        return False
    total = sum(
        weight * (int(sign) if sign.isdecimal() else _VALUES.get(sign, 0))
        for sign, weight in zip(signs, _WEIGHTS, strict=True)
    )
    return signs[8] == "0123456789X"[total % 11]


VIN = Form(r"[A-HJ-NPR-Z\d]{17}", check=lambda value: 4 <= sum(map(str.isdigit, value)) <= 16, ignore_case=True)
_NO_SSN = ("000", "666", "9")


def is_given_ssn(value: str) -> bool:
    """Whether a number of the form of a social security number may have been given out.

    >>> is_given_ssn("219-09-9999"), is_given_ssn("900-12-3456")
    (True, False)
    """
    return not (value.startswith(_NO_SSN) or value[4:6] == "00" or value.endswith("0000"))


SSN = Form(r"\d{3}(?:-\d{2}-|\.\d{2}\.| \d{2} )\d{4}", apart=".-")
MASKED_SSN = Form(r"[xX*#•]{3}[- .]?[xX*#•]{2}[- .]?\d{4}")
AMERICAN_PHONE = Form(r"(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ ./-])\d{3}[ .-]\d{4}", apart="-")
IMEI = Form(r"(?:01|35|86|99|45|49|5[0-4])(?:\d{13}|[ -]?\d{6}[ -]\d{6}[ -]\d)", check=stdnum("imei"), luhn=True)

# What columns of them are recognised by.

_URL_WORDS = words_of("url")
_CARD_WORDS = words_of("payment-card")
_IP_WORDS = words_of("ip-address")
_HASH_WORDS = words_of("hash")
_PLATE_WORDS = words_of("plate")
_ADDRESS_WORDS = words_of("street-address")
_BEFORE = (
    r"(via|viale|piazza|piazzale|corso|largo|vicolo|strada|rue|avenue|boulevard|bd|av|av\.|place|chemin|allée|impasse"
    r"|route|quai|calle|c/|avenida|avda\.?|paseo|plaza|camino|carrer|ronda|rua|praça|travessa)"
)
_AFTER = (
    r"(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|place|pl|terrace|circle|cir|close"
    r"|square|crescent|parkway|pkwy|highway|hwy|trail|gardens|grove|mews|hill)"
)
_JOINED = r"(straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|gracht|dijk|kade|steenweg)"
_NAME = r"[\p{L}][\p{L}\s.'\u2019\-]*"

_CARDS = (
    Identifier("payment-card", "luhn", "a payment card number", CARD, _CARD_WORDS, 0.9, is_card, 0.1),
    Identifier(
        "payment-card",
        "masked",
        "a masked payment card number",
        r"(?i)^(\d{4}|[*x•]{4})[ -]?(\d{2}[*x•]{2}|[*x•]{4})[ -]?[*x•]{4}[ -]?\d{4}$",
        _CARD_WORDS,
        0.8,
    ),
)
_URLS = (
    Identifier("url", "address", "a web address", URL, _URL_WORDS, 0.97),
    Identifier("url", "domain", "a bare domain", DOMAIN, _URL_WORDS, 0.4),
)
_HASHES = (
    Identifier("hash", "hex-digest", "a hexadecimal digest", DIGEST, _HASH_WORDS, 0.93),
    Identifier(
        "hash",
        "tagged-hash",
        "a tagged hash",
        r"^\$(2[abxy]?|1|5|6|argon2id?|y|scrypt)\$\S{10,}$|^(?i:sha(1|224|256|384|512)|md5|pbkdf2\w*)[:$-]\S{20,}$",
        _HASH_WORDS,
        0.95,
    ),
    Identifier(
        "hash",
        "short-digest",
        "a shortened hexadecimal digest or a base64 digest",
        r"(?i)^[0-9a-f]{16}$|^[0-9a-f]{24}$|^[A-Za-z0-9+/_-]{43}=?$|^[A-Za-z0-9+/_-]{27}=$",
        _HASH_WORDS,
        0.55,
    ),
)
_IPV4 = Identifier("ip-address", "ipv4", "an IPv4 address", IPV4, _IP_WORDS, 0.95)
_IPV6 = Identifier("ip-address", "ipv6", "an IPv6 address", IPV6, _IP_WORDS, 0.9)
_VIN = Identifier(
    "vehicle-number", "vin", "a vehicle identification number", VIN, words_of("vin"), 0.95, vin_check, 1 / 11
)
_PLATES = (
    # AA 000 AA of Italy and France
    Identifier(
        "vehicle-number",
        "plate-it-fr",
        "an Italian or French licence plate",
        r"^[A-HJ-NP-TV-Z]{2}[ -]?\d{3}[ -]?[A-HJ-NP-TV-Z]{2}$",
        _PLATE_WORDS,
        0.65,
    ),
    # 0000 BBB of Spain: no vowels
    Identifier(
        "vehicle-number",
        "plate-es",
        "a Spanish licence plate",
        r"^\d{4}[ -]?[BCDFGHJKLMNPRSTV-Z]{3}$",
        _PLATE_WORDS,
        0.4,
    ),
    Identifier(
        "vehicle-number",
        "plate",
        "a licence plate",
        r"(?i)^([A-ZÄÖÜ]{1,4}[ -]?){1,2}\d{1,4}[ -]?[A-Z]{0,3}$|^\d{1,4}[ -]?[A-Z]{2,3}[ -]?\d{0,3}$",
        _PLATE_WORDS,
        0.05,
    ),
)
_IMEI = Identifier(
    "device-number",
    "imei",
    "an IMEI",
    IMEI,
    words("imei, meid, device imei, numero imei", weak="device, phone, mobile, handset, dispositivo, gerat"),
    0.8,
    stdnum("imei"),
    0.1,
)
_SERIAL = Identifier(
    "device-number",
    "serial-number",
    "a serial number",
    r"(?i)^(?=.*\d)[A-Z\d]+([-./: ][A-Z\d]+){0,5}$",
    words_of("device-serial-number"),
    0.0,
)
_STREETS = (
    Identifier(
        "street-address",
        "street",
        "a street address",
        rf"(?i)^(\d+\s?(bis|ter|[a-z])?,?\s+)?{_BEFORE}\s+{_NAME}(,?\s*(n\.?|nº|n°)?\s*\d+.*|,.*)?$"
        rf"|^\d+[a-z]?(-\d+)?,?\s+[\p{{L}}\d\s.'\u2019\-]*\b{_AFTER}\b.*$|^[\p{{L}}\s.'\u2019\-]*?{_JOINED}\s*\d+.*$"
        r"|^(p\.?\s?o\.?\s?box|postfach|casella postale|boîte postale|apartado)\s*\d+.*$",
        _ADDRESS_WORDS,
        0.9,
    ),
    # a number and words, in either order: enough under a header that says address
    Identifier(
        "street-address",
        "by-header",
        "a line of an address",
        r"(?i)^\d+[a-z]?,?\s+[\p{L}].*$|^[\p{L}][\p{L}\s.'\u2019\-]+,?\s+\d+.*$",
        _ADDRESS_WORDS,
        0.0,
    ),
)
# seven signs or more with a digit among them; the header carries the rest
_NAMED_ID = Identifier(
    "national-id",
    "by-header",
    "an identity number",
    r"(?i)^[a-z]{0,6}[\d][a-z\d .\-/]{5,20}$",
    words_of("national-id"),
    0.0,
)
_ANY_POSTAL_CODE = Identifier(
    "postal-code",
    "by-header",
    "a postal code",
    r"(?i)^([a-z]{1,2}-)?\d{3,7}$|^[a-z\d]{2,5}[ -][a-z\d]{2,4}$|^\d{2,5}[*x]{1,4}$",
    words_of("postal-code"),
    0.0,
)


def _numbered(kind: str, rule: str, noun: str) -> Identifier:
    """A code with digits in it, four signs or more, that only its header tells apart."""
    own = words_of(kind if rule == "by-header" else rule)
    return Identifier(kind, rule, noun, r"(?i)^[a-z]{0,5}[ \-/.]?\d[a-z\d \-/.]{3,24}$", own, 0.0)


_RECORD_NUMBERS = (
    _numbered("medical-record-number", "by-header", "a medical record number"),
    _numbered("health-plan-number", "by-header", "a health plan number"),
    _numbered("account-number", "by-header", "an account number"),
    _numbered("licence-number", "licence", "a licence or certificate number"),
    _numbered("licence-number", "passport", "a passport number"),
)


def _all_of(*recognisers: ColumnRecogniser) -> ColumnRecogniser:
    """One recogniser after the other."""

    def recognise(column: ColumnEvidence) -> Iterator[Finding]:
        for one in recognisers:
            yield from one(column)

    return recognise


def _ip_addresses(column: ColumnEvidence) -> Iterator[Finding]:
    """Version 4, of which version numbers (1.4.0.12) have the form too, then version 6."""
    small = column.share(column.matches(r"^\d{1,2}(\.\d{1,2}){3}$"))
    yield from (replace(_IPV4, alone=0.2) if small > 0.5 else _IPV4)(column)
    yield from _IPV6(column)


def _hashes(column: ColumnEvidence) -> Iterator[Finding]:
    """Whole digests, tagged ones, then short forms; numbers of 32 digits are no hashes."""
    if column.share(column.matches(r"^\d+$")) < 0.2:
        yield from _all_of(*_HASHES)(column)


def _devices(column: ColumnEvidence) -> Iterator[Finding]:
    """IMEIs by their check digit; serial numbers where most records have their own."""
    yield from _IMEI(column)
    if column.distinct_share >= 0.3:
        yield from _SERIAL(column)


def _record_numbers(column: ColumnEvidence) -> Iterator[Finding]:
    """Numbers of which there are many: a code list is no list of accounts."""
    if column.distinct_share >= 0.05 and (column.numbers is None or column.whole):
        yield from _all_of(*_RECORD_NUMBERS)(column)


def _national_ids(column: ColumnEvidence) -> Iterator[Finding]:
    """Each country's rules in turn, then the headers that name an identity number."""
    yield from _all_of(*(rule for country in COUNTRIES for rule in country.national_ids))(column)
    if column.distinct_share >= 0.3:
        yield from _NAMED_ID(column)


def _postal_codes(column: ColumnEvidence) -> Iterator[Finding]:
    """Each country's form, then the form that all share."""
    if column.numbers is None or column.whole:
        yield from _all_of(*(rule for country in COUNTRIES for rule in country.postal_codes), _ANY_POSTAL_CODE)(column)


RECOGNISERS: dict[str, ColumnRecogniser] = {
    "codes": _codes,
    "coordinates": _coordinates,
    "phone": _phones,
    "device_number": _devices,
    "email_address": Identifier("email", "address", "an e-mail address", EMAIL, words_of("email"), 0.98),
    "hashes": _hashes,
    "iban": Identifier("iban", "iso-13616", "an IBAN", IBAN, words_of("iban"), 0.97, _iban_check, 1 / 97, 0.3),
    "ip_address": _ip_addresses,
    "mac_address": Identifier("mac-address", "eui-48", "a MAC address", MAC, words_of("mac-address"), 0.97),
    "national_id": _national_ids,
    "payment_card": _all_of(*_CARDS),
    "postal_code": _postal_codes,
    "record_numbers": _record_numbers,
    "street_address": _all_of(*_STREETS),
    "url": _all_of(*_URLS),
    "uuids": Identifier("uuid", "rfc-9562", "a UUID", UUID, words("uuid, guid, unique id, uid"), 0.98),
    "vehicle_number": _all_of(_VIN, *_PLATES),
}
