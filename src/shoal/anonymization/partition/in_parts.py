"""Partitioning a count table: exact cuts down to parts that one worker holds, then the groups of each part by itself.

The upper cuts are those that leave the least sum of squares, over the counts of all values. What is equal and more than
a few times k makes groups of its own that lose nothing, so that a part stays small whatever a tuple counts. Groups of
different parts never exchange records, which costs little: parts are thousands of groups large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from shoal.anonymization.partition import Effort, coordinates_of, grouped
from shoal.anonymization.transforms.counted_clusters import boxes_of_runs
from shoal.engine import engine_of
from shoal.engine.base import Runs
from shoal.ranges.boxed import Boxed, check_k
from shoal.ranges.nodes import ColumnTree
from shoal.table import Array, Table

# records of a part at most, where cuts can tell them apart
PART = 1 << 20
# of equal records so many times k stay with the others, so that groups beside them find members
_SPARE = 4


def partition_tuples(
    table: Table,
    names: Sequence[str],
    k: int,
    effort: Effort = "default",
    importance: Mapping[str, float] | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> tuple[Table, Boxed]:
    """Groups of at least k near records of a table of tuples: a row for each part of a tuple in a group, and the boxes.

    >>> from shoal.reading import read
    >>> counted = read({"age": [30, 31, 70]}).counting(np.arange(3), np.array([2, 1, 40]))
    >>> parted, boxed = partition_tuples(counted, ["age"], 2)
    >>> parted.total, np.bincount(boxed.box_of_row, parted.records).min().item() >= 2
    (43, True)
    """
    assert table.records is not None
    check_k(k, table.total)
    points = coordinates_of(table.select(names), importance, trees)
    alike = np.maximum(table.records // k - _SPARE, 0) * k
    left = table.records - alike
    parts = upper_cuts(points, left, max(PART, 2 * k), k)
    frame = pl.DataFrame({"part": parts, "row": np.arange(table.rows), "records": left}).hstack(
        [pl.Series(f"x{place}", points[:, place]) for place in range(points.shape[1])]
    )
    schema = {"part": pl.Int64, "row": pl.Int64, "group": pl.Int64, "records": pl.Int64}
    found = engine_of(table).side_by_side(table, frame, "part", partial(_groups, k=k, effort=effort), schema)
    found = found.sort("part", "group", "row")
    row, records = found["row"].to_numpy(), found["records"].to_numpy()
    box = found.select(pl.struct("part", "group").rle_id()).to_series().cast(pl.Int64).to_numpy()
    own = np.flatnonzero(alike)
    row, records = np.append(row, own), np.append(records, alike[own])
    box = np.append(box, int(box.max(initial=-1)) + 1 + np.arange(len(own)))
    return boxes_of_runs(table, names, Runs(row, np.arange(len(row)), records), box)


def upper_cuts(points: Array, records: Array, most: int, least: int) -> Array:
    """The part of each point: cut in two where the sum of squares falls most, until a part has at most `most` records.

    gain = n_left n_right / n (mean_left - mean_right)^2, over every cut between two values that leaves `least` on
    either side. Points that no cut can tell apart stay together.

    >>> upper_cuts(np.array([[1.0], [9.0], [2.0]]), np.array([2, 2, 2]), 4, 2).tolist()
    [0, 1, 0]
    """
    found, parts = np.zeros(len(points), np.int64), 0
    waiting = [np.arange(len(points))]
    while waiting:
        some = waiting.pop()
        side = _best_side(points[some], records[some], least) if records[some].sum() > most else None
        if side is None:
            found[some] = parts
            parts += 1
        else:
            waiting += [some[~side], some[side]]
    return found


def _best_side(points: Array, records: Array, least: int) -> Array | None:
    """Which points lie below the best cut; None where there is none."""
    total, best, found = int(records.sum()), 0.0, None
    for column in points.T:
        values, code = np.unique(column, return_inverse=True)
        counts = np.bincount(code, records, len(values))
        below, summed = np.cumsum(counts)[:-1], np.cumsum(counts * values)
        above = total - below
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = summed[:-1] / below - (summed[-1] - summed[:-1]) / above
            gain = np.where((below >= least) & (above >= least), below * above / total * apart**2, -1.0)
        if len(gain) and gain.max() > best:
            best, found = float(gain.max()), code <= int(gain.argmax())
    return found


def _groups(part: pl.DataFrame, k: int, effort: Effort) -> pl.DataFrame:
    """How many records of each tuple of a part are in each of its groups."""
    part = part.sort("row")  # a cluster brings them in any order
    records = part["records"].to_numpy()
    points = part.select(pl.selectors.starts_with("x")).to_numpy().astype(np.float32)
    every = np.repeat(np.arange(len(part)), records)
    group, _ = grouped(np.ascontiguousarray(points[every]), k, effort, "best", 0, None).group_of_each_row()
    pairs = pl.DataFrame({"row": part["row"].gather(every), "group": group})
    counted = pairs.group_by("row", "group").len("records")
    return counted.select(
        part=pl.lit(part["part"][0], pl.Int64), row="row", group="group", records=pl.col("records").cast(pl.Int64)
    )
