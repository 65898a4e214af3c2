"""MAC addresses: six pairs of hexadecimal digits (EUI-48), or eight (EUI-64), in the three usual ways of writing."""

from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

recognise = Shape(
    kind="mac-address",
    rule="eui-48",
    noun="a MAC address",
    pattern=(
        r"(?i)^([0-9a-f]{2}:){5}([0-9a-f]{2}:[0-9a-f]{2}:)?[0-9a-f]{2}$"
        r"|^([0-9a-f]{2}-){5}([0-9a-f]{2}-[0-9a-f]{2}-)?[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$"
    ),
    words=words(
        """mac, mac address, mac addr, macaddr, indirizzo mac, mac adresse, adresse mac, direccion mac, hwaddr,
        hardware address, bssid, wifi mac, eui""",
    ),
    alone=0.97,
)
