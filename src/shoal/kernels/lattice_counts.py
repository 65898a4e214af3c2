"""Loops over the distinct tuples of a lattice search: the classes that they make at a node, and how large these are.

Columns are packed into compound columns. At a node, a table gives each compound code its part of a class's key; the key
of a tuple is the sum of the parts of its codes. Keys are made for a block of tuples at a time, one compound column
after the other, in loops that are short enough for the cache. Codes have 16 bits, or 32 where there are many.

Where few keys are possible, tables have 32 bits and classes are found by a cell or a bit for each key; otherwise keys
have 64 bits and classes are found by a hash table.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
uint64 = cython.typedef(cython.ulonglong)
uint32 = cython.typedef(cython.uint)
uint8 = cython.typedef(cython.uchar)
float64 = cython.typedef(cython.double)
Code = cython.fused_type(cython.ushort, cython.int)
Key = cython.fused_type(cython.uint, cython.longlong)
Count = cython.fused_type(cython.int, cython.longlong)
Weight = cython.fused_type(cython.longlong, cython.double)
Cell = cython.fused_type(cython.uchar, cython.ushort)

# a count for every possible key beats numbering the classes while keys are not many more than tuples ...
_COUNTED = cython.declare(cython.longlong, 4)
# ... and a number for every possible key beats hashing while they are not very many more
_NUMBERED = cython.declare(cython.longlong, 16)
# one key in so many is counted to estimate how many there are
_SAMPLED = cython.declare(cython.longlong, 32)
# tuples whose keys are made together
_BLOCK = 1024

_WORD = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
_TWOS = cython.declare(cython.ulonglong, 0x5555555555555555)
_FOURS = cython.declare(cython.ulonglong, 0x3333333333333333)
_EIGHTS = cython.declare(cython.ulonglong, 0x0F0F0F0F0F0F0F0F)
_ONES = cython.declare(cython.ulonglong, 0x0101010101010101)


@cython.cclass
class NodeKeys:
    """What keys are made of: the columns of each compound (`members`, -1: none), the codes that its codes stand for,
    where its codes start among those of all, and the node of each code at each level of a column."""

    members = cython.declare(cython.const[int64][:, ::1], visibility="public")
    unpacked = cython.declare(cython.const[int32][:, ::1], visibility="public")
    starts = cython.declare(cython.const[int64][::1], visibility="public")
    nodes = cython.declare(cython.const[int64][::1], visibility="public")
    offsets = cython.declare(cython.const[int64][:, ::1], visibility="public")
    cards = cython.declare(cython.const[int64][:, ::1], visibility="public")

    def __init__(self, compounds: tuple, levels: tuple) -> None:
        self.starts, self.members, self.unpacked = compounds
        self.nodes, self.offsets, self.cards = levels


def look_up(keys: NodeKeys, levels: cython.const[int64][::1], table: int64[::1]) -> int64:
    """Fill the table that gives each compound code its part of a node's key; the number of possible keys.

    The first column counts most, as in the order of the tuples: neighbours among them have keys near each other.
    """
    cython.declare(c=int64, m=int64, i=int64, j=int64, weight=int64, offset=int64)
    columns: int64 = levels.shape[0]
    total: int64 = 1
    with cython.nogil:
        for i in range(table.shape[0]):
            table[i] = 0
        for c in range(keys.members.shape[0]):
            for m in range(keys.members.shape[1]):
                j = keys.members[c, m]
                if j < 0:
                    break
                if keys.cards[j, levels[j]] > 1:
                    weight = 1
                    for i in range(j + 1, columns):
                        weight *= keys.cards[i, levels[i]]
                    offset = keys.offsets[j, levels[j]]
                    for i in range(keys.starts[c], keys.starts[c + 1]):
                        table[i] += keys.nodes[offset + keys.unpacked[m, i]] * weight
        for j in range(columns):
            total *= keys.cards[j, levels[j]]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], table: cython.const[Key][::1], start: int64,
    keys: Key[::1],
) -> int64:  # fmt: skip
    """Make the keys of the tuples from one on, as many as fit; how many they are."""
    cython.declare(c=int64, i=int64, first=int64, second=int64)
    count: int64 = min(keys.shape[0], codes.shape[1] - start)
    # the first two together: mostly there are no more
    first = starts[0]
    if codes.shape[0] == 1:
        for i in range(count):
            keys[i] = table[first + codes[0, start + i]]
    else:
        second = starts[1]
        for i in range(count):
            keys[i] = table[first + codes[0, start + i]] + table[second + codes[1, start + i]]
    for c in range(2, codes.shape[0]):
        first = starts[c]
        for i in range(count):
            keys[i] += table[first + codes[c, start + i]]
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_lost(
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], t: int64, records: float64, found: float64[::1]
) -> cython.void:
    """Add the records of a tuple to those of its compound codes."""
    cython.declare(c=int64)
    for c in range(codes.shape[0]):
        found[starts[c] + codes[c, t]] += records


# classes numbered as they are met


@cython.cclass
class ClassNumbers:
    """Work space of one thread to number classes: `stamp` maps keys, or slots of a hash table, to classes; it is -1
    everywhere between calls. `keys` become the keys of the classes."""

    stamp = cython.declare(int32[::1], visibility="public")
    keys = cython.declare(int64[::1], visibility="public")
    block = cython.declare(int64[::1], visibility="public")

    def __init__(self, stamp: Any, keys: Any) -> None:
        self.stamp = stamp
        self.keys = keys
        self.block = np.empty(_BLOCK, np.int64)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(key: int64, mask: int64) -> int64:
    """Where a key is looked for first in a hash table."""
    mixed: uint64 = cython.cast(uint64, key) * _GOLDEN & _WORD
    mixed ^= mixed >> 29
    return cython.cast(int64, mixed & mask)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _number(
    numbers: ClassNumbers, codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1],
    table: cython.const[int64][::1], total: int64, counts: cython.const[int64][::1], place: int32[::1],
    sizes: int64[::1],
) -> int64:  # fmt: skip
    cython.declare(start=int64, count=int64, i=int64, key=int64, slot=int64, found=int64)
    tuples: int64 = codes.shape[1]
    mask: int64 = 1023
    classes: int64 = 0
    dense: cython.bint = total <= min(numbers.stamp.shape[0], _NUMBERED * tuples)
    # as few slots as tuples need: what stays in the cache
    while mask < 2 * tuples:
        mask = 2 * mask + 1
    mask = min(mask, numbers.stamp.shape[0] - 1)
    start = 0
    while start < tuples:
        count = _fill(codes, starts, table, start, numbers.block)
        for i in range(count):
            key = numbers.block[i]
            slot = key if dense else _slot(key, mask)
            found = numbers.stamp[slot]
            while found >= 0 and not dense and numbers.keys[found] != key:
                slot = (slot + 1) & mask
                found = numbers.stamp[slot]
            if found < 0:
                found = classes
                numbers.stamp[slot] = found
                numbers.keys[found] = key
                sizes[found] = 0
                classes += 1
            place[start + i] = found
            sizes[found] += counts[start + i]
        start += count
    # the last one first: each is found before one that it stood behind is gone
    for i in range(classes):
        found = classes - 1 - i
        slot = numbers.keys[found] if dense else _slot(numbers.keys[found], mask)
        while not dense and numbers.stamp[slot] != found:
            slot = (slot + 1) & mask
        numbers.stamp[slot] = -1
    return classes


def number_classes(
    numbers: ClassNumbers, codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1],
    table: cython.const[int64][::1], total: int64, counts: cython.const[int64][::1], place: int32[::1],
    sizes: int64[::1],
) -> int64:  # fmt: skip
    """Number the classes of tuples in the order in which they are met; how many there are.

    `place` becomes the class of each tuple, `sizes` the records of each class; `total` keys are possible.
    """
    cython.declare(classes=int64)
    with cython.nogil:
        classes = _number(numbers, codes, starts, table, total, counts, place, sizes)
    return classes


def sums_of_classes(
    numbers: ClassNumbers, codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1],
    table: cython.const[int64][::1], total: int64, counts: cython.const[int64][::1], k: int64, place: int32[::1],
    sizes: int64[::1],
) -> Any:  # fmt: skip
    """Of the classes with k members and more: how many, the sum of their squares, and how many of k they could be split
    into; and the members of all others. `place` and `sizes` are work space."""
    cython.declare(start=int64, count=int64, i=int64, classes=int64, size=int64)
    tuples: int64 = codes.shape[1]
    enough: int64 = 0
    parts: int64 = 0
    small: int64 = 0
    squares: float64 = 0.0
    with cython.nogil:
        if total <= min(sizes.shape[0], _COUNTED * tuples):
            classes = total
            for i in range(total):
                sizes[i] = 0
            start = 0
            while start < tuples:
                count = _fill(codes, starts, table, start, numbers.block)
                for i in range(count):
                    sizes[numbers.block[i]] += counts[start + i]
                start += count
        else:
            classes = _number(numbers, codes, starts, table, total, counts, place, sizes)
        for i in range(classes):
            size = sizes[i]
            if size < k:
                small += size
            else:
                enough += 1
                squares += cython.cast(float64, size) * cython.cast(float64, size)
                parts += size // k
    return enough, squares, parts, small


def classes_by_sample(
    numbers: ClassNumbers, codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1],
    table: cython.const[int64][::1],
) -> int64:  # fmt: skip
    """About how many classes there are: counted among the keys that a hash chooses, one in 32."""
    cython.declare(start=int64, count=int64, i=int64, key=int64, slot=int64)
    tuples: int64 = codes.shape[1]
    mask: int64 = numbers.stamp.shape[0] - 1
    most: int64 = tuples // 2 + 1
    classes: int64 = 0
    with cython.nogil:
        start = 0
        while start < tuples:
            count = _fill(codes, starts, table, start, numbers.block)
            for i in range(count):
                key = numbers.block[i]
                slot = _slot(key, mask)
                if slot % _SAMPLED:
                    continue
                # slots of chosen keys lie apart: those in between are theirs
                while numbers.stamp[slot] >= 0 and numbers.keys[numbers.stamp[slot]] != key:
                    slot = (slot + 1) & mask
                if numbers.stamp[slot] < 0:
                    if classes == most:
                        tuples = 0  # enough are seen
                        break
                    numbers.stamp[slot] = classes
                    numbers.keys[classes] = key
                    classes += 1
            start += count
        for i in range(classes):
            slot = _slot(numbers.keys[classes - 1 - i], mask)
            while numbers.stamp[slot] != classes - 1 - i:
                slot = (slot + 1) & mask
            numbers.stamp[slot] = -1
    return classes * _SAMPLED


# classes numbered in the order of their keys: a bit for every possible key, and how many are set before it


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bits(word: uint64) -> int64:
    """The bits of a word that are set."""
    pairs: uint64 = word - ((word >> 1) & _TWOS)
    fours: uint64 = (pairs & _FOURS) + ((pairs >> 2) & _FOURS)
    eights: uint64 = (fours + (fours >> 4)) & _EIGHTS
    return cython.cast(int64, (eights * _ONES & _WORD) >> 56)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mark(key: int64, marks: uint64[::1]) -> cython.void:
    """Set the bit of a key."""
    marks[key >> 6] |= cython.cast(uint64, 1) << (key & 63)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank(key: int64, marks: cython.const[uint64][::1], ranks: cython.const[int32][::1]) -> int64:
    """How many keys that are marked come before one."""
    word: uint64 = cython.cast(uint64, marks[key >> 6])
    return ranks[key >> 6] + _bits(word & ((cython.cast(uint64, 1) << (key & 63)) - 1))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank_words(marks: cython.const[uint64][::1], ranks: int32[::1]) -> int64:
    """How many bits are set before each word; how many in all."""
    cython.declare(i=int64)
    count: int64 = 0
    for i in range(marks.shape[0]):
        ranks[i] = count
        count += _bits(cython.cast(uint64, marks[i]))
    return count


def mark_classes(
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], table: cython.const[uint32][::1],
    marks: uint64[::1], ranks: int32[::1],
) -> int64:  # fmt: skip
    """Set a bit for each key that there is; how many there are, and in `ranks` how many before each word."""
    cython.declare(start=int64, count=int64, i=int64, classes=int64)
    block: uint32[::1] = np.empty(_BLOCK, np.uint32)
    with cython.nogil:
        start = 0
        while start < codes.shape[1]:
            count = _fill(codes, starts, table, start, block)
            for i in range(count):
                _mark(cython.cast(int64, block[i]), marks)
            start += count
        classes = _rank_words(marks, ranks)
    return classes


def collect_classes(
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], table: cython.const[uint32][::1],
    counts: cython.const[Count][::1], marks: cython.const[uint64][::1], ranks: cython.const[int32][::1],
    place: int32[::1], sizes: Count[::1],
) -> None:  # fmt: skip
    """Add up the records of each class that is marked, and note the class of each tuple; not where `place` is empty."""
    cython.declare(start=int64, count=int64, i=int64, found=int64)
    noted: cython.bint = place.shape[0] > 0
    block: uint32[::1] = np.empty(_BLOCK, np.uint32)
    with cython.nogil:
        start = 0
        while start < codes.shape[1]:
            count = _fill(codes, starts, table, start, block)
            for i in range(count):
                found = _rank(cython.cast(int64, block[i]), marks, ranks)
                sizes[found] += counts[start + i]
                if noted:
                    place[start + i] = found
            start += count


def marked_keys(marks: cython.const[uint64][::1], classes: int64) -> Any:
    """The keys that are marked, in their order."""
    cython.declare(i=int64, word=uint64, without=uint64)
    at: int64 = 0
    found = np.empty(classes, np.int64)
    keys: int64[::1] = found
    with cython.nogil:
        for i in range(marks.shape[0]):
            word = cython.cast(uint64, marks[i])
            while word:
                without = word & (word - 1)
                keys[at] = 64 * i + _bits((word ^ without) - 1)
                at += 1
                word = without
    return found


def number_keys(keys: int32[::1], marks: uint64[::1], ranks: int32[::1]) -> int64:
    """Number keys in their order; how many there are. `marks` say then which."""
    cython.declare(t=int64, count=int64)
    with cython.nogil:
        for t in range(keys.shape[0]):
            _mark(cython.cast(int64, keys[t]), marks)
        count = _rank_words(marks, ranks)
        for t in range(keys.shape[0]):
            keys[t] = _rank(cython.cast(int64, keys[t]), marks, ranks)
    return count


def number_by_stamp(keys: cython.const[int64][::1], stamp: int64[::1]) -> Any:
    """Number keys as they come, and how many there are; `stamp` holds the number of each key, -1 before it came."""
    cython.declare(i=int64)
    count: int64 = 0
    found = np.empty(keys.shape[0], np.int64)
    numbers: int64[::1] = found
    with cython.nogil:
        for i in range(keys.shape[0]):
            if stamp[keys[i]] < 0:
                stamp[keys[i]] = count
                count += 1
            numbers[i] = stamp[keys[i]]
    return found, count


# what is lost


def small_classes(
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], table: cython.const[uint32][::1], total: int64,
    capped: cython.const[Cell][::1], k: uint32, limit: int64, cells: Cell[::1], places: int32[::1], found: float64[::1],
) -> int64:  # fmt: skip
    """Records in classes below k, counted up to k in a cell for each key; within the limit also by code (`found`).

    Cells are narrow and stay in the cache; `capped` are the records of each tuple, or the most that a cell holds.
    """
    cython.declare(start=int64, count=int64, i=int64, t=int64, key=int64, gone=int64, size=uint32)
    tuples: int64 = codes.shape[1]
    lost: int64 = 0
    block: uint32[::1] = np.empty(_BLOCK, np.uint32)
    with cython.nogil:
        for i in range(total):
            cells[i] = 0
        start = 0
        while start < tuples:
            count = _fill(codes, starts, table, start, block)
            for i in range(count):
                key = block[i]
                size = cython.cast(uint32, cells[key]) + cython.cast(uint32, capped[start + i])
                cells[key] = min(size, k)
                places[start + i] = key
            start += count
        # whichever are fewer: the classes, or the tuples that are in small ones
        if total <= tuples:
            for i in range(total):
                lost += cython.cast(uint32, cells[i]) if cells[i] < k else 0
        if total > tuples or lost <= limit:
            # the tuples that are lost, without a branch that cannot be foreseen
            gone = 0
            for t in range(tuples):
                key = places[t]
                places[gone] = t
                gone += cells[key] < k
            # each has less than k records: all of them are in its capped count
            if total > tuples:
                for i in range(gone):
                    lost += cython.cast(int64, capped[places[i]])
            if lost <= limit:
                for i in range(found.shape[0]):
                    found[i] = 0
                for i in range(gone):
                    _add_lost(codes, starts, places[i], capped[places[i]], found)
    return lost


def small_numbered_classes(
    place: cython.const[int32][::1], counts: cython.const[Count][::1], sizes: cython.const[int64][::1], k: int64,
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], limit: int64, found: float64[::1],
) -> int64:  # fmt: skip
    """As `small_classes`, of classes that were numbered."""
    cython.declare(i=int64, t=int64)
    lost: int64 = 0
    with cython.nogil:
        for i in range(sizes.shape[0]):
            if sizes[i] < k:
                lost += sizes[i]
        if lost <= limit:
            for i in range(found.shape[0]):
                found[i] = 0
            for t in range(codes.shape[1]):
                if sizes[place[t]] < k:
                    _add_lost(codes, starts, t, counts[t], found)
    return lost


def records_by_code(
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], place: cython.const[int32][::1],
    counts: cython.const[int64][::1], bad: cython.const[uint8][::1], every: cython.const[float64][::1],
) -> Any:  # fmt: skip
    """Records of each compound code in bad classes, where few are good: these are taken from `every` record."""
    cython.declare(i=int64, t=int64)
    lost = np.empty(every.shape[0])
    found: float64[::1] = lost
    with cython.nogil:
        for i in range(every.shape[0]):
            found[i] = every[i]
        for t in range(codes.shape[1]):
            if not bad[place[t]]:
                _add_lost(codes, starts, t, -counts[t], found)
    return lost


def lost_records(
    codes: cython.const[Code][:, ::1], starts: cython.const[int64][::1], place: cython.const[int32][::1],
    counts: cython.const[Weight][::1], bad: cython.const[uint8][::1], lost: cython.const[float64][::1], width: int64,
) -> Any:  # fmt: skip
    """Records of each compound code that are lost: those in bad classes, those in classes that every finer node loses
    whole, and shares of classes that it loses in part (`lost`: how much of each class)."""
    cython.declare(t=int64, share=float64)
    every, whole, part = np.zeros(width), np.zeros(width), np.zeros(width)
    first: float64[::1] = every
    second: float64[::1] = whole
    third: float64[::1] = part
    with cython.nogil:
        for t in range(codes.shape[1]):
            if bad[place[t]]:
                share = lost[place[t]]
                _add_lost(codes, starts, t, counts[t], first)
                if share >= 1:
                    _add_lost(codes, starts, t, counts[t], second)
                elif share > 0:
                    _add_lost(codes, starts, t, share * counts[t], third)
    return every, whole, part


def spread_over_classes(
    place: cython.const[int32][::1], wanted: cython.const[int64][::1], of_tuple: cython.const[int64][::1],
    codes: cython.const[int64][::1], counts: cython.const[int64][::1], labels: int64, classes: int64,
) -> Any:  # fmt: skip
    """(class, code, count) of the wanted classes (their new number, -1: not wanted), sorted by class, then by code.

    `counts` records of a tuple have a code, of `labels` codes that there are.
    """
    cython.declare(i=int64, number=int64)
    dense: int64[::1] = np.zeros(classes * labels, np.int64)
    filled: int64 = 0
    at: int64 = 0
    with cython.nogil:
        for i in range(of_tuple.shape[0]):
            number = wanted[place[of_tuple[i]]]
            if number >= 0:
                dense[number * labels + codes[i]] += counts[i]
        for i in range(dense.shape[0]):
            filled += dense[i] > 0
    found = np.empty((3, filled), np.int64)
    entries: int64[:, ::1] = found
    with cython.nogil:
        for i in range(dense.shape[0]):
            if dense[i] > 0:
                entries[0, at] = i // labels
                entries[1, at] = i % labels
                entries[2, at] = dense[i]
                at += 1
    return found[0], found[1], found[2]
