"""Texts that can be set: what no page can show, or what would turn its texts around, is a question mark."""

from __future__ import annotations

import re
from typing import Any

# control characters but for tab and new line, halves of characters, what is no character, and marks of direction
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def printable(found: Any) -> Any:
    """The same document with texts that can be set, keys included.

    >>> printable({"label": "bell\\x07", "rows": [("a\\u202eb", 1)]})
    {'label': 'bell?', 'rows': [['a?b', 1]]}
    """
    if isinstance(found, str):
        return _UNSHOWN.sub("?", found)
    if isinstance(found, dict):
        return {printable(key): printable(value) for key, value in found.items()}
    return [printable(value) for value in found] if isinstance(found, (list, tuple)) else found
