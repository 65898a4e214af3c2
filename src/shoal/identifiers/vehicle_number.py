"""Vehicle identification numbers (ISO 3779, check digit of 49 CFR 565) and licence plates."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

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


_VIN = Shape(
    kind="vehicle-number",
    rule="vin",
    noun="a vehicle identification number",
    pattern=r"(?i)^[A-HJ-NPR-Z\d]{3}[A-HJ-NPR-Z\d]*[A-HJ-NPR-Z][A-HJ-NPR-Z\d]*\d{3,6}$",
    words=words(
        """vin, vehicle identification number, vehicle id, chassis number, chassis no, numero di telaio, telaio,
        fahrgestellnummer, fin, numero de chassis, numero de bastidor, bastidor, chassisnummer""",
        weak="vehicle, veicolo, fahrzeug, vehicule, vehiculo, voertuig, car",
    ),
    alone=0.95,
    check=vin_check,
    chance=1 / 11,
    form_alone=0.0,
)
_PLATE_WORDS = words(
    """license plate, licence plate, number plate, plate number, plate no, vehicle plate, vehicle registration,
    targa, numero di targa, kennzeichen, kfz kennzeichen, nummernschild, plaque d immatriculation,
    immatriculation, plaque, placa, matricula del vehiculo, kenteken""",
    weak="plate, registration, matricula, reg no",
)
_PLATE = Shape(
    kind="vehicle-number",
    rule="plate",
    noun="a licence plate",
    pattern=r"(?i)^([A-ZÄÖÜ]{1,4}[ -]?){1,2}\d{1,4}[ -]?[A-Z]{0,3}$|^\d{1,4}[ -]?[A-Z]{2,3}[ -]?\d{0,3}$",
    words=_PLATE_WORDS,
    alone=0.05,
)
# 0000 BBB of Spain: no vowels.
_PLATE_SPAIN = Shape(
    kind="vehicle-number",
    rule="plate-es",
    noun="a Spanish licence plate",
    pattern=r"^\d{4}[ -]?[BCDFGHJKLMNPRSTV-Z]{3}$",
    words=_PLATE_WORDS,
    alone=0.4,
)
# AA 000 AA of Italy and France.
_PLATE_PAIRS = Shape(
    kind="vehicle-number",
    rule="plate-it-fr",
    noun="an Italian or French licence plate",
    pattern=r"^[A-HJ-NP-TV-Z]{2}[ -]?\d{3}[ -]?[A-HJ-NP-TV-Z]{2}$",
    words=_PLATE_WORDS,
    alone=0.65,
)
_SEVENTEEN = r"^\S{17}$"


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Vehicle numbers where the values have 17 signs, then plates."""
    if column.share(column.matches(_SEVENTEEN)) >= 0.5:
        yield from _VIN(column)
    for rule in (_PLATE_PAIRS, _PLATE_SPAIN, _PLATE):
        yield from rule(column)
