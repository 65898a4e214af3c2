"""People against released records: how many records each of them may be, and which.

Equal people are asked once, equal records are one box with a weight. Boxes stand in a tree for every pattern of cells
that hold everything, so that a `*` does not blur the others; a person is looked up in each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.attacks.linking.columns import ReleasedCells, cells_of
from shoal.errors import InputError
from shoal.releases.readable import Readable
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.rows import weights_of
from shoal.vocabulary import NullRule
from shoal.wording import percent

# patterns of `*` that have a tree of their own; the rest share one
_MOST_PATTERNS = 256
# pairs of a person and a record that are listed at once
MOST_PAIRS = 200_000_000
_MOST_TIES = 4096
# of a person and somebody who owns a record that is counted for them
_MOST_OWNERS = 20_000_000
# so few are not worth a thread
_FEW_POINTS = 1_000


@dataclass(frozen=True)
class ReleasedBoxes:
    """The distinct released records in some columns: ends per column, how many records each stands for."""

    cells: tuple[ReleasedCells, ...]
    box_of_row: Array
    low: Array
    high: Array
    weight: Array
    mask_at: Array
    masks: Array
    every: bool = False  # boxes that hold none of the targets' values count too: of some targets a value is not known

    @classmethod
    def of(cls, cells: Sequence[ReleasedCells], weights: Array | None = None, every: bool = False) -> ReleasedBoxes:
        """Rows that have the same cells are one box."""
        box_of_row, count = class_of_each_row(pack([Coded(column.codes, column.cardinality) for column in cells]))
        first = first_row_of_each_class(box_of_row, count)
        kind = np.int32 if all(column.kind == "fit" for column in cells) else np.float64
        low = np.stack([column.low[column.codes[first]].astype(kind) for column in cells], axis=1)
        high = np.stack([column.high[column.codes[first]].astype(kind) for column in cells], axis=1)
        weight = np.bincount(box_of_row, weights, minlength=count).astype(np.float64)
        return cls(tuple(cells), box_of_row, low, high, weight, *masks_of(cells, first), every)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """As the compiled loops take them; the last is the order of the boxes in the trees."""
        return (self.low, self.high, self.weight, self.mask_at, self.masks, self._planted[0])

    @property
    def tree(self) -> tuple[Array, ...]:
        """Roots, spans, right children, weights and bounds of nodes, and which of them hold sets."""
        return self._planted[1]

    @cached_property
    def _planted(self) -> tuple[Array, tuple[Array, ...]]:
        from shoal.kernels.attacks import build

        used = np.flatnonzero(self._possible)
        patterns = self._patterns[used]
        order = used[np.argsort(patterns, kind="stable")]
        roots = np.append(np.flatnonzero(np.diff(np.sort(patterns), prepend=-1)), len(used)).astype(np.int64)
        capacity = 2 * len(used) + 2
        low, high = self.low.astype(np.float64, copy=False), self.high.astype(np.float64, copy=False)
        roots, span, right, total, bounds = build(low, high, self.weight, order, roots, capacity)
        inside = np.zeros(len(order) + 1, np.int64)
        if len(self.mask_at):
            inside[1:] = np.cumsum((self.mask_at[order] >= 0).any(axis=1))
        masked = inside[span[:, 1]] > inside[span[:, 0]]
        return order, (roots, span, right, total, bounds.astype(self.low.dtype, copy=False), masked)

    @property
    def _possible(self) -> Array:
        """Boxes that hold somebody in every column."""
        return np.asarray((self.low <= self.high).all(axis=1)) | self.every

    @property
    def _patterns(self) -> Array:
        """In which columns a box holds everything, numbered; rare patterns are one."""
        fits = [number for number, column in enumerate(self.cells) if column.kind == "fit" and column.atoms > 1]
        if not fits:
            return np.zeros(len(self.low), np.int64)
        whole = [(self.low[:, number] == 0) & (self.high[:, number] == self.cells[number].atoms - 1) for number in fits]
        found, count = class_of_each_row(pack([Coded(column.astype(np.int64), 2) for column in whole]))
        if count <= _MOST_PATTERNS:
            return found
        frequent = np.argsort(np.bincount(found))[::-1][: _MOST_PATTERNS - 1]
        renamed = np.full(count, _MOST_PATTERNS - 1, np.int64)
        renamed[frequent] = np.arange(len(frequent))
        return np.asarray(renamed[found])


def masks_of(cells: Sequence[ReleasedCells], first: Array) -> tuple[Array, Array]:
    """Where the mask of each box's set starts in all masks laid end to end; -1 where it has none."""
    if all(column.masks is None for column in cells):
        return np.zeros((0, len(cells)), np.int64), np.zeros(0, np.uint8)
    at, laid, offset = np.full((len(first), len(cells)), -1, np.int64), [], 0
    for number, column in enumerate(cells):
        if column.masks is None or column.mask_of is None:
            continue
        mask = column.mask_of[column.codes[first]].astype(np.int64)
        at[:, number] = np.where(mask >= 0, offset + mask * column.masks.shape[1], -1)
        laid.append(column.masks.ravel())
        offset += column.masks.size
    return at, np.concatenate(laid)


@dataclass(frozen=True)
class Linkage:
    """Targets against a release: the distinct targets as points, the distinct records as boxes."""

    boxes: ReleasedBoxes
    points: Array
    point_of_row: Array

    @classmethod
    def of(
        cls,
        released: Readable,
        targets: Table,
        on: Mapping[str, str],
        *,
        rule: NullRule = "value",
        count: str | None = None,
    ) -> Linkage:
        """Link on released columns, each with the name that it has in the targets' table.

        >>> from shoal.storage.reading import read
        >>> from shoal.releases.readable import readable
        >>> release = readable({"age": ["[20;29]", "[20;29]", "31", "*"]})
        >>> Linkage.of(release, read({"age": [25, 31, 40]}), {"age": "age"}).records.tolist()
        [3.0, 2.0, 1.0]
        """
        theirs = [targets[name] for name in on.values()]
        cells = [cells_of(released, name, column, rule) for name, column in zip(on, theirs, strict=True)]
        weights = None if count is None else weights_of(released.table[count])
        boxes = ReleasedBoxes.of(cells, weights, rule == "wildcard" and any(column.nulls for column in theirs))
        point_of_row, number = class_of_each_row(
            pack([Coded(column.codes, max(column.cardinality, 1)) for column in theirs])
        )
        first = first_row_of_each_class(point_of_row, number)
        points = [_points(cell, column, first, rule) for cell, column in zip(cells, theirs, strict=True)]
        return cls(boxes, np.ascontiguousarray(np.stack(points, axis=1).astype(boxes.low.dtype)), point_of_row)

    @property
    def by_distance(self) -> bool:
        """Whether some column has no cells that hold values, so that the nearest records are the candidates."""
        return any(column.kind != "fit" for column in self.boxes.cells)

    @cached_property
    def records(self) -> Array:
        """The records that each target may be."""
        return np.asarray(self._of_points[self.point_of_row])

    def persons(self, person_of_row: Array) -> Array:
        """The persons that each target may be, whose released rows these are: each counts once.

        >>> from shoal.storage.reading import read
        >>> from shoal.releases.readable import readable
        >>> found = Linkage.of(readable({"age": [25, 25, 31]}), read({"age": [25, 31]}), {"age": "age"})
        >>> found.persons(np.array([7, 7, 7])).tolist()
        [1.0, 1.0]
        """
        owners = pl.DataFrame({"box": self.boxes.box_of_row, "person": person_of_row}).unique()
        starts, boxes = self.pairs
        found, sizes = np.zeros(len(self.points)), np.diff(starts)
        owned = np.bincount(owners["box"].to_numpy(), minlength=len(self.boxes.low))
        lines = np.concatenate([[0], np.cumsum(owned[boxes])])[starts]  # of the join, before each point
        for part in np.unique(lines[:-1] // _MOST_OWNERS):
            points = np.flatnonzero(lines[:-1] // _MOST_OWNERS == part)
            span = slice(starts[points[0]], starts[points[-1] + 1])
            pairs = pl.DataFrame({"point": np.repeat(points, sizes[points]), "box": boxes[span]})
            summed = pairs.join(owners, on="box").group_by("point").agg(pl.col("person").n_unique())
            found[summed["point"].to_numpy()] = summed["person"].to_numpy()
        return np.asarray(found[self.point_of_row])

    @cached_property
    def _counted(self) -> tuple[Array, Array]:
        """How many records each distinct target may be, and of how many boxes."""
        from shoal.kernels.attacks import holding
        from shoal.threads import in_threads, processors

        records, sizes = np.zeros(len(self.points)), np.zeros(len(self.points), np.int64)
        parts = 8 * processors() if len(self.points) > _FEW_POINTS else 1
        cuts = np.linspace(0, len(self.points), parts + 1).astype(np.int64)
        boxes, tree, nothing = self.boxes.arrays, self.boxes.tree, np.zeros(0, np.int64)
        if len(tree[1]):
            in_threads(
                lambda part: holding(self.points, boxes, tree, part[0], part[1], records, sizes, nothing),
                list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)),
                "linking",
            )
        return records, sizes

    @property
    def _of_points(self) -> Array:
        return self._nearest[0] if self.by_distance else self._counted[0]

    @cached_property
    def pairs(self) -> tuple[Array, Array]:
        """The boxes that each distinct target may be in: those of point p are `boxes[starts[p]:starts[p + 1]]`."""
        from shoal.kernels.attacks import holding

        if self.by_distance:
            return self._tied
        records, sizes = self._counted
        starts = np.concatenate([[0], np.cumsum(sizes)])
        if starts[-1] > MOST_PAIRS:
            raise InputError(
                f"The targets fit {int(starts[-1]):,} classes of the release: too many to list.", "Use fewer targets."
            )
        out = np.zeros(int(starts[-1]), np.int64)
        if len(out):
            holding(self.points, self.boxes.arrays, self.boxes.tree, 0, len(self.points), records, starts, out)
        return starts, out

    @cached_property
    def _nearest(self) -> tuple[Array, Array, Array, Array]:
        from shoal.kernels.attacks import nearest

        kinds = np.array([("fit", "near", "same").index(column.kind) for column in self.boxes.cells], np.int64)
        tree = self.boxes.tree
        if not len(tree[1]):
            nobody = np.zeros(len(self.points))
            return nobody, nobody.astype(np.int64), nobody, np.zeros((len(nobody), 1), np.int64)
        most = max(1, min(_MOST_TIES, MOST_PAIRS // max(len(self.points), 1)))
        records, counts, distances, ties = nearest(
            self.points, kinds, self.boxes.arrays, tree, 0, len(self.points), most
        )
        return records, counts, distances, ties

    @property
    def _tied(self) -> tuple[Array, Array]:
        _, counts, _, ties = self._nearest
        counts = np.minimum(counts, ties.shape[1])
        starts = np.concatenate([[0], np.cumsum(counts)])
        return starts, ties[np.arange(ties.shape[1])[None, :] < counts[:, None]]

    def holds(self, rows: Array, released_rows: Array) -> Array:
        """Whether each released row is a candidate for its target: rows of both, pair by pair."""
        boxes, points = self.boxes.box_of_row[released_rows], self.point_of_row[rows]
        if not self.by_distance:
            inside = np.ones(len(rows), bool)
            for number, cells in enumerate(self.boxes.cells):
                inside &= cells.holds(released_rows, self.points[points, number]) | (self.points[points, number] < 0)
            return inside
        starts, listed_boxes = self.pairs
        wide = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        known = np.unique(wide * len(self.boxes.low) + listed_boxes)
        return np.isin(points * len(self.boxes.low) + boxes, known)


def _points(cells: ReleasedCells, column: Column, rows: Array, rule: NullRule) -> Array:
    """Where some targets lie in a column; under `wildcard` a missing value may be anything."""
    codes = column.codes[rows].astype(np.int64)
    places = codes if cells.places is None else cells.places[codes]
    if rule != "wildcard" or not column.nulls:
        return np.asarray(places)
    from shoal.kernels.attacks import UNKNOWN

    return np.where(codes == len(column.values), UNKNOWN, places)


def helps_most(rate_without: Mapping[str, float], rate: float) -> list[str]:
    """The column without which an attack loses most, as a remark; nothing where one could not see it."""
    name = min(rate_without, key=lambda key: rate_without[key])
    least = rate_without[name]
    if least >= rate or percent(least) == percent(rate):
        return []
    return [f"column {name} helps most: without it the rate falls from {percent(rate)} to {percent(least)}"]
