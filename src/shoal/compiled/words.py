"""Bytes as a loop takes them fastest: eight at once, from any byte on."""

from __future__ import annotations

from typing import Any

import numpy as np

# bytes behind the last that is asked for
SPARE = 8


def words_of(data: Any) -> Any:
    """The eight bytes from each byte on as one number, lowest first, but for the last `SPARE` bytes.

    >>> [hex(word) for word in words_of(bytes(range(1, 11))).tolist()]
    ['0x807060504030201', '0x908070605040302']
    """
    size = memoryview(data).nbytes
    return np.ndarray((size - SPARE,), np.uint64, data, 0, (1,))
