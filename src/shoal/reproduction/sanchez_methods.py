"""The methods of Sánchez et al. on the discharge table, each measured: risk, loss, disclosure, closeness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.methods.mask import TABLE_S3 as MASKING_STEPS
from shoal.methods.mask import Masked, mask, masked_uniques
from shoal.methods.partition import Effort, partition
from shoal.methods.regenerate import filled_cells
from shoal.methods.sorted_clusters import close_clusters, closeness_bound, cut, order_of_distances, sorted_clusters
from shoal.models.distances import distance_by_ranks, ordered_distance, ranks_of
from shoal.policy.judgement.shown_classes import attribute_disclosure
from shoal.ranges.boxed import Boxed, distance_to_zero, numbers, spread
from shoal.reproduction.sample import sample_data
from shoal.reproduction.sample.discharges import CENSUS, QUASI_IDENTIFIERS, SPATIAL, TEMPORAL
from shoal.reproduction.sanchez_printed import KS
from shoal.storage import Array, Column
from shoal.storage.classes import Coded, class_of_each_row, class_sizes, pack
from shoal.storage.reading import Options, read
from shoal.utility.loss import moments, total_information_loss

# From the masked table to Tables S4 and S5: what is masked by value, correlations before and after Algorithm S1.
#
# A cell is masked when it is no longer its own value: `*`, an age group, a ZIP code without its last digits. The
# authors know how often each value was masked (their v[a][e]); here the original table says so.


_BLOCK = 1 << 18


def masked_cells(columns: Sequence[Column], masked: Masked) -> dict[str, Array]:
    """Which cells of each column are masked."""
    box = masked.boxed.box_of_row
    return {column.name: np.asarray(masked.boxed.sides[column.name].wide[box]) for column in columns}


def by_value(column: Column, hidden: Array) -> list[dict[str, int]]:
    """How many records have each value, and how many of them are masked, in the order of the values.

    >>> from shoal.storage.reading import read
    >>> by_value(read({"race": [1, 1, 2]})["race"], np.array([False, True, True]))
    [{'value': 1, 'records': 2, 'masked': 1}, {'value': 2, 'records': 1, 'masked': 1}]
    """
    values = numbers(column)
    total = np.bincount(column.codes, minlength=len(values))
    gone = np.bincount(column.codes[hidden], minlength=len(values))
    return [
        {"value": int(values[j]), "records": int(total[j]), "masked": int(gone[j])} for j in np.argsort(values).tolist()
    ]


def rank_correlation(counts: Sequence[dict[str, int]]) -> float | None:
    """Spearman's correlation of how frequent a value is with the share of it that is masked; None if all are alike.

    >>> rank_correlation([{"records": 9, "masked": 1}, {"records": 4, "masked": 2}, {"records": 2, "masked": 2}])
    -1.0
    """
    there = [entry for entry in counts if entry["records"]]
    records = np.array([entry["records"] for entry in there], float)
    shares = np.array([entry["masked"] / entry["records"] for entry in there])
    if len(there) < 2 or np.ptp(records) == 0 or np.ptp(shares) == 0:
        return None
    return round(float(np.corrcoef(_ranks(records), _ranks(shares))[0, 1]), 12)


def _ranks(values: Array) -> Array:
    """Ranks, those of equal values averaged."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[place])


def chain(columns: Sequence[Column], hidden: dict[str, Array], seed: int) -> dict[str, Any]:
    """Correlations where both cells are unmasked (Table S4), and after masked cells were filled (Table S5).

    `columns` stand in the order of the tables. Each column is filled by Algorithm S1 from the values that were masked
    in it, so its distribution is that of the original.
    """
    progress.report("masked, filled, correlated", 0)
    values = [numbers(column) for column in columns]
    known = [~hidden[column.name] for column in columns]
    before = _correlations([(column.codes, of) for column, of in zip(columns, values, strict=True)], known)
    filled = [_filled(column, hidden[column.name], seed + place) for place, column in enumerate(columns)]
    after = _correlations(list(zip(filled, values, strict=True)), None)
    names = [column.name for column in columns]
    pairs = list(zip(*np.triu_indices(len(names), 1), strict=True))

    def as_pairs(matrix: Array) -> dict[str, float | None]:
        """Undefined where no record has both cells, or where all of them are alike."""
        found = {f"{names[i]},{names[j]}": float(matrix[i, j]) for i, j in pairs}
        return {pair: value if np.isfinite(value) else None for pair, value in found.items()}

    return {
        "unmasked_cells": {name: int(cells.sum()) for name, cells in zip(names, known, strict=True)},
        "correlations_unmasked": as_pairs(before),
        "correlations_filled": as_pairs(after),
    }


def _filled(column: Column, hidden: Array, seed: int) -> Array:
    """Codes of a column after Algorithm S1."""
    counts = np.bincount(column.codes[hidden], minlength=len(column.values))
    wanted = {code: int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    drawn = filled_cells(hidden, wanted, seed)
    return np.where(drawn >= 0, drawn, column.codes)


def _correlations(columns: Sequence[tuple[Array, Array]], known: Sequence[Array] | None) -> Array:
    """Of every pair of columns given as codes and values, over the rows in which both are known."""
    rows, width = len(columns[0][0]), len(columns)
    middle = np.array([values.mean() for _, values in columns])
    count, total, squares, products = (np.zeros((width, width)) for _ in range(4))
    apart = [(codes, values - own) for (codes, values), own in zip(columns, middle.tolist(), strict=True)]
    whole, cells_there = np.empty((min(_BLOCK, rows), width)), np.ones((min(_BLOCK, rows), width))
    for start in range(0, rows, _BLOCK):
        part = slice(start, min(start + _BLOCK, rows))
        block, there = whole[: part.stop - start], cells_there[: part.stop - start]
        for place, (codes, values) in enumerate(apart):
            block[:, place] = np.take(values, codes[part], mode="clip")
            if known is not None:
                there[:, place] = known[place][part]
        block *= there
        count += there.T @ there
        total += block.T @ there  # the sum of column i where j is known
        squares += (block * block).T @ there
        products += block.T @ block
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - total**2 / count
        return np.asarray((products - total * total.T / count) / np.sqrt(spread * spread.T))


# what an attacker may know: census data, where, when
KNOWLEDGE = {
    "C": CENSUS,
    "S": SPATIAL,
    "T": TEMPORAL,
    "CS": CENSUS + SPATIAL,
    "CT": CENSUS + TEMPORAL,
    "ST": SPATIAL + TEMPORAL,
    "CST": CENSUS + SPATIAL + TEMPORAL,
}
HIGH_CHARGE = 100_000
MASKED = tuple(dict.fromkeys(step.column for step in MASKING_STEPS))


@dataclass(frozen=True)
class Discharges:
    """The discharge table: nine quasi-identifiers, and the charge that an attacker wants to learn."""

    columns: list[Column]
    charge: Column

    @classmethod
    def generated(cls, rows: int, seed: int) -> Discharges:
        """A synthetic table, modelled on California's discharges of 2009."""
        progress.report("generating the table", 0)
        table = read(sample_data("discharges", rows, seed))
        return cls(table.select(QUASI_IDENTIFIERS), table["charge"])

    @classmethod
    def read(cls, source: Any, options: Options | None = None) -> Discharges:
        """A table that has the columns, such as the authors' own files."""
        table = read(source, options=options)
        if missing := [name for name in QUASI_IDENTIFIERS if name not in table.names]:
            raise InputError.missing_columns(missing, table.names, table.name)
        if "charge" not in table.names:
            raise InputError(
                f"{table.name} has no column 'charge', which Algorithm S4 and attribute disclosure are about.",
                "Put it beside: the files of Table S10 that have it hold the same records in the same order.",
            )
        found = cls(table.select(QUASI_IDENTIFIERS), table["charge"])
        for column in (*found.columns, found.charge):
            numbers(column)  # refuses texts and missing cells
        return found

    @property
    def rows(self) -> int:
        return len(self.charge.codes)

    @cached_property
    def high(self) -> Array:
        """Whose charge is over 100,000."""
        return np.asarray((numbers(self.charge) > HIGH_CHARGE)[self.charge.codes])

    @cached_property
    def as_it_is(self) -> tuple[Array, dict[str, Any]]:
        """For each record, how many share its nine values, itself included; and what these give away."""
        classes, count = class_of_each_row(pack(self.columns))
        return np.bincount(classes, minlength=count).astype(np.uint32)[classes], self.of_classes(classes, count)

    @cached_property
    def spreads(self) -> dict[str, float]:
        """The spread of each column."""
        return {column.name: spread(column) for column in self.columns}

    @cached_property
    def distance(self) -> Array:
        """How far each record is from the record of zeros."""
        return distance_to_zero(self.columns, self.spreads)

    def select(self, names: Sequence[str]) -> list[Column]:
        by_name = {column.name: column for column in self.columns}
        return [by_name[name] for name in names]

    def of_classes(self, class_of_row: Array, classes: int) -> dict[str, Any]:
        """What classes of records give away."""
        sizes = np.bincount(class_of_row, minlength=classes)
        return {
            "classes": classes,
            "k": int(sizes.min()),
            "uniques": int(np.count_nonzero(sizes == 1)),
            "random_reidentification": classes / self.rows,
            "attribute_disclosure": attribute_disclosure(class_of_row, classes, self.high).share,
        }

    def of_boxes(self, boxed: Boxed, classes: tuple[Array, int], k: int) -> dict[str, Any]:
        """The same for boxes, what they lost, and what became of the records that were safe before."""
        wide = np.logical_or.reduce([side.wide for side in boxed.sides.values()])[boxed.box_of_row]
        safe = self.as_it_is[0] >= k
        return {
            **self.of_classes(*classes),
            "information_loss": total_information_loss(self.columns, boxed, self.spreads),
            "safe_records": int(safe.sum()),
            "changed_safe_records": int((safe & wide).sum()),
        }


def knowledge(table: Discharges) -> dict[str, int]:
    """Uniques by what is known (Eq 1 on records that are points)."""
    found = {}
    for number, (name, columns) in enumerate(KNOWLEDGE.items()):
        progress.report("uniques by knowledge", number, len(KNOWLEDGE))
        found[name] = int(np.count_nonzero(class_sizes(table.select(columns)) == 1))
    return found


def original(table: Discharges) -> dict[str, Any]:
    """The table before anything is done to it."""
    return {
        **table.as_it_is[1],
        "high_charges": int(table.high.sum()),
        "no_charges": int(np.count_nonzero((numbers(table.charge) == 0)[table.charge.codes])),
    }


def correlations(table: Discharges) -> dict[str, float]:
    """Of every pair of quasi-identifiers."""
    matrix = moments([(column.codes, numbers(column)) for column in table.columns]).matrix()
    names = [column.name for column in table.columns]
    places = zip(*np.triu_indices(len(names), 1), strict=True)
    return {f"{names[row]},{names[column]}": float(matrix[row, column]) for row, column in places}


def k_anonymity(table: Discharges) -> dict[str, dict[str, Any]]:
    """Algorithm S2 by k."""
    found, order = {}, order_of_distances(table.distance)
    for number, k in enumerate(KS):
        progress.report("Algorithm S2", number, len(KS))
        boxed = sorted_clusters(table.columns, k, order=order)
        found[str(k)] = table.of_boxes(boxed, boxed.class_of_each_row(), k)
    return found


def closeness(table: Discharges) -> dict[str, dict[str, Any]]:
    """Algorithm S4 by k: with the bound that is printed, and the largest distance that was measured."""
    found, ranks = {}, ranks_of(table.charge)
    by_charge = np.empty_like(ranks)
    by_charge[ranks] = np.arange(table.rows)
    for number, k in enumerate(KS):
        progress.report("Algorithm S4", number, len(KS))
        boxed = close_clusters(table.columns, table.charge, k, ordered=by_charge, distance=table.distance)
        sizes, classes = cut(table.rows, k), boxed.class_of_each_row()
        found[str(k)] = {
            **table.of_boxes(boxed, classes, k),
            "cluster_size": sizes.size,
            "remainder": sizes.rest,
            "bound": closeness_bound(table.rows, k),
            "largest_distance_ranks": float(distance_by_ranks(*classes, ranks).max()),
            "largest_distance_values": float(ordered_distance(*classes, table.charge).max()),
        }
    return found


def masking(table: Discharges, seed: int) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Table S3: what is still unique is masked one step further; by the columns that decide who is unique.

    And the chain from the table masked by the printed rule (seven columns) to Tables S4 and S5.
    """
    nine = table.select([*MASKED, *(name for name in QUASI_IDENTIFIERS if name not in MASKED)])
    found, followed = {}, {}
    for number, (name, counted) in enumerate({"seven": MASKED, "nine": [column.name for column in nine]}.items()):
        progress.report("masking", number, 2)
        masked = mask(nine, MASKING_STEPS, counted)
        levels = np.bincount(masked.level_of_row, minlength=len(MASKING_STEPS) + 1)
        hidden = masked_cells(nine, masked)
        known = {"CST": KNOWLEDGE["CST"]} if name == "nine" else KNOWLEDGE
        uniques = _masked_knowledge(table, masked.level_of_row, known)
        found[name] = {
            **table.of_classes(masked.boxed.box_of_row, masked.boxed.boxes),  # no two of its boxes are equal
            "counted": list(counted),
            "records_by_step": levels.tolist(),
            "unmasked_records": int(levels[0]),
            "uniques_on_counted": _masked_knowledge(table, masked.level_of_row, {name: counted})[name]
            if name == "seven"
            else uniques["CST"],
            "uniques": uniques["CST"],
            "information_loss": total_information_loss(nine, masked.boxed, table.spreads),
            "by_race": by_value(table.select(["race"])[0], hidden["race"]),
            "by_age": by_value(table.select(["age_yrs"])[0], hidden["age_yrs"]),
        }
        if name == "seven":
            found[name]["eq1"] = uniques
            followed = chain(table.columns, hidden, seed)
    return found, followed


def _masked_knowledge(table: Discharges, level_of_row: Array, known: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Uniques of the masked table by what is known."""
    return {
        name: int(masked_uniques(table.select(columns), MASKING_STEPS, level_of_row).sum())
        for name, columns in known.items()
    }


def least_loss(table: Discharges, effort: Effort) -> dict[str, dict[str, Any]]:
    """Our own best method at the same k."""
    found = {}
    for number, k in enumerate(KS):
        progress.report("our own method", number, len(KS))
        boxed = partition(table.columns, k, effort)
        found[str(k)] = table.of_boxes(boxed, boxed.class_of_each_row(), k)
    return found


def disclosed_by(table: Discharges, keys: list[Coded]) -> dict[str, Any]:
    """What the classes of combined keys give away."""
    return table.of_classes(*class_of_each_row(pack(keys)))
