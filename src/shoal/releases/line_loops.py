"""The loop that puts lines of a text file behind each other, eight bytes at a time."""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled
from shoal.table import Array

_ONE, _EIGHT = np.uint64(1), np.uint64(8)


@compiled
def put_lines(words: Array, starts: Array, line_of_row: Array, out: Array) -> int:
    """Put the lines of rows behind each other into `out`; how many bytes they take.

    `words` are the eight bytes from each byte of all lines on, `out` those from each byte on that is written: what is
    written past the end of a line is written over by the next.
    """
    at = np.uint64(0)
    for row in range(len(line_of_row)):
        line = np.uint64(line_of_row[row])
        place, end = starts[line], starts[line + _ONE]
        stop = at + (end - place)
        while at < stop:
            out[at] = words[place]
            at += _EIGHT
            place += _EIGHT
        at = stop
    return int(at)
