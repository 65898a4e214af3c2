"""CASTLE over arrays: records join clusters, the oldest one's cluster leaves whole, cut into groups of k persons.

Cao, Carminati, Ferrari and Tan, *CASTLE: Continuously Anonymizing Data Streams* (2011). A column is a number between
`low` and `high`, a leaf of a tree in the order of its walk, or a code of a category; of these a box keeps bits.
A missing value is far below all others, so that a box that holds it beside others is as wide as can be.
"""

from __future__ import annotations

import cython
import numpy as np

int64 = cython.typedef(cython.longlong)
float64 = cython.typedef(cython.double)

# what a column is
NUMBER, TREE, SET = range(3)
# a missing value; what is below half of it is one
MISSING = -1e300
_ABSENT = cython.declare(cython.double, -5e299)
# codes from here on share one bit: a set that holds one of them and another code is the whole column
CODES = 62
_OTHERS = cython.declare(cython.longlong, 1 << 62)
_ONE = cython.declare(cython.longlong, 1)

# places in the facts of a stream
(
    K, DELAY, POSITION, OLDEST, OPEN, SERIAL, NEXT_BOX, LOSSES, STAMP, RELEASED, PUBLISHED, BUFFERED
) = range(12)  # fmt: skip
# places in what is known of a record in the buffer; its sensitive values follow
PERSON, RANK, CLUSTER, NEXT, ABOUT = range(5)

# the same as numbers of C
cython.declare(_TREE=int64, _SET=int64, _CODES=int64, _K=int64, _DELAY=int64, _POSITION=int64, _OLDEST=int64)
cython.declare(_OPEN=int64, _SERIAL=int64, _NEXT_BOX=int64, _LOSSES=int64, _STAMP=int64, _RELEASED=int64)
cython.declare(_PUBLISHED=int64, _BUFFERED=int64, _PERSON=int64, _RANK=int64, _CLUSTER=int64, _NEXT=int64, _ABOUT=int64)
_TREE, _SET, _CODES = TREE, SET, CODES
_K, _DELAY, _POSITION, _OLDEST, _OPEN, _SERIAL, _NEXT_BOX, _LOSSES, _STAMP, _RELEASED, _PUBLISHED, _BUFFERED = range(12)
_PERSON, _RANK, _CLUSTER, _NEXT, _ABOUT = range(5)


@cython.final
@cython.cclass
class _Stream:
    """The arrays of a stream.

    Boxes lie one after the other: of the clusters (a cluster's number is that of its box), one to try joins in, one of
    a group to be published, then those that may be reused. `heads` has for each cluster its records, the first and the
    last slot of its list. A record at position p lies in slot p mod (delay + 1).
    """

    facts: int64[::1]
    rows: float64[:, ::1]
    about: int64[:, ::1]
    low: float64[:, ::1]
    high: float64[:, ::1]
    bits: int64[:, ::1]
    heads: int64[:, ::1]
    serials: int64[::1]
    box_losses: float64[::1]
    recent: float64[::1]
    domain: float64[:, ::1]
    kinds: cython.const[int64][:, ::1]
    nodes: cython.const[int64][::1]
    shares: cython.const[float64][::1]
    least: cython.const[int64][::1]
    group: int64[::1]
    keys: float64[::1]
    seen: int64[:, ::1]
    stack: int64[:, ::1]
    out: int64[:, ::1]
    new_low: float64[:, ::1]
    new_high: float64[:, ::1]
    new_bits: int64[:, ::1]
    columns: int64
    slots: int64
    clusters: int64
    trial: int64
    piece: int64
    reusable: int64
    clock: int64
    threshold: float64
    wide: float64

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def width(self, column: int64, low: float64, high: float64, bits: int64) -> float64:
        """How much of a column from low to high is, from 0 (one value) to 1."""
        cython.declare(kind=int64, level=int64, start=int64, places=int64, count=int64, span=float64)
        if low == high:
            return 0.0
        if low < _ABSENT:
            return 1.0
        kind = self.kinds[column, 0]
        if kind == _TREE:
            places = self.kinds[column, 3]
            for level in range(self.kinds[column, 2]):
                start = self.kinds[column, 1] + level * places
                if self.nodes[start + cython.cast(int64, low)] == self.nodes[start + cython.cast(int64, high)]:
                    return self.shares[start + cython.cast(int64, low)]
            return 1.0
        if kind == _SET:
            if bits & _OTHERS:
                return 1.0
            count = 0
            while bits:
                bits &= bits - 1
                count += 1
            return min(1.0, (count - 1) / max(min(self.domain[1, column], 61.0), 1.0))
        span = self.domain[1, column] - self.domain[0, column]
        return min(1.0, (high - low) / span) if span > 0 else 0.0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def loss(self, box: int64) -> float64:
        """The mean width of a box."""
        cython.declare(column=int64)
        total: float64 = 0.0
        for column in range(self.columns):
            total += self.width(column, self.low[box, column], self.high[box, column], self.bits[box, column])
        return total / self.columns

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def bit(self, column: int64, value: float64) -> int64:
        """The bit of a code; of a missing one and in columns that are no sets none is looked at."""
        if self.kinds[column, 0] != _SET or value < 0:
            return 0
        return _ONE << cython.cast(int64, value) if value < _CODES else _OTHERS

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def widen(self, box: int64, slot: int64) -> cython.void:
        """Make a box hold a record."""
        cython.declare(column=int64, value=float64)
        for column in range(self.columns):
            value = self.rows[slot, column]
            self.low[box, column] = min(self.low[box, column], value)
            self.high[box, column] = max(self.high[box, column], value)
            self.bits[box, column] |= self.bit(column, value)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def start_box(self, box: int64, slot: int64) -> cython.void:
        """Make a box of one record."""
        cython.declare(column=int64)
        for column in range(self.columns):
            self.low[box, column] = self.rows[slot, column]
            self.high[box, column] = self.rows[slot, column]
            self.bits[box, column] = self.bit(column, self.rows[slot, column])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def copy_box(self, source: int64, target: int64) -> cython.void:
        """Copy a box over another."""
        cython.declare(column=int64)
        for column in range(self.columns):
            self.low[target, column] = self.low[source, column]
            self.high[target, column] = self.high[source, column]
            self.bits[target, column] = self.bits[source, column]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def nearest(self, box: int64, marked: cython.bint) -> int64:
        """The cluster whose joining with a box widens it least; `marked` ones are passed over, the box apart.

        Among equals one that stays below the threshold, then the one with fewer records. -1 where there is none.
        """
        cython.declare(cluster=int64, column=int64, better=cython.bint, bits=int64)
        cython.declare(low=float64, high=float64, before=float64, after=float64, grown=float64, total=float64)
        best: int64 = -1
        least: float64 = 1e300
        wide: float64 = 1e300
        for cluster in range(self.clusters):
            if self.heads[cluster, 0] == 0 or (marked and self.heads[cluster, 3]):
                continue
            grown = 0.0
            total = 0.0
            for column in range(self.columns):
                low = self.low[cluster, column]
                high = self.high[cluster, column]
                bits = self.bits[cluster, column]
                before = self.width(column, low, high, bits)
                if (
                    self.low[box, column] >= low
                    and self.high[box, column] <= high
                    and self.bits[box, column] & ~bits == 0
                ):
                    after = before
                else:
                    after = self.width(
                        column, min(low, self.low[box, column]), max(high, self.high[box, column]),
                        bits | self.bits[box, column],
                    )  # fmt: skip
                grown += after - before
                total += after
                if grown > least:
                    break
            if grown > least:
                continue
            total = total / self.columns
            better = grown < least
            if not better:
                if (total <= self.threshold) != (wide <= self.threshold):
                    better = total <= self.threshold
                else:
                    better = self.heads[cluster, 0] < self.heads[best, 0]
            if better:
                best = cluster
                least = grown
                wide = total
        self.wide = wide
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def insert(self, slot: int64) -> cython.void:
        """A record joins the cluster that it widens least, or opens one."""
        cython.declare(cluster=int64, free=int64)
        self.start_box(self.trial, slot)
        cluster = self.nearest(self.trial, False)
        if cluster < 0 or (self.wide > self.threshold and self.facts[_OPEN] < self.clusters):
            free = 0
            while self.heads[free, 0] > 0:
                free += 1
            cluster = free
            self.facts[_OPEN] += 1
            self.start_box(cluster, slot)
            self.heads[cluster, 1] = slot
        else:
            self.widen(cluster, slot)
            self.about[self.heads[cluster, 2], _NEXT] = slot
        self.heads[cluster, 0] += 1
        self.heads[cluster, 2] = slot
        self.about[slot, _CLUSTER] = cluster
        self.about[slot, _NEXT] = -1
        self.facts[_BUFFERED] += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_distinct(self, start: int64, stop: int64, place: int64, least: int64) -> cython.bint:
        """Whether records of the group have so many distinct persons, or sensitive values (-1 is none)."""
        cython.declare(i=int64, value=int64, at=int64)
        last: int64 = self.seen.shape[1] - 1
        found: int64 = 0
        if stop - start < least:
            return False
        self.facts[_STAMP] += 1
        for i in range(start, stop):
            value = self.about[self.group[i], place]
            if value < 0:
                continue
            at = value & last
            while self.seen[0, at] == self.facts[_STAMP] and self.seen[1, at] != value:
                at = (at + 1) & last
            if self.seen[0, at] != self.facts[_STAMP]:
                self.seen[0, at] = self.facts[_STAMP]
                self.seen[1, at] = value
                found += 1
                if found >= least:
                    return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def suffices(self, start: int64, stop: int64) -> cython.bint:
        """Whether records of the group are of k persons and have enough values of each sensitive column."""
        cython.declare(i=int64)
        if not self.has_distinct(start, stop, _PERSON, self.facts[_K]):
            return False
        for i in range(self.least.shape[0]):
            if self.least[i] > 0 and not self.has_distinct(start, stop, _ABOUT + i, self.least[i]):
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sift(self, start: int64, at: int64, size: int64) -> cython.void:
        """Let a key sink to its place in a heap."""
        cython.declare(child=int64)
        key: float64 = self.keys[start + at]
        slot: int64 = self.group[start + at]
        child = 2 * at + 1
        while child < size:
            if child + 1 < size and self.keys[start + child + 1] > self.keys[start + child]:
                child += 1
            if self.keys[start + child] <= key:
                break
            self.keys[start + at] = self.keys[start + child]
            self.group[start + at] = self.group[start + child]
            at = child
            child = 2 * at + 1
        self.keys[start + at] = key
        self.group[start + at] = slot

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort(self, start: int64, stop: int64) -> cython.void:
        """Order the group by its keys (a heap: no worst case)."""
        cython.declare(at=int64, size=int64, key=float64, slot=int64)
        size = stop - start
        for at in range(size // 2 - 1, -1, -1):
            self.sift(start, at, size)
        for at in range(size - 1, 0, -1):
            key = self.keys[start]
            slot = self.group[start]
            self.keys[start] = self.keys[start + at]
            self.group[start] = self.group[start + at]
            self.keys[start + at] = key
            self.group[start + at] = slot
            self.sift(start, 0, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bound(self, start: int64, stop: int64) -> cython.void:
        """The box of a group."""
        cython.declare(i=int64)
        self.start_box(self.piece, self.group[start])
        for i in range(start + 1, stop):
            self.widen(self.piece, self.group[i])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut(self, start: int64, stop: int64) -> int64:
        """Where a group is cut in two that both suffice, near the median of the widest column that allows it; or -1."""
        cython.declare(i=int64, tried=int64, column=int64, widest=int64, middle=int64, at=int64, side=int64)
        cython.declare(width=float64, most=float64, last=float64)
        if stop - start < 2 * self.facts[_K]:
            return -1
        self.bound(start, stop)
        last = 2.0
        widest = -1
        for tried in range(self.columns):
            # the next in the order of their widths; of equal ones the earlier column
            most = -1.0
            at = -1
            for column in range(self.columns):
                width = self.width(
                    column, self.low[self.piece, column], self.high[self.piece, column], self.bits[self.piece, column]
                )
                if (width < last or (width == last and column > widest)) and width > most:
                    most = width
                    at = column
            if at < 0 or most <= 0:
                return -1
            last = most
            widest = at
            for i in range(start, stop):
                self.keys[i] = self.rows[self.group[i], widest]
            self.sort(start, stop)
            middle = (start + stop) // 2
            for side in range(2):
                at = middle
                if side == 0:
                    while at > start and self.keys[at - 1] == self.keys[at]:
                        at -= 1
                else:
                    while at < stop and self.keys[at - 1] == self.keys[at]:
                        at += 1
                if start < at < stop and self.suffices(start, at) and self.suffices(at, stop):
                    return at
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def emit(self, slot: int64, serial: int64) -> cython.void:
        """A record leaves with a box; -1: suppressed."""
        at: int64 = self.facts[_RELEASED]
        cython.declare(position=int64)
        # the one position of the last delay + 1 that lies in this slot
        position = self.clock - (self.clock - slot) % self.slots
        self.out[at, 0] = position
        self.out[at, 1] = serial
        self.out[at, 2] = self.about[slot, _PERSON]
        self.out[at, 3] = self.clock
        self.facts[_RELEASED] += 1
        self.facts[_BUFFERED] -= 1
        self.about[slot, _CLUSTER] = -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def publish(self, count: int64) -> cython.void:
        """The group leaves, cut into as many parts as suffice; boxes that lose little may be reused."""
        cython.declare(depth=int64, start=int64, stop=int64, at=int64, i=int64, serial=int64, loss=float64)
        depth = 1
        self.stack[0, 0] = 0
        self.stack[0, 1] = count
        while depth > 0:
            depth -= 1
            start = self.stack[depth, 0]
            stop = self.stack[depth, 1]
            at = self.cut(start, stop)
            if at >= 0:
                # the larger side waits: the stack never grows past the logarithm of the records
                if at - start > stop - at:
                    self.stack[depth, 0] = start
                    self.stack[depth, 1] = at
                    self.stack[depth + 1, 0] = at
                    self.stack[depth + 1, 1] = stop
                else:
                    self.stack[depth, 0] = at
                    self.stack[depth, 1] = stop
                    self.stack[depth + 1, 0] = start
                    self.stack[depth + 1, 1] = at
                depth += 2
                continue
            self.bound(start, stop)
            serial = self.facts[_SERIAL]
            self.facts[_SERIAL] += 1
            i = self.facts[_PUBLISHED]
            self.facts[_PUBLISHED] += 1
            for at in range(self.columns):
                self.new_low[i, at] = self.low[self.piece, at]
                self.new_high[i, at] = self.high[self.piece, at]
                self.new_bits[i, at] = self.bits[self.piece, at]
            loss = self.loss(self.piece)
            self.remember(loss)
            if loss <= self.threshold:
                i = self.facts[_NEXT_BOX]
                self.facts[_NEXT_BOX] = (i + 1) % self.serials.shape[0]
                self.copy_box(self.piece, self.reusable + i)
                self.serials[i] = serial
                self.box_losses[i] = loss
            # the order of arrival is nobody's business
            for i in range(start, stop):
                self.keys[i] = self.about[self.group[i], _RANK]
            self.sort(start, stop)
            for i in range(start, stop):
                self.emit(self.group[i], serial)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def remember(self, loss: float64) -> cython.void:
        """The loss of a published group counts for the threshold."""
        self.recent[self.facts[_LOSSES] % self.recent.shape[0]] = loss
        self.facts[_LOSSES] += 1
        self.set_threshold()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_threshold(self) -> cython.void:
        """The threshold is the mean loss of the groups that were published last."""
        cython.declare(i=int64)
        total: float64 = 0.0
        count: int64 = min(self.facts[_LOSSES], self.recent.shape[0])
        for i in range(count):
            total += self.recent[i]
        self.threshold = total / count if count > 0 else 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gather(self, cluster: int64, count: int64) -> int64:
        """Add the records of a cluster to the group; how many it has now."""
        slot: int64 = self.heads[cluster, 1]
        while slot >= 0:
            self.group[count] = slot
            count += 1
            slot = self.about[slot, _NEXT]
        return count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def close(self, cluster: int64) -> cython.void:
        """A cluster is there no longer."""
        self.heads[cluster, 0] = 0
        self.facts[_OPEN] -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def covering(self, slot: int64) -> int64:
        """The serial of the published box that holds a record and loses least; -1 where there is none."""
        cython.declare(i=int64, box=int64, column=int64, value=float64, holds=cython.bint)
        best: int64 = -1
        for i in range(self.serials.shape[0]):
            if self.serials[i] < 0 or (best >= 0 and self.box_losses[i] >= self.box_losses[best]):
                continue
            box = self.reusable + i
            holds = True
            for column in range(self.columns):
                value = self.rows[slot, column]
                if value < self.low[box, column] or value > self.high[box, column]:
                    holds = False
                    break
                if self.kinds[column, 0] == _SET and self.low[box, column] != self.high[box, column]:
                    if self.low[box, column] >= 0 and self.bit(column, value) & ~self.bits[box, column]:
                        holds = False
                        break
            if holds:
                best = i
        return self.serials[best] if best >= 0 else -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_outlier(self, cluster: int64) -> cython.bint:
        """Whether more than half of the clusters have more records."""
        cython.declare(other=int64)
        larger: int64 = 0
        for other in range(self.clusters):
            larger += self.heads[other, 0] > self.heads[cluster, 0]
        return 2 * larger > self.facts[_OPEN]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def expire(self, slot: int64) -> cython.void:
        """A record must leave now: with its cluster, in a published box, with clusters that are near, or suppressed."""
        cython.declare(cluster=int64, other=int64, count=int64, serial=int64)
        cluster = self.about[slot, _CLUSTER]
        count = self.gather(cluster, 0)
        if self.suffices(0, count):
            self.close(cluster)
            self.publish(count)
            return
        serial = self.covering(slot)
        if serial < 0 and not self.is_outlier(cluster):
            self.copy_box(cluster, self.trial)
            for other in range(self.clusters):
                self.heads[other, 3] = other == cluster
            other = self.nearest(self.trial, True)
            while other >= 0:
                self.heads[other, 3] = True
                count = self.gather(other, count)
                self.join(self.trial, other)
                if self.suffices(0, count):
                    for other in range(self.clusters):
                        if self.heads[other, 3] and self.heads[other, 0] > 0:
                            self.close(other)
                    self.publish(count)
                    return
                other = self.nearest(self.trial, True)
        # the oldest record of a cluster is the first in its list
        self.heads[cluster, 0] -= 1
        self.heads[cluster, 1] = self.about[slot, _NEXT]
        if self.heads[cluster, 0] == 0:
            self.facts[_OPEN] -= 1
        self.emit(slot, serial)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def join(self, box: int64, other: int64) -> cython.void:
        """Make a box hold another one."""
        cython.declare(column=int64)
        for column in range(self.columns):
            self.low[box, column] = min(self.low[box, column], self.low[other, column])
            self.high[box, column] = max(self.high[box, column], self.high[other, column])
            self.bits[box, column] |= self.bits[other, column]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def learn(self, slot: int64) -> cython.void:
        """The domains of numbers grow with what comes."""
        cython.declare(column=int64, value=float64)
        for column in range(self.columns):
            value = self.rows[slot, column]
            if self.kinds[column, 0] != _TREE and value > _ABSENT:
                self.domain[0, column] = min(self.domain[0, column], value)
                self.domain[1, column] = max(self.domain[1, column], value)


def advance(
    facts: int64[::1], rows: float64[:, ::1], about: int64[:, ::1], low: float64[:, ::1], high: float64[:, ::1],
    bits: int64[:, ::1], heads: int64[:, ::1], serials: int64[::1], box_losses: float64[::1], recent: float64[::1],
    domain: float64[:, ::1], kinds: cython.const[int64][:, ::1], nodes: cython.const[int64][::1],
    shares: cython.const[float64][::1], least: cython.const[int64][::1], seen: int64[:, ::1],
    new_rows: cython.const[float64][:, ::1], new_about: cython.const[int64][:, ::1], ends: cython.bint,
    out: int64[:, ::1], new_low: float64[:, ::1], new_high: float64[:, ::1], new_bits: int64[:, ::1],
) -> None:  # fmt: skip
    """Let records arrive one by one, and after each let go what has waited long enough; `ends`: then all the others.

    `out` gets a row for each record that leaves: its position, the serial of its box (-1: suppressed), its person, and
    the position at which it leaves. `new_low`, `new_high`, `new_bits`: the boxes that are published, in the order of
    their serials. How many there are of both stands in `facts`.
    """
    cython.declare(i=int64, column=int64, slot=int64, position=int64)
    stream = _Stream()
    stream.facts, stream.rows, stream.about, stream.low, stream.high = facts, rows, about, low, high
    stream.bits, stream.heads, stream.serials, stream.box_losses = bits, heads, serials, box_losses
    stream.recent, stream.domain, stream.kinds, stream.nodes, stream.shares = recent, domain, kinds, nodes, shares
    stream.least, stream.seen, stream.out = least, seen, out
    stream.new_low, stream.new_high, stream.new_bits = new_low, new_high, new_bits
    stream.columns, stream.slots, stream.clusters = rows.shape[1], rows.shape[0], heads.shape[0]
    stream.trial, stream.piece, stream.reusable = heads.shape[0], heads.shape[0] + 1, heads.shape[0] + 2
    stream.group, stream.keys = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    stream.stack = np.empty((128, 2), np.int64)
    stream.set_threshold()
    facts[_RELEASED] = 0
    facts[_PUBLISHED] = 0
    with cython.nogil:
        for i in range(new_rows.shape[0]):
            position = facts[_POSITION]
            slot = position % stream.slots
            for column in range(stream.columns):
                rows[slot, column] = new_rows[i, column]
            about[slot, _PERSON] = new_about[i, _PERSON]
            about[slot, _RANK] = new_about[i, _RANK]
            for column in range(_ABOUT, about.shape[1]):
                about[slot, column] = new_about[i, column]
            stream.clock = position
            stream.learn(slot)
            stream.insert(slot)
            facts[_POSITION] += 1
            if position >= facts[_DELAY]:
                slot = (position - facts[_DELAY]) % stream.slots
                if about[slot, _CLUSTER] >= 0:
                    stream.expire(slot)
                facts[_OLDEST] = position - facts[_DELAY] + 1
        if ends:
            stream.clock = facts[_POSITION] - 1
            while facts[_OLDEST] < facts[_POSITION]:
                slot = facts[_OLDEST] % stream.slots
                if about[slot, _CLUSTER] >= 0:
                    stream.expire(slot)
                facts[_OLDEST] += 1
