"""The loops that find the fields of delimited text, and give each the code of its text in the dictionary of its column.

Eight bytes are looked at at once. Anything unusual (a quote inside a field, a line of another length) ends the loop:
then a block is parsed elsewhere.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled, compiled_inside
from shoal.table import Array

# what becomes of the fields of a column
SKIPPED, CODED, NUMBER = 0, 1, 2
# why the loop ended: at the end, at something unusual, for want of space, at a field that is not a whole number
DONE, UNUSUAL, FULL, NO_SPACE, NOT_A_NUMBER = 0, 1, 2, 3, 4
# where the loop is: byte, row, words of texts in use, column
AT, ROW, USED, COLUMN = 0, 1, 2, 3
# the code, and the number, of an empty field
NO_TEXT, NOTHING = 65535, -(1 << 63)

# places are unsigned here: a place that may count from the end takes longer
_ONES, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_NONE, _ONE, _TWO, _THREE, _SEVEN, _EIGHT, _HALF, _TOP = (np.uint64(number) for number in (0, 1, 2, 3, 7, 8, 32, 56))
_QUOTE, _NEWLINE, _RETURN, _MINUS, _ZERO, _NINE = (np.uint8(ord(sign)) for sign in '"\n\r-09')
_QUOTES, _NEWLINES = _ONES * np.uint64(_QUOTE), _ONES * np.uint64(_NEWLINE)
_FULL_CODE, _MOST_DIGITS = np.uint64(NO_TEXT), np.uint64(18)


@compiled_inside
def _zeros(word: Number) -> Number:
    """The highest bit of the first byte that is zero, among others that may follow."""
    return (word - _ONES) & ~word & _HIGH


@compiled_inside
def _mixed(digest: Number, word: Number) -> Number:
    """A digest with eight more bytes; of one word, no two have the same."""
    digest = (digest ^ word) * _FACTOR
    return digest ^ (digest >> _HALF)


@compiled_inside
def _same(words: Array, at: Number, kept: Array, there: Number, length: Number, last: Number) -> bool:
    """Whether a field is a text that is kept with zeros behind it; `last`: what is left after its whole words."""
    end = there + (length >> _THREE)
    while there < end:
        if words[at] != kept[there]:
            return False
        at += _EIGHT
        there += _ONE
    return bool(kept[there] == last)


@compiled_inside
def _number(data: Array, start: Number, end: Number) -> int:
    """A whole number in the least characters that say it; `NOTHING` where a field is not one."""
    at = start + _ONE if data[start] == _MINUS else start
    if at == end or end - at > _MOST_DIGITS or (data[at] == _ZERO and end - start > _ONE):
        return NOTHING
    found = 0
    while at < end:
        if data[at] < _ZERO or data[at] > _NINE:
            return NOTHING
        found = 10 * found + (data[at] - _ZERO)
        at += _ONE
    return -found if data[start] == _MINUS else found


@compiled
def code_fields(
    words: Array,
    data: Array,
    end: Number,
    delimiter: Number,
    kinds: Array,
    places: Array,
    codes: Array,
    numbers: Array,
    starts: Array,
    masks: Array,
    slots: Array,
    entries: Array,
    counts: Array,
    digests: Array,
    lengths: Array,
    offsets: Array,
    kept: Array,
    state: Array,
) -> int:
    """Code whole records up to `end`, from where `state` says; `words` are the eight bytes from each byte of `data` on.

    Column by column, at `places` among those that are coded: `slots` (from `starts`, of a size of `masks` + 1) lead
    from a digest to a code and 1, or 0; of each code (from `entries`) the digest, and length and place in `kept` of its
    text.
    """
    width, capacity = np.uint64(len(kinds)), np.uint64(codes.shape[1])
    delimiters = _ONES * np.uint64(delimiter)
    at, row, used = state[AT], state[ROW], state[USED]
    while at < end and row < capacity:
        if data[at] == _NEWLINE or (data[at] == _RETURN and data[at + _ONE] == _NEWLINE):
            return UNUSUAL
        record = at
        column = _NONE
        while column < width:
            quoted = data[at] == _QUOTE
            first, second = delimiters, _NEWLINES
            if quoted:
                at += _ONE
                first = second = _QUOTES
            start = at
            digest, word = _NONE, words[at]
            found = _zeros(word ^ first) | _zeros(word ^ second) | _zeros(word ^ _QUOTES)
            while found == _NONE:
                digest = _mixed(digest, word)
                at += _EIGHT
                word = words[at]
                found = _zeros(word ^ first) | _zeros(word ^ second) | _zeros(word ^ _QUOTES)
            below = ((found & (~found + _ONE)) >> _SEVEN) - _ONE
            last = word & below
            at += ((below & _ONES) * _ONES) >> _TOP
            stop = at
            if quoted:
                at += _ONE
            sign = data[at]
            returned = stop > start and data[stop - _ONE] == _RETURN and not quoted
            if column + _ONE == width:
                if quoted and sign == _RETURN:
                    at += _ONE
                    sign = data[at]
                if sign != _NEWLINE or at >= end:
                    return UNUSUAL
                if returned:  # the digest again, without the sign
                    stop -= _ONE
                    digest, step = _NONE, start
                    while step + _EIGHT <= stop:
                        digest = _mixed(digest, words[step])
                        step += _EIGHT
                    last = words[step] & ((_ONE << (_EIGHT * (stop - step))) - _ONE)
            elif sign != delimiter or returned:
                return UNUSUAL
            at += _ONE
            kind, place, length = kinds[column], places[column], stop - start
            column += _ONE
            if kind == CODED:
                if length == _NONE and not quoted:
                    codes[place, row] = NO_TEXT
                    continue
                digest = _mixed(digest, last)
                mask, own, slot_of = masks[place], entries[place], starts[place]
                slot = digest & mask
                code = np.uint64(slots[slot_of + slot])
                while code != _NONE:
                    entry = own + code - _ONE
                    # of one word, the digest tells
                    if (
                        digests[entry] == digest
                        and lengths[entry] == length
                        and (length < _EIGHT or _same(words, start, kept, offsets[entry], length, last))
                    ):
                        break
                    slot = (slot + _ONE) & mask
                    code = np.uint64(slots[slot_of + slot])
                if code == _NONE:
                    code = counts[place] + _ONE
                    state[AT], state[ROW], state[USED], state[COLUMN] = record, row, used, column - _ONE
                    if _TWO * code > mask + _ONE or code > _FULL_CODE:
                        return FULL
                    whole = length >> _THREE
                    if used + whole >= np.uint64(len(kept)):
                        return NO_SPACE
                    slots[slot_of + slot] = code
                    counts[place] = code
                    entry = own + code - _ONE
                    digests[entry], lengths[entry], offsets[entry] = digest, length, used
                    for step in range(whole):
                        kept[used + step] = words[start + _EIGHT * step]
                    kept[used + whole] = last
                    used += whole + _ONE
                codes[place, row] = code - _ONE
            elif kind == NUMBER:
                number = NOTHING
                if length != _NONE or quoted:
                    number = _number(data, start, stop)
                    if number == NOTHING:
                        state[USED], state[COLUMN] = used, column - _ONE
                        return NOT_A_NUMBER
                numbers[place, row] = number
        row += _ONE
    state[AT], state[ROW], state[USED] = at, row, used
    return DONE


@compiled
def fill_slots(slots: Array, start: int, size: int, digests: Array, entry: int, count: int) -> None:
    """Lead from each digest to its code anew, in slots that are empty or not."""
    for slot in range(start, start + size):
        slots[slot] = 0
    mask = np.uint64(size - 1)
    for code in range(count):
        slot = digests[entry + code] & mask
        while slots[np.uint64(start) + slot] > 0:
            slot = (slot + _ONE) & mask
        slots[np.uint64(start) + slot] = code + 1
