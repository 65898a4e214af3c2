"""Sánchez, Martínez and Domingo-Ferrer: every table and figure on the generated discharge table."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.anonymization.partition import Effort
from shoal.anonymization.transforms.coarsen import intervals
from shoal.anonymization.transforms.regenerate import regenerate
from shoal.anonymization.transforms.sorted_clusters import closeness_bound, sorted_clusters
from shoal.errors import InputError
from shoal.papers import sanchez_figures as figures
from shoal.papers import sanchez_printed as printed
from shoal.papers import sanchez_tables as tables
from shoal.papers.sanchez_claims import claims
from shoal.papers.sanchez_methods import (
    HIGH_CHARGE,
    Discharges,
    closeness,
    correlations,
    k_anonymity,
    knowledge,
    least_loss,
    masking,
    original,
)
from shoal.papers.sanchez_sweep import sweep
from shoal.reading import read
from shoal.reports.exhibit import Exhibit, Reproduction
from shoal.sample.discharges import QUASI_IDENTIFIERS
from shoal.utility.loss import attribute_disclosure, compared

LEAST_ROWS = 100
TITLE = "How to avoid reidentification with proper anonymization"
SOURCE = "Sánchez, Martínez, Domingo-Ferrer, arXiv 1511.05957: the comment and its supplement"


def sanchez(rows: int = printed.ROWS, seed: int = 0, effort: Effort = "default") -> Reproduction:
    """All of the paper on so many generated discharges.

    >>> found = sanchez(rows=200).found
    >>> found["eq1"]["CST"], found["s2"]["2"]["uniques"]
    (200, 0)
    """
    found = measure(rows, seed, effort)
    text = (
        f"Measured on {rows:,} generated hospital discharges (seed {seed}), for the paper's table cannot be had: "
        "numbers of its "
        "text are compared where they can be, its figures are pictures without numbers and are compared by their "
        "shape. "
        "Figures are matched by what they show. Released records are boxes; a record is unique by Eq 1."
    )
    return Reproduction("sanchez", TITLE, SOURCE, text, found, exhibits(found))


def exhibits(found: dict[str, Any]) -> list[Exhibit]:
    """In the order in which the paper argues."""
    parts = (
        tables.the_table,
        tables.correlations,
        figures.by_knowledge,
        figures.reidentification,
        figures.random_reidentification,
        figures.disclosure,
        figures.uniques_by_resolution,
        figures.loss_by_resolution,
        figures.closeness,
        tables.masking,
        tables.example,
        tables.intervals,
        tables.bounds,
        claims,
        figures.least_loss,
    )
    return [part(found) for part in parts]


def measure(rows: int, seed: int, effort: Effort) -> dict[str, Any]:
    """All figures as plain JSON."""
    if rows < LEAST_ROWS:
        raise InputError(f"{rows} records are too few to show anything.", f"Use --rows {LEAST_ROWS} or more.")
    table = Discharges.generated(rows, seed)
    swept, coarsened = sweep(table)
    found = {
        "records": rows,
        "seed": seed,
        "eq1": knowledge(table),
        "original": original(table),
        "correlations": correlations(table),
        "s2": k_anonymity(table),
        "s3": coarsened,
        "s4": closeness(table),
        "sweep": swept,
        "masking": masking(table),
        "least_loss": {"effort": effort, **least_loss(table, effort)},
        **examples(seed),
    }
    ours = np.array(list(found["correlations"].values()))
    found["correlation_of_tables"] = compared(np.array(printed.TABLE_S4), np.array(printed.TABLE_S5))[1]
    found["largest_difference_from_table_s5"] = compared(ours, np.array(printed.TABLE_S5))[0]
    return found


def examples(seed: int) -> dict[str, Any]:
    """What needs no table: Tables S6 to S9, Algorithm S1 on the races."""
    records = pl.DataFrame(printed.TABLE_S2, schema=QUASI_IDENTIFIERS, orient="row")
    boxed = sorted_clusters(read(records).select(QUASI_IDENTIFIERS), 3)
    high = np.array(printed.TABLE_S2_CHARGES) > HIGH_CHARGE
    disclosed = attribute_disclosure(*boxed.class_of_each_row(), high)
    groups = {}
    for box in range(boxed.boxes):
        first = int(np.flatnonzero(boxed.box_of_row == box)[0])
        ends = {name: (side.scale[side.low[box]], side.scale[side.high[box]]) for name, side in boxed.sides.items()}
        groups[first] = {name: [int(low), int(high)] for name, (low, high) in ends.items()}
    filled = regenerate(np.arange(printed.ROWS) < printed.RACES_TOTAL, printed.RACES, seed)
    races = np.bincount(filled[filled >= 0], minlength=max(printed.RACES) + 1)
    return {
        "table_s6": {
            "groups": [groups[first] for first in sorted(groups)],
            "disclosed": disclosed.disclosed,
            "high_charges": disclosed.records,
        },
        "table_s7": {str(r): np.stack(intervals(np.arange(86), r), axis=1).tolist() for r in (2, 4, 8, 16, 32)},
        "table_s9": {str(k): closeness_bound(printed.ROWS, k) for k in printed.KS},
        "s1": {"cells": int(races.sum()), "by_race": {str(race): int(races[race]) for race in printed.RACES}},
    }
