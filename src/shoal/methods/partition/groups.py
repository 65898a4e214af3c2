"""The steps from points to groups: cut, group, improve. Each step hands on rows that lie group by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.kernels.cuts import cut
from shoal.kernels.exchange import exchange_boxes
from shoal.kernels.groups import middles, total_cost, write_groups
from shoal.kernels.peeling import look_up
from shoal.kernels.squares import exchange_squares
from shoal.methods.partition.coordinates import check_points
from shoal.methods.partition.peel import cheapest_runs, group_blocks, peel_segment, wide_tree
from shoal.storage import Array
from shoal.threads import in_threads

# Local search: records change groups while that lowers what is lost.
#
# The middles of the groups are cut, by a tree with a random bent, into regions of thousands of groups (for the sum of
# squares into blocks of some dozen). Within a region a group and its nearest groups try swaps of two records, cycles of
# three, and moves of one, that leave sizes between k and 2k-1; the best of a pair is made. The next pass cuts
# otherwise. The loss never rises, and the search may end after any pass.


# The groups of a region whose middles are nearest to a group's, and an order in which near groups lie side by side.


class NearMiddles:
    """The tree of some middles, which are reordered; groups are numbered as they lie in it, `order` tells which."""

    def __init__(self, middle: Array) -> None:
        self._tree = wide_tree(middle)
        self._slots = np.flatnonzero(self._tree.names >= 0)
        self.order = self._tree.names[self._slots]

    def of(self, asked: Array, count: int, share: float = 1.0) -> Array:
        """The `count` nearest others of those that are asked for, nearest first; of the others nothing.

        With a `share` less than 1 some may be missed that are farther than that share of the squared distance to the
        last one.

        >>> middles = NearMiddles(np.array([[0.0], [1.0], [3.0], [7.0]], np.float32))
        >>> middles.of(np.array([0, 2]), 2).tolist()
        [[1, 2], [0, 0], [1, 0], [0, 0]]
        """
        tree, size = self._tree, len(self.order)
        neighbours = np.zeros((size, min(count, size - 1)), np.int32)
        number_of_slot = np.zeros(len(tree.names), np.int32)
        number_of_slot[self._slots] = np.arange(size)
        look_up(
            tree.leaves,
            tree.low,
            tree.high,
            tree.levels,
            tree.names,
            self._slots,
            number_of_slot,
            asked,
            share,
            neighbours,
        )
        return neighbours


# groups in a block, at most and at least
BLOCK = 48
LEAST = 12
# and in a region
REGION = 1 << 14


class Laid(NamedTuple):
    """Records laid out block by block: group g of the task has the records members[g, :sizes[g]] of its block."""

    place: Array
    members: Array
    sizes: Array
    first_record: Array


def lay_out(starts: Array, lengths: Array, groups: Array, edges: Array, most: int) -> Laid:
    """Blocks of groups side by side, block b those of groups[edges[b]:edges[b+1]]."""
    sizes = lengths[groups]
    ends = np.cumsum(sizes)
    offsets = ends - sizes
    place = np.repeat(starts[groups] - offsets, sizes) + np.arange(int(ends[-1]))
    first_record = np.append(offsets, ends[-1])[edges]
    inside = offsets - np.repeat(first_record[:-1], np.diff(edges))
    return Laid(place, inside[:, None] + np.arange(most), sizes, first_record)


def in_eights(rows: Array, place: Array) -> Array:
    """The rows at some places, with columns of zeros up to a multiple of eight.

    >>> in_eights(np.ones((3, 2), np.float32), np.array([0, 2])).tolist()
    [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    columns = rows.shape[1]
    found = np.zeros((len(place), -(-columns // 8) * 8), np.float32)
    found[:, :columns] = rows[place]
    return found


class ExchangeSearch(NamedTuple):
    """How a pass looks for exchanges.

    Groups begin them that lose `begin_from` and more, cycles of three those that lose `cycles_from`; with so many near
    groups each, the nearest by `share` (`NearMiddles.of`), and so many times at most.
    """

    begin_from: float
    cycles_from: float
    near: int
    share: float
    sweeps: int


def improve_blocks(
    rows: Array, order: Array, starts: Array, lengths: Array, numbers: Array, blocks: Array, k: int,
    new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> None:  # fmt: skip
    """Lower the sum of squares in blocks of groups, block b those of numbers[blocks[b]:blocks[b+1]].

    They are written out from `at` on.
    """
    edges = blocks - blocks[0]
    laid = lay_out(starts, lengths, numbers[blocks[0] : blocks[-1]], edges, 2 * k - 1)
    xs = rows[laid.place]
    exchange_squares(xs, laid.members, laid.sizes, edges, laid.first_record, k)
    members = laid.members
    members += np.repeat(laid.first_record[:-1], np.diff(edges))[:, None]
    write_groups(laid.members, laid.sizes, xs, laid.place, order, new_rows, new_order, new_first, at)


def improve_region(
    rows: Array, order: Array, starts: Array, lengths: Array, cost: Array, numbers: Array, middle: Array, k: int,
    search: ExchangeSearch, new_rows: Array, new_order: Array, new_first: Array, at: int,
) -> None:  # fmt: skip
    """Lower the information loss of some groups, which are written out from `at` on; their middles are reordered."""
    middles_here = NearMiddles(middle)
    numbers, most = numbers[middles_here.order], 2 * k - 1
    count = len(numbers)
    laid = lay_out(starts, lengths, numbers, np.array([0, count]), most)
    xs = in_eights(rows, laid.place)
    asked = np.flatnonzero(cost[numbers] >= search.begin_from)
    near = middles_here.of(asked, search.near, search.share)
    exchange_boxes(
        xs, rows.shape[1], laid.members, laid.sizes, asked, near, k, search.sweeps,
        not np.isfinite(search.cycles_from), search.cycles_from,
    )  # fmt: skip
    write_groups(laid.members, laid.sizes, xs, laid.place, order, new_rows, new_order, new_first, at)


# The words by which a partition is asked for.


# how much time is spent
Effort = Literal["fast", "default", "best"]
# how records are cut: by the loss that is left, or as Mondrian was published
Cuts = Literal["best", "strict", "relaxed"]
# which groups a policy does not allow, from the group of each row (-1: in none) and how many groups there are
FailsPolicy = Callable[[Array, int], Array]


class Pass(NamedTuple):
    """How thorough a pass of local search is.

    Groups that lose the share `begin` of all that is lost begin exchanges, those that lose `cycles` of it begin cycles
    of three too; the others only take part. Each looks at so many near groups, and so many times at most.
    """

    begin: float = 1.0
    cycles: float = 1.0
    near: int = 8
    sweeps: int = 1


# parts that are worked on side by side; their number does not depend on the machine, so neither does the result
_PARTS = 64
_SMALLEST_PART = 4096
_BLOCKS_A_TASK = 1000
_JITTER = 0.6
_SMALL = 1 << 16
_MANY_ALIKE = 0.05
# cycles of three groups are looked for up to this k: their number grows with its cube
_MOST_IN_CYCLES = 10
# what an exchange between two groups may take, in records of one times those of the other times columns: groups that
# are larger stay as they were made, or a search with a k of thousands would not end
_MOST_OF_TWO = 1 << 18
# among so many groups, near ones need not be the very nearest: they are found in a third of the time, and as much is
# gained by exchanges
_MANY, _SHARE = 1 << 17, 0.4
_THOROUGH = Pass()
_LEAST_COST = float(np.finfo(np.float32).tiny)


def number_type(count: int) -> type[np.signedinteger[Any]]:
    """The type of row and group numbers: one for all, so that each loop is compiled once."""
    return np.int32 if count < 1 << 31 else np.int64


class Groups(NamedTuple):
    """Records group by group: `order[i]` is the row that lies at i, a group starts wherever `first[i]`."""

    rows: Array
    order: Array
    first: Array

    @classmethod
    def of(cls, rows: Array) -> Groups:
        """One group of all; `rows` is taken over and will be reordered."""
        check_points(rows)
        first = np.zeros(len(rows), bool)
        first[:1] = True
        return cls(rows, np.arange(len(rows), dtype=number_type(len(rows))), first)

    @property
    def starts(self) -> Array:
        return np.flatnonzero(self.first)

    def group_of_each_row(self) -> tuple[Array, int]:
        """The group of each row, and how many there are."""
        found = np.empty(len(self.order), np.int64)
        found[self.order] = np.cumsum(self.first) - 1
        return found, int(np.count_nonzero(self.first))


def _pieces(first: Array, start: int = 0) -> list[tuple[int, int]]:
    starts = np.flatnonzero(first) + start
    return list(zip(starts.tolist(), [*starts[1:].tolist(), start + len(first)], strict=True))


def blocked(rows: Array, k: int, block: int) -> Groups:
    """Groups within blocks of at most `block` records: the fast way."""
    groups = Groups.of(rows)
    cut(rows, groups.order, 0, len(rows), max(_SMALLEST_PART, len(rows) // _PARTS), k, 0.0, 0, groups.first)
    bits = rows.view(np.uint32)

    def work(piece: tuple[int, int]) -> None:
        start, stop = piece
        cut(rows, groups.order, start, stop, block, k, 0.0, 0, groups.first)
        starts = start + np.flatnonzero(groups.first[start:stop])
        group_blocks(rows, bits, groups.order, starts, stop, k, groups.first)

    in_threads(work, _pieces(groups.first), "grouping")
    return groups


def peeled(rows: Array, k: int, segment: int, nearest: int) -> Groups:
    """Groups from the outside in, within segments of at most `segment` records."""
    groups = Groups.of(rows)
    cut(rows, groups.order, 0, len(rows), segment, k, 0.0, 0, groups.first)
    bits = rows.view(np.uint32)
    in_threads(
        lambda piece: peel_segment(rows, bits, groups.order, *piece, k, nearest, groups.first),
        _pieces(groups.first),
        "grouping",
    )
    return groups


def improved(groups: Groups, k: int, seed: int, squares: bool = False, how: Pass = _THOROUGH) -> Groups:
    """One pass of local search, for less information loss or a smaller sum of squares.

    Groups larger than 2k-1 stay as they are, and all of them where k is very large.
    Groups of identical records can spare members for others; where they are many, they rather stand in the way.
    """
    rows, starts, records = groups.rows, groups.starts, len(groups.rows)
    if not squares and k * k * rows.shape[1] > _MOST_OF_TWO:
        return groups
    middle = np.empty((len(starts), rows.shape[1]), np.float32)
    lengths, cost = np.empty(len(starts), np.int64), np.empty(len(starts), np.float32)
    middles(rows, starts, records, middle, lengths, cost)
    taken = lengths <= 2 * k - 1
    if records > _SMALL and lengths[cost == 0].sum() > _MANY_ALIKE * records:
        taken &= cost > 0
    numbers = np.flatnonzero(taken).astype(groups.order.dtype)
    if len(numbers) < 2:
        return groups
    new = Groups(np.empty_like(rows), np.empty_like(groups.order), np.zeros(records, bool))
    stay = ~np.repeat(taken, lengths)
    moving = records - int(np.count_nonzero(stay))
    new.rows[moving:], new.order[moving:], new.first[moving:] = rows[stay], groups.order[stay], groups.first[stay]
    middle = middle[numbers]
    edges = _blocks_of_groups(middle, numbers, BLOCK if squares else REGION, seed)
    places = np.concatenate([[0], np.cumsum(lengths[numbers])])

    def exchange(task: int) -> None:
        some = edges[task : task + _BLOCKS_A_TASK + 1]
        improve_blocks(
            rows, groups.order, starts, lengths, numbers, some, k,
            new.rows, new.order, new.first, int(places[some[0]]),
        )  # fmt: skip

    if squares:
        in_threads(exchange, range(0, len(edges) - 1, _BLOCKS_A_TASK), "exchanging")
        return new
    search = _search(how, cost, k)

    def exchange_in_region(region: int) -> None:
        a, b = int(edges[region]), int(edges[region + 1])
        improve_region(
            rows, groups.order, starts, lengths, cost, numbers[a:b], middle[a:b], k, search,
            new.rows, new.order, new.first, int(places[a]),
        )  # fmt: skip

    in_threads(exchange_in_region, range(len(edges) - 1), "exchanging")
    return new


def _search(how: Pass, cost: Array, k: int) -> ExchangeSearch:
    """How a pass looks for exchanges, in figures of these groups."""
    ranked = np.sort(cost)[::-1]
    summed = np.cumsum(ranked, dtype=np.float64)
    # what the cheapest of those groups costs that lose a share of all; more than nothing
    begin, cycles = (
        max(float(ranked[min(int(np.searchsorted(summed, share * summed[-1])), len(ranked) - 1)]), _LEAST_COST)
        for share in (how.begin, how.cycles)
    )
    share = _SHARE if len(cost) > _MANY else 1.0
    return ExchangeSearch(begin, cycles if k <= _MOST_IN_CYCLES else np.inf, how.near, share, how.sweeps)


def _blocks_of_groups(middle: Array, numbers: Array, most: int, seed: int) -> Array:
    """Cut groups by their middles; both are reordered block by block. Where blocks start, and the end."""
    count = len(numbers)
    first = np.zeros(count, bool)
    part = max(_SMALLEST_PART, most, count // _PARTS)
    cut(middle, numbers, 0, count, part, LEAST, _JITTER, seed, first)
    in_threads(lambda piece: cut(middle, numbers, *piece, most, LEAST, _JITTER, seed, first), _pieces(first))
    return np.append(np.flatnonzero(first), count)


def searched(rows: Array, k: int, segment: int, nearest: int, passes: Sequence[Pass], seed: int) -> Groups:
    """Groups from the outside in, then improved; `nearest` records are looked at for each member of a group."""
    if rows.shape[1] == 1:
        order, first = cheapest_runs(rows[:, 0], k)
        groups = Groups(rows[order], order.astype(number_type(len(order))), first)
    else:
        groups = peeled(rows, k, segment, 1 if k == 2 else nearest * k)
    for number, how in enumerate(passes):
        groups = improved(groups, k, seed + number, how=how)
    return groups


def restarted(groups: Groups, k: int, segment: int, nearest: int, passes: Sequence[Pass], seed: int) -> Groups:
    """The same search of the same records from another start: grouped first with the columns stretched at random."""
    stretch = np.exp(np.random.default_rng(seed).uniform(-1, 1, groups.rows.shape[1])).astype(np.float32)
    start = peeled(groups.rows * stretch, k, segment, 1 if k == 2 else nearest * k)
    found = Groups(groups.rows[start.order], groups.order[start.order], start.first)
    for number, how in enumerate(passes):
        found = improved(found, k, seed + number, how=how)
    return found


def loss(groups: Groups) -> float:
    """The information loss of Eqs 3-4, in the units of the points."""
    starts = groups.starts
    edges = np.append(starts[:: max(1, len(starts) // _PARTS)], len(groups.rows))
    parts = in_threads(
        lambda part: total_cost(groups.rows, groups.first, int(edges[part]), int(edges[part + 1])),
        range(len(edges) - 1),
    )
    return float(sum(parts)) / groups.rows.size
