"""IP addresses of both versions, and MAC addresses."""

import ipaddress
from itertools import pairwise

from shoal.text.base import Note
from shoal.text.recognisers.pattern import Pattern, Patterns


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _dotted(note: Note) -> bool:
    """Whether three runs of digits are joined by dots."""
    text = note.folded
    if text.count(".") < 3:
        return False
    dotted = [second - first == 1 and text[first] == "." for (_, first), (second, _) in pairwise(note.digits)]
    return any(first and second for first, second in pairwise(dotted))


def _colons(note: Note) -> bool:
    return note.folded.count(":") > 1 or note.folded.count("-") > 4


_HEX = "[0-9A-Fa-f]"
_FOUR = r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)"
_SIX = rf"(?<![\w:.])[0-9A-Fa-f:]{{2,39}}:{_HEX}{{0,4}}(?![\w:])"
_MAC = rf"(?<![\w:-])(?:{_HEX}{{2}}[:-]){{5}}{_HEX}{{2}}(?![\w:-])"

RECOGNISER = Patterns(
    "ip",
    Pattern(_FOUR, 0.95, "IP address", "ip", "", _is_address, gate=_dotted, digits=True, at_digits=True),
    Pattern(_SIX, 0.95, "IP address", "ip", "::|:[^:]{1,4}:[^:]{1,4}:", _is_address, gate=_colons),
    Pattern(_MAC, 0.97, "MAC address", "device_number", gate=_colons),
)
