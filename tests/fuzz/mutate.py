"""A seeded mutator: bytes and JSON trees that are nearly right."""

from __future__ import annotations

import json
import random
from typing import Any

_ODD_BYTES = [
    b"", b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x80\x00\x00\x00", b"\x7f\xff\xff\xff\xff\xff\xff\xff", b'"', b"\n",
    b"\r", b"\r\n", b",", b";", b"\xef\xbb\xbf", b"\xff\xfe", b"{", b"[" * 50, b"]", b"*", b"&a", b"\x1b[31m",
    b"1e400", b"-1",
    "\u202e\u0663".encode(),
    b"9" * 400, b"NaN", b"null", b"true", b": ", b"- ", b"\t", b"'", b"()" * 20,
]  # fmt: skip
_ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 10**30, 1e308, "", "x", "*", [], {}, [[]], {"": None}, ["a", 1], "/dev/zero", "\x1b",
    0.5, "5%",
]  # fmt: skip


def mutated_bytes(seed: bytes, draw: random.Random) -> bytes:
    """One to eight small changes: a byte, an odd piece, a piece twice, a piece less, the end cut off."""
    data = bytearray(seed)
    for _ in range(1 << draw.randrange(4)):
        at = draw.randrange(len(data) + 1)
        change = draw.randrange(6)
        if change == 0 and data:
            data[min(at, len(data) - 1)] = draw.randrange(256)
        elif change == 1 and data:
            data[min(at, len(data) - 1)] ^= 1 << draw.randrange(8)
        elif change == 2:
            data[at:at] = draw.choice(_ODD_BYTES)
        elif change == 3:
            data[at : at + draw.randrange(1, 40)] = b""
        elif change == 4:
            data[at:at] = data[at : at + draw.randrange(1, 200)]
        elif draw.randrange(4) == 0:
            del data[at:]
    return bytes(data)


def mutated_tree(seed: bytes, draw: random.Random) -> bytes:
    """A JSON document with one to four values replaced, taken away or doubled; now and then as mutated bytes."""
    if draw.randrange(5) == 0:
        return mutated_bytes(seed, draw)
    tree = json.loads(seed)
    for _ in range(1 << draw.randrange(3)):
        places = list(_places(tree))
        if not places:
            break
        inside, key = draw.choice(places)
        change = draw.randrange(4)
        if change == 0:
            del inside[key]
        elif change == 1 and isinstance(inside, dict):
            inside[draw.choice(["", "x", "policy", "columns", "\x1b"])] = inside.pop(key)
        else:
            inside[key] = json.loads(json.dumps(draw.choice(_ODD_VALUES)))
    return json.dumps(tree).encode()


def _places(tree: Any) -> Any:
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)
