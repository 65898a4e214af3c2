"""Counted nodes that coarser ones are rolled up from, instead of from every distinct tuple."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from math import prod
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from shoal.kernels import lattice_counts
from shoal.methods.search.grid import LatticeGrid, code_type
from shoal.models.spread import Whole
from shoal.storage import Array
from shoal.storage.classes import Coded, CountTable

# nodes on ladders of levels that lose about so many bits each are kept
_STEPS = (3.0, 1.5)
# how many looks cost as much as rolling up does
_LOOKS = 10
# possible keys, for each class and in all, up to which a bit for each finds the classes
_BITS, _MOST_BITS = 512, 1 << 29
# a node with nearly as many classes as its source is not worth keeping
_FEWER = 0.7
# keys of a node are whole numbers of 64 bits
KEYS = 1 << 62
# classes of all nodes that are kept: twice as many as distinct tuples, and this many always
_ROOM = 1 << 20
# the largest k that narrow counts can be compared with
MOST_K = (1 << 16) - 1
# entries of a dense (class, sensitive code) table; past it pairs are sorted instead
DENSE_SPREAD = 1 << 22
# classes from which on those of a node are estimated before they are counted
_SAMPLED = 100_000
# the least slots of a hash table of classes
_LEAST_SLOTS = 1 << 18
# tuples below which rolling up gains nothing
_FEW = 1_000


T = TypeVar("T", bound=Sized)


@dataclass(frozen=True)
class SensitiveEntries:
    """A sensitive column beside the distinct tuples: `count` records of tuple `of_tuple` have the code `code`."""

    of_tuple: Array
    code: Array
    count: Array
    whole: Whole

    @cached_property
    def narrow(self) -> tuple[Array, Array, Array]:
        """The three in 32 bits, of less than 2^31 records: what a look costs is mostly reading them."""
        return self.of_tuple.astype(np.int32), self.code.astype(np.int32), self.count.astype(np.int32)


@dataclass(frozen=True)
class ClassSource:
    """Classes at some levels: a tuple of each (`first`) in compound codes (`starts`: where those of each compound start
    among those of all), their records, their sensitive values."""

    levels: Array
    first: Array | None
    codes: Array
    starts: Array
    counts: Array
    sensitive: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def capped(self) -> Array:
        """Their records up to 65,535, to compare with a k that is not above it."""
        return np.minimum(self.counts, MOST_K).astype(np.uint16)

    @cached_property
    def by_code(self) -> Array:
        """The records of each compound code."""
        compounds = zip(self.codes, np.diff(self.starts), strict=True)
        return np.concatenate([np.bincount(codes, self.counts, length) for codes, length in compounds])


class RolledUp(Generic[T]):
    """A table of distinct tuples, and nodes rolled up from it where nodes are looked at. Several threads may ask."""

    def __init__(self, grid: LatticeGrid, bottom: T, rolls_up: bool) -> None:
        self.grid, self.bottom, self.rolls_up = grid, bottom, rolls_up
        # by their levels, the least used first; and nodes with nearly as many classes as their source
        self._kept: OrderedDict[tuple[int, ...], T] = OrderedDict()
        self._not_worth: set[tuple[int, ...]] = set()
        self._lock = Lock()
        self._columns = np.arange(len(grid.axes))
        self._floors = self._ladders() if rolls_up else []
        self._spent: dict[tuple[int, ...], int] = {(0,) * len(grid.axes): -(1 << 62)}
        self._order: list[tuple[int, ...]] = []

    def below(self, levels: Array) -> T:
        """Classes that a node can be rolled up from: as few as there are.

        What was looked at from too many classes adds up; where that is more than rolling up takes, it is done.
        """
        if not self.rolls_up:
            return self.bottom
        with self._lock:
            source = self.nearest(levels)
            for floor in self._floors:
                key = tuple(floor[self._columns, levels].tolist())
                if key in self._kept or key in self._not_worth:
                    continue
                self._spent[key] = self._spent.get(key, 0) + len(source)
                if self._spent[key] >= _LOOKS * len(source) and self._keep(key):
                    source = self.nearest(levels)
            return source

    def below_all(self, nodes: Array) -> list[tuple[T, Array]]:
        """The same for nodes (one a row) that are looked at together: what each is rolled up from, with its places."""
        every = np.arange(len(nodes))
        if not self.rolls_up or not len(nodes):
            return [(self.bottom, every)] if len(nodes) else []
        with self._lock:
            for floor in self._floors:
                for key, looks in Counter(map(tuple, floor[self._columns, nodes].tolist())).items():
                    if key not in self._kept and key not in self._not_worth:
                        size = len(self.nearest(np.array(key)))
                        self._spent[key] = self._spent.get(key, 0) + looks * size
                        if self._spent[key] >= _LOOKS * size:
                            self._keep(key)
            if not self._kept:
                return [(self.bottom, every)]
            fine = np.ones((len(nodes), len(self._levels) + 1), np.bool_)
            for j in self._columns:
                fine[:, :-1] &= self._levels[:, j] <= nodes[:, j, None]
            first = fine.argmax(axis=1)
            return [(self._number(at), np.flatnonzero(first == at)) for at in np.unique(first).tolist()]

    def _number(self, at: int) -> T:
        """One of those that are kept, the smallest first; behind them the distinct tuples."""
        if at == len(self._order):
            return self.bottom
        self._kept.move_to_end(self._order[at])
        return self._kept[self._order[at]]

    @property
    def room(self) -> int:
        """How many classes are kept of all nodes."""
        return max(_ROOM, 2 * len(self.bottom))

    def _ladders(self, steps: Sequence[float] = _STEPS) -> list[Array]:
        """Levels that are kept, from few to many. The bits that a level tells count, and those of its possible keys:
        a long tail of rare values makes keys many."""
        bits = (self.grid.entropies + np.log2(self.grid.cards)) / 2
        return [_floors(bits, step) for step in steps]

    def nearest(self, levels: Array) -> T:
        """The smallest of those that are kept."""
        if self._kept:
            fine: Array = np.asarray((self._levels <= levels).all(axis=1))
            first = int(fine.argmax())
            if fine[first]:
                return self._number(first)
        return self.bottom

    def _keep(self, key: tuple[int, ...]) -> bool:
        levels = np.array(key)
        found = self.roll_up(levels, self.nearest(levels))
        if found is None:
            self._not_worth.add(key)
            return False
        self._kept[key] = found
        while sum(map(len, self._kept.values())) > self.room and len(self._kept) > 1:
            gone, _ = self._kept.popitem(last=False)
            self._spent[gone] = 0
        # the smallest first
        self._order = sorted(self._kept, key=lambda one: len(self._kept[one]))
        self._levels = np.array(self._order)
        return True

    def roll_up(self, levels: Array, source: T) -> T | None:
        """The classes of a node from those of a finer one; none where they are nearly as many."""
        raise NotImplementedError


class Sources(RolledUp[ClassSource]):
    """The distinct tuples with their sensitive values, and nodes rolled up from them."""

    def __init__(self, grid: LatticeGrid, sensitive: Mapping[str, Any], rolls_up: bool) -> None:
        counts = grid.tuples.counts.astype(np.int64)
        bottom = ClassSource(grid.bottom, None, grid.codes, grid.starts, counts, sensitive)
        super().__init__(grid, bottom, rolls_up and len(counts) >= _FEW)
        self._table = np.zeros(grid.starts[-1], np.int64)
        self._numbers = class_numbers(len(counts)) if self.rolls_up else None

    def roll_up(self, levels: Array, source: ClassSource) -> ClassSource | None:
        grid, size = self.grid, len(source)
        keys = grid.cells(levels)
        if keys >= KEYS or (size > _SAMPLED and not has_ranks(keys, size)):
            return None
        assert self._numbers is not None
        total = grid.look_up(levels, self._table)
        given = (source.codes, grid.starts, self._table)
        if size > _SAMPLED and not is_worth_keeping(lattice_counts.classes_by_sample(self._numbers, *given), size):
            return None
        place = np.zeros(size, np.int32)
        if has_ranks(total, size):
            sizes = classes_by_rank(source, self._table, place, *rank_scratch(total))
        else:
            sizes = np.zeros(size, np.int64)
            sizes = sizes[: lattice_counts.number_classes(self._numbers, *given, total, source.counts, place, sizes)]
        count = len(sizes)
        if not is_worth_keeping(count, size):
            return None
        first = np.zeros(count, np.int32)
        first[place[::-1]] = np.arange(size - 1, -1, -1, dtype=np.int32)
        sensitive = {name: _joined(entries, place, count) for name, entries in source.sensitive.items()}
        chosen = first if source.first is None else source.first[first]
        return ClassSource(levels, chosen, source.codes.take(first, axis=1), grid.starts, sizes, sensitive)


def _joined(entries: SensitiveEntries, place: Array, classes: int) -> SensitiveEntries:
    """The sensitive values of classes, from those of the tuples in them."""
    labels = len(entries.whole.counts)
    if classes * labels <= DENSE_SPREAD:
        every = np.arange(classes)
        pairs = (place, every, entries.of_tuple, entries.code, entries.count)
        of_class, codes, counts = lattice_counts.spread_over_classes(*pairs, labels, classes)
        return SensitiveEntries(of_class, codes, counts, entries.whole)
    columns = {"class": Coded(place[entries.of_tuple], classes), "code": Coded(entries.code, labels)}
    table = CountTable.of(columns, entries.count)
    of_class, codes = (table.tuples[name].codes.astype(np.int64) for name in ("class", "code"))
    return SensitiveEntries(of_class, codes, table.counts.astype(np.int64), entries.whole)


def _floors(bits: Array, step: float) -> Array:
    """For each column and level the level of a ladder at or below it, whose steps lose at least so many bits."""
    found = np.zeros(bits.shape, np.int64)
    for j, of_level in enumerate(bits):
        for level in range(1, len(of_level)):
            last = found[j, level - 1]
            found[j, level] = level if of_level[last] - of_level[level] >= step else last
    return found


def is_worth_keeping(classes: int, size: int) -> bool:
    """Whether a node has so much fewer classes than its source that others are better rolled up from it."""
    return classes <= _FEWER * size


def has_ranks(keys: int, size: int) -> bool:
    """Whether the classes of so many tuples are found by a bit for each possible key."""
    return keys <= min(_BITS * size, _MOST_BITS)


def rank_scratch(keys: int) -> tuple[Array, Array]:
    """A bit for each possible key, and a number for every 64 of them."""
    words = (keys + 63) // 64
    return np.zeros(words, np.uint64), np.zeros(words, np.int32)


def class_numbers(tuples: int) -> lattice_counts.ClassNumbers:
    """Work space to number the classes of so many tuples."""
    slots = max(_LEAST_SLOTS, 1 << (2 * tuples - 1).bit_length())
    return lattice_counts.ClassNumbers(np.full(slots, -1, np.int32), np.zeros(max(tuples, 1), np.int64))


def classes_by_rank(source: ClassSource, table: Array, place: Array, marks: Array, ranks: Array) -> Array:
    """Number the classes of a source in the order of their keys: `place` becomes the class of each tuple; the records
    of each class."""
    given = (source.codes, source.starts, table.astype(np.uint32))
    sizes = np.zeros(lattice_counts.mark_classes(*given, marks, ranks), np.int64)
    lattice_counts.collect_classes(*given, source.counts, marks, ranks, place, sizes)
    return sizes


# Looks at nodes of tables of millions of distinct tuples, where only sizes of classes count.
#
# Columns that depend on each other (a postcode and its county) are packed into one code for each combination that
# exists. The possible keys of a node are few then, and its classes are counted in a short array instead of a hash
# table.


# distinct tuples from which on packing pays, and the largest k that cells of a byte can be compared with
_WORTH_PACKING, _MOST_PACKED_K = 1 << 17, 255
# possible codes of a group: of columns that depend on each other, and of others
_DEPENDENT, _INDEPENDENT = 1 << 29, 1 << 15
# tuples and nodes of a column that dependence is measured on, and the bits of keys that packing two columns must save
_SAMPLE, _FEW_NODES, _SAVED = 1 << 16, 64, 1.0
# possible keys for each tuple, and in all, up to which each has a cell
_CELLS, _MOST_CELLS = 64, 1 << 26
# records are counted in 32 bits
_MOST_RECORDS = (1 << 31) - 1
# levels that are kept lose about so many bits each
_PACKED_STEPS = (2.0, 0.7)
# classes of all nodes that are kept, for each distinct tuple
_PACKED_ROOM = 4


@dataclass(frozen=True)
class PackedTable:
    """Classes at some levels: the code of each group of columns, their records; `nodes[j]` are the nodes of column j by
    the codes of its group, whose tables start at `starts`."""

    levels: Array
    codes: Array
    counts: Array
    starts: Array
    nodes: Sequence[Array]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def capped(self) -> Array:
        """Their records up to 255."""
        return np.minimum(self.counts, _MOST_PACKED_K).astype(np.uint8)


class PackedTables(RolledUp[PackedTable]):
    """The distinct tuples in packed codes, and nodes rolled up from them."""

    def __init__(self, grid: LatticeGrid) -> None:
        self.groups = _groups(grid)
        self._maps: dict[tuple[int, int, int], Array] = {}
        self._gains: dict[tuple[int, int], Array] = {}
        super().__init__(grid, _packed(grid, self.groups), True)

    @property
    def room(self) -> int:
        """How many classes are kept of all nodes: they take less memory than others."""
        return _PACKED_ROOM * len(self.bottom)

    def _ladders(self, steps: Sequence[float] = _PACKED_STEPS) -> list[Array]:
        """Levels that are kept, from few to many: before the others one step of the first alone, to roll up from."""
        ladders = super()._ladders(steps)
        first = ladders[0]
        least = np.where(first > 0, first, first.max() + 1).min(axis=1)
        return [np.where(first > 0, least[:, None], 0), *ladders]

    def parts(self, table: PackedTable, levels: Array) -> tuple[list[Array], list[int]]:
        """The codes that a table's codes of each group have at a node, and how many there are."""
        parts, sizes = [], []
        for columns in self.groups:
            key, product = np.zeros(len(table.nodes[columns[0]]), np.int64), 1
            for j in columns:
                if (card := int(self.grid.cards[j, levels[j]])) > 1:
                    key += self._map(j, int(table.levels[j]), int(levels[j]))[table.nodes[j]] * product
                    product *= card
            part, size = _renumbered(key, product)
            parts.append(part)
            sizes.append(size)
        return parts, sizes

    def gains(self, table: PackedTable, found: Array, levels: Array) -> Array:
        """`LatticeGrid.add_gains_below` of lost records by code: what they cost more at least than if they had been
        kept, by column and level up to these."""
        below = np.zeros(self.grid.sums.shape)
        for group, columns in enumerate(self.groups):
            lost = found[table.starts[group] : table.starts[group + 1]]
            for j in columns:
                gains = self._gains_of(j, int(table.levels[j]))
                upto = int(levels[j]) + 1
                by_node = np.bincount(table.nodes[j], lost, minlength=gains.shape[1])
                below[j, :upto] = gains[:upto] @ by_node
        return below

    def _map(self, j: int, low: int, high: int) -> Array:
        """The node at a level of each node at a lower one."""
        if (j, low, high) not in self._maps:
            fine, coarse = (self.grid.axes[j].fitted.codes[level] for level in (low, high))
            found = np.zeros(int(self.grid.cards[j, low]), np.int64)
            found[fine] = coarse
            self._maps[j, low, high] = found
        return self._maps[j, low, high]

    def _gains_of(self, j: int, at: int) -> Array:
        """What a lost record of each node at a level costs more at least than if kept, by level."""
        if (j, at) not in self._gains:
            axis, card = self.grid.axes[j], int(self.grid.cards[j, at])
            least, first = self.grid.least_gains
            found = np.zeros((axis.fitted.height, card))
            for level, costs in enumerate(axis.costs.levels):
                if level < at:
                    found[level] = least[first[j, at, level] : first[j, at, level] + card]
                else:
                    found[level][axis.fitted.codes[at]] = axis.costs.suppressed - costs
            self._gains[j, at] = found
        return self._gains[j, at]

    def roll_up(self, levels: Array, source: PackedTable) -> PackedTable | None:
        size = len(source)
        parts, sizes = self.parts(source, levels)
        table, total = keys_of(parts, sizes)
        if has_ranks(total, size):
            marks, ranks = rank_scratch(total)
            given = (source.codes, source.starts, table.astype(np.uint32))
            count = lattice_counts.mark_classes(*given, marks, ranks)
            if not is_worth_keeping(count, size):
                return None
            counts = np.zeros(count, np.int32)
            nowhere = np.zeros(0, np.int32)
            lattice_counts.collect_classes(*given, source.counts, marks, ranks, nowhere, counts)
            keys = np.asarray(lattice_counts.marked_keys(marks, count))
        else:
            _, keys, sizes_of = by_hash(source, table, total)
            counts = sizes_of.astype(np.int32)
            if not is_worth_keeping(len(keys), size):
                return None
        codes: Array = np.zeros((len(sizes), len(keys)), code_type(max(sizes)))
        for group in range(len(sizes) - 1, -1, -1):
            above = keys // sizes[group]
            codes[group] = keys - above * sizes[group]
            keys = above
        nodes: list[Array] = [np.zeros(0, np.int64)] * len(self.grid.axes)
        for group, columns in enumerate(self.groups):
            for j in columns:
                nodes[j] = np.zeros(sizes[group], np.int64)
                nodes[j][parts[group]] = self._map(j, int(source.levels[j]), int(levels[j]))[source.nodes[j]]
        return _table(levels, codes, counts, nodes, self.groups)


class PackedLook:
    """Looks at nodes by packed tables, with scratch space that is used again."""

    def __init__(self, tables: PackedTables, k: int, limit: int) -> None:
        self.tables, self.k, self.limit = tables, k, limit
        self._cells = np.zeros(min(_MOST_CELLS, _CELLS * len(tables.bottom)), np.uint8)
        self._places = np.zeros(len(tables.bottom), np.int32)

    def twin(self) -> PackedLook:
        """Another with scratch space of its own."""
        return PackedLook(self.tables, self.k, self.limit)

    def __call__(self, levels: Array) -> tuple[int, Array | None]:
        """The records in classes below k; while they are within the limit, what they cost more at the least at this
        node and below it, by column and level."""
        source = self.tables.below(levels)
        table, total = keys_of(*self.tables.parts(source, levels))
        found = np.zeros(source.starts[-1])
        size = len(source)
        if total <= min(len(self._cells), max(1 << 16, _CELLS * size)):
            given = (source.codes, source.starts, table.astype(np.uint32), total, source.capped)
            lost = lattice_counts.small_classes(*given, self.k, self.limit, self._cells, self._places, found)
        else:
            place, _, sizes = by_hash(source, table, total)
            by_code = (source.codes, source.starts, self.limit, found)
            lost = lattice_counts.small_numbered_classes(place, source.counts, sizes, self.k, *by_code)
        return lost, self.tables.gains(source, found, levels) if lost <= self.limit else None


def look_by_packing(grid: LatticeGrid, k: int, limit: int) -> PackedLook | None:
    """What looks at nodes by packed tables; none where that does not pay."""
    if len(grid.tuples) < _WORTH_PACKING or k > _MOST_PACKED_K or grid.records > _MOST_RECORDS:
        return None
    tables = PackedTables(grid)
    possible = prod(np.diff(tables.bottom.starts).tolist())
    return PackedLook(tables, k, limit) if possible < KEYS else None


def _packed(grid: LatticeGrid, groups: Sequence[Sequence[int]]) -> PackedTable:
    """The distinct tuples, by the combinations of each group's values that exist."""
    every: list[Array] = []
    nodes: list[Array] = [np.zeros(0, np.int64)] * len(grid.axes)
    for columns in groups:
        key, product = np.zeros(len(grid.tuples), np.int32), 1
        for j in columns:
            key += grid.tuples.tuples[grid.axes[j].name].codes.astype(np.int32, copy=False) * np.int32(product)
            product *= len(grid.axes[j].fitted.codes[0])
        marks, ranks = rank_scratch(product)
        present = np.asarray(lattice_counts.marked_keys(marks, lattice_counts.number_keys(key, marks, ranks)))
        every.append(key)
        for j in columns:
            card = len(grid.axes[j].fitted.codes[0])
            present, codes = np.divmod(present, card)
            nodes[j] = grid.axes[j].fitted.codes[0][codes]
    packed: Array = np.array(every, dtype=code_type(max(len(nodes[columns[0]]) for columns in groups)))
    return _table(grid.bottom, packed, grid.tuples.counts.astype(np.int32), nodes, groups)


def _table(
    levels: Array, codes: Array, counts: Array, nodes: Sequence[Array], groups: Sequence[Sequence[int]]
) -> PackedTable:
    lengths = [len(nodes[columns[0]]) for columns in groups]
    return PackedTable(levels, codes, counts, np.append(0, np.cumsum(lengths)), nodes)


def keys_of(parts: Sequence[Array], sizes: Sequence[int]) -> tuple[Array, int]:
    """What each group's codes add to the key of a class, one table after the other, and the possible keys."""
    total, tables = 1, []
    for part, size in zip(reversed(parts), reversed(sizes), strict=True):
        tables.append(part * total)
        total *= size
    return np.concatenate(tables[::-1]), total


def by_hash(source: PackedTable, table: Array, total: int) -> tuple[Array, Array, Array]:
    """The class of each tuple of a source, the keys of the classes and the records of each, where there are too many
    possible keys for a cell or a bit each."""
    size = len(source)
    numbers, place, sizes = class_numbers(size), np.zeros(size, np.int32), np.zeros(size, np.int64)
    given = (source.codes, source.starts, table, total, source.counts.astype(np.int64))
    classes = lattice_counts.number_classes(numbers, *given, place, sizes)
    return place, np.array(numbers.keys)[:classes], sizes[:classes]


def _groups(grid: LatticeGrid) -> list[list[int]]:
    """Columns packed together: those that depend on each other, then what is left as the codes allow."""
    cards = [len(axis.fitted.codes[0]) for axis in grid.axes]
    groups = [[j] for j in range(len(cards))]

    def merged(one: int, other: int, most: int) -> bool:
        first, second = (next(group for group in groups if j in group) for j in (one, other))
        if first is second or prod(cards[j] for j in first + second) > most:
            return False
        groups.remove(second)
        first.extend(second)
        return True

    for saved, one, other in _dependences(grid):
        if saved >= _SAVED:
            merged(one, other, _DEPENDENT)
    order = sorted(range(len(cards)), key=lambda j: -cards[j])
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            merged(one, other, _INDEPENDENT)
    return [sorted(group) for group in groups]


def _dependences(grid: LatticeGrid) -> list[tuple[float, int, int]]:
    """The bits of keys that packing two columns saves, the most first: of some tuples, at levels of few nodes."""
    step = -(-len(grid.tuples) // _SAMPLE)
    columns, cards = [], []
    for j, axis in enumerate(grid.axes):
        level = int(np.argmax(grid.cards[j, : axis.fitted.height] <= _FEW_NODES))
        columns.append(axis.fitted.codes[level][grid.tuples.tuples[axis.name].codes[::step]].astype(np.int64))
        cards.append(int(grid.cards[j, level]))
    found = []
    for one in range(len(columns)):
        for other in range(one):
            there = np.bincount(columns[one] * cards[other] + columns[other], minlength=1)
            found.append((float(np.log2(cards[one] * cards[other] / np.count_nonzero(there))), other, one))
    return sorted(found, key=lambda saved: (-saved[0], *saved[1:]))


def _renumbered(keys: Array, product: int) -> tuple[Array, int]:
    """Keys below a product, numbered without gaps, and how many there are."""
    if product <= max(1 << 16, 16 * len(keys)):
        found: tuple[Array, int] = lattice_counts.number_by_stamp(keys, np.full(product, -1, np.int64))
        return found
    present, number = np.unique(keys, return_inverse=True)
    return number, len(present)
