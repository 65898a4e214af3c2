"""IP addresses, version 4 (each part 0 to 255) and version 6; four-part version numbers are told apart."""

from collections.abc import Iterator
from dataclasses import replace

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

_WORDS = words(
    """ip, ip address, ip addr, ipaddr, ipv4, ipv6, indirizzo ip, ip adresse, adresse ip, direccion ip, ip adres,
    remote addr, client ip, src ip, dst ip""",
    weak="host, remote, client, server, addr, peer",
    block="version, release, build, firmware, oid, section, chapter",
)
_PART = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_V4 = Shape(
    kind="ip-address",
    rule="ipv4",
    noun="an IPv4 address",
    pattern=rf"^{_PART}(\.{_PART}){{3}}(/\d{{1,2}}|:\d{{1,5}})?$",
    words=_WORDS,
    alone=0.95,
)
_V6 = Shape(
    kind="ip-address",
    rule="ipv6",
    noun="an IPv6 address",
    # eight groups, or fewer around `::` (24:00:00 is a duration)
    pattern=r"(?i)^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(%\w+)?$|^([0-9a-f]{1,4}:){1,7}:(%\w+)?$|^::$"
    r"|^(([0-9a-f]{1,4}:){1,6}|:)(:[0-9a-f]{1,4}){1,7}(%\w+)?$",
    words=_WORDS,
    alone=0.9,
)
# Clock times (10:20:30) and version numbers (1.4.0.12) share the form.
_CLOCK = r"^\d{1,2}:\d{2}(:\d{2})+$"
_SMALL_PARTS = r"^\d{1,2}(\.\d{1,2}){3}$"


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Version 4, then version 6."""
    small = column.share(column.matches(_SMALL_PARTS))
    yield from (replace(_V4, alone=0.2) if small > 0.5 else _V4)(column)
    if column.share(column.matches(_CLOCK)) < 0.1:
        yield from _V6(column)
