"""Device numbers: IMEI (15 digits, Luhn), and serial or device numbers under a header that says so."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape, stdnum

_IMEI = Shape(
    kind="device-number",
    rule="imei",
    noun="an IMEI",
    pattern=r"^(01|35|86|99|45|49|5[0-4])(\d{13}|[ -]?\d{6}[ -]\d{6}[ -]\d)$",
    words=words("imei, meid, device imei, numero imei", weak="device, phone, mobile, handset, dispositivo, gerat"),
    alone=0.8,
    check=stdnum("imei"),
    chance=0.1,
)
_SERIAL = Shape(
    kind="device-number",
    rule="serial-number",
    noun="a serial number",
    pattern=r"(?i)^(?=.*\d)[A-Z\d]+([-./: ][A-Z\d]+){0,5}$",
    words=words(
        """serial, serial number, serial no, serialno, device id, device number, device serial, udid, udi, implant
        id, pacemaker id, numero di serie, matricola dispositivo, id dispositivo, seriennummer, geratenummer,
        geraetenummer, gerate id, numero de serie, id appareil, numero de serie del dispositivo, serienummer,
        android id, idfa, advertising id, apparaat id, meter number""",
    ),
    alone=0.0,
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """IMEIs by their check digit; serial numbers where most records have their own."""
    yield from _IMEI(column)
    if column.distinct_share >= 0.3:
        yield from _SERIAL(column)
