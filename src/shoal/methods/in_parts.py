"""A table whose rows stay where they are, changed part by part by the code of one machine; findings are added up."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from shoal.engine.base import CellsOf, ChangedPart, TooManyTuples
from shoal.errors import InputError
from shoal.methods.boxes import without_order
from shoal.methods.results import Anonymized, Findings, judged
from shoal.models.base import Evidence
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, Side, box_clusters, check_k, distance_to_zero, spread
from shoal.ranges.columns import Form, Nature, ReleasedColumns, as_it_was, labels_of_ranges
from shoal.ranges.forms import ColumnForm
from shoal.storage import Array, Column, Table
from shoal.storage.classes import order_of_words
from shoal.utility.cost import Widened, cost_of_widened, widened_by_boxes
from shoal.utility.loss import (
    InformationLoss,
    Moments,
    change_between,
    information_loss,
    loss_of_shares,
    moments_of_boxes,
    values_held,
)

if TYPE_CHECKING:
    from shoal.methods.partition import Effort

# of the number and the columns of a part: its boxes, and which rows are its own (None: all)
Grouping: TypeAlias = "Callable[[int, Sequence[Column]], tuple[Boxed, Array | None]]"


class PartFindings(NamedTuple):
    """What a change of one part cost."""

    records: int
    loss: InformationLoss
    values: list[int]
    held: list[float]
    moments: tuple[list[str], Moments, Moments] | None
    widened: list[Widened]
    modified: int
    suppressed_rows: int
    suppressed_cells: int
    shown: dict[str, tuple[Nature, ColumnForm]]

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        boxed: Boxed,
        shown: dict[str, tuple[Nature, ColumnForm]],
        leaves: Mapping[str, Array],
    ) -> PartFindings:
        """Measured on the rows of a part."""
        along = [(boxed.along(one.name).box_of_row, boxed.along(one.name).sides[one.name]) for one in columns]
        stars = [side.starred[which] for which, side in along]
        return cls(
            len(columns[0].codes),
            information_loss(columns, boxed),
            *values_held(columns, boxed, leaves),
            moments_of_boxes(columns, boxed),
            [cells.summed() for cells in widened_by_boxes(columns, boxed)],
            int(np.logical_or.reduce([side.wide[which] for which, side in along]).sum()),
            int(np.logical_and.reduce(stars).sum()),
            sum(int(star.sum()) for star in stars),
            shown,
        )


@dataclass(frozen=True)
class Labelled:
    """Groups of a part as they are written, beside what that cost."""

    group: Grouping
    interval: Form
    side_of: Callable[[Column, Boxed], Side]
    leaves: Mapping[str, Array] = field(default_factory=dict)

    def __call__(self, number: int, columns: Sequence[Column]) -> ChangedPart:
        """The new columns of a part's own rows."""
        boxed, own = self.group(number, columns)
        if own is not None:
            columns, boxed = [column.take(own) for column in columns], Boxed(boxed.box_of_row[own], boxed.sides)
        boxed = Boxed(boxed.box_of_row, {column.name: self.side_of(column, boxed) for column in columns})
        new, shown = {}, {}
        for column in columns:
            along = boxed.along(column.name)
            texts, nature, form = labels_of_ranges(column, along.sides[column.name], self.interval)
            new[column.name] = texts[0].cast(pl.String).gather(along.box_of_row)
            shown[column.name] = (nature, form)
        found = pickle.dumps(PartFindings.of(columns, boxed, shown, self.leaves))
        return ChangedPart(new, own, _members_once(boxed.box_of_row), found)


def _members_once(box_of_row: Array) -> Array:
    """How many rows a box has, at its first row; 0 at the others.

    >>> _members_once(np.array([1, 0, 1])).tolist()
    [2, 1, 0]
    """
    sizes, first = np.bincount(box_of_row), np.zeros(int(box_of_row.max(initial=-1)) + 1, np.int64)
    first[box_of_row[::-1]] = np.arange(len(box_of_row))[::-1]
    found = np.zeros(len(box_of_row), np.int64)
    found[first[sizes > 0]] = sizes[sizes > 0]
    return found


def side_as_it_is(column: Column, boxed: Boxed) -> Side:
    """A column of boxes without labels of its own."""
    return boxed.sides[column.name]


def changed_in_parts(
    method: str,
    table: Table,
    policy: Policy,
    how: Labelled,
    parts: tuple[CellsOf, int, bool],
    parameters: dict[str, Any],
) -> Anonymized:
    """Every part changed where its rows are; `parts`: the part of each row, how many, whether parts share rows."""
    part_of, count, shared = parts
    dropped = policy.with_role("identifier")
    frame, found = table.elsewhere.changed(part_of, shared, how, dropped, count)
    done: list[PartFindings] = [pickle.loads(one) for one in found]
    columns = table.select(policy.quasi_identifiers)
    records = np.array([part.records for part in done])
    if int(records.sum()) != table.rows:
        raise InputError("The rows of the table were changed meanwhile.", "Run it again.")

    def mean(figures: Sequence[float]) -> float:
        return float((np.asarray(figures) * records).sum() / records.sum())

    widened = [Widened.together(cells) for cells in zip(*(part.widened for part in done), strict=True)]
    # columns in which no cell was changed, which are written again as they came
    same = [
        column.name
        for column, cells in zip(columns, widened, strict=True)
        if not cells.changed.any() and not cells.unknown.any() and column.values.dtype != pl.String
    ]
    frame, boxes = table.elsewhere.as_they_were(frame, same)
    sizes, classes, suppressed = boxes.sizes(policy.quasi_identifiers, policy.quasi_identifiers)
    loss = InformationLoss(
        mean([part.loss.total for part in done]),
        {column.name: mean([part.loss.by_column[column.name] for part in done]) for column in columns},
    )
    moments = [part.moments for part in done if part.moments is not None]
    before = Moments.pooled([one for _, one, _ in moments], records) if moments else None
    after = Moments.pooled([one for _, _, one in moments], records) if moments else None
    held = [mean(one) for one in zip(*(part.held for part in done), strict=True)]
    findings = Findings(
        records=table.rows,
        k=int(sizes.min()) if len(sizes) else 0,
        classes=int(classes.sum()),
        uniques=int(classes[sizes == 1].sum()),
        undecided=0,
        information_loss=loss.total,
        information_loss_by_column=loss.by_column,
        modified_rows=sum(part.modified for part in done),
        removed_rows=0,
        suppressed_rows=suppressed,
        suppressed_cells=sum(part.suppressed_cells for part in done),
        attribute_disclosure=[],
        change=None if before is None or after is None else change_between(moments[0][0], before, after),
        cost=[cost_of_widened(column, cells) for column, cells in zip(columns, widened, strict=True)],
        loss=loss_of_shares(done[0].values, held),
    )
    released = {}
    for column in columns:
        nature, form = done[0].shown[column.name]
        shown = Column(column.name, np.zeros(0, np.uint8), pl.Series([], dtype=pl.String), 0, pl.String())
        was = as_it_was(column)
        released[column.name] = was if column.name in same else ReleasedColumns.in_codes([shown], nature, _NONE, form)
    models = judged(policy, Evidence(sizes, classes, records=table.rows))
    how_written = {**parameters, "interval": how.interval}
    result = Anonymized(method, models, without_order(findings, columns), table, policy, how_written, released)
    return replace(result, remote=frame)


_NONE = np.zeros(0, bool)


@dataclass(frozen=True)
class NearRecords:
    """Groups of at least k near records of a part, by where the codes of each column lie in the whole table."""

    tables: Sequence[Array]
    k: int
    effort: Effort

    def __call__(self, number: int, columns: Sequence[Column]) -> tuple[Boxed, Array | None]:
        """The boxes of the groups."""
        from shoal.methods.partition import grouped
        from shoal.methods.partition.coordinates import gathered

        check_k(self.k, len(columns[0].codes))
        groups = grouped(gathered(self.tables, columns), self.k, self.effort, "best", 0, None)
        return box_clusters(columns, groups.order, groups.starts), None


def cut_for(
    table: Table, names: Sequence[str], tables: Sequence[Array], k: int, most: int
) -> tuple[CellsOf, int, bool]:
    """The parts of a table whose rows are elsewhere."""
    from shoal.methods.partition.in_parts import cut_into_parts

    check_k(k, table.rows)
    flat = [one[:, 0].astype(np.float64) for one in tables]
    records = [np.asarray(column.records) for column in table.select(names)]
    return *cut_into_parts(flat, records, table.elsewhere.counted, k, max(most, 2 * k)), False


# the clusters of `sorted-clusters` (S2): ranges of distance, with exact ranks


# leading bits of a distance by which records are counted first, and again where too many have them in common
_LEADING = (24, 36, 48, 64)


@dataclass(frozen=True)
class RowDistances:
    """The distance of rows to the record of zeros, as words in their order."""

    spreads: Mapping[str, float]

    def words(self, columns: Sequence[Column]) -> Array:
        """RowDistances are not negative, so that their bits have their order."""
        return distance_to_zero(columns, self.spreads).view(np.uint64)


@dataclass(frozen=True)
class LeadingBits:
    """The first bits of the distance of rows; only of rows that have some first bits, where these are given."""

    distances: RowDistances
    bits: int
    among: Array | None = None
    known: int = 0

    def __call__(self, columns: Sequence[Column]) -> Array:
        words = self.distances.words(columns)
        if self.among is not None:
            words = words[np.isin(words >> np.uint64(64 - self.known), self.among)]
        return (words >> np.uint64(64 - self.bits)).astype(np.int64)


@dataclass(frozen=True)
class Ranges:
    """Ranges of distance: where each starts, and which rows near an end the next range needs too.

    A cluster may lie across an end: so rows just above it also go to the part before, and rows just under it to the
    part after.
    """

    distances: RowDistances
    starts: Array
    # for each part: rows up to `head` also go to the part before, rows from `tail` on to the part after
    head: Array
    tail: Array
    # and the rank of the first row that it gets
    first_rank: Array
    k: int
    rows: int

    def __call__(self, columns: Sequence[Column]) -> Array:
        """Three times the part of each row, one more where the part before has it too, two where the part after has."""
        words = self.distances.words(columns)
        part = np.searchsorted(self.starts, words, side="right") - 1
        before, after = words < self.head[part], words >= self.tail[part]
        return part * 3 + before + 2 * after

    def group(self, number: int, columns: Sequence[Column]) -> tuple[Boxed, Array | None]:
        """The clusters of a part, in rows that are in the order of their numbers."""
        words = self.distances.words(columns)
        order = order_of_words(words)
        cluster = np.minimum((self.first_rank[number] + np.arange(len(order))) // self.k, self.rows // self.k - 1)
        boxed = box_clusters(columns, order, np.flatnonzero(np.diff(cluster, prepend=-1)))
        own = words >= self.starts[number]
        if number + 1 < len(self.starts):
            own &= words < self.starts[number + 1]
        return boxed, own


def ranges_of(table: Table, names: Sequence[str], k: int, most: int) -> tuple[Ranges, int, bool]:
    """Cut a table by distance; refused where too many rows have one distance, which are then told by their tuples."""
    check_k(k, table.rows)
    distances = RowDistances({column.name: spread(column) for column in table.select(names)})
    words, counts = _counted_distances(table, distances, most)
    ranks = np.cumsum(counts) - counts
    # a part ends where `most` rows are in it, and holds the rows of at least two clusters beyond what others need
    at = np.unique(np.searchsorted(ranks, np.arange(0, table.rows, most)))
    at = at[at < len(words)]
    if len(at) > 1 and table.rows - ranks[at[-1]] < 8 * k:
        at = at[:-1]
    ends = np.append(at[1:], len(words))
    bounds = np.append(words, np.uint64(1 << 63))
    total = np.append(ranks, table.rows)
    # a cluster has up to 2k - 1 rows: so many are on the other side of an end
    head = np.minimum(np.searchsorted(total, ranks[at] + 2 * k), ends)
    tail = np.maximum(np.searchsorted(total, total[ends] - 2 * k, side="right") - 1, at)
    if (head > tail).any() and len(at) > 1:
        raise TooManyTuples("Too many records are as far from zero as others.", "Choose another method.")
    heads, tails = bounds[head], bounds[tail]
    heads[0], tails[-1] = 0, np.uint64((1 << 64) - 1)
    first = np.append(0, total[tail[:-1]])
    return Ranges(distances, bounds[at], heads, tails, first, k, table.rows), len(at), True


def _counted_distances(table: Table, distances: RowDistances, most: int) -> tuple[Array, Array]:
    """Distances and the rows that are at least so far, finer where many are alike."""
    words, counts, known = np.zeros(1, np.uint64), np.array([table.rows]), 0
    for bits in _LEADING:
        crowded = counts > most // 2
        if not crowded.any():
            break
        among = (words[crowded] >> np.uint64(64 - known)) if known else None
        cells, records = table.elsewhere.counted(LeadingBits(distances, bits, among, known))
        found = cells.astype(np.uint64) << np.uint64(64 - bits)
        words, counts = np.append(words[~crowded], found), np.append(counts[~crowded], records)
        order = np.argsort(words)
        words, counts, known = words[order], counts[order], bits
    if counts.max() > most:
        raise TooManyTuples("Too many records are as far from zero as others.", "Choose another method.")
    return words, counts
