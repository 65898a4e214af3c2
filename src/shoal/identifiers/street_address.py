"""Street addresses: a word for a street with a house number, in the order of any of seven languages."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

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

_WORDS = words(
    """address, street, street address, addr, addr1, address line, address 1, addr line, home address, mailing
    address, street name, indirizzo, via, indirizzo residenza, domicilio, strasse, str, anschrift, hausnummer,
    wohnadresse, adresse, rue, adresse postale, direccion, calle, domicilio, straat, adres, straatnaam, endereco,
    morada, rua""",
    weak="line, residence, location, residenza",
    block="email, mail, ip, mac, web, url, wallet, electronique, elettronica, ip address, mac address",
)

_STREET = Shape(
    kind="street-address",
    rule="street",
    noun="a street address",
    pattern=(
        rf"(?i)^(\d+\s?(bis|ter|[a-z])?,?\s+)?{_BEFORE}\s+{_NAME}(,?\s*(n\.?|nº|n°)?\s*\d+.*|,.*)?$"
        rf"|^\d+[a-z]?(-\d+)?,?\s+[\p{{L}}\d\s.'\u2019\-]*\b{_AFTER}\b.*$"
        rf"|^[\p{{L}}\s.'\u2019\-]*?{_JOINED}\s*\d+.*$"
        r"|^(p\.?\s?o\.?\s?box|postfach|casella postale|boîte postale|apartado)\s*\d+.*$"
    ),
    words=_WORDS,
    alone=0.9,
)
# A number and words, in either order: enough under a header that says address.
_LINE = Shape(
    kind="street-address",
    rule="by-header",
    noun="a line of an address",
    pattern=r"(?i)^\d+[a-z]?,?\s+[\p{L}].*$|^[\p{L}][\p{L}\s.'\u2019\-]+,?\s+\d+.*$",
    words=_WORDS,
    alone=0.0,
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Streets by their words, then any line of an address under its header."""
    yield from _STREET(column)
    yield from _LINE(column)
