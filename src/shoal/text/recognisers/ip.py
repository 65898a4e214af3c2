"""IP addresses of both versions, and MAC addresses."""

import ipaddress

from shoal.storage import Array
from shoal.text.block import Block
from shoal.text.recognisers.pattern import Pattern, Patterns, count, either


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _dotted(block: Block) -> Array:
    """Notes in which four short runs of digits are joined by dots."""
    dots = (block.run_starts[1:] - block.run_ends[:-1] == 1) & (block.beside_runs(0)[:-1] == ord("."))
    short = block.run_ends - block.run_starts <= 3
    joined = short[:-1] & dots & short[1:]
    return block.with_places(block.run_starts[:-3][joined[:-2] & joined[1:-1] & joined[2:]])


_COLONS = either(count(":", 2), count("-", 5))
_HEX = "[0-9A-Fa-f]"
_FOUR = r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)"
_SIX = rf"(?<![\w:.])[0-9A-Fa-f:]{{2,39}}:{_HEX}{{0,4}}(?![\w:])"
_MAC = rf"(?<![\w:-])(?:{_HEX}{{2}}[:-]){{5}}{_HEX}{{2}}(?![\w:-])"

RECOGNISER = Patterns(
    "ip",
    Pattern(_FOUR, 0.95, "IP address", "ip", "", _is_address, asks=_dotted, digits=True, at_digits=True),
    Pattern(_SIX, 0.95, "IP address", "ip", "::|:[^:]{1,4}:[^:]{1,4}:", _is_address, asks=_COLONS),
    Pattern(_MAC, 0.97, "MAC address", "device_number", asks=_COLONS),
)
