"""Lines of a text file that come again and again: they are numbered, so that each is parsed once.

Two lines are the same where all their bytes are; a digest only says where to look. A file with many different lines is
given up early, and read as if nobody had tried.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled, compiled_inside
from shoal.compiled.words import words_of
from shoal.table import Array

# different lines at most; so many may be new before as many must have come again
_MOST, _AT_FIRST = 65_535, 2048
# why the loop ended: at the end, because lines are too many, for want of space
_DONE, _TOO_MANY, _NO_SPACE = 0, 1, 2
# where the loop is: byte, row, different lines, their bytes, rows whose line came again
_AT, _ROW, _COUNT, _USED, _AGAIN = 0, 1, 2, 3, 4
# of each line that is looked at ahead: where it starts, its length, its last bytes, their mask, its digest, and the
# place in the kept lines where it may be
_START, _LENGTH, _LAST, _MASK, _DIGEST, _PLACE = 0, 1, 2, 3, 4, 5
# slots are twice as many as lines, and looked at one after the other; past so many somebody made lines that collide
_SLOT_BITS, _MOST_LOOKS = 17, 64

# places are unsigned here: a place that may count from the end takes longer
_ONES, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_FACTOR, _NEWLINES = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x0A0A0A0A0A0A0A0A)
_NONE, _ONE, _SEVEN, _EIGHT, _HALF, _TOP = (np.uint64(number) for number in (0, 1, 7, 8, 32, 56))
_SOME = np.uint64(32)
_TO_SLOT, _SLOTS = np.uint64(64 - _SLOT_BITS), np.uint64(1 << _SLOT_BITS)
_MOST_LINES, _NEW_AT_FIRST, _LOOKS = np.uint64(_MOST), np.uint64(_AT_FIRST), np.uint64(_MOST_LOOKS)


@compiled_inside
def _newline(word: Number) -> Number:
    """The highest bit of the first byte that ends a line, among others that may follow."""
    other = word ^ _NEWLINES
    return (other - _ONES) & ~other & _HIGH


@compiled_inside
def _same(words: Array, at: Number, kept: Array, there: Number, end: Number, last: Number, mask: Number) -> bool:
    """Whether a line is one that is kept from `there` to `end`; `last`: its last bytes, by `mask` out of a word."""
    while there + _EIGHT <= end:
        if words[at] != kept[there]:
            return False
        at += _EIGHT
        there += _EIGHT
    return bool(kept[there] & mask == last)


@compiled
def number_lines(
    words: Array,
    end: Number,
    slots: Array,
    digests: Array,
    starts: Array,
    kept: Array,
    state: Array,
    ahead: Array,
    numbers: Array,
) -> int:
    """Number whole lines up to `end`, from where `state` says; `words` are the eight bytes from each byte on.

    `slots` lead from a digest to the number of a line and 1, or 0; of each line the digest, and where it starts in
    `kept`, the words of all lines behind each other with their ends. `ahead` is work space: the ends of some lines are
    found first, and what they are compared with is touched, so that memory brings it all at once.
    """
    at, row, count, used, again = state[_AT], state[_ROW], state[_COUNT], state[_USED], state[_AGAIN]
    while at < end:
        some = _NONE
        while some < _SOME and at < end:
            ahead[some, _START] = at
            digest, word = _NONE, words[at]
            found = _newline(word)
            while found == _NONE:
                digest = (digest ^ word) * _FACTOR
                at += _EIGHT
                word = words[at]
                found = _newline(word)
            below = ((found & (~found + _ONE)) >> _SEVEN) - _ONE
            last = word & below
            at += ((below & _ONES) * _ONES) >> _TOP
            length = at - ahead[some, _START]
            at += _ONE
            digest = (digest ^ last) * _FACTOR
            ahead[some, _LENGTH], ahead[some, _LAST], ahead[some, _MASK] = length, last, below
            ahead[some, _DIGEST] = (digest ^ (digest >> _HALF) ^ length) * _FACTOR
            some += _ONE
        touched = _NONE
        for line in range(some):
            number = np.uint64(slots[ahead[np.uint64(line), _DIGEST] >> _TO_SLOT])
            touched ^= digests[number]
            ahead[np.uint64(line), _PLACE] = starts[number]
        for line in range(some):
            touched ^= kept[ahead[np.uint64(line), _PLACE]]
        ahead[_NONE, _PLACE] = touched
        for line in range(some):
            one = np.uint64(line)
            start, length, digest = ahead[one, _START], ahead[one, _LENGTH], ahead[one, _DIGEST]
            slot, looks = digest >> _TO_SLOT, _NONE
            number = np.uint64(slots[slot])
            while number != _NONE:
                there, behind = starts[number], starts[number + _ONE] - _ONE
                if (
                    digests[number] == digest
                    and behind - there == length
                    and _same(words, start, kept, there, behind, ahead[one, _LAST], ahead[one, _MASK])
                ):
                    break
                looks += _ONE
                if looks == _LOOKS:
                    return _TOO_MANY
                slot = (slot + _ONE) & (_SLOTS - _ONE)
                number = np.uint64(slots[slot])
            if number == _NONE:
                if count == _MOST_LINES or count > _NEW_AT_FIRST + again:
                    return _TOO_MANY
                if used + length + _EIGHT >= np.uint64(len(kept)):
                    state[_AT], state[_ROW], state[_COUNT], state[_USED], state[_AGAIN] = start, row, count, used, again
                    return _NO_SPACE
                for step in range(_NONE, length + _ONE, _EIGHT):
                    kept[used + np.uint64(step)] = words[start + np.uint64(step)]
                used += length + _ONE
                count += _ONE
                number = count
                digests[number], starts[number + _ONE], slots[slot] = digest, used, number
            else:
                again += _ONE
            if row == np.uint64(len(numbers)):
                return _TOO_MANY
            numbers[row] = number - _ONE
            row += _ONE
    state[_AT], state[_ROW], state[_COUNT], state[_USED], state[_AGAIN] = at, row, count, used, again
    return _DONE


class RepeatedLines:
    """The different lines of a file, which grow block by block.

    >>> lines = RepeatedLines()
    >>> numbers, new = lines.numbered(memoryview(bytearray(b"a,1\\nb,2\\na,1\\n" + bytes(8))), 12, 2)
    >>> numbers.tolist(), bytes(new), lines.count
    ([0, 1, 0], b'a,1\\nb,2\\n', 2)
    """

    def __init__(self) -> None:
        # a line is known by its number and 1 here; 0 is none
        self._slots, self._kept = np.zeros(1 << _SLOT_BITS, np.uint32), np.zeros(1 << 16, np.uint8)
        self._digests, self._starts = np.zeros(_MOST + 1, np.uint64), np.zeros(_MOST + 2, np.uint64)
        self._ahead = np.zeros((int(_SOME), 6), np.uint64)
        self._state, self._numbers = np.zeros(5, np.uint64), np.zeros(0, np.int64)

    @property
    def count(self) -> int:
        """How many different lines there are."""
        return int(self._state[_COUNT])

    def numbered(self, block: memoryview, end: int, width: int) -> tuple[Array, memoryview] | None:
        """The number of each line up to `end`, and those that are new, one after the other; None: lines are too many.

        A line has `width` bytes at least, its end included; behind the last one are eight bytes.
        """
        if not end or block[end - 1] != ord("\n"):
            return None
        if len(self._numbers) < end // width:
            self._numbers = np.empty(end // width, np.int64)
        self._state[_AT] = self._state[_ROW] = 0
        before, words = int(self._state[_USED]), words_of(block)
        while True:
            ended = number_lines(
                *(words, np.uint64(end), self._slots, self._digests, self._starts),
                *(words_of(self._kept.data), self._state, self._ahead, self._numbers),
            )
            if ended == _TOO_MANY:
                return None
            if ended == _DONE:
                new = self._kept.data[before : int(self._state[_USED])]
                return self._numbers[: int(self._state[_ROW])], new
            self._kept = np.concatenate([self._kept, np.zeros(max(len(self._kept), 1 << 16), np.uint8)])
