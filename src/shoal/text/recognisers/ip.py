"""IP addresses of both versions, and MAC addresses."""

import ipaddress

from shoal.text.recognisers.pattern import Pattern, Patterns


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


RECOGNISER = Patterns(
    "ip",
    Pattern(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)", 0.95, "IP address", "ip", ".", _is_address),
    Pattern(r"(?<![\w:.])[0-9A-Fa-f:]{2,39}:[0-9A-Fa-f]{0,4}(?![\w:])", 0.95, "IP address", "ip", ":", _is_address),
    Pattern(
        r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])", 0.97, "MAC address", "device_number",
    ),
)  # fmt: skip
